//! What the parts of this folder share, and the questions.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use super::Chunk;
use super::block::{EventBlock, EventBlockInfo, EventBlockKey, PartsCache};
use super::closed_block::ClosedBlock;
use super::keys;
use super::query::{self, QueryContext, QueryLimits};
use super::source::Unopened;
use super::view::{EventSizes, View};
use crate::asking::Asking;
use crate::error::{Error, Result};
use crate::memory::AnswerMemory;
use crate::memory::MergeMemory;
use crate::model::{
    Event, EventAnswer, EventBatch, EventFilter, EventListQuery, EventPage, EventQuery, EventRows,
    TimeRange, TimestampMs,
};
use crate::options::Options;
use crate::storage::{Batch, Keyspace, Pinned, Store, Sync};

/// More numbers than there can be: at a billion events a second they last for centuries.
const NUMBERS_MAX: u64 = 1 << 63;

/// The events of one engine.
#[derive(Debug)]
pub(crate) struct Events {
    pub(super) store: Arc<Store>,
    pub(super) view: View,
    pub(super) options: Options,
    pool: Arc<rayon::ThreadPool>,
    cache: PartsCache,
    pub(super) quarantined: RwLock<HashSet<EventBlockKey>>,
    /// Blocks that were tried to be merged and would not have become fewer, because of what their rows hold.
    pub(super) settled: RwLock<HashSet<EventBlockKey>>,
    /// The last part of the names of blocks.
    pub(super) sequence: AtomicU64,
    /// The number of the next event.
    pub(super) numbers: Arc<AtomicU64>,
    /// What a merge takes.
    pub(crate) merge_memory: MergeMemory,
    written: AtomicU64,
}

impl Events {
    /// The events of a store, with nothing in the head: [`super::load`] has read the rest.
    pub(super) fn new(
        store: Arc<Store>,
        options: Options,
        pool: Arc<rayon::ThreadPool>,
        view: View,
        quarantined: HashSet<EventBlockKey>,
        (sequence, number): (u64, u64),
    ) -> Self {
        Self {
            store,
            view,
            pool,
            cache: PartsCache::new(options.event_cache_bytes),
            options,
            quarantined: RwLock::new(quarantined),
            settled: RwLock::default(),
            sequence: AtomicU64::new(sequence),
            numbers: Arc::new(AtomicU64::new(number)),
            merge_memory: MergeMemory::default(),
            written: AtomicU64::new(0),
        }
    }

    /// An empty batch whose events will be numbered by this engine.
    pub(crate) fn batch(&self) -> EventBatch {
        EventBatch::new(self.now(), Arc::clone(&self.numbers))
    }

    pub(crate) fn take_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A number beyond all that there can be is damage, and not skipped to.
    pub(crate) fn skip_numbers(&self, through: u64) {
        if through < NUMBERS_MAX {
            self.numbers.fetch_max(through + 1, Ordering::Relaxed);
        }
    }

    /// The time of the newest event in blocks, if there are any.
    pub(crate) fn newest_time(&self) -> Option<TimestampMs> {
        self.view.blocks().iter().map(|info| TimestampMs(info.last_time)).max()
    }

    /// The number that the next event will have.
    pub(super) fn next_number(&self) -> u64 {
        self.numbers.load(Ordering::Relaxed)
    }

    /// Adds events that are in the log to the head.
    pub(crate) fn add(&self, rows: EventRows) {
        if rows.len() > 0 {
            self.written.fetch_add(rows.len() as u64, Ordering::Relaxed);
            self.view.add(rows);
        }
    }

    /// Learns from a record of the log which numbers are taken.
    pub(crate) fn replayed(&self, rows: &EventRows) {
        if let Some(last) = rows.ids().iter().map(|id| id.number()).max() {
            self.skip_numbers(last);
        }
    }

    /// Bytes of the active head.
    pub(crate) fn active_bytes(&self) -> usize {
        self.view.active().1
    }

    /// Whether the active head holds as many events as it may.
    pub(crate) fn is_full(&self) -> bool {
        self.view.active().0 >= crate::limits::EVENT_HEAD_ROWS_MAX
    }

    /// A page of events.
    pub(crate) fn list(&self, query: &EventListQuery) -> Result<EventPage> {
        self.ask(
            query.filter.range,
            |sources, context| query::list(sources, query, context),
            |page, left_out, memory| {
                page.stats.quarantined += left_out;
                page.memory = memory;
            },
        )
    }

    /// Answers a question.
    pub(crate) fn query(&self, query: &EventQuery) -> Result<EventAnswer> {
        self.ask(
            query.filter.range,
            |sources, context| query::aggregate(sources, query, context),
            |answer, left_out, memory| {
                answer.stats.quarantined += left_out;
                answer.memory = memory;
            },
        )
    }

