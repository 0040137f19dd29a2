//! The maintenance worker: seals, compacts, expires and deletes, one step at a time, on the
//! maintenance thread or when called.
//!
//! Deadlines use the steady clock, so that setting the wall clock neither delays nor accelerates
//! anything. Deletion by age uses [`TrustedClock`].
//!
//! A step writes to disk first and updates the view in memory afterwards. After a panic between the
//! two, the view is older than the disk, and repeating the step could store its data twice; so the
//! panicking part is disabled until the next start reads the disk. Without compaction and expiry
//! the engine continues to work; without seals it refuses writes.

use std::cell::OnceCell;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use super::merge_schedule::{MergeSchedule, PassEnd};
use crate::documents::Documents;
use crate::error::{Error, Result};
use crate::log::{Committer, Segments};
use crate::metrics::registry::RetirementProgress;
use crate::model::{EventFilter, TimestampMs};
use crate::options::Maintenance;
use crate::panics::catch_panic;
use crate::reports::{
    CompactionBudget, CompactionReport, CompactionScope, DeleteReport, ExpireReport, Pace,
};
use crate::telemetry::{MaintenanceState, Part};
use crate::telemetry::{SealReport, Telemetry};
use crate::trusted_time::TrustedClock;

/// The period of passes.
const PASS_PERIOD: Duration = Duration::from_secs(1);
/// Windows of metrics that a pass plans to compact; below, groups of event blocks that it compacts.
const WINDOWS_PER_PASS: usize = 4_096;
const EVENT_GROUPS_PER_PASS: usize = 4;
/// How long a pass compacts if no seal is requested. While there is more to compact, the thread
/// then pauses for as long as the pass took: with a backlog it uses half a core.
const MERGE_TIME: Duration = Duration::from_millis(500);
const EXPIRE_PERIOD: Duration = Duration::from_secs(3_600);
/// Time between two attempts to remove series without data while a batch may still refer to them.
const RETIRE_PERIOD: Duration = Duration::from_secs(60);
/// Time between two searches for small tables that can be joined.
const JOIN_PERIOD: Duration = Duration::from_secs(60);
/// Time from a start to the first expiry: short enough that a frequently restarted server expires
/// data at all.
const EXPIRE_AFTER_START: Duration = Duration::from_secs(600);
/// Time from a failed seal to the next attempt.
const RETRY_PERIOD: Duration = Duration::from_secs(2);
/// Time between two writes of the trusted time. A crash may lose this much of it; the next start
/// then waits as long until it trusts the clock.
const STORE_TIME_PERIOD: Duration = Duration::from_secs(600);

/// Performs the maintenance of an engine.
#[derive(Debug)]
pub(crate) struct MaintenanceWorker {
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) documents: Arc<Documents>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) segments: Segments,
    pub(crate) maintenance_state: Arc<MaintenanceState>,
    pub(crate) trusted: Arc<TrustedClock>,
    /// Held during a step: one step runs at a time.
    pub(crate) turn: Mutex<DueTimes>,
}

/// The times on the steady clock at which tasks are due.
#[derive(Debug)]
pub(crate) struct DueTimes {
    seal: Duration,
    merge: MergeSchedule,
    expire: Duration,
    join: Duration,
    store_time: Duration,
}

impl DueTimes {
    /// Returns the times after a start: replayed data is sealed and compacted soon. Expiry waits,
    /// so that an operator who opened old data with a wrong retention has time to notice.
    pub(crate) fn after_start(now: Duration) -> Self {
        let (expire, store_time) = (now + EXPIRE_AFTER_START, now + STORE_TIME_PERIOD);
        let merge = MergeSchedule::after_start(now);
        Self { seal: now, merge, expire, join: now + JOIN_PERIOD, store_time }
    }
}

impl MaintenanceWorker {
    /// Runs the maintenance thread until it is stopped.
    pub(crate) fn run(&self) {
        let mut rest = PASS_PERIOD;
        while let Some(seal_requested) = self.maintenance_state.wait(rest) {
            // Steps catch their own panics: this is one between steps.
            match catch_panic("the maintenance thread", || self.run_pass(seal_requested)) {
                Ok(wanted) => rest = wanted,
                Err(reason) => self.maintenance_state.fail(Part::Seal, reason),
            }
        }
    }

