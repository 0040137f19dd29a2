//! Sets of positions with rank lookups, and their encoding as runs.

use crate::cast::to_u32;
use crate::codec::bytes::Reader;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};

/// A set of positions that returns the rank of each of them in constant time.
#[derive(Debug, Default)]
pub(super) struct RankedBits {
    words: Vec<u64>,
    /// Number of positions of the set before each word.
    before: Vec<u32>,
    count: u32,
}

impl RankedBits {
    /// Returns the set of the positions below `len` for which `in_set` is true.
    pub(super) fn new(len: usize, in_set: impl Fn(usize) -> bool) -> Self {
        let words = (0..len.div_ceil(64)).map(|word| {
            let bits = word * 64..len.min(word * 64 + 64);
            bits.fold(0, |all, at| all | u64::from(in_set(at)) << (at % 64))
        });
        Self::of_words(words.collect())
    }

    fn of_words(words: Vec<u64>) -> Self {
        let mut count = 0;
        let before = words.iter().map(|word| {
            let before = count;
            count += word.count_ones();
            before
        });
        let before = before.collect();
        Self { words, before, count }
    }

    /// Returns the number of positions in the set.
    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    /// Returns the number of positions in the set before `at`, or `None` if `at` is not in the set.
    #[inline]
    pub(super) fn rank(&self, at: usize) -> Option<usize> {
        let word = *self.words.get(at / 64)?;
        let bit = 1 << (at % 64);
        let below = bit - 1;
        // Most words are full, so there is nothing to count. Counting takes a dozen instructions on
        // processors without a popcount instruction.
        let rank =
            if word & below == below { to_u32(at % 64) } else { (word & below).count_ones() };
        (word & bit != 0).then(|| (self.before[at / 64] + rank) as usize)
    }

    /// Returns the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.words.len() * 12
    }
}

/// Appends a set as the lengths of alternating runs, starting with positions that are not in the
/// set.
pub(super) fn encode_runs(
    in_set: impl Iterator<Item = bool>,
    effort: Effort,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    let mut runs = vec![0i64];
    let mut inside = false;
    for is in in_set {
        if is != inside {
            inside = is;
            runs.push(0);
        }
        if let Some(run) = runs.last_mut() {
            *run += 1;
        }
    }
    integers::encode(&runs, effort, out)
}

/// Decodes what [`encode_runs`] wrote for `len` positions.
pub(super) fn decode_runs(bytes: &[u8], len: usize) -> CodecResult<RankedBits> {
    let mut reader = Reader::new(bytes);
    let mut runs = Vec::new();
    IntegerColumn::read(&mut reader, len + 1)?.all(&mut runs)?;
    reader.finish()?;
    let mut words = vec![0u64; len.div_ceil(64)];
    let mut at = 0usize;
    for (i, run) in runs.into_iter().enumerate() {
        let end = usize::try_from(run).ok().and_then(|run| at.checked_add(run));
        let end = end.filter(|end| *end <= len);
        let end = end.ok_or_else(|| CodecError::new("runs extend past the last row"))?;
        if i % 2 == 1 {
            for position in at..end {
                words[position / 64] |= 1 << (position % 64);
            }
        }
        at = end;
    }
    if at != len {
        return Err(CodecError::new("runs end before the last row"));
    }
    Ok(RankedBits::of_words(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_round_trip_and_ranks_count(bits in proptest::collection::vec(any::<bool>(), 0..400)) {
            let mut bytes = Vec::new();
            encode_runs(bits.iter().copied(), Effort::Seal, &mut bytes).unwrap();
            let stored = decode_runs(&bytes, bits.len()).unwrap();
            let made = RankedBits::new(bits.len(), |at| bits[at]);
            let mut rank = 0;
            for (at, bit) in bits.iter().enumerate() {
                prop_assert_eq!(stored.rank(at), bit.then_some(rank));
                prop_assert_eq!(made.rank(at), bit.then_some(rank));
                rank += usize::from(*bit);
            }
            prop_assert_eq!(stored.count(), rank);
            prop_assert_eq!(stored.rank(bits.len() + 64), None);
            prop_assert!(decode_runs(&bytes, bits.len() + 1).is_err());
        }
    }
}
