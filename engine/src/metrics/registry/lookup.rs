//! A reader of the registry: finds the series of a batch, and has those created that are new.

use parking_lot::RwLockReadGuard;

use super::aliases::{Known, Place, SeriesKeyHash, SeriesKeyHasher};
use super::index::Index;
use super::series::Registry;
use crate::error::Refusal;
use crate::model::{MetricName, MetricType, SeriesHold, SeriesId, TimestampMs};

/// A reader of many series lets go of the lock after so many.
const PATIENCE: u32 = 1 << 14;

/// A reader of the registry that keeps its lock from one series to the next.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    registry: &'a Registry,
    index: Option<RwLockReadGuard<'a, Index>>,
    place: Place,
    hasher: SeriesKeyHasher,
    hold: SeriesHold,
    /// Series that are looked up before those who wait to create one get their turn.
    patience: u32,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(registry: &'a Registry) -> Self {
        let (place, hasher) = (Place::default(), SeriesKeyHasher::default());
        // Before anything is found.
        let hold = registry.grace.hold();
        Self { registry, index: None, place, hasher, hold, patience: PATIENCE }
    }

    /// The series of a metric with these tags, in any order; created when there is none.
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

    /// The series that a series-key hash was given for, and its type.
    #[inline]
    pub(crate) fn known(&mut self, key_hash: SeriesKeyHash) -> Option<Known> {
        let mut place = self.place;
        let known = self.index().aliases.get(key_hash, &mut place);
        self.place = place;
        known
    }

    /// Finds or creates the series of a series-key hash that is not known.
    pub(crate) fn create(
        &mut self,
        key_hash: SeriesKeyHash,
        metric: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
    ) -> Result<SeriesId, Refusal> {
        MetricName::check(metric)?;
        // The read lock has to go before the write lock can come.
        self.index = None;
        self.registry.create(metric, kind, tags, key_hash)
    }

    /// Makes a metric known that has no series yet, unless it is.
    pub(crate) fn create_metric(&mut self, name: &str, kind: MetricType) -> Result<(), Refusal> {
        self.index = None;
        self.registry.create_metric(name, kind)
    }

    /// Keeps the series that were found, and those that will be.
    pub(crate) fn hold(&self) -> SeriesHold {
        self.hold.clone()
    }

    /// The time of the newest reading that was forgotten with its series.
    pub(crate) fn readings_forgotten(&self) -> TimestampMs {
        self.registry.readings_forgotten()
    }

    /// The type of a metric that exists.
    pub(crate) fn kind_of(&mut self, metric: &str) -> Option<MetricType> {
        self.index().metric_named(metric).map(|entry| entry.kind)
    }

    #[inline]
    fn index(&mut self) -> &RwLockReadGuard<'a, Index> {
        self.patience = self.patience.wrapping_sub(1);
        if self.patience == 0 {
            self.patience = PATIENCE;
            self.index = None;
        }
        self.index.get_or_insert_with(|| self.registry.index.read())
    }
}
