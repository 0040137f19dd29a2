//! Half-open ranges of keys.

/// The keys `from <= key < to`, in byte order. Without `to` the range has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key of the range.
    pub from: Vec<u8>,
    /// The first key after the range.
    pub to: Option<Vec<u8>>,
}

impl KeyRange {
    /// Returns the range of every key.
    pub fn all() -> Self {
        Self { from: Vec::new(), to: None }
    }

    /// Returns the range of the keys that start with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { from: prefix.to_vec(), to: after_prefix(prefix) }
    }

    /// Returns the range of the keys from `from` up to, but not including, `to`.
    pub fn between(from: &[u8], to: &[u8]) -> Self {
        Self { from: from.to_vec(), to: Some(to.to_vec()) }
    }

    /// Returns the ranges of the keys that start with `prefix` and one of `days`, which are in
    /// ascending order. Consecutive days share one range.
    pub(crate) fn of_days(prefix: &[u8], days: impl IntoIterator<Item = u32>) -> Vec<Self> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for day in days {
            match runs.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(day) => *last = day,
                _ => runs.push((day, day)),
            }
        }
        let start_of = |day: u32| [prefix, &day.to_be_bytes()].concat();
        let range =
            |(first, last)| Self { from: start_of(first), to: after_prefix(&start_of(last)) };
        runs.into_iter().map(range).collect()
    }

    /// Returns whether the range contains no key.
    pub fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to <= self.from)
    }
}

/// Returns the first key after all keys that start with `prefix`, or `None` when the prefix is all
/// `0xff`.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut after = prefix.get(..=last)?.to_vec();
    *after.last_mut()? += 1;
    Some(after)
}

/// Returns a key below `to` such that only unusually long keys lie between the two: RocksDB needs
/// it where it takes an inclusive end. Returns `None` when no key is below `to`.
pub(super) fn just_below(to: &[u8]) -> Option<Vec<u8>> {
    // Longer than any key the engine writes, so no stored key falls into the gap.
    const TAIL_BYTES: usize = 64;
    let (last, head) = to.split_last()?;
    let mut below = head.to_vec();
    // The predecessor of "ab\0" is "ab": dropping the zero byte suffices.
    if *last > 0 {
        below.push(last - 1);
        below.resize(below.len() + TAIL_BYTES, 0xff);
    }
    Some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_range_ends_at_the_next_prefix() {
        assert_eq!(KeyRange::prefix(b"ab").to.as_deref(), Some(b"ac".as_slice()));
        assert_eq!(KeyRange::prefix(&[7, 0xff, 0xff]).to.as_deref(), Some([8].as_slice()));
        assert_eq!(KeyRange::prefix(&[0xff, 0xff]).to, None);
        assert_eq!(KeyRange::prefix(b""), KeyRange::all());
    }

    #[test]
    fn consecutive_days_are_one_range() {
        assert!(KeyRange::of_days(b"t", []).is_empty());
        let ranges = KeyRange::of_days(b"t", [1, 2, 3, 5, 7, 255]);
        let range = |from: &[u8], to: &[u8]| KeyRange::between(from, to);
        let expected = [
            range(b"t\0\0\0\x01", b"t\0\0\0\x04"),
            range(b"t\0\0\0\x05", b"t\0\0\0\x06"),
            range(b"t\0\0\0\x07", b"t\0\0\0\x08"),
            range(b"t\0\0\0\xff", b"t\0\0\x01"),
        ];
        assert_eq!(ranges, expected);
        assert_eq!(KeyRange::of_days(b"t", [u32::MAX]), [range(b"t\xff\xff\xff\xff", b"u")]);
        assert_eq!(KeyRange::of_days(b"", [u32::MAX]), [KeyRange::prefix(&[0xff; 4])]);
    }

    #[test]
    fn just_below_is_below_the_end_and_above_every_shorter_key() {
        assert_eq!(just_below(b""), None);
        assert_eq!(just_below(&[5, 0]).as_deref(), Some([5].as_slice()));
        let below = just_below(&[5, 3]).unwrap_or_default();
        assert!(below.as_slice() < [5, 3].as_slice());
        assert!(below.as_slice() > [5, 2, 0xff, 0xff, 0xff].as_slice());
    }

    #[test]
    fn a_range_that_ends_before_its_start_is_empty() {
        assert!(KeyRange::between(b"b", b"b").is_empty());
        assert!(KeyRange::between(b"b", b"a").is_empty());
        assert!(!KeyRange::between(b"a", b"b").is_empty());
        assert!(!KeyRange::all().is_empty());
    }
}
