//! Memory of parsed documents, charged to the account of the process.
//!
//! A parsed document takes many times the bytes of a dense body: a value of two bytes becomes a
//! node of 24. So before a large body is parsed into a document, the memory is reserved for the
//! lifetime of the document. Bodies that are read in place need none.

use telltale_engine::{Memory, MemoryOwner, MemoryShare};

use super::read::InvalidJson;
use crate::limits;

/// Reserves memory for the document of a body; none for a small one, which fits into the buffers of
/// its thread. Fails if memory is full, or the body has more values than allowed.
pub fn reserve_document(body: &[u8], memory: &Memory) -> Result<Option<MemoryShare>, InvalidJson> {
    if has_too_many_values(body) {
        return Err(InvalidJson::TooManyValues);
    }
    let share = bytes_of(body).map(|bytes| memory.take(MemoryOwner::Bodies, bytes));
    Ok(share.transpose()?)
}

/// Reserves memory for the document of a part of a body even if memory is full: the other parts are
/// or will be stored, and this one must not be lost.
pub fn reserve_document_unconditionally(part: &[u8], memory: &Memory) -> Option<MemoryShare> {
    bytes_of(part).map(|bytes| memory.take_unchecked(MemoryOwner::Bodies, bytes))
}

/// Returns whether a document may have more than [`limits::JSON_VALUES_MAX`] values.
pub fn has_too_many_values(body: &[u8]) -> bool {
    body.len() > limits::JSON_SCRATCH_BYTES_MAX && limits::JSON_VALUES_MAX < values_at_most(body)
}

/// Returns the maximum size of the document of a large body in bytes: its nodes and two copies of
/// its text.
fn bytes_of(body: &[u8]) -> Option<u64> {
    let is_large = body.len() > limits::JSON_SCRATCH_BYTES_MAX;
    is_large.then(|| values_at_most(body) as u64 * limits::JSON_VALUE_BYTES + 2 * body.len() as u64)
}

/// Returns an upper bound of the number of values and keys: the number of bytes that begin or
/// separate them. Those inside strings are counted, too, which covers documents within strings.
fn values_at_most(body: &[u8]) -> usize {
    body.iter().map(|b| usize::from(matches!(b, b',' | b':' | b'[' | b'{'))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a document of this many numbers.
    fn numbers(count: usize) -> String {
        format!("[{}0]", "0,".repeat(count - 1))
    }

    #[test]
    fn a_dense_document_is_charged_its_size_and_released() {
        let memory = Memory::new(64 << 20);
        let body = numbers(1_000_000);
        let share = reserve_document(body.as_bytes(), &memory).unwrap();
        let held = memory.held_by(MemoryOwner::Bodies);
        // Measured: 42 bytes per value, two copies of the text included.
        assert!((42_000_000..60_000_000).contains(&held), "{held}");
        let refused = reserve_document(body.as_bytes(), &memory).unwrap_err();
        assert!(matches!(refused, InvalidJson::MemoryFull(_)), "{refused:?}");
        let part = reserve_document_unconditionally(body.as_bytes(), &memory);
        assert_eq!(memory.held(), 2 * held);
        drop((share, part));
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn a_small_document_is_not_charged() {
        let memory = Memory::new(0);
        let body = " ".repeat(limits::JSON_SCRATCH_BYTES_MAX);
        assert!(reserve_document(body.as_bytes(), &memory).unwrap().is_none());
        assert!(reserve_document(format!("{body} ").as_bytes(), &memory).is_err());
    }

    #[test]
    fn too_many_values_are_refused_however_much_memory_there_is() {
        let body = numbers(limits::JSON_VALUES_MAX + 1);
        let refused = reserve_document(body.as_bytes(), &Memory::new(0)).unwrap_err();
        assert_eq!(refused, InvalidJson::TooManyValues);
    }
}
