//! The workshop: the handlers of internal work, and their concurrency.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::kind::{WorkError, WorkKind};
use super::worker::{PAUSE, Worker};
use crate::jobs::Jobs;

/// A running item.
pub(super) type Doing = Pin<Box<dyn Future<Output = Result<(), WorkError>> + Send>>;
/// The handler of a kind of work.
pub(super) struct Handler {
    /// Starts an item, given as JSON.
    pub(super) begin: Box<dyn Fn(&str) -> Doing + Send + Sync>,
    /// The timeout of an item.
    pub(super) timeout: Duration,
}

/// The handlers of all kinds of internal work.
#[derive(Default)]
pub struct WorkerPool {
    /// By class.
    handlers: HashMap<&'static str, Handler>,
    /// Concurrency, by queue.
    queues: BTreeMap<&'static str, u32>,
}

impl WorkerPool {
    /// Returns a workshop without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many items of a queue are executed concurrently; the default is one.
    #[must_use]
    pub fn queue(mut self, queue: &'static str, concurrency: u32) -> Self {
        self.queues.insert(queue, concurrency.max(1));
        self
    }

    /// Sets the handler of a kind.
    #[must_use]
    pub fn on<T, Work>(
        mut self,
        kind: &WorkKind<T>,
        work: impl Fn(T) -> Work + Send + Sync + 'static,
    ) -> Self
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        Work: Future<Output = Result<(), WorkError>> + Send + 'static,
    {
        let begin = move |arguments: &str| -> Doing {
            match serde_json::from_str::<T>(arguments) {
                Ok(item) => Box::pin(work(item)),
                Err(error) => {
                    let error = WorkError::new("InvalidArguments", error);
                    Box::pin(std::future::ready(Err(error)))
                }
            }
        };
        let timeout = Duration::from_secs(u64::from(kind.timeout_seconds));
        self.handlers.insert(kind.class, Handler { begin: Box::new(begin), timeout });
        self.queues.entry(kind.queue).or_insert(1);
        self
    }

    /// Executes items until `ending` turns true, and then finishes running ones, for `drain` at
    /// most.
    pub async fn run(self, jobs: Arc<Jobs>, ending: watch::Receiver<bool>, drain: Duration) {
        let handlers = Arc::new(self.handlers);
        let mut workers = JoinSet::new();
        for (queue, concurrency) in self.queues {
            let (jobs, handlers) = (Arc::clone(&jobs), Arc::clone(&handlers));
            let ending = ending.clone();
            let make = move || Worker::new(queue, concurrency, &jobs, &handlers);
            workers.spawn(keep_working(queue, make, ending, drain));
        }
        while workers.join_next().await.is_some() {}
    }
}

/// Runs a worker, and a new one if it dies. The ledger then considers the old one dead and returns
/// its jobs.
async fn keep_working(
    queue: &'static str,
    make: impl Fn() -> Worker,
    mut ending: watch::Receiver<bool>,
    drain: Duration,
) {
    loop {
        let working = tokio::spawn(make().run(ending.clone(), drain));
        match working.await {
            Ok(()) => return,
            Err(died) => {
                tracing::error!(queue, %died, "an internal worker died; starting another")
            }
        }
        tokio::select! {
            // A closed channel also means the end.
            _ = ending.wait_for(|end| *end) => return,
            () = sleep(PAUSE) => {}
        }
    }
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workshop")
            .field("classes", &self.handlers.keys())
            .field("queues", &self.queues)
            .finish()
    }
}
