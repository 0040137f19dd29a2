//! Columns of all kinds through a code, and damage to what is stored.

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::super::CodecResult;
use super::super::bytes::{Reader, put_bytes, put_signed, put_varint};
use super::super::runs::Runs;
use super::costs::Costs;
use super::limits::{WORD_VALUES_MAX, exceptions_max, values_max};
use super::{CodeForm, Plan, WordPages};

const PAGE_ROWS: usize = 1000;
const FORMS: [CodeForm; 3] = [CodeForm::Lengths, CodeForm::LengthsOfConsecutive, CodeForm::Costs];

/// Encodes `rows` in each form, and decodes all pages, whole and in part. Returns the bytes of the
/// smallest; `None` if no code suits the rows.
fn check(rows: &[i64]) -> Option<Vec<u8>> {
    let range = (rows.iter().min().copied()?, rows.iter().max().copied()?);
    let plans = FORMS.map(|form| Plan::with_form(Some(form), rows, range, PAGE_ROWS));
    let bytes = plans.each_ref().map(|plan| plan.as_ref().map(|plan| check_plan(plan, rows)));
    let smallest = Plan::new(rows, range, PAGE_ROWS);
    assert_eq!(
        smallest.as_ref().map(Plan::bytes),
        plans.iter().flatten().map(Plan::bytes).min(),
        "the smallest form is chosen"
    );
    let form = smallest?.form();
    bytes.into_iter().zip(FORMS).find_map(|(bytes, of)| bytes.filter(|_| of == form))
}

/// Encodes `rows` and decodes all pages, whole and in part. Returns the bytes.
fn check_plan(plan: &Plan, rows: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    plan.encode(PAGE_ROWS, &mut bytes);
    assert!(
        bytes.len() <= plan.bytes() + 8 + 4 * rows.len().div_ceil(PAGE_ROWS),
        "{}",
        plan.bytes()
    );
    let mut reader = Reader::new(&bytes);
    let pages = WordPages::read(plan.form(), &mut reader, (rows.len(), PAGE_ROWS)).unwrap();
    reader.finish().unwrap();
    for (page, expected) in rows.chunks(PAGE_ROWS).enumerate() {
        for wanted in [1, 2, 29, 30, 31, 256, 999, expected.len()] {
            let mut out = vec![0; wanted.min(expected.len())];
            pages.decode(page, &mut out).unwrap();
            assert_eq!(out, expected[..out.len()], "{wanted} rows of page {page}");
        }
    }
    for page in 0..rows.len().div_ceil(PAGE_ROWS) {
        let left = &rows[page * PAGE_ROWS..];
        for wanted in [PAGE_ROWS + 1, PAGE_ROWS + 40, 2 * PAGE_ROWS, 3 * PAGE_ROWS - 1, left.len()]
        {
            let mut out = vec![0; wanted.min(left.len())];
            pages.decode(page, &mut out).unwrap();
            assert_eq!(out, left[..out.len()], "{wanted} rows from page {page} on");
        }
    }
    assert!(pages.decode(rows.len().div_ceil(PAGE_ROWS), &mut [0]).is_err());
    assert!(pages.decode(0, &mut vec![0; rows.len().next_multiple_of(PAGE_ROWS) + 1]).is_err());
    bytes
}

#[test]
fn stops_are_noted_where_few_rows_are_read() {
    let rows: Vec<i64> = (0..3 * PAGE_ROWS as i64).map(|i| i * i % 7).collect();
    let plan = Plan::new(&rows, (0, 6), PAGE_ROWS).unwrap();
    let mut bytes = Vec::new();
    plan.encode(PAGE_ROWS, &mut bytes);
    let column = (rows.len(), PAGE_ROWS);
    let pages = WordPages::read(plan.form(), &mut Reader::new(&bytes), column).unwrap();
    pages.decode(0, &mut vec![0; rows.len()]).unwrap();
    assert!(pages.stops.get().is_none());
    let before = pages.bytes();
    let runs = Runs::new([rows.len()]);
    let (first, starts) = runs.starts_at(0, &[0]).unwrap();
    let mut out = vec![0; PAGE_ROWS + 600];
    pages.some_running_sums(first, &starts, &mut out).unwrap();
    let sums = rows.iter().scan(0, |sum, row| {
        *sum += row;
        Some(*sum)
    });
    assert!(sums.take(out.len()).eq(out));
    let stop = |page, row| pages.stops.get().unwrap().of_page(page).before(row).row;
    assert!((832..=900).contains(&stop(0, 900)), "{}", stop(0, 900));
    assert!((512..=600).contains(&stop(1, 999)), "{}", stop(1, 999));
    assert_eq!((stop(0, 63), stop(2, 999)), (0, 0));
    assert!(pages.bytes() > before);
    // From then on, all reads note them.
    pages.decode(2, &mut [0; 700]).unwrap();
    assert!((640..=700).contains(&stop(2, 999)), "{}", stop(2, 999));
    let mut out = vec![0; 40];
    pages.some(2 * PAGE_ROWS + 640, &mut out).unwrap();
    assert_eq!(out, rows[2 * PAGE_ROWS + 640..][..40]);
}

