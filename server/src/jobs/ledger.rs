//! The ledger: the one thread that changes jobs.
//!
//! ```text
//! commands ─▶ round { time passes, commands change the machine, jobs go to who waits } ─▶ one batch, one sync ─▶ answers
//!                                                                                           └─ failed: the machine is
//!                                                                                              read anew from the disk
//! ```
//!
//! Commands that wait while a round syncs make the next round, so that they share its sync; no lock is held and nothing is
//! read from disk before it but what a start reads. Answers are given only after the sync, so nobody hears of what a
//! crash would take back. A write that fails answers so whoever wanted a change, and forgets the machine: what the disk says
//! is what holds, and whoever needs the machine next begins by reading it. Then the ledger does for a moment only what it is
//! asked: a timer that is due on a full disk would have the machine read again without end.
//!
//! Whoever only looks is shown the machine as it is after the write, so that a full disk hides nothing.
//!
//! A panic is a bug in a round: whoever asked for something in it hears that nobody answers, and the machine is read anew, as after
//! a write that failed, since only the disk says what holds. The thread goes on, so that one command that cannot be done does not end all
//! others. Jobs that were on their way back from callers who had gone come back when their leases end.
//!
//! What a worker is handed is read from disk after the sync. A job that cannot be read dies with that as its reason.

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
use super::state::{Grant, Now, Round, State};
use super::stored;
use super::waiting::{FetchReply, Granted, Returns, Waiter, Waiters};
use crate::limits;
use crate::platform::ids::Ids;
use crate::platform::ticks::Ticks;

/// A change, and afterwards the telling of what became of it.
pub(super) type Work = Box<dyn FnOnce(&mut State, &mut Round) -> Tell + Send>;
/// A look at what is on disk, at this time of day.
pub(super) type Look = Box<dyn FnOnce(&State, TimestampMs) + Send>;
/// Tells somebody, once it is known whether the round is on disk.
pub(super) type Tell = Box<dyn FnOnce(&Written) + Send>;

/// What the ledger is asked to do.
pub(super) enum Command {
    /// Change the machine.
    Work(Work),
    /// Look at it.
    Look(Look),
    /// Hand out jobs, or wait for some.
    Fetch { asker: Asker, worker: WorkerId, limit: u32, wait: bool, reply: FetchReply },
    /// There is something to do that nobody waits for.
    Wake,
    /// Nobody waits any more.
    EndWaits,
    /// This was the last command.
    Stop,
}

/// Who asks for jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// A program of a user, which cannot ask for a worker of the server.
    User,
    /// The server itself.
    Server,
}

impl Asker {
    fn check(self, worker: WorkerId, state: &State) -> Result<(), JobsError> {
        match self {
            Self::User => state.check_users_worker(worker),
            Self::Server => Ok(()),
        }
    }
}

/// What became of a round's write.
#[derive(Clone, Debug)]
pub(super) enum Written {
    Yes,
    /// Nothing has changed; later it may.
    NoRoom(String),
    /// Nobody knows what has changed.
    Failed(String),
}

/// The thread's own.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) engine: Engine,
    pub(super) settings: JobsSettings,
    pub(super) ids: Arc<Ids>,
    pub(super) clock: Clock,
    pub(super) ticks: Ticks,
    pub(super) seed: u64,
    pub(super) recorder: Arc<HistoryRecorder>,
    pub(super) returns: Arc<Returns>,
    pub(super) commands: Receiver<Command>,
    /// None after a write that failed.
    pub(super) state: Option<State>,
    pub(super) waiters: Waiters,
    /// Jobs that were handed out and cannot be read, and why.
    pub(super) unreadable: Vec<(JobId, u64, String)>,
    /// The machine was read anew: jobs may be ready that nobody who waits was told of.
    pub(super) is_anew: bool,
    pub(super) pace: Pace,
    /// Whether fetches still wait.
    pub(super) may_wait: bool,
    /// It was told to stop.
    pub(super) is_stopping: bool,
    pub(super) figures: Arc<LedgerFigures>,
}

/// What is told when the round is written.
#[derive(Default)]
struct Replies {
    tells: Vec<Tell>,
    grants: Vec<(FetchReply, Vec<Grant>)>,
    looks: Vec<Look>,
}

