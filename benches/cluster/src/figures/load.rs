//! Clients that each wait for their write, on anything that commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::task::JoinSet;

use super::file_log::FileLog;
use crate::outcome::{Failure, Outcome};
use crate::seeded::Seeded;
use crate::shard::{Entry, Owner};
use crate::stopwatch::{Latencies, Stopwatch, process_cpu};

/// What commits records.
pub(crate) enum Log {
    /// A file of this machine, as today.
    File(FileLog),
    /// A shard in an object store.
    Shard(Owner),
}

impl Log {
    async fn append(&self, entry: Entry) -> Outcome<()> {
        match self {
            Self::File(log) => log.append(entry.payload).await,
            Self::Shard(owner) => owner.append(entry).await.map(|_| ()),
        }
    }
}

/// When a load ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// After this time.
    Elapsed(Duration),
    /// After this number of records.
    Records(u64),
}

/// A measured load.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) latencies: Latencies,
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) records: u64,
}

/// Lets clients write records of one size, each with a document in one of ten.
pub(crate) async fn load(
    log: &Arc<Log>,
    clients: u64,
    bytes: usize,
    until: Until,
) -> Outcome<Measured> {
    // One buffer of random bytes: what is measured is the log, not the making of records.
    let mut payload = vec![0; bytes];
    Seeded::new(bytes as u64).fill(&mut payload);
    let payload = Bytes::from(payload);
    let written = Arc::new(AtomicU64::new(0));
    let (stopwatch, cpu) = (Stopwatch::start(), process_cpu());
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let (log, payload) = (Arc::clone(log), payload.clone());
        let written = Arc::clone(&written);
        tasks.spawn(async move {
            let mut latencies = Latencies::default();
            for number in 1.. {
                let before = written.fetch_add(1, Ordering::Relaxed);
                let is_over = match until {
                    Until::Elapsed(limit) => stopwatch.elapsed() >= limit,
                    Until::Records(limit) => before >= limit,
                };
                if is_over {
                    break;
                }
                let request = (client << 32) | number;
                let entry = Entry { request, document: None, payload: payload.clone() };
                let waiting = Stopwatch::start();
                log.append(entry).await?;
                latencies.add(waiting.millis());
            }
            Ok::<_, Failure>(latencies)
        });
    }
    let mut measured = Measured::default();
    while let Some(ended) = tasks.join_next().await {
        let latencies = ended.map_err(|error| Failure::Stopped(error.to_string()))??;
        measured.latencies.extend(latencies);
    }
    measured.seconds = stopwatch.elapsed().as_secs_f64();
    measured.cpu_seconds = (process_cpu() - cpu).as_secs_f64();
    measured.records = measured.latencies.count() as u64;
    Ok(measured)
}
