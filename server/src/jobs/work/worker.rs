//! A worker in this process.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

use super::kind::{SPARE_SECONDS, WorkError};
use super::workshop::Handler;
use crate::jobs::{
    Heard, Holding, InvalidJob, Jobs, JobsError, NewWorker, QueueName, Registered, Vitals,
    WorkerId, WorkerStatus,
};
use crate::platform::process::{self, CpuMeter};

/// How long a fetch waits before it asks anew.
const WAIT: Duration = Duration::from_secs(30);
/// How long the worker waits after the ledger refused it.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// What is left of a lease when an item has taken too long.
const SPARE: Duration = Duration::from_secs(SPARE_SECONDS as u64);

/// A worker of one queue.
pub(super) struct Worker {
    queue: &'static str,
    concurrency: u32,
    jobs: Arc<Jobs>,
    handlers: Arc<HashMap<&'static str, Handler>>,
    meter: CpuMeter,
}

/// What the worker may do, and how it is called.
#[derive(Clone, Copy, Debug)]
struct Standing {
    id: WorkerId,
    status: WorkerStatus,
}

impl Worker {
    pub(super) fn new(
        queue: &'static str,
        concurrency: u32,
        jobs: &Arc<Jobs>,
        handlers: &Arc<HashMap<&'static str, Handler>>,
    ) -> Self {
        let (jobs, handlers) = (Arc::clone(jobs), Arc::clone(handlers));
        Self { queue, concurrency, jobs, handlers, meter: CpuMeter::default() }
    }

