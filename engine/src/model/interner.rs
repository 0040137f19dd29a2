//! Interned strings: each distinct string is stored once and has a dense id.

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
    by_hash: HashTable<u32>,
}

impl StringInterner {
    pub(crate) fn get(&self, text: &str) -> Option<StringId> {
        let hash = xxh3_64(text.as_bytes());
        self.by_hash.find(hash, |id| self.text(StringId(*id)) == text).map(|id| StringId(*id))
    }

    pub(crate) fn intern(&mut self, text: &str) -> StringId {
        let Self { buffer, ends, by_hash } = self;
        let id = ends.len() as u32;
        let entry = by_hash.entry(
            xxh3_64(text.as_bytes()),
            |id| text_at(buffer, ends, *id) == text,
            |id| xxh3_64(text_at(buffer, ends, *id).as_bytes()),
        );
        match entry {
            Entry::Occupied(known) => return StringId(*known.get()),
            Entry::Vacant(vacant) => drop(vacant.insert(id)),
        }
        buffer.push_str(text);
        ends.push(buffer.len());
        StringId(id)
    }

    pub(crate) fn text(&self, id: StringId) -> &str {
        text_at(&self.buffer, &self.ends, id.0)
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
        self.buffer.capacity() + self.ends.capacity() * 8 + self.by_hash.capacity() * 5
    }
}

fn text_at<'a>(buffer: &'a str, ends: &[usize], id: u32) -> &'a str {
    let id = id as usize;
    let start = id.checked_sub(1).map_or(0, |before| ends[before]);
    let Some(text) = buffer.get(start..ends[id]) else { panic!("string {id} cuts a character") };
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
        }
        assert_eq!(interner.get("unknown"), None);
    }
}
