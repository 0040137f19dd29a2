//! The public face of the engine: opens the rooms, and hands every call to the one that answers it.

use std::path::Path;
use std::sync::{Arc, mpsc};

use crate::asking::Waiting;
use crate::directory;
use crate::documents::{Documents, Receipt};
use crate::engine_inner::EngineInner;
use crate::error::{Error, Refusal, Result};
use crate::log::{self, Applied, Submission, encode_dropped, encode_write};
use crate::maintenance::{self, BackupReport, Stage};
use crate::memory::Memory;
use crate::metrics::{
    self, BatchBuilder, BatchNames, DefinitionFilter, DefinitionPage, MetricDefinition,
};
use crate::model::{
    Event, EventAnswer, EventBatch, EventFilter, EventListQuery, EventPage, EventQuery, Lsn,
    MetricQuery, MetricType, PointBatch, QueryResult,
};
use crate::options::Options;
use crate::records::Records;
use crate::reports::{DeleteReport, ExpireReport, MergeReport, VerifyReport};
use crate::startup;
use crate::stats::EngineStats;
use crate::telemetry::SealReport;
use crate::trusted_time::TrustedTime;

/// A time-series engine on a directory of its own. Cheap to clone; the directory is released with the last clone.
#[derive(Clone, Debug)]
pub struct Engine {
    inner: Arc<EngineInner>,
}

/// What is to be written together, and the receipt that is stored with it.
#[derive(Debug, Default)]
pub struct Write {
    /// Points of metrics.
    pub points: PointBatch,
    /// Events.
    pub events: Option<EventBatch>,
    /// How the write is answered, for the case that it is sent again.
    pub receipt: Option<Receipt>,
}

/// A durable write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its position in the log.
    pub lsn: Lsn,
}

impl Engine {
    /// Opens the engine in `dir`, which is made if it is not there. Replays the log, which may take seconds after a
    /// crash. Fails with [`Error::Open`] while another engine has the directory open.
    pub fn open(dir: &Path, options: Options) -> Result<Self> {
        startup::open(dir, options).map(|inner| Self { inner: Arc::new(inner) })
    }

    /// Seals what is in memory and stops the threads. Writes after it are [`Error::Unavailable`]; an engine that is
    /// dropped without it loses nothing and replays its log at the next open.
    pub fn close(&self) -> Result<()> {
        let sealed = self.inner.keeper.seal();
        self.inner.stop();
        sealed.and_then(|_| self.inner.store.flush())
    }

    /// Heals what reads have come across that failed with [`Error::Corrupt`]: damaged tables are mended or taken out, and what is
    /// lost is told by [`Self::damage`]. Answers whether there was anything, and so whether it is worth to read again. The
    /// engine does so by itself within seconds; this is for whoever cannot go on before.
    pub fn heal(&self) -> Result<bool> {
        self.inner.store.heal_suspects()
    }

