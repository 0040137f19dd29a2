//! The steps on jobs. Numbers select among what exists.

/// The queues of all histories.
pub(crate) const QUEUES: [&str; 3] = ["urgent", "default", "low"];

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Enqueues a job.
    Enqueue(NewJob),
    /// Enqueues jobs together, with a receipt.
    EnqueueAll(Vec<NewJob>, Option<u128>),
    Delete(u64),
    Register(Vec<usize>),
    Heartbeat(u64),
    Deregister(u64),
    Fetch {
        worker: u64,
        limit: u32,
    },
    /// Fetches, and disconnects before the reply.
    FetchAndGo {
        worker: u64,
        limit: u32,
    },
    /// Waits for a job while one is enqueued.
    Await {
        worker: u64,
        new: NewJob,
    },
    Ack {
        job: u64,
        stale: bool,
    },
    Fail {
        job: u64,
        stale: bool,
    },
    Extend {
        job: u64,
        seconds: u32,
    },
    Purge(usize),
    Pause(usize),
    Resume(usize),
    /// Retries a dead job.
    RetryDead(u64),
    /// Deletes a dead job.
    DeleteDead(u64),
    /// Writes the history.
    WriteHistory,
    /// Trims dead jobs that are too old.
    Trim,
    /// Blocks the ledger for milliseconds, as a slow disk does, and then sends the heartbeat of a
    /// worker.
    Stall {
        worker: u64,
        ms: u64,
    },
}

/// A job to enqueue.
#[derive(Clone, Debug)]
pub(crate) struct NewJob {
    /// Identifies the job, and its retries after death.
    pub(crate) name: u32,
    pub(crate) queue: usize,
    /// Milliseconds until it may start.
    pub(crate) in_ms: i64,
    pub(crate) max_attempts: u16,
    pub(crate) unique: Option<u8>,
    pub(crate) timeout_s: Option<u32>,
    /// The size of its arguments in bytes.
    pub(crate) bytes: u16,
}

impl NewJob {
    pub(crate) fn class(&self) -> String {
        format!("Job{}", self.name)
    }

    pub(crate) fn arguments(&self) -> String {
        format!(r#"{{"of":{},"text":"{}"}}"#, self.name, "x".repeat(self.bytes.into()))
    }
}
