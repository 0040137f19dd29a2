//! What SlateDB does in situations on which the decision rests, each with a store of its own.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload};
use slatedb_common::clock::{DefaultSystemClock, SystemClock, SystemClockTicker};

use super::{Entry, Opening, Owner};
use crate::outcome::{Failure, Outcome};
use crate::shard::Tuning;
use crate::store::{AgedStore, Faults, FaultyStore};

/// A wall clock that is this much behind.
#[derive(Debug)]
struct Late(DefaultSystemClock, TimeDelta);

impl SystemClock for Late {
    fn now(&self) -> DateTime<Utc> {
        self.0.now() - self.1
    }

    fn sleep<'a>(
        &'a self,
        time: Duration,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.0.sleep(time)
    }

    fn ticker<'a>(&'a self, period: Duration) -> SystemClockTicker<'a> {
        SystemClockTicker::new(self, period)
    }
}

/// How SlateDB comes, without the conditions of the decision.
fn bare(store: Arc<dyn ObjectStore>, writer: u64) -> Opening {
    let mut bare = opening(store, writer);
    bare.tuning.confirms = false;
    bare.tuning.sets_clock = false;
    bare
}

fn opening(store: Arc<dyn ObjectStore>, writer: u64) -> Opening {
    Opening {
        store,
        prefix: Path::from("shard"),
        writer,
        tuning: Tuning { block_cache: false, ..Tuning::production() },
        seal_records: 0,
        clock: None,
        seed: writer,
    }
}

async fn open(opening: Opening) -> Outcome<Owner> {
    Box::pin(Owner::open(opening)).await
}

async fn write(owner: &Owner, request: u64) -> Outcome<u64> {
    let entry = Entry { request, document: None, payload: Bytes::from_static(b"payload") };
    owner.append(entry).await.map(|acknowledged| acknowledged.lsn)
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_was_replaced_is_fenced_at_its_next_write() {
    let bucket: Arc<dyn ObjectStore> = Arc::new(AgedStore::new());
    let first = open(opening(Arc::clone(&bucket), 1)).await.unwrap();
    assert_eq!(write(&first, 1).await.unwrap(), 1);
    let second = open(opening(bucket, 2)).await.unwrap();
    assert_eq!(second.recovered().lsn, 1);
    assert!(second.recovered().epoch > first.recovered().epoch);
    assert!(matches!(write(&first, 2).await, Err(Failure::Fenced)));
    assert_eq!(write(&second, 1).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_at_the_log_fences_an_owner_that_nobody_replaced() {
    let bucket: Arc<dyn ObjectStore> = Arc::new(AgedStore::new());
    let store = Arc::new(FaultyStore::new(bucket, Faults::default(), 1));
    let only = open(bare(Arc::clone(&store) as _, 1)).await.unwrap();
    write(&only, 1).await.unwrap();
    store.conflict_once_below("wal");
    assert!(matches!(write(&only, 2).await, Err(Failure::Fenced)));
}

/// The fence is skipped, which leaves a hole in the log. Every later open looks for the end of the
/// log behind the hole, and fails at it; an empty object in its place repairs the shard.
#[tokio::test(start_paused = true)]
async fn a_conflict_at_the_fence_leaves_a_shard_that_cannot_be_opened() {
    let bucket: Arc<dyn ObjectStore> = Arc::new(AgedStore::new());
    let first = open(opening(Arc::clone(&bucket), 1)).await.unwrap();
    write(&first, 1).await.unwrap();
    let store = Arc::new(FaultyStore::new(Arc::clone(&bucket), Faults::default(), 1));
    store.conflict_once_below("wal");
    let failed = open(bare(store as _, 2)).await.map(|owner| owner.recovered());
    assert!(matches!(failed, Err(Failure::Database(_))), "{failed:?}");
    for writer in 3..10 {
        let failed = open(opening(Arc::clone(&bucket), writer)).await.map(|o| o.recovered());
        assert!(failed.is_err_and(|error| error.to_string().contains("truncated")));
    }
    let hole = Path::from(format!("shard/slatedb/wal/{:020}.sst", 3));
    bucket.put(&hole, PutPayload::default()).await.unwrap();
    let repaired = open(opening(bucket, 10)).await.unwrap();
    assert_eq!(repaired.recovered().lsn, 1);
    assert_eq!(write(&repaired, 1).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn conflicts_do_no_harm_where_they_are_confirmed() {
    let bucket: Arc<dyn ObjectStore> = Arc::new(AgedStore::new());
    let first = open(opening(Arc::clone(&bucket), 1)).await.unwrap();
    write(&first, 1).await.unwrap();
    let store = Arc::new(FaultyStore::new(Arc::clone(&bucket), Faults::default(), 1));
    store.conflict_once_below("wal");
    let second = open(opening(Arc::clone(&store) as _, 2)).await.unwrap();
    assert_eq!(second.recovered().lsn, 1);
    store.conflict_once_below("wal");
    assert_eq!(write(&second, 1).await.unwrap(), 2);
    assert!(matches!(write(&first, 2).await, Err(Failure::Fenced)));
}

fn late() -> Option<Arc<dyn SystemClock>> {
    Some(Arc::new(Late(DefaultSystemClock::new(), TimeDelta::seconds(60))))
}

/// A takeover by a node whose clock is a minute late: it opens the shard, and cannot write.
#[tokio::test(start_paused = true)]
async fn an_owner_with_a_late_clock_cannot_write() {
    let bucket: Arc<dyn ObjectStore> = Arc::new(AgedStore::new());
    let first = open(opening(Arc::clone(&bucket), 1)).await.unwrap();
    write(&first, 1).await.unwrap();
    let second = open(Opening { clock: late(), ..bare(bucket, 2) }).await.unwrap();
    let refused = write(&second, 1).await;
    assert!(refused.as_ref().is_err_and(|e| e.to_string().contains("clock")), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_late_clock_does_no_harm_where_it_is_set() {
    let bucket: Arc<dyn ObjectStore> = Arc::new(AgedStore::new());
    let first = open(opening(Arc::clone(&bucket), 1)).await.unwrap();
    write(&first, 1).await.unwrap();
    let clock = late();
    let second = open(Opening { clock, ..opening(Arc::clone(&bucket), 2) }).await.unwrap();
    assert_eq!(write(&second, 1).await.unwrap(), 2);
    // What is closed is written to a table: its name must not be older than the shard either.
    second.close().await.unwrap();
    let third = open(Opening { clock: late(), ..opening(bucket, 3) }).await.unwrap();
    assert_eq!(third.recovered().lsn, 2);
    assert_eq!(write(&third, 1).await.unwrap(), 3);
}
