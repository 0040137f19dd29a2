//! Maps the bytes that an agent sends for a series to the id of the series, without parsing its
//! tags.
//!
//! The key is a 128-bit hash of these bytes. Two keys do not collide in practice, so the table
//! stores no strings to compare with. Agents send their series in the same order in each request:
//! each alias stores the one that followed it, so that the next series is usually found by one
//! comparison instead of a probe into a table larger than the processor's caches.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;
use roaring::RoaringBitmap;

use super::measured_set::MeasuredSet;
use crate::fingerprint::fingerprint;
use crate::model::{MetricType, SeriesId};

/// Maximum number of hashes in the table. Beyond that it is cleared, and the next lookup of each
/// series takes the slow path.
const KEY_HASHES_MAX: usize = 16 << 20;

/// An odd multiplier with well-distributed bits: 2⁶⁴ divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash of the bytes that a client sends for a series. A series may have several hashes, because
/// clients encode it in different ways. Valid within this process only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesKeyHash {
    low: u64,
    high: u64,
}

impl SeriesKeyHash {
    /// Returns the hash of the bytes that a client sent for a series, or of a prefix that several
    /// series share. Different protocols must not encode different series as the same bytes.
    #[inline]
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let hash = fingerprint(bytes);
        Self { low: hash as u64, high: (hash >> 64) as u64 }
    }

    /// Returns the hash of this key extended by `more`, so that a common prefix is hashed only
    /// once.
    #[inline]
    #[must_use]
    pub fn with(self, more: &[u8]) -> Self {
        self.with_part(KeyPartHash::of(more))
    }

    /// Returns [`Self::with`] of the bytes that were hashed before.
    #[inline]
    #[must_use]
    pub fn with_part(self, KeyPartHash(hash): KeyPartHash) -> Self {
        // Multiplied, so that the parts of a key cannot be swapped.
        let low = (hash as u64 ^ self.high).wrapping_mul(STEP);
        Self { low, high: ((hash >> 64) as u64).wrapping_add(self.low) }
    }
}

/// A hash of bytes by which many [keys](SeriesKeyHash) are extended, such as the name of a field
/// that all lines have. Valid within this process only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPartHash(u128);

impl KeyPartHash {
    /// Returns the hash of `bytes`.
    #[inline]
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(fingerprint(bytes))
    }
}

/// A series and the type of its metric.
pub(super) type KnownSeries = (SeriesId, MetricType);

/// A map from series-key hashes to series.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    /// In the order in which they were first seen, except where free slots were reused.
    aliases: Vec<Alias>,
    /// The slot of each alias in `aliases`.
    table: HashTable<u32>,
    /// Slots of removed aliases.
    free: Vec<u32>,
    sweep: Sweep,
}

/// Series whose aliases are being removed, and the progress of the removal.
#[derive(Debug, Default)]
struct Sweep {
    /// The series whose aliases the current sweep removes.
    leaving: MeasuredSet,
    /// Series for the next sweep.
    waiting: MeasuredSet,
    /// Slots below this one contain no aliases of `leaving`.
    swept: usize,
}

/// Minimum number of series in `waiting` before a sweep starts; for large lists it is an eighth of
/// the list.
const WAITING_MIN: u64 = 1 << 10;
/// Slots swept for every series that is forgotten: enough for sweeps to finish before the next one
/// is due.
const SLOTS_PER_SERIES: u64 = 16;

#[derive(Debug)]
struct Alias {
    low: u64,
    /// The lowest two bits encode the type of the metric.
    high: u64,
    series: u32,
    /// The slot of the alias that was looked up after this one, last time.
    next: AtomicU32,
}

const TYPE_BITS: u64 = 0b11;
/// An id that is never assigned.
const NO_SERIES: u32 = u32::MAX;

impl Alias {
    #[inline]
    fn matches(&self, key_hash: SeriesKeyHash) -> bool {
        self.low == key_hash.low && (self.high ^ key_hash.high) & !TYPE_BITS == 0
    }

    /// Returns the content of a free slot.
    fn free() -> Self {
        Self { low: 0, high: 0, series: NO_SERIES, next: AtomicU32::new(u32::MAX) }
    }

