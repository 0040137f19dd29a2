//! Executes a history: the service on its simulated disk, the models, and restarts after crashes.

use std::time::Duration;

use telltale_engine::{Clock, Result, TimestampMs, TrustedTime};
use telltale_simulation::{Crash, Disk, Driver as _, HistoryOf, Outcome, Random, fail};
use tokio::runtime::{Builder, Runtime};

use crate::service::Service;
use crate::setup::{DATA, Setup};
use crate::steps::Step;
use crate::{DAY, HOUR, START, errors, generate, jobs};

/// The default retention of events.
const EVENTS_KEPT: i64 = 30 * DAY;

/// A running history.
pub(crate) struct Driver {
    /// `None` while it is closed. Declared before the disk, which it needs until it is dropped.
    service: Option<Service>,
    pub(crate) disk: Disk,
    setup: Setup,
    pub(crate) clock: Clock,
    pub(crate) runtime: Runtime,
    pub(crate) jobs: jobs::Model,
    pub(crate) errors: errors::Model,
    /// Decides what the steps leave open.
    random: Random,
    /// The number of faults that had occurred when the service was opened.
    pub(crate) faults_before: u64,
    crashes: u64,
}

impl telltale_simulation::Driver for Driver {
    type Setup = Setup;
    type Step = Step;

    const PACKAGE: &'static str = "telltale-server";

    fn history(seed: u64) -> HistoryOf<Self> {
        generate::history(seed)
    }

    fn new(seed: u64, setup: &Setup) -> Outcome<Self> {
        let disk = Disk::new(seed ^ 0x5eed).unwrap();
        // The directory was created by the operator before the history.
        std::fs::create_dir(disk.root().join(DATA)).unwrap();
        std::fs::File::open(disk.root()).unwrap().sync_all().unwrap();
        let mut driver = Self {
            service: None,
            disk,
            setup: setup.clone(),
            clock: Clock::manual(TimestampMs(START)),
            runtime: Builder::new_current_thread().enable_time().build().unwrap(),
            jobs: jobs::Model::new(setup.lease_ms, setup.silence_ms),
            errors: errors::Model::default(),
            random: Random::new(seed ^ 0xd21e),
            faults_before: 0,
            crashes: 0,
        };
        driver.open()?;
        Ok(driver)
    }

    fn execute(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Jobs(step) => self.act_on_jobs(step),
            Step::Errors(step) => self.act_on_errors(step),
            Step::Seal => {
                let sealed = self.service().engine().seal();
                self.tolerate("a seal failed", sealed).map(|_| ())
            }
            Step::Merge => {
                let merged = self.service().engine().merge();
                self.tolerate("a compaction failed", merged).map(|_| ())
            }
            Step::Expire => self.expire(),
            Step::Pass(ms) => self.pass(Duration::from_millis(ms.unsigned_abs())),
            Step::Jump(ms) => self.set_clock(self.clock.now().0 + ms),
            Step::SetRight => self.set_clock(self.true_time()),
            Step::Check => self.check(),
            Step::Reopen => self.reopen(),
            Step::Kill => self.restart(Crash::Kill),
            Step::PowerLoss(loss, seed) => self.restart(Crash::PowerLoss(*loss, *seed)),
            Step::Arm(fault) => {
                self.disk.arm(*fault);
                Ok(())
            }
        }
    }

    fn restart(&mut self, crash: Crash) -> Outcome {
        self.crashes += 1;
        self.disk.stop();
        self.service = None;
        match crash {
            Crash::Kill => self.disk.restart(),
            Crash::PowerLoss(loss, seed) => {
                self.disk.lose_power(&mut Random::new(seed), loss).unwrap();
            }
        }
        self.open()?;
        self.started()
    }

    fn check_end(&mut self) -> Outcome {
        self.disk.disarm();
        if self.has_failed_calls() {
            self.restart(Crash::Kill)?;
        }
        self.check()?;
        self.work_off()?;
        self.check()?;
        let damaged = match self.service().engine().verify() {
            Ok(report) => report.damaged,
            Err(error) => return fail("verification failed", error),
        };
        if damaged.is_empty() {
            return Ok(());
        }
        fail("verification found damage without a cause", damaged.join("; "))
    }

    fn disk(&self) -> &Disk {
        &self.disk
    }

    fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    fn has_failed_calls(&self) -> bool {
        self.disk.is_stopped() || self.disk.faults_struck() > self.faults_before
    }

    fn crashes(&self) -> u64 {
        self.crashes
    }
}

