//! Half-open ranges of keys as bytes. Those of one keyspace are [`super::RangeOf`].

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