    fn known(&self) -> Option<KnownSeries> {
        if self.series == NO_SERIES {
            return None;
        }
        let kind = MetricType::from_code((self.high & TYPE_BITS) as u8)?;
        Some((SeriesId(self.series), kind))
    }
}

/// The position of a reader in the order of aliases: the slot it found last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AliasCursor(u32);

impl Aliases {
    /// Returns the series of a series-key hash. `cursor` is the slot of the reader's previous
    /// lookup and is set to that of this one.
    #[inline]
    pub(super) fn get(
        &self,
        key_hash: SeriesKeyHash,
        cursor: &mut AliasCursor,
    ) -> Option<KnownSeries> {
        let before = self.aliases.get(cursor.0 as usize).or_else(|| self.aliases.first())?;
        let guess = before.next.load(Ordering::Relaxed);
        if let Some(alias) = self.aliases.get(guess as usize)
            && alias.matches(key_hash)
        {
            cursor.0 = guess;
            return self.known(alias);
        }
        let found = *self.table.find(key_hash.low, |at| self.matches(*at, key_hash))?;
        before.next.store(found, Ordering::Relaxed);
        cursor.0 = found;
        self.known(self.aliases.get(found as usize)?)
    }

    #[inline]
    fn known(&self, alias: &Alias) -> Option<KnownSeries> {
        if self.sweep.is_forgotten(alias.series) { None } else { alias.known() }
    }

    /// Registers a series for a series-key hash; a forgotten series can be registered again.
    /// `cursor` is the slot of the client's previous lookup and is set to that of this series.
    pub(super) fn insert(
        &mut self,
        key_hash: SeriesKeyHash,
        (series, kind): KnownSeries,
        cursor: &mut AliasCursor,
    ) {
        if self.aliases.len() - self.free.len() >= KEY_HASHES_MAX {
            *self = Self::default();
        }
        self.sweep.leaving.remove(series.0);
        self.sweep.waiting.remove(series.0);
        let high = key_hash.high & !TYPE_BITS | u64::from(kind.code());
        let known = self.table.find(key_hash.low, |at| self.matches(*at, key_hash)).copied();
        let at = match known {
            Some(at) => {
                if let Some(alias) = self.aliases.get_mut(at as usize) {
                    (alias.high, alias.series) = (high, series.0);
                }
                at
            }
            None => self.add(Alias {
                low: key_hash.low,
                high,
                series: series.0,
                next: AtomicU32::new(u32::MAX),
            }),
        };
        // Clients that create their series at the same time take turns in the list of aliases.
        if cursor.0 != at
            && let Some(before) = self.aliases.get_mut(cursor.0 as usize)
        {
            *before.next.get_mut() = at;
        }
        cursor.0 = at;
    }

    /// Adds an alias and returns its slot.
    fn add(&mut self, alias: Alias) -> u32 {
        let at = self.free.pop().unwrap_or(self.aliases.len() as u32);
        match self.aliases.get_mut(at as usize) {
            Some(free) => *free = alias,
            None => self.aliases.push(alias),
        }
        self.index(at);
        at
    }

    /// Removes the aliases of series, either because their next lookup must go by their tags or
    /// because they were removed. The aliases become invisible at once and are removed in steps, by
    /// the calls that follow, so no lookup waits for all of them.
    pub(super) fn forget(&mut self, series: &RoaringBitmap) {
        self.sweep.waiting |= series;
        let sweep_min = WAITING_MIN.max(self.aliases.len() as u64 / 8);
        if !self.sweep.leaving.is_empty() || self.sweep.waiting.len() >= sweep_min {
            self.sweep_on(series.len().max(WAITING_MIN) * SLOTS_PER_SERIES);
        }
    }