    /// Performs all due background work. Failures are recorded in the [`MaintenanceState`]; the
    /// next pass tries again. Returns the time until the next pass.
    fn run_pass(&self, seal_requested: bool) -> Duration {
        // Every second, so that a wrong clock is detected before data expires by it.
        self.trusted.read();
        #[cfg(test)]
        self.maintenance_state.panic_if_injected(Part::Log);
        let options = self.telemetry.options();
        let now = self.trusted.steady();
        let in_background = options.maintenance == Maintenance::Background;
        let mut due = self.turn.lock();
        if seal_requested || (in_background && now >= due.seal) {
            // The step itself updates the alarm. While seals fail, pending seal requests are
            // retried soon: the cause may go away at any moment.
            let pause =
                if self.seal_step(&mut due).is_ok() { options.head_age } else { RETRY_PERIOD };
            due.seal = now.saturating_add(pause);
        }
        if in_background && now >= due.store_time {
            due.store_time = now + STORE_TIME_PERIOD;
            self.store_time();
        }
        let (mut failure, mut rest) = (None, PASS_PERIOD);
        if in_background && let Some(scope) = due.merge.due(now) {
            let started = self.trusted.steady();
            let spent = || self.trusted.steady().saturating_sub(started);
            // The time limit does not include planning.
            let planned = OnceCell::new();
            let has_time = || {
                let planned = *planned.get_or_init(spent);
                spent().saturating_sub(planned) < MERGE_TIME
                    && !self.maintenance_state.is_seal_requested()
            };
            let budget = CompactionBudget { windows: WINDOWS_PER_PASS, has_time: &has_time };
            let merged = self.merge_step(scope, budget, EVENT_GROUPS_PER_PASS);
            let busy = merged.as_ref().is_ok_and(|report| report.windows > 0);
            let end = match (busy, has_time()) {
                (false, _) => PassEnd::Idle,
                (true, true) => PassEnd::Complete,
                (true, false) => PassEnd::Cut,
            };
            due.merge.passed(now, scope, end);
            if busy {
                rest = spent().min(PASS_PERIOD);
            }
            failure = merged.err();
        }
        if in_background && now >= due.expire {
            failure = failure.or(self.expire_step(&mut due).err());
            let waits = self.telemetry.metrics.registry().marked() == RetirementProgress::InUse;
            due.expire = now + if waits { RETIRE_PERIOD } else { EXPIRE_PERIOD };
        }
        if in_background {
            failure = failure.or(self.collect_garbage(Pace::Piece).err());
        }
        if in_background && now >= due.join {
            let joined = self.join_step();
            let busy = joined.as_ref().is_ok_and(|fewer| *fewer > 0);
            due.join = if busy { now } else { now + JOIN_PERIOD };
            failure = failure.or(joined.err());
        }
        self.maintenance_state.maintenance_done(failure.map(|error| error.to_string()));
        rest
    }

    /// Seals all that was written before.
    pub(crate) fn seal(&self) -> Result<SealReport> {
        let mut due = self.turn.lock();
        let mut report = self.seal_step(&mut due)?;
        // A seal that had failed before was only completed: seal what was written since.
        report += self.seal_step(&mut due)?;
        Ok(report)
    }

    fn seal_step(&self, due: &mut DueTimes) -> Result<SealReport> {
        let outcome = self.run_step(Part::Seal, || self.try_seal());
        self.maintenance_state.sealed(outcome.as_ref().err().map(ToString::to_string));
        if let Ok(report) = &outcome {
            self.store_time();
            // New blocks may be of closed windows, for example of imported data.
            if report.points + report.events > 0 {
                due.merge.sealed(self.trusted.steady());
            }
        }
        outcome
    }

