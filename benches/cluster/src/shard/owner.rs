//! The owner of a shard: opens it, which fences the owner before, and commits in groups.
//!
//! As in the engine, one task writes the log. All waiting records, up to 8 MiB, become one batch;
//! while it is sent, the next group gathers. A record is acknowledged when its batch is in the
//! object store. After a number of records they are sealed: a pack is uploaded, and one batch
//! writes its pointer and deletes the records. A write that changes a document adds a record beside
//! the log in the same batch: they stand for the engine's keyspaces of documents and records.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::path::Path;
use slatedb::config::{FlushOptions, FlushType};
use slatedb::{Db, IterationOrder, WriteBatch};
use slatedb_common::clock::{DefaultSystemClock, SystemClock};
use tokio::sync::{mpsc, oneshot};

use super::clock::{ShardClock, last_tick};
use super::keys::{DOCUMENT, LOG, PACK, RECORD, SEALED, number_of, numbered};
use super::pack::{Pointer, pack_of, write_pack};
use super::record::{DocumentRevision, Row};
use super::tuning::{Flush, Tuning, whole_scan};
use crate::outcome::{Failure, Outcome};
use crate::store::ConfirmedStore;

/// A group is closed at this size.
const GROUP_BYTES_MAX: usize = 8 << 20;
/// Writes that wait beyond the group that is being sent.
const QUEUE_RECORDS: usize = 4096;

/// A write to be committed.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) request: u64,
    /// The document that changes with it.
    pub(crate) document: Option<DocumentRevision>,
    pub(crate) payload: Bytes,
}

/// The position of a write that is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    pub(crate) lsn: u64,
}

/// What an owner found when it opened the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// The last record, in the log or in packs.
    pub(crate) lsn: u64,
    /// The last record in packs.
    pub(crate) sealed: u64,
    /// The number of owners until now: an owner fences those of smaller epochs.
    pub(crate) epoch: u64,
}

struct Waiting {
    entry: Entry,
    done: oneshot::Sender<Outcome<Acknowledged>>,
}

/// An open shard.
pub(crate) struct Owner {
    db: Arc<Db>,
    queue: mpsc::Sender<Waiting>,
    recovered: Recovered,
    ended: Arc<OnceLock<End>>,
}

/// Why the committer has ended.
#[derive(Clone, Debug)]
enum End {
    Fenced,
    Failed(String),
}

impl End {
    fn failure(&self) -> Failure {
        match self {
            Self::Fenced => Failure::Fenced,
            Self::Failed(reason) => Failure::Stopped(reason.clone()),
        }
    }
}

/// How an owner is opened.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) prefix: Path,
    pub(crate) writer: u64,
    pub(crate) tuning: Tuning,
    /// Seals after this many records; 0 never.
    pub(crate) seal_records: usize,
    /// The wall clock of the node, unless it is that of the machine.
    pub(crate) clock: Option<Arc<dyn SystemClock>>,
    /// The seed of SlateDB's random numbers.
    pub(crate) seed: u64,
}

