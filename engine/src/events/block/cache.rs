//! A cache of decoded parts of blocks, shared by all queries and bounded in bytes.

use std::any::Any;
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};

use super::header::SectionKind;
use super::info::EventBlockKey;
use super::memory::InMemory;

/// Estimated bytes of a part, for the initial capacity: parts take from some hundred bytes to half
/// a megabyte.
const PART_BYTES: usize = 32 << 10;
/// Bytes of a cache entry besides its part.
const ENTRY_BYTES: usize = 128;

/// A cache of decoded parts of blocks. Block keys are never reused, so entries need no
/// invalidation.
pub(crate) struct PartsCache {
    parts: Cache<(EventBlockKey, Part), Held, Weighter, hashbrown::DefaultHashBuilder>,
}

/// A part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Header,
    Times,
    Ids,
    Clusters,
    UserHashes,
    /// The codes of a column.
    Codes(u32),
    /// The rows of each string of a column.
    Bitmaps(u32),
    /// A column of strings, as a grouping column.
    Groups(u32),
    /// The same with hashes in place of strings.
    StringHashes(u32),
    /// The numbers of the strings of all rows of a column.
    StringNumbers(u32),
    ValuePresence,
    Shapes,
    ShapeCodes,
    /// The rows that have a column of properties.
    PropertyPresence(u32),
    Leftovers,
    /// The ranks of a column of property strings.
    PropertyCodes(u32),
    /// The page index of a section of strings.
    StringIndex(SectionKind, u32),
    /// A page of a section.
    Page(SectionKind, u32, u32),
}

#[derive(Clone)]
struct Held {
    part: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

#[derive(Clone)]
struct Weighter;

impl quick_cache::Weighter<(EventBlockKey, Part), Held> for Weighter {
    fn weight(&self, _: &(EventBlockKey, Part), held: &Held) -> u64 {
        (held.bytes + ENTRY_BYTES) as u64
    }
}

impl PartsCache {
    /// Returns a cache of at most `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let hasher = hashbrown::DefaultHashBuilder::default();
        let lifecycle = DefaultLifecycle::default();
        let items = bytes / PART_BYTES;
        Self { parts: Cache::with(items, bytes as u64, Weighter, hasher, lifecycle) }
    }

    /// Returns the bytes in the cache.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.weight()
    }

    pub(super) fn get<T: Send + Sync + 'static>(
        &self,
        key: EventBlockKey,
        part: Part,
    ) -> Option<Arc<T>> {
        self.parts.get(&(key, part)).and_then(|held| held.part.downcast().ok())
    }

    pub(super) fn insert<T: InMemory + Send + Sync + 'static>(
        &self,
        key: EventBlockKey,
        part: Part,
        value: &Arc<T>,
    ) {
        let bytes = value.bytes();
        let part_of_any: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(value);
        self.parts.insert((key, part), Held { part: part_of_any, bytes });
    }
}

impl std::fmt::Debug for PartsCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartsCache").field("bytes", &self.bytes()).finish()
    }
}