    fn try_seal(&self) -> Result<SealReport> {
        if !self.telemetry.is_frozen() {
            let (sender, receiver) = mpsc::sync_channel(1);
            self.committer.rotate(move |boundary| {
                let _sent = sender.send(boundary);
            });
            receiver.recv().map_err(|_| Error::Unavailable("the log has stopped".into()))??;
        }
        let Some((boundary, report)) = self.telemetry.seal_frozen()? else {
            return Ok(SealReport::default());
        };
        self.telemetry.store().flush_blocks()?;
        self.segments.delete_through(boundary)?;
        Ok(report)
    }

    /// Compacts all blocks to their final form and deletes files that are no longer needed.
    pub(crate) fn merge(&self) -> Result<CompactionReport> {
        let _turn = self.turn.lock();
        let report = self.merge_step(CompactionScope::All, CompactionBudget::ALL, usize::MAX)?;
        self.collect_garbage(Pace::Whole)?;
        self.telemetry.settle_disk()?;
        while self.join_step()? > 0 {}
        // What was merged is stored; the next step of the upkeep tries again.
        if let Err(error) = self.telemetry.store().guard_all() {
            tracing::warn!(%error, "the tables that a merge wrote have no guards yet");
        }
        Ok(report)
    }

    fn merge_step(
        &self,
        scope: CompactionScope,
        budget: CompactionBudget<'_>,
        event_groups: usize,
    ) -> Result<CompactionReport> {
        let Telemetry { metrics, events, .. } = &*self.telemetry;
        let expiry = self.trusted.read().expiry;
        self.run_step(Part::Upkeep, || {
            let mut report = metrics.compact_windows(scope, budget, expiry)?;
            report += events.compact_blocks(scope, event_groups)?;
            Ok(report)
        })
    }

    fn collect_garbage(&self, pace: Pace) -> Result<()> {
        self.run_step(Part::Upkeep, || {
            self.telemetry.metrics.collect_garbage(pace)?;
            self.telemetry.events.collect_garbage()
        })
    }

    /// Joins small tables. Returns by how many tables the database has fewer.
    fn join_step(&self) -> Result<usize> {
        self.run_step(Part::Upkeep, || self.telemetry.store().join_small_tables())
    }

    /// Deletes the matching events among all that were written before. Lets other steps run between
    /// two blocks: there may be many blocks, and writers wait for seals.
    pub(crate) fn delete_events(&self, filter: &EventFilter) -> Result<DeleteReport> {
        let mut due = self.turn.lock();
        // Twice: the first call may only complete a seal that failed before.
        self.seal_step(&mut due)?;
        self.seal_step(&mut due)?;
        let pause = || MutexGuard::bump(&mut due);
        let report =
            self.run_step(Part::Upkeep, || self.telemetry.events.delete_rows(filter, pause))?;
        self.collect_garbage(Pace::Piece)?;
        Ok(report)
    }

    /// Removes data older than its retention.
    pub(crate) fn expire(&self) -> Result<ExpireReport> {
        let mut due = self.turn.lock();
        self.expire_step(&mut due)
    }

    fn expire_step(&self, due: &mut DueTimes) -> Result<ExpireReport> {
        let time = self.trusted.read();
        let report = self.run_step(Part::Upkeep, || {
            let metrics = self.telemetry.metrics.expire_blocks(time.expiry)?;
            let events = self.telemetry.events.expire_blocks(time.expiry)?;
            let receipts = self.documents.expire_receipts(time.expiry)?;
            Ok(ExpireReport {
                blocks: metrics.blocks + events.blocks,
                bytes: metrics.bytes + events.bytes,
                receipts,
                as_of: time.expiry,
                deviation: time.deviation,
            })
        })?;
        let retired = self.retire_step(time.expiry, due);
        self.collect_garbage(Pace::Piece)?;
        retired?;
        Ok(report)
    }

    /// Removes series without data from the registry. Series that a batch refers to, or may refer
    /// to, are left for the next time.
    fn retire_step(&self, expiry: TimestampMs, due: &mut DueTimes) -> Result<()> {
        let metrics = &self.telemetry.metrics;
        let marked = self.run_step(Part::Upkeep, || Ok(metrics.mark_series(expiry)))?;
        if marked != RetirementProgress::Quiet && !metrics.registry().has_removed_series() {
            return Ok(());
        }
        if self.telemetry.is_frozen() {
            // Completes a seal that failed before; it does not cover later writes.
            self.seal_step(due)?;
        }
        self.seal_step(due)?;
        self.run_step(Part::Upkeep, || metrics.retire_series(marked, expiry).map(drop))
    }

