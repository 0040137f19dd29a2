//! Runs a history: the engine on its simulated disk, the model beside it, and the crashes of both.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use telltale_engine::{
    Clock, Engine, Error, EventFilter, Refusal, Result, TimestampMs, Write, Written,
};
use telltale_simulation::{Crash, Disk, Driver as _, Effect, HistoryOf, Outcome, Random, fail};

use super::START;
use super::check::{Checker, Health, event_query};
use super::documents::{self, KeyValueModel};
use super::model::{Fate, Model, SubmittedWrite};
use super::processes::Processes;
use super::setup::Setup;
use super::steps::{Change, NewWrite, Step};
use super::write::{assemble, prepare};

/// Maximum time for the outcome of a write.
const ANSWER_SECONDS_MAX: u64 = 60;
/// The data directory on the disk.
pub(super) const DATA: &str = "data";

/// A history in progress.
pub(crate) struct Driver {
    pub(crate) disk: Disk,
    pub(super) setup: Setup,
    pub(super) clock: Clock,
    /// The latest time of the clock, apart from jumps that were reverted.
    pub(super) latest: i64,
    /// `None` while the engine is closed.
    pub(super) engine: Option<Engine>,
    pub(super) model: Model,
    processes: Processes,
    pub(super) documents: KeyValueModel,
    pub(super) records: KeyValueModel,
    /// Decides what the steps leave open.
    pub(super) random: Random,
    /// Number of strikes when the engine was opened.
    pub(super) struck_before: u64,
    /// Changes to be repeated after the next start.
    pub(super) pending: Vec<PendingChange>,
    copies: u64,
    pub(super) crashes: u64,
    /// Number of series removed by expiry.
    pub(crate) retired: u64,
    /// A file has decayed; nothing more is promised.
    pub(super) has_decayed: bool,
}

#[derive(Clone, Debug)]
pub(super) enum PendingChange {
    DropMetric(String),
    DeleteEvents(EventFilter),
    Expire,
}

impl telltale_simulation::Driver for Driver {
    type Setup = Setup;
    type Step = Step;

    const PACKAGE: &'static str = "telltale-engine";

    fn history(seed: u64) -> HistoryOf<Self> {
        super::generate::history(seed)
    }

    fn new(seed: u64, setup: &Setup) -> Outcome<Self> {
        let disk = Disk::new(seed ^ 0x5eed).unwrap();
        // The operator created and synced the parent directory long ago.
        std::fs::create_dir(disk.root().join(DATA)).unwrap();
        std::fs::File::open(disk.root()).unwrap().sync_all().unwrap();
        let mut driver = Self {
            disk,
            setup: setup.clone(),
            clock: Clock::manual(TimestampMs(START)),
            latest: START,
            engine: None,
            model: Model::new(setup.clone()),
            processes: Processes::default(),
            documents: KeyValueModel::default(),
            records: KeyValueModel::default(),
            random: Random::new(seed ^ 0xd21e),
            struck_before: 0,
            pending: Vec::new(),
            copies: 0,
            crashes: 0,
            retired: 0,
            has_decayed: false,
        };
        driver.open()?;
        Ok(driver)
    }

