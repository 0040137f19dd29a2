//! Opening and closing the ledger, and sending requests to it.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use telltale_engine::{Clock, Engine, TimestampMs};
use tokio::sync::oneshot;

use crate::jobs::error::JobsError;
use crate::jobs::figures::LedgerFigures;
use crate::jobs::history::{self, History, HistoryRecorder};
use crate::jobs::ledger::{Change, Command, Ledger, Query};
use crate::jobs::pace::Pace;
use crate::jobs::settings::JobsSettings;
use crate::jobs::state::{Cycle, State};
use crate::jobs::waiting::{ReturnedJobs, Waiters};
use crate::limits;
use crate::platform::ids::Ids;
use crate::platform::random;
use crate::platform::ticks::Ticks;
use crate::platform::waiting_requests::{WaitPermit, WaitingRequests};

/// The jobs of a server. When dropped, the ledger ends after the commands it was sent.
#[derive(Debug)]
pub struct Jobs {
    pub(super) engine: Engine,
    pub(super) clock: Clock,
    pub(super) ids: Arc<Ids>,
    pub(super) settings: JobsSettings,
    ticks: Ticks,
    recorder: Arc<HistoryRecorder>,
    figures: Arc<LedgerFigures>,
    ledger: SyncSender<Command>,
    waiting_fetches: Arc<WaitingRequests>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The reply to a request.
type Answer<T> = oneshot::Receiver<Result<T, JobsError>>;

impl Jobs {
    /// Loads the jobs of `engine` and starts their ledger. Corrupt records are logged and skipped.
    /// Blocks: a million jobs take a second or two.
    pub fn open(
        engine: Engine,
        clock: Clock,
        ticks: Ticks,
        ids: Arc<Ids>,
        settings: JobsSettings,
    ) -> Result<Self, JobsError> {
        let seed = random::bytes().map_err(|error| JobsError::Failed(error.to_string()))?;
        let seed = u64::from_le_bytes(seed);
        let now = Ledger::now(&engine, &clock, &ticks);
        let mut state = State::load(&engine, settings, Arc::clone(&ids), seed, now)?.into_state();
        // Bulk operations end at the id that is next when they start.
        ids.continue_after(state.greatest_id());
        let figures = Arc::new(LedgerFigures::default());
        figures.show(&mut state);
        let (ledger, commands) = sync_channel(limits::LEDGER_QUEUE_MAX);
        let recorder = Arc::new(HistoryRecorder::default());
        let thread = Ledger {
            engine: engine.clone(),
            settings,
            ids: Arc::clone(&ids),
            clock: clock.clone(),
            ticks: ticks.clone(),
            seed,
            recorder: Arc::clone(&recorder),
            returns: Arc::new(ReturnedJobs::new(ledger.clone())),
            commands,
            state: Some(state),
            waiters: Waiters::default(),
            unreadable: Vec::new(),
            is_reloaded: false,
            pace: Pace::new(now),
            may_wait: true,
            is_stopping: false,
            figures: Arc::clone(&figures),
        };
        let thread = std::thread::Builder::new()
            .name("telltale-jobs".to_owned())
            .spawn(move || thread.run())
            .map_err(|error| JobsError::Failed(format!("starting the ledger: {error}")))?;
        let thread = Mutex::new(Some(thread));
        let (max, max_per_key) = (settings.waiting_fetches_max, settings.key_waiting_fetches_max);
        let waiting_fetches = Arc::new(WaitingRequests::new(max, max_per_key));
        Ok(Self {
            engine,
            clock,
            ids,
            settings,
            ticks,
            recorder,
            figures,
            ledger,
            waiting_fetches,
            thread,
        })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &JobsSettings {
        &self.settings
    }

    /// Returns the figures of the ledger.
    pub fn figures(&self) -> &LedgerFigures {
        &self.figures
    }

    /// Returns a permit for a fetch of this key to wait, unless a limit is reached.
    pub fn permit_wait(&self, key: &str) -> Option<WaitPermit> {
        self.waiting_fetches.permit(key)
    }

    /// Returns the number of fetches that wait with a permit.
    pub fn fetches_waiting(&self) -> usize {
        self.waiting_fetches.count()
    }

    /// Returns the wall clock time.
    pub fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Returns how long the jobs have been open, on the monotonic clock.
    pub fn uptime(&self) -> Duration {
        self.ticks.elapsed()
    }

    /// Returns the history up to now.
    pub fn history(&self) -> History<'_> {
        History { engine: &self.engine, now: self.clock.now() }
    }

    /// Writes pending counts to the history. Blocks.
    pub fn write_history(&self, now: TimestampMs) -> telltale_engine::Result<()> {
        self.recorder.write(&self.engine, now)
    }

    /// Writes the current state of queues and workers to the history. Blocks.
    pub fn sample(&self, now: TimestampMs) -> Result<(), JobsError> {
        let query =
            self.send_query(|state, now| Ok((state.queue_views(now), state.worker_views())))?;
        let (queues, workers) = query.blocking_recv().unwrap_or_else(|_| Err(no_response()))?;
        Ok(history::sample(&self.engine, &queues, &workers, now)?)
    }

    /// Ends all waiting fetches; none waits from now on. Called when the server stops.
    pub fn end_waits(&self) {
        // A ledger that has ended has no waiting fetches.
        drop(self.ledger.send(Command::EndWaits));
    }

    /// Ends the ledger after the commands it was sent. Afterwards everything is refused as
    /// unavailable. Blocks.
    pub fn close(&self) {
        if let Some(thread) = self.thread.lock().take() {
            drop(self.ledger.send(Command::Stop));
            // The thread catches its panics.
            drop(thread.join());
        }
    }

    /// Runs a query on the durable state.
    pub(super) async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&State, TimestampMs) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        let answer = self.send_query(query)?;
        answer.await.unwrap_or_else(|_| Err(no_response()))
    }

    /// Applies a change and waits until it is durable.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut State, &mut Cycle) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        let answer = self.send_change(change)?;
        answer.await.unwrap_or_else(|_| Err(no_response()))
    }

    /// The same for threads that may block.
    pub(super) fn change_blocking<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut State, &mut Cycle) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        let answer = self.send_change(change)?;
        answer.blocking_recv().unwrap_or_else(|_| Err(no_response()))
    }

    pub(super) fn send(&self, command: Command) -> Result<(), JobsError> {
        self.ledger.try_send(command).map_err(|refused| match refused {
            TrySendError::Full(_) => JobsError::Overloaded,
            TrySendError::Disconnected(_) => no_response(),
        })
    }

    fn send_change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut State, &mut Cycle) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<Answer<T>, JobsError> {
        let (sender, answer) = oneshot::channel();
        let change: Change = Box::new(move |state, cycle| {
            let outcome = change(state, cycle);
            Box::new(move |written| {
                let outcome = written.error().map_or(outcome, Err);
                // The change remains if the caller has disconnected.
                drop(sender.send(outcome));
            })
        });
        self.send(Command::Change(change))?;
        Ok(answer)
    }

    pub(super) fn send_query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&State, TimestampMs) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<Answer<T>, JobsError> {
        let (sender, answer) = oneshot::channel();
        // The caller may have disconnected.
        let query: Query = Box::new(move |state, now| drop(sender.send(query(state, now))));
        self.send(Command::Query(query))?;
        Ok(answer)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the error for a ledger that has ended, or dropped the request.
pub(super) fn no_response() -> JobsError {
    JobsError::Unavailable("the jobs ledger does not respond".to_owned())
}
