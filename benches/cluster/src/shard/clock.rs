//! A clock for SlateDB: that of the bucket, and never behind the shard.
//!
//! SlateDB stores the wall clock of the owner with every write, in the name of every table and in
//! that of every compaction, and refuses to go back: an owner whose clock is behind that of the
//! owner before cannot write, add tables, or compact. Two things prevent that:
//!
//! - Before the shard is opened, an object is written and its time of modification compared with
//!   the clock of the machine. A clock that is more than `TOLERANCE` wrong is corrected, so that no
//!   owner leaves times in the shard that others reach in an hour.
//! - Once the shard is open, the clock starts where the shard ends, and stays there until the time
//!   has come.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload};
use slatedb::VersionedManifest;
use slatedb_common::clock::{SystemClock, SystemClockTicker};

use crate::outcome::Outcome;

/// Stores report times of modification in seconds, so that less cannot be known.
const TOLERANCE: TimeDelta = TimeDelta::seconds(2);
/// A request that took longer says too little about the time of the store.
const UNCERTAINTY: TimeDelta = TimeDelta::milliseconds(500);
/// Attempts until the best of them has to do.
const ATTEMPTS: u32 = 20;

/// The clock.
#[derive(Debug)]
pub(crate) struct ShardClock {
    inner: Arc<dyn SystemClock>,
    correction_millis: AtomicI64,
    floor_millis: AtomicI64,
}

impl ShardClock {
    /// Wraps the clock of the machine.
    pub(crate) fn new(inner: Arc<dyn SystemClock>) -> Self {
        Self { inner, correction_millis: AtomicI64::new(0), floor_millis: AtomicI64::new(i64::MIN) }
    }

    /// Corrects the clock by that of the store.
    pub(crate) async fn set_by(&self, store: &dyn ObjectStore, path: &Path) -> Outcome<()> {
        let mut best: Option<(TimeDelta, TimeDelta)> = None;
        let mut failed = None;
        for _ in 0..ATTEMPTS {
            let before = self.inner.now();
            let modified = match write_and_look(store, path).await {
                Ok(modified) => modified,
                Err(error) => {
                    failed = Some(error);
                    self.inner.sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let after = self.inner.now();
            let took = after - before;
            if best.is_none_or(|(shortest, _)| took < shortest) {
                best = Some((took, modified - (before + took / 2)));
            }
            if took <= UNCERTAINTY {
                break;
            }
        }
        match (best, failed) {
            (Some((_, correction)), _) if correction.abs() > TOLERANCE => {
                self.correction_millis.store(correction.num_milliseconds(), Ordering::SeqCst);
                Ok(())
            }
            (None, Some(error)) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Never returns less than this from now on.
    pub(crate) fn raise(&self, millis: i64) {
        self.floor_millis.fetch_max(millis, Ordering::SeqCst);
    }
}

impl SystemClock for ShardClock {
    fn now(&self) -> DateTime<Utc> {
        let correction = self.correction_millis.load(Ordering::SeqCst);
        let now = self.inner.now() + TimeDelta::milliseconds(correction);
        let floor = DateTime::from_timestamp_millis(self.floor_millis.load(Ordering::SeqCst));
        floor.map_or(now, |floor| now.max(floor))
    }

    fn sleep<'a>(&'a self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.inner.sleep(time)
    }

    fn ticker<'a>(&'a self, period: Duration) -> SystemClockTicker<'a> {
        SystemClockTicker::new(self, period)
    }
}

/// Returns the time of the store, as an object shows it that was just written.
async fn write_and_look(
    store: &dyn ObjectStore,
    path: &Path,
) -> object_store::Result<DateTime<Utc>> {
    store.put(path, PutPayload::default()).await?;
    Ok(store.head(path).await?.last_modified)
}

/// Returns the greatest time that a manifest names: of writes in tables, and of the tables.
pub(crate) fn last_tick(manifest: &VersionedManifest) -> i64 {
    let tables = manifest.all_sst_views().map(|view| view.sst.id.value().timestamp_ms());
    let compacted = manifest.last_compacted_l0_sst_id().map(|id| id.timestamp_ms());
    let newest = tables.chain(compacted).max().unwrap_or_default();
    manifest.last_l0_clock_tick().max(i64::try_from(newest).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use slatedb_common::clock::DefaultSystemClock;

    use super::*;
    use crate::store::AgedStore;

    #[tokio::test(start_paused = true)]
    async fn the_clock_waits_at_its_floor_and_goes_on_behind_it() {
        let machine = Arc::new(DefaultSystemClock::new());
        let clock = ShardClock::new(Arc::clone(&machine) as _);
        assert_eq!(clock.now(), machine.now());
        let floor = machine.now() + TimeDelta::seconds(60);
        clock.raise(floor.timestamp_millis());
        clock.raise(0);
        assert_eq!(clock.now().timestamp_millis(), floor.timestamp_millis());
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert_eq!(clock.now(), machine.now());
    }
    #[tokio::test(start_paused = true)]
    async fn a_wrong_clock_is_set_by_the_store_and_a_good_one_is_left_alone() {
        let machine: Arc<dyn SystemClock> = Arc::new(DefaultSystemClock::new());
        let (store, path) = (AgedStore::new(), Path::from("clock"));
        let good = ShardClock::new(Arc::clone(&machine));
        good.set_by(&store, &path).await.unwrap();
        assert_eq!(good.now(), machine.now());
        let wrong = ShardClock::new(Arc::clone(&machine));
        wrong.correction_millis.store(3_600_000, Ordering::SeqCst);
        let wrong = ShardClock::new(Arc::new(wrong));
        wrong.set_by(&store, &path).await.unwrap();
        assert!((wrong.now() - machine.now()).abs() < TimeDelta::seconds(1));
    }
}
