//! The buckets of a histogram as they are stored and compared: empty exponential buckets are left
//! out.

use std::sync::Arc;

use crate::model::{Buckets, Span};

/// The relative rounding error allowed between two ways of computing a bound: far less than the
/// width of the finest bucket.
const BOUND_ROUNDING: f64 = 1e-9;

/// The bucket counts of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Counts {
    Explicit {
        /// Shared with neighbouring series, which mostly have the same bounds.
        bounds: Arc<[f64]>,
        /// One more than there are bounds.
        counts: Box<[u64]>,
    },
    Exponential(Exponential),
}

/// Counts between powers of 2^(2^−scale).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exponential {
    pub(super) scale: i32,
    pub(super) zero_threshold: f64,
    pub(super) zero: u64,
    pub(super) positive: Side,
    pub(super) negative: Side,
}

/// Buckets of one sign: index and count, ascending, none empty.
pub(super) type Side = Box<[(i32, u64)]>;

impl Counts {
    /// Converts buckets. Bounds equal to those of `near` are shared with it; otherwise `near` is
    /// set to the new bounds.
    pub(super) fn new(buckets: Buckets, near: &mut Arc<[f64]>) -> Self {
        match buckets {
            Buckets::Explicit { bounds, counts } => {
                if **near != *bounds {
                    *near = bounds.into();
                }
                Self::Explicit { bounds: Arc::clone(near), counts: counts.into() }
            }
            Buckets::Exponential { scale, zero_threshold, zero, positive, negative } => {
                let (positive, negative) =
                    (nonempty_buckets(&positive), nonempty_buckets(&negative));
                Self::Exponential(Exponential { scale, zero_threshold, zero, positive, negative })
            }
        }
    }

    /// Returns the total count, `None` on overflow.
    pub(super) fn checked_total(&self) -> Option<u64> {
        let add = |sum: u64, n: &u64| sum.checked_add(*n);
        match self {
            Self::Explicit { counts, .. } => counts.iter().try_fold(0, add),
            Self::Exponential(Exponential { zero, positive, negative, .. }) => {
                positive.iter().chain(negative).map(|(_, n)| n).try_fold(*zero, add)
            }
        }
    }

    /// Returns the increase since `before`, at the coarser scale of the two. `None` after a counter
    /// reset: a bucket has a lower count, or the bounds differ.
    pub(super) fn since(&self, before: &Self) -> Option<Self> {
        match (self, before) {
            (
                Self::Explicit { bounds, counts },
                Self::Explicit { bounds: old, counts: earlier },
            ) => {
                if !Arc::ptr_eq(bounds, old) && bounds != old {
                    return None;
                }
                let pairs = counts.iter().zip(earlier);
                let counts: Option<_> = pairs.map(|(n, earlier)| n.checked_sub(*earlier)).collect();
                Some(Self::Explicit { bounds: Arc::clone(bounds), counts: counts? })
            }
            (Self::Exponential(now), Self::Exponential(before)) => {
                now.since(before).map(Self::Exponential)
            }
            _ => None,
        }
    }

    /// Returns the bytes of the bucket arrays. Bounds are shared and not included.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Explicit { counts, .. } => size_of_val(&**counts),
            Self::Exponential(Exponential { positive, negative, .. }) => {
                size_of_val(&**positive) + size_of_val(&**negative)
            }
        }
    }
}

fn nonempty_buckets(span: &Span) -> Side {
    (span.offset..).zip(&span.counts).filter(|(_, n)| **n > 0).map(|(i, n)| (i, *n)).collect()
}

impl Exponential {
    fn since(&self, before: &Self) -> Option<Self> {
        let scale = self.scale.min(before.scale);
        let now = self.at_scale(scale);
        let before = before.at_scale(scale).with_threshold(now.zero_threshold)?;
        Some(Self {
            zero: now.zero.checked_sub(before.zero)?,
            positive: subtract(&now.positive, &before.positive)?,
            negative: subtract(&now.negative, &before.negative)?,
            ..now
        })
    }

