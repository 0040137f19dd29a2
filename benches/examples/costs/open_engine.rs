//! An engine that is closed and opened again between operations, without limits and expiry.

use std::path::{Path, PathBuf};
use std::time::Duration;

use telltale_benches::data::{DAY, START, options};
use telltale_engine::{Clock, Engine, Options, Retention, TierRetention, TimestampMs};

/// The time of the engine: two days after the newest data but one.
pub(crate) const NOW: TimestampMs = TimestampMs(START + 2 * DAY);
/// The largest number of days with data.
pub(crate) const DAYS_MAX: usize = 10_000;
/// Longer than [`DAYS_MAX`].
const KEPT: Duration = Duration::from_secs(40 * 365 * 86_400);

/// An engine and its data directory.
#[derive(Debug)]
pub(crate) struct OpenEngine {
    dir: PathBuf,
    engine: Option<Engine>,
}

impl OpenEngine {
    /// Opens an engine in a directory.
    pub(crate) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), engine: Some(open(dir)) }
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    pub(crate) fn seal(&self) {
        self.engine().seal().unwrap();
    }

    pub(crate) fn merge(&self) {
        self.engine().merge().unwrap();
    }

    pub(crate) fn verify(&self) {
        let report = self.engine().verify().unwrap();
        assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    }

    pub(crate) fn close(&mut self) {
        self.engine().close().unwrap();
        self.engine = None;
    }

    pub(crate) fn start(&mut self) {
        self.engine = Some(open(&self.dir));
    }
}

/// Opens an engine for this sweep.
pub(crate) fn open(dir: &Path) -> Engine {
    let kept = TierRetention { raw: KEPT, minute: KEPT, five_minutes: KEPT, hour: KEPT, day: KEPT };
    let options = Options {
        clock: Clock::manual(NOW),
        series_per_metric: usize::MAX,
        tag_keys_per_metric: usize::MAX,
        series_total: usize::MAX,
        query_groups: usize::MAX,
        query_bytes: 4 << 30,
        // Seals happen only when the sweep requests them.
        head_bytes: 4 << 30,
        retention: Retention { default: kept, ..Retention::default() },
        event_retention: KEPT,
        ..options()
    };
    Engine::open(dir, options).unwrap()
}
