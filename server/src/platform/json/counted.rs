//! JSON of responses that may be large: its bytes are charged to the memory account before they are
//! written.

use std::io::{self, Write};

use serde::Serialize;
use telltale_engine::{Memory, MemoryFull, MemoryOwner, MemoryShare};

/// A JSON buffer with its memory charge.
#[derive(Debug)]
pub struct ChargedJson {
    bytes: Vec<u8>,
    share: MemoryShare,
}

impl ChargedJson {
    /// Returns an empty buffer.
    pub fn new(memory: &Memory) -> Self {
        Self { bytes: Vec::new(), share: memory.share(MemoryOwner::Answers) }
    }

    /// Writes about `expected` bytes. Fails without writing anything if there is no memory for
    /// them.
    pub fn write<T>(
        &mut self,
        expected: usize,
        write: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> Result<T, MemoryFull> {
        let wanted = self.bytes.len().saturating_add(expected) as u64;
        self.share.grow(wanted.saturating_sub(self.share.bytes()))?;
        self.bytes.reserve(expected);
        let written = write(&mut self.bytes);
        self.settle();
        Ok(written)
    }

    /// Appends the JSON of a value. Fails if there is no memory for it; bytes written until then
    /// remain.
    pub fn append<T: Serialize>(&mut self, value: &T) -> Result<(), JsonWriteError> {
        let mut pieces = Pieces { text: self, full: None };
        let written = serde_json::to_writer(&mut pieces, value);
        match pieces.full {
            Some(full) => Err(JsonWriteError::MemoryFull(full)),
            None => written.map_err(JsonWriteError::Invalid),
        }
    }

    /// Returns the bytes written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes and their memory charge.
    pub fn into_parts(mut self) -> (Vec<u8>, MemoryShare) {
        if self.bytes.capacity() > 2 * self.bytes.len() {
            self.bytes.shrink_to_fit();
            self.settle();
        }
        (self.bytes, self.share)
    }

    /// Corrects the charge to the actual capacity.
    fn settle(&mut self) {
        let capacity = self.bytes.capacity() as u64;
        self.share.shrink_to(capacity);
        self.share.grow_unchecked(capacity - self.share.bytes());
    }
}

/// Why a value could not be written as JSON.
#[derive(Debug)]
pub enum JsonWriteError {
    /// There is no memory for it.
    MemoryFull(MemoryFull),
    /// It has no JSON representation.
    Invalid(serde_json::Error),
}

/// The least number of bytes by which the buffer grows.
const PIECE_BYTES_MIN: usize = 4 << 10;

/// A writer that appends to the buffer, which grows by half each time.
struct Pieces<'t> {
    text: &'t mut ChargedJson,
    full: Option<MemoryFull>,
}

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = &mut *self.text;
        let free = text.bytes.capacity() - text.bytes.len();
        if free < bytes.len() {
            let more = bytes.len().max(text.bytes.len() / 2).max(PIECE_BYTES_MIN);
            if let Err(full) = text.write(more, |_| ()) {
                self.full = Some(full);
                return Err(io::ErrorKind::OutOfMemory.into());
            }
        }
        text.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_charged_while_it_is_written() {
        let memory = Memory::new(100_000);
        let mut text = ChargedJson::new(&memory);
        let value: Vec<u32> = (0..8_000).collect();
        text.append(&value).unwrap();
        assert_eq!(text.bytes(), serde_json::to_vec(&value).unwrap());
        assert_eq!(memory.held(), text.bytes.capacity() as u64);
        let large = vec![value; 10];
        assert!(matches!(text.append(&large), Err(JsonWriteError::MemoryFull(_))));
        assert!(memory.held() <= memory.limit());
        drop(text);
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn bytes_are_charged_before_they_are_written_until_they_are_dropped() {
        let memory = Memory::new(1_000_000);
        let mut text = ChargedJson::new(&memory);
        let held = text.write(1_000, |out| {
            out.extend_from_slice(b"abc");
            memory.held()
        });
        assert_eq!(held, Ok(1_000));
        assert!(text.write(2_000_000, |_| panic!("there is no memory")).is_err());
        text.write(1, |out| out.resize(5_000, b'x')).unwrap();
        assert!(memory.held() >= 5_000, "more than was expected");
        text.write(100_000, |_| ()).unwrap();
        let (bytes, share) = text.into_parts();
        assert_eq!((bytes.len(), share.bytes()), (5_000, bytes.capacity() as u64));
        assert_eq!(memory.held(), share.bytes());
        drop(share);
        assert_eq!(memory.held(), 0);
    }
}
