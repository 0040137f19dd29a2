//! How the service of a history is opened.

use std::time::Duration;

use telltale_engine::{Clock, Durability, Engine, Maintenance, Options, Result};
use telltale_server::config::Config;
use telltale_server::jobs::JobsSettings;
use telltale_server::platform::settings::{FromZero, Period};
use telltale_simulation::{Disk, Random};

/// Options derived from a seed.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) head_bytes: usize,
    pub(crate) lease_ms: i64,
    pub(crate) silence_ms: i64,
}

/// The data directory on the simulated disk.
pub(crate) const DATA: &str = "data";

impl Setup {
    pub(crate) fn of(random: &mut Random) -> Self {
        Self {
            head_bytes: *random.pick(&[32 << 20, 32 << 20, 64 << 10]),
            lease_ms: *random.pick(&[1_000, 50_000, 1_800_000]),
            silence_ms: *random.pick(&[4_000, 60_000, 60_000]),
        }
    }

    /// Opens the engine on a disk.
    pub(crate) fn open(&self, disk: &Disk, clock: &Clock) -> Result<Engine> {
        let options = Options {
            durability: Durability::Sync,
            clock: clock.clone(),
            head_bytes: self.head_bytes,
            cache_bytes: 8 << 20,
            event_cache_bytes: 4 << 20,
            disk_free_bytes: 0,
            threads: 2,
            maintenance: Maintenance::Manual,
            ..Options::default()
        };
        let engine = Engine::open(&disk.root().join(DATA), options)?;
        // A server records the time when it starts. With manual maintenance nothing else does so
        // before the first seal, and the next start would trust any clock.
        engine.persist_trusted_time()?;
        Ok(engine)
    }

    /// Returns the configuration of the server: finished jobs are kept for the whole history, and
    /// retries have no jitter. Dead jobs have the default retention, which no history reaches,
    /// however far its clock jumps.
    pub(crate) fn config(&self) -> Config {
        let jobs = JobsSettings {
            lease: Period::from(Duration::from_millis(self.lease_ms.unsigned_abs())),
            worker_silence: Period::from(Duration::from_millis(self.silence_ms.unsigned_abs())),
            retry_jitter_seconds: FromZero(0),
            finished_keep: Period::from(Duration::MAX),
            ..JobsSettings::default()
        };
        Config { jobs, ..Config::default() }
    }
}
