//! The public API of the engine. [`Engine`] owns every subsystem of an open data directory and
//! delegates each call to the one that implements it; it contains no storage or query logic of its
//! own.

use std::path::Path;
use std::sync::{Arc, mpsc};

use crate::directory;
use crate::documents::{Documents, Receipt};
use crate::engine_inner::EngineInner;
use crate::error::{Error, Refusal, Result};
use crate::events::EventTailPage;
use crate::files::{self, Files};
use crate::log::{self, Applied, Submission, encode_dropped, encode_write};
use crate::maintenance::{self, BackupReport, BackupStage};
use crate::memory::Memory;
use crate::metrics::{
    self, BatchBuilder, BatchNames, CardinalityPage, CardinalityQuery, DefinitionFilter,
    DefinitionPage, MetricDefinition, TagValueFilter, TagValuePage,
};
use crate::model::{
    Event, EventBatch, EventFilter, EventFunnelQuery, EventFunnelResult, EventId, EventListQuery,
    EventPage, EventQuery, EventQueryResult, Lsn, MetricName, MetricQuery, MetricType, PointBatch,
    QueryResult,
};
use crate::options::Options;
use crate::query_in_progress::Cancellation;
use crate::records::Records;
use crate::reports::{CompactionReport, DeleteReport, ExpireReport, VerifyReport};
use crate::startup;
use crate::stats::EngineStats;
use crate::telemetry::SealReport;
use crate::trusted_time::TrustedTime;

/// A time-series engine that owns one data directory. Cheap to clone; the directory is released
/// when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Engine {
    inner: Arc<EngineInner>,
}

/// The contents of one atomic write, and the receipt that is stored with them.
#[derive(Debug, Default)]
pub struct Write {
    /// Samples of metrics.
    pub points: PointBatch,
    /// Events.
    pub events: Option<EventBatch>,
    /// The response to the write, stored so that a repeated request gets the same response.
    pub receipt: Option<Receipt>,
}

/// A durable write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The position of the write in the write-ahead log.
    pub lsn: Lsn,
}

impl Engine {
    /// Opens the engine in `dir`, which is created if it does not exist. Replays the write-ahead
    /// log, which may take seconds after a crash. Fails with [`Error::Open`] while another process
    /// or engine has the directory open.
    pub fn open(dir: &Path, options: Options) -> Result<Self> {
        startup::open(dir, options).map(|inner| Self { inner: Arc::new(inner) })
    }

    /// Seals the samples and events in memory and stops the threads. Later writes fail with
    /// [`Error::Unavailable`]. An engine that is dropped without `close` loses nothing; the next
    /// open replays its log.
    pub fn close(&self) -> Result<()> {
        let sealed = self.inner.worker.seal();
        self.inner.stop();
        sealed.and_then(|_| self.inner.store.flush())
    }

    /// Repairs the database tables in which a read failed with [`Error::Corrupt`]. Tables that
    /// cannot be repaired are removed, and the loss is reported by [`Self::damage`]. Returns
    /// whether any table was handled, that is, whether the read should be retried. The engine does
    /// the same in the background within seconds; call this where the caller cannot proceed without
    /// the data.
    pub fn heal(&self) -> Result<bool> {
        self.inner.store.repair_suspect_tables()
    }

