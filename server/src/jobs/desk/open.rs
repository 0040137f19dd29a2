//! Opening and closing the ledger, and the way to it.

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
use crate::jobs::ledger::{Command, Ledger, Look, Work};
use crate::jobs::pace::Pace;
use crate::jobs::settings::JobsSettings;
use crate::jobs::state::{Loaded, Round, State};
use crate::jobs::waiting::{Returns, Waiters};
use crate::jobs::waiting_fetches::{WaitPermit, WaitingFetches};
use crate::limits;
use crate::platform::ids::Ids;
use crate::platform::random;
use crate::platform::ticks::Ticks;

/// The jobs of a server. Dropped, the ledger ends after what it was given.
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
    waiting_fetches: Arc<WaitingFetches>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The answer to a command that the ledger has.
type Answer<T> = oneshot::Receiver<Result<T, JobsError>>;

impl Jobs {
    /// Reads the jobs of `engine`, and starts their ledger. Blocks: a million jobs take a second or two. What is damaged
    /// is logged and left out.
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
        let Loaded { mut state, damaged } =
            State::load(&engine, settings, Arc::clone(&ids), seed, now)?;
        for line in &damaged {
            tracing::error!(damaged = line, "a record of jobs cannot be read");
        }
        // Changes of many jobs end at the id that is next when they begin.
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
            returns: Arc::new(Returns::new(ledger.clone())),
            commands,
            state: Some(state),
            waiters: Waiters::default(),
            unreadable: Vec::new(),
            is_anew: false,
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
        let waiting_fetches = Arc::new(WaitingFetches::new(max, max_per_key));
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

    /// What an operator chose.
    pub fn settings(&self) -> &JobsSettings {
        &self.settings
    }

    /// How the ledger stands.
    pub fn figures(&self) -> &LedgerFigures {
        &self.figures
    }

    /// Lets a fetch of this key wait, unless as many wait already as may.
    pub fn permit_wait(&self, key: &str) -> Option<WaitPermit> {
        self.waiting_fetches.permit(key)
    }

    /// Fetches that wait with a permit.
    pub fn fetches_waiting(&self) -> usize {
        self.waiting_fetches.count()
    }

    /// The time of day.
    pub fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// How long the jobs have been open, on a clock that is never set.
    pub fn uptime(&self) -> Duration {
        self.ticks.elapsed()
    }

    /// The past, as of now.
    pub fn history(&self) -> History<'_> {
        History { engine: &self.engine, now: self.clock.now() }
    }

    /// Writes what happened lately into the history. Blocks.
    pub fn write_history(&self, now: TimestampMs) -> telltale_engine::Result<()> {
        self.recorder.write(&self.engine, now)
    }

    /// Writes how queues and workers stand into the history. Blocks.
    pub fn sample(&self, now: TimestampMs) -> Result<(), JobsError> {
        let look =
            self.hand_in_look(|state, now| Ok((state.queue_views(now), state.worker_views())))?;
        let (queues, workers) = look.blocking_recv().unwrap_or_else(|_| Err(unheard()))?;
        Ok(history::sample(&self.engine, &queues, &workers, now)?)
    }

    /// Whoever waits for jobs is answered, and nobody waits from now on: the server stops.
    pub fn end_waits(&self) {
        // A ledger that has ended has answered everybody.
        drop(self.ledger.send(Command::EndWaits));
    }

    /// Ends the ledger after what it was given. Blocks. Afterwards everything is refused as unavailable.
    pub fn close(&self) {
        if let Some(thread) = self.thread.lock().take() {
            drop(self.ledger.send(Command::Stop));
            // It catches its panics.
            drop(thread.join());
        }
    }

    /// Has the ledger look at what is on disk.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&State, TimestampMs) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        let answer = self.hand_in_look(look)?;
        answer.await.unwrap_or_else(|_| Err(unheard()))
    }

    /// Has the ledger do something, and waits until it is on disk.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut State, &mut Round) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        let answer = self.hand_in(work)?;
        answer.await.unwrap_or_else(|_| Err(unheard()))
    }

    /// The same for threads that may block.
    pub(super) fn ask_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut State, &mut Round) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        let answer = self.hand_in(work)?;
        answer.blocking_recv().unwrap_or_else(|_| Err(unheard()))
    }

    pub(super) fn send(&self, command: Command) -> Result<(), JobsError> {
        self.ledger.try_send(command).map_err(|refused| match refused {
            TrySendError::Full(_) => JobsError::Overloaded,
            TrySendError::Disconnected(_) => unheard(),
        })
    }

    fn hand_in<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut State, &mut Round) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<Answer<T>, JobsError> {
        let (tell, answer) = oneshot::channel();
        let work: Work = Box::new(move |state, round| {
            let outcome = work(state, round);
            Box::new(move |written| {
                let outcome = written.error().map_or(outcome, Err);
                // What was done stays done when nobody hears of it.
                drop(tell.send(outcome));
            })
        });
        self.send(Command::Work(work))?;
        Ok(answer)
    }

    fn hand_in_look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&State, TimestampMs) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<Answer<T>, JobsError> {
        let (tell, answer) = oneshot::channel();
        // Nobody minds when whoever asked has gone.
        let look: Look = Box::new(move |state, now| drop(tell.send(look(state, now))));
        self.send(Command::Look(look))?;
        Ok(answer)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.close();
    }
}

/// The ledger ended, or could not begin the round.
pub(super) fn unheard() -> JobsError {
    JobsError::Unavailable("the ledger of jobs does not answer".to_owned())
}