impl Owner {
    /// Opens a shard, replays its log and starts to commit.
    pub(crate) async fn open(opening: Opening) -> Outcome<Self> {
        let path = opening.prefix.clone().join("slatedb");
        let store: Arc<dyn ObjectStore> = if opening.tuning.confirms {
            Arc::new(ConfirmedStore::new(opening.store))
        } else {
            opening.store
        };
        let clock = opening.clock.unwrap_or_else(|| Arc::new(DefaultSystemClock::new()));
        let clock = Arc::new(ShardClock::new(clock));
        if opening.tuning.sets_clock {
            let path = opening.prefix.clone().join("clock").join(opening.writer.to_string());
            clock.set_by(store.as_ref(), &path).await?;
        }
        let mut builder = Db::builder(path, Arc::clone(&store))
            .with_settings(opening.tuning.settings())
            .with_system_clock(Arc::clone(&clock) as _)
            .with_seed(opening.seed);
        if !opening.tuning.block_cache {
            builder = builder.with_db_cache_disabled();
        }
        let db = Arc::new(Box::pin(builder.build()).await?);
        let Replayed { recovered, unsealed, tick } = replay(&db).await?;
        if opening.tuning.sets_clock {
            clock.raise(tick);
        }
        let (queue, waiting) = mpsc::channel(QUEUE_RECORDS);
        let committer = Committer {
            db: Arc::clone(&db),
            store,
            prefix: opening.prefix,
            writer: opening.writer,
            flush: opening.tuning.flush,
            seal_records: opening.seal_records,
            lsn: recovered.lsn,
            unsealed,
            ended: Arc::default(),
        };
        let ended = Arc::clone(&committer.ended);
        tokio::spawn(committer.run(waiting));
        Ok(Self { db, queue, recovered, ended })
    }

    /// Returns what was found at the start.
    pub(crate) fn recovered(&self) -> Recovered {
        self.recovered
    }

    /// Returns the database, to look at its contents.
    pub(crate) fn db(&self) -> &Arc<Db> {
        &self.db
    }

    /// Stores a record; returns when it is durable.
    pub(crate) async fn append(&self, entry: Entry) -> Outcome<Acknowledged> {
        let (done, response) = oneshot::channel();
        let closed = || match self.ended.get() {
            Some(end) => end.failure(),
            None => Failure::Stopped("the committer is gone".to_owned()),
        };
        self.queue.send(Waiting { entry, done }).await.map_err(|_| closed())?;
        response.await.map_err(|_| closed())?
    }

    /// Closes the database, which sends what is left of it to the store.
    pub(crate) async fn close(self) -> Outcome<()> {
        drop(self.queue);
        Ok(self.db.close().await?)
    }
}

/// What an owner reads before it writes.
struct Replayed {
    recovered: Recovered,
    /// The records behind the last seal.
    unsealed: Vec<Bytes>,
    /// The time of the last write in milliseconds, or that of a later table.
    tick: i64,
}

/// Reads the log behind the last seal. Every batch writes a record of the log or the last seal, so
/// the newest of them has the time of the last batch.
async fn replay(db: &Db) -> Outcome<Replayed> {
    let manifest = db.manifest();
    let mut tick = last_tick(&manifest);
    let sealed = match db.get_key_value(SEALED).await? {
        Some(row) => {
            tick = tick.max(row.create_ts);
            let value = row.value.as_ref().try_into();
            u64::from_be_bytes(value.map_err(|_| Failure::Damaged("sealed".to_owned()))?)
        }
        None => 0,
    };
    let mut unsealed = Vec::new();
    let mut lsn = sealed;
    let range = numbered(LOG, 0).to_vec()..=numbered(LOG, u64::MAX).to_vec();
    let mut log = db.scan_with_options(range, &whole_scan(IterationOrder::Ascending)).await?;
    while let Some(record) = log.next().await? {
        lsn = number_of(&record.key).ok_or_else(|| Failure::Damaged("key of log".to_owned()))?;
        Row::decode(&record.value)?;
        tick = tick.max(record.create_ts);
        unsealed.push(record.value);
    }
    let recovered = Recovered { lsn, sealed, epoch: manifest.writer_epoch() };
    Ok(Replayed { recovered, unsealed, tick })
}

/// Waits for a write and takes all others that wait; returns whether there are any.
async fn gather(waiting: &mut mpsc::Receiver<Waiting>, group: &mut Vec<Waiting>) -> bool {
    let Some(first) = waiting.recv().await else { return false };
    let mut bytes = first.entry.payload.len();
    group.push(first);
    while bytes < GROUP_BYTES_MAX {
        let Ok(next) = waiting.try_recv() else { break };
        bytes += next.entry.payload.len();
        group.push(next);
    }
    true
}

