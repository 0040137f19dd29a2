//! The event store of an engine: the state shared by the modules of this folder, and the entry
//! points of queries.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use super::Chunk;
use super::block::{EventBlock, EventBlockInfo, EventBlockKey, PartsCache};
use super::closed_block::ClosedBlock;
use super::keys::CatalogEntry;
use super::query::{self, QueryContext, QueryLimits};
use super::source::ClosedSource;
use super::string_numbers::StringNumbers;
use super::tail::EventTail;
use super::view::{EventSizes, View};
use crate::error::{Error, Result};
use crate::memory::CompactionMemory;
use crate::memory::ResultMemory;
use crate::model::{
    Event, EventBatch, EventFilter, EventFunnelQuery, EventFunnelResult, EventId, EventListQuery,
    EventPage, EventQuery, EventQueryResult, EventRows, TimeRange, TimestampMs,
};
use crate::options::Options;
use crate::query_in_progress::QueryInProgress;
use crate::storage::{Batch, Pinned, Store, Sync, keyspaces};

/// Upper bound for event numbers; at a billion events a second it is reached after centuries.
const NUMBERS_MAX: u64 = 1 << 63;

/// One in so many bytes of the cache for events is for numbers of strings.
const STRING_NUMBERS_SHARE: usize = 8;

/// The events of one engine.
#[derive(Debug)]
pub(crate) struct Events {
    pub(super) store: Arc<Store>,
    pub(super) view: View,
    pub(super) options: Options,
    pool: Arc<rayon::ThreadPool>,
    cache: PartsCache,
    string_numbers: StringNumbers,
    pub(super) quarantined: RwLock<HashSet<EventBlockKey>>,
    /// Blocks whose compaction was tried and would not have reduced their number, because of the
    /// tag keys of their rows. Not tried again.
    pub(super) irreducible: RwLock<HashSet<EventBlockKey>>,
    /// The next sequence number of a block key.
    pub(super) sequence: AtomicU64,
    /// The number of the next event.
    pub(super) numbers: Arc<AtomicU64>,
    /// Memory in use by a running compaction or rewrite.
    pub(crate) compaction_memory: CompactionMemory,
    written: AtomicU64,
    tail: EventTail,
}

impl Events {
    /// Returns the events of a store with an empty head. [`super::load`] has read the arguments
    /// from disk.
    pub(super) fn new(
        store: Arc<Store>,
        options: Options,
        pool: Arc<rayon::ThreadPool>,
        view: View,
        quarantined: HashSet<EventBlockKey>,
        (sequence, number): (u64, u64),
    ) -> Self {
        let numbers_bytes = options.event_cache_bytes / STRING_NUMBERS_SHARE;
        Self {
            store,
            view,
            pool,
            cache: PartsCache::new(options.event_cache_bytes - numbers_bytes),
            string_numbers: StringNumbers::new(numbers_bytes, options.clock.clone()),
            tail: EventTail::new(options.clock.clone(), options.memory.clone()),
            options,
            quarantined: RwLock::new(quarantined),
            irreducible: RwLock::default(),
            sequence: AtomicU64::new(sequence),
            numbers: Arc::new(AtomicU64::new(number)),
            compaction_memory: CompactionMemory::default(),
            written: AtomicU64::new(0),
        }
    }

    /// Returns an empty batch whose events take their numbers from this engine.
    pub(crate) fn batch(&self) -> EventBatch {
        EventBatch::new(self.now(), Arc::clone(&self.numbers))
    }

    /// Returns the number of a new event.
    pub(crate) fn take_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes the next event number greater than `through`. Numbers at or above [`NUMBERS_MAX`] can
    /// only come from corrupt data and are ignored.
    pub(crate) fn skip_numbers(&self, through: u64) {
        if through < NUMBERS_MAX {
            self.numbers.fetch_max(through + 1, Ordering::Relaxed);
        }
    }

    /// Returns the time of the newest event in blocks, or `None` if there are no blocks.
    pub(crate) fn newest_time(&self) -> Option<TimestampMs> {
        self.view.blocks().iter().map(|info| TimestampMs(info.last_time)).max()
    }