    /// Returns an empty batch builder for samples given by metric name and tags. Rejects
    /// [reserved](crate::limits::RESERVED_PREFIX) names. A builder keeps the registry locked for
    /// reading: query metrics and tags before, or on another thread.
    pub fn batch(&self) -> BatchBuilder<'_> {
        BatchBuilder::new(&self.inner.telemetry.metrics, BatchNames::Unreserved)
    }

    /// Returns an empty batch builder that accepts reserved names. Only for metrics that the
    /// program writes about itself, never for data received from clients.
    pub fn own_batch(&self) -> BatchBuilder<'_> {
        BatchBuilder::new(&self.inner.telemetry.metrics, BatchNames::All)
    }

    /// Writes samples and blocks until they are durable, as configured by [`Options::durability`].
    pub fn write(&self, points: PointBatch) -> Result<Written> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit_or_write(Write { points, ..Write::default() }, move |outcome| {
            // The send fails only if this thread is gone.
            let _sent = sender.send(outcome);
        });
        receiver.recv().map_err(|_| Error::Unavailable("the log has stopped".into()))?
    }

    /// Returns an empty batch of events.
    pub fn event_batch(&self) -> EventBatch {
        self.inner.telemetry.events.batch()
    }

    /// Returns an event number that no event has or will get: it is greater than the numbers of all
    /// events pushed to a batch so far, and smaller than those of events pushed later. The number
    /// itself is not durable: after a restart the same number may be returned again, unless an
    /// event with a greater number was written or events were sealed since.
    pub fn take_event_number(&self) -> u64 {
        self.inner.telemetry.events.take_number()
    }

    /// Ensures that events pushed from now on, and numbers taken, get numbers greater than
    /// `through`. Values above 2⁶³, which no engine reaches, are ignored.
    pub fn skip_event_numbers(&self, through: u64) {
        self.inner.telemetry.events.skip_numbers(through);
    }

    /// Returns a page of events, newest first. Blocking and CPU-bound: do not call on an async
    /// reactor thread.
    pub fn list_events(&self, query: &EventListQuery) -> Result<EventPage> {
        self.inner.telemetry.events.list(query)
    }

    /// Returns the matching event with this id, if there is one. Reads the ids of all events that
    /// match the filter: a short time range makes it fast. Do not call on an async reactor thread.
    pub fn find_event(&self, filter: &EventFilter, id: EventId) -> Result<Option<Event>> {
        self.inner.telemetry.events.find(filter, id)
    }

    /// Calls `visit` with every matching event whose number ([`crate::EventId::number`]) is at
    /// least `number`, in no particular order. Intended for callers that maintain state derived
    /// from events and resume after the last event they have processed. Reads as many blocks as
    /// needed; do not call on an async reactor thread. Returns the number of corrupt blocks that
    /// were skipped.
    pub fn events_since(
        &self,
        filter: &EventFilter,
        number: u64,
        visit: impl FnMut(Event),
    ) -> Result<u64> {
        self.inner.telemetry.events.since(filter, number, visit)
    }

    /// Evaluates a funnel over events. Blocking and CPU-bound: do not call on an async reactor
    /// thread.
    pub fn event_funnel(&self, query: &EventFunnelQuery) -> Result<EventFunnelResult> {
        self.inner.telemetry.events.funnel(query)
    }

    /// Returns the position of the next event that is written, for [`Self::event_tail`]. It counts
    /// events since the engine was opened.
    pub fn event_tail_position(&self) -> u64 {
        self.inner.telemetry.events.tail().position()
    }

    /// Returns up to `limit` matching events of those written since the position `after`, in the
    /// order of writes. Only the newest events are kept for this, and only while it is called
    /// repeatedly; the page says how many were missed. Does not block for long.
    pub fn event_tail(
        &self,
        filter: &EventFilter,
        after: u64,
        limit: usize,
    ) -> Result<EventTailPage> {
        self.inner.telemetry.events.tail().read(filter, after, limit)
    }

    /// Sets what is called after events were written, before the write is acknowledged, while
    /// [`Self::event_tail`] is in use. `observer` must not block.
    pub fn observe_event_tail(&self, observer: impl Fn() + Send + Sync + 'static) {
        self.inner.telemetry.events.tail().observe(observer);
    }

    /// Deletes the matching events among those written before the call. Events that were pushed to
    /// a batch before the call but not written yet may be deleted too. If the process stops during
    /// the call, some of the events may remain; repeating the call deletes the rest. Slow: seals
    /// the events in memory and rewrites every block that contains a matching event.
    pub fn delete_events(&self, filter: &EventFilter) -> Result<DeleteReport> {
        self.inner.worker.delete_events(filter)
    }

    /// Executes an aggregation query over events. Blocking and CPU-bound: do not call on an async
    /// reactor thread.
    pub fn query_events(&self, query: &EventQuery) -> Result<EventQueryResult> {
        self.inner.telemetry.events.query(query)
    }

    /// Submits a write and calls `done` on another thread once it is durable as configured, or here
    /// if it is refused at once. `done` must not block.
    pub fn submit(&self, write: Write, done: impl FnOnce(Result<Written>) + Send + 'static) {
        self.submit_from(write, false, done);
    }

    /// Does the same, for threads that may block for a moment: where turns have lately taken less
    /// than half a millisecond, this thread writes, with what others have queued, and calls `done`.
    /// Not for threads with further writes to submit: these could share a sync.
    pub fn submit_or_write(
        &self,
        write: Write,
        done: impl FnOnce(Result<Written>) + Send + 'static,
    ) {
        self.submit_from(write, true, done);
    }

    fn submit_from(
        &self,
        write: Write,
        may_block: bool,
        done: impl FnOnce(Result<Written>) + Send + 'static,
    ) {
        let Write { points, events, receipt } = write;
        let events = events.map(EventBatch::into_rows).unwrap_or_default();
        self.inner.committer.submit(Submission {
            payload: encode_write(&points, &events, receipt.as_ref()),
            synced: false,
            may_block,
            applied: Applied::Write(Box::new(log::Written { points, events, receipt })),
            done: Box::new(move |outcome| done(outcome.map(|lsn| Written { lsn }))),
        });
    }

    /// Returns the receipt of an earlier write or transaction, or `None` if it does not exist or
    /// has expired.
    pub fn receipt(&self, id: u128) -> Result<Option<Receipt>> {
        let now = self.inner.trusted.read().expiry;
        match self.inner.telemetry.unsealed_receipt(id, now) {
            Some(receipt) => Ok(Some(receipt)),
            None => self.inner.documents.receipt(id),
        }
    }

    /// Executes a query over one metric. Blocking and CPU-bound: do not call on an async reactor
    /// thread.
    pub fn query(&self, query: &MetricQuery) -> Result<QueryResult> {
        metrics::query(&self.inner.telemetry.metrics, Cancellation::current(), query)
    }

    /// Executes several queries, each with the result of [`Self::query`], and passes the results to
    /// `take` in the order of `queries`. Up to one query per query thread runs at a time, and each
    /// may use [`Options::query_bytes`]. Stops at the first query that is refused or fails, or when
    /// `take` returns an error. Do not call on an async reactor thread.
    pub fn query_all<E: From<Error>>(
        &self,
        queries: &[MetricQuery],
        take: impl FnMut(QueryResult) -> Result<(), E>,
    ) -> Result<(), E> {
        metrics::query_all(&self.inner.telemetry.metrics, queries, take)
    }

    /// Returns a page of metric definitions, sorted by name.
    pub fn metrics(&self, filter: &DefinitionFilter) -> DefinitionPage {
        self.inner.telemetry.metrics.definitions(filter)
    }

    /// Calls `visit` with the name and the type of every metric that has samples, in no particular
    /// order. Stops when the client for which this thread works no longer waits.
    pub fn visit_metrics(&self, visit: impl FnMut(&MetricName, MetricType)) -> Result<()> {
        self.inner.telemetry.metrics.visit(visit)
    }

    /// Returns the definition of a metric, or `None` if it has no samples. Reads all samples of a
    /// gauge that are in memory, like a query.
    pub fn metric(&self, name: &str) -> Result<Option<MetricDefinition>> {
        self.inner.telemetry.metrics.definition(name)
    }

    /// Returns the type of a metric, or `None` if no metric has this name. Cheaper than
    /// [`Self::metric`].
    pub fn metric_type(&self, name: &str) -> Option<MetricType> {
        self.inner.telemetry.metrics.kind_of(name)
    }

    /// Returns the tag keys of a metric with their number of distinct values, sorted by key.
    pub fn tag_keys(&self, name: &str) -> Result<Vec<(String, u64)>> {
        self.inner.telemetry.metrics.tag_keys(name)
    }

    /// Returns the values of a tag with their number of series, sorted by value; empty if the
    /// metric does not have the tag.
    pub fn tag_values(&self, name: &str, key: &str) -> Result<Vec<(String, u64)>> {
        self.inner.telemetry.metrics.tag_values(name, key)
    }

    /// Returns a page of the values of a tag with their number of series; empty if the metric does
    /// not have the tag.
    pub fn tag_value_page(
        &self,
        name: &str,
        key: &str,
        filter: &TagValueFilter,
    ) -> Result<TagValuePage> {
        self.inner.telemetry.metrics.tag_value_page(name, key, filter)
    }

    /// Counts series by metric, tag key or tag value. CPU-bound: do not call on an async reactor
    /// thread.
    pub fn cardinality(&self, query: &CardinalityQuery) -> Result<CardinalityPage> {
        self.inner.telemetry.metrics.cardinality(query)
    }

    /// Deletes a metric with all its samples. Its name can be reused afterwards, also with another
    /// type.
    pub fn delete_metric(&self, name: &str) -> Result<()> {
        let id = self.inner.telemetry.metrics.registry().with_metric(name, |metric| metric.id);
        let Some(id) = id else {
            return Err(Refusal::MetricNotFound(name.to_owned()).into());
        };
        let (sender, receiver) = mpsc::sync_channel(1);
        self.inner.committer.submit(Submission {
            payload: encode_dropped(id),
            // A deletion must survive a power loss whatever the durability of writes is.
            synced: true,
            may_block: true,
            applied: Applied::Dropped(id),
            done: Box::new(move |outcome| {
                let _sent = sender.send(outcome);
            }),
        });
        receiver.recv().map_err(|_| Error::Unavailable("the log has stopped".into()))?.map(|_| ())
    }

    /// Writes all samples and events in memory to blocks.
    pub fn seal(&self) -> Result<SealReport> {
        self.inner.worker.seal()
    }

    /// Compacts all blocks to their final form, regardless of age, and reclaims the disk space of
    /// the blocks they replace.
    pub fn merge(&self) -> Result<CompactionReport> {
        self.inner.worker.merge()
    }

    /// Removes data older than its retention, measured by [`Self::trusted_time`]. A wall clock that
    /// has just jumped forward removes nothing, and the report contains the deviation.
    pub fn expire(&self) -> Result<ExpireReport> {
        self.inner.worker.expire()
    }

    /// Copies all data to `target`, as of one instant between the call and its return. `target`
    /// must not exist and must not be inside the data directory. Seals and the deletion of files
    /// are blocked only while hard links are created. The copy is verified before it is renamed to
    /// `target`.
    pub fn backup(&self, target: &Path) -> Result<BackupReport> {
        let EngineInner { dir, store, segments, worker, files, .. } = &*self.inner;
        maintenance::check_target(dir, target)?;
        let stage = {
            // The checkpoint may refer to every file that exists now.
            let files = files.block_deletion();
            let stage = {
                let _no_seal_meanwhile = worker.turn.lock();
                BackupStage::new(dir, store, segments)?
            };
            stage.link_files(&files)?;
            stage
        };
        stage.copy_to(target)
    }

    /// Copies a backup to `dir`, which must be empty or not exist, and verifies the copy. The
    /// directory cannot be opened until the copy is complete.
    pub fn restore(source: &Path, dir: &Path) -> Result<BackupReport> {
        maintenance::restore(source, dir)
    }

    /// Fails with [`Error::Open`] unless `dir` is a data directory that contains data. Does not
    /// modify it.
    pub fn check_directory(dir: &Path) -> Result<()> {
        directory::must_hold_data(dir)
    }

    /// Reads and checks everything in a data directory without opening it as an engine; nothing is
    /// written. Fails with [`Error::Open`] if `dir` is not a data directory, or while another
    /// process has it open.
    pub fn verify_directory(dir: &Path) -> Result<VerifyReport> {
        maintenance::inspect(dir)
    }

    /// Reads and checks everything on disk.
    pub fn verify(&self) -> Result<VerifyReport> {
        let inner = &self.inner;
        let report = maintenance::verify(
            &inner.telemetry,
            &inner.documents,
            &inner.records,
            &inner.segments,
        );
        let mut report = report?;
        files::verify(&inner.dir, &mut report);
        inner.store.verify_files(&mut report.damaged)?;
        report.damaged.extend(inner.damage.lines());
        Ok(report)
    }

    /// Returns all known damage, one line each: data lost or repaired, in this run or earlier ones,
    /// until an operator removes the file `DAMAGE` from the data directory; quarantined blocks;
    /// corrupt documents; and the maintenance task that currently fails.
    pub fn damage(&self) -> Vec<String> {
        let mut lines = self.inner.damage.lines();
        lines.extend(self.inner.telemetry.metrics.damage());
        lines.extend(self.inner.telemetry.events.damage());
        lines.extend(self.inner.documents.damaged());
        lines.extend(
            self.inner
                .maintenance_state
                .maintenance_failure()
                .map(|reason| format!("maintenance: {reason}")),
        );
        lines
    }

    /// Returns the sizes and counts of the engine.
    pub fn stats(&self) -> EngineStats {
        EngineStats::of(&self.inner)
    }

    /// Returns the memory account the engine was opened with.
    pub fn memory(&self) -> &Memory {
        &self.inner.telemetry.options().memory
    }

    /// Returns the reason why writes are refused, or `None` while they are accepted.
    pub fn trouble(&self) -> Option<String> {
        self.inner.maintenance_state.trouble()
    }

    /// Returns why nothing can be written until the engine is reopened, or `None`. Set when a
    /// thread of the engine panicked. Acknowledged writes are on disk.
    pub fn failure(&self) -> Option<String> {
        self.inner.maintenance_state.failure()
    }

    /// Returns the time that retention is measured by, and how the wall clock deviates from it.
    pub fn trusted_time(&self) -> TrustedTime {
        self.inner.trusted.read()
    }

    /// Stores the trusted time for the next start. The maintenance thread does so at startup and
    /// every ten minutes. With [`crate::Maintenance::Manual`] only a seal does, so an engine
    /// restarted before its first seal trusts any clock. Not synced: a power loss may lose the
    /// value.
    pub fn persist_trusted_time(&self) -> Result<()> {
        self.inner.trusted.persist()
    }

    /// Returns the data directory.
    pub fn directory(&self) -> &Path {
        &self.inner.dir
    }

    /// Returns the document store: JSON documents that are not telemetry.
    pub fn documents(&self) -> &Documents {
        &self.inner.documents
    }

    /// Returns the record store: state that is not telemetry and changes too often for documents.
    pub fn records(&self) -> &Records {
        &self.inner.records
    }

    /// Returns the file store: immutable byte strings that are too large for documents.
    pub fn files(&self) -> &Files {
        &self.inner.files
    }
}

#[cfg(test)]
impl Engine {
    /// [`Self::open`] with injectable file operations for the write-ahead log.
    pub(crate) fn open_on(dir: &Path, options: Options, log_ops: log::FileOps) -> Result<Self> {
        startup::open_on(dir, options, log_ops).map(|inner| Self { inner: Arc::new(inner) })
    }

    /// Returns the subsystems, for the tests of other modules.
    pub(crate) fn inner(&self) -> &EngineInner {
        &self.inner
    }

    /// Returns the averages of a metric over all of its series; panics if a block is quarantined.
    pub(crate) fn averages(
        &self,
        metric: &str,
        range: crate::model::TimeRange,
        interval: crate::model::Interval,
    ) -> Vec<f64> {
        let query = MetricQuery::of_all(metric, range, interval, &[crate::model::Aggregation::Avg]);
        let mut result = self.query(&query).unwrap();
        assert_eq!(result.stats.quarantined, 0);
        result.groups.pop().and_then(|mut group| group.columns.pop()).unwrap_or_default()
    }
}
