//! Lookup of the series of a batch: finds them in the registry and has new ones created.

use parking_lot::RwLockReadGuard;

use super::aliases::{AliasCursor, KnownSeries, SeriesKeyHash, SeriesKeyHasher};
use super::index::Index;
use super::series::Registry;
use crate::error::Refusal;
use crate::model::{MetricName, MetricType, SeriesHold, SeriesId, TimestampMs};

/// Number of lookups after which a lookup of many series releases the lock once.
const LOOKUPS_PER_LOCK: u32 = 1 << 14;

/// A lookup that keeps its read lock on the registry from one series to the next.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    registry: &'a Registry,
    index: Option<RwLockReadGuard<'a, Index>>,
    cursor: AliasCursor,
    hasher: SeriesKeyHasher,
    hold: SeriesHold,
    /// Lookups left before the lock is released for writers that wait to create a series.
    lookups_left: u32,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(registry: &'a Registry) -> Self {
        let (cursor, hasher) = (AliasCursor::default(), SeriesKeyHasher::default());
        // Taken before anything is looked up.
        let hold = registry.grace.hold();
        Self { registry, index: None, cursor, hasher, hold, lookups_left: LOOKUPS_PER_LOCK }
    }

    /// Returns the series of a metric with these tags, in any order, and creates it if necessary.
    pub(crate) fn series(
        &mut self,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> Result<SeriesId, Refusal> {
        let key_hash = SeriesKeyHash::of(self.hasher.encode(metric, kind, tags));
        match self.known(key_hash) {
            Some((series, _)) => Ok(series),
            None => self.create(key_hash, metric, kind, tags),
        }
    }

    /// Returns the series and type that a series-key hash is registered for.
    #[inline]
    pub(crate) fn known(&mut self, key_hash: SeriesKeyHash) -> Option<KnownSeries> {
        let mut cursor = self.cursor;
        let known = self.index().aliases.get(key_hash, &mut cursor);
        self.cursor = cursor;
        known
    }

    /// Finds or creates the series and registers it for an unknown series-key hash.
    pub(crate) fn create(
        &mut self,
        key_hash: SeriesKeyHash,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> Result<SeriesId, Refusal> {
        MetricName::check(metric)?;
        // The read lock must be released before the write lock is taken.
        self.index = None;
        self.registry.create(metric, kind, tags, key_hash, &mut self.cursor)
    }

    /// Creates a metric without series, unless it exists.
    pub(crate) fn create_metric(&mut self, name: &str, kind: MetricType) -> Result<(), Refusal> {
        self.index = None;
        self.registry.create_metric(name, kind)
    }

    /// Returns a hold that keeps all series found by this lookup, now and later, from retiring.
    pub(crate) fn hold(&self) -> SeriesHold {
        self.hold.clone()
    }

    /// Returns the time of the newest cumulative sample whose series has retired.
    pub(crate) fn newest_forgotten_sample(&self) -> TimestampMs {
        self.registry.newest_forgotten_sample()
    }

    /// Returns the type of a metric, `None` when it does not exist.
    pub(crate) fn kind_of(&mut self, metric: &str) -> Option<MetricType> {
        self.index().metric_named(metric).map(|entry| entry.kind)
    }

    #[inline]
    fn index(&mut self) -> &RwLockReadGuard<'a, Index> {
        self.lookups_left = self.lookups_left.wrapping_sub(1);
        if self.lookups_left == 0 {
            self.lookups_left = LOOKUPS_PER_LOCK;
            self.index = None;
        }
        self.index.get_or_insert_with(|| self.registry.index.read())
    }
}