/// The task that writes.
struct Committer {
    db: Arc<Db>,
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    writer: u64,
    flush: Flush,
    seal_records: usize,
    /// The last record.
    lsn: u64,
    /// The records behind the last seal.
    unsealed: Vec<Bytes>,
    ended: Arc<OnceLock<End>>,
}

impl Committer {
    /// Commits groups until the owner is dropped or the database refuses to go on. Writes that wait
    /// then, and all later ones, get the reason.
    async fn run(mut self, mut waiting: mpsc::Receiver<Waiting>) {
        let mut group = Vec::new();
        while gather(&mut waiting, &mut group).await {
            if let Err(error) = self.turn(&mut group).await {
                let end = match error {
                    Failure::Fenced => End::Fenced,
                    other => End::Failed(other.to_string()),
                };
                let end = self.ended.get_or_init(|| end);
                for write in group.drain(..) {
                    drop(write.done.send(Err(end.failure())));
                }
                return;
            }
        }
    }

    /// Commits a group, acknowledges it, and seals if there is enough to seal.
    async fn turn(&mut self, group: &mut Vec<Waiting>) -> Outcome<()> {
        let first = self.commit(group).await?;
        for (lsn, write) in (first..).zip(group.drain(..)) {
            // A client that has gone needs no response.
            drop(write.done.send(Ok(Acknowledged { lsn })));
        }
        if self.seal_records > 0 && self.unsealed.len() >= self.seal_records {
            self.seal().await?;
        }
        Ok(())
    }

    /// Writes a group as one batch; returns the number of its first record once it is durable.
    async fn commit(&mut self, group: &[Waiting]) -> Outcome<u64> {
        let first = self.lsn + 1;
        let mut batch = WriteBatch::new();
        let mut records = Vec::with_capacity(group.len());
        for (lsn, Waiting { entry, .. }) in (first..).zip(group) {
            let row =
                Row { lsn, writer: self.writer, request: entry.request, document: entry.document };
            let record = row.encode(&entry.payload);
            batch.put_bytes(Bytes::copy_from_slice(&numbered(LOG, lsn)), record.clone());
            if let Some(document) = entry.document {
                let value: Vec<u8> =
                    [document.revision, lsn].iter().flat_map(|n| n.to_le_bytes()).collect();
                batch.put(numbered(DOCUMENT, document.number), value);
                batch.put(numbered(RECORD, lsn), document.number.to_le_bytes());
            }
            records.push(record);
        }
        self.write(batch).await?;
        self.lsn += group.len() as u64;
        if self.seal_records > 0 {
            self.unsealed.append(&mut records);
        }
        Ok(first)
    }

    async fn write(&self, batch: WriteBatch) -> Outcome<()> {
        let written = self.db.write(batch).await?;
        if self.flush == Flush::EachGroup {
            self.db.flush_with_options(FlushOptions { flush_type: FlushType::Wal }).await?;
        }
        Ok(written.await_durable().await?)
    }

    /// Moves all records of the log into a pack.
    async fn seal(&mut self) -> Outcome<()> {
        let pack = pack_of(self.unsealed.iter());
        let first = self.lsn + 1 - self.unsealed.len() as u64;
        let name = format!("{first:012}-{:06}", self.writer);
        let path = self.prefix.clone().join("packs").join(name.as_str());
        let pointer = Pointer {
            last: self.lsn,
            bytes: pack.len() as u64,
            checksum: crc32fast::hash(&pack),
            name,
        };
        write_pack(self.store.as_ref(), &path, pack).await?;
        let mut batch = WriteBatch::new();
        batch.put(numbered(PACK, first), pointer.encode());
        batch.put(SEALED, self.lsn.to_be_bytes());
        for lsn in first..=self.lsn {
            batch.delete(numbered(LOG, lsn));
        }
        self.write(batch).await?;
        self.unsealed.clear();
        Ok(())
    }
}

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;
