//! How the memory of the process is shared out: what the settings leave open follows from `memory.limit`, and that from the machine.

use super::error::{ConfigError, Origin};
use super::settings::Config;
use super::value::Size;

/// Where nothing is set, the process takes half of the machine, within these.
const LIMIT_MIN: u64 = 256 << 20;
const LIMIT_MAX: u64 = 2 << 30;
/// What a part takes where it is not set: one of so many of the whole, and at most so many bytes.
const QUERY: (u64, u64) = (4, 512 << 20);
const EVENT_CACHE: (u64, u64) = (8, 512 << 20);
const CACHE: (u64, u64) = (8, 256 << 20);
const BODIES: (u64, u64) = (8, 256 << 20);
const MERGE: (u64, u64) = (16, 128 << 20);
const HEAD: (u64, u64) = (16, 32 << 20);
/// The least head that is worth a seal.
const HEAD_MIN: u64 = 8 << 20;
/// New data, caches and jobs take one of so many of the whole together: jobs take what the others leave of it, within these.
const LASTING: u64 = 2;
const JOBS_SHARE_MIN: u64 = 16;
const JOBS_MAX: u64 = 512 << 20;
/// The head is there twice while one of the two is sealed.
const HEADS: u64 = 2;
/// Pages of times are cached in one of so many of the cache of blocks, beside it.
const TIMES_CACHE: u64 = 8;

/// Bytes that each part may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// All of it.
    pub limit: u64,
    /// The cache of blocks read from disk.
    pub cache: u64,
    /// The cache of decoded columns of events.
    pub event_cache: u64,
    /// One query.
    pub query: u64,
    /// A merge of blocks.
    pub merge: u64,
    /// Bodies of requests in flight.
    pub bodies: u64,
    /// Jobs that wait.
    pub jobs_waiting: u64,
    /// New data before it is sealed.
    pub head: u64,
}

impl MemoryPlan {
    /// The plan for a machine with so much memory.
    pub fn of(config: &Config, machine_bytes: u64) -> Self {
        let limit = config.memory.limit.bytes_or((machine_bytes / 2).clamp(LIMIT_MIN, LIMIT_MAX));
        let part = |(share, max): (u64, u64)| (limit / share).min(max);
        let (storage, metrics) = (&config.storage, &config.metrics);
        let plan = Self {
            limit,
            cache: storage.cache_bytes.bytes_or(part(CACHE)),
            event_cache: storage.event_cache_bytes.bytes_or(part(EVENT_CACHE)),
            query: metrics.query_bytes.bytes_or(part(QUERY)),
            merge: metrics.merge_bytes.bytes_or(part(MERGE)),
            bodies: config.bodies.in_flight.bytes_or(part(BODIES)),
            head: storage.head_bytes.bytes_or(part(HEAD).max(HEAD_MIN)),
            jobs_waiting: 0,
        };
        let left = (limit / LASTING).saturating_sub(plan.fixed());
        let jobs = left.max(limit / JOBS_SHARE_MIN).min(JOBS_MAX);
        Self { jobs_waiting: config.jobs.waiting_bytes_max.bytes_or(jobs), ..plan }
    }

    /// What is taken, or may be at any time, whatever is asked: new data and caches.
    fn fixed(&self) -> u64 {
        let times = self.cache / TIMES_CACHE;
        let parts = [self.head.saturating_mul(HEADS), self.cache, times, self.event_cache];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Refuses a plan whose fixed parts leave less than three eighths to everything else.
    pub(super) fn check(&self, origin: Origin) -> Result<(), ConfigError> {
        let fixed = self.fixed();
        let left = self.limit / 8 * 3;
        if fixed <= self.limit - left {
            return Ok(());
        }
        let limit = self.limit;
        Err(ConfigError::Invalid {
            key: "memory.limit".to_owned(),
            origin,
            reason: format!(
                "of {limit} bytes, storage.cache_bytes and an eighth of it, storage.event_cache_bytes and twice storage.head_bytes take \
                 {fixed}, which leaves less than {left} to everything else: raise it or lower them"
            ),
        })
    }
}

impl Size {
    fn bytes_or(self, auto: u64) -> u64 {
        match self {
            Self::Auto => auto,
            Self::Bytes(size) => size.bytes(),
        }
    }
}
