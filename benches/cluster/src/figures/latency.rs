//! How long a client waits for an acknowledgement, by the latency of a PUT and by when the log is
//! sent.

use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path;

use super::load::{Log, Until, load};
use crate::options::Options;
use crate::outcome::Outcome;
use crate::print_line;
use crate::shard::{Flush, Opening, Owner, Tuning};
use crate::stopwatch::run_number;
use crate::store::{MeteredStore, Part, connect};

/// Prints a table: a row for each latency, interval and number of clients.
pub(crate) async fn latency(options: &Options) -> Outcome<()> {
    let puts: Vec<u64> = options.list("puts", "5,100,200")?;
    let flushes: Vec<String> = options.list("flush", "group,5,25,100,250")?;
    let clients: Vec<u64> = options.list("clients", "1,64,512")?;
    let seconds = options.get("seconds", 10)?;
    let bytes = options.get("bytes", 1024)?;
    let address = options.get("store", "memory:".to_owned())?;
    print_line("PUT ms  flush  clients   p50 ms   p99 ms  records/s  WAL PUTs/s  all PUTs/s");
    for put in puts {
        for flush in &flushes {
            for clients in &clients {
                let time = Duration::from_millis(put);
                // A GET of S3 takes a fraction of a PUT.
                let store = MeteredStore::new(connect(&address)?, time, time / 4);
                let store = Arc::new(store);
                let choice: Flush = flush.parse().map_err(|_| {
                    crate::outcome::Failure::Usage(format!("--flush: cannot read '{flush}'"))
                })?;
                let opening = Opening {
                    store: Arc::clone(&store) as _,
                    prefix: Path::from(format!("latency-{}", run_number())),
                    writer: 1,
                    tuning: Tuning { flush: choice, ..Tuning::production() },
                    seal_records: 0,
                    clock: None,
                    seed: 1,
                };
                let log = Arc::new(Log::Shard(Box::pin(Owner::open(opening)).await?));
                let before = Part::ALL.map(|part| store.usage(part).puts);
                let until = Until::Elapsed(Duration::from_secs(seconds));
                let mut measured = Box::pin(load(&log, *clients, bytes, until)).await?;
                let after = Part::ALL.map(|part| store.usage(part).puts);
                let sent = |part: Part| {
                    let at = |counts: &[u64]| counts.get(part as usize).copied().unwrap_or(0);
                    at(&after).saturating_sub(at(&before))
                };
                let all: u64 = Part::ALL.into_iter().map(sent).sum();
                print_line(&format!(
                    "{put:6} {flush:>6} {clients:8} {:8.1} {:8.1} {:10.0} {:11.1} {:11.1}",
                    measured.latencies.quantile(0.5),
                    measured.latencies.quantile(0.99),
                    rate(measured.records, measured.seconds),
                    rate(sent(Part::Wal), measured.seconds),
                    rate(all, measured.seconds),
                ));
                if let Some(Log::Shard(owner)) = Arc::into_inner(log) {
                    owner.close().await?;
                }
            }
        }
    }
    Ok(())
}

fn rate(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}
