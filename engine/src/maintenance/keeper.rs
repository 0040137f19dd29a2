//! The keeper: does the upkeep, one step at a time, on its own thread or when asked.
//!
//! What is due is timed by the steady clock, so that a wall clock that is set, either way, neither stalls nor hurries
//! anything. What is deleted because of its age goes by [`TrustedClock`].
//!
//! A step writes to disk first and changes the view then. A panic between the two leaves a view that the disk
//! has gone on from, and the same step again might store its data twice; so after a panic nothing more of that part is done
//! until the next start reads the disk. Without merges and expiry the engine goes on; without seals it refuses writes.

use std::cell::OnceCell;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::documents::Documents;
use crate::error::{Error, Result};
use crate::log::{Committer, Segments};
use crate::metrics::registry::Marked;
use crate::model::{EventFilter, TimestampMs};
use crate::options::Maintenance;
use crate::panics::caught;
use crate::reports::{DeleteReport, Eagerness, ExpireReport, MergeBudget, MergeReport, Pace};
use crate::telemetry::{Alarm, Part};
use crate::telemetry::{SealReport, Telemetry};
use crate::trusted_time::TrustedClock;

/// How often the keeper looks around.
const ROUND: Duration = Duration::from_secs(1);
/// Windows of metrics that a round plans to merge, and groups of event blocks that it merges.
const WINDOWS_PER_ROUND: usize = 4_096;
const EVENT_GROUPS_PER_ROUND: usize = 4;
/// How long a round goes on merging, if nobody waits for a seal. While there is more to merge, the keeper then rests for as long as
/// that took: with a backlog it takes half a core.
const MERGE_TIME: Duration = Duration::from_millis(500);
/// Time between two looks for something to merge when the last one found nothing.
const MERGE_PERIOD: Duration = Duration::from_secs(60);
/// How long after a seal there is a look whether its blocks can be merged. Whoever imports old data seals every few seconds: windows are
/// merged once for several seals, not after each of them.
const MERGE_AFTER_SEAL: Duration = Duration::from_secs(2);
const EXPIRE_PERIOD: Duration = Duration::from_secs(3_600);
/// Time between two looks whether the batches that may name series without data have ended.
const RETIRE_PERIOD: Duration = Duration::from_secs(60);
/// Time between two looks for small tables that can be joined.
const JOIN_PERIOD: Duration = Duration::from_secs(60);
/// Time before the first expiry after a start: not so long that a server that is often started anew would keep everything.
const EXPIRE_AFTER_START: Duration = Duration::from_secs(600);
/// Time between a seal that failed and the next attempt.
const RETRY_PERIOD: Duration = Duration::from_secs(2);
/// Time between two notes of what time it is: what a crash takes of it is told apart from a clock that jumped by waiting as long.
const NOTE_PERIOD: Duration = Duration::from_secs(600);

/// Does the upkeep of an engine.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) documents: Arc<Documents>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) segments: Segments,
    pub(crate) alarm: Arc<Alarm>,
    pub(crate) trusted: Arc<TrustedClock>,
    /// One step at a time.
    pub(crate) turn: Mutex<Due>,
}

/// When what is due, on the steady clock.
#[derive(Debug)]
pub(crate) struct Due {
    seal: Duration,
    merge: Duration,
    expire: Duration,
    join: Duration,
    note: Duration,
}

impl Due {
    /// After a start, what was replayed is sealed and merged soon. Expiry waits: nothing is deleted before an
    /// operator who opened old data with the wrong retention had time to notice.
    pub(crate) fn after_start(now: Duration) -> Self {
        let (expire, note) = (now + EXPIRE_AFTER_START, now + NOTE_PERIOD);
        Self { seal: now, merge: now, expire, join: now + JOIN_PERIOD, note }
    }
}

impl Keeper {
    /// The work of the keeper's thread, until it is stopped.
    pub(crate) fn run(&self) {
        let mut rest = ROUND;
        while let Some(seal_wanted) = self.alarm.wait(rest) {
            // Steps catch their own panics: this is one of those between them.
            match caught("the maintenance thread", || self.round(seal_wanted)) {
                Ok(wanted) => rest = wanted,
                Err(reason) => self.alarm.fail(Part::Seal, reason),
            }
        }
    }

