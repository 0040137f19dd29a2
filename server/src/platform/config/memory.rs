//! How the memory of the process is shared out: what the settings leave open follows from `memory.limit`, and that from the machine.

use super::error::{ConfigError, Origin};
use super::settings::Config;
use super::value::Size;

/// Where nothing is set, the process takes half of the machine, within these.
const LIMIT_MIN: u64 = 256 << 20;
const LIMIT_MAX: u64 = 2 << 30;
/// What a large, a small or a little part takes where it is not set, of the whole and at most.
const LARGE: (u64, u64) = (4, 512 << 20);
const SMALL: (u64, u64) = (8, 256 << 20);
const LITTLE: (u64, u64) = (16, 128 << 20);

/// Bytes that each part may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// New data, while a part of it is being sealed.
    heads: u64,
}

impl MemoryPlan {
    /// The plan for a machine with so much memory.
    pub fn of(config: &Config, machine_bytes: u64) -> Self {
        let limit = config.memory.limit.bytes_or((machine_bytes / 2).clamp(LIMIT_MIN, LIMIT_MAX));
        let [large, small, little] =
            [LARGE, SMALL, LITTLE].map(|(share, max)| (limit / share).min(max));
        let (storage, metrics) = (&config.storage, &config.metrics);
        Self {
            limit,
            cache: storage.cache_bytes.bytes_or(small),
            event_cache: storage.event_cache_bytes.bytes_or(large),
            query: metrics.query_bytes.bytes_or(large),
            merge: metrics.merge_bytes.bytes_or(little),
            bodies: config.bodies.in_flight.bytes_or(small),
            jobs_waiting: config.jobs.waiting_bytes_max.bytes_or(large),
            heads: storage.head_bytes.bytes().saturating_mul(2),
        }
    }

    /// Refuses a plan whose fixed parts leave less than three eighths to everything else.
    pub(super) fn check(&self, origin: Origin) -> Result<(), ConfigError> {
        let fixed = self.cache.saturating_add(self.event_cache).saturating_add(self.heads);
        let left = self.limit / 8 * 3;
        if fixed <= self.limit - left {
            return Ok(());
        }
        let limit = self.limit;
        Err(ConfigError::Invalid {
            key: "memory.limit".to_owned(),
            origin,
            reason: format!(
                "of {limit} bytes, storage.cache_bytes, storage.event_cache_bytes and twice storage.head_bytes take {fixed}, which leaves \
                 less than {left} to everything else: raise it or lower them"
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
