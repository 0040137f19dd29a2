//! Finding words by the values of their codes. Shorter codes are smaller numbers, so that the
//! length of the next one follows from its first bits and a comparison or two: it takes longer
//! than a look into the [table](super::table), but little memory.

use super::huffman::WordCode;
use super::limits::CODE_BITS_MAX;
use crate::cast::{items, low_byte, low_half};

/// The lengths that a code may have.
const LENGTHS: usize = CODE_BITS_MAX as usize;
/// The first bits of a code that tell its length, or that it is longer.
const FIRST_BITS: u32 = 8;

/// A code and its words.
#[derive(Debug)]
pub(super) struct CanonicalCode {
    /// Of each length from one bit on, the first number of [`CODE_BITS_MAX`] bits that begins with
    /// none of its codes, nor with a shorter one.
    ends: [u32; LENGTHS],
    /// By the first bits of a code, how many lengths are shorter, at least.
    shorter: [u8; 1 << FIRST_BITS],
    /// Of each length, what is added to a code for the place of its word.
    offsets: [u32; LENGTHS],
    /// The words in the order of codes.
    words: Vec<u32>,
}

impl CanonicalCode {
    /// Returns a code that has no words.
    pub(super) fn empty() -> Self {
        let (ends, shorter) = ([0; LENGTHS], [0; 1 << FIRST_BITS]);
        Self { ends, shorter, offsets: [0; LENGTHS], words: Vec::new() }
    }

    /// Returns a code. `codes` are in increasing order; `word` returns what a code stands for.
    pub(super) fn new(codes: &[WordCode], word: impl Fn(&WordCode) -> u32) -> Self {
        let mut code = Self { words: codes.iter().map(word).collect(), ..Self::empty() };
        let (mut place, mut end) = (0, 0);
        let mut lengths = codes.chunk_by(|a, b| a.bits == b.bits).peekable();
        for ((bits, into), offset) in (1..).zip(&mut code.ends).zip(&mut code.offsets) {
            if let Some(codes) =
                lengths.next_if(|codes| codes.first().is_some_and(|c| c.bits == bits))
                && let Some(first) = codes.first()
            {
                *offset = low_half(place).wrapping_sub(low_half(first.code));
                place += codes.len() as u64;
                end = low_half((first.code + codes.len() as u64) << (CODE_BITS_MAX - bits));
            }
            *into = end;
        }
        for (first, shorter) in (0..).zip(&mut code.shorter) {
            let next: u32 = first << (CODE_BITS_MAX - FIRST_BITS);
            *shorter = low_byte(code.ends.partition_point(|end| *end <= next) as u64);
        }
        code
    }

    /// Returns the bytes in memory besides the code itself.
    pub(super) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u32>()
    }

    /// Returns the word whose code is the first of some bits, of which the first is the highest,
    /// and the bits of the code. `None` if there is none.
    #[inline]
    pub(super) fn find(&self, next: u64) -> Option<(u32, u32)> {
        let next = low_half(next >> (u64::BITS - CODE_BITS_MAX));
        let first = items(u64::from(next >> (CODE_BITS_MAX - FIRST_BITS)));
        let mut shorter = u32::from(*self.shorter.get(first)?);
        while *self.ends.get(shorter as usize)? <= next {
            shorter += 1;
        }
        let offset = self.offsets.get(shorter as usize)?;
        let place = (next >> (CODE_BITS_MAX - 1 - shorter)).wrapping_add(*offset);
        self.words.get(place as usize).map(|word| (*word, shorter + 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::huffman;
    use super::*;

    /// Returns what codes of these lengths are found to be, each followed by all ones and by zeros.
    fn check(lengths: &[u8]) {
        let codes = huffman::codes(lengths).unwrap();
        let code = CanonicalCode::new(&codes, |code| code.word as u32);
        let mut end = 0;
        for WordCode { word, code: value, bits } in codes {
            let first = value << (64 - bits);
            for next in [first, first | u64::MAX >> bits] {
                assert_eq!(code.find(next), Some((word as u32, bits)), "{next:b} of {lengths:?}");
            }
            end = (value + 1) << (CODE_BITS_MAX - bits);
        }
        if end < 1 << CODE_BITS_MAX {
            assert_eq!(code.find(end << (64 - CODE_BITS_MAX)), None, "{lengths:?}");
            assert_eq!(code.find(u64::MAX), None, "{lengths:?}");
        }
    }

    #[test]
    fn codes_are_found_by_their_bits() {
        check(&[]);
        check(&[1]);
        check(&[0, 1, 1]);
        check(&[2, 0, 1, 3, 3]);
        check(&[18, 1, 18]);
        let steps: Vec<u8> = (1..=18).chain([18]).collect();
        check(&steps);
        assert_eq!(CanonicalCode::empty().find(0), None);
        assert_eq!(CanonicalCode::empty().find(u64::MAX), None);
    }

    proptest! {
        #[test]
        fn any_code_is_found_by_its_bits(lengths in prop::collection::vec(0u8..=18, 0..300)) {
            if huffman::codes(&lengths).is_ok() {
                check(&lengths);
            }
        }

        #[test]
        fn full_codes_are_found_by_their_bits(frequencies in prop::collection::vec(1u32..9999, 2..300)) {
            if let Some(code) = huffman::Code::new(&frequencies) {
                check(code.lengths());
            }
        }
    }
}
