//! What SlateDB costs: CPU time beyond that of a log in a file, bytes sent per byte logged, PUTs,
//! memory.

use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path;

use super::file_log::FileLog;
use super::load::{Log, Measured, Until, load};
use super::memory::resident_mb;
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::print_line;
use crate::shard::{Flush, Opening, Owner, Tuning};
use crate::stopwatch::{process_cpu, run_number};
use crate::store::{MeteredStore, Part, connect};

const CLIENTS: u64 = 64;

/// Writes the same records to a file and to a shard, and prints what the shard takes more.
pub(crate) async fn costs(options: &Options) -> Outcome<()> {
    let mib: u64 = options.get("mib", 512)?;
    let sizes: Vec<u64> = options.list("bytes", "1024,16384,131072,1048576")?;
    let address = options.get("store", "memory:".to_owned())?;
    let level0_mib: usize = options.get("level0-mib", 64)?;
    let seal_mib: u64 = options.get("seal-mib", 0)?;
    let points: f64 = options.get("bytes-per-point", 10.0)?;
    let flush: Flush = options
        .get("flush", "group".to_owned())?
        .parse()
        .map_err(|_| Failure::Usage("--flush: 'group' or milliseconds".to_owned()))?;
    let put_time = Duration::from_millis(options.get("put", 0)?);
    for bytes in sizes {
        if bytes == 0 || mib > 1 << 20 || seal_mib > 1 << 20 || level0_mib > 1 << 20 {
            return Err(Failure::Usage("--bytes is 0, or a size in MiB is too large".to_owned()));
        }
        let until = Until::Records((mib << 20) / bytes);
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let file = on_a_file(options, length, until).await?;
        let store = Arc::new(MeteredStore::new(connect(&address)?, put_time, put_time / 4));
        let opening = Opening {
            store: Arc::clone(&store) as _,
            prefix: Path::from(format!("costs-{}", run_number())),
            writer: 1,
            tuning: Tuning { flush, level0_bytes: level0_mib << 20, ..Tuning::production() },
            seal_records: usize::try_from((seal_mib << 20) / bytes).unwrap_or(0),
            clock: None,
            seed: 1,
        };
        let owner = Box::pin(Owner::open(opening)).await?;
        let log = Arc::new(Log::Shard(owner));
        let mut shard = Box::pin(load(&log, CLIENTS, length, until)).await?;
        // Compaction goes on after the last record: its part is included.
        let cpu = process_cpu();
        tokio::time::sleep(Duration::from_secs(options.get("settle", 15)?)).await;
        shard.cpu_seconds += (process_cpu() - cpu).as_secs_f64();
        print_costs(bytes, points, &file, &shard, &store);
        if let Some(Log::Shard(owner)) = Arc::into_inner(log) {
            owner.close().await?;
        }
    }
    Ok(())
}

async fn on_a_file(options: &Options, bytes: usize, until: Until) -> Outcome<Measured> {
    let folder = options.get("folder", ".".to_owned())?;
    let path = std::path::PathBuf::from(folder).join(format!("cluster-{}.log", run_number()));
    let log = Arc::new(Log::File(FileLog::create(&path)?));
    let measured = Box::pin(load(&log, CLIENTS, bytes, until)).await;
    std::fs::remove_file(&path)?;
    measured
}

fn print_costs(
    bytes: u64,
    bytes_per_point: f64,
    file: &Measured,
    shard: &Measured,
    store: &MeteredStore,
) {
    let logged = (shard.records * bytes) as f64;
    let per_million = |seconds: f64| seconds / (logged / bytes_per_point / 1e6);
    print_line(&format!(
        "records of {bytes} bytes, {:.0} MiB: file {:.3} s CPU, shard {:.3} s CPU; \
         per million points of {bytes_per_point} bytes {:.4} and {:.4} s",
        logged / f64::from(1 << 20),
        file.cpu_seconds,
        shard.cpu_seconds,
        per_million(file.cpu_seconds),
        per_million(shard.cpu_seconds),
    ));
    let mut total = 0.0;
    for part in Part::ALL {
        let usage = store.usage(part);
        let share = usage.put_bytes as f64 / logged;
        total += share;
        print_line(&format!(
            "  {:10} {:8} PUTs {share:6.3} bytes per byte logged, {:8} GETs {:6.3} read",
            part.name(),
            usage.puts,
            usage.gets,
            usage.get_bytes as f64 / logged,
        ));
    }
    let (resident, peak) = resident_mb();
    print_line(&format!(
        "  {total:.3} bytes sent per byte logged; {:.1} s; {:.0} MiB/s; resident {resident} MB, \
         peak {peak} MB (with the contents of memory:)",
        shard.seconds,
        logged / f64::from(1 << 20) / shard.seconds,
    ));
}
