//! The ledger: the only thread that changes jobs.
//!
//! ```text
//! commands ─▶ cycle { expire timers, apply commands, grant jobs } ─▶ one batch and sync ─▶ replies
//!                                                                    └─ failed: reload the state
//! ```
//!
//! Commands that arrive while a cycle syncs are applied by the next cycle and share its sync (group
//! commit). Until the write, nothing is read from disk except to load the state. Replies are sent
//! only after the sync, so nobody learns of a change that a crash would undo. If the write fails,
//! the callers get an error and the state is dropped; the next cycle reloads it from disk. For a
//! moment after a failure the ledger only applies commands: a timer that is due on a full disk
//! would cause endless reloads.
//!
//! Queries see the state after the write, so they are answered even if the disk is full.
//!
//! If a cycle panics, its callers get no reply, and the state is reloaded as after a failed write,
//! so that one bad command does not end all others. Jobs whose return was pending because their
//! callers had disconnected return when their leases end.
//!
//! Bodies of granted jobs are read after the sync. A job whose body is unreadable becomes dead.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use telltale_engine::{Clock, Engine, Error, TimestampMs};

use super::bodies;
use super::error::JobsError;
use super::figures::LedgerFigures;
use super::history::HistoryRecorder;
use super::model::{JobId, WorkerId};
use super::pace::{Due, Pace};
use super::settings::JobsSettings;
use super::state::{Cycle, Grant, Now, State};
use super::stored;
use super::waiting::{FetchReply, GrantedJobs, ReturnedJobs, Waiter, Waiters};
use crate::limits;
use crate::platform::ids::Ids;
use crate::platform::ticks::Ticks;

/// A change of the state; returns how to respond once it is written.
pub(super) type Change = Box<dyn FnOnce(&mut State, &mut Cycle) -> Respond + Send>;
/// A query on the durable state and the wall clock.
pub(super) type Query = Box<dyn FnOnce(&State, TimestampMs) + Send>;
/// Sends a response, given the outcome of the write.
pub(super) type Respond = Box<dyn FnOnce(&CycleWrite) + Send>;

/// A request to the ledger.
pub(super) enum Command {
    /// Change the state.
    Change(Change),
    /// Query the state.
    Query(Query),
    /// Grant jobs, or wait for some.
    Fetch { caller: FetchCaller, worker: WorkerId, limit: u32, wait: bool, reply: FetchReply },
    /// Work is due for which no caller waits.
    Wake,
    /// End all waiting fetches; no fetch waits from now on.
    EndWaits,
    /// Stop; no command follows.
    Stop,
}

/// On whose behalf jobs are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FetchCaller {
    /// A client, which cannot act for a worker of the server.
    User,
    /// The server itself.
    Server,
}

impl FetchCaller {
    fn check(self, worker: WorkerId, state: &State) -> Result<(), JobsError> {
        match self {
            Self::User => state.check_users_worker(worker),
            Self::Server => Ok(()),
        }
    }
}

/// The outcome of a cycle's write.
#[derive(Clone, Debug)]
pub(super) enum CycleWrite {
    Durable,
    /// Nothing was written; a retry may succeed.
    Refused(String),
    /// It is unknown what was written.
    Failed(String),
}

/// The state and resources of the thread.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) engine: Engine,
    pub(super) settings: JobsSettings,
    pub(super) ids: Arc<Ids>,
    pub(super) clock: Clock,
    pub(super) ticks: Ticks,
    pub(super) seed: u64,
    pub(super) recorder: Arc<HistoryRecorder>,
    pub(super) returns: Arc<ReturnedJobs>,
    pub(super) commands: Receiver<Command>,
    /// `None` after a failed write.
    pub(super) state: Option<State>,
    pub(super) waiters: Waiters,
    /// Granted jobs whose bodies cannot be read: id, token and reason.
    pub(super) unreadable: Vec<(JobId, u64, String)>,
    /// The state was reloaded: jobs may be ready of which no waiting fetch was notified.
    pub(super) is_reloaded: bool,
    pub(super) pace: Pace,
    /// Whether fetches may wait.
    pub(super) may_wait: bool,
    /// A stop was requested.
    pub(super) is_stopping: bool,
    pub(super) figures: Arc<LedgerFigures>,
}

/// What is sent once the cycle is written.
#[derive(Default)]
struct Replies {
    responses: Vec<Respond>,
    grants: Vec<(FetchReply, Vec<Grant>)>,
    queries: Vec<Query>,
}