    /// Everything that is done in the background. Failures are kept by the [`Alarm`] for whoever asks; the next
    /// round tries again. Answers how long it may wait.
    fn round(&self, seal_wanted: bool) -> Duration {
        // Each second, so that a clock that is wrong is found out before anything goes by it.
        self.trusted.read();
        #[cfg(test)]
        self.alarm.injected(Part::Log);
        let options = self.telemetry.options();
        let now = self.trusted.steady();
        let own_pace = options.maintenance == Maintenance::Background;
        let mut due = self.turn.lock();
        if seal_wanted || (own_pace && now >= due.seal) {
            // The step itself tells the alarm. While seals fail, what waits for one is refused: the cause may be gone any moment.
            let pause =
                if self.seal_step(&mut due).is_ok() { options.head_age } else { RETRY_PERIOD };
            due.seal = now.saturating_add(pause);
        }
        if own_pace && now >= due.note {
            due.note = now + NOTE_PERIOD;
            self.note_time();
        }
        let (mut failure, mut rest) = (None, ROUND);
        if own_pace && now >= due.merge {
            let begun = self.trusted.steady();
            let spent = || self.trusted.steady().saturating_sub(begun);
            // Planning is the price of a round; what it merges has time of its own.
            let planned = OnceCell::new();
            let has_time = || {
                let planned = *planned.get_or_init(spent);
                spent().saturating_sub(planned) < MERGE_TIME && !self.alarm.is_seal_wanted()
            };
            let budget = MergeBudget { windows: WINDOWS_PER_ROUND, has_time: &has_time };
            let merged = self.merge_step(Eagerness::Over, budget, EVENT_GROUPS_PER_ROUND);
            let busy = merged.as_ref().is_ok_and(|report| report.windows > 0);
            due.merge = if busy { now } else { now + MERGE_PERIOD };
            if busy {
                rest = spent().min(ROUND);
            }
            failure = merged.err();
        }
        if own_pace && now >= due.expire {
            failure = failure.or(self.expire_step(&mut due).err());
            let waits = self.telemetry.metrics.registry().marked() == Marked::InUse;
            due.expire = now + if waits { RETIRE_PERIOD } else { EXPIRE_PERIOD };
        }
        if own_pace {
            failure = failure.or(self.collect_garbage(Pace::Piece).err());
        }
        if own_pace && now >= due.join {
            let joined = self.join_step();
            let busy = joined.as_ref().is_ok_and(|fewer| *fewer > 0);
            due.join = if busy { now } else { now + JOIN_PERIOD };
            failure = failure.or(joined.err());
        }
        self.alarm.upkept(failure.map(|error| error.to_string()));
        rest
    }

    /// Seals all that was written before.
    pub(crate) fn seal(&self) -> Result<SealReport> {
        let mut due = self.turn.lock();
        let mut report = self.seal_step(&mut due)?;
        // A seal that failed before was finished first: what came since is next.
        report += self.seal_step(&mut due)?;
        Ok(report)
    }

    fn seal_step(&self, due: &mut Due) -> Result<SealReport> {
        let outcome = self.guarded(Part::Seal, || self.try_seal());
        self.alarm.sealed(outcome.as_ref().err().map(ToString::to_string));
        if let Ok(report) = &outcome {
            self.note_time();
            // New blocks may be of windows that are over: of data that is imported, for example.
            if report.points + report.events > 0 {
                due.merge = due.merge.min(self.trusted.steady() + MERGE_AFTER_SEAL);
            }
        }
        outcome
    }

    fn try_seal(&self) -> Result<SealReport> {
        if !self.telemetry.is_frozen() {
            let (tell, told) = mpsc::sync_channel(1);
            self.committer.rotate(move |boundary| {
                let _heard = tell.send(boundary);
            });
            told.recv().map_err(|_| Error::Unavailable("the log has stopped".into()))??;
        }
        let Some((boundary, report)) = self.telemetry.seal_frozen()? else {
            return Ok(SealReport::default());
        };
        self.telemetry.store().flush_blocks()?;
        self.segments.delete_through(boundary)?;
        Ok(report)
    }

    /// Brings all blocks to their final form and deletes what is not needed.
    pub(crate) fn merge(&self) -> Result<MergeReport> {
        let _turn = self.turn.lock();
        let report = self.merge_step(Eagerness::All, MergeBudget::ALL, usize::MAX)?;
        self.collect_garbage(Pace::Whole)?;
        self.telemetry.settle_disk()?;
        while self.join_step()? > 0 {}
        Ok(report)
    }

    fn merge_step(
        &self,
        eagerness: Eagerness,
        budget: MergeBudget<'_>,
        event_groups: usize,
    ) -> Result<MergeReport> {
        let Telemetry { metrics, events, .. } = &*self.telemetry;
        let expiry = self.trusted.read().expiry;
        self.guarded(Part::Upkeep, || {
            let mut report = metrics.merge_windows(eagerness, budget, expiry)?;
            report += events.merge_blocks(eagerness, event_groups)?;
            Ok(report)
        })
    }

