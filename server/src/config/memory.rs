//! Divides the memory of the process: parts that are not set are derived from `memory.limit`, and
//! that from the machine's memory.
//!
//! Stores (new data, caches, jobs, errors, metrics with their series) take at most three quarters
//! of the limit: each has a maximum, and metrics and series may take what the others leave when all
//! of them are at their maximum. The remaining quarter is available for bodies, queries, responses,
//! connections and a compaction, no matter how much is stored. With a small limit the program
//! itself takes a considerable part, so the stores are limited further: an eighth remains for
//! requests. In MiB, with default settings:
//!
//! | | 256 MiB | 1 GiB | 2 GiB |
//! |---|---|---|---|
//! | new data, twice `storage.head_bytes` | 32 | 64 | 64 |
//! | caches, time pages included | 68 | 272 | 544 |
//! | waiting jobs | 28 | 176 | 416 |
//! | error groups and their users | 17 | 67 | 130 |
//! | metrics, series, metadata of blocks | 47 | 189 | 382 |
//! | bodies, queries, responses, connections, a compaction | 64 | 256 | 512 |
//!
//! Of the last line, a compaction takes up to a sixteenth of the limit, and connections up to a
//! quarter of it ([`limits::CONNECTIONS_SHARE`]) in the worst case: all of them are open, and their
//! clients send headers of the maximum size without completing them. Idle connections take a fifth
//! of that.

use telltale_engine::limits::MEMORY_RESERVED_FROM_DATA;

use super::sections::Config;
use crate::limits;
use crate::platform::settings::{Auto, ByteSize, ConfigError, Origin, settings_section};

settings_section! {
    /// Memory of the process.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "memory" MemorySettings {
        /// Limit of the memory of the whole process, not counting the overhead of the allocator.
        /// Beyond it, queries, bodies and responses are refused with 503 `overloaded` until memory
        /// is released. New data, caches, jobs, errors, metrics and series together take at most
        /// three quarters of it: settings that would leave less than a sixteenth to metrics and
        /// series are refused at start, and new series are refused when three quarters are in use.
        /// Workers that fetch and finish jobs, and deletions, may exceed the limit by up to 8 MiB.
        /// `auto` is half of the memory of the machine, or of its control group if that is less, at
        /// least 256 MiB and at most 2 GiB.
        limit: Auto<ByteSize> = "auto";
    }
}

/// The memory of a machine that does not report it.
pub(super) const MACHINE_BYTES_ASSUMED: u64 = 4 << 30;
/// The default limit is half of the machine's memory, within these bounds.
const LIMIT_MIN: u64 = 256 << 20;
const LIMIT_MAX: u64 = 2 << 30;
/// The default of each part: the divisor of the limit, and the maximum in bytes.
const QUERY: (u64, u64) = (4, 512 << 20);
const EVENT_CACHE: (u64, u64) = (8, 512 << 20);
const CACHE: (u64, u64) = (8, 256 << 20);
const BODIES: (u64, u64) = (8, 256 << 20);
const MERGE: (u64, u64) = (16, 128 << 20);
const HEAD: (u64, u64) = (16, 32 << 20);
/// The smallest head that is worth sealing.
const HEAD_MIN: u64 = 8 << 20;
/// New data, caches and waiting jobs together take the limit divided by this: jobs take what the
/// others leave of it, within the following bounds.
const WITH_JOBS: u64 = 2;
const JOBS_SHARE_MIN: u64 = 16;
const JOBS_MAX: u64 = 512 << 20;
/// Error groups, in bytes, and the sets of their users.
const ERROR_GROUPS: (u64, u64) = (20, limits::ERROR_GROUPS_AUTO_MAX * limits::ERROR_GROUP_BYTES);
const ERROR_USERS: (u64, u64) = (64, limits::ERROR_USERS_BYTES_MAX as u64);
/// Metrics, series and metadata of blocks get at least the limit divided by this.
const REGISTRY_SHARE_MIN: u64 = 16;
/// Memory of the program beside its stores: 30 MiB when idle for its code, threads and libraries,
/// and as much again under load for memory that the allocator retains between requests. With half
/// of it, a limit of 128 MiB was exceeded by half under attack.
const PROGRAM_BYTES: u64 = 60 << 20;
/// Stores and the program leave the limit divided by this to requests.
const REQUESTS_SHARE: u64 = 8;
/// Two heads exist while one of them is being sealed.
const HEADS: u64 = 2;
/// The cache of time pages is the block cache's size divided by this, in addition to it.
const TIMES_CACHE: u64 = 8;