    /// Converts the buckets to `scale`, which is not finer.
    fn at_scale(&self, scale: i32) -> Self {
        let halvings = (self.scale - scale).min(i32::BITS.cast_signed() - 1);
        let fold = |side: &Side| {
            let mut folded: Vec<(i32, u64)> = Vec::with_capacity(side.len());
            for (index, n) in side {
                let index = index >> halvings;
                match folded.last_mut() {
                    Some((last, into)) if *last == index => *into += n,
                    _ => folded.push((index, *n)),
                }
            }
            folded.into_boxed_slice()
        };
        Self { scale, positive: fold(&self.positive), negative: fold(&self.negative), ..*self }
    }

    /// Widens the zero bucket to `zero_threshold`. `None` if it would become narrower or would end
    /// inside a bucket that contains values.
    fn with_threshold(self, zero_threshold: f64) -> Option<Self> {
        if zero_threshold == self.zero_threshold {
            return Some(self);
        }
        if zero_threshold < self.zero_threshold {
            return None;
        }
        let within = |(index, _): &&(i32, u64)| {
            power(self.scale, f64::from(*index) + 1.0) <= zero_threshold * (1.0 + BOUND_ROUNDING)
        };
        let outside = |side: &Side| {
            let inside = side.iter().take_while(within).count();
            let (swallowed, rest) = side.split_at(inside);
            let lower_bound = |(index, _): &(i32, u64)| power(self.scale, f64::from(*index));
            let cut = rest
                .first()
                .map(lower_bound)
                .is_some_and(|b| b < zero_threshold * (1.0 - BOUND_ROUNDING));
            let zeros: u64 = swallowed.iter().map(|(_, n)| n).sum();
            (!cut).then(|| (zeros, Side::from(rest)))
        };
        let (above, positive) = outside(&self.positive)?;
        let (below, negative) = outside(&self.negative)?;
        let zero = self.zero + above + below;
        Some(Self { zero_threshold, zero, positive, negative, ..self })
    }
}

/// Returns the base of exponential buckets of a scale, raised to `exponent`.
pub(super) fn power(scale: i32, exponent: f64) -> f64 {
    (exponent * f64::from(-scale).exp2()).exp2()
}

