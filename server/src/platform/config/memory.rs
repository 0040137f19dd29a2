//! How the memory of the process is shared out: what the settings leave open follows from `memory.limit`, and that from the machine.
//!
//! Stores (new data, caches, jobs, errors, metrics with their series) take three quarters of the limit at most: each has a maximum, and
//! metrics and series take what the others leave at their maximum. So a quarter is left for bodies, queries, answers, connections and a
//! merge whatever was stored, and nothing that was stored can keep them out for good. Of a small limit the program itself is so much that
//! stores take less: an eighth is left for requests. In MiB, where nothing is set:
//!
//! | | 256 MiB | 1 GiB | 2 GiB |
//! |---|---|---|---|
//! | new data, twice `storage.head_bytes` | 32 | 64 | 64 |
//! | caches, pages of times included | 68 | 272 | 544 |
//! | jobs that wait | 28 | 176 | 416 |
//! | groups of errors, and their users | 17 | 67 | 130 |
//! | metrics, series, what is known of blocks | 47 | 189 | 382 |
//! | bodies, queries, answers, connections, a merge | 64 | 256 | 512 |
//!
//! Of the last line a merge takes up to a sixteenth of the limit. Connections take up to a quarter of it
//! ([`limits::CONNECTIONS_SHARE`]): all of them are open then, and their clients send headers as long as they may be and do not end
//! them. Idle, they take a fifth of that.

use telltale_engine::limits::MEMORY_KEPT_FROM_DATA;

use super::auto::Auto;
use super::error::{ConfigError, Origin};
use super::settings::Config;
use super::units::ByteSize;
use crate::limits;

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
const WITH_JOBS: u64 = 2;
const JOBS_SHARE_MIN: u64 = 16;
const JOBS_MAX: u64 = 512 << 20;
/// Groups of errors, by bytes, and the sets of their users.
const ERROR_GROUPS: (u64, u64) = (20, limits::ERROR_GROUPS_AUTO_MAX * limits::ERROR_GROUP_BYTES);
const ERROR_USERS: (u64, u64) = (64, limits::ERROR_USERS_BYTES_MAX as u64);
/// What is left at least for metrics, series, and what is known of blocks.
const REGISTRY_SHARE_MIN: u64 = 16;
/// What the program takes beside its stores: 30 MiB with nothing stored for its code, its threads and what libraries have, and as much
/// again under load for what the allocator keeps between requests. With half of it, a limit of 128 MiB was exceeded by half under attack.
const PROGRAM_BYTES: u64 = 60 << 20;
/// Stores and the program leave one of so many of the whole.
const REQUESTS_SHARE: u64 = 8;
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
    /// Groups of errors: how many, not bytes.
    pub error_groups: u64,
    /// The sets of users of these groups that are in memory.
    pub error_users: u64,
}

impl MemoryPlan {
    /// The plan for a machine with so much memory.
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
            error_groups: config.errors.groups_max.set().unwrap_or_else(by_memory),
            error_users: part(ERROR_USERS),
            jobs_waiting: 0,
        };
        let others = plan.heads().saturating_add(plan.caches());
        let left = (limit / WITH_JOBS).saturating_sub(others);
        let jobs = left.max(limit / JOBS_SHARE_MIN).min(JOBS_MAX);
        Self { jobs_waiting: config.jobs.waiting_bytes_max.bytes_or(jobs), ..plan }
    }

    /// New data, while one head is sealed and the next one fills.
    fn heads(&self) -> u64 {
        self.head.saturating_mul(HEADS)
    }

    /// All caches.
    fn caches(&self) -> u64 {
        let times = self.cache / TIMES_CACHE;
        [self.cache, times, self.event_cache].into_iter().fold(0, u64::saturating_add)
    }

    /// Groups of errors and the sets of their users.
    pub fn errors(&self) -> u64 {
        let groups = self.error_groups.saturating_mul(limits::ERROR_GROUP_BYTES);
        groups.saturating_add(self.error_users)
    }

    /// What stores take at their maximum, and metrics and series at least.
    fn stores(&self) -> u64 {
        let registry = self.limit / REGISTRY_SHARE_MIN;
        let parts = [self.heads(), self.caches(), self.jobs_waiting, self.errors(), registry];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Refuses a plan whose stores may come to take more than three quarters, or than the program leaves.
    pub(super) fn check(&self, origin: Origin) -> Result<(), ConfigError> {
        let (limit, stores) = (self.limit, self.stores());
        let beside_program = (limit - limit / REQUESTS_SHARE).saturating_sub(PROGRAM_BYTES);
        let most = beside_program.min(limit - limit / MEMORY_KEPT_FROM_DATA);
        if stores <= most {
            return Ok(());
        }
        let (heads, caches, errors) = (self.heads(), self.caches(), self.errors());
        let (jobs, registry) = (self.jobs_waiting, limit / REGISTRY_SHARE_MIN);
        Err(ConfigError::Invalid {
            key: "memory.limit".to_owned(),
            origin,
            reason: format!(
                "of {limit} bytes, stores may take {most} and would take {stores}: twice storage.head_bytes {heads}; \
                 storage.cache_bytes with an eighth of it, and storage.event_cache_bytes {caches}; jobs.waiting_bytes_max {jobs}; \
                 errors.groups_max at 1 KiB each with their users {errors}; metrics and series at least {registry}; the program and requests take the rest: raise it or lower them"
            ),
        })
    }
}

impl Auto<ByteSize> {
    fn bytes_or(self, auto: u64) -> u64 {
        self.set().map_or(auto, |size| size.bytes())
    }
}