    /// Stores the trusted time for the next start.
    pub(crate) fn store_time(&self) {
        if let Err(error) = self.trusted.persist() {
            tracing::warn!(%error, "the trusted time was not stored; it is retried with the next write");
        }
    }

    /// Runs a step of a part, unless the part is disabled. A panic in the step disables it.
    fn run_step<T>(&self, part: Part, step: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(reason) = self.maintenance_state.disabled(part) {
            return Err(Error::Unavailable(reason));
        }
        let done = catch_panic(part.name(), || {
            #[cfg(test)]
            self.maintenance_state.panic_if_injected(part);
            step()
        });
        done.unwrap_or_else(|panic| {
            let reason = format!("{panic}; it is disabled until the next start");
            self.maintenance_state.fail(part, reason.clone());
            Err(Error::Unavailable(reason))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::merge_schedule::{AFTER_SEAL, QUIET};
    use super::*;
    use crate::clock::Clock;
    use crate::documents::Receipt;
    use crate::model::{MetricType, NewEvent};
    use crate::storage::{Batch, Keyspace, Sync};
    use crate::{Engine, Options, Write};

    #[test]
    fn one_seal_does_not_request_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(1_700_000_000_000));
        let options = Options {
            maintenance: Maintenance::Manual,
            clock: clock.clone(),
            ..Options::default()
        };
        let engine = Engine::open(dir.path(), options).unwrap();
        let mut batch = engine.batch();
        let series = batch.series("cpu", MetricType::Gauge, &[]).unwrap();
        batch.number(MetricType::Gauge, series, clock.now(), 1.0);
        engine.write(batch.finish()).unwrap();
        engine.seal().unwrap();
        assert_eq!(engine.inner().maintenance_state.wait(Duration::ZERO), Some(false));
    }

    const DAY: Duration = Duration::from_secs(86_400);
    const START: TimestampMs = TimestampMs(20_000 * 86_400_000);

    /// Writes a sample of a gauge, an event and a receipt, and seals them.
    fn fill(engine: &Engine, clock: &Clock) {
        fill_with_receipt(engine, clock, 7);
    }

    fn fill_with_receipt(engine: &Engine, clock: &Clock, id: u128) {
        let mut points = engine.batch();
        let series = points.series("cpu", MetricType::Gauge, &[]).unwrap();
        points.number(MetricType::Gauge, series, clock.now(), 1.0);
        let points = points.finish();
        let mut events = engine.event_batch();
        let (time, tags) = (clock.now(), &[][..]);
        let new = NewEvent { name: "a", time, user: None, value: None, tags, properties: None };
        events.push(&new).unwrap();
        let expires_at = engine.trusted_time().expires_after(86_400_000);
        let receipt = Receipt { id, fingerprint: 1, answer: vec![1], expires_at };
        let (sender, receiver) = mpsc::channel();
        let write = Write { points, events: Some(events), receipt: Some(receipt) };
        engine.submit(write, move |outcome| sender.send(outcome).unwrap());
        receiver.recv().unwrap().unwrap();
        engine.seal().unwrap();
    }

    /// Returns the number of blocks and stored events, and whether the receipt exists.
    fn kept(engine: &Engine) -> (u64, u64, bool) {
        let stats = engine.stats();
        (stats.blocks, stats.events_stored, engine.receipt(7).unwrap().is_some())
    }

    fn open(dir: &Path, clock: &Clock, maintenance: Maintenance) -> Engine {
        let options = Options { maintenance, clock: clock.clone(), ..Options::default() };
        Engine::open(dir, options).unwrap()
    }

    #[test]
    fn a_clock_that_is_briefly_ahead_deletes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        fill(&engine, &clock);
        let before = kept(&engine);
        assert_eq!(before, (1, 1, true));
        for ahead in [40, 3 * 365] {
            let now = clock.now();
            clock.jump(TimestampMs(now.0 + ahead * 86_400_000));
            let report = engine.expire().unwrap();
            assert_eq!((report.blocks, report.receipts), (0, 0));
            assert_eq!(report.as_of, now, "expiry uses the time that has passed");
            let deviation = report.deviation.unwrap();
            assert_eq!(deviation.ahead_ms, ahead * 86_400_000);
            assert_eq!(deviation.left_ms, 86_400_000);
            // A compaction would drop expired data.
            engine.merge().unwrap();
            assert_eq!(kept(&engine), before);
            clock.pass(Duration::from_secs(4));
            engine.expire().unwrap();
            clock.jump(TimestampMs(now.0 + 4_000));
            assert_eq!(engine.expire().unwrap().deviation, None);
            assert_eq!(kept(&engine), before);
        }
    }

