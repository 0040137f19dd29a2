//! How a code is stored.

use super::super::CodecResult;
use super::super::bytes::{Reader, put_varint};

/// What is stored of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) enum CodeForm {
    /// The lengths of the codes of all words.
    Lengths,
    /// What the values cost, from which the lengths follow. The values are consecutive.
    Costs,
}

impl CodeForm {
    pub(super) const ALL: [Self; 2] = [Self::Lengths, Self::Costs];

    /// Appends how many numbers are missing between two values.
    pub(super) fn put_step(self, missing: u64, out: &mut Vec<u8>) {
        match self {
            Self::Lengths => put_varint(out, missing),
            Self::Costs => debug_assert_eq!(missing, 0, "the values are consecutive"),
        }
    }

    /// Reads how many numbers are missing between two values.
    pub(super) fn step(self, reader: &mut Reader<'_>) -> CodecResult<u64> {
        match self {
            Self::Lengths => reader.varint(),
            Self::Costs => Ok(0),
        }
    }
}
