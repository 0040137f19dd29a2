//! Maps the bytes that an agent sends for a series to the id of the series, without parsing its tags.
//!
//! The key is a 128-bit hash of these bytes. Two keys do not collide in practice, so the table stores no strings to compare
//! with. Agents send their series in the same order in each request: each alias stores the one that followed it, so that the
//! next series is usually found by one comparison instead of a probe into a table larger than the processor's caches.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;
use roaring::RoaringBitmap;

use super::measured_set::MeasuredSet;
use crate::fingerprint::fingerprint;
use crate::model::{MetricType, SeriesId};

/// The most hashes that the table stores. Past that it is cleared: the next lookup of each series is a slow one.
const KEY_HASHES_MAX: usize = 16 << 20;

/// An odd number with its bits well spread: 2⁶⁴ divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash of the bytes that a client sends for a series. Several hashes may belong to one series: clients write it in different
/// ways. Valid within this process only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesKeyHash {
    low: u64,
    high: u64,
}

impl SeriesKeyHash {
    /// Returns the hash of the bytes that a client sent for a series, or for the part that several series begin with. Different
    /// protocols must not send the same bytes with another meaning.
    #[inline]
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let hash = fingerprint(bytes);
        Self { low: hash as u64, high: (hash >> 64) as u64 }
    }

    /// Returns the hash of the same key followed by `more`, so that what many series have in common is hashed once.
    #[inline]
    #[must_use]
    pub fn with(self, more: &[u8]) -> Self {
        let hash = fingerprint(more);
        // Multiplied, so that no later part can take the place of an earlier one.
        let low = (hash as u64 ^ self.high).wrapping_mul(STEP);
        Self { low, high: ((hash >> 64) as u64).wrapping_add(self.low) }
    }
}

/// A series that is known, and the type of its metric.
pub(super) type Known = (SeriesId, MetricType);

/// The series of known series-key hashes.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    /// In the order in which they were first seen, as far as places were not free.
    aliases: Vec<Alias>,
    /// The place of each in the list.
    table: HashTable<u32>,
    /// Places in the list whose series-key hashes were removed.
    free: Vec<u32>,
    sweep: Sweep,
}

/// Series that are not to be found by a series-key hash, and how far their series-key hashes have been removed.
#[derive(Debug, Default)]
struct Sweep {
    /// Series whose series-key hashes the sweep that is under way removes.
    leaving: MeasuredSet,
    /// Series for the next sweep.
    waiting: MeasuredSet,
    /// Places before this one hold no series-key hashes of `leaving`.
    swept: usize,
}

/// Series that wait before a sweep begins, at least; then as many as an eighth of the list.
const WAITING_MIN: u64 = 1 << 10;
/// Places that are swept for every series that is forgotten: more than what comes meanwhile, so that sweeps end.
const PLACES_PER_SERIES: u64 = 16;

#[derive(Debug)]
struct Alias {
    low: u64,
    /// The lowest two bits are the type of the metric.
    high: u64,
    series: u32,
    /// Which alias was asked for after this one, last time.
    next: AtomicU32,
}

const TYPE_BITS: u64 = 0b11;
/// An id that is never given.
const NO_SERIES: u32 = u32::MAX;

impl Alias {
    #[inline]
    fn is(&self, key_hash: SeriesKeyHash) -> bool {
        self.low == key_hash.low && (self.high ^ key_hash.high) & !TYPE_BITS == 0
    }

    /// The place of a series-key hash that was removed.
    fn free() -> Self {
        Self { low: 0, high: 0, series: NO_SERIES, next: AtomicU32::new(u32::MAX) }
    }

    fn known(&self) -> Option<Known> {
        if self.series == NO_SERIES {
            return None;
        }
        let kind = MetricType::from_code((self.high & TYPE_BITS) as u8)?;
        Some((SeriesId(self.series), kind))
    }
}

/// Where in the order of aliases somebody reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place(u32);

impl Aliases {
    /// The series of a series-key hash. `place` is where the reader found the one before, and then this one.
    #[inline]
    pub(super) fn get(&self, key_hash: SeriesKeyHash, place: &mut Place) -> Option<Known> {
        let before = self.aliases.get(place.0 as usize).or_else(|| self.aliases.first())?;
        let guess = before.next.load(Ordering::Relaxed);
        if let Some(alias) = self.aliases.get(guess as usize)
            && alias.is(key_hash)
        {
            place.0 = guess;
            return self.known(alias);
        }
        let found = *self.table.find(key_hash.low, |at| self.is(*at, key_hash))?;
        before.next.store(found, Ordering::Relaxed);
        place.0 = found;
        self.known(self.aliases.get(found as usize)?)
    }

