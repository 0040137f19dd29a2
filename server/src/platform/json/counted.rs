//! JSON texts of answers that may be large: their bytes count in the account of memory from before they are written.

use telltale_engine::{Memory, MemoryFull, MemoryOwner, MemoryShare};

/// A text, and its share of memory.
#[derive(Debug)]
pub struct CountedText {
    bytes: Vec<u8>,
    share: MemoryShare,
}

impl CountedText {
    /// An empty text.
    pub fn new(memory: &Memory) -> Self {
        Self { bytes: Vec::new(), share: memory.share(MemoryOwner::Answers) }
    }

    /// Writes some bytes more, about `expected`. Fails, and writes nothing, where there is no memory for so many.
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

    /// The text so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text as bytes, and what they count.
    pub fn into_parts(mut self) -> (Vec<u8>, MemoryShare) {
        if self.bytes.capacity() > 2 * self.bytes.len() {
            self.bytes.shrink_to_fit();
            self.settle();
        }
        (self.bytes, self.share)
    }

    /// What is there counts, whatever was expected.
    fn settle(&mut self) {
        let capacity = self.bytes.capacity() as u64;
        self.share.shrink_to(capacity);
        self.share.grow_anyway(capacity - self.share.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_counts_before_it_is_written_and_until_it_is_dropped() {
        let memory = Memory::new(1_000_000);
        let mut text = CountedText::new(&memory);
        let held = text.write(1_000, |out| {
            out.extend_from_slice(b"abc");
            memory.held()
        });
        assert_eq!(held, Ok(1_000));
        assert!(text.write(2_000_000, |_| panic!("there is no room")).is_err());
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