impl Driver {
    pub(crate) fn service(&self) -> &Service {
        self.service.as_ref().expect("it is open between two steps")
    }

    pub(crate) fn now(&self) -> jobs::Now {
        let TrustedTime { believed, expiry, .. } = self.service().engine().trusted_time();
        jobs::Now {
            wall: self.clock.now().0,
            steady: self.steady(),
            believed: believed.0,
            expiry: expiry.0,
        }
    }

    fn steady(&self) -> i64 {
        i64::try_from(self.clock.steady().as_millis()).unwrap()
    }

    /// Returns what an unchanged clock would show.
    pub(crate) fn true_time(&self) -> i64 {
        START + self.steady()
    }

    /// Returns the outcome of an operation that may fail only because of injected faults.
    pub(crate) fn tolerate<T>(&self, kind: &'static str, outcome: Result<T>) -> Outcome<Option<T>> {
        match outcome {
            Ok(done) => Ok(Some(done)),
            Err(_) if self.has_failed_calls() => Ok(None),
            Err(error) => fail(kind, error),
        }
    }

    /// Opens the service; retries while injected faults make it fail.
    fn open(&mut self) -> Outcome {
        loop {
            self.faults_before = self.disk.faults_struck();
            match Service::open(&self.setup, &self.disk, &self.clock) {
                Ok(service) => {
                    self.service = Some(service);
                    return Ok(());
                }
                Err(_) if self.has_failed_calls() => self.disk.restart(),
                Err(error) => return fail("the service failed to open", error),
            }
        }
    }

    /// Compares everything after the service was opened, which resolves unknown outcomes of failed
    /// calls.
    fn started(&mut self) -> Outcome {
        let damage = self.service().engine().damage();
        if !damage.is_empty() && !self.has_failed_calls() {
            return fail("damage was reported without a cause", damage.join("; "));
        }
        self.jobs.restarted(self.now());
        self.settle_errors()?;
        self.check()
    }

    fn reopen(&mut self) -> Outcome {
        let closed = self.service().close();
        self.tolerate("the service failed to close", closed)?;
        if self.has_failed_calls() {
            return self.restart(Crash::Kill);
        }
        self.service = None;
        self.open()?;
        // After faults during the start, what it has read is uncertain.
        if self.has_failed_calls() { self.restart(Crash::Kill) } else { self.started() }
    }

    /// Advances all clocks.
    pub(crate) fn pass(&mut self, time: Duration) -> Outcome {
        self.pass_jobs();
        self.clock.pass(time);
        self.run_ledger()
    }

    /// Changes the wall clock, but not to a day before 1970.
    pub(crate) fn set_clock(&mut self, wall: i64) -> Outcome {
        self.pass_jobs();
        self.clock.jump(TimestampMs(wall.max(HOUR)));
        self.run_ledger()
    }

    /// Lets the jobs ledger do what is due.
    pub(crate) fn run_ledger(&mut self) -> Outcome {
        self.pass_jobs();
        // The first cycle after a long pause expires nothing.
        for _ in 0..2 {
            let queried = self.runtime.block_on(self.service().jobs().queues());
            self.classify("queues could not be queried", queried)?;
        }
        Ok(())
    }

    /// Expires old data, as the engine's maintenance does. Counts are stored before, as they are
    /// every second.
    fn expire(&mut self) -> Outcome {
        let stored = self.service().errors().store();
        if self.errors.has_unknown()
            || self.tolerate("errors could not be stored", stored)?.is_none()
        {
            return Ok(());
        }
        self.errors.expired(self.service().engine().trusted_time().expiry.0 - EVENTS_KEPT);
        let expired = self.service().engine().expire();
        self.tolerate("expiry failed", expired).map(|_| ())
    }

    fn check(&mut self) -> Outcome {
        if self.disk.is_stopped() {
            return Ok(());
        }
        self.check_jobs()?;
        self.check_errors()
    }
}