/// The commands that a cycle took from the queue.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    commands: usize,
    /// The queue is empty.
    all: bool,
    /// The last one was `Stop`.
    stop: bool,
}

/// Work of a cycle that no command requested; repeated if the write fails.
#[derive(Debug, Default)]
struct DueWork {
    /// Whether more is due than one cycle may do.
    more: bool,
    returned: Vec<(JobId, u64)>,
    unreadable: Vec<(JobId, u64, String)>,
}

/// What follows a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextStep {
    /// Sleep this long, or until a command arrives.
    Sleep(Duration),
    End,
}

impl CycleWrite {
    /// Returns the error for the callers of the cycle, if the write failed.
    pub(super) fn error(&self) -> Option<JobsError> {
        match self {
            Self::Durable => None,
            Self::Refused(why) => Some(JobsError::Unavailable(why.clone())),
            Self::Failed(why) => Some(JobsError::Failed(why.clone())),
        }
    }
}

impl From<Result<(), Error>> for CycleWrite {
    fn from(written: Result<(), Error>) -> Self {
        match written {
            Ok(()) => Self::Durable,
            Err(error @ Error::Unavailable(_)) => Self::Refused(error.to_string()),
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Change(_) => "Change",
            Self::Query(_) => "Query",
            Self::Fetch { .. } => "Fetch",
            Self::Wake => "Wake",
            Self::EndWaits => "EndWaits",
            Self::Stop => "Stop",
        })
    }
}

impl Ledger {
    /// Returns the time on all clocks.
    pub(super) fn now(engine: &Engine, clock: &Clock, ticks: &Ticks) -> Now {
        let steady_ms = i64::try_from(ticks.elapsed().as_millis()).unwrap_or(i64::MAX);
        Now { wall: clock.now(), believed: engine.trusted_time().believed, steady_ms }
    }

