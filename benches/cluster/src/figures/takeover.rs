//! How long a new owner takes until it can write, by the size of the log that it reads.
//!
//! The owner before is not closed: its store handle is frozen, so that the new one finds what a
//! kill leaves. Most of the log is then in tables of SlateDB, and at most a memtable in its WAL.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::path::Path;

use super::load::{Log, Until, load};
use super::memory::resident_mb;
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::print_line;
use crate::shard::{Entry, Opening, Owner, Tuning};
use crate::stopwatch::{Stopwatch, run_number};
use crate::store::{Faults, FaultyStore, MeteredStore, connect};

/// Prints a row for each size.
pub(crate) async fn takeover(options: &Options) -> Outcome<()> {
    let sizes: Vec<u64> = options.list("mib", "1,10,100,1000")?;
    let bytes: u64 = options.get("bytes", 16384)?;
    let level0_mib: usize = options.get("level0-mib", 64)?;
    let address = options.get("store", "memory:".to_owned())?;
    let put = Duration::from_millis(options.get("put", 0)?);
    let get = Duration::from_millis(options.get("get", 0)?);
    print_line("log MiB   open and replay ms   first write ms   resident MB");
    for mib in sizes {
        if bytes == 0 || mib > 1 << 20 || level0_mib > 1 << 20 {
            return Err(Failure::Usage("--bytes is 0, or a size in MiB is too large".to_owned()));
        }
        let inner = connect(&address)?;
        let prefix = Path::from(format!("takeover-{}", run_number()));
        let opening = |store: Arc<dyn ObjectStore>, writer: u64| Opening {
            store,
            prefix: prefix.clone(),
            writer,
            tuning: Tuning { level0_bytes: level0_mib << 20, ..Tuning::production() },
            seal_records: 0,
            clock: None,
            seed: writer,
        };
        let dying = Arc::new(FaultyStore::new(Arc::clone(&inner), Faults::default(), 1));
        let first = Box::pin(Owner::open(opening(Arc::clone(&dying) as _, 1))).await?;
        let log = Arc::new(Log::Shard(first));
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        Box::pin(load(&log, 64, length, Until::Records((mib << 20) / bytes))).await?;
        dying.freeze(true);
        drop(log);
        let store: Arc<dyn ObjectStore> = Arc::new(MeteredStore::new(inner, put, get));
        let stopwatch = Stopwatch::start();
        let next = Box::pin(Owner::open(opening(store, 2))).await?;
        let opened = stopwatch.millis();
        let entry = Entry { request: 1, document: None, payload: Bytes::from_static(b"first") };
        next.append(entry).await?;
        print_line(&format!(
            "{mib:7} {opened:20.0} {:16.0} {:13}",
            stopwatch.millis(),
            resident_mb().0
        ));
    }
    Ok(())
}