    fn collect_garbage(&self, pace: Pace) -> Result<()> {
        self.guarded(Part::Upkeep, || {
            self.telemetry.metrics.collect_garbage(pace)?;
            self.telemetry.events.collect_garbage()
        })
    }

    /// Keeps the number of tables small. Returns how many fewer there are.
    fn join_step(&self) -> Result<usize> {
        self.guarded(Part::Upkeep, || self.telemetry.store().join_small_tables())
    }

    /// Removes the events that match, of all that were written before. Between two blocks others have their turn: writers wait
    /// for seals, and there may be many blocks.
    pub(crate) fn delete_events(&self, filter: &EventFilter) -> Result<DeleteReport> {
        let mut due = self.turn.lock();
        // Twice: a seal that failed before is finished first.
        self.seal_step(&mut due)?;
        self.seal_step(&mut due)?;
        let pause = || MutexGuard::bump(&mut due);
        let report =
            self.guarded(Part::Upkeep, || self.telemetry.events.delete_rows(filter, pause))?;
        self.collect_garbage(Pace::Piece)?;
        Ok(report)
    }

    /// Removes what is older than it is kept.
    pub(crate) fn expire(&self) -> Result<ExpireReport> {
        let mut due = self.turn.lock();
        self.expire_step(&mut due)
    }

