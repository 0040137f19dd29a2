//! From what an agent sends to the series it means, without looking at a single tag.
//!
//! The key is a fingerprint of 128 bits, which no two spellings share; a table of them needs no texts to
//! compare with. Agents send their series in the same order again and
//! again: each alias remembers which one followed it, so that the next is mostly found where it was guessed,
//! and not by a probe into a table larger than the caches.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;
use roaring::RoaringBitmap;

use super::measured_set::MeasuredSet;
use crate::fingerprint::fingerprint;
use crate::model::{MetricType, SeriesId};

/// Spellings that are remembered. Past it the table starts anew: one that is asked for again costs one slow
/// lookup.
const SPELLINGS_MAX: usize = 16 << 20;

/// An odd number with its bits well spread: 2⁶⁴ divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// One way to write a series, as a fingerprint of the bytes that a client sends for it. It means something within this process
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    low: u64,
    high: u64,
}

impl Spelling {
    /// What a client sent for a series, or for what several of them begin with, whatever the protocol. Spellings of different
    /// protocols must not be the same bytes with another meaning.
    #[inline]
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let hash = fingerprint(bytes);
        Self { low: hash as u64, high: (hash >> 64) as u64 }
    }

    /// What is spelled by the bytes of this one and then by `more`: what many series have in common is hashed once.
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

/// The series of known spellings.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    /// In the order in which they were first seen, as far as places were not free.
    aliases: Vec<Alias>,
    /// The place of each in the list.
    table: HashTable<u32>,
    /// Places in the list whose spellings were removed.
    free: Vec<u32>,
    sweep: Sweep,
}

/// Series that are not to be found by a spelling, and how far their spellings have been removed.
#[derive(Debug, Default)]
struct Sweep {
    /// Series whose spellings the sweep that is under way removes.
    leaving: MeasuredSet,
    /// Series for the next sweep.
    waiting: MeasuredSet,
    /// Places before this one hold no spellings of `leaving`.
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
    fn is(&self, spelling: Spelling) -> bool {
        self.low == spelling.low && (self.high ^ spelling.high) & !TYPE_BITS == 0
    }

    /// The place of a spelling that was removed.
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
    /// The series of a spelling. `place` is where the reader found the one before, and then this one.
    #[inline]
    pub(super) fn get(&self, spelling: Spelling, place: &mut Place) -> Option<Known> {
        let before = self.aliases.get(place.0 as usize).or_else(|| self.aliases.first())?;
        let guess = before.next.load(Ordering::Relaxed);
        if let Some(alias) = self.aliases.get(guess as usize)
            && alias.is(spelling)
        {
            place.0 = guess;
            return self.known(alias);
        }
        let found = *self.table.find(spelling.low, |at| self.is(*at, spelling))?;
        before.next.store(found, Ordering::Relaxed);
        place.0 = found;
        self.known(self.aliases.get(found as usize)?)
    }

    #[inline]
    fn known(&self, alias: &Alias) -> Option<Known> {
        if self.sweep.holds(alias.series) { None } else { alias.known() }
    }

    /// Takes note of the series of a spelling, which may be one that was forgotten and is wanted again.
    pub(super) fn insert(&mut self, spelling: Spelling, (series, kind): Known) {
        if self.aliases.len() - self.free.len() >= SPELLINGS_MAX {
            *self = Self::default();
        }
        self.sweep.leaving.remove(series.0);
        self.sweep.waiting.remove(series.0);
        let high = spelling.high & !TYPE_BITS | u64::from(kind.code());
        let known = self.table.find(spelling.low, |at| self.is(*at, spelling)).copied();
        if let Some(alias) = known.and_then(|at| self.aliases.get_mut(at as usize)) {
            (alias.high, alias.series) = (high, series.0);
            return;
        }
        let at = self.free.pop().unwrap_or(self.aliases.len() as u32);
        let next = AtomicU32::new(at.wrapping_add(1));
        let alias = Alias { low: spelling.low, high, series: series.0, next };
        match self.aliases.get_mut(at as usize) {
            Some(free) => *free = alias,
            None => self.aliases.push(alias),
        }
        self.index(at);
    }

    /// Forgets the spellings of series: those are looked up anew, or are gone and never come back. They are removed little by
    /// little, with the calls that follow: a lookup never waits for all of them.
    pub(super) fn forget(&mut self, series: &RoaringBitmap) {
        self.sweep.waiting |= series;
        let enough = WAITING_MIN.max(self.aliases.len() as u64 / 8);
        if !self.sweep.leaving.is_empty() || self.sweep.waiting.len() >= enough {
            self.sweep_on(series.len().max(WAITING_MIN) * PLACES_PER_SERIES);
        }
    }

