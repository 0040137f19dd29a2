//! Numbers of any width one behind the other, the lowest bit first.

use super::{CodecError, CodecResult};

/// Writes numbers behind what is there.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    pending: u128,
    bits: u32,
}

impl BitWriter {
    /// Appends the lowest `bits` of a number that has no others; at most 64.
    #[inline]
    pub(super) fn push(&mut self, number: u64, bits: u32, out: &mut Vec<u8>) {
        self.pending |= u128::from(number) << self.bits;
        self.bits += bits;
        while self.bits >= 8 {
            out.push(self.pending as u8);
            self.pending >>= 8;
            self.bits -= 8;
        }
    }

    /// Fills the last byte up with zeros. The writer begins anew.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        if self.bits > 0 {
            out.push(self.pending as u8);
        }
        *self = Self::default();
    }
}

/// Reads what a [`BitWriter`] wrote.
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

    /// The next `bits`, at most 64.
    #[inline]
    pub(super) fn take(&mut self, bits: u32) -> CodecResult<u64> {
        while self.bits < bits {
            let byte = self.bytes.next().ok_or_else(|| CodecError::new("packed bits end early"))?;
            self.pending |= u128::from(*byte) << self.bits;
            self.bits += 8;
        }
        let number = self.pending & ((1 << bits) - 1);
        self.pending >>= bits;
        self.bits -= bits;
        Ok(number as u64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_read_as_they_were_written(parts in prop::collection::vec((any::<u64>(), 0u32..=64), 0..60)) {
            let cut = |(low, bits): (u64, u32)| ((u128::from(low) & ((1 << bits) - 1)) as u64, bits);
            let parts: Vec<(u64, u32)> = parts.into_iter().map(cut).collect();
            let (mut writer, mut bytes) = (BitWriter::default(), Vec::new());
            parts.iter().for_each(|(low, bits)| writer.push(*low, *bits, &mut bytes));
            writer.finish(&mut bytes);
            let mut reader = BitReader::new(&bytes);
            for (low, bits) in parts {
                prop_assert_eq!(reader.take(bits).unwrap(), low);
            }
            prop_assert!(reader.take(8).is_err());
        }
    }
}