/// Rows of which the value `n` is half as frequent as `n - 1`.
fn geometric(rows: usize) -> Vec<i64> {
    (1..=rows).map(|row| i64::from(row.trailing_zeros())).collect()
}

#[test]
fn words_of_each_length_are_chosen_and_round_trip() {
    let rows = |values: i64, often: i64| {
        (0..9000).map(move |i| if i % often == 0 { i * 31 % values } else { 0 })
    };
    for (values, often, bits_max) in
        [(3, 3, 1.2), (9, 1, 3.3), (60, 1, 6.1), (256, 1, 8.4), (2, 20, 0.6)]
    {
        let rows: Vec<i64> = rows(values, often).collect();
        let bytes = check(&rows).unwrap().len();
        assert!(
            (bytes * 8) as f64 <= bits_max * rows.len() as f64,
            "{bytes} bytes of {values} values"
        );
    }
}

#[test]
fn as_many_values_as_a_code_may_have_round_trip_and_more_have_none() {
    for word_values in 1..=WORD_VALUES_MAX {
        let most = values_max(word_values) as i64;
        for values in [most - 1, most, most + 1] {
            let rows: Vec<i64> = (0..20_000).map(|i| i * i % values).collect();
            check(&rows).unwrap_or_default();
        }
    }
    assert!(check(&(0..20_000).map(|i| i % 256).collect::<Vec<_>>()).is_some());
    assert!(check(&(0..20_000).map(|i| i % 300).collect::<Vec<_>>()).is_none());
}

#[test]
fn codes_that_would_be_too_long_are_cut() {
    // Without a limit the rarest value would have a code of 16 bits.
    for rows in [100, 1023, 1024, 4095, 4096, 70_000] {
        assert!(check(&geometric(rows)).is_some(), "{rows} rows");
    }
    let mut rows = geometric(70_000);
    rows.sort_unstable();
    assert!(check(&rows).is_some());
}

#[test]
fn exceptions_round_trip_up_to_their_number() {
    let walk: Vec<i64> = (0..100_000).map(|i| i * i % 7).collect();
    let most = exceptions_max(walk.len());
    let far = |number: i64| if number % 2 == 0 { i64::MAX - number } else { i64::MIN + number };
    let near = |number: i64| if number % 2 == 0 { 100 + number } else { -5000 - number };
    let with = |exceptions: usize, value: &dyn Fn(i64) -> i64| {
        let mut rows = walk.clone();
        for number in 0..exceptions {
            rows[number * (walk.len() / exceptions)] = value(number as i64);
        }
        let last = rows.len() - 1;
        rows.swap(1, last);
        check(&rows).is_some()
    };
    for exceptions in [1, 2, most] {
        assert!(with(exceptions, &far) && with(exceptions, &near), "{exceptions} exceptions");
    }
    assert!(!with(most + 1, &far));
}

#[test]
fn values_at_the_ends_of_the_range_round_trip() {
    for low in [i64::MIN, i64::MAX - 6, -3, 0] {
        let rows: Vec<i64> = (0..5000).map(|i| low + i * i % 7).collect();
        assert!(check(&rows).is_some(), "{low}");
    }
    for (often, rare) in [(i64::MAX, i64::MIN), (i64::MAX - 2000, i64::MIN), (i64::MIN, i64::MAX)] {
        for rows in [96, 5000] {
            let rows: Vec<i64> =
                (0..rows).map(|i| if i % 48 == 5 { rare } else { often }).collect();
            check(&rows);
            let few: Vec<i64> = rows.iter().map(|v| v - v.signum() * (v % 5).abs()).collect();
            check(&few);
        }
    }
    let far: Vec<i64> = (0..5000).map(|i| [i64::MIN, 0, i64::MAX][i % 3]).collect();
    assert!(check(&far).is_none());
}

