//! Distributions: exact while small, within the error bound beyond, and independent of how they
//! were split, merged and stored.

use std::borrow::Cow;

use proptest::prelude::*;

use crate::limits::EXACT_VALUES_MAX;
use crate::sketch::distribution::{Distribution, rank_of};
use crate::sketch::parts::{Entries, Parts, signed_index};
use crate::sketch::sum::ExactSum;

fn of(values: &[f64]) -> Distribution {
    let mut distribution = Distribution::default();
    for &value in values {
        distribution.add(value);
    }
    distribution
}

fn encoded(distribution: &Distribution) -> Vec<u8> {
    let mut out = Vec::new();
    distribution.encode(&mut out);
    out
}

fn merged(parts: &[&[f64]]) -> Distribution {
    let mut whole = Distribution::default();
    for part in parts {
        whole.merge(&of(part));
    }
    whole
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1_000.0..1_000.0f64,
        4 => (0..10_000i32).prop_map(|v| f64::from(v) / 100.0),
        2 => (-5.0..12.0f64, any::<bool>())
            .prop_map(|(e, negative)| if negative { -10f64.powf(e) } else { 10f64.powf(e) }),
        1 => any::<f64>().prop_filter("finite", |v| v.is_finite()),
        1 => Just(0.0),
        1 => Just(-0.0),
        1 => Just(1e12),
    ]
}

fn any_values() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        proptest::collection::vec(any_value(), 0..70),
        proptest::collection::vec(any_value(), 60..70),
        proptest::collection::vec(any_value(), 0..800),
    ]
}

#[test]
fn moments_are_exact() {
    let mut distribution = Distribution::default();
    assert_eq!(distribution.min(), None);
    assert_eq!(distribution.avg(), None);
    assert_eq!(distribution.quantile(0.5), None);
    for _ in 0..1_000 {
        distribution.add(0.1);
        distribution.add(-0.3);
    }
    assert_eq!(distribution.count(), 2_000);
    assert_eq!(distribution.sum().value(), -200.0);
    assert_eq!(distribution.avg(), Some(-0.1));
    assert_eq!((distribution.min(), distribution.max()), (Some(-0.3), Some(0.1)));
}

#[test]
fn the_average_stays_in_the_range_of_the_values() {
    assert_eq!(of(&[0.1; 3]).avg(), Some(0.1));
    assert_eq!(of(&[1.7e308; 5]).avg(), Some(1.7e308));
}

#[test]
fn a_reported_sum_replaces_that_of_the_representative_values() {
    let mut distribution = Distribution::default();
    let reported = |sum: f64| {
        let mut reported = ExactSum::default();
        reported.add(sum);
        reported
    };
    distribution.add_with_sum(&[], &reported(7.0));
    assert_eq!((distribution.count(), distribution.sum().value()), (0, 0.0));
    distribution.add_with_sum(&[(1.0, 0), (5.5, 3)], &reported(6.3));
    assert_eq!((distribution.count(), distribution.sum().value()), (3, 6.3));
    assert_eq!(distribution.avg(), Some(2.1));
    assert_eq!(distribution.quantile(0.5), Some(5.5));
    distribution.add(0.7);
    assert_eq!(distribution.sum().value(), 7.0);
    distribution.add_with_sum(&[(0.25, 1_000)], &reported(100.0));
    assert_eq!((distribution.count(), distribution.sum().value()), (1_004, 107.0));
    assert_eq!((distribution.min(), distribution.max()), (Some(0.25), Some(5.5)));
}

#[test]
fn saturated_counts_can_be_stored() {
    let mut distribution = Distribution::default();
    for value in [1.0, 2.0, 2.0] {
        distribution.add_with_sum(&[(value, u64::MAX / 2), (3.0, 9)], &ExactSum::default());
    }
    let bytes = encoded(&distribution);
    assert_eq!(distribution.count(), i64::MAX as u64);
    assert_eq!(encoded(&Distribution::decode(&bytes).unwrap()), bytes);
}

#[test]
fn quantiles_are_nearest_rank() {
    let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
    let check = |values: &[f64], q: f64, expected: f64| {
        assert_eq!(of(values).quantile(q), Some(expected), "q {q} of {values:?}");
    };
    check(&[5.0], 0.5, 5.0);
    check(&[2.0, 1.0], 0.5, 1.0);
    check(&[2.0, 1.0], 0.51, 2.0);
    check(&[3.0, 1.0, 2.0], 0.0, 1.0);
    check(&[3.0, 1.0, 2.0], 1.0, 3.0);
    check(&[-0.0, 0.0], 0.5, 0.0);
    check(&hundred[..64], 0.5, 32.0);
    check(&hundred[..64], 0.99, 64.0);
    check(&hundred[..20], 0.95, 19.0);
    // In binary, 0.55 · 20 is slightly more than 11.
    check(&hundred[..20], 0.55, 11.0);
    check(&hundred, 0.0, 1.0);
    check(&hundred, 1.0, 100.0);
    check(&hundred[..20], f64::NAN, 1.0);
    check(&hundred[..20], -3.0, 1.0);
    check(&hundred[..20], 3.0, 20.0);
}