/// How much a round heard.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    commands: usize,
    /// No command is left that waits.
    all: bool,
    /// One of them was to stop.
    stop: bool,
}

/// What a round did that nobody asked for; jobs are done so again when it is not written.
#[derive(Debug, Default)]
struct Begun {
    /// Whether more is due than one round takes.
    more: bool,
    returned: Vec<(JobId, u64)>,
    unreadable: Vec<(JobId, u64, String)>,
}

/// What comes after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// Sleep until something is due, or somebody wants something.
    Sleep(Duration),
    End,
}

impl Written {
    /// The error of whoever asked for a part of the round.
    pub(super) fn error(&self) -> Option<JobsError> {
        match self {
            Self::Yes => None,
            Self::NoRoom(why) => Some(JobsError::Unavailable(why.clone())),
            Self::Failed(why) => Some(JobsError::Failed(why.clone())),
        }
    }
}

impl From<Result<(), Error>> for Written {
    fn from(written: Result<(), Error>) -> Self {
        match written {
            Ok(()) => Self::Yes,
            Err(error @ Error::Unavailable(_)) => Self::NoRoom(error.to_string()),
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Work(_) => "Work",
            Self::Look(_) => "Look",
            Self::Fetch { .. } => "Fetch",
            Self::Wake => "Wake",
            Self::EndWaits => "EndWaits",
            Self::Stop => "Stop",
        })
    }
}

impl Ledger {
    /// The time on all clocks.
    pub(super) fn now(engine: &Engine, clock: &Clock, ticks: &Ticks) -> Now {
        let steady_ms = i64::try_from(ticks.elapsed().as_millis()).unwrap_or(i64::MAX);
        Now { wall: clock.now(), believed: engine.trusted_time().believed, steady_ms }
    }

