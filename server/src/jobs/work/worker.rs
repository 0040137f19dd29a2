//! A worker in this process.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

use super::kind::{SPARE_SECONDS, WorkError};
use super::worker_pool::Handler;
use crate::jobs::{
    HeartbeatReply, HeldJob, InvalidJob, Jobs, JobsError, NewWorker, QueueName, Registered,
    WorkerId, WorkerStatus, WorkerUsage,
};
use crate::platform::process::{self, CpuMeter};

/// How long a fetch waits for jobs before it is repeated.
const WAIT: Duration = Duration::from_secs(30);
/// How long the worker waits after an error of the ledger.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// What remains of a lease when an item times out.
const SPARE: Duration = Duration::from_secs(SPARE_SECONDS as u64);

/// A worker of one queue.
pub(super) struct Worker {
    queue: &'static str,
    concurrency: u32,
    jobs: Arc<Jobs>,
    handlers: Arc<HashMap<&'static str, Handler>>,
    meter: CpuMeter,
}

/// The id and status of the registered worker.
#[derive(Clone, Copy, Debug)]
struct RegisteredWorker {
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

    /// Executes jobs until `ending` turns true or the worker is stopped; then finishes running
    /// jobs, for `drain` at most, and returns the rest.
    pub(super) async fn run(mut self, mut ending: watch::Receiver<bool>, drain: Duration) {
        let mut running = JoinSet::new();
        let Some(mut registered) = self.register_until(&mut ending).await else { return };
        let beat = Duration::from_secs_f64(self.jobs.settings().heartbeat_seconds());
        let mut beats = interval(beat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while registered.status != WorkerStatus::Stopping {
            let busy = u32::try_from(running.len()).unwrap_or(u32::MAX);
            let free = self.concurrency.saturating_sub(busy);
            let may_fetch = free > 0 && registered.status == WorkerStatus::Active;
            tokio::select! {
                () = ended(&mut ending) => break,
                _ = beats.tick() => registered = self.beat(registered, running.len()).await,
                Some(ended) = running.join_next(), if !running.is_empty() => log_panic(ended),
                fetched = self.jobs.fetch(registered.id, free, WAIT), if may_fetch => match fetched {
                    // No jobs for long, or none allowed: the heartbeat reports the status.
                    Ok(granted) if granted.jobs().is_empty() => {
                        registered = self.beat(registered, running.len()).await;
                    }
                    Ok(granted) => self.begin(granted.keep(), &mut running),
                    Err(JobsError::WorkerNotFound(_)) => registered = self.beat(registered, 0).await,
                    Err(error) => {
                        tracing::debug!(%error, queue = self.queue, "an internal worker cannot fetch jobs");
                        sleep(PAUSE).await;
                    }
                },
            }
        }
        self.leave(registered.id, running, beats, ending, drain).await;
    }

    /// Registers, retrying until it succeeds. Returns `None` if the server ends before.
    async fn register_until(&self, ending: &mut watch::Receiver<bool>) -> Option<RegisteredWorker> {
        loop {
            match self.register().await {
                Ok(known) => {
                    return Some(RegisteredWorker { id: known.id, status: WorkerStatus::Active });
                }
                Err(error) => {
                    tracing::warn!(%error, queue = self.queue, "an internal worker cannot register");
                }
            }
            tokio::select! {
                () = ended(ending) => return None,
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

    /// Sends a heartbeat and returns the resulting state. Registers again if the ledger does not
    /// know the worker any more.
    async fn beat(&mut self, registered: RegisteredWorker, running: usize) -> RegisteredWorker {
        match self.send_heartbeat(registered.id, running).await {
            Ok(heard) => RegisteredWorker { status: heard.status, ..registered },
            Err(JobsError::WorkerNotFound(_)) => match self.register().await {
                Ok(known) => RegisteredWorker { id: known.id, status: WorkerStatus::Active },
                Err(error) => {
                    tracing::warn!(%error, queue = self.queue, "an internal worker cannot register");
                    registered
                }
            },
            // The next heartbeat tries again.
            Err(error) => {
                tracing::debug!(%error, queue = self.queue, "an internal worker cannot send a heartbeat");
                registered
            }
        }
    }

    async fn send_heartbeat(
        &mut self,
        id: WorkerId,
        running: usize,
    ) -> Result<HeartbeatReply, JobsError> {
        let memory = process::resident_bytes().map(|bytes| bytes as f64 / f64::from(1 << 20));
        let vitals = WorkerUsage {
            busy_threads: u32::try_from(running).ok(),
            memory_mb: memory,
            cpu_percent: self.meter.percent(self.jobs.uptime()),
        };
        self.jobs.heartbeat(id, vitals).await
    }

    fn begin(&self, held: Vec<HeldJob>, running: &mut JoinSet<()>) {
        for job in held {
            let (jobs, handlers) = (Arc::clone(&self.jobs), Arc::clone(&self.handlers));
            running.spawn(async move { work(&jobs, &handlers, job).await });
        }
    }

    /// Finishes running jobs, if there is time, and leaves; the rest returns to the queue. If the
    /// worker was stopped by a user, the time is limited only by the end of the server.
    async fn leave(
        &mut self,
        id: WorkerId,
        mut running: JoinSet<()>,
        mut beats: Interval,
        mut ending: watch::Receiver<bool>,
        drain: Duration,
    ) {
        let mut out_of_time = pin!(async {
            ended(&mut ending).await;
            sleep(drain).await;
        });
        while !running.is_empty() {
            tokio::select! {
                () = &mut out_of_time => break,
                Some(ended) = running.join_next() => log_panic(ended),
                // Without heartbeats its running jobs would be lost.
                _ = beats.tick() => if let Err(error) = self.send_heartbeat(id, running.len()).await {
                    tracing::debug!(%error, queue = self.queue, "an internal worker cannot send a heartbeat");
                },
            }
        }
        running.shutdown().await;
        if let Err(error) = self.jobs.deregister(id).await {
            tracing::debug!(%error, queue = self.queue, "an internal worker was already removed");
        }
    }
}

/// Logs the panic of a job outside its handler, whose own panics are caught.
fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "an internal worker did not end a job, whose lease will expire");
    }
}

/// Waits until the server ends. A closed channel also means the end.
async fn ended(ending: &mut watch::Receiver<bool>) {
    drop(ending.wait_for(|end| *end).await);
}

/// Executes a job and reports the result. The report fails if the lease was lost meanwhile.
async fn work(jobs: &Jobs, handlers: &HashMap<&'static str, Handler>, job: HeldJob) {
    let outcome = attempt(handlers, &job).await;
    let heard = match &outcome {
        Ok(()) => jobs.ack(job.id, Some(job.token)).await,
        Err(error) => {
            tracing::warn!(job = %job.id, class = %job.class, attempt = job.attempt, %error, "work failed");
            jobs.fail(job.id, Some(job.token), error.report()).await.map(drop)
        }
    };
    if let Err(error) = heard {
        tracing::warn!(job = %job.id, class = %job.class, %error, "work ended, but its result could not be reported");
    }
}

async fn attempt(
    handlers: &HashMap<&'static str, Handler>,
    job: &HeldJob,
) -> Result<(), WorkError> {
    let Some(handler) = handlers.get(&*job.class) else {
        let message = format!("no handler for {} in this process", job.class);
        return Err(WorkError::new("UnknownClass", message));
    };
    // By the length of the lease, because the wall clock may have changed since the grant.
    let held = Duration::from_millis(job.lease_ms.unsigned_abs());
    // Other clients may enqueue such jobs with leases that have no spare time.
    let may_take = handler.timeout.min(held.saturating_sub(SPARE).max(held / 2));
    let doing = AssertUnwindSafe((handler.begin)(&job.arguments)).catch_unwind();
    match timeout(may_take, doing).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(WorkError::new("Panic", "it panicked; see the log")),
        Err(_) => Err(WorkError::new("TimedOut", "it exceeded its timeout")),
    }
}
