//! What happens to jobs in a history. Numbers choose among what there is.

/// The queues of all histories.
pub(crate) const QUEUES: [&str; 3] = ["urgent", "default", "low"];

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Enqueues one job.
    Enqueue(NewJob),
    /// Enqueues jobs together, and a receipt with them.
    EnqueueAll(Vec<NewJob>, Option<u128>),
    Delete(u64),
    Register(Vec<usize>),
    Heartbeat(u64),
    Deregister(u64),
    Fetch {
        worker: u64,
        limit: u32,
    },
    /// Fetches, and has gone before the answer comes.
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
    /// Tries a dead job again.
    Revive(u64),
    /// Forgets a dead job.
    Forget(u64),
    /// Writes what happened into the history.
    HistoryRecorder,
    /// Forgets dead jobs that are too old.
    Trim,
    /// The ledger is held up for milliseconds, as by a slow disk, and then a worker is heard of.
    Stall {
        worker: u64,
        ms: u64,
    },
}

/// A job to be enqueued.
#[derive(Clone, Debug)]
pub(crate) struct NewJob {
    /// Names the job, and what it becomes when it comes back from the dead.
    pub(crate) name: u32,
    pub(crate) queue: usize,
    /// Milliseconds from now to when it may begin.
    pub(crate) in_ms: i64,
    pub(crate) max_attempts: u16,
    pub(crate) unique: Option<u8>,
    pub(crate) timeout_s: Option<u32>,
    /// Bytes of its arguments.
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