    fn execute(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Write(write) => self.write(write),
            Step::Burst(writes, seal) => self.burst(writes, *seal),
            Step::Retry => self.retry(),
            Step::Documents(changes) => self.change_documents(changes),
            Step::Records(changes) => self.change_records(changes),
            Step::Seal => self.seal().map(|_| ()),
            Step::Merge => {
                let merged = self.engine().merge();
                self.tolerate("a compaction fails", merged).map(|_| ())
            }
            Step::Expire => self.expire(),
            Step::DeleteEvents(seed) => self.delete_events(*seed),
            Step::DeleteMetric(metric) => self.delete_metric(&super::samples::metric_name(*metric)),
            Step::AdvanceClock(ms) => {
                self.clock.set(TimestampMs((self.now() + ms).max(START)));
                // The engine checks the clock every second: it trusts a clock that was set back for
                // all the time that passes after.
                self.engine().trusted_time();
                self.latest = self.latest.max(self.now());
                Ok(())
            }
            Step::Excursion(ms) => self.clock_excursion(*ms),
            // A partial deletion gives neither the old nor the new result.
            Step::Query(_) if !self.pending.is_empty() => Ok(()),
            Step::Query(seed) => self.checker(self.health()).query(*seed, self.now()),
            Step::CheckAll => self.check_all(),
            Step::Backup => self.back_up(),
            Step::Reopen => self.reopen(),
            Step::Kill => {
                self.disk.stop();
                self.restart_after_kill()
            }
            Step::PowerLoss(loss, seed) => {
                self.disk.stop();
                self.restart_after_power_loss(*loss, *seed)
            }
            Step::Arm(fault) => {
                self.disk.arm(*fault);
                Ok(())
            }
            Step::Decay(kind, seed) => self.decay(*kind, *seed),
        }
    }

    fn restart(&mut self, crash: Crash) -> Outcome {
        match crash {
            Crash::Kill => self.restart_after_kill(),
            Crash::PowerLoss(loss, seed) => self.restart_after_power_loss(loss, seed),
        }
    }

    fn check_end(&mut self) -> Outcome {
        if self.has_decayed {
            return Ok(());
        }
        self.disk.disarm();
        if self.has_failed_calls() {
            self.restart_after_kill()?;
        }
        self.check_all()?;
        let damaged = match self.engine().verify() {
            Ok(report) => self.unexpected(report.damaged),
            Err(error) => return fail("verification fails", error),
        };
        if damaged.is_empty() {
            return Ok(());
        }
        fail("verification reports damage without a cause", damaged.join("; "))
    }

    fn disk(&self) -> &Disk {
        &self.disk
    }

    fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    fn has_failed_calls(&self) -> bool {
        self.disk.is_stopped() || self.disk.faults_struck() > self.struck_before
    }

    fn crashes(&self) -> u64 {
        self.crashes
    }
}

impl Driver {
    pub(super) fn engine(&self) -> &Engine {
        self.engine.as_ref().expect("it is open between two steps")
    }

    fn now(&self) -> i64 {
        self.clock.now().0
    }

    /// Returns whether acknowledged writes survive a power loss.
    pub(super) fn is_synced(&self) -> bool {
        self.setup.is_synced() && !self.disk_lied()
    }

    /// Returns whether a sync did nothing but reported success.
    pub(super) fn disk_lied(&self) -> bool {
        self.disk.faults_by_kind().keys().any(|(_, _, effect)| *effect == Effect::FalseSuccess)
    }