#[test]
fn quantiles_stay_within_the_range_of_the_values() {
    let distribution = of(&[1e15; 100]);
    assert_eq!(distribution.quantile(0.5), Some(1e15));
    let zero = of(&[-1e-12; 100]).quantile(0.5).unwrap();
    assert_eq!(zero.to_bits(), (-1e-12f64).to_bits());
}

#[test]
fn the_stored_form_does_not_change() {
    let exact = encoded(&of(&[1.5, -0.0, -2.0]));
    let mut expected = vec![1, 0, 3];
    for value in [-2.0f64, 0.0, 1.5] {
        expected.extend_from_slice(&value.to_le_bytes());
    }
    assert_eq!(exact, expected);
    assert_eq!(encoded(&Distribution::default()), [1, 0, 0]);

    let mut values = vec![1.0; 60];
    values.extend([1.0 / 3.0, -1.0, -1.0, -2.0, 0.0, 1e-7]);
    let mut expected = vec![1, 1];
    expected.extend_from_slice(&(-2.0f64).to_le_bytes());
    expected.extend_from_slice(&1.0f64.to_le_bytes());
    expected.extend_from_slice(&56_000_000_100i128.to_le_bytes());
    expected.push(1);
    expected.extend_from_slice(&(1.0f64 / 3.0).to_le_bytes());
    // 1.0 is 2^24 units: bucket 128·17 + 128 = 2304 = 0x12 · 128; 2.0 is 128 buckets further.
    expected.extend_from_slice(&[2, 0x80, 0x12, 2, 0x7f, 1]);
    // 0; 1e-7 is 2 units; a third is slightly over 43690 · 2^7 units: 128·15 + 170 = 2090, 2087
    // after bucket 2.
    expected.extend_from_slice(&[4, 0, 1, 1, 1, 0xa7, 0x10, 1, 0xd5, 0x01, 60]);
    assert_eq!(encoded(&of(&values)), expected);
}

#[test]
fn inconsistent_bytes_are_refused() {
    let refused = |bytes: &[u8]| assert!(Distribution::decode(bytes).is_err(), "{bytes:?}");
    let exact = |values: &[f64]| {
        let mut bytes = vec![1, 0, values.len() as u8];
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        bytes
    };
    refused(&[]);
    refused(&[2, 0, 0]);
    refused(&[1, 2, 0]);
    refused(&[1, 0, 0, 0]);
    refused(&exact(&[2.0, 1.0]));
    refused(&exact(&[-0.0]));
    refused(&exact(&[f64::NAN]));
    refused(&exact(&[f64::INFINITY]));
    refused(&exact(&[1.0; 65]));

    let good = of(&[-3.0; 100]).parts();
    assert!(Distribution::from_parts(&good).is_ok());
    let refused = |change: &dyn Fn(&mut Parts<'static>)| {
        let mut parts = good.clone();
        change(&mut parts);
        assert!(Distribution::from_parts(&parts).is_err(), "{parts:?}");
    };
    let bucket = signed_index(-3.0);
    let buckets = |indices: &[i32], counts: &[u64]| Entries::Buckets {
        indices: Cow::Owned(indices.to_vec()),
        counts: Cow::Owned(counts.to_vec()),
    };
    refused(&|p| p.count = 99);
    refused(&|p| p.min = f64::NAN);
    refused(&|p| p.min = -4.0);
    refused(&|p| p.max = f64::INFINITY);
    refused(&|p| (p.min, p.max) = (-3.0, -3.001));
    refused(&|p| p.entries = buckets(&[], &[]));
    refused(&|p| p.entries = buckets(&[bucket], &[]));
    refused(&|p| p.entries = buckets(&[bucket, bucket], &[50, 50]));
    refused(&|p| p.entries = buckets(&[bucket, bucket + 1, bucket], &[50, 49, 1]));
    refused(&|p| p.entries = buckets(&[bucket, bucket + 1], &[100, 0]));
    refused(&|p| p.entries = buckets(&[bucket, bucket + 1], &[u64::MAX, 101]));
    refused(&|p| p.entries = buckets(&[i32::MIN], &[100]));
    refused(&|p| p.entries = buckets(&[i32::MAX], &[100]));
    refused(&|p| p.entries = Entries::Exact(Cow::Owned(vec![-3.0])));
    refused(&|p| p.sum_is_reported = true);
}