    /// Removes spellings of forgotten series from some more places. False when none is left, and lookups cost nothing extra.
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
    fn is(&self, at: u32, spelling: Spelling) -> bool {
        self.aliases.get(at as usize).is_some_and(|alias| alias.is(spelling))
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
pub(super) struct Speller {
    bytes: Vec<u8>,
}

impl Speller {
    /// Takes the place of what was spelled before. Lengths go in too, so that no two series are one text.
    #[inline]
    pub(super) fn spell(&mut self, metric: &str, kind: MetricType, tags: &[(&str, &str)]) -> &[u8] {
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

    fn filled(count: u32) -> (Aliases, Vec<Spelling>) {
        let mut aliases = Aliases::default();
        let host = Spelling::of(b"cpu,host=a");
        let spellings: Vec<Spelling> = (0..count).map(|i| host.with(&i.to_le_bytes())).collect();
        for (i, spelling) in (0..).zip(&spellings) {
            aliases.insert(*spelling, (SeriesId(i), MetricType::ALL[i as usize % 4]));
        }
        (aliases, spellings)
    }

    #[test]
    fn spellings_are_found_in_any_order() {
        let (aliases, spellings) = filled(1_000);
        let mut place = Place::default();
        for step in [1, 1, 7, 993] {
            for i in (0..1_000).map(|i| i * step % 1_000) {
                let known = aliases.get(spellings[i], &mut place);
                assert_eq!(known, Some((SeriesId(i as u32), MetricType::ALL[i % 4])));
            }
        }
        assert_eq!(aliases.get(Spelling::of(b"no"), &mut place), None);
    }

    #[test]
    fn what_is_forgotten_is_not_found_and_the_rest_is() {
        let (mut aliases, spellings) = filled(100);
        let mut place = Place::default();
        assert!(aliases.get(spellings[99], &mut place).is_some());
        aliases.forget(&(0..100).filter(|series| series % 2 == 1).collect());
        for (i, spelling) in spellings.iter().enumerate() {
            assert_eq!(aliases.get(*spelling, &mut place).is_some(), i % 2 == 0, "{i}");
        }
        // The metric came back: the same spelling is another series.
        aliases.insert(spellings[1], (SeriesId(500), MetricType::Gauge));
        assert_eq!(aliases.get(spellings[1], &mut place), Some((SeriesId(500), MetricType::Gauge)));
        assert_eq!(aliases.aliases.len(), 100);
        // So many that they are removed.
        aliases.forget(&(0..=500).chain(1_000..3_000).collect());
        assert!(aliases.table.is_empty() && aliases.free.len() == 100);
        assert_eq!(aliases.get(spellings[0], &mut place), None);
        // Their places are taken again.
        aliases.insert(spellings[7], (SeriesId(3_000), MetricType::Set));
        assert_eq!(aliases.get(spellings[7], &mut place), Some((SeriesId(3_000), MetricType::Set)));
        assert_eq!(aliases.aliases.len(), 100);
    }

    #[test]
    fn a_series_that_is_wanted_again_is_found() {
        let (mut aliases, spellings) = filled(10);
        let mut place = Place::default();
        aliases.forget(&(0..10).collect());
        assert_eq!(aliases.get(spellings[3], &mut place), None);
        aliases.insert(spellings[3], (SeriesId(3), MetricType::Gauge));
        assert_eq!(aliases.get(spellings[3], &mut place), Some((SeriesId(3), MetricType::Gauge)));
        assert_eq!(aliases.get(spellings[4], &mut place), None);
    }

    #[test]
    fn spellings_that_come_and_go_take_as_much_memory_as_there_are_at_once() {
        let mut aliases = Aliases::default();
        let spelling = |series: u32| Spelling::of(&series.to_le_bytes());
        let mut place = Place::default();
        for series in 0..200_000 {
            aliases.insert(spelling(series), (SeriesId(series), MetricType::Gauge));
            if series % 100 == 99 && series >= 10_000 {
                let gone = series - 10_000;
                aliases.forget(&(gone - gone % 100..gone + 1).collect());
                assert_eq!(aliases.get(spelling(gone), &mut place), None);
                let kept = Some((SeriesId(series - 5_000), MetricType::Gauge));
                assert_eq!(aliases.get(spelling(series - 5_000), &mut place), kept);
            }
        }
        assert!(aliases.aliases.len() < 20_000, "{} places", aliases.aliases.len());
    }

    #[test]
    fn what_is_spelled_in_parts_differs_from_part_to_part() {
        let [a, b] = [Spelling::of(b"a"), Spelling::of(b"b")];
        let all = [a, b, a.with(b"a"), a.with(b"b"), b.with(b"a"), b.with(b""), a.with(b"")];
        let parts = |parts: [&[u8]; 3]| parts.iter().fold(a, |all, part| all.with(part));
        let swapped = [[&b"x"[..], b"y", b"z"], [b"z", b"y", b"x"], [b"y", b"x", b"z"]].map(parts);
        let all = [&all[..], &swapped].concat();
        for (i, one) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|other| other != one), "{i}");
        }
    }
}