/// Subtracts `before` from `now`, bucket by bucket. `None` if a count would be negative.
fn subtract(now: &Side, before: &Side) -> Option<Side> {
    let mut earlier = before.iter().peekable();
    let mut left = Vec::with_capacity(now.len());
    for (index, n) in now {
        let mut n = *n;
        if let Some((_, before)) = earlier.next_if(|(before, _)| before == index) {
            n = n.checked_sub(*before)?;
        }
        if n > 0 {
            left.push((*index, n));
        }
    }
    // A remaining bucket of `before` is missing from `now`.
    earlier.next().is_none().then(|| left.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn explicit(bounds: &[f64], counts: &[u64]) -> Counts {
        let buckets = Buckets::Explicit { bounds: bounds.to_vec(), counts: counts.to_vec() };
        Counts::new(buckets, &mut Arc::default())
    }

    fn exponential(scale: i32, zero_threshold: f64, zero: u64, positive: &[(i32, u64)]) -> Counts {
        let (positive, negative) = (positive.into(), positive.into());
        Counts::Exponential(Exponential { scale, zero_threshold, zero, positive, negative })
    }

    #[test]
    fn buckets_without_values_are_left_out_and_bounds_shared() {
        let span = |offset, counts: &[u64]| Span { offset, counts: counts.to_vec() };
        let buckets = Buckets::Exponential {
            scale: 2,
            zero_threshold: 0.5,
            zero: 4,
            positive: span(-1, &[0, 3, 0, 5]),
            negative: span(7, &[0, 0]),
        };
        let Counts::Exponential(counts) = Counts::new(buckets, &mut Arc::default()) else {
            panic!("the buckets are exponential")
        };
        assert_eq!(*counts.positive, [(0, 3), (2, 5)]);
        assert_eq!((counts.negative.len(), counts.zero), (0, 4));
        let mut near = Arc::default();
        let buckets = || Buckets::Explicit { bounds: vec![1.0, 2.0], counts: vec![1, 2, 3] };
        let (first, second) =
            (Counts::new(buckets(), &mut near), Counts::new(buckets(), &mut near));
        assert_eq!(first, second);
        assert_eq!(Arc::strong_count(&near), 3);
        assert_eq!(first.checked_total(), Some(6));
    }

    #[test]
    fn explicit_buckets_continue_or_reset() {
        let before = explicit(&[1.0, 2.0], &[1, 0, 5]);
        let since = |bounds: &[f64], counts: &[u64]| explicit(bounds, counts).since(&before);
        assert_eq!(since(&[1.0, 2.0], &[3, 0, 5]), Some(explicit(&[1.0, 2.0], &[2, 0, 0])));
        assert_eq!(since(&[1.0, 2.0], &[9, 9, 4]), None);
        assert_eq!(since(&[1.0, 2.5], &[3, 0, 5]), None);
        assert_eq!(exponential(0, 0.0, 9, &[]).since(&before), None);
    }

    #[test]
    fn exponential_buckets_continue_or_reset() {
        let before = exponential(1, 0.0, 2, &[(-3, 1), (4, 5)]);
        let since =
            |zero, positive: &[(i32, u64)]| exponential(1, 0.0, zero, positive).since(&before);
        let more = since(3, &[(-3, 1), (0, 2), (4, 6)]);
        assert_eq!(more, Some(exponential(1, 0.0, 1, &[(0, 2), (4, 1)])));
        assert_eq!(since(1, &[(-3, 1), (4, 5)]), None);
        assert_eq!(since(2, &[(-3, 1), (4, 4)]), None);
        assert_eq!(since(2, &[(4, 9)]), None);
        assert_eq!(since(2, &[(-3, 9)]), None);
    }

    #[test]
    fn different_scales_are_compared_at_the_coarser_one() {
        let fine = |n| exponential(2, 0.0, 0, &[(-5, n), (-4, n), (3, n), (4, n)]);
        let coarse = |a, b, c| exponential(1, 0.0, 0, &[(-3, a), (-2, b), (1, c), (2, c)]);
        assert_eq!(coarse(2, 3, 4).since(&fine(1)), Some(coarse(1, 2, 3)));
        assert_eq!(coarse(2, 1, 4).since(&fine(2)), None);
        let at_once = exponential(-1, 0.0, 0, &[(-1, 5), (0, 4)]);
        assert_eq!(at_once.since(&fine(2)), Some(exponential(-1, 0.0, 0, &[(-1, 1)])));
        // A reset to finer buckets cannot be detected if no bucket has a lower count.
        assert_eq!(
            fine(3).since(&coarse(1, 1, 2)),
            Some(exponential(1, 0.0, 0, &[(-3, 2), (-2, 2), (1, 1), (2, 1)]))
        );
    }

    #[test]
    fn a_wider_zero_bucket_absorbs_buckets() {
        // Buckets of scale 0: (1/8, 1/4] is -3.
        let before = exponential(0, 0.125, 1, &[(-3, 2), (0, 3)]);
        let since = |threshold, zero, positive: &[(i32, u64)]| {
            exponential(0, threshold, zero, positive).since(&before)
        };
        let (none, wider) = (exponential(0, 0.25, 0, &[]), since(0.25, 5, &[(0, 3)]));
        assert_eq!(wider, Some(none));
        assert_eq!(
            since(0.25 * (1.0 - 1e-15), 5, &[(0, 3)]).and_then(|c| c.checked_total()),
            Some(0)
        );
        assert_eq!(since(0.2, 9, &[(0, 9)]), None, "the bucket is cut");
        assert_eq!(since(0.0625, 9, &[(-3, 9), (0, 9)]), None, "narrower");
    }

    proptest! {
        #[test]
        fn the_increase_is_what_was_added(
            before in prop::collection::btree_map(-2_000i32..2_000, 1u64..9, 0..30),
            added in prop::collection::btree_map(-2_000i32..2_000, 1u64..9, 0..30),
            (scale, coarser) in (-11i32..=20).prop_flat_map(|scale| (Just(scale), -11..=scale)),
        ) {
            let counts = |scale, all: &std::collections::BTreeMap<i32, u64>| {
                let all: Vec<(i32, u64)> = all.iter().map(|(i, n)| (*i, *n)).collect();
                exponential(scale, 0.0, 0, &all)
            };
            let mut both = before.clone();
            added.iter().for_each(|(i, n)| *both.entry(*i).or_default() += n);
            let fold = |counts: Counts| match counts {
                Counts::Exponential(counts) => Counts::Exponential(counts.at_scale(coarser)),
                other => other,
            };
            let now = fold(counts(scale, &both));
            prop_assert_eq!(now.since(&counts(scale, &before)), Some(fold(counts(scale, &added))));
        }
    }
}
