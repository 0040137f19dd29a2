//! Bit packing: integers of 0 to 64 bits packed without gaps, least significant bit first.

use super::{CodecError, CodecResult};
use crate::cast::{low_byte, low_word};

/// Appends bit-packed integers to a byte vector.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    pending: u128,
    bits: u32,
}

impl BitWriter {
    /// Appends the lowest `bits` bits of `number`, at most 64. All higher bits must be zero.
    #[inline]
    pub(super) fn push(&mut self, number: u64, bits: u32, out: &mut Vec<u8>) {
        self.pending |= u128::from(number) << self.bits;
        self.bits += bits;
        while self.bits >= 8 {
            out.push(low_byte(low_word(self.pending)));
            self.pending >>= 8;
            self.bits -= 8;
        }
    }

    /// Writes out the last, partial byte, padded with zero bits, and resets the writer.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        if self.bits > 0 {
            out.push(low_byte(low_word(self.pending)));
        }
        *self = Self::default();
    }
}

/// Reads integers written by a [`BitWriter`].
#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    pending: u128,
    bits: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter(), pending: 0, bits: 0 }
    }

    /// Reads the next integer of `bits` bits, at most 64. Fails when the input is too short.
    #[inline]
    pub(super) fn take(&mut self, bits: u32) -> CodecResult<u64> {
        while self.bits < bits {
            let byte =
                self.bytes.next().ok_or_else(|| CodecError::new("packed bits are truncated"))?;
            self.pending |= u128::from(*byte) << self.bits;
            self.bits += 8;
        }
        let number = self.pending & ((1 << bits) - 1);
        self.pending >>= bits;
        self.bits -= bits;
        Ok(low_word(number))
    }

    /// Fails unless everything was read, but for the zeros that fill the last byte.
    pub(super) fn finish(self) -> CodecResult<()> {
        if self.bytes.len() == 0 && self.bits < 8 && self.pending == 0 {
            Ok(())
        } else {
            Err(CodecError::new("packed bits are followed by others"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bit_packed_integers_round_trip(integers in prop::collection::vec((any::<u64>(), 0u32..=64), 0..60)) {
            let mask = |(low, bits): (u64, u32)| ((u128::from(low) & ((1 << bits) - 1)) as u64, bits);
            let integers: Vec<(u64, u32)> = integers.into_iter().map(mask).collect();
            let (mut writer, mut bytes) = (BitWriter::default(), Vec::new());
            integers.iter().for_each(|(low, bits)| writer.push(*low, *bits, &mut bytes));
            writer.finish(&mut bytes);
            let mut reader = BitReader::new(&bytes);
            for (low, bits) in integers {
                prop_assert_eq!(reader.take(bits).unwrap(), low);
            }
            prop_assert!(reader.take(8).is_err());
        }
    }
}
