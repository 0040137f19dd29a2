//! Little-endian integers and varints, appended to a `Vec<u8>` and decoded by a bounds-checked
//! cursor.
//!
//! A varint is LEB128 of at most ten bytes in its shortest form, so that equal integers have equal
//! bytes. Signed values are zigzag-encoded first.

use super::{CodecError, CodecResult};
use crate::cast::low_byte;

/// Appends `value` as a varint.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(low_byte(value) | 0x80);
        value >>= 7;
    }
    out.push(low_byte(value));
}

/// Returns the number of bytes that [`put_varint`] writes for `value`.
pub(crate) fn varint_bytes(value: usize) -> usize {
    let bits = usize::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Appends `value` as a zigzag-encoded varint.
#[inline]
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_varint(out, zigzag(value));
}

/// Appends the length of `bytes` as a varint, then the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Maps integers of small magnitude, of either sign, to small unsigned integers.
#[inline]
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Inverts [`zigzag`].
#[inline]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// A cursor over a byte slice. Every read past the end fails.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the bytes not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Fails unless all bytes were read.
    pub(crate) fn finish(&self) -> CodecResult<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(CodecError::new(format!("{} trailing bytes", self.rest.len())))
        }
    }

    /// Returns the next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> CodecResult<&'a [u8]> {
        match self.rest.split_at_checked(len) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(CodecError::new(format!(
                "expected {len} more bytes, found {}",
                self.rest.len()
            ))),
        }
    }

    fn array<const N: usize>(&mut self) -> CodecResult<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => {
                Err(CodecError::new(format!("expected {N} more bytes, found {}", self.rest.len())))
            }
        }
    }

    pub(crate) fn u8(&mut self) -> CodecResult<u8> {
        self.array::<1>().map(|[b]| b)
    }

    pub(crate) fn u64(&mut self) -> CodecResult<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn u128(&mut self) -> CodecResult<u128> {
        self.array().map(u128::from_le_bytes)
    }

    pub(crate) fn f64(&mut self) -> CodecResult<f64> {
        self.u64().map(f64::from_bits)
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> CodecResult<u64> {
        // Most varints have one byte.
        if let Some((&first, tail)) = self.rest.split_first()
            && first < 0x80
        {
            self.rest = tail;
            return Ok(u64::from(first));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> CodecResult<u64> {
        let mut value = 0u64;
        for (i, &byte) in self.rest.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            if i == 9 && bits > 1 {
                return Err(CodecError::new("varint exceeds 64 bits"));
            }
            value |= bits << (7 * i);
            if byte == 0 {
                return Err(CodecError::new("varint is not in its shortest form"));
            }
            if byte < 0x80 {
                self.rest = self.rest.get(i + 1..).unwrap_or_default();
                return Ok(value);
            }
        }
        Err(CodecError::new("varint has no last byte"))
    }

    #[inline]
    pub(crate) fn signed(&mut self) -> CodecResult<i64> {
        self.varint().map(unzigzag)
    }

    /// Reads a varint that counts items (named `what` in the error). Fails when it exceeds `max`.
    pub(crate) fn count(&mut self, what: &str, max: usize) -> CodecResult<usize> {
        let value = self.varint()?;
        match usize::try_from(value) {
            Ok(count) if count <= max => Ok(count),
            _ => Err(CodecError::new(format!("{value} {what} exceed the limit of {max}"))),
        }
    }

    pub(crate) fn bytes(&mut self) -> CodecResult<&'a [u8]> {
        let len = self.count("bytes", self.rest.len())?;
        self.take(len)
    }

    /// Reads `count` byte slices: first all their lengths as varints, then their bytes.
    pub(crate) fn pages(&mut self, count: usize) -> CodecResult<Vec<&'a [u8]>> {
        self.lengths(count)?.into_iter().map(|len| self.take(len)).collect()
    }

    /// Reads the lengths of `count` pages as varints.
    pub(super) fn lengths(&mut self, count: usize) -> CodecResult<Vec<usize>> {
        (0..count).map(|_| self.count("bytes of a page", self.rest.len())).collect()
    }

    pub(crate) fn text(&mut self) -> CodecResult<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| CodecError::new("string is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_round_trip(values in proptest::collection::vec(any::<u64>(), 0..50)) {
            let mut out = Vec::new();
            for &v in &values {
                put_varint(&mut out, v);
                put_signed(&mut out, v as i64);
            }
            let mut reader = Reader::new(&out);
            for &v in &values {
                prop_assert_eq!(reader.varint().unwrap(), v);
                prop_assert_eq!(reader.signed().unwrap(), v as i64);
            }
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn arbitrary_bytes_never_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader::new(&bytes);
            while reader.varint().is_ok() && !reader.rest().is_empty() {}
            prop_assert!(Reader::new(&bytes).take(41).is_err());
        }
    }

    #[test]
    fn a_varint_of_more_than_64_bits_is_refused() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert!(Reader::new(&bytes).varint().is_err());
    }

    #[test]
    fn only_the_shortest_form_of_a_varint_is_accepted() {
        assert!(Reader::new(&[0x80, 0x00]).varint().is_err());
        assert_eq!(Reader::new(&[0x80, 0x01]).varint(), Ok(128));
    }

    proptest! {
        #[test]
        fn a_count_above_its_limit_is_refused(
            max in prop_oneof![0..300_usize, 0..usize::MAX], above in 1..=u64::MAX,
        ) {
            let count = |value: u64| {
                let mut bytes = Vec::new();
                put_varint(&mut bytes, value);
                Reader::new(&bytes).count("things", max).ok()
            };
            prop_assert_eq!(count(max as u64), Some(max));
            prop_assert_eq!(count(max as u64 + 1), None);
            prop_assert_eq!(count((max as u64).saturating_add(above)), None);
        }
    }

    #[test]
    fn a_length_beyond_the_input_is_refused() {
        assert_eq!(Reader::new(&[2, 7, 8]).bytes(), Ok(&[7, 8][..]));
        assert!(Reader::new(&[3, 7, 8]).bytes().is_err());
    }
}
