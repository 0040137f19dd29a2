//! Ranges of keys of one keyspace: they cannot be passed to another.

use super::range::KeyRange;
use super::schema::{KeyOf, PrefixOf, Schema};

/// A range of keys of the keyspace `S`.
#[derive(Debug)]
pub(crate) struct RangeOf<S> {
    pub(super) keyspace: S,
    /// The encoded keys.
    pub(super) keys: KeyRange,
}

impl<S: Schema> RangeOf<S> {
    /// Returns the range of every key.
    pub(crate) fn all(keyspace: S) -> Self {
        Self { keyspace, keys: KeyRange::all() }
    }

    /// Returns the range of the keys that start with `prefix`.
    pub(crate) fn prefix(keyspace: S, prefix: &(impl PrefixOf<S> + ?Sized)) -> Self {
        Self { keyspace, keys: KeyRange::prefix(prefix.encoded().as_ref()) }
    }

    /// Returns the range of the keys from `from` up to, but not including, `to`.
    pub(crate) fn between<K: KeyOf<S> + ?Sized>(keyspace: S, from: &K, to: &K) -> Self {
        let (from, to) = (from.encoded(), to.encoded());
        Self { keyspace, keys: KeyRange::between(from.as_ref(), to.as_ref()) }
    }

    /// Returns the ranges of the keys that start with the prefix of one of `days`, which are in
    /// ascending order. Consecutive days share one range: their prefixes must follow each other.
    pub(crate) fn of_days<P: PrefixOf<S>>(
        keyspace: S,
        days: impl IntoIterator<Item = u32>,
        prefix_of: impl Fn(u32) -> P,
    ) -> Vec<Self> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for day in days {
            match runs.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(day) => *last = day,
                _ => runs.push((day, day)),
            }
        }
        let keys_of = |day: u32| KeyRange::prefix(prefix_of(day).encoded().as_ref());
        let keys = |(first, last)| KeyRange { from: keys_of(first).from, to: keys_of(last).to };
        runs.into_iter().map(|run| Self { keyspace, keys: keys(run) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::keyspace::Keyspace;
    use super::*;

    #[test]
    fn consecutive_days_are_one_range() {
        let of_days = |prefix: &'static [u8], days: &[u32]| {
            let prefix_of = |day: u32| [prefix, &day.to_be_bytes()].concat();
            let ranges = RangeOf::of_days(Keyspace::Blocks, days.iter().copied(), prefix_of);
            ranges.into_iter().map(|range| range.keys).collect::<Vec<_>>()
        };
        assert!(of_days(b"t", &[]).is_empty());
        let ranges = of_days(b"t", &[1, 2, 3, 5, 7, 255]);
        let range = |from: &[u8], to: &[u8]| KeyRange::between(from, to);
        let expected = [
            range(b"t\0\0\0\x01", b"t\0\0\0\x04"),
            range(b"t\0\0\0\x05", b"t\0\0\0\x06"),
            range(b"t\0\0\0\x07", b"t\0\0\0\x08"),
            range(b"t\0\0\0\xff", b"t\0\0\x01"),
        ];
        assert_eq!(ranges, expected);
        assert_eq!(of_days(b"t", &[u32::MAX]), [range(b"t\xff\xff\xff\xff", b"u")]);
        assert_eq!(of_days(b"", &[u32::MAX]), [KeyRange::prefix(&[0xff; 4])]);
    }
}
