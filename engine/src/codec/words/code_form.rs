//! How a code is stored.

use super::super::CodecResult;
use super::super::bytes::{Reader, put_varint};

/// What is stored of a code and its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) enum CodeForm {
    /// All values, and the lengths of the codes of all words.
    Lengths,
    /// The lowest one of consecutive values, and the lengths.
    LengthsOfConsecutive,
    /// The lowest one of consecutive values, and what they cost, from which the lengths follow.
    Costs,
}

impl CodeForm {
    /// Those of consecutive values: what is stored of other codes too would only be larger.
    pub(super) const CONSECUTIVE: [Self; 2] = [Self::LengthsOfConsecutive, Self::Costs];
    /// Those of other values.
    pub(super) const OTHERS: [Self; 1] = [Self::Lengths];

    /// Returns whether only consecutive values can be stored.
    pub(super) fn is_consecutive(self) -> bool {
        self != Self::Lengths
    }

    /// Appends how many numbers are missing between two values.
    pub(super) fn put_step(self, missing: u64, out: &mut Vec<u8>) {
        if self.is_consecutive() {
            debug_assert_eq!(missing, 0, "the values are consecutive");
        } else {
            put_varint(out, missing);
        }
    }

    /// Reads how many numbers are missing between two values.
    pub(super) fn step(self, reader: &mut Reader<'_>) -> CodecResult<u64> {
        if self.is_consecutive() { Ok(0) } else { reader.varint() }
    }
}