#[test]
fn two_values_and_one_word_round_trip() {
    assert!(check(&(0..3000).map(|i| i % 2).collect::<Vec<_>>()).is_some());
    assert!(check(&[5, 5, 5, 5, 7, 5, 7]).is_some());
    assert!(check(&[5; 200]).is_some());
    assert!(check(&[1]).is_some());
}

/// A head with two values and these codes, and a page.
fn column(head: &[u8], page: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_bytes(&mut bytes, head);
    put_varint(&mut bytes, page.len() as u64);
    bytes.extend_from_slice(page);
    bytes
}

fn head(values: u64, word_values: u8, lengths: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    put_varint(&mut head, values);
    put_signed(&mut head, 10);
    (1..values).for_each(|_| put_varint(&mut head, 0));
    head.extend_from_slice(&[word_values, 0]);
    head.extend_from_slice(lengths);
    head
}

fn open(form: CodeForm, bytes: &[u8], rows: usize) -> CodecResult<WordPages<'_>> {
    WordPages::read(form, &mut Reader::new(bytes), (rows, PAGE_ROWS))
}

fn decoded(bytes: &[u8], rows: usize) -> Result<Vec<i64>, String> {
    decoded_in(CodeForm::Lengths, bytes, rows)
}

fn decoded_in(form: CodeForm, bytes: &[u8], rows: usize) -> Result<Vec<i64>, String> {
    let pages = open(form, bytes, rows).map_err(|e| e.to_string())?;
    let mut out = vec![0; rows];
    pages.decode(0, &mut out).map_err(|e| e.to_string())?;
    Ok(out)
}

#[test]
fn a_stored_code_is_read_as_specified() {
    // 10 has the code 0, 11 the code 10 and 12 the code 11, each beginning with its lowest bit.
    let bytes = column(&head(3, 1, &[0x21, 0x02]), &[0b1_1010]);
    assert_eq!(decoded(&bytes, 4).unwrap(), [10, 11, 12, 10]);
    assert_eq!(decoded(&bytes, 3).unwrap(), [10, 11, 12]);
    let pairs = column(&head(2, 2, &[0x22, 0x22]), &[0b11_01_10_00]);
    assert_eq!(decoded(&pairs, 8).unwrap(), [10, 10, 11, 10, 10, 11, 11, 11]);
}

/// A head of a code by costs, and pages of these lengths.
fn by_costs(head: &[u8], lengths: [u8; 2], pages: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_bytes(&mut bytes, head);
    bytes.extend_from_slice(&lengths);
    bytes.extend_from_slice(pages);
    bytes
}

#[test]
fn a_code_by_costs_is_read_as_specified() {
    let costs = [3, 20, 1, 0, 0, 16, 32, 32];
    let bytes = by_costs(&costs, [1, 0], &[0b1_1010]);
    assert_eq!(decoded_in(CodeForm::Costs, &bytes, 4).unwrap(), [10, 11, 12, 10]);
    // Of two equally frequent values, the same neighbors cost 3 bits and others 1.
    let pairs = [2, 20, 2, 0, 64, 16, 16];
    assert_eq!(costs_of(&pairs[4..]).lengths(2).unwrap(), [2, 2, 2, 2]);
    let bytes = by_costs(&pairs, [1, 0], &[0b11_01_10_00]);
    assert_eq!(decoded_in(CodeForm::Costs, &bytes, 8).unwrap(), [10, 10, 11, 10, 10, 11, 11, 11]);
}

#[test]
fn a_code_of_consecutive_values_is_read_as_specified() {
    let lengths = [3, 20, 1, 0, 0x21, 0x02];
    let bytes = by_costs(&lengths, [1, 0], &[0b1_1010]);
    let read = decoded_in(CodeForm::LengthsOfConsecutive, &bytes, 4);
    assert_eq!(read.unwrap(), [10, 11, 12, 10]);
}

