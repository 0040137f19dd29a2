//! Columns of all forms, and damage to what is stored.

use std::collections::HashSet;

use proptest::prelude::*;

use super::super::verified::same_bits;
use super::*;

fn encoded(values: &[f64], runs: &Runs) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(values, runs, Effort::Seal, &mut bytes).unwrap();
    bytes
}

fn check(values: &[f64], series: &[usize]) -> usize {
    let runs = Runs::new(series.iter().copied());
    let mut plain = Vec::new();
    encode(values, &runs, Effort::Plain, &mut plain).unwrap();
    let bytes = encoded(values, &runs);
    for bytes in [&bytes, &plain] {
        let mut reader = Reader::new(bytes);
        let column = FloatColumn::read(&mut reader, values.len()).unwrap();
        reader.finish().unwrap();
        let mut out = Vec::new();
        column.all(&runs, &mut out).unwrap();
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&out), bits(values));
        check_some(&column, &runs, values, series);
    }
    bytes.len()
}

/// Checks reads of some rows of each series: the later ones use stops that earlier ones noted.
fn check_some(column: &FloatColumn<'_>, runs: &Runs, values: &[f64], series: &[usize]) {
    let mut page = FloatPage::default();
    let mut start = 0;
    for rows in series {
        let end = (start + rows).min(values.len());
        let at = |share: usize| start + (end - start) * share / 8;
        for (from, to) in [(7, 8), (0, 8), (3, 4), (1, 6), (5, 6), (2, 7), (0, 1), (6, 8)] {
            let pages_end = (at(from) / PAGE_ROWS + PAGES_AT_ONCE) * PAGE_ROWS;
            let wanted = at(from)..at(to).min(pages_end);
            if wanted.is_empty() {
                continue;
            }
            let first = column.some(wanted.clone(), runs, &mut page).unwrap();
            let mut read = Vec::new();
            page.rows().within(wanted.start - first..wanted.end - first).extend(&mut read);
            assert!(same_bits(&read, &values[wanted.clone()]), "{wanted:?} of {series:?}");
        }
        start = end;
    }
}

#[test]
fn few_rows_of_long_and_short_series_are_read_from_stops() {
    let rows = 5 * PAGE_ROWS + 100;
    let walk: Vec<f64> = (0..rows).map(|i| (i * i % 5 + i / 1000) as f64 / 10.0).collect();
    let short: Vec<usize> = [93, 107].repeat(rows / 200);
    let rest = rows - short.iter().sum::<usize>();
    for series in [
        vec![rows],
        vec![300, 2 * PAGE_ROWS, PAGE_ROWS, 2 * PAGE_ROWS - 200],
        [short, vec![rest]].concat(),
    ] {
        check(&walk, &series);
    }
    let runs = Runs::new([rows]);
    let bytes = encoded(&walk, &runs);
    assert!(FloatColumn::read(&mut Reader::new(&bytes), rows).unwrap().may_have_stops());
    // Rows with exceptions of the code, and of the decimals.
    let mut rare = walk.clone();
    (0..20).for_each(|i| rare[i * 1000] = 1e6 + i as f64);
    check(&rare, &[rows / 2, rows / 2]);
    rare[PAGE_ROWS + 1] = std::f64::consts::PI;
    check(&rare, &[rows / 3, 2 * rows / 3]);
}

#[test]
fn decimals_take_less_than_two_bytes_a_value() {
    let walk: Vec<f64> = (0..10_000i64).map(|i| (i * 7919 % 100 + 5000) as f64 / 100.0).collect();
    assert!(check(&walk, &[10_000]) < 20_000);
}

#[test]
fn a_constant_column_takes_under_200_bytes() {
    assert!(check(&[42.5; 100_000], &[50_000, 50_000]) < 200);
}

#[test]
fn a_column_with_few_exceptions_stays_small() {
    let mut values: Vec<f64> = (0..5000).map(|i| f64::from(i % 50) / 10.0).collect();
    for i in (0..5000).step_by(500) {
        values[i] = std::f64::consts::PI * i as f64;
    }
    assert!(check(&values, &[2500, 2500]) < 6_000);
}

#[test]
fn doubles_of_single_precision_take_less_than_five_bytes() {
    let values: Vec<f64> = (1..5000u32).map(|i| f64::from((i as f32).sqrt())).collect();
    assert!(check(&values, &[4999]) < 4999 * 5);
}

