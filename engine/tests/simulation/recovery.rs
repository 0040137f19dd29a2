//! Recovery of the engine and the model after a crash or decay.

use std::cell::RefCell;

use telltale_engine::{
    Aggregation, Engine, Error, EventFilter, EventListQuery, Interval, MetricName, MetricQuery,
    NameFilter, Refusal, Result, TagCondition, TagFilter, TimeRange,
};
use telltale_simulation::{Driver as _, Failure, FileKind, Loss, Outcome, Random, fail};

use super::DAY;
use super::check::Health;
use super::documents;
use super::driver::{DATA, Driver, PendingChange};
use super::model::SubmittedWrite;
use super::samples::MARKER;

/// Maximum number of events at one time.
const EVENTS_MAX: usize = 5_000;

impl Driver {
    pub(super) fn restart_after_kill(&mut self) -> Outcome {
        self.crashes += 1;
        self.engine = None;
        self.disk.restart();
        self.start()
    }

    pub(super) fn restart_after_power_loss(&mut self, loss: Loss, seed: u64) -> Outcome {
        self.crashes += 1;
        self.disk.stop();
        self.engine = None;
        self.model.lost_power(self.is_synced());
        if self.disk_lied() {
            // Deleted data may be stored again: the deletion is repeated.
            let dropped = self.model.newly_dropped().map(str::to_owned);
            self.pending.extend(dropped.map(PendingChange::DropMetric));
        }
        self.disk.lose_power(&mut Random::new(seed), loss).unwrap();
        self.start()
    }

    /// Opens the engine, retrying while calls fail.
    pub(super) fn open(&mut self) -> Outcome {
        loop {
            self.struck_before = self.disk.faults_struck();
            match self.setup.open(&self.disk, DATA, &self.clock) {
                Ok(engine) => {
                    self.engine = Some(engine);
                    return Ok(());
                }
                Err(_) if self.has_failed_calls() => self.disk.restart(),
                Err(error) => return fail("the engine does not open", error),
            }
        }
    }

    /// Opens the engine after a crash and resolves which writes are stored.
    pub(super) fn start(&mut self) -> Outcome {
        self.open()?;
        let damage = self.unexpected(self.engine().damage());
        if !damage.is_empty() && !self.has_failed_calls() {
            return fail("damage is reported without a cause", damage.join("; "));
        }
        let engine = self.engine.as_ref().expect("it was opened");
        let mut duplicated = Vec::new();
        let failed = RefCell::new(None);
        let is_present = |write: &SubmittedWrite| match present(engine, write) {
            Ok(times) => {
                if times > 1 {
                    duplicated.push(write.id);
                }
                times > 0
            }
            Err(error) => {
                failed.replace(Some(error.to_string()));
                false
            }
        };
        let is_attempt = |write: &SubmittedWrite| {
            has_first_event(engine, write).unwrap_or_else(|error| {
                failed.replace(Some(error.to_string()));
                false
            })
        };
        self.model.resolve(is_present, is_attempt);
        if !duplicated.is_empty() {
            return fail("a write is stored twice", format!("{duplicated:?}"));
        }
        if let Some(error) = failed.into_inner() {
            return fail("queries fail after a restart", error);
        }
        self.check_small_state(true)?;
        self.complete_pending()?;
        self.check_all()
    }

    /// Returns the damage that no fault of the disk explains. What was acknowledged before it was
    /// synced may be lost, and is reported then.
    pub(super) fn unexpected(&self, mut damage: Vec<String>) -> Vec<String> {
        if !self.is_synced() {
            damage.retain(|line| !is_about_a_log(line));
        }
        damage
    }

    /// Repeats the changes that a crash interrupted.
    pub(super) fn complete_pending(&mut self) -> Outcome {
        for pending in std::mem::take(&mut self.pending) {
            let done = match &pending {
                PendingChange::DropMetric(metric) => match self.engine().delete_metric(metric) {
                    Err(Error::Refused(Refusal::MetricNotFound(_))) => Ok(()),
                    other => other,
                },
                PendingChange::DeleteEvents(filter) => {
                    self.engine().delete_events(filter).map(|_| ())
                }
                PendingChange::Expire => {
                    let sealed = self.engine().seal();
                    sealed.and_then(|_| self.engine().expire()).map(|_| ())
                }
            };
            if self.tolerate("an interrupted change cannot be completed", done)?.is_none() {
                self.pending.push(pending);
                continue;
            }
            match pending {
                PendingChange::DropMetric(metric) => self.model.dropped(&metric),
                PendingChange::DeleteEvents(filter) => self.model.deleted_events(&filter),
                PendingChange::Expire => {}
            }
        }
        Ok(())
    }

