//! Interned strings: each distinct string is stored once and has a dense id.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use xxhash_rust::xxh3::xxh3_64;

/// The id of a string in an [`StringInterner`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StringId(pub(crate) u32);

/// Distinct strings, concatenated in one buffer and found by hash or id.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringInterner {
    buffer: String,
    /// The end of each string; it starts at the end of the previous one.
    ends: Vec<usize>,
    by_hash: HashTable<HashedId>,
}

/// The id of a string with a part of its hash: the strings themselves lie elsewhere in memory, and
/// few of them are looked at.
#[derive(Clone, Copy, Debug)]
struct HashedId {
    hash: u32,
    id: u32,
}

impl HashedId {
    /// Returns the hash for the table, which uses bits at both ends.
    #[inline]
    fn spread(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(SPREAD)
    }
}

/// An odd multiplier with well-distributed bits: 2⁶⁴ divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl StringInterner {
    pub(crate) fn get(&self, text: &str) -> Option<StringId> {
        let hash = hash_of(text);
        let Self { buffer, ends, by_hash } = self;
        let is_text = |known: &HashedId| is_known(*known, hash, buffer, ends, text);
        by_hash.find(HashedId::spread(hash), is_text).map(|known| StringId(known.id))
    }

    pub(crate) fn intern(&mut self, text: &str) -> StringId {
        let Self { buffer, ends, by_hash } = self;
        let (hash, id) = (hash_of(text), ends.len() as u32);
        let entry = by_hash.entry(
            HashedId::spread(hash),
            |known| is_known(*known, hash, buffer, ends, text),
            |known| HashedId::spread(known.hash),
        );
        match entry {
            Entry::Occupied(known) => return StringId(known.get().id),
            Entry::Vacant(vacant) => drop(vacant.insert(HashedId { hash, id })),
        }
        buffer.push_str(text);
        ends.push(buffer.len());
        StringId(id)
    }

    /// Like [`Self::intern`]; faster if `expected` is the id of this string.
    #[inline]
    pub(crate) fn intern_expected(&mut self, text: &str, expected: Option<StringId>) -> StringId {
        match expected {
            Some(id) if bytes_at(&self.buffer, &self.ends, id.0) == text.as_bytes() => id,
            _ => self.intern(text),
        }
    }

    pub(crate) fn text(&self, id: StringId) -> &str {
        text_at(&self.buffer, &self.ends, id.0)
    }

    /// Returns the length of a string in bytes.
    #[inline]
    pub(crate) fn bytes_of(&self, id: StringId) -> usize {
        span(&self.ends, id.0).len()
    }

    /// Returns the number of strings; all ids are smaller.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Iterates over the strings in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|id| text_at(&self.buffer, &self.ends, id))
    }

    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.buffer.capacity() + self.ends.capacity() * 8 + self.by_hash.capacity() * 9
    }
}

#[inline]
fn hash_of(text: &str) -> u32 {
    xxh3_64(text.as_bytes()) as u32
}

#[inline]
fn is_known(known: HashedId, hash: u32, buffer: &str, ends: &[usize], text: &str) -> bool {
    known.hash == hash && bytes_at(buffer, ends, known.id) == text.as_bytes()
}

#[inline]
fn bytes_at<'a>(buffer: &'a str, ends: &[usize], id: u32) -> &'a [u8] {
    &buffer.as_bytes()[span(ends, id)]
}

#[inline]
fn span(ends: &[usize], id: u32) -> Range<usize> {
    let id = id as usize;
    let start = id.checked_sub(1).map_or(0, |before| ends[before]);
    start..ends[id]
}

fn text_at<'a>(buffer: &'a str, ends: &[usize], id: u32) -> &'a str {
    let Some(text) = buffer.get(span(ends, id)) else { panic!("string {id} cuts a character") };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_get_one_id() {
        let mut interner = StringInterner::default();
        let strings = ["host", "", "a", "größe", "host", "a"];
        let ids: Vec<u32> = strings.iter().map(|t| interner.intern(t).0).collect();
        assert_eq!(ids, [0, 1, 2, 3, 0, 2]);
        for (string, id) in strings.iter().zip(ids) {
            assert_eq!(interner.text(StringId(id)), *string);
            assert_eq!(interner.get(string), Some(StringId(id)));
            assert_eq!(interner.intern_expected(string, Some(StringId(id))), StringId(id));
            assert_eq!(interner.intern_expected(string, Some(StringId(1))), StringId(id));
            assert_eq!(interner.intern_expected(string, None), StringId(id));
        }
        let many: Vec<String> = (0..5_000).map(|i| format!("{i}")).collect();
        let ids: Vec<StringId> = many.iter().map(|text| interner.intern(text)).collect();
        assert_eq!(interner.len(), 5_004);
        for (text, id) in many.iter().zip(ids) {
            assert_eq!((interner.get(text), interner.text(id)), (Some(id), text.as_str()));
        }
        assert_eq!(interner.get("unknown"), None);
    }
}