    /// Sweeps up to `slots` more slots for aliases of forgotten series. Returns false when none are
    /// left and lookups no longer check for them.
    pub(super) fn sweep_on(&mut self, slots: u64) -> bool {
        let Self { aliases, table, free, sweep } = self;
        if sweep.leaving.is_empty() {
            sweep.leaving = std::mem::take(&mut sweep.waiting);
            sweep.swept = 0;
        }
        let slots = usize::try_from(slots).unwrap_or(usize::MAX);
        for (at, alias) in aliases.iter_mut().enumerate().skip(sweep.swept).take(slots) {
            if alias.series != NO_SERIES && sweep.leaving.contains(alias.series) {
                let at = at as u32;
                if let Ok(found) = table.find_entry(alias.low, |slot| *slot == at) {
                    found.remove();
                }
                *alias = Alias::free();
                free.push(at);
            }
        }
        sweep.swept = sweep.swept.saturating_add(slots);
        if sweep.swept >= aliases.len() {
            sweep.leaving.clear();
        }
        !sweep.leaving.is_empty() || !sweep.waiting.is_empty()
    }

    fn index(&mut self, at: u32) {
        let Self { aliases, table, .. } = self;
        let hash = |at: &u32| aliases[*at as usize].low;
        table.insert_unique(hash(&at), at, hash);
    }

    #[inline]
    fn matches(&self, at: u32, key_hash: SeriesKeyHash) -> bool {
        self.aliases.get(at as usize).is_some_and(|alias| alias.matches(key_hash))
    }

    /// Returns the bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.aliases.capacity() * size_of::<Alias>()
            + self.table.allocation_size()
            + self.free.capacity() * size_of::<u32>()
            + self.sweep.leaving.bytes()
            + self.sweep.waiting.bytes()
    }
}

impl Sweep {
    #[inline]
    fn is_forgotten(&self, series: u32) -> bool {
        let among = |set: &RoaringBitmap| !set.is_empty() && set.contains(series);
        among(&self.leaving) || among(&self.waiting)
    }
}

/// Encodes a series given as strings: type, name and tags in the order they were sent.
#[derive(Debug, Default)]
pub(super) struct SeriesKeyHasher {
    bytes: Vec<u8>,
}

