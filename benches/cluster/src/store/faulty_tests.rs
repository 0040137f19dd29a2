//! Each fault does what it says: what the client sees, and what the store has afterwards.

use std::sync::Arc;
use std::time::Duration;

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};

use super::{Faults, FaultyStore};

fn wrapped(faults: Faults) -> (Arc<InMemory>, Arc<FaultyStore>) {
    let inner = Arc::new(InMemory::new());
    let store = FaultyStore::new(Arc::clone(&inner) as Arc<dyn ObjectStore>, faults, 1);
    (inner, Arc::new(store))
}

async fn create(store: &FaultyStore) -> object_store::Result<()> {
    let body = PutPayload::from_static(b"body");
    store.put_opts(&path(), body, PutOptions::from(PutMode::Create)).await.map(|_| ())
}

fn path() -> Path {
    Path::from("object")
}

#[tokio::test(start_paused = true)]
async fn without_faults_requests_succeed() {
    let (_, store) = wrapped(Faults::default());
    create(&store).await.unwrap();
    assert_eq!(store.get(&path()).await.unwrap().bytes().await.unwrap(), "body");
    assert_eq!(store.injected(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_applied() {
    let (inner, store) = wrapped(Faults { lost_answer: 1000, ..Faults::default() });
    assert!(matches!(create(&store).await, Err(Error::Generic { .. })));
    assert!(inner.head(&path()).await.is_ok());
    assert_eq!(store.injected(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_late_put_is_applied_later() {
    let (inner, store) = wrapped(Faults { late_put: 1000, ..Faults::default() });
    assert!(matches!(create(&store).await, Err(Error::Generic { .. })));
    assert!(inner.head(&path()).await.is_err());
    tokio::time::sleep(Duration::from_secs(16)).await;
    assert!(inner.head(&path()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_conflict_applies_nothing() {
    let (inner, store) = wrapped(Faults { conflict: 1000, ..Faults::default() });
    assert!(matches!(create(&store).await, Err(Error::AlreadyExists { .. })));
    assert!(inner.head(&path()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_412_for_the_own_put_is_applied() {
    let (inner, store) = wrapped(Faults { own_412: 1000, ..Faults::default() });
    assert!(matches!(create(&store).await, Err(Error::AlreadyExists { .. })));
    assert!(inner.head(&path()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn throttled_requests_are_not_applied() {
    let (inner, store) = wrapped(Faults { throttled: 1000, ..Faults::default() });
    assert!(matches!(create(&store).await, Err(Error::Generic { .. })));
    assert!(matches!(store.get(&path()).await, Err(Error::Generic { .. })));
    assert!(inner.head(&path()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_frozen_handle_waits_and_others_go_on() {
    let (inner, store) = wrapped(Faults::default());
    store.freeze(true);
    let waiting = tokio::spawn({
        let store = Arc::clone(&store);
        async move { create(&store).await }
    });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!waiting.is_finished());
    inner.put(&path(), PutPayload::from_static(b"other")).await.unwrap();
    store.freeze(false);
    assert!(matches!(waiting.await.unwrap(), Err(Error::AlreadyExists { .. })));
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_draws_the_same_faults() {
    let mut outcomes = Vec::new();
    for _ in 0..2 {
        let (_, store) = wrapped(Faults::of_a_bad_day());
        let mut seen = Vec::new();
        for number in 0..200 {
            let path = Path::from(format!("object-{number}"));
            seen.push(store.put(&path, PutPayload::from_static(b"body")).await.is_ok());
        }
        outcomes.push(seen);
    }
    assert_eq!(outcomes.first(), outcomes.last());
    assert!(outcomes.iter().flatten().any(|ok| !ok));
}