/// Builds a distribution from lists of values, some of which were counted elsewhere and have a
/// reported sum.
fn mixed(parts: &[(Vec<f64>, Option<f64>)]) -> Distribution {
    let mut distribution = Distribution::default();
    for (values, reported) in parts {
        match reported {
            None => values.iter().for_each(|v| distribution.add(*v)),
            Some(reported) => {
                let counted: Vec<(f64, u64)> = values.iter().map(|v| (*v, 1)).collect();
                let mut sum = ExactSum::default();
                sum.add(*reported);
                distribution.add_with_sum(&counted, &sum);
            }
        }
    }
    distribution
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn merged_distributions_equal_one_of_all_values(
        values in any_values(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let whole = of(&values);
        let mut bounds: Vec<usize> = cuts.iter().map(|c| c.index(values.len() + 1)).collect();
        bounds.extend([0, values.len()]);
        bounds.sort_unstable();
        let parts: Vec<&[f64]> = bounds.windows(2).rev().map(|w| &values[w[0]..w[1]]).collect();
        prop_assert_eq!(encoded(&merged(&parts)), encoded(&whole));

        let mut from_columns = Distribution::default();
        for part in parts {
            from_columns.merge_parts(&of(part).parts()).unwrap();
        }
        prop_assert_eq!(encoded(&from_columns), encoded(&whole));
        prop_assert_eq!(from_columns.parts(), whole.parts());

        let mut descending = values;
        descending.sort_by(|a, b| b.total_cmp(a));
        prop_assert_eq!(encoded(&of(&descending)), encoded(&whole));
    }

    #[test]
    fn reported_sums_merge_in_any_order_and_round_trip(
        parts in proptest::collection::vec(
            (proptest::collection::vec(any_value(), 0..40), proptest::option::of(any_value())), 1..5,
        ),
        first in any::<prop::sample::Index>(),
    ) {
        let whole = mixed(&parts);
        let bytes = encoded(&whole);
        prop_assert_eq!(encoded(&Distribution::decode(&bytes).unwrap()), bytes.clone());
        let mut merged = Distribution::default();
        let (late, early) = parts.split_at(first.index(parts.len()));
        for part in early.iter().chain(late) {
            merged.merge(&mixed(std::slice::from_ref(part)));
        }
        prop_assert_eq!(encoded(&merged), bytes.clone());
        let copy = Distribution::from_parts(&whole.parts()).unwrap();
        prop_assert_eq!(encoded(&copy), bytes);
    }

    #[test]
    fn n_times_a_value_is_the_value_added_n_times(
        values in proptest::collection::vec((any_value(), 0..40u64), 0..10),
    ) {
        let mut at_once = Distribution::default();
        let mut singly = Distribution::default();
        for &(value, n) in &values {
            at_once.add_n(value, n);
            (0..n).for_each(|_| singly.add(value));
        }
        prop_assert_eq!(encoded(&at_once), encoded(&singly));
    }

    #[test]
    fn encoded_distributions_round_trip(values in any_values()) {
        let distribution = of(&values);
        let bytes = encoded(&distribution);
        prop_assert_eq!(encoded(&Distribution::decode(&bytes).unwrap()), bytes);
        let parts = distribution.parts();
        prop_assert_eq!(Distribution::from_parts(&parts).unwrap().parts(), parts);
    }

    #[test]
    fn quantiles_are_exact_or_within_one_percent(values in any_values(), q in 0.0..=1.0f64) {
        let distribution = of(&values);
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        for q in [q, 0.5, 0.9, 0.95, 0.99] {
            let Some(quantile) = distribution.quantile(q) else {
                prop_assert!(sorted.is_empty());
                continue;
            };
            let expected = sorted[rank_of(q, sorted.len() as u64) as usize - 1];
            if sorted.len() <= EXACT_VALUES_MAX {
                prop_assert_eq!(quantile, expected);
            } else if expected.abs() < 1e-5 {
                prop_assert!((quantile - expected).abs() <= 6e-8);
            } else if expected.abs() <= 1e12 {
                prop_assert!((quantile - expected).abs() <= 0.01 * expected.abs(), "{} for {}", quantile, expected);
            }
        }
    }

    #[test]
    fn corrupt_bytes_never_cause_a_panic(
        values in any_values(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encoded(&of(&values));
        let len = cut.index(bytes.len() + 1);
        if len < bytes.len() {
            prop_assert!(Distribution::decode(&bytes[..len]).is_err());
        }
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(read) = Distribution::decode(&bytes) {
            let copy = encoded(&read);
            prop_assert_eq!(encoded(&Distribution::decode(&copy).unwrap()), copy);
            prop_assert!(read.quantile(0.5).is_none_or(f64::is_finite));
        }
    }

    #[test]
    fn arbitrary_bytes_never_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for start in [&[][..], &[1, 0], &[1, 1]] {
            if let Ok(read) = Distribution::decode(&[start, &bytes].concat()) {
                prop_assert_eq!(read.parts().count, read.count());
            }
        }
    }
}