impl SeriesKeyHasher {
    /// Returns the bytes of a series, valid until the next call. Lengths are included, so that
    /// different series have different bytes.
    #[inline]
    pub(super) fn encode(
        &mut self,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> &[u8] {
        self.bytes.clear();
        self.bytes.push(kind.code());
        self.push_string(metric);
        for (key, value) in tags {
            self.push_string(key);
            self.push_string(value);
        }
        &self.bytes
    }

    #[inline]
    fn push_string(&mut self, string: &str) {
        self.bytes.extend_from_slice(&(string.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(string.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(count: u32) -> (Aliases, Vec<SeriesKeyHash>) {
        let mut aliases = Aliases::default();
        let (host, mut cursor) = (SeriesKeyHash::of(b"cpu,host=a"), AliasCursor::default());
        let key_hashes: Vec<SeriesKeyHash> =
            (0..count).map(|i| host.with(&i.to_le_bytes())).collect();
        for (i, key_hash) in (0..).zip(&key_hashes) {
            aliases.insert(*key_hash, (SeriesId(i), MetricType::ALL[i as usize % 4]), &mut cursor);
        }
        (aliases, key_hashes)
    }

    #[test]
    fn key_hashes_are_found_in_any_order() {
        let (aliases, key_hashes) = filled(1_000);
        let mut cursor = AliasCursor::default();
        for step in [1, 1, 7, 993] {
            for i in (0..1_000).map(|i| i * step % 1_000) {
                let known = aliases.get(key_hashes[i], &mut cursor);
                assert_eq!(known, Some((SeriesId(i as u32), MetricType::ALL[i % 4])));
            }
        }
        assert_eq!(aliases.get(SeriesKeyHash::of(b"no"), &mut cursor), None);
    }

    #[test]
    fn clients_that_take_turns_to_create_series_find_each_after_the_one_before() {
        let mut aliases = Aliases::default();
        let key_hash = |series: u32| SeriesKeyHash::of(&series.to_le_bytes());
        let mut cursors = [AliasCursor::default(); 2];
        for series in 0..200 {
            let known = (SeriesId(series), MetricType::Gauge);
            aliases.insert(key_hash(series), known, &mut cursors[series as usize % 2]);
        }
        // Without the table, only the order of creation is left.
        aliases.table.clear();
        for first in [0, 1] {
            let mut cursor = AliasCursor(first);
            for series in (first..200).step_by(2).skip(1) {
                assert!(aliases.get(key_hash(series), &mut cursor).is_some(), "{series}");
            }
        }
    }

    #[test]
    fn aliases_of_forgotten_series_are_not_found_and_others_are() {
        let (mut aliases, key_hashes) = filled(100);
        let mut cursor = AliasCursor::default();
        assert!(aliases.get(key_hashes[99], &mut cursor).is_some());
        aliases.forget(&(0..100).filter(|series| series % 2 == 1).collect());
        for (i, key_hash) in key_hashes.iter().enumerate() {
            assert_eq!(aliases.get(*key_hash, &mut cursor).is_some(), i % 2 == 0, "{i}");
        }
        // The metric was created again: the same series-key hash belongs to another series.
        aliases.insert(key_hashes[1], (SeriesId(500), MetricType::Gauge), &mut cursor);
        assert_eq!(
            aliases.get(key_hashes[1], &mut cursor),
            Some((SeriesId(500), MetricType::Gauge))
        );
        assert_eq!(aliases.aliases.len(), 100);
        // Enough to start a sweep.
        aliases.forget(&(0..=500).chain(1_000..3_000).collect());
        assert!(aliases.table.is_empty() && aliases.free.len() == 100);
        assert_eq!(aliases.get(key_hashes[0], &mut cursor), None);
        // Their slots are reused.
        aliases.insert(key_hashes[7], (SeriesId(3_000), MetricType::Set), &mut cursor);
        assert_eq!(
            aliases.get(key_hashes[7], &mut cursor),
            Some((SeriesId(3_000), MetricType::Set))
        );
        assert_eq!(aliases.aliases.len(), 100);
    }

    #[test]
    fn a_forgotten_series_that_is_registered_again_is_found() {
        let (mut aliases, key_hashes) = filled(10);
        let mut cursor = AliasCursor::default();
        aliases.forget(&(0..10).collect());
        assert_eq!(aliases.get(key_hashes[3], &mut cursor), None);
        aliases.insert(key_hashes[3], (SeriesId(3), MetricType::Gauge), &mut cursor);
        assert_eq!(aliases.get(key_hashes[3], &mut cursor), Some((SeriesId(3), MetricType::Gauge)));
        assert_eq!(aliases.get(key_hashes[4], &mut cursor), None);
    }

    #[test]
    fn memory_is_bounded_by_the_aliases_present_at_the_same_time() {
        let mut aliases = Aliases::default();
        let key_hash = |series: u32| SeriesKeyHash::of(&series.to_le_bytes());
        let mut cursor = AliasCursor::default();
        for series in 0..200_000 {
            aliases.insert(key_hash(series), (SeriesId(series), MetricType::Gauge), &mut cursor);
            if series % 100 == 99 && series >= 10_000 {
                let gone = series - 10_000;
                aliases.forget(&(gone - gone % 100..gone + 1).collect());
                assert_eq!(aliases.get(key_hash(gone), &mut cursor), None);
                let kept = Some((SeriesId(series - 5_000), MetricType::Gauge));
                assert_eq!(aliases.get(key_hash(series - 5_000), &mut cursor), kept);
            }
        }
        assert!(aliases.aliases.len() < 20_000, "{} slots", aliases.aliases.len());
    }

    #[test]
    fn keys_that_are_hashed_in_parts_differ_from_part_to_part() {
        let [a, b] = [SeriesKeyHash::of(b"a"), SeriesKeyHash::of(b"b")];
        let all = [a, b, a.with(b"a"), a.with(b"b"), b.with(b"a"), b.with(b""), a.with(b"")];
        let parts = |parts: [&[u8]; 3]| parts.iter().fold(a, |all, part| all.with(part));
        let swapped = [[&b"x"[..], b"y", b"z"], [b"z", b"y", b"x"], [b"y", b"x", b"z"]].map(parts);
        let all = [&all[..], &swapped].concat();
        for (i, one) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|other| other != one), "{i}");
        }
    }
}
