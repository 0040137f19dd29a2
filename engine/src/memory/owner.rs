//! The owners of memory.

/// Who has memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOwner {
    /// New points, events and receipts that are not in blocks yet, and what waits for the log: as much as they may take.
    Heads,
    /// Metrics, series, tags and last readings.
    Registry,
    /// What is known of blocks unread.
    Catalog,
    /// The caches of the database and of columns of events: as much as they may take.
    Caches,
    /// Questions being answered.
    Queries,
    /// Blocks being merged.
    Merges,
    /// Bodies of requests, as they came and unpacked.
    Bodies,
    /// Answers that are not sent yet.
    Answers,
    /// Open connections, by estimate.
    Connections,
    /// Jobs that wait.
    Jobs,
    /// Groups of errors and their sets of users.
    Errors,
    /// What the process takes beyond what all others say: its own program, what is freed and not given back yet, and what estimates
    /// leave out.
    Uncounted,
}

impl MemoryOwner {
    /// All of them.
    pub const ALL: [Self; 12] = [
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
        Self::Uncounted,
    ];

    /// The name, as figures carry it.
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
            Self::Uncounted => "uncounted",
        }
    }

    /// Whether what it holds is there as long as the data, or the server.
    pub(super) fn lasts(self) -> bool {
        use MemoryOwner::{Caches, Catalog, Errors, Heads, Jobs, Registry};
        matches!(self, Heads | Registry | Catalog | Caches | Jobs | Errors)
    }

    pub(super) fn is_of_a_question(self) -> bool {
        matches!(self, Self::Queries | Self::Answers)
    }
}