    #[test]
    fn expired_data_is_deleted_a_day_after_a_long_downtime() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        fill(&engine, &clock);
        engine.close().unwrap();
        drop(engine);
        clock.jump(TimestampMs(START.0 + 800 * 86_400_000));
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        assert_eq!(engine.expire().unwrap().blocks, 0);
        clock.pass(DAY / 2);
        assert_eq!(engine.expire().unwrap().blocks, 0);
        clock.pass(DAY / 2);
        let report = engine.expire().unwrap();
        assert_eq!((report.blocks, report.receipts, report.deviation), (2, 1, None));
        assert_eq!(kept(&engine), (0, 0, false));
    }

    #[test]
    fn a_clock_that_is_ahead_at_the_start_deletes_nothing_with_or_without_a_stored_time() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        fill(&engine, &clock);
        drop(engine);
        clock.jump(TimestampMs(START.0 + 800 * 86_400_000));
        for is_stored in [true, false] {
            let engine = open(dir.path(), &clock, Maintenance::Manual);
            let report = engine.expire().unwrap();
            assert_eq!((report.blocks, report.deviation.is_some()), (0, true), "{is_stored}");
            assert_eq!(kept(&engine), (1, 1, true));
            if is_stored {
                // As in a data directory of an older version.
                let mut batch = Batch::new();
                batch.delete(Keyspace::Meta, b"clock");
                engine.inner().store.write(batch, Sync::Yes).unwrap();
            }
        }
    }

    #[test]
    fn a_stored_time_reveals_a_wrong_clock_at_the_next_start() {
        for (days, is_stored) in [(800, true), (-800, true), (800, false)] {
            let dir = tempfile::tempdir().unwrap();
            let clock = Clock::manual(START);
            let engine = open(dir.path(), &clock, Maintenance::Manual);
            if is_stored {
                engine.persist_trusted_time().unwrap();
            }
            drop(engine);
            clock.jump(TimestampMs(START.0 + days * 86_400_000));
            let time = open(dir.path(), &clock, Maintenance::Manual).trusted_time();
            assert_eq!(time.deviation.is_some(), is_stored, "{days} {is_stored}");
            assert_eq!(time.believed == START, is_stored, "{days} {is_stored}");
        }
    }

    #[test]
    fn maintenance_continues_whichever_way_the_clock_is_set() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        let options = Options {
            maintenance: Maintenance::Background,
            clock: clock.clone(),
            ..Options::default()
        };
        drop(engine);
        let engine = Engine::open(dir.path(), options).unwrap();
        let worker = &engine.inner().worker;
        worker.run_pass(false);
        for jump in [3 * 365, -6 * 365, 40, -40] {
            let before = engine.stats().seals;
            let mut batch = engine.batch();
            let series = batch.series("cpu", MetricType::Gauge, &[]).unwrap();
            batch.number(MetricType::Gauge, series, START, 1.0);
            engine.write(batch.finish()).unwrap();
            clock.jump(TimestampMs(clock.now().0 + jump * 86_400_000));
            worker.run_pass(false);
            assert_eq!(engine.stats().seals, before, "{jump}: a jump makes nothing due");
            clock.pass(engine.inner().telemetry.options().head_age);
            worker.run_pass(false);
            assert_eq!(engine.stats().seals, before + 1, "{jump}");
        }
    }

    #[test]
    fn a_seal_makes_a_compaction_due_also_after_an_idle_pass() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Background);
        let worker = &engine.inner().worker;
        worker.run_pass(false);
        for value in [1.0, 2.0] {
            let mut batch = engine.batch();
            let series = batch.series("cpu", MetricType::Gauge, &[]).unwrap();
            let time = TimestampMs(START.0 - 3 * 86_400_000);
            batch.number(MetricType::Gauge, series, time, value);
            engine.write(batch.finish()).unwrap();
            engine.seal().unwrap();
        }
        clock.pass(AFTER_SEAL);
        worker.run_pass(false);
        assert!(engine.stats().merges > 0);
    }

    #[test]
    fn an_import_rewrites_a_day_when_it_has_doubled_and_when_it_pauses() {
        const STEP: Duration = Duration::from_secs(3);
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Background);
        let worker = &engine.inner().worker;
        worker.run_pass(false);
        let mut minute = 0;
        let mut import = || {
            let mut batch = engine.batch();
            let series = batch.series("cpu", MetricType::Gauge, &[]).unwrap();
            let time = TimestampMs(START.0 - 3 * 86_400_000 + minute * 60_000);
            batch.number(MetricType::Gauge, series, time, 1.0);
            engine.write(batch.finish()).unwrap();
            engine.seal().unwrap();
            minute += 1;
            clock.pass(STEP);
            worker.run_pass(false);
            engine.stats().merges
        };
        let merges: Vec<u64> = (0..17).map(|_| import()).collect();
        // With 2, 4, 8 and 16 rows.
        assert_eq!(merges, [0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4]);
        clock.pass(QUIET);
        worker.run_pass(false);
        assert_eq!(engine.stats().merges, 5, "the last row");
        // Pauses of three seconds are none: it doubles once, and after a minute the rest is due.
        let merges: Vec<u64> = (0..21).map(|_| import()).collect();
        assert_eq!((merges[15], merges[16], merges[18]), (5, 6, 6));
        assert_eq!((merges[19], merges[20]), (7, 7));
    }

    #[test]
    fn a_panic_in_a_compaction_disables_only_maintenance() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        fill(&engine, &clock);
        engine.inner().maintenance_state.inject(Part::Upkeep);
        for _ in 0..2 {
            let refused = engine.merge().unwrap_err();
            assert!(refused.to_string().contains("injected by the test"), "{refused}");
        }
        assert!(engine.expire().is_err());
        assert!(engine.damage().iter().any(|line| line.contains("injected by the test")));
        assert_eq!((engine.failure(), engine.trouble()), (None, None));
        fill_with_receipt(&engine, &clock, 8);
        drop(engine);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        engine.merge().unwrap();
        assert_eq!(engine.stats().events_stored, 2);
    }

    #[test]
    fn a_panic_in_a_seal_fails_the_engine_and_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        fill(&engine, &clock);
        let mut batch = engine.batch();
        let series = batch.series("cpu", MetricType::Gauge, &[]).unwrap();
        batch.number(MetricType::Gauge, series, START, 2.0);
        engine.write(batch.finish()).unwrap();
        engine.inner().maintenance_state.inject(Part::Seal);
        for _ in 0..2 {
            assert!(matches!(engine.seal(), Err(Error::Unavailable(_))));
        }
        assert!(engine.failure().unwrap().contains("injected by the test"));
        assert_eq!(engine.trouble(), engine.failure());
        drop(engine);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        assert_eq!(
            (engine.failure(), engine.metric("cpu").unwrap().unwrap().data_points),
            (None, 2)
        );
        engine.seal().unwrap();
    }

    #[test]
    fn a_panic_between_two_steps_fails_the_engine_and_the_thread_continues() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        engine.inner().maintenance_state.inject(Part::Log);
        engine.inner().maintenance_state.request_seal();
        while engine.failure().is_none() {
            std::thread::yield_now();
        }
        assert!(engine.seal().is_err());
    }
}