    /// Works until it is told to stop, or nobody is left who could.
    pub(super) fn run(mut self) {
        let mut sleep = self.pace.sleep(None);
        loop {
            let first = match self.commands.recv_timeout(sleep) {
                Ok(command) => command,
                Err(RecvTimeoutError::Timeout) => Command::Wake,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.is_stopping |= matches!(first, Command::Stop);
            match catch_unwind(AssertUnwindSafe(|| self.round(first))) {
                Ok(After::Sleep(until)) => sleep = until,
                Ok(After::End) => return,
                Err(_) if self.is_stopping => return,
                Err(_) => sleep = self.begin_anew(),
            }
        }
    }

    /// Forgets all that a panic may have left half done, and everybody who waits. Answers how long to rest: what panics of
    /// itself would do so without end.
    fn begin_anew(&mut self) -> Duration {
        tracing::error!("the ledger of jobs panicked; it reads its jobs anew");
        self.figures.count_panic();
        self.state = None;
        self.waiters = Waiters::default();
        self.unreadable.clear();
        self.pace.rest(Self::now(&self.engine, &self.clock, &self.ticks));
        self.pace.sleep(None)
    }

    fn round(&mut self, first: Command) -> After {
        let now = Self::now(&self.engine, &self.clock, &self.ticks);
        let Some(mut state) = self.recall(now) else { return self.refuse(first) };
        let (mut round, mut replies) = (Round::new(now), Replies::default());
        let begun = self.begin(&mut state, &mut round);
        let heard = self.take_commands(first, &mut state, &mut round, &mut replies);
        self.pace.heard(heard.commands, heard.all);
        self.serve_waiters(&mut state, &mut round, &mut replies);
        let mut due_in_ms = if begun.more { Some(0) } else { state.due_in_ms(&round) };
        self.figures.show(&mut state);
        self.state = Some(state);
        self.write(round, begun, replies);
        if !self.unreadable.is_empty() {
            due_in_ms = Some(0);
        }
        if heard.stop { After::End } else { After::Sleep(self.pace.sleep(due_in_ms)) }
    }

    /// What is due of itself.
    fn begin(&mut self, state: &mut State, round: &mut Round) -> Begun {
        let more = match self.pace.begin(round.now) {
            Due::All => state.tick(round),
            Due::AllButLosses { stalled_ms } => state.tick_without_losses(stalled_ms, round),
            Due::Nothing => return Begun::default(),
        };
        let (returned, unreadable) = (self.returns.take(), std::mem::take(&mut self.unreadable));
        if std::mem::take(&mut self.is_anew) {
            state.wake_ready(round);
        }
        for (id, token) in &returned {
            state.give_back(*id, *token, round);
        }
        for (id, token, reason) in &unreadable {
            state.condemn(*id, *token, reason, round);
        }
        Begun { more, returned, unreadable }
    }

    /// Takes the command that began the round and those that wait.
    fn take_commands(
        &mut self,
        first: Command,
        state: &mut State,
        round: &mut Round,
        replies: &mut Replies,
    ) -> Heard {
        let mut first = Some(first);
        for commands in 0..limits::LEDGER_ROUND_COMMANDS_MAX {
            // Only a command that this round has room for is received: what is received is done.
            let next = first.take().or_else(|| self.commands.try_recv().ok());
            let Some(command) = next else { return Heard { commands, all: true, stop: false } };
            match command {
                Command::Work(work) => replies.tells.push(work(state, round)),
                Command::Look(look) => replies.looks.push(look),
                Command::Fetch { asker, worker, limit, wait, reply } => {
                    match asker.check(worker, state) {
                        Ok(()) => self.fetch(worker, limit, wait, reply, state, round, replies),
                        Err(refused) => replies.tells.push(refusal(reply, refused)),
                    }
                }
                Command::Wake => self.waiters.prune(),
                Command::EndWaits => self.end_waits(replies),
                Command::Stop => {
                    self.is_stopping = true;
                    self.end_waits(replies);
                    return Heard { commands, all: false, stop: true };
                }
            }
            if round.batch.bytes() >= limits::LEDGER_ROUND_BYTES_MAX {
                return Heard { commands: commands + 1, all: false, stop: false };
            }
        }
        Heard { commands: limits::LEDGER_ROUND_COMMANDS_MAX, all: false, stop: false }
    }

    #[expect(clippy::too_many_arguments, reason = "a command's parts, and the round it belongs to")]
    fn fetch(
        &mut self,
        worker: WorkerId,
        limit: u32,
        wait: bool,
        reply: FetchReply,
        state: &mut State,
        round: &mut Round,
        replies: &mut Replies,
    ) {
        if reply.is_closed() {
            return;
        }
        state.expect_anew(worker, round);
        match state.reserve(worker, limit, round) {
            Ok(grants) if grants.is_empty() && wait && self.may_wait => {
                self.wait(worker, limit, reply, state, replies);
            }
            Ok(grants) => replies.grants.push((reply, grants)),
            Err(error) => replies.tells.push(refusal(reply, error)),
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
        self.waiters.prune_in_time(waiters_max);
        match state.serves(worker) {
            // A worker that is to leave is not held up.
            None => replies.grants.push((reply, Vec::new())),
            Some(_) if self.waiters.len() >= waiters_max => {
                replies.tells.push(refusal(reply, JobsError::TooManyWaiting));
            }
            Some(queues) => self.waiters.add(worker, queues, limit, reply),
        }
    }

    /// Jobs that became ready in this round go to those who wait for them, in the order they came.
    fn serve_waiters(&mut self, state: &mut State, round: &mut Round, replies: &mut Replies) {
        // They learn at once that they are to wait no more.
        for worker in std::mem::take(&mut round.restricted) {
            let left = self.waiters.take_of(worker);
            replies.grants.extend(left.map(|waiter| (waiter.reply, Vec::new())));
        }
        let mut woken = std::mem::take(&mut round.woken);
        woken.sort_unstable();
        woken.dedup();
        for queue in woken {
            while state.has_ready(queue) {
                let Some(waiter) = self.waiters.take_first(queue) else { break };
                let Waiter { worker, limit, reply, .. } = waiter;
                match state.reserve(worker, limit, round) {
                    Ok(grants) => replies.grants.push((reply, grants)),
                    Err(error) => replies.tells.push(refusal(reply, error)),
                }
            }
        }
    }

    fn end_waits(&mut self, replies: &mut Replies) {
        self.may_wait = false;
        replies.grants.extend(self.waiters.take_all().map(|waiter| (waiter.reply, Vec::new())));
    }

    fn write(&mut self, round: Round, begun: Begun, replies: Replies) {
        let Round { now, batch, seen, .. } = round;
        let written = Written::from(self.engine.records().write(batch));
        match &written {
            Written::Yes => self.recorder.note(seen),
            Written::NoRoom(why) | Written::Failed(why) => {
                tracing::error!(
                    cause = why,
                    "changes of jobs were not written; they are read anew"
                );
                self.state = None;
                self.returns.put_back(begun.returned);
                self.unreadable.extend(begun.unreadable);
                self.pace.rest(Self::now(&self.engine, &self.clock, &self.ticks));
            }
        }
        for tell in replies.tells {
            tell(&written);
        }
        match written {
            Written::Yes => self.hand_out(replies.grants),
            Written::NoRoom(_) | Written::Failed(_) => withhold(replies.grants, &written),
        }
        self.show(replies.looks, now);
    }

    /// Shows what is on disk now.
    fn show(&mut self, looks: Vec<Look>, now: Now) {
        if looks.is_empty() {
            return;
        }
        // Without a machine they are dropped unheard: whoever looks sees that nobody answers.
        let Some(state) = self.recall(now) else { return };
        for look in looks {
            look(&state, now.wall);
        }
        self.state = Some(state);
    }

    /// Reads what the jobs are to do, and hands them to those who asked.
    fn hand_out(&mut self, grants: Vec<(FetchReply, Vec<Grant>)>) {
        for (reply, granted) in grants {
            let granted = self.read_bodies(granted);
            // Who has gone meanwhile leaves the jobs to the drop of what was sent.
            drop(reply.send(granted));
        }
    }

    /// The jobs with what they are to do. Those for which memory has no room go back, and whoever asked may ask again.
    fn read_bodies(&mut self, mut granted: Vec<Grant>) -> Result<Granted, JobsError> {
        let keys: Vec<[u8; 16]> = granted.iter().map(|grant| grant.id.key()).collect();
        let read = self.engine.records().get_many(stored::BODIES, &keys);
        let borrowed = bodies::borrow(self.engine.memory(), &read);
        let fitting = borrowed.as_ref().map_or(0, |(fitting, _)| *fitting);
        if fitting < granted.len() {
            let back = granted.split_off(fitting);
            self.returns.add(back.into_iter().map(|grant| (grant.id, grant.token)));
        }
        let (_, share) = borrowed.map_err(Error::from)?;
        let mut jobs = Vec::with_capacity(granted.len());
        for (grant, body) in granted.into_iter().zip(read) {
            match bodies::holding(&grant, body) {
                Ok(job) => {
                    if let Some(state) = &mut self.state {
                        state.learn_class(job.id, job.token, &job.class);
                    }
                    jobs.push(job);
                }
                Err(reason) => self.unreadable.push((grant.id, grant.token, reason)),
            }
        }
        Ok(Granted::new(jobs, share, &self.returns))
    }

    /// The machine, read from the disk if it must be.
    fn recall(&mut self, now: Now) -> Option<State> {
        if let Some(state) = self.state.take() {
            return Some(state);
        }
        match State::load(&self.engine, self.settings, Arc::clone(&self.ids), self.seed, now) {
            Ok(loaded) => {
                self.is_anew = true;
                Some(loaded.state)
            }
            Err(error) => {
                tracing::error!(%error, "jobs cannot be read");
                None
            }
        }
    }

    /// Without a machine nothing can be done but to say so.
    fn refuse(&mut self, command: Command) -> After {
        let mut replies = Replies::default();
        match command {
            Command::Stop => return After::End,
            Command::EndWaits => self.end_waits(&mut replies),
            Command::Wake => self.waiters.prune(),
            Command::Fetch { reply, .. } => {
                let why = "jobs cannot be read".to_owned();
                drop(reply.send(Err(JobsError::Unavailable(why))));
            }
            // Dropped unheard: whoever asked sees that nobody answers.
            Command::Work(_) | Command::Look(_) => {}
        }
        self.hand_out(replies.grants);
        After::Sleep(self.pace.sleep(None))
    }
}

/// Nobody gets jobs of a round that is not on disk.
fn withhold(grants: Vec<(FetchReply, Vec<Grant>)>, written: &Written) {
    for (reply, _) in grants {
        if let Some(error) = written.error() {
            // A caller who has gone needs no answer.
            drop(reply.send(Err(error)));
        }
    }
}

fn refusal(reply: FetchReply, error: JobsError) -> Tell {
    Box::new(move |written| {
        drop(reply.send(Err(written.error().unwrap_or(error))));
    })
}