/// The maximum size of each part in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// The whole process.
    pub limit: u64,
    /// The cache of blocks read from disk.
    pub cache: u64,
    /// The cache of decoded event columns.
    pub event_cache: u64,
    /// One query.
    pub query: u64,
    /// A compaction of blocks.
    pub merge: u64,
    /// Bodies of requests in progress.
    pub bodies: u64,
    /// Waiting jobs.
    pub jobs_waiting: u64,
    /// New data before it is sealed.
    pub head: u64,
    /// Error groups: their number, not bytes.
    pub error_groups: u64,
    /// The in-memory sets of the users of these groups.
    pub error_users: u64,
}

impl MemoryPlan {
    /// Returns the plan for a machine with this much memory; settings that are not `auto` are kept.
    pub fn of(config: &Config, machine_bytes: u64) -> Self {
        let limit = config.memory.limit.bytes_or((machine_bytes / 2).clamp(LIMIT_MIN, LIMIT_MAX));
        let part = |(share, max): (u64, u64)| (limit / share).min(max);
        let by_memory = || part(ERROR_GROUPS) / limits::ERROR_GROUP_BYTES;
        let (storage, metrics) = (&config.storage, &config.metrics);
        let plan = Self {
            limit,
            cache: storage.cache_bytes.bytes_or(part(CACHE)),
            event_cache: storage.event_cache_bytes.bytes_or(part(EVENT_CACHE)),
            query: metrics.query_bytes.bytes_or(part(QUERY)),
            merge: metrics.merge_bytes.bytes_or(part(MERGE)),
            bodies: config.bodies.in_flight.bytes_or(part(BODIES)),
            head: storage.head_bytes.bytes_or(part(HEAD).max(HEAD_MIN)),
            error_groups: config.errors.groups_max.set().map_or_else(by_memory, |n| n as u64),
            error_users: part(ERROR_USERS),
            jobs_waiting: 0,
        };
        let others = plan.heads().saturating_add(plan.caches());
        let left = (limit / WITH_JOBS).saturating_sub(others);
        let jobs = left.max(limit / JOBS_SHARE_MIN).min(JOBS_MAX);
        Self { jobs_waiting: config.jobs.waiting_bytes_max.bytes_or(jobs), ..plan }
    }

    /// Returns the bytes of new data: one head being sealed and the next one.
    fn heads(&self) -> u64 {
        self.head.saturating_mul(HEADS)
    }

    /// Returns the bytes of all caches.
    fn caches(&self) -> u64 {
        let times = self.cache / TIMES_CACHE;
        [self.cache, times, self.event_cache].into_iter().fold(0, u64::saturating_add)
    }

    /// Returns the bytes of error groups and the sets of their users.
    pub fn errors(&self) -> u64 {
        let groups = self.error_groups.saturating_mul(limits::ERROR_GROUP_BYTES);
        groups.saturating_add(self.error_users)
    }

    /// Returns the bytes of all stores at their maximum, with the minimum for metrics and series.
    fn stores(&self) -> u64 {
        let registry = self.limit / REGISTRY_SHARE_MIN;
        let parts = [self.heads(), self.caches(), self.jobs_waiting, self.errors(), registry];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Refuses a plan whose stores could exceed three quarters of the limit, or leave too little
    /// for the program and requests.
    pub(super) fn check(&self, origin: Origin) -> Result<(), ConfigError> {
        let (limit, stores) = (self.limit, self.stores());
        let beside_program = (limit - limit / REQUESTS_SHARE).saturating_sub(PROGRAM_BYTES);
        let most = beside_program.min(limit - limit / MEMORY_RESERVED_FROM_DATA);
        if stores <= most {
            return Ok(());
        }
        let (heads, caches, errors) = (self.heads(), self.caches(), self.errors());
        let (jobs, registry) = (self.jobs_waiting, limit / REGISTRY_SHARE_MIN);
        Err(ConfigError::Invalid {
            key: "memory.limit".to_owned(),
            origin,
            reason: format!(
                "of {limit} bytes, in-memory stores may take {most}, but could grow to {stores}: twice storage.head_bytes {heads}; \
                 storage.cache_bytes plus an eighth of it, and storage.event_cache_bytes {caches}; jobs.waiting_bytes_max {jobs}; \
                 errors.groups_max at 1 KiB each with their users {errors}; metrics and series at least {registry}; \
                 the rest is needed for the program and requests: raise the limit or lower these settings"
            ),
        })
    }
}

impl Auto<ByteSize> {
    fn bytes_or(self, auto: u64) -> u64 {
        self.set().map_or(auto, |size| size.bytes())
    }
}
