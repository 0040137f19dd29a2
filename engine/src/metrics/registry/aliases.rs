//! From what an agent sends to the series it means, without looking at a single tag.
//!
//! The key is a 128-bit hash with a seed of this process, so that nobody outside can make two spellings
//! collide; a table of them needs no texts to compare with.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::model::MetricType;

/// Spellings that are remembered. Past it the table starts anew: one that is asked for again costs one slow
/// lookup.
const SPELLINGS_MAX: usize = 16 << 20;

/// One way to write a series: type, name and tags in the order they were sent.
#[derive(Debug, Default)]
pub(crate) struct Spelling {
    bytes: Vec<u8>,
}

impl Spelling {
    /// Takes the place of what was spelled before. Lengths go in too, so that no two spellings are one text.
    #[inline]
    pub(crate) fn set(&mut self, metric: &str, kind: MetricType, tags: &[(&str, &str)]) {
        self.bytes.clear();
        self.bytes.push(kind.code());
        self.text(metric);
        for (key, value) in tags {
            self.text(key);
            self.text(value);
        }
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// The series of known spellings.
#[derive(Debug)]
pub(super) struct Aliases {
    seed: u64,
    table: HashTable<Alias>,
}

#[derive(Clone, Copy, Debug)]
struct Alias {
    low: u64,
    high: u64,
    series: u32,
}

impl Aliases {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, table: HashTable::new() }
    }

    #[inline]
    pub(super) fn get(&self, spelling: &Spelling) -> Option<u32> {
        let (low, high) = self.hash(spelling);
        self.table.find(low, |a| a.low == low && a.high == high).map(|a| a.series)
    }

    pub(super) fn insert(&mut self, spelling: &Spelling, series: u32) {
        let (low, high) = self.hash(spelling);
        if self.table.len() >= SPELLINGS_MAX {
            self.table.clear();
        }
        self.table.insert_unique(low, Alias { low, high, series }, |a| a.low);
    }

    /// Forgets the spellings of the series for which `forget` holds.
    pub(super) fn forget(&mut self, forget: impl Fn(u32) -> bool) {
        self.table.retain(|a| !forget(a.series));
    }

    fn hash(&self, spelling: &Spelling) -> (u64, u64) {
        let hash = xxh3_128_with_seed(&spelling.bytes, self.seed);
        (hash as u64, (hash >> 64) as u64)
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * (size_of::<Alias>() + 1)
    }
}
