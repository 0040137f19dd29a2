//! The keeper: does the upkeep, one step at a time, on its own thread or when asked.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use super::{Alarm, DeleteReport, Eagerness, ExpireReport, MergeReport};
use crate::documents::Documents;
use crate::error::{Error, Result};
use crate::log::{Committer, Segments};
use crate::model::{EventFilter, TimestampMs};
use crate::options::Maintenance;
use crate::telemetry::{SealReport, Telemetry};

/// How often the keeper looks around.
const ROUND: Duration = Duration::from_secs(1);
/// Windows merged in one round: the budget between two looks at whether a seal is wanted.
const WINDOWS_PER_ROUND: usize = 4;
/// Time between two looks for something to merge when the last one found nothing.
const MERGE_PERIOD_MS: i64 = 60_000;
const EXPIRE_PERIOD_MS: i64 = 3_600_000;

/// Does the upkeep of an engine.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) documents: Arc<Documents>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) segments: Segments,
    pub(crate) alarm: Arc<Alarm>,
    /// One step at a time.
    pub(crate) turn: Mutex<Due>,
}

/// When what is due.
#[derive(Debug)]
pub(crate) struct Due {
    seal: TimestampMs,
    merge: TimestampMs,
    expire: TimestampMs,
}

impl Due {
    /// After a start, what was replayed is sealed and merged soon. Expiry waits: nothing is deleted before an
    /// operator who opened old data with the wrong retention had time to notice.
    pub(crate) fn after_start(now: TimestampMs) -> Self {
        Self { seal: now, merge: now, expire: TimestampMs(now.0 + EXPIRE_PERIOD_MS) }
    }
}

impl Keeper {
    /// The work of the keeper's thread, until it is stopped.
    pub(crate) fn run(&self) {
        while let Some(seal_wanted) = self.alarm.wait(ROUND) {
            self.round(seal_wanted);
        }
    }

    /// Everything that is done in the background. Failures are kept by the [`Alarm`] for whoever asks; the next
    /// round tries again.
    fn round(&self, seal_wanted: bool) {
        let options = self.telemetry.options();
        let now = options.clock.now();
        let own_pace = options.maintenance == Maintenance::Background;
        let age_ms = i64::try_from(options.head_age.as_millis()).unwrap_or(i64::MAX);
        let mut due = self.turn.lock();
        if seal_wanted || (own_pace && now >= due.seal) {
            due.seal = TimestampMs(now.0.saturating_add(age_ms));
            // The step itself tells the alarm.
            let _told = self.seal_step();
        }
        let mut failure = None;
        if own_pace && now >= due.merge {
            let merged = self.merge_step(Eagerness::Over, WINDOWS_PER_ROUND);
            let busy = merged.as_ref().is_ok_and(|report| report.windows > 0);
            due.merge = TimestampMs(now.0 + if busy { 0 } else { MERGE_PERIOD_MS });
            failure = merged.err();
        }
        if own_pace && now >= due.expire {
            due.expire = TimestampMs(now.0 + EXPIRE_PERIOD_MS);
            failure = failure.or(self.expire_step().err());
        }
        failure = failure.or(self.collect_garbage().err());
        self.alarm.upkept(failure.map(|error| error.to_string()));
    }

    /// Seals all that was written before.
    pub(crate) fn seal(&self) -> Result<SealReport> {
        let _turn = self.turn.lock();
        let mut report = self.seal_step()?;
        // A seal that failed before was finished first: what came since is next.
        report += self.seal_step()?;
        Ok(report)
    }

    fn seal_step(&self) -> Result<SealReport> {
        let outcome = self.try_seal();
        self.alarm.sealed(outcome.as_ref().err().map(ToString::to_string));
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
        self.segments.delete_through(boundary)?;
        Ok(report)
    }

    /// Brings all blocks to their final form and deletes what is not needed.
    pub(crate) fn merge(&self) -> Result<MergeReport> {
        let _turn = self.turn.lock();
        let report = self.merge_step(Eagerness::All, usize::MAX)?;
        self.collect_garbage()?;
        self.telemetry.settle_disk()?;
        Ok(report)
    }

    fn merge_step(&self, eagerness: Eagerness, windows_max: usize) -> Result<MergeReport> {
        let mut report = self.telemetry.metrics.merge_windows(eagerness, windows_max)?;
        report += self.telemetry.events.merge_blocks(eagerness, windows_max)?;
        Ok(report)
    }

    fn collect_garbage(&self) -> Result<()> {
        self.telemetry.metrics.collect_garbage()?;
        self.telemetry.events.collect_garbage()
    }

    /// Removes the events that match, of all that were written before. Between two blocks others have their turn: writers wait
    /// for seals, and there may be many blocks.
    pub(crate) fn delete_events(&self, filter: &EventFilter) -> Result<DeleteReport> {
        let mut turn = self.turn.lock();
        // Twice: a seal that failed before is finished first.
        self.seal_step()?;
        self.seal_step()?;
        let report = self.telemetry.events.delete_rows(filter, || MutexGuard::bump(&mut turn))?;
        self.collect_garbage()?;
        Ok(report)
    }

    /// Removes what is older than it is kept.
    pub(crate) fn expire(&self) -> Result<ExpireReport> {
        let _turn = self.turn.lock();
        self.expire_step()
    }

    fn expire_step(&self) -> Result<ExpireReport> {
        let metrics = self.telemetry.metrics.expire_blocks()?;
        let events = self.telemetry.events.expire_blocks()?;
        let receipts = self.documents.expire_receipts(self.telemetry.options().clock.now())?;
        self.collect_garbage()?;
        let blocks = metrics.blocks + events.blocks;
        Ok(ExpireReport { blocks, bytes: metrics.bytes + events.bytes, receipts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::model::MetricType;
    use crate::{Engine, Options};

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
        assert_eq!(engine.rooms().alarm.wait(Duration::ZERO), Some(false));
    }
}