/// A random walk of full-precision doubles over many exponents, driven by SplitMix64.
fn walk(rows: usize) -> Vec<f64> {
    let (mut value, mut state) = (20.0_f64, 0_u64);
    let mut step = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let next = |_| {
        value = (value + 4.0 * (step() - 0.5)).abs().min(100.0);
        value
    };
    (0..rows).map(next).collect()
}

#[test]
fn a_random_walk_takes_little_more_than_its_steps() {
    let rows = 3 * PAGE_ROWS + 5;
    let mut values = walk(rows);
    let exponents: HashSet<u64> = values.iter().map(|v| v.to_bits() >> 52).collect();
    assert!(exponents.len() > 8, "{exponents:?}");
    let form = encoded(&values, &Runs::new([rows])).first().copied();
    assert_eq!(form, Some(FORM_PARTS + WITH_DELTAS));
    // Steps take 48 bits, and the low parts two or three more.
    assert!(check(&values, &[rows]) < rows * 52 / 8);
    values[PAGE_ROWS + 3] = f64::NAN;
    values[PAGE_ROWS + 4] = -0.0;
    values[2 * PAGE_ROWS] = 0.0;
    values[7] = f64::MIN_POSITIVE / 3.0;
    check(&values, &[PAGE_ROWS, rows - PAGE_ROWS]);
    let singles: Vec<f64> = values.iter().map(|v| f64::from(*v as f32)).collect();
    assert!(check(&singles, &[rows]) < rows * 3);
}

#[test]
fn truncated_low_parts_are_an_error() {
    let values = walk(500);
    let runs = Runs::new([values.len()]);
    let bytes = encoded(&values, &runs);
    assert_eq!(bytes.first(), Some(&(FORM_PARTS + WITH_DELTAS)));
    for cut in 0..bytes.len() {
        let cut = bytes.get(..cut).unwrap();
        assert!(FloatColumn::read(&mut Reader::new(cut), values.len()).is_err());
    }
    // The low parts are last, after their length. Both are made one byte shorter here.
    let column = FloatColumn::read(&mut Reader::new(&bytes), values.len()).unwrap();
    let lows = column.lows.concat();
    let (mut length, mut less) = (Vec::new(), Vec::new());
    put_varint(&mut length, lows.len() as u64);
    put_varint(&mut less, lows.len() as u64 - 1);
    let mut short = bytes.get(..bytes.len() - lows.len() - length.len()).unwrap().to_vec();
    short.extend_from_slice(&less);
    short.extend_from_slice(lows.get(1..).unwrap());
    let column = FloatColumn::read(&mut Reader::new(&short), values.len()).unwrap();
    let error = column.all(&runs, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("packed bits are truncated"), "{error}");
}

#[test]
fn a_flipped_bit_in_split_values_never_causes_a_panic() {
    let values = walk(300);
    let runs = Runs::new([values.len()]);
    let bytes = encoded(&values, &runs);
    for at in 0..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1 << (at % 8);
        let mut out = Vec::new();
        let column = FloatColumn::read(&mut Reader::new(&wrong), values.len());
        if column.and_then(|column| column.all(&runs, &mut out)).is_ok() {
            assert_eq!(out.len(), values.len());
        }
    }
}

#[test]
fn special_values_round_trip() {
    check(&[], &[]);
    check(&[0.0, -0.0, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1, 1e300], &[3, 5]);
    check(&[-0.0, 1.0, 2.0], &[3]);
    check(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.5], &[4]);
}

proptest! {
    #[test]
    fn any_bits_round_trip(bits in proptest::collection::vec(any::<u64>(), 1..300)) {
        let values: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
        check(&values, &[values.len()]);
    }

    #[test]
    fn any_decimals_round_trip(
        ints in proptest::collection::vec(-100_000i64..100_000, 1..9000),
        scale in 0u8..10,
        cut in 0usize..9000,
    ) {
        let values: Vec<f64> = ints.iter().map(|m| *m as f64 / power_of_ten(scale)).collect();
        let cut = cut.min(values.len());
        check(&values, &[cut, values.len() - cut]);
    }

    #[test]
    fn arbitrary_bytes_never_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(column) = FloatColumn::read(&mut Reader::new(&bytes), 5000) {
            let runs = Runs::new([column.rows()]);
            let _outcome = column.all(&runs, &mut Vec::new());
        }
    }
}