    pub(super) fn checker(&self, health: Health) -> Checker<'_> {
        self.checker_of(self.engine(), health)
    }

    fn checker_of<'a>(&'a self, engine: &'a Engine, health: Health) -> Checker<'a> {
        let Self { model, disk, struck_before, .. } = self;
        Checker { engine, model, health, disk, struck_before: *struck_before }
    }

    pub(super) fn health(&self) -> Health {
        if self.has_failed_calls() { Health::Troubled } else { Health::Whole }
    }

    /// Returns the result of an operation that may fail only if calls failed.
    pub(super) fn tolerate<T>(&self, kind: &'static str, outcome: Result<T>) -> Outcome<Option<T>> {
        match outcome {
            Ok(done) => Ok(Some(done)),
            Err(_) if self.has_failed_calls() => Ok(None),
            Err(error) => fail(kind, error),
        }
    }

    /// Submits a write, which may join a group with others.
    fn submit(&self, write: Write) -> mpsc::Receiver<Result<Written>> {
        let (sender, receiver) = mpsc::sync_channel(1);
        // The driver may have given up waiting.
        self.engine().submit(write, move |outcome| drop(sender.send(outcome)));
        receiver
    }

    /// Submits a write that this thread may write itself.
    fn submit_or_write(&self, write: Write) -> mpsc::Receiver<Result<Written>> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.engine().submit_or_write(write, move |outcome| drop(sender.send(outcome)));
        receiver
    }

    /// Waits for the outcome of a write and records it.
    fn record_outcome(
        &mut self,
        mut write: SubmittedWrite,
        answer: &mpsc::Receiver<Result<Written>>,
    ) -> Outcome {
        let Ok(answer) = answer.recv_timeout(Duration::from_secs(ANSWER_SECONDS_MAX)) else {
            return fail("a write never completes", format!("write {}", write.id));
        };
        match answer {
            Ok(_) => {
                write.fate = Fate::Acknowledged;
                self.model.superseded(write.id);
            }
            Err(Error::Refused(refusal)) => return fail("a write is refused", refusal),
            Err(Error::Overloaded(_)) => write.fate = Fate::Absent,
            Err(_) if self.has_failed_calls() => write.fate = Fate::Unknown,
            Err(error) => return fail("a write fails", error),
        }
        self.model.submitted(write);
        Ok(())
    }

    fn write(&mut self, new: &NewWrite) -> Outcome {
        let now = self.now();
        let mut write = prepare(self.engine.as_ref().unwrap(), &mut self.processes, new, now);
        let assembled = assemble(self.engine(), &mut write)?;
        let answer = self.submit_or_write(assembled);
        self.record_outcome(write, &answer)
    }

    fn burst(&mut self, writes: &[NewWrite], seal: Option<usize>) -> Outcome {
        let now = self.now();
        let mut answers = Vec::new();
        for (at, new) in writes.iter().enumerate() {
            if seal == Some(at) {
                // The submitted writes are in progress; their outcomes are received below.
                let sealed = self.engine().seal();
                self.tolerate("a seal fails", sealed)?;
            }
            let mut write = prepare(self.engine.as_ref().unwrap(), &mut self.processes, new, now);
            let assembled = assemble(self.engine(), &mut write)?;
            answers.push((write, self.submit(assembled)));
        }
        for (write, answer) in answers {
            self.record_outcome(write, &answer)?;
        }
        Ok(())
    }

    /// Sends the latest write again if its receipt is not found.
    fn retry(&mut self) -> Outcome {
        let latest = self.model.writes().next_back().cloned();
        let Some(mut write) = latest.filter(|write| write.keyed) else { return Ok(()) };
        match self.engine().receipt(u128::from(write.id)) {
            Ok(Some(_)) => return Ok(()),
            Ok(None) if write.fate == Fate::Acknowledged => {
                return fail("a receipt is lost", format!("write {}", write.id));
            }
            Ok(None) => {}
            Err(error) => {
                return self.tolerate::<()>("a receipt lookup fails", Err(error)).map(|_| ());
            }
        }
        let assembled = assemble(self.engine(), &mut write)?;
        let answer = self.submit_or_write(assembled);
        self.record_outcome(write, &answer)
    }

    fn change_documents(&mut self, changes: &[Change]) -> Outcome {
        if self.documents.is_unknown() {
            return Ok(());
        }
        let outcome = documents::change_documents(self.engine(), changes);
        self.documents.changed(changes, &outcome);
        self.tolerate("documents cannot be changed", outcome).map(|_| ())
    }

    fn change_records(&mut self, changes: &[Change]) -> Outcome {
        if self.records.is_unknown() {
            return Ok(());
        }
        let outcome = documents::change_records(self.engine(), changes);
        self.records.changed(changes, &outcome);
        self.tolerate("records cannot be changed", outcome).map(|_| ())
    }

    fn seal(&mut self) -> Outcome<bool> {
        let sealed = self.engine().seal();
        let sealed = self.tolerate("a seal fails", sealed)?.is_some();
        if sealed {
            self.model.sealed();
        }
        Ok(sealed)
    }

    fn expire(&mut self) -> Outcome {
        if self.model.has_unknown() || !self.pending.is_empty() {
            return Ok(());
        }
        // Whether expiry succeeds or not, old data may be gone from now on.
        self.model.expired(self.now());
        if !self.seal()? {
            return Ok(());
        }
        let before = self.engine().stats().series;
        let expired = self.engine().expire();
        if self.tolerate("expiry fails", expired)?.is_none() {
            self.pending.push(PendingChange::Expire);
        }
        self.retired += before - self.engine().stats().series;
        Ok(())
    }

    fn delete_events(&mut self, seed: u64) -> Outcome {
        if self.model.has_unknown() || !self.pending.is_empty() {
            return Ok(());
        }
        let case = event_query(seed).at(self.now());
        let filter = case.filter().clone();
        let deleted = self.engine().delete_events(&filter);
        if self.tolerate("events cannot be deleted", deleted)?.is_none() {
            self.pending.push(PendingChange::DeleteEvents(filter));
        } else {
            self.model.deleted_events(&filter);
            self.model.sealed();
        }
        Ok(())
    }

    fn delete_metric(&mut self, metric: &str) -> Outcome {
        if self.model.has_unknown() || !self.pending.is_empty() {
            return Ok(());
        }
        match self.engine().delete_metric(metric) {
            Ok(()) => self.model.dropped(metric),
            Err(Error::Refused(Refusal::MetricNotFound(_))) => {
                let stored = self.model.metrics.get(metric).is_some_and(|m| !m.stored.is_empty());
                if stored {
                    return fail("a metric is lost", metric);
                }
            }
            Err(error) => {
                self.tolerate::<()>("a metric cannot be deleted", Err(error))?;
                self.pending.push(PendingChange::DropMetric(metric.to_owned()));
            }
        }
        Ok(())
    }

    /// The clock jumps, maintenance runs, and the clock is corrected.
    fn clock_excursion(&mut self, ms: i64) -> Outcome {
        let now = self.now();
        if self.model.has_unknown() || !self.pending.is_empty() {
            return Ok(());
        }
        // Only data that had expired before may be removed. A clock that was set back may be
        // trusted at a later time.
        self.model.expired(self.latest);
        self.clock.jump(TimestampMs((now + ms).max(0)));
        if self.seal()? {
            let merged = self.engine().merge();
            self.tolerate("a compaction fails", merged)?;
            let expired = self.engine().expire();
            self.tolerate("expiry fails", expired)?;
        }
        self.clock.jump(TimestampMs(now));
        Ok(())
    }

    pub(super) fn check_all(&mut self) -> Outcome {
        if !self.pending.is_empty() {
            return Ok(());
        }
        self.checker(self.health()).all()?;
        self.check_receipts()?;
        self.check_small_state(false)
    }

    fn check_receipts(&self) -> Outcome {
        for write in self.model.writes().filter(|write| write.keyed) {
            let found = match self.engine().receipt(u128::from(write.id)) {
                Ok(found) => found.is_some(),
                Err(error) => {
                    self.tolerate::<()>("a receipt lookup fails", Err(error))?;
                    continue;
                }
            };
            let is_stored = self.model.writes().any(|other| {
                other.id == write.id && matches!(other.fate, Fate::Acknowledged | Fate::Found)
            });
            if found != is_stored {
                let details = format!("write {}: {found} instead of {is_stored}", write.id);
                return fail("a receipt differs from its write", details);
            }
        }
        Ok(())
    }

    pub(super) fn check_small_state(&mut self, restarted: bool) -> Outcome {
        let found = documents::documents(self.engine());
        if let Some(found) = self.tolerate("documents cannot be read", found)? {
            self.documents.check(&found, restarted)?;
        }
        let found = documents::records(self.engine());
        if let Some(found) = self.tolerate("records cannot be read", found)? {
            self.records.check(&found, restarted)?;
        }
        Ok(())
    }

    fn back_up(&mut self) -> Outcome {
        if self.has_failed_calls() || !self.pending.is_empty() {
            return Ok(());
        }
        self.copies += 1;
        let backup = self.folder("backup");
        let restored = self.folder("restored");
        let copied = self.engine().backup(&backup);
        let copied = copied.and_then(|_| Engine::restore(&backup, &restored));
        if self.tolerate("a backup fails", copied)?.is_some() {
            let name = format!("restored-{}", self.copies);
            let opened = self.setup.open(&self.disk, &name, &self.clock);
            if let Some(copy) = self.tolerate("a restored backup does not open", opened)? {
                let health = self.health();
                self.checker_of(&copy, health).all()?;
            }
        }
        for folder in [backup, restored] {
            if !self.disk.is_stopped() && folder.exists() {
                let removed = std::fs::remove_dir_all(folder);
                let removed = removed.map_err(|error| Error::Unavailable(error.to_string()));
                self.tolerate("a copy cannot be removed", removed)?;
            }
        }
        Ok(())
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.disk.root().join(format!("{name}-{}", self.copies))
    }

    pub(super) fn reopen(&mut self) -> Outcome {
        let closed = self.engine().close();
        if self.tolerate("the engine cannot be closed", closed)?.is_some() {
            self.model.sealed();
        }
        self.restart_after_kill()
    }
}