    fn expire_step(&self, due: &mut Due) -> Result<ExpireReport> {
        let time = self.trusted.read();
        let report = self.guarded(Part::Upkeep, || {
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

    /// Lets series go that have no data any more. Those that somebody is about to write to, or may be, wait for the next time.
    fn retire_step(&self, expiry: TimestampMs, due: &mut Due) -> Result<()> {
        let metrics = &self.telemetry.metrics;
        let marked = self.guarded(Part::Upkeep, || Ok(metrics.mark_series(expiry)))?;
        if marked != Marked::Quiet && !metrics.registry().has_left() {
            return Ok(());
        }
        if self.telemetry.is_frozen() {
            // A seal that failed before is of what was written before.
            self.seal_step(due)?;
        }
        self.seal_step(due)?;
        self.guarded(Part::Upkeep, || metrics.retire_series(marked, expiry).map(drop))
    }

    /// Writes down what time it is, for the next start.
    pub(crate) fn note_time(&self) {
        if let Err(error) = self.trusted.persist() {
            tracing::warn!(%error, "what time it is was not stored; the next note tries again");
        }
    }

    /// Does a step of a part, unless that was given up. A panic in it gives it up.
    fn guarded<T>(&self, part: Part, step: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(reason) = self.alarm.given_up(part) {
            return Err(Error::Unavailable(reason));
        }
        let done = caught(part.name(), || {
            #[cfg(test)]
            self.alarm.injected(part);
            step()
        });
        done.unwrap_or_else(|panic| {
            let reason = format!("{panic}; it is not done again before the next start");
            self.alarm.fail(part, reason.clone());
            Err(Error::Unavailable(reason))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::clock::Clock;
    use crate::documents::Receipt;
    use crate::model::{MetricType, NewEvent};
    use crate::storage::{Batch, Keyspace, Sync};
    use crate::{Engine, Options, Write};

    #[test]
    fn one_seal_does_not_ask_for_the_next() {
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
        assert_eq!(engine.inner().alarm.wait(Duration::ZERO), Some(false));
    }

    const DAY: Duration = Duration::from_secs(86_400);
    const START: TimestampMs = TimestampMs(20_000 * 86_400_000);

    /// Two minutes of a gauge, an event and a receipt, in blocks.
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
        let (tell, told) = mpsc::channel();
        let write = Write { points, events: Some(events), receipt: Some(receipt) };
        engine.submit(write, move |outcome| tell.send(outcome).unwrap());
        told.recv().unwrap().unwrap();
        engine.seal().unwrap();
    }

    /// Blocks of points, events and receipts.
    fn kept(engine: &Engine) -> (u64, u64, bool) {
        let stats = engine.stats();
        (stats.blocks, stats.events_stored, engine.receipt(7).unwrap().is_some())
    }

    fn open(dir: &Path, clock: &Clock, maintenance: Maintenance) -> Engine {
        let options = Options { maintenance, clock: clock.clone(), ..Options::default() };
        Engine::open(dir, options).unwrap()
    }

    #[test]
    fn a_clock_that_is_ahead_for_a_moment_deletes_nothing() {
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
            assert_eq!(report.as_of, now, "what is deleted goes by the time that passed");
            let deviation = report.deviation.unwrap();
            assert_eq!(deviation.ahead_ms, ahead * 86_400_000);
            assert_eq!(deviation.left_ms, 86_400_000);
            // A merge would leave out what has expired.
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
    fn what_is_too_old_goes_a_day_after_a_long_time_off() {
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
    fn a_clock_that_is_ahead_at_the_start_deletes_nothing_with_or_without_a_note() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        fill(&engine, &clock);
        drop(engine);
        clock.jump(TimestampMs(START.0 + 800 * 86_400_000));
        for noted in [true, false] {
            let engine = open(dir.path(), &clock, Maintenance::Manual);
            let report = engine.expire().unwrap();
            assert_eq!((report.blocks, report.deviation.is_some()), (0, true), "{noted}");
            assert_eq!(kept(&engine), (1, 1, true));
            if noted {
                // As an older version left it.
                let mut batch = Batch::new();
                batch.delete(Keyspace::Meta, b"clock");
                engine.inner().store.write(batch, Sync::Yes).unwrap();
            }
        }
    }

    #[test]
    fn a_note_of_the_time_is_enough_not_to_believe_the_clock_of_the_next_start() {
        for (days, is_noted) in [(800, true), (-800, true), (800, false)] {
            let dir = tempfile::tempdir().unwrap();
            let clock = Clock::manual(START);
            let engine = open(dir.path(), &clock, Maintenance::Manual);
            if is_noted {
                engine.note_time().unwrap();
            }
            drop(engine);
            clock.jump(TimestampMs(START.0 + days * 86_400_000));
            let time = open(dir.path(), &clock, Maintenance::Manual).trusted_time();
            assert_eq!(time.deviation.is_some(), is_noted, "{days} {is_noted}");
            assert_eq!(time.believed == START, is_noted, "{days} {is_noted}");
        }
    }

    #[test]
    fn upkeep_goes_on_whichever_way_the_clock_is_set() {
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
        let keeper = &engine.inner().keeper;
        keeper.round(false);
        for jump in [3 * 365, -6 * 365, 40, -40] {
            let before = engine.stats().seals;
            let mut batch = engine.batch();
            let series = batch.series("cpu", MetricType::Gauge, &[]).unwrap();
            batch.number(MetricType::Gauge, series, START, 1.0);
            engine.write(batch.finish()).unwrap();
            clock.jump(TimestampMs(clock.now().0 + jump * 86_400_000));
            keeper.round(false);
            assert_eq!(engine.stats().seals, before, "{jump}: a jump makes nothing due");
            clock.pass(engine.inner().telemetry.options().head_age);
            keeper.round(false);
            assert_eq!(engine.stats().seals, before + 1, "{jump}");
        }
    }

    #[test]
    fn a_seal_makes_a_merge_due_also_after_an_idle_look() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Background);
        let keeper = &engine.inner().keeper;
        keeper.round(false);
        for value in [1.0, 2.0] {
            let mut batch = engine.batch();
            let series = batch.series("cpu", MetricType::Gauge, &[]).unwrap();
            let time = TimestampMs(START.0 - 3 * 86_400_000);
            batch.number(MetricType::Gauge, series, time, value);
            engine.write(batch.finish()).unwrap();
            engine.seal().unwrap();
        }
        clock.pass(MERGE_AFTER_SEAL);
        keeper.round(false);
        assert!(engine.stats().merges > 0);
    }

    #[test]
    fn a_panic_in_a_merge_ends_merging_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        fill(&engine, &clock);
        engine.inner().alarm.inject(Part::Upkeep);
        for _ in 0..2 {
            let refused = engine.merge().unwrap_err();
            assert!(refused.to_string().contains("as the test told"), "{refused}");
        }
        assert!(engine.expire().is_err());
        assert!(engine.damage().iter().any(|line| line.contains("as the test told")));
        assert_eq!((engine.failure(), engine.trouble()), (None, None));
        fill_with_receipt(&engine, &clock, 8);
        drop(engine);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        engine.merge().unwrap();
        assert_eq!(engine.stats().events_stored, 2);
    }

    #[test]
    fn a_panic_in_a_seal_fails_the_engine_and_costs_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        fill(&engine, &clock);
        let mut batch = engine.batch();
        let series = batch.series("cpu", MetricType::Gauge, &[]).unwrap();
        batch.number(MetricType::Gauge, series, START, 2.0);
        engine.write(batch.finish()).unwrap();
        engine.inner().alarm.inject(Part::Seal);
        for _ in 0..2 {
            assert!(matches!(engine.seal(), Err(Error::Unavailable(_))));
        }
        assert!(engine.failure().unwrap().contains("as the test told"));
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
    fn a_panic_between_two_steps_fails_the_engine_and_the_thread_ends_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(dir.path(), &clock, Maintenance::Manual);
        engine.inner().alarm.inject(Part::Log);
        engine.inner().alarm.ask_for_seal();
        while engine.failure().is_none() {
            std::thread::yield_now();
        }
        assert!(engine.seal().is_err());
    }
}