    /// Hands every event that matches and has this number or a greater one to `visit`, in no order. Answers how many damaged
    /// blocks were left out.
    pub(crate) fn since(
        &self,
        filter: &EventFilter,
        number: u64,
        mut visit: impl FnMut(Event),
    ) -> Result<u64> {
        self.ask(
            filter.range,
            |sources, context| query::since(sources, (filter, number), context, &mut visit),
            |quarantined, left_out, _| *quarantined += left_out,
        )
    }

    /// Gathers the sources of a range and asks them. Blocks that were set aside are left out: `finish` puts into the answer how many,
    /// and the memory that it takes.
    fn ask<A>(
        &self,
        range: TimeRange,
        answer: impl FnOnce(&[Box<dyn Unopened + '_>], &QueryContext<'_>) -> Result<A>,
        finish: impl FnOnce(&mut A, u64, AnswerMemory),
    ) -> Result<A> {
        let asking = Asking::begin(&self.options.memory, self.options.query_bytes);
        let snapshot = self.view.snapshot(range);
        let (wanted, set_aside): (Vec<_>, Vec<_>) =
            snapshot.blocks.iter().partition(|info| !self.is_quarantined(&info.key));
        let left_out = set_aside.len() as u64;
        let mut sources: Vec<Box<dyn Unopened + '_>> = Vec::with_capacity(wanted.len());
        sources.extend(wanted.iter().map(|info| {
            let block: Box<dyn Unopened> = Box::new(ClosedBlock { events: self, info });
            block
        }));
        for head in &snapshot.heads {
            sources.extend(head.chunks.iter().map(|c| Box::new(c.clone()) as Box<dyn Unopened>));
            if head.tail.len() > 0 {
                sources.push(Box::new(Chunk::new(Arc::clone(&head.tail))));
            }
        }
        let damaged = |index: usize, error: &Error| {
            if let Some(info) = wanted.get(index) {
                self.quarantine(&info.key, &error.to_string());
            }
        };
        let limits = QueryLimits {
            groups_max: self.options.query_groups,
            buckets_max: self.options.query_buckets,
        };
        let context = QueryContext { pool: &self.pool, limits, asking: &asking, damaged: &damaged };
        let mut answer = answer(&sources, &context)?;
        finish(&mut answer, left_out, asking.into_memory());
        Ok(answer)
    }

    pub(super) fn open_block(&self, info: &EventBlockInfo) -> Result<EventBlock<'_>> {
        let key = info.key;
        EventBlock::open(info, &self.cache, move || self.read_block(&key))
    }

    pub(super) fn read_block(&self, key: &EventBlockKey) -> Result<Pinned<'_>> {
        let found = self.store.get(Keyspace::EventBlocks, &key.encode())?;
        found.ok_or_else(|| Error::Corrupt(format!("{key:?} is in the catalog but not on disk")))
    }

    pub(super) fn now(&self) -> TimestampMs {
        self.options.clock.now()
    }

    pub(super) fn is_quarantined(&self, key: &EventBlockKey) -> bool {
        let quarantined = self.quarantined.read();
        !quarantined.is_empty() && quarantined.contains(key)
    }

    /// Sets a damaged block aside: no question reads it again, and the operator is told. Its bytes stay where they are.
    pub(super) fn quarantine(&self, key: &EventBlockKey, reason: &str) {
        if !self.quarantined.write().insert(*key) {
            return;
        }
        tracing::error!(
            ?key,
            reason,
            "a damaged block of events is set aside: nothing reads it any more"
        );
        let mut batch = Batch::new();
        batch.put(Keyspace::EventCatalog, &keys::quarantine(key), reason.as_bytes().to_vec());
        // When this cannot be written the block is found damaged again after the next start.
        let _written = self.store.write(batch, Sync::No);
    }

    /// The damaged blocks, one line each.
    pub(crate) fn damage(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for key in self.quarantined.read().iter() {
            let reason = self.store.get(Keyspace::EventCatalog, &keys::quarantine(key));
            let reason = match &reason {
                Ok(Some(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
                _ => "damaged".to_owned(),
            };
            lines.push(format!("block of events {key:?}: {reason}"));
        }
        lines.sort_unstable();
        lines
    }

    /// How much there is.
    pub(crate) fn sizes(&self) -> EventSizes {
        EventSizes {
            written: self.written.load(Ordering::Relaxed),
            quarantined: self.quarantined.read().len() as u64,
            cache_bytes: self.cache.bytes(),
            ..self.view.sizes()
        }
    }
}
