//! Writes and reads numbers and strings. Small numbers take one byte, as in Protocol Buffers.

use super::super::error::IndexError;

/// Bits of a number in each of its bytes.
const BITS: u32 = 7;

/// Says that further bytes follow.
const MORE: u8 = 1 << BITS;

/// Appends to a sequence of bytes.
#[derive(Debug, Default)]
pub(in super::super) struct ByteWriter {
    bytes: Vec<u8>,
}

/// Reads a sequence of bytes that may be damaged.
#[derive(Clone, Debug)]
pub(in super::super) struct ByteReader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl ByteWriter {
    pub(in super::super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(in super::super) fn number(&mut self, number: impl Into<u64>) {
        let mut number = number.into();
        while number >= u64::from(MORE) {
            self.bytes.push(number as u8 | MORE);
            number >>= BITS;
        }
        self.bytes.push(number as u8);
    }

    /// Appends a number that is often small, but may be negative.
    pub(in super::super) fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)) as u64);
    }

    pub(in super::super) fn length(&mut self, length: usize) {
        self.number(length as u64);
    }

    pub(in super::super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(in super::super) fn string(&mut self, string: &str) {
        self.length(string.len());
        self.raw(string.as_bytes());
    }

    pub(in super::super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(in super::super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl<'a> ByteReader<'a> {
    /// Reads `bytes`; `what` names them in errors.
    pub(in super::super) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    pub(in super::super) fn damaged(&self) -> IndexError {
        IndexError::Damaged { what: self.what }
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(in super::super) fn len(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    pub(in super::super) fn byte(&mut self) -> Result<u8, IndexError> {
        let (byte, rest) = self.rest.split_first().ok_or(self.damaged())?;
        self.rest = rest;
        Ok(*byte)
    }

    #[inline]
    pub(in super::super) fn number(&mut self) -> Result<u64, IndexError> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(BITS as usize) {
            let byte = self.byte()?;
            number |= u64::from(byte & !MORE) << shift;
            if byte & MORE == 0 {
                return Ok(number);
            }
        }
        Err(self.damaged())
    }

    pub(in super::super) fn signed(&mut self) -> Result<i64, IndexError> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Reads a number that fits into a smaller type.
    pub(in super::super) fn narrow<T: TryFrom<u64>>(&mut self) -> Result<T, IndexError> {
        self.number()?.try_into().map_err(|_| self.damaged())
    }

    /// Reads the number of things that follow, each of at least one byte.
    pub(in super::super) fn count(&mut self) -> Result<usize, IndexError> {
        let count: usize = self.narrow()?;
        if count > self.rest.len() {
            return Err(self.damaged());
        }
        Ok(count)
    }

    pub(in super::super) fn raw(&mut self, length: usize) -> Result<&'a [u8], IndexError> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(self.damaged())?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(in super::super) fn array<const N: usize>(&mut self) -> Result<[u8; N], IndexError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(self.damaged())?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub(in super::super) fn string(&mut self) -> Result<&'a str, IndexError> {
        let length = self.count()?;
        std::str::from_utf8(self.raw(length)?).map_err(|_| self.damaged())
    }

    /// Fails if anything is left.
    pub(in super::super) fn end(self) -> Result<(), IndexError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.damaged()) }
    }
}