    pub(super) fn decay(&mut self, kind: FileKind, seed: u64) -> Outcome {
        self.disk.disarm();
        self.has_decayed = true;
        let mut random = Random::new(seed);
        if random.percent(50) && !self.has_failed_calls() {
            self.reopen()?;
        } else {
            self.restart_after_kill()?;
        }
        self.engine = None;
        let Some(decay) = self.disk.decay(&mut random, kind).unwrap() else { return self.open() };
        let engine = match self.setup.open(&self.disk, DATA, &self.clock) {
            Ok(engine) => engine,
            Err(error) => {
                return fail("the engine does not open after decay", format!("{decay:?}: {error}"));
            }
        };
        self.engine = Some(engine);
        let with_decay = |mut failure: Failure| {
            failure.details = format!("{decay:?}: {}", failure.details);
            failure
        };
        self.checker(Health::Decayed).all().map_err(with_decay)?;
        self.check_small_state_after_decay().map_err(with_decay)?;
        for (kind, done) in [
            ("a seal fails after decay", self.engine().seal().map(|_| ())),
            ("a compaction fails after decay", self.engine().merge().map(|_| ())),
        ] {
            if let Err(error) = done {
                return fail(kind, format!("{decay:?}: {error}"));
            }
        }
        self.checker(Health::Decayed).all().map_err(with_decay)?;
        self.check_small_state_after_decay().map_err(with_decay)
    }

    /// Checks that documents and records lost to decay are reported.
    fn check_small_state_after_decay(&self) -> Outcome {
        let documents = documents::documents(self.engine());
        let records = documents::records(self.engine());
        let all = [("documents", documents, &self.documents), ("records", records, &self.records)];
        for (what, found, model) in all {
            let possible = found.as_ref().is_ok_and(|found| model.may_contain(found));
            if !possible && self.engine().damage().is_empty() {
                let details = format!("{what}: {found:?} instead of {model:?}");
                return fail("data lost to decay is not reported", details);
            }
        }
        Ok(())
    }
}

/// Returns whether a line about damage names our log or the database's; "catalog" names neither.
fn is_about_a_log(line: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word == "log")
}

/// Returns whether the first event of this attempt of a write is stored; another attempt has other
/// event numbers.
fn has_first_event(engine: &Engine, write: &SubmittedWrite) -> Result<bool> {
    let Some(first) = write.events.first() else { return Ok(true) };
    let range = TimeRange::new(first.time.0, first.time.0 + 1);
    let filter = EventFilter { range, name: NameFilter::Any, user: None, tags: vec![] };
    let query = EventListQuery { filter, after: None, offset: 0, limit: EVENTS_MAX };
    let page = engine.list_events(&query)?;
    Ok(page.events.iter().any(|event| event.id == first.id))
}

/// Returns how often a write is stored, according to its receipt or its marker.
fn present(engine: &Engine, write: &SubmittedWrite) -> Result<u64> {
    if write.keyed {
        return Ok(u64::from(engine.receipt(u128::from(write.id))?.is_some()));
    }
    let own = TagCondition::AnyOf(vec![write.id.to_string()].into());
    let answer = engine.query(&MetricQuery {
        metric: MetricName::new(MARKER).unwrap(),
        range: TimeRange::new(write.now - DAY, write.now + DAY),
        interval: Interval::DAY,
        aggregations: vec![Aggregation::Sum],
        filters: vec![TagFilter { key: "write".into(), condition: own }],
        group_by: vec![],
    });
    match answer {
        Ok(answer) => {
            let sums = answer.groups.iter().flat_map(|group| &group.columns[0]);
            Ok(sums.sum::<f64>() as u64)
        }
        Err(Error::Refused(_)) => Ok(0),
        Err(error) => Err(error),
    }
}

#[test]
fn damage_to_a_catalog_is_not_damage_to_a_log() {
    for (line, expected) in [
        ("lost: the log lacks the records 7..9", true),
        ("lost: 3 entries at the end of the database's log (sequence numbers 1 to 3)", true),
        ("log 000004.log of the database: bytes 1 to 2 are damaged", true),
        ("lost: event catalog: a checksum does not match", false),
        ("lost: catalog entry [01]: a frame is too short", false),
    ] {
        assert_eq!(is_about_a_log(line), expected, "{line}");
    }
}
