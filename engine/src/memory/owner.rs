//! The owners of memory.

/// An owner of memory in the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOwner {
    /// Samples, events and receipts that are not in blocks yet, and the queue of the write-ahead
    /// log: counted with the largest size they may have.
    Heads,
    /// Metrics, series, tags and last cumulative values.
    Registry,
    /// Metadata of blocks.
    Catalog,
    /// The caches of the database and of event columns: counted with the largest size they may
    /// have.
    Caches,
    /// Queries in progress.
    Queries,
    /// Compactions in progress.
    Merges,
    /// Bodies of requests, as received and decompressed.
    Bodies,
    /// Responses that are not sent yet.
    Answers,
    /// Open connections, estimated.
    Connections,
    /// Waiting jobs.
    Jobs,
    /// Error groups and their sets of users.
    Errors,
    /// Alert rules, alerts and messages about them.
    Alerts,
    /// Monitors and status pages.
    Status,
    /// Snapshots, baselines and comparisons, without their images.
    Snapshots,
    /// Repositories, and those of their indexes that are in memory.
    Repositories,
    /// Syncs of repositories in progress.
    Syncs,
    /// Memory of the process beyond what the other owners count: its code, freed memory that the
    /// allocator keeps, and errors of estimates.
    Uncounted,
}

impl MemoryOwner {
    /// All owners.
    pub const ALL: [Self; 17] = [
        Self::Heads,
        Self::Registry,
        Self::Catalog,
        Self::Caches,
        Self::Queries,
        Self::Merges,
        Self::Bodies,
        Self::Answers,
        Self::Connections,
        Self::Jobs,
        Self::Errors,
        Self::Alerts,
        Self::Status,
        Self::Snapshots,
        Self::Repositories,
        Self::Syncs,
        Self::Uncounted,
    ];

    /// Returns the name used in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Heads => "heads",
            Self::Registry => "registry",
            Self::Catalog => "catalog",
            Self::Caches => "caches",
            Self::Queries => "queries",
            Self::Merges => "merges",
            Self::Bodies => "bodies",
            Self::Answers => "answers",
            Self::Connections => "connections",
            Self::Jobs => "jobs",
            Self::Errors => "errors",
            Self::Alerts => "alerts",
            Self::Status => "status",
            Self::Snapshots => "snapshots",
            Self::Repositories => "repositories",
            Self::Syncs => "syncs",
            Self::Uncounted => "uncounted",
        }
    }

    /// Returns whether the owner is a store rather than transient memory.
    pub(super) fn is_store(self) -> bool {
        use MemoryOwner::{
            Alerts, Caches, Catalog, Errors, Heads, Jobs, Registry, Repositories, Snapshots, Status,
        };
        matches!(
            self,
            Heads
                | Registry
                | Catalog
                | Caches
                | Jobs
                | Errors
                | Alerts
                | Status
                | Snapshots
                | Repositories
        )
    }

    pub(super) fn is_query(self) -> bool {
        matches!(self, Self::Queries | Self::Answers)
    }
}