    /// Returns the number that the next event will have.
    pub(super) fn next_number(&self) -> u64 {
        self.numbers.load(Ordering::Relaxed)
    }

    /// Adds events, already written to the log, to the head.
    pub(crate) fn add(&self, rows: EventRows) {
        if rows.len() > 0 {
            self.written.fetch_add(rows.len() as u64, Ordering::Relaxed);
            let is_followed = self.tail.push(&rows);
            self.view.add(rows);
            if is_followed {
                self.tail.notify();
            }
        }
    }

    /// Returns the followers of new events.
    pub(crate) fn tail(&self) -> &EventTail {
        &self.tail
    }

    /// Evaluates a funnel.
    pub(crate) fn funnel(&self, query: &EventFunnelQuery) -> Result<EventFunnelResult> {
        let range = query.steps.first().map_or(TimeRange::new(0, 0), |step| step.range);
        self.run_query(
            range,
            |sources, context| query::funnel(sources, query, context),
            |result, left_out, memory| {
                result.stats.quarantined += left_out;
                result.memory = memory;
            },
        )
    }

    /// Moves the next event number past the numbers used in a replayed log record.
    pub(crate) fn replayed(&self, rows: &EventRows) {
        if let Some(last) = rows.ids().iter().map(|id| id.number()).max() {
            self.skip_numbers(last);
        }
    }

    /// Returns the bytes of the active head.
    pub(crate) fn active_bytes(&self) -> usize {
        self.view.active().1
    }

    /// Returns whether the active head has reached its maximum number of events.
    pub(crate) fn is_full(&self) -> bool {
        self.view.active().0 >= crate::limits::EVENT_HEAD_ROWS_MAX
    }

    /// Returns a page of events.
    pub(crate) fn list(&self, query: &EventListQuery) -> Result<EventPage> {
        self.run_query(
            query.filter.range,
            |sources, context| query::list(sources, query, context),
            |page, left_out, memory| {
                page.stats.quarantined += left_out;
                page.memory = memory;
            },
        )
    }

    /// Evaluates an aggregation query.
    pub(crate) fn query(&self, query: &EventQuery) -> Result<EventQueryResult> {
        self.run_query(
            query.filter.range,
            |sources, context| query::aggregate(sources, query, context),
            |answer, left_out, memory| {
                answer.stats.quarantined += left_out;
                answer.memory = memory;
            },
        )
    }

    /// Returns the matching event with this id, if there is one.
    pub(crate) fn find(&self, filter: &EventFilter, id: EventId) -> Result<Option<Event>> {
        let (found, _quarantined) = self.run_query(
            filter.range,
            |sources, context| query::find(sources, (filter, id), context),
            |(_, quarantined), left_out, _| *quarantined += left_out,
        )?;
        Ok(found)
    }

    /// Calls `visit` with every matching event whose number is at least `number`, in no particular
    /// order. Returns the number of corrupt blocks that were skipped.
    pub(crate) fn since(
        &self,
        filter: &EventFilter,
        number: u64,
        mut visit: impl FnMut(Event),
    ) -> Result<u64> {
        self.run_query(
            filter.range,
            |sources, context| query::since(sources, (filter, number), context, &mut visit),
            |quarantined, left_out, _| *quarantined += left_out,
        )
    }

