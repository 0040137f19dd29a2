//! Texts as numbers: every text is kept once.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use xxhash_rust::xxh3::xxh3_64;

/// A text of the interner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextId(pub(crate) u32);

/// Texts behind each other in one buffer, found by hash or by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    buffer: String,
    /// Where each text ends; it begins where the one before ends.
    ends: Vec<usize>,
    by_hash: HashTable<u32>,
}

impl Interner {
    pub(crate) fn get(&self, text: &str) -> Option<TextId> {
        let hash = xxh3_64(text.as_bytes());
        self.by_hash.find(hash, |id| self.text(TextId(*id)) == text).map(|id| TextId(*id))
    }

    pub(crate) fn intern(&mut self, text: &str) -> TextId {
        let Self { buffer, ends, by_hash } = self;
        let id = ends.len() as u32;
        let entry = by_hash.entry(
            xxh3_64(text.as_bytes()),
            |id| text_at(buffer, ends, *id) == text,
            |id| xxh3_64(text_at(buffer, ends, *id).as_bytes()),
        );
        match entry {
            Entry::Occupied(known) => return TextId(*known.get()),
            Entry::Vacant(place) => drop(place.insert(id)),
        }
        buffer.push_str(text);
        ends.push(buffer.len());
        TextId(id)
    }

    pub(crate) fn text(&self, id: TextId) -> &str {
        text_at(&self.buffer, &self.ends, id.0)
    }

    /// How many texts there are; their numbers lie below.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The texts in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|id| text_at(&self.buffer, &self.ends, id))
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.buffer.capacity() + self.ends.capacity() * 8 + self.by_hash.capacity() * 5
    }
}

fn text_at<'a>(buffer: &'a str, ends: &[usize], id: u32) -> &'a str {
    let id = id as usize;
    let start = id.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(id).copied().unwrap_or(start);
    buffer.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_get_one_number() {
        let mut interner = Interner::default();
        let texts = ["host", "", "a", "größe", "host", "a"];
        let ids: Vec<u32> = texts.iter().map(|t| interner.intern(t).0).collect();
        assert_eq!(ids, [0, 1, 2, 3, 0, 2]);
        for (text, id) in texts.iter().zip(ids) {
            assert_eq!(interner.text(TextId(id)), *text);
            assert_eq!(interner.get(text), Some(TextId(id)));
        }
        assert_eq!(interner.get("unknown"), None);
    }
}