    /// Runs until a stop is requested or all senders are gone.
    pub(super) fn run(mut self) {
        let mut sleep = self.pace.sleep(None);
        loop {
            let first = match self.commands.recv_timeout(sleep) {
                Ok(command) => command,
                Err(RecvTimeoutError::Timeout) => Command::Wake,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.is_stopping |= matches!(first, Command::Stop);
            match catch_unwind(AssertUnwindSafe(|| self.cycle(first))) {
                Ok(NextStep::Sleep(until)) => sleep = until,
                Ok(NextStep::End) => return,
                Err(_) if self.is_stopping => return,
                Err(_) => sleep = self.recover(),
            }
        }
    }

    /// Drops everything that a panic may have left inconsistent, waiting fetches included. Returns
    /// how long to sleep: a panic that needs no command would otherwise repeat endlessly.
    fn recover(&mut self) -> Duration {
        tracing::error!("the jobs ledger panicked; reloading its jobs");
        self.figures.count_panic();
        self.state = None;
        self.waiters = Waiters::default();
        self.unreadable.clear();
        self.pace.back_off(Self::now(&self.engine, &self.clock, &self.ticks));
        self.pace.sleep(None)
    }

    fn cycle(&mut self, first: Command) -> NextStep {
        let now = Self::now(&self.engine, &self.clock, &self.ticks);
        let Some(mut state) = self.take_state(now) else { return self.refuse(first) };
        let (mut cycle, mut replies) = (Cycle::new(now), Replies::default());
        let due = self.begin(&mut state, &mut cycle);
        let taken = self.take_commands(first, &mut state, &mut cycle, &mut replies);
        self.pace.took_commands(taken.commands, taken.all);
        self.serve_waiters(&mut state, &mut cycle, &mut replies);
        let mut due_in_ms = if due.more { Some(0) } else { state.due_in_ms(&cycle) };
        self.figures.show(&mut state);
        self.state = Some(state);
        self.write(cycle, due, replies);
        if !self.unreadable.is_empty() {
            due_in_ms = Some(0);
        }
        if taken.stop { NextStep::End } else { NextStep::Sleep(self.pace.sleep(due_in_ms)) }
    }

    /// Does what is due without a command.
    fn begin(&mut self, state: &mut State, cycle: &mut Cycle) -> DueWork {
        let more = match self.pace.begin(cycle.now) {
            Due::All => state.tick(cycle),
            Due::AllButExpiry { stalled_ms } => state.tick_without_expiry(stalled_ms, cycle),
            Due::Nothing => return DueWork::default(),
        };
        let (returned, unreadable) = (self.returns.take(), std::mem::take(&mut self.unreadable));
        if std::mem::take(&mut self.is_reloaded) {
            state.wake_ready(cycle);
        }
        for (id, token) in &returned {
            state.return_job(*id, *token, cycle);
        }
        for (id, token, reason) in &unreadable {
            state.fail_unreadable(*id, *token, reason, cycle);
        }
        DueWork { more, returned, unreadable }
    }

    /// Applies the first command and the queued ones, within the limits of a cycle.
    fn take_commands(
        &mut self,
        first: Command,
        state: &mut State,
        cycle: &mut Cycle,
        replies: &mut Replies,
    ) -> Taken {
        let mut first = Some(first);
        for commands in 0..limits::LEDGER_CYCLE_COMMANDS_MAX {
            // Receives a command only if it still fits into this cycle: received commands are
            // applied.
            let next = first.take().or_else(|| self.commands.try_recv().ok());
            let Some(command) = next else { return Taken { commands, all: true, stop: false } };
            match command {
                Command::Change(change) => replies.responses.push(change(state, cycle)),
                Command::Query(query) => replies.queries.push(query),
                Command::Fetch { caller, worker, limit, wait, reply } => {
                    match caller.check(worker, state) {
                        Ok(()) => self.fetch(worker, limit, wait, reply, state, cycle, replies),
                        Err(refused) => replies.responses.push(refusal(reply, refused)),
                    }
                }
                Command::Wake => self.waiters.prune(),
                Command::EndWaits => self.end_waits(replies),
                Command::Stop => {
                    self.is_stopping = true;
                    self.end_waits(replies);
                    return Taken { commands, all: false, stop: true };
                }
            }
            if cycle.batch.bytes() >= limits::LEDGER_CYCLE_BYTES_MAX {
                return Taken { commands: commands + 1, all: false, stop: false };
            }
        }
        Taken { commands: limits::LEDGER_CYCLE_COMMANDS_MAX, all: false, stop: false }
    }

    #[expect(clippy::too_many_arguments, reason = "a command's parts, and the cycle it belongs to")]
    fn fetch(
        &mut self,
        worker: WorkerId,
        limit: u32,
        wait: bool,
        reply: FetchReply,
        state: &mut State,
        cycle: &mut Cycle,
        replies: &mut Replies,
    ) {
        if reply.is_closed() {
            return;
        }
        state.restart_silence(worker, cycle);
        match state.reserve(worker, limit, cycle) {
            Ok(grants) if grants.is_empty() && wait && self.may_wait => {
                self.wait(worker, limit, reply, state, replies);
            }
            Ok(grants) => replies.grants.push((reply, grants)),
            Err(error) => replies.responses.push(refusal(reply, error)),
        }
    }

    fn wait(
        &mut self,
        worker: WorkerId,
        limit: u32,
        reply: FetchReply,
        state: &State,
        replies: &mut Replies,
    ) {
        let waiters_max = self.settings.waiters_max();
        self.waiters.prune_if_due(waiters_max);
        match state.serves(worker) {
            // A stopping worker must not wait.
            None => replies.grants.push((reply, Vec::new())),
            Some(_) if self.waiters.len() >= waiters_max => {
                replies.responses.push(refusal(reply, JobsError::TooManyWaiting));
            }
            Some(queues) => self.waiters.add(worker, queues, limit, reply),
        }
    }

    /// Grants jobs that became ready in this cycle to waiting fetches, first come, first served.
    fn serve_waiters(&mut self, state: &mut State, cycle: &mut Cycle, replies: &mut Replies) {
        // Fetches of restricted workers end at once.
        for worker in std::mem::take(&mut cycle.restricted) {
            let left = self.waiters.take_by_worker(worker);
            replies.grants.extend(left.map(|waiter| (waiter.reply, Vec::new())));
        }
        let mut woken = std::mem::take(&mut cycle.woken);
        woken.sort_unstable();
        woken.dedup();
        for queue in woken {
            while state.has_ready(queue) {
                let Some(waiter) = self.waiters.take_first(queue) else { break };
                let Waiter { worker, limit, reply, .. } = waiter;
                match state.reserve(worker, limit, cycle) {
                    Ok(grants) => replies.grants.push((reply, grants)),
                    Err(error) => replies.responses.push(refusal(reply, error)),
                }
            }
        }
    }

    fn end_waits(&mut self, replies: &mut Replies) {
        self.may_wait = false;
        replies.grants.extend(self.waiters.take_all().map(|waiter| (waiter.reply, Vec::new())));
    }

    fn write(&mut self, cycle: Cycle, due: DueWork, replies: Replies) {
        let Cycle { now, batch, counts, .. } = cycle;
        let written = CycleWrite::from(self.engine.records().write(batch));
        match &written {
            CycleWrite::Durable => self.recorder.note(counts),
            CycleWrite::Refused(why) | CycleWrite::Failed(why) => {
                tracing::error!(cause = why, "changes of jobs were not written; reloading them");
                self.state = None;
                self.returns.put_back(due.returned);
                self.unreadable.extend(due.unreadable);
                self.pace.back_off(Self::now(&self.engine, &self.clock, &self.ticks));
            }
        }
        for respond in replies.responses {
            respond(&written);
        }
        match written {
            CycleWrite::Durable => self.send_grants(replies.grants),
            CycleWrite::Refused(_) | CycleWrite::Failed(_) => fail_grants(replies.grants, &written),
        }
        self.run_queries(replies.queries, now);
    }

    /// Runs queries on the durable state.
    fn run_queries(&mut self, queries: Vec<Query>, now: Now) {
        if queries.is_empty() {
            return;
        }
        // Without a state the queries are dropped, which their callers see as a missing reply.
        let Some(state) = self.take_state(now) else { return };
        for query in queries {
            query(&state, now.wall);
        }
        self.state = Some(state);
    }

    /// Reads the bodies of granted jobs and sends them to the callers.
    fn send_grants(&mut self, grants: Vec<(FetchReply, Vec<Grant>)>) {
        for (reply, granted) in grants {
            let granted = self.read_bodies(granted);
            // If the caller has disconnected, dropping the grant returns the jobs.
            drop(reply.send(granted));
        }
    }

    /// Returns the jobs with their bodies. Jobs that do not fit into memory go back to their
    /// queues.
    fn read_bodies(&mut self, mut granted: Vec<Grant>) -> Result<GrantedJobs, JobsError> {
        let keys: Vec<[u8; 16]> = granted.iter().map(|grant| grant.id.key()).collect();
        let read = self.engine.records().get_many(stored::BODIES, &keys);
        let reserved = bodies::reserve_memory(self.engine.memory(), &read);
        let fitting = reserved.as_ref().map_or(0, |(fitting, _)| *fitting);
        if fitting < granted.len() {
            let back = granted.split_off(fitting);
            self.returns.add(back.into_iter().map(|grant| (grant.id, grant.token)));
        }
        let (_, share) = reserved.map_err(Error::from)?;
        let mut jobs = Vec::with_capacity(granted.len());
        for (grant, body) in granted.into_iter().zip(read) {
            match bodies::held_job(&grant, body) {
                Ok(job) => {
                    if let Some(state) = &mut self.state {
                        state.learn_class(job.id, job.token, &job.class);
                    }
                    jobs.push(job);
                }
                Err(reason) => self.unreadable.push((grant.id, grant.token, reason)),
            }
        }
        Ok(GrantedJobs::new(jobs, share, &self.returns))
    }

    /// Takes the state, or loads it from disk if there is none.
    fn take_state(&mut self, now: Now) -> Option<State> {
        if let Some(state) = self.state.take() {
            return Some(state);
        }
        match State::load(&self.engine, self.settings, Arc::clone(&self.ids), self.seed, now) {
            Ok(loaded) => {
                self.is_reloaded = true;
                Some(loaded.into_state())
            }
            Err(error) => {
                tracing::error!(%error, "cannot load jobs");
                None
            }
        }
    }

    /// Handles a command while there is no state.
    fn refuse(&mut self, command: Command) -> NextStep {
        let mut replies = Replies::default();
        match command {
            Command::Stop => return NextStep::End,
            Command::EndWaits => self.end_waits(&mut replies),
            Command::Wake => self.waiters.prune(),
            Command::Fetch { reply, .. } => {
                let why = "jobs cannot be loaded".to_owned();
                drop(reply.send(Err(JobsError::Unavailable(why))));
            }
            // Dropped, which the caller sees as a missing reply.
            Command::Change(_) | Command::Query(_) => {}
        }
        self.send_grants(replies.grants);
        NextStep::Sleep(self.pace.sleep(None))
    }
}

/// Reports the failed write to fetches instead of their grants.
fn fail_grants(grants: Vec<(FetchReply, Vec<Grant>)>, written: &CycleWrite) {
    for (reply, _) in grants {
        if let Some(error) = written.error() {
            // The caller may have disconnected.
            drop(reply.send(Err(error)));
        }
    }
}

fn refusal(reply: FetchReply, error: JobsError) -> Respond {
    Box::new(move |written| {
        drop(reply.send(Err(written.error().unwrap_or(error))));
    })
}