    /// Runs `run` over the sources that overlap `range`. Quarantined blocks are left out; `finish`
    /// stores their number and the memory of the answer in the answer.
    fn run_query<A>(
        &self,
        range: TimeRange,
        run: impl FnOnce(&[Box<dyn ClosedSource + '_>], &QueryContext<'_>) -> Result<A>,
        finish: impl FnOnce(&mut A, u64, ResultMemory),
    ) -> Result<A> {
        let in_progress = QueryInProgress::begin(&self.options.memory, self.options.query_bytes);
        let snapshot = self.view.snapshot(range);
        let (wanted, quarantined): (Vec<_>, Vec<_>) =
            snapshot.blocks.iter().partition(|info| !self.is_quarantined(&info.key));
        let left_out = quarantined.len() as u64;
        let mut sources: Vec<Box<dyn ClosedSource + '_>> = Vec::with_capacity(wanted.len());
        sources.extend(wanted.iter().map(|info| {
            let block: Box<dyn ClosedSource> = Box::new(ClosedBlock { events: self, info });
            block
        }));
        for head in &snapshot.heads {
            sources
                .extend(head.chunks.iter().map(|c| Box::new(c.clone()) as Box<dyn ClosedSource>));
            if head.tail.len() > 0 {
                sources.push(Box::new(Chunk::new(Arc::clone(&head.tail))));
            }
        }
        let damaged = |index: usize, error: &Error| {
            match wanted.get(index) {
                Some(info) => self.quarantine(&info.key, &error.to_string()),
                // Sources after those of the blocks are in memory, where nothing decays.
                None => panic!("a head in memory is corrupt: {error}"),
            }
        };
        let limits = QueryLimits {
            groups_max: self.options.query_groups,
            buckets_max: self.options.query_buckets,
        };
        let context = QueryContext {
            pool: &self.pool,
            limits,
            in_progress: &in_progress,
            string_numbers: &self.string_numbers,
            damaged: &damaged,
        };
        let mut answer = run(&sources, &context)?;
        finish(&mut answer, left_out, in_progress.into_memory());
        Ok(answer)
    }

    /// Opens a block for a query; its bytes are read when a part is not in the cache.
    pub(super) fn open_block(&self, info: &EventBlockInfo) -> Result<EventBlock<'_>> {
        let key = info.key;
        EventBlock::open(info, &self.cache, move || self.read_block(&key))
    }

    /// Reads the bytes of a block. Fails with [`Error::Corrupt`] if the store does not have them.
    pub(super) fn read_block(&self, key: &EventBlockKey) -> Result<Pinned<'_>> {
        let found = self.store.get(keyspaces::EventBlocks, key)?;
        found.ok_or_else(|| {
            Error::Corrupt(format!("event block {key:?} is in the catalog but not on disk"))
        })
    }

    pub(super) fn now(&self) -> TimestampMs {
        self.options.clock.now()
    }

    pub(super) fn is_quarantined(&self, key: &EventBlockKey) -> bool {
        let quarantined = self.quarantined.read();
        !quarantined.is_empty() && quarantined.contains(key)
    }

    /// Quarantines a corrupt block: logs an error, and queries no longer read it. Its bytes stay on
    /// disk.
    pub(super) fn quarantine(&self, key: &EventBlockKey, reason: &str) {
        if !self.quarantined.write().insert(*key) {
            return;
        }
        tracing::error!(
            ?key,
            reason,
            "event block is corrupt and quarantined: queries no longer read it"
        );
        let mut batch = Batch::new();
        batch.put(keyspaces::EventCatalog, &CatalogEntry::Quarantine(*key), reason);
        // If this write fails, the corruption is detected again after the next start.
        if let Err(error) = self.store.write(batch, Sync::No) {
            tracing::warn!(?key, %error, "the quarantine of an event block was not stored");
        }
    }

    /// Returns one line per quarantined block, with the reason.
    pub(crate) fn damage(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for key in self.quarantined.read().iter() {
            let reason = self.store.get(keyspaces::EventCatalog, &CatalogEntry::Quarantine(*key));
            let reason = match &reason {
                Ok(Some(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
                // The reason was not stored, or not synced, or is lost; the block is listed anyway.
                Ok(None) => "corrupt".to_owned(),
                Err(error) => format!("corrupt; the reason cannot be read: {error}"),
            };
            lines.push(format!("event block {key:?}: {reason}"));
        }
        lines.sort_unstable();
        lines
    }

    /// Returns the current sizes and counters.
    pub(crate) fn sizes(&self) -> EventSizes {
        EventSizes {
            written: self.written.load(Ordering::Relaxed),
            quarantined: self.quarantined.read().len() as u64,
            cache_bytes: self.cache.bytes() + self.string_numbers.bytes() as u64,
            ..self.view.sizes()
        }
    }
}
