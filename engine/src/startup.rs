//! Startup of an engine: locks the directory, reads the disk, replays the log, starts the threads.
//!
//! ```text
//! LOCK ─▶ database ─▶ registry, catalog, watermark b ─▶ log records after b ─▶ head ─▶ committer,
//! threads
//! ```
//!
//! A record is replayed if and only if its LSN is greater than the watermark that the last seal
//! wrote atomically with its blocks. So every record is either in blocks or replayed, never both.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::ballast::Ballast;
use crate::damage::{DamageList, Finding};
use crate::directory::{self, DB_DIR, LOG_DIR};
use crate::documents::Documents;
use crate::engine_inner::EngineInner;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::files::Files;
use crate::log::{Committer, FileOps, Segments};
use crate::maintenance::{DueTimes, EngineHoldings, MaintenanceWorker, ResourceMonitor};
use crate::metrics::{OpenedMetrics, database_cache_bytes, load};
use crate::options::{Maintenance, Options};
use crate::panics::catch_panic;
use crate::records::Records;
use crate::replay::replay;
use crate::storage::Store;
use crate::telemetry::MaintenanceState;
use crate::telemetry::{self, HeadSink, Telemetry};
use crate::trusted_time::TrustedClock;

/// Time from a start until posting lists are built that no query needed yet.
const INDEX_AFTER_START: Duration = Duration::from_secs(1);

pub(crate) fn open(dir: &Path, options: Options) -> Result<EngineInner> {
    open_on(dir, options, FileOps::system())
}

/// [`open`] with injectable file operations for the write-ahead log.
pub(crate) fn open_on(dir: &Path, options: Options, log_ops: FileOps) -> Result<EngineInner> {
    let lock = directory::claim(dir)?;
    let ballast = Ballast::new(dir, options.disk_free_bytes);
    ballast.release();
    let damage = Arc::new(DamageList::open(dir, options.clock.clone()));
    let of_tables = database_cache_bytes(&options);
    let store = Arc::new(Store::open(&dir.join(DB_DIR), of_tables, options.threads)?);
    store.report_damage_to(Arc::clone(&damage));
    let pool = Arc::new(query_threads(options.threads)?);
    let OpenedMetrics { metrics, dropped, mut damaged } =
        load::open(Arc::clone(&store), options.clone(), Arc::clone(&pool))?;
    let events = Events::open(Arc::clone(&store), options.clone(), pool, &mut damaged)?;
    let newest = metrics.newest_time().max(events.newest_time());
    let (clock, grace) = (options.clock.clone(), options.clock_grace);
    let trusted = Arc::new(TrustedClock::open(clock, Arc::clone(&store), grace, newest)?);
    let documents = Arc::new(Documents::open(Arc::clone(&store), Arc::clone(&trusted))?);
    let records = Records::new(Arc::clone(&store), Arc::clone(&documents));
    let files = Files::open(dir, Arc::clone(&damage), ballast.clone());
    store.repair_suspect_tables()?;
    // Tables that the open itself wrote get checksum and parity files before anything can damage
    // them.
    if let Err(error) = store.tend() {
        tracing::warn!(%error, "new tables have no checksum and parity files yet; the maintenance thread will retry");
    }
    let telemetry = Telemetry::new(Arc::clone(&store), options.clone(), metrics, events);
    let segments = Segments::new(dir.join(LOG_DIR));
    let replayed = replay(&telemetry, &segments, telemetry::sealed(&store)?, dropped)?;
    damaged.extend(replayed.damaged);
    damaged.into_iter().for_each(|line| damage.add(Finding::Lost(line)));
    let telemetry = Arc::new(telemetry);
    let maintenance_state = Arc::new(MaintenanceState::default());
    let sink = HeadSink {
        telemetry: Arc::clone(&telemetry),
        maintenance_state: Arc::clone(&maintenance_state),
        ballast: ballast.clone(),
    };
    let begin = (replayed.next, replayed.defined_once);
    let committer = Committer::start(segments.clone(), begin, options.durability, sink, log_ops)?;
    let committer = Arc::new(committer);
    directory::finish(dir)?;
    let worker = Arc::new(MaintenanceWorker {
        telemetry: Arc::clone(&telemetry),
        documents: Arc::clone(&documents),
        committer: Arc::clone(&committer),
        segments: segments.clone(),
        maintenance_state: Arc::clone(&maintenance_state),
        turn: Mutex::new(DueTimes::after_start(trusted.steady())),
        trusted: Arc::clone(&trusted),
    });
    if options.maintenance == Maintenance::Background {
        // A crash before the first seal must not lose the trusted time.
        trusted.persist()?;
    }
    // From here on, dropping `inner` stops the threads if a later step fails.
    let inner = EngineInner {
        dir: dir.to_owned(),
        telemetry,
        documents,
        trusted,
        records,
        files,
        store,
        segments,
        committer,
        worker,
        maintenance_state,
        damage,
        threads: Mutex::default(),
        _lock: lock,
    };
    start_threads(&inner, ballast, options.maintenance)?;
    Ok(inner)
}

fn start_threads(inner: &EngineInner, ballast: Ballast, maintenance: Maintenance) -> Result<()> {
    let worker = Arc::clone(&inner.worker);
    inner.threads.lock().push(thread("telltale-maint", move || worker.run())?);
    let (telemetry, state) = (Arc::clone(&inner.telemetry), Arc::clone(&inner.maintenance_state));
    let complete_postings = move || {
        let registry = telemetry.metrics.registry();
        let complete = || {
            // The rest of the start needs the processors.
            if state.pause(INDEX_AFTER_START) {
                registry.complete_all_postings(|| !state.is_stopped());
            }
        };
        // A panic is logged; queries then build the lists that they need.
        _ = catch_panic("the completion of posting lists", complete);
    };
    inner.threads.lock().push(thread("telltale-index", complete_postings)?);
    let holdings = EngineHoldings {
        telemetry: Arc::clone(&inner.telemetry),
        committer: Arc::clone(&inner.committer),
    };
    holdings.update_account();
    if maintenance == Maintenance::Background {
        let (store, maintenance_state) =
            (Arc::clone(&inner.store), Arc::clone(&inner.maintenance_state));
        let monitor = ResourceMonitor { store, maintenance_state, ballast, holdings };
        inner.threads.lock().push(thread("telltale-mon", move || monitor.run())?);
    }
    Ok(())
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map_err(|error| Error::Storage(format!("starting the thread {name}: {error}")))
}

fn query_threads(threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .thread_name(|i| format!("telltale-query-{i}"))
        .build()
        .map_err(|e| Error::Storage(format!("starting the query threads: {e}")))
}