    /// Starts a batch of points given by names and tags. Names that are [reserved](crate::limits::RESERVED_PREFIX) are refused.
    pub fn batch(&self) -> BatchBuilder<'_> {
        BatchBuilder::new(&self.inner.telemetry.metrics, BatchNames::Unreserved)
    }

    /// Starts a batch of points of any names: for metrics that the program writes of itself, never for what others send.
    pub fn own_batch(&self) -> BatchBuilder<'_> {
        BatchBuilder::new(&self.inner.telemetry.metrics, BatchNames::All)
    }

    /// Writes points and waits until they are durable as configured.
    pub fn write(&self, points: PointBatch) -> Result<Written> {
        let (tell, told) = mpsc::sync_channel(1);
        self.submit(Write { points, ..Write::default() }, move |outcome| {
            // Nobody listens only when this thread is gone.
            let _heard = tell.send(outcome);
        });
        told.recv().map_err(|_| Error::Unavailable("the log has stopped".into()))?
    }

    /// Starts a batch of events.
    pub fn event_batch(&self) -> EventBatch {
        self.inner.telemetry.events.batch()
    }

    /// A number that no event has and none will get: those of events pushed to a batch so far are smaller, those of events
    /// pushed later greater. It is not durable by itself: after a start it is given again, unless an event with a greater
    /// number was written or events were sealed since.
    pub fn take_event_number(&self) -> u64 {
        self.inner.telemetry.events.take_number()
    }

    /// Makes sure that events pushed from now on, and numbers taken, have greater numbers than this one. Numbers above 2⁶³,
    /// which no engine reaches, are ignored.
    pub fn skip_event_numbers(&self, through: u64) {
        self.inner.telemetry.events.skip_numbers(through);
    }

    /// A page of events, newest first. Takes a core or more for as long as it takes: not for reactors.
    pub fn list_events(&self, query: &EventListQuery) -> Result<EventPage> {
        self.inner.telemetry.events.list(query)
    }

    /// Hands every event that matches and has this number ([`crate::EventId::number`]) or a greater one to `visit`, in no order: what
    /// came after an event that is known, for those who keep something that follows from events. Reads as much as it must; not
    /// for reactors. Answers how many damaged blocks were left out.
    pub fn events_since(
        &self,
        filter: &EventFilter,
        number: u64,
        visit: impl FnMut(Event),
    ) -> Result<u64> {
        self.inner.telemetry.events.since(filter, number, visit)
    }

    /// Deletes the events that match, of all that were pushed to a batch before the call; surely those that were written by then.
    /// Should the process die meanwhile, some of
    /// them may be left: the same call again removes the rest. Takes time: what is in memory is sealed, and every block that
    /// holds such an event is written anew.
    pub fn delete_events(&self, filter: &EventFilter) -> Result<DeleteReport> {
        self.inner.keeper.delete_events(filter)
    }

    /// Answers a question about events. Takes a core or more for as long as it takes: not for reactors.
    pub fn query_events(&self, query: &EventQuery) -> Result<EventAnswer> {
        self.inner.telemetry.events.query(query)
    }

    /// Writes points and calls `done` when they are durable as configured, from another thread. `done` must be quick.
    pub fn submit(&self, write: Write, done: impl FnOnce(Result<Written>) + Send + 'static) {
        let Write { points, events, receipt } = write;
        let events = events.map(EventBatch::into_rows).unwrap_or_default();
        self.inner.committer.submit(Submission {
            payload: encode_write(&points, &events, receipt.as_ref()),
            synced: false,
            applied: Applied::Write(Box::new(log::Written { points, events, receipt })),
            done: Box::new(move |outcome| done(outcome.map(|lsn| Written { lsn }))),
        });
    }

    /// The receipt of an earlier write or transaction; none when there is none or it has expired.
    pub fn receipt(&self, id: u128) -> Result<Option<Receipt>> {
        let now = self.inner.trusted.read().expiry;
        match self.inner.telemetry.unsealed_receipt(id, now) {
            Some(receipt) => Ok(Some(receipt)),
            None => self.inner.documents.receipt(id),
        }
    }

    /// Answers a question about one metric. Takes a core or more for as long as it takes: not for reactors.
    pub fn query(&self, query: &MetricQuery) -> Result<QueryResult> {
        metrics::query(&self.inner.telemetry.metrics, Waiting::current(), query)
    }

    /// Answers several questions, each as [`Self::query`] would and in their order, as many at the same time as there are threads
    /// for queries: each may take [`Options::query_bytes`]. Ends with the first that is refused or fails, or that `take`
    /// refuses. Not for reactors.
    pub fn query_all<E: From<Error>>(
        &self,
        queries: &[MetricQuery],
        take: impl FnMut(QueryResult) -> Result<(), E>,
    ) -> Result<(), E> {
        metrics::query_all(&self.inner.telemetry.metrics, queries, take)
    }

    /// The metrics, sorted by name.
    pub fn metrics(&self, filter: &DefinitionFilter) -> DefinitionPage {
        self.inner.telemetry.metrics.definitions(filter)
    }

    /// What is known of a metric, if it has any points. Reads all points of a gauge that are in memory, as a query does.
    pub fn metric(&self, name: &str) -> Result<Option<MetricDefinition>> {
        self.inner.telemetry.metrics.definition(name)
    }

    /// The type of a metric, if there is one of this name. Cheaper than [`Self::metric`].
    pub fn metric_type(&self, name: &str) -> Option<MetricType> {
        self.inner.telemetry.metrics.kind_of(name)
    }

    /// The tag keys of a metric with their numbers of values, sorted.
    pub fn tag_keys(&self, name: &str) -> Result<Vec<(String, u64)>> {
        self.inner.telemetry.metrics.tag_keys(name)
    }

    /// The values of a tag with their numbers of series, sorted; none when the metric lacks the tag.
    pub fn tag_values(&self, name: &str, key: &str) -> Result<Vec<(String, u64)>> {
        self.inner.telemetry.metrics.tag_values(name, key)
    }

    /// Deletes a metric with all its points. Its name is free afterwards, also for another type.
    pub fn delete_metric(&self, name: &str) -> Result<()> {
        let id = self.inner.telemetry.metrics.registry().with_metric(name, |metric| metric.id);
        let Some(id) = id else {
            return Err(Refusal::MetricNotFound(name.to_owned()).into());
        };
        let (tell, told) = mpsc::sync_channel(1);
        self.inner.committer.submit(Submission {
            payload: encode_dropped(id),
            // Who deletes wants it gone for good.
            synced: true,
            applied: Applied::Dropped(id),
            done: Box::new(move |outcome| {
                let _heard = tell.send(outcome);
            }),
        });
        told.recv().map_err(|_| Error::Unavailable("the log has stopped".into()))?.map(|_| ())
    }

    /// Puts all points in memory into blocks.
    pub fn seal(&self) -> Result<SealReport> {
        self.inner.keeper.seal()
    }

    /// Merges blocks to their final form, whatever their age, and gives back the disk of those they replace.
    pub fn merge(&self) -> Result<MergeReport> {
        self.inner.keeper.merge()
    }

    /// Removes what is older than it is kept, by [`Self::trusted_time`]: a clock that has just jumped forward removes nothing,
    /// and the report says so.
    pub fn expire(&self) -> Result<ExpireReport> {
        self.inner.keeper.expire()
    }

    /// Copies everything to `target`, which must not exist nor lie in the data directory, as of one instant between the call and
    /// its return. Seals wait only while links are made; the copy is verified before it appears under its name.
    pub fn backup(&self, target: &Path) -> Result<BackupReport> {
        let EngineInner { dir, store, segments, keeper, .. } = &*self.inner;
        maintenance::check_target(dir, target)?;
        let stage = {
            let _no_seal_meanwhile = keeper.turn.lock();
            Stage::new(dir, store, segments)?
        };
        stage.copy_to(target)
    }

    /// Copies a backup to `dir`, which must not exist or be empty, and verifies the copy. Until it is complete the directory
    /// cannot be opened.
    pub fn restore(source: &Path, dir: &Path) -> Result<BackupReport> {
        maintenance::restore(source, dir)
    }

    /// Fails with [`Error::Open`] unless `dir` is a data directory with data in it. Changes nothing.
    pub fn check_directory(dir: &Path) -> Result<()> {
        directory::must_hold_data(dir)
    }

    /// Reads everything that is in a data directory and checks it, without opening it: nothing is written. Fails with
    /// [`Error::Open`] when it is no data directory, and while another process has it open.
    pub fn verify_directory(dir: &Path) -> Result<VerifyReport> {
        maintenance::inspect(dir)
    }

    /// Reads everything that is on disk and checks it.
    pub fn verify(&self) -> Result<VerifyReport> {
        let inner = &self.inner;
        let report = maintenance::verify(
            &inner.telemetry,
            &inner.documents,
            &inner.records,
            &inner.segments,
        );
        let mut report = report?;
        inner.store.verify_files(&mut report.damaged)?;
        report.damaged.extend(inner.damage.lines());
        Ok(report)
    }

    /// What is known to be damaged, one line each: what was lost or mended, now or in earlier runs, until somebody removes the
    /// file `DAMAGE` from the data directory; blocks set aside; what fails now.
    pub fn damage(&self) -> Vec<String> {
        let mut lines = self.inner.damage.lines();
        lines.extend(self.inner.telemetry.metrics.damage());
        lines.extend(self.inner.telemetry.events.damage());
        lines.extend(self.inner.documents.damaged());
        lines.extend(self.inner.alarm.upkeep_failure().map(|reason| format!("upkeep: {reason}")));
        lines
    }

    /// How much there is of everything.
    pub fn stats(&self) -> EngineStats {
        EngineStats::of(&self.inner)
    }

    /// The account of memory that it was opened with.
    pub fn memory(&self) -> &Memory {
        &self.inner.telemetry.options().memory
    }

    /// Why writes are refused, while they are.
    pub fn trouble(&self) -> Option<String> {
        self.inner.alarm.trouble()
    }

    /// Why nothing will be written before the engine is opened again, if that is so: a thread of the engine panicked. What was
    /// acknowledged is on disk.
    pub fn failure(&self) -> Option<String> {
        self.inner.alarm.failure()
    }

    /// What time it is, for whoever deletes because of it, and whether the clock is believed.
    pub fn trusted_time(&self) -> TrustedTime {
        self.inner.trusted.read()
    }

    /// Stores what time is believed, for the next start. The maintenance thread does so at the start and every ten minutes; with
    /// [`crate::Maintenance::Manual`] only a seal does, so that a start before the first one believes any clock. Not synced: a
    /// power loss may take the note.
    pub fn note_time(&self) -> Result<()> {
        self.inner.trusted.persist()
    }

    /// Documents: everything that is not telemetry.
    pub fn documents(&self) -> &Documents {
        &self.inner.documents
    }

    /// Records: state that is not telemetry and changes too often for documents.
    pub fn records(&self) -> &Records {
        &self.inner.records
    }
}

#[cfg(test)]
impl Engine {
    /// [`Self::open`], on files of the log that may fail.
    pub(crate) fn open_on(dir: &Path, options: Options, log_ops: log::FileOps) -> Result<Self> {
        startup::open_on(dir, options, log_ops).map(|inner| Self { inner: Arc::new(inner) })
    }

    /// What is behind the face, for the tests of the rooms.
    pub(crate) fn inner(&self) -> &EngineInner {
        &self.inner
    }

    /// The averages of a metric over all of its series, of which no block is damaged.
    pub(crate) fn averages(
        &self,
        metric: &str,
        range: crate::model::TimeRange,
        interval: crate::model::Interval,
    ) -> Vec<f64> {
        let query = MetricQuery::of_all(metric, range, interval, &[crate::model::Aggregation::Avg]);
        let mut answer = self.query(&query).unwrap();
        assert_eq!(answer.stats.quarantined, 0);
        answer.groups.pop().and_then(|mut group| group.columns.pop()).unwrap_or_default()
    }
}