fn costs_of(bytes: &[u8]) -> Costs {
    Costs::read(&mut Reader::new(bytes), bytes.len() - 1).unwrap()
}

#[test]
fn a_code_by_costs_is_the_same_everywhere() {
    let walk = [26, 255, 180, 114, 64, 33, 22, 33, 63, 114, 181, 255];
    let lengths = costs_of(&walk).lengths(3).unwrap();
    assert_eq!((lengths.len(), xxh3_64(&lengths)), (1331, 12_849_802_434_089_205_847));
    let most: Vec<u8> = (0..17).map(|n| n * 15).collect();
    let lengths = costs_of(&most).lengths(3).unwrap();
    assert_eq!((lengths.len(), xxh3_64(&lengths)), (4096, 16_504_392_868_253_094_288));
    assert_eq!(lengths.iter().max(), Some(&18));
}

#[test]
fn neighbors_that_differ_make_a_code_by_costs_smaller() {
    // Steps up are followed by steps down, of 0 to 2. Alone, each would take 2.25 bits.
    let rows: Vec<i64> = (0..60_000).map(|i| i * i % 1013 % 3 * (i % 2 * 2 - 1)).collect();
    let plan = Plan::with_form(Some(CodeForm::Costs), &rows, (-2, 2), PAGE_ROWS).unwrap();
    assert!(plan.bytes() * 80 < rows.len() * 22, "{} bytes", plan.bytes());
}

