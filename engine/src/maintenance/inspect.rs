//! Verification of a closed data directory: everything is read, nothing is written.

use std::path::Path;
use std::sync::Arc;

use super::verify::{verify, verify_log};
use crate::damage::DamageList;
use crate::directory::{self, DB_DIR, LOG_DIR};
use crate::documents::Documents;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::files;
use crate::log::Segments;
use crate::metrics::load;
use crate::model::Lsn;
use crate::options::{Maintenance, Options};
use crate::records::Records;
use crate::reports::VerifyReport;
use crate::storage::Store;
use crate::telemetry::Telemetry;
use crate::trusted_time::TrustedClock;

/// Bytes of each cache: everything is read only once.
const CACHE_BYTES: usize = 32 << 20;

/// Verifies a data directory. Fails if it is not one, and while another process has it open.
pub(crate) fn inspect(dir: &Path) -> Result<VerifyReport> {
    directory::must_hold_data(dir)?;
    let _read_lock = directory::lock_for_reading(dir)?;
    match inspect_files(dir) {
        Err(Error::Corrupt(reason)) => {
            let mut report = VerifyReport::default();
            report.damaged.push(format!("the database cannot be opened: {reason}"));
            let segments = Segments::new(dir.join(LOG_DIR));
            // Without the database the watermark is unknown: all segments are checked.
            let first = segments.list()?.first().map_or(Lsn(1), |(first, _)| *first);
            verify_log(&segments, || Ok(Lsn(first.0.saturating_sub(1))), &mut report)?;
            files::verify(dir, &mut report);
            Ok(report)
        }
        outcome => outcome,
    }
}

/// [`inspect`] for a copy that is still marked as incomplete. Fails with [`Error::Corrupt`] if its
/// database cannot be opened.
pub(crate) fn inspect_files(dir: &Path) -> Result<VerifyReport> {
    let telemetry = open(dir)?;
    let segments = Segments::new(dir.join(LOG_DIR));
    let store = Arc::clone(telemetry.store());
    let options = telemetry.options();
    let clock = TrustedClock::open(
        options.clock.clone(),
        Arc::clone(&store),
        options.clock_grace,
        telemetry.metrics.newest_time().max(telemetry.events.newest_time()),
    )?;
    let documents = Arc::new(Documents::open(Arc::clone(&store), Arc::new(clock))?);
    let records = Records::new(Arc::clone(&store), Arc::clone(&documents));
    let mut report = verify(&telemetry, &documents, &records, &segments)?;
    files::verify(dir, &mut report);
    store.verify_files(&mut report.damaged)?;
    report.damaged.extend(DamageList::open(dir, options.clock.clone()).lines());
    Ok(report)
}

/// Opens the database read-only and loads the catalogs that the verification of blocks needs.
fn open(dir: &Path) -> Result<Telemetry> {
    let options = Options {
        maintenance: Maintenance::Manual,
        cache_bytes: CACHE_BYTES,
        event_cache_bytes: CACHE_BYTES,
        threads: 1,
        ..Options::default()
    };
    let store = Arc::new(Store::open_read_only(&dir.join(DB_DIR), options.cache_bytes)?);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = Arc::new(pool.map_err(|e| Error::Storage(format!("starting a thread: {e}")))?);
    let metrics = load::inspect(Arc::clone(&store), options.clone(), Arc::clone(&pool))?;
    // Unreadable rows are reported by the verification of rows.
    let events = Events::open(Arc::clone(&store), options.clone(), pool, &mut Vec::new())?;
    Ok(Telemetry::new(store, options, metrics, events))
}
