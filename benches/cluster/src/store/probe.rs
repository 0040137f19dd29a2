//! Decides whether a store may be used: a shard must not be opened on one that fails.
//!
//! Fencing rests on one promise of the store: of several clients that create the same object, one
//! succeeds, and the object keeps the bytes of that one. The probe races eight clients for an
//! object, again and again, and reads back what the winner wrote. Clients use all gateways of the
//! store in turn: an order that only one gateway keeps is not enough. The probe then looks at two
//! things on which SlateDB relies too: metadata of objects, by which a client recognises its own
//! PUT after a lost answer, and replacement of a known version (`If-Match`), with which garbage
//! collection records how far it has deleted manifests.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use futures_util::future::join_all;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions,
    PutPayload, UpdateVersion,
};
use thiserror::Error;

/// Clients of one race.
const RACERS: u64 = 8;

/// Why a store must not be used.
#[derive(Debug, Error)]
pub(crate) enum Refusal {
    /// Fencing is impossible: two owners would both believe that they wrote.
    #[error("race {race}: {winners} of 8 clients created the same object")]
    SeveralWinners { race: u32, winners: usize },
    /// Every client was refused, although the object did not exist.
    #[error("race {0}: no client created the object")]
    NoWinner(u32),
    /// A client that was refused has changed the object nevertheless.
    #[error("race {0}: the object does not have the bytes of the winner")]
    Overwritten(u32),
    /// A listing lacks an object that was acknowledged before.
    #[error("race {0}: a listing lacks the object")]
    NotListed(u32),
    /// The store does not know conditional PUTs.
    #[error("create-if-absent is not supported: {0}")]
    NotSupported(Error),
    /// No address was given.
    #[error("there is no store to probe")]
    NoStore,
    /// Nothing was learnt; the probe may be repeated.
    #[error("the store failed: {0}")]
    Unavailable(#[from] Error),
}

/// What a store that may be used can do beyond what is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// A HEAD returns the metadata of the PUT.
    pub(crate) metadata: bool,
    pub(crate) replacement: Replacement,
}

/// What a store does when several clients replace the same version of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replacement {
    /// Exactly one succeeds, in every race.
    Once,
    /// Several succeed: the store must not be trusted with `If-Match`.
    SeveralTimes { winners: usize },
    /// None succeeds in some race: the store does not know the condition, or refuses too much.
    Never,
}

/// Races for `races` objects below `prefix`, which are deleted afterwards. The stores are gateways
/// of the same one.
pub(crate) async fn probe(
    stores: &[Arc<dyn ObjectStore>],
    prefix: &Path,
    races: u32,
) -> Result<Capabilities, Refusal> {
    let Some(any) = stores.first() else { return Err(Refusal::NoStore) };
    for race in 0..races {
        let path = prefix.clone().join(format!("race-{race:06}"));
        race_to_create(stores, &path, race).await?;
        for store in stores {
            let listed: Vec<_> = store.list(Some(prefix)).try_collect().await?;
            if !listed.iter().any(|meta| meta.location == path) {
                return Err(Refusal::NotListed(race));
            }
        }
        any.delete(&path).await?;
    }
    Ok(Capabilities {
        metadata: keeps_metadata(any, &prefix.clone().join("metadata")).await?,
        replacement: race_to_replace(stores, prefix, races).await?,
    })
}

async fn race_to_create(
    stores: &[Arc<dyn ObjectStore>],
    path: &Path,
    race: u32,
) -> Result<(), Refusal> {
    let results = put_at_once(stores, path, &PutMode::Create).await;
    let mut winners = Vec::new();
    for (racer, result) in results {
        match result {
            Ok(()) => winners.push(racer),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(error @ (Error::NotSupported { .. } | Error::NotImplemented { .. })) => {
                return Err(Refusal::NotSupported(error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let winner = match winners.as_slice() {
        [] => return Err(Refusal::NoWinner(race)),
        [winner] => *winner,
        _ => return Err(Refusal::SeveralWinners { race, winners: winners.len() }),
    };
    for store in stores {
        has_bytes_of(store, path, winner, race).await?;
        match put(store, path, RACERS, PutMode::Create).await {
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(()) => return Err(Refusal::SeveralWinners { race, winners: 2 }),
        }
        has_bytes_of(store, path, winner, race).await?;
    }
    Ok(())
}

async fn has_bytes_of(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    winner: u64,
    race: u32,
) -> Result<(), Refusal> {
    if store.get(path).await?.bytes().await? == body_of(winner) {
        return Ok(());
    }
    Err(Refusal::Overwritten(race))
}

/// Returns whether a HEAD returns the metadata with which an object was created.
async fn keeps_metadata(store: &Arc<dyn ObjectStore>, path: &Path) -> Result<bool, Refusal> {
    let attributes = Attributes::from_iter([(Attribute::Metadata("probe".into()), "kept")]);
    let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
    match store.put_opts(path, body_of(0).into(), options).await {
        Ok(_) => {}
        Err(Error::NotSupported { .. } | Error::NotImplemented { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let head = object_store::GetOptions { head: true, ..Default::default() };
    let read = store.get_opts(path, head).await?.attributes;
    store.delete(path).await?;
    let value = read.get(&Attribute::Metadata("probe".into()));
    Ok(value.is_some_and(|value| value.as_ref() == "kept"))
}

/// Races to replace versions of one object.
async fn race_to_replace(
    stores: &[Arc<dyn ObjectStore>],
    prefix: &Path,
    races: u32,
) -> Result<Replacement, Refusal> {
    let Some(store) = stores.first() else { return Err(Refusal::NoStore) };
    let path = prefix.clone().join("update");
    store.put(&path, body_of(0).into()).await?;
    let mut worst = Replacement::Once;
    for _ in 0..races {
        let meta = store.head(&path).await?;
        let version = UpdateVersion { e_tag: meta.e_tag, version: meta.version };
        let results = put_at_once(stores, &path, &PutMode::Update(version)).await;
        match results.iter().filter(|(_, result)| result.is_ok()).count() {
            0 => worst = Replacement::Never,
            1 => {}
            winners => return Ok(Replacement::SeveralTimes { winners }),
        }
    }
    store.delete(&path).await?;
    Ok(worst)
}

async fn put_at_once(
    stores: &[Arc<dyn ObjectStore>],
    path: &Path,
    mode: &PutMode,
) -> Vec<(u64, object_store::Result<()>)> {
    let clients = (0..RACERS).zip(stores.iter().cycle());
    join_all(
        clients.map(|(racer, store)| async move {
            (racer, put(store, path, racer, mode.clone()).await)
        }),
    )
    .await
}

async fn put(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    racer: u64,
    mode: PutMode,
) -> object_store::Result<()> {
    let payload = PutPayload::from_bytes(body_of(racer));
    store.put_opts(path, payload, PutOptions::from(mode)).await.map(|_| ())
}

fn body_of(racer: u64) -> Bytes {
    Bytes::from(racer.to_be_bytes().repeat(64))
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