#[test]
fn damage_to_a_code_by_costs_is_an_error() {
    let error = |head: &[u8], lengths: [u8; 2], rows: usize| {
        let bytes = by_costs(head, lengths, &[0xff; 250]);
        decoded_in(CodeForm::Costs, &bytes, rows).unwrap_err()
    };
    let costs = [3, 20, 1, 0, 0, 16, 32, 32];
    assert_eq!(error(&costs, [1, 65], 4), "invalid width of lengths: 65 bits");
    assert_eq!(error(&costs, [1, 64], 2000), "a page is too long");
    assert_eq!(error(&costs[..7], [1, 0], 4), "expected 3 more bytes, found 2");
    assert_eq!(error(&[3, 20, 1, 0, 0, 16, 32, 32, 0], [1, 0], 4), "1 trailing bytes");
    assert_eq!(error(&costs, [4, 0], 4), "compressed integers end after 1 bytes instead of 4");
    let mut far = costs.to_vec();
    far.splice(1..2, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    assert_eq!(error(&far, [1, 0], 4), "values of a code exceed 64 bits");
}

#[test]
fn damage_is_an_error() {
    let error =
        |head: &[u8], page: &[u8], rows: usize| decoded(&column(head, page), rows).unwrap_err();
    let codes = [0x21, 0x02];
    assert_eq!(error(&head(3, 4, &codes), &[0], 4), "a code has 3 values, and words of 4");
    assert_eq!(error(&head(3, 0, &codes), &[0], 4), "a code has 3 values, and words of 0");
    assert_eq!(error(&head(65, 2, &codes), &[0], 4), "a code has 65 values, and words of 2");
    assert_eq!(error(&head(17, 3, &codes), &[0], 4), "a code has 17 values, and words of 3");
    assert_eq!(error(&head(3, 1, &[0x11, 0x01]), &[0], 4), "codes of words overlap");
    assert_eq!(error(&head(3, 1, &[0x21, 0x10, 0]), &[0], 4), "4 codes for 3 words");
    assert_eq!(error(&head(3, 1, &[0x21]), &[0], 4), "lengths of codes end too early");
    assert_eq!(
        error(&head(3, 1, &[0x21, 0x12]), &[0], 4),
        "lengths of codes are followed by others"
    );
    assert_eq!(error(&head(3, 1, &[0x22, 0x00, 0x00]), &[0xff; 40], 64), "unknown code of a word");
    assert_eq!(error(&head(3, 1, &[0x22, 0x00, 0x00]), &[0xff], 1), "unknown code of a word");
    assert_eq!(
        error(&head(3, 1, &codes), &[0, 0], 4),
        "compressed integers end after 1 bytes instead of 2"
    );
    assert_eq!(
        error(&head(3, 1, &codes), &[0], 9),
        "compressed integers end after 2 bytes instead of 1"
    );
    let mut far = head(2, 1, &[0x11]);
    far.splice(2..3, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    assert_eq!(error(&far, &[0], 4), "values of a code exceed 64 bits");
}

#[test]
fn damaged_exceptions_are_an_error() {
    let error = |exceptions: &[u8], rows: usize| {
        let mut head = head(3, 1, &[0x21, 0x02]);
        head.splice(5..6, exceptions.iter().copied());
        decoded(&column(&head, &[0; 125]), rows).unwrap_err()
    };
    assert_eq!(error(&[2, 0, 8, 1, 8], 1000), "2 exceptions exceed the limit of 1");
    let mut pages = head(3, 1, &[0x21, 0x02]);
    pages.splice(5..6, [1, 0xe8, 0x07, 8]);
    assert_eq!(decoded(&column(&pages, &[0; 125]), 1000).unwrap_err(), "row 1000 is no exception");
}

/// Checks that if a page can be decoded, its first rows are the same when decoded alone.
fn check_prefixes(pages: &WordPages<'_>, page: usize, rows: usize) {
    let mut all = vec![0; rows];
    if pages.decode(page, &mut all).is_err() {
        return;
    }
    for wanted in [1, rows / 2, rows - 1] {
        let mut out = vec![0; wanted];
        pages.decode(page, &mut out).unwrap();
        assert_eq!(out, all[..wanted], "{wanted} rows of page {page}");
    }
}

proptest! {
    #[test]
    fn any_few_values_round_trip(
        values in prop::collection::vec(any::<i64>(), 1..300),
        near in prop::collection::vec(-40i64..40, 1..300),
        picks in prop::collection::vec((0usize..100_000, 0u32..12), 1..3000),
    ) {
        let skewed = |values: &[i64]| -> Vec<i64> {
            picks.iter().map(|(pick, skew)| values[(pick % values.len()) >> skew]).collect()
        };
        check(&skewed(&near));
        check(&skewed(&values));
    }

    #[test]
    fn arbitrary_bytes_never_cause_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..80), rows in 1usize..2000,
    ) {
        // Half of the bytes of a valid head make it likely that a table is made.
        for head in [bytes.clone(), [head(3, 1, &[0x21, 0x02]), bytes.clone()].concat()] {
            let mut column = Vec::new();
            put_bytes(&mut column, &head);
            column.extend_from_slice(&bytes);
            for form in FORMS {
                let Ok(pages) = open(form, &column, rows) else { continue };
                prop_assert!(pages.prepare().is_ok() || pages.decode(0, &mut [0]).is_err());
                check_prefixes(&pages, 0, rows.min(PAGE_ROWS));
            }
        }
    }

    #[test]
    fn changed_bytes_decode_to_an_error_or_to_rows(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let rows: Vec<i64> = (0..3000).map(|i| i * i % 1013 % 10).collect();
        for form in FORMS {
            let plan = Plan::with_form(Some(form), &rows, (0, 9), PAGE_ROWS).unwrap();
            let mut bytes = check_plan(&plan, &rows);
            let at = at.index(bytes.len());
            bytes[at] = to;
            let Ok(pages) = open(form, &bytes, rows.len()) else { continue };
            for page in 0..3 {
                check_prefixes(&pages, page, PAGE_ROWS);
            }
            check_from_stops(&pages, rows.len());
        }
    }
}

/// Checks that reads from stops, which earlier ones have noted, agree with those of whole pages
/// wherever both decode.
fn check_from_stops(pages: &WordPages<'_>, rows: usize) {
    let runs = Runs::new([700, rows - 700]);
    let mut whole = vec![0; PAGE_ROWS];
    for (from, length) in [(700, 290), (700, 100), (0, 999), (0, 700), (700, 1200), (0, 256)] {
        let (first, starts) = runs.starts_at(from, &[5, -9]).unwrap();
        let mut out = vec![0; length];
        let from_stops = pages.some_running_sums(first, &starts, &mut out);
        let page_starts = runs.starts(0, &[5, -9]).unwrap();
        let is_whole = pages.running_sums(0, &page_starts, &mut whole).is_ok();
        if is_whole && from_stops.is_ok() {
            let same = length.min(PAGE_ROWS - first);
            assert_eq!(out[..same], whole[first..first + same], "{length} rows from {from} on");
        }
    }
}
