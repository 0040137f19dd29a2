//! Lives through a history: the service on its disk, the models beside it, and what a crash leaves of both.

use std::time::Duration;

use telltale_engine::{Clock, Result, TimestampMs, TrustedTime};
use telltale_simulation::{Crash, Disk, Driver as _, HistoryOf, Outcome, Random, fail};
use tokio::runtime::{Builder, Runtime};

use crate::house::House;
use crate::setup::{DATA, Setup};
use crate::steps::Step;
use crate::{DAY, HOUR, START, errors, generate, jobs};

/// How long events are kept where nobody says otherwise.
const EVENTS_KEPT: i64 = 30 * DAY;

/// A history under way.
pub(crate) struct Driver {
    /// None while it is closed. Before the disk, which it needs to its end.
    house: Option<House>,
    pub(crate) disk: Disk,
    setup: Setup,
    pub(crate) clock: Clock,
    pub(crate) runtime: Runtime,
    pub(crate) jobs: jobs::Model,
    pub(crate) errors: errors::Model,
    /// Decides what the steps leave open.
    random: Random,
    /// Faults that had struck when the service was opened.
    pub(crate) struck_before: u64,
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
        // The folder belongs to the operator, who made it long ago.
        std::fs::create_dir(disk.root().join(DATA)).unwrap();
        std::fs::File::open(disk.root()).unwrap().sync_all().unwrap();
        let mut driver = Self {
            house: None,
            disk,
            setup: setup.clone(),
            clock: Clock::manual(TimestampMs(START)),
            runtime: Builder::new_current_thread().enable_time().build().unwrap(),
            jobs: jobs::Model::new(setup.lease_ms, setup.silence_ms),
            errors: errors::Model::default(),
            random: Random::new(seed ^ 0xd21e),
            struck_before: 0,
            crashes: 0,
        };
        driver.open()?;
        Ok(driver)
    }

    fn act(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Jobs(step) => self.act_on_jobs(step),
            Step::Errors(step) => self.act_on_errors(step),
            Step::Seal => {
                let sealed = self.house().engine().seal();
                self.tolerate("a seal fails", sealed).map(|_| ())
            }
            Step::Merge => {
                let merged = self.house().engine().merge();
                self.tolerate("a merge fails", merged).map(|_| ())
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
        self.house = None;
        match crash {
            Crash::Kill => self.disk.restart(),
            Crash::PowerLoss(loss, seed) => {
                self.disk.lose_power(&mut Random::new(seed), loss).unwrap();
            }
        }
        self.open()?;
        self.started()
    }

    fn end(&mut self) -> Outcome {
        self.disk.disarm();
        if self.is_troubled() {
            self.restart(Crash::Kill)?;
        }
        self.check()?;
        self.work_off()?;
        self.check()?;
        let damaged = match self.house().engine().verify() {
            Ok(report) => report.damaged,
            Err(error) => return fail("verification fails", error),
        };
        if damaged.is_empty() {
            return Ok(());
        }
        fail("verification finds damage that nobody did", damaged.join("; "))
    }

    fn disk(&self) -> &Disk {
        &self.disk
    }

    fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    fn is_troubled(&self) -> bool {
        self.disk.is_stopped() || self.disk.strikes() > self.struck_before
    }

    fn crashes(&self) -> u64 {
        self.crashes
    }
}

impl Driver {
    pub(crate) fn house(&self) -> &House {
        self.house.as_ref().expect("it is open between two steps")
    }

    pub(crate) fn now(&self) -> jobs::Now {
        let TrustedTime { believed, expiry, .. } = self.house().engine().trusted_time();
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

    /// What a clock would show that nobody has set.
    pub(crate) fn true_time(&self) -> i64 {
        START + self.steady()
    }

    /// The outcome of an operation that may fail only because calls did.
    pub(crate) fn tolerate<T>(&self, kind: &'static str, outcome: Result<T>) -> Outcome<Option<T>> {
        match outcome {
            Ok(done) => Ok(Some(done)),
            Err(_) if self.is_troubled() => Ok(None),
            Err(error) => fail(kind, error),
        }
    }

    /// Opens the service; until it succeeds when calls fail.
    fn open(&mut self) -> Outcome {
        loop {
            self.struck_before = self.disk.strikes();
            match House::open(&self.setup, &self.disk, &self.clock) {
                Ok(house) => {
                    self.house = Some(house);
                    return Ok(());
                }
                Err(_) if self.is_troubled() => self.disk.restart(),
                Err(error) => return fail("the service does not open", error),
            }
        }
    }

    /// The service was opened: compares everything, which tells what became of calls that failed.
    fn started(&mut self) -> Outcome {
        let damage = self.house().engine().damage();
        if !damage.is_empty() && !self.is_troubled() {
            return fail("damage is reported that nobody did", damage.join("; "));
        }
        self.jobs.restarted(self.now());
        self.settle_errors()?;
        self.check()
    }

    fn reopen(&mut self) -> Outcome {
        let closed = self.house().close();
        self.tolerate("the service cannot be closed", closed)?;
        if self.is_troubled() {
            return self.restart(Crash::Kill);
        }
        self.house = None;
        self.open()?;
        // What a start that met failing calls has read is not certain.
        if self.is_troubled() { self.restart(Crash::Kill) } else { self.started() }
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, time: Duration) -> Outcome {
        self.pass_jobs();
        self.clock.pass(time);
        self.look()
    }

    /// Somebody sets the wall clock, on which no day before 1970 is.
    pub(crate) fn set_clock(&mut self, wall: i64) -> Outcome {
        self.pass_jobs();
        self.clock.jump(TimestampMs(wall.max(HOUR)));
        self.look()
    }

    /// The ledger of jobs has done what is due.
    pub(crate) fn look(&mut self) -> Outcome {
        self.pass_jobs();
        // The first round after a long time takes nothing from anybody.
        for _ in 0..2 {
            let looked = self.runtime.block_on(self.house().jobs().queues());
            self.hear("queues cannot be looked at", looked)?;
        }
        Ok(())
    }

    /// Deletes what is too old, as the upkeep of an engine does. What was counted is stored before, as each second.
    fn expire(&mut self) -> Outcome {
        let stored = self.house().errors().store();
        if self.errors.has_unknown() || self.tolerate("errors cannot be stored", stored)?.is_none()
        {
            return Ok(());
        }
        self.errors.expired(self.house().engine().trusted_time().expiry.0 - EVENTS_KEPT);
        let expired = self.house().engine().expire();
        self.tolerate("expiry fails", expired).map(|_| ())
    }

    fn check(&mut self) -> Outcome {
        if self.disk.is_stopped() {
            return Ok(());
        }
        self.check_jobs()?;
        self.check_errors()
    }
}