    #[inline]
    fn known(&self, alias: &Alias) -> Option<Known> {
        if self.sweep.holds(alias.series) { None } else { alias.known() }
    }

    /// Takes note of the series of a series-key hash, which may be one that was forgotten and is wanted again.
    pub(super) fn insert(&mut self, key_hash: SeriesKeyHash, (series, kind): Known) {
        if self.aliases.len() - self.free.len() >= KEY_HASHES_MAX {
            *self = Self::default();
        }
        self.sweep.leaving.remove(series.0);
        self.sweep.waiting.remove(series.0);
        let high = key_hash.high & !TYPE_BITS | u64::from(kind.code());
        let known = self.table.find(key_hash.low, |at| self.is(*at, key_hash)).copied();
        if let Some(alias) = known.and_then(|at| self.aliases.get_mut(at as usize)) {
            (alias.high, alias.series) = (high, series.0);
            return;
        }
        let at = self.free.pop().unwrap_or(self.aliases.len() as u32);
        let next = AtomicU32::new(at.wrapping_add(1));
        let alias = Alias { low: key_hash.low, high, series: series.0, next };
        match self.aliases.get_mut(at as usize) {
            Some(free) => *free = alias,
            None => self.aliases.push(alias),
        }
        self.index(at);
    }

    /// Forgets the series-key hashes of series: those are looked up anew, or are gone and never come back. They are removed little by
    /// little, with the calls that follow: a lookup never waits for all of them.
    pub(super) fn forget(&mut self, series: &RoaringBitmap) {
        self.sweep.waiting |= series;
        let enough = WAITING_MIN.max(self.aliases.len() as u64 / 8);
        if !self.sweep.leaving.is_empty() || self.sweep.waiting.len() >= enough {
            self.sweep_on(series.len().max(WAITING_MIN) * PLACES_PER_SERIES);
        }
    }

    /// Removes series-key hashes of forgotten series from some more places. False when none is left, and lookups cost nothing extra.
    pub(super) fn sweep_on(&mut self, places: u64) -> bool {
        let Self { aliases, table, free, sweep } = self;
        if sweep.leaving.is_empty() {
            sweep.leaving = std::mem::take(&mut sweep.waiting);
            sweep.swept = 0;
        }
        let places = usize::try_from(places).unwrap_or(usize::MAX);
        for (at, alias) in aliases.iter_mut().enumerate().skip(sweep.swept).take(places) {
            if alias.series != NO_SERIES && sweep.leaving.contains(alias.series) {
                let at = at as u32;
                if let Ok(found) = table.find_entry(alias.low, |place| *place == at) {
                    found.remove();
                }
                *alias = Alias::free();
                free.push(at);
            }
        }
        sweep.swept = sweep.swept.saturating_add(places);
        if sweep.swept >= aliases.len() {
            sweep.leaving.clear();
        }
        !sweep.leaving.is_empty() || !sweep.waiting.is_empty()
    }

    fn index(&mut self, at: u32) {
        let Self { aliases, table, .. } = self;
        let hash = |at: &u32| aliases.get(*at as usize).map_or(0, |alias| alias.low);
        table.insert_unique(hash(&at), at, hash);
    }

    #[inline]
    fn is(&self, at: u32, key_hash: SeriesKeyHash) -> bool {
        self.aliases.get(at as usize).is_some_and(|alias| alias.is(key_hash))
    }

    /// Bytes on the heap.
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
    fn holds(&self, series: u32) -> bool {
        let among = |set: &RoaringBitmap| !set.is_empty() && set.contains(series);
        among(&self.leaving) || among(&self.waiting)
    }
}

/// The bytes of a series given as texts: type, name and tags in the order they were sent.
#[derive(Debug, Default)]
pub(super) struct SeriesKeyHasher {
    bytes: Vec<u8>,
}

