//! One node: opens the shard and lets 64 clients write until it is killed or fenced.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use tokio::task::JoinSet;

use crate::checks::Note;
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::seeded::Seeded;
use crate::shard::{DocumentRevision, Entry, Opening, Owner, Tuning};
use crate::stopwatch::Stopwatch;
use crate::store::connect;

/// Clients that each wait for their write.
const CLIENTS: u64 = 64;
/// A client pauses up to this long between its writes, so that a round stays small.
const PAUSE_MILLIS: u64 = 150;

/// Runs until it is fenced, the database fails, or the driver closes its end of the pipe.
pub(crate) async fn node(options: &Options) -> Outcome<()> {
    let writer = options.get("writer", 1)?;
    let seed = options.get("seed", 1)?;
    let mut tuning =
        Tuning { flush: options.get("flush", Tuning::campaign().flush)?, ..Tuning::campaign() };
    tuning.boundaries = options.get("boundaries", true)?;
    tuning.confirms = options.get("confirm", true)?;
    tuning.cache = Some(PathBuf::from(options.required("cache")?));
    let opening = Opening {
        store: connect(&options.required("store")?)?,
        prefix: Path::from(options.required("prefix")?),
        writer,
        tuning,
        seal_records: options.get("seal", 300)?,
        clock: None,
        seed,
    };
    let stopwatch = Stopwatch::start();
    let end = tokio::select! {
        end = serve(opening, writer, seed, stopwatch) => end,
        () = driver_gone() => return Ok(()),
    };
    match end {
        Failure::Fenced => report(&Note::Fenced { writer }),
        other => report(&Note::Failed { writer, reason: other.to_string() }),
    }
}

/// Returns when the standard input ends: the driver keeps it open.
async fn driver_gone() {
    let (gone, ended) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        // It ends with an error or with the input; the driver is gone in both cases.
        drop(std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink()));
        drop(gone);
    });
    drop(ended.await);
}

/// Opens the shard and writes; returns why it had to stop.
async fn serve(opening: Opening, writer: u64, seed: u64, stopwatch: Stopwatch) -> Failure {
    let owner = match Box::pin(Owner::open(opening)).await {
        Ok(owner) => Arc::new(owner),
        Err(error) => return error,
    };
    let found = owner.recovered();
    let opened = Note::Opened {
        writer,
        epoch: found.epoch,
        lsn: found.lsn,
        sealed: found.sealed,
        millis: stopwatch.millis(),
    };
    if let Err(error) = report(&opened) {
        return error;
    }
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let random = Seeded::new(seed ^ (client << 32));
        clients.spawn(write_for_ever(Arc::clone(&owner), writer, client, random));
    }
    match clients.join_next().await {
        Some(Ok(error)) => error,
        Some(Err(error)) => Failure::Stopped(error.to_string()),
        None => Failure::Stopped("no clients".to_owned()),
    }
}

/// Writes one record after the other and reports each acknowledgement.
async fn write_for_ever(
    owner: Arc<Owner>,
    writer: u64,
    client: u64,
    mut random: Seeded,
) -> Failure {
    for number in 1.. {
        let request = (client << 32) | number;
        let document =
            random.happens(150).then_some(DocumentRevision { number: client, revision: number });
        let entry = Entry { request, document, payload: payload(&mut random) };
        let lsn = match owner.append(entry).await {
            Ok(acknowledged) => acknowledged.lsn,
            Err(error) => return error,
        };
        let document = document.map(|document| (document.number, document.revision));
        if let Err(error) = report(&Note::Acknowledged { writer, request, lsn, document }) {
            return error;
        }
        tokio::time::sleep(Duration::from_millis(random.below(PAUSE_MILLIS))).await;
    }
    Failure::Stopped("out of numbers".to_owned())
}

/// Draws 1 KB to 1 MiB: most records are small.
fn payload(random: &mut Seeded) -> Bytes {
    let length = match random.below(1000) {
        0 => 1 << 20,
        1..20 => 128 << 10,
        20..100 => 16 << 10,
        _ => 1 << 10,
    };
    let mut bytes = vec![0; length];
    random.fill(&mut bytes);
    Bytes::from(bytes)
}

/// Prints a note; a write to a pipe survives a kill of this process.
fn report(note: &Note) -> Outcome<()> {
    let mut line = serde_json::to_string(note)?;
    line.push('\n');
    Ok(std::io::stdout().lock().write_all(line.as_bytes())?)
}