    /// Works until `ending` turns true or somebody tells it to stop; then ends what it has begun, for `drain` at most, and
    /// hands back the rest.
    pub(super) async fn run(mut self, mut ending: watch::Receiver<bool>, drain: Duration) {
        let mut running = JoinSet::new();
        let Some(mut standing) = self.enter(&mut ending).await else { return };
        let beat = Duration::from_secs_f64(self.jobs.settings().heartbeat_seconds());
        let mut beats = interval(beat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while standing.status != WorkerStatus::Stopping {
            let free = self.concurrency.saturating_sub(u32::try_from(running.len()).unwrap_or(0));
            let may_fetch = free > 0 && standing.status == WorkerStatus::Active;
            tokio::select! {
                () = told(&mut ending) => break,
                _ = beats.tick() => standing = self.beat(standing, running.len()).await,
                Some(_) = running.join_next(), if !running.is_empty() => {}
                fetched = self.jobs.fetch(standing.id, free, WAIT), if may_fetch => match fetched {
                    // Nothing came for long, or it may have nothing: it hears which.
                    Ok(granted) if granted.jobs().is_empty() => {
                        standing = self.beat(standing, running.len()).await;
                    }
                    Ok(granted) => self.begin(granted.keep(), &mut running),
                    Err(JobsError::WorkerNotFound(_)) => standing = self.beat(standing, 0).await,
                    Err(error) => {
                        tracing::debug!(%error, queue = self.queue, "no jobs for a worker of this process");
                        sleep(PAUSE).await;
                    }
                },
            }
        }
        self.leave(standing.id, running, beats, ending, drain).await;
    }

    /// Registers, however long that takes; none when the server ends before.
    async fn enter(&self, ending: &mut watch::Receiver<bool>) -> Option<Standing> {
        loop {
            match self.register().await {
                Ok(known) => return Some(Standing { id: known.id, status: WorkerStatus::Active }),
                Err(error) => {
                    tracing::warn!(%error, queue = self.queue, "a worker of this process is not registered");
                }
            }
            tokio::select! {
                () = told(ending) => return None,
                () = sleep(PAUSE) => {}
            }
        }
    }

    async fn register(&self) -> Result<Registered, JobsError> {
        let queue = QueueName::own(self.queue).map_err(|_| InvalidJob::Queues)?;
        let about = NewWorker {
            hostname: process::hostname().into(),
            pid: Some(std::process::id()),
            queues: vec![queue],
            concurrency: self.concurrency,
        };
        self.jobs.register(about).await
    }

    /// Says how it is doing, and hears what it may do. Whoever was forgotten begins anew.
    async fn beat(&mut self, standing: Standing, running: usize) -> Standing {
        match self.tell_vitals(standing.id, running).await {
            Ok(heard) => Standing { status: heard.status, ..standing },
            Err(JobsError::WorkerNotFound(_)) => match self.register().await {
                Ok(known) => Standing { id: known.id, status: WorkerStatus::Active },
                Err(_) => standing,
            },
            Err(_) => standing,
        }
    }

    async fn tell_vitals(&mut self, id: WorkerId, running: usize) -> Result<Heard, JobsError> {
        let memory = process::resident_bytes().map(|bytes| bytes as f64 / f64::from(1 << 20));
        let vitals = Vitals {
            busy_threads: u32::try_from(running).ok(),
            memory_mb: memory,
            cpu_percent: self.meter.percent(self.jobs.uptime()),
        };
        self.jobs.heartbeat(id, vitals).await
    }

    fn begin(&self, held: Vec<Holding>, running: &mut JoinSet<()>) {
        for job in held {
            let (jobs, handlers) = (Arc::clone(&self.jobs), Arc::clone(&self.handlers));
            running.spawn(async move { work(&jobs, &handlers, job).await });
        }
    }

    /// Ends what was begun, if there is time, and leaves: what is held then goes to others. Told to stop by somebody, it has
    /// all the time it needs, until the server ends.
    async fn leave(
        &mut self,
        id: WorkerId,
        mut running: JoinSet<()>,
        mut beats: Interval,
        mut ending: watch::Receiver<bool>,
        drain: Duration,
    ) {
        let mut out_of_time = pin!(async {
            told(&mut ending).await;
            sleep(drain).await;
        });
        while !running.is_empty() {
            tokio::select! {
                () = &mut out_of_time => break,
                Some(_) = running.join_next() => {}
                // Unheard, it would lose what it ends just now.
                _ = beats.tick() => if let Err(error) = self.tell_vitals(id, running.len()).await {
                    tracing::debug!(%error, queue = self.queue, "a worker of this process is not heard");
                },
            }
        }
        running.shutdown().await;
        if let Err(error) = self.jobs.deregister(id).await {
            tracing::debug!(%error, queue = self.queue, "a worker of this process is gone already");
        }
    }
}

/// Waits until the server ends. A sender that is gone means the same as being told.
async fn told(ending: &mut watch::Receiver<bool>) {
    drop(ending.wait_for(|end| *end).await);
}

/// Does one job, and tells what became of it. A job that was lost meanwhile is nobody's to tell of.
async fn work(jobs: &Jobs, handlers: &HashMap<&'static str, Handler>, job: Holding) {
    let outcome = attempt(handlers, &job).await;
    let heard = match &outcome {
        Ok(()) => jobs.ack(job.id, Some(job.token)).await,
        Err(error) => {
            tracing::warn!(job = %job.id, class = %job.class, attempt = job.attempt, %error, "work failed");
            jobs.fail(job.id, Some(job.token), error.report()).await.map(drop)
        }
    };
    if let Err(error) = heard {
        tracing::warn!(job = %job.id, class = %job.class, %error, "work ended and could not be told");
    }
}

async fn attempt(
    handlers: &HashMap<&'static str, Handler>,
    job: &Holding,
) -> Result<(), WorkError> {
    let Some(handler) = handlers.get(&*job.class) else {
        let message = format!("nothing in this process does {}", job.class);
        return Err(WorkError::new("UnknownClass", message));
    };
    // Not by the time of day, which may have been set since: the job was handed out a moment ago.
    let held = Duration::from_millis(u64::try_from(job.lease_ms).unwrap_or(0));
    // Whoever else enqueues such jobs knows nothing of the spare.
    let may_take = handler.timeout.min(held.saturating_sub(SPARE).max(held / 2));
    let doing = AssertUnwindSafe((handler.begin)(&job.arguments)).catch_unwind();
    match timeout(may_take, doing).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(WorkError::new("Panic", "it panicked; the log says where")),
        Err(_) => Err(WorkError::new("TimedOut", "it took longer than it may")),
    }
}