impl SeriesKeyHasher {
    /// Replaces the previous key. Lengths are included, so that no two series have the same bytes.
    #[inline]
    pub(super) fn encode(
        &mut self,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> &[u8] {
        self.bytes.clear();
        self.bytes.push(kind.code());
        self.text(metric);
        for (key, value) in tags {
            self.text(key);
            self.text(value);
        }
        &self.bytes
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(count: u32) -> (Aliases, Vec<SeriesKeyHash>) {
        let mut aliases = Aliases::default();
        let host = SeriesKeyHash::of(b"cpu,host=a");
        let key_hashes: Vec<SeriesKeyHash> =
            (0..count).map(|i| host.with(&i.to_le_bytes())).collect();
        for (i, key_hash) in (0..).zip(&key_hashes) {
            aliases.insert(*key_hash, (SeriesId(i), MetricType::ALL[i as usize % 4]));
        }
        (aliases, key_hashes)
    }

    #[test]
    fn key_hashes_are_found_in_any_order() {
        let (aliases, key_hashes) = filled(1_000);
        let mut place = Place::default();
        for step in [1, 1, 7, 993] {
            for i in (0..1_000).map(|i| i * step % 1_000) {
                let known = aliases.get(key_hashes[i], &mut place);
                assert_eq!(known, Some((SeriesId(i as u32), MetricType::ALL[i % 4])));
            }
        }
        assert_eq!(aliases.get(SeriesKeyHash::of(b"no"), &mut place), None);
    }

    #[test]
    fn what_is_forgotten_is_not_found_and_the_rest_is() {
        let (mut aliases, key_hashes) = filled(100);
        let mut place = Place::default();
        assert!(aliases.get(key_hashes[99], &mut place).is_some());
        aliases.forget(&(0..100).filter(|series| series % 2 == 1).collect());
        for (i, key_hash) in key_hashes.iter().enumerate() {
            assert_eq!(aliases.get(*key_hash, &mut place).is_some(), i % 2 == 0, "{i}");
        }
        // The metric came back: the same series-key hash is another series.
        aliases.insert(key_hashes[1], (SeriesId(500), MetricType::Gauge));
        assert_eq!(
            aliases.get(key_hashes[1], &mut place),
            Some((SeriesId(500), MetricType::Gauge))
        );
        assert_eq!(aliases.aliases.len(), 100);
        // So many that they are removed.
        aliases.forget(&(0..=500).chain(1_000..3_000).collect());
        assert!(aliases.table.is_empty() && aliases.free.len() == 100);
        assert_eq!(aliases.get(key_hashes[0], &mut place), None);
        // Their places are taken again.
        aliases.insert(key_hashes[7], (SeriesId(3_000), MetricType::Set));
        assert_eq!(
            aliases.get(key_hashes[7], &mut place),
            Some((SeriesId(3_000), MetricType::Set))
        );
        assert_eq!(aliases.aliases.len(), 100);
    }

    #[test]
    fn a_series_that_is_wanted_again_is_found() {
        let (mut aliases, key_hashes) = filled(10);
        let mut place = Place::default();
        aliases.forget(&(0..10).collect());
        assert_eq!(aliases.get(key_hashes[3], &mut place), None);
        aliases.insert(key_hashes[3], (SeriesId(3), MetricType::Gauge));
        assert_eq!(aliases.get(key_hashes[3], &mut place), Some((SeriesId(3), MetricType::Gauge)));
        assert_eq!(aliases.get(key_hashes[4], &mut place), None);
    }

    #[test]
    fn key_hashes_that_come_and_go_take_as_much_memory_as_there_are_at_once() {
        let mut aliases = Aliases::default();
        let key_hash = |series: u32| SeriesKeyHash::of(&series.to_le_bytes());
        let mut place = Place::default();
        for series in 0..200_000 {
            aliases.insert(key_hash(series), (SeriesId(series), MetricType::Gauge));
            if series % 100 == 99 && series >= 10_000 {
                let gone = series - 10_000;
                aliases.forget(&(gone - gone % 100..gone + 1).collect());
                assert_eq!(aliases.get(key_hash(gone), &mut place), None);
                let kept = Some((SeriesId(series - 5_000), MetricType::Gauge));
                assert_eq!(aliases.get(key_hash(series - 5_000), &mut place), kept);
            }
        }
        assert!(aliases.aliases.len() < 20_000, "{} places", aliases.aliases.len());
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
