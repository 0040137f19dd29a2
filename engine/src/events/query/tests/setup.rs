//! Sources for the tests: chunks, chunks with bitmaps as blocks have them, and sources with
//! unreadable columns.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use rayon::ThreadPool;
use roaring::RoaringBitmap;

use super::super::super::{
    Chunk, CodedColumn, EventSource, NO_CODE, Numbers, RowSet, StringCounts, StringHashes,
    StringNumbers,
};
use super::super::{QueryContext, QueryLimits, aggregate, list};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::events::source::ClosedSource;
use crate::memory::Memory;
use crate::model::{
    Event, EventField, EventFilter, EventGroupBy, EventId, EventListQuery, EventPage, EventQuery,
    EventQueryResult, EventRows, NameFilter, NewEvent, Properties, TagFilter, TimeRange,
};
use crate::query_in_progress::QueryInProgress;

pub(super) const LIMITS: Limits =
    Limits { query: QueryLimits { groups_max: 1_000, buckets_max: 10_000 }, bytes_max: 64 << 20 };

/// Limits of a query.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) query: QueryLimits,
    pub(super) bytes_max: usize,
}

pub(super) type Sources = Vec<Box<dyn ClosedSource>>;

static POOLS: LazyLock<Vec<ThreadPool>> = LazyLock::new(|| {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    vec![pool(1), pool(3)]
});

/// Numbers of strings that all queries of a pool use: with several threads there is room for few,
/// with one for not much more than a thousand.
static NUMBERS: LazyLock<Vec<StringNumbers>> = LazyLock::new(|| {
    [64 << 10, 600].map(|bytes| StringNumbers::new(bytes, Clock::system())).into()
});

/// The result of a query, and the indices of the sources reported as corrupt.
pub(super) type Outcome<T> = (Result<T>, BTreeSet<usize>);

/// Runs a query with one thread and with several, and checks that the answers are equal.
pub(super) fn run<T: PartialEq + std::fmt::Debug>(
    limits: Limits,
    query: impl Fn(&QueryContext<'_>) -> Result<T>,
) -> Outcome<T> {
    let mut answers = POOLS.iter().zip(NUMBERS.iter()).map(|(pool, string_numbers)| {
        let reported = Mutex::new(BTreeSet::new());
        let damaged =
            |index: usize, _: &Error| assert!(reported.lock().insert(index), "reported twice");
        let in_progress = QueryInProgress::begin(&Memory::unlimited(), limits.bytes_max);
        let limits = limits.query;
        let answer = query(&QueryContext {
            pool,
            limits,
            in_progress: &in_progress,
            string_numbers,
            damaged: &damaged,
        });
        (answer, reported.into_inner())
    });
    let (first, second) = (answers.next().unwrap(), answers.next().unwrap());
    if let (Ok(first), Ok(second)) = (&first.0, &second.0) {
        assert_eq!(first, second, "the answer depends on the number of threads");
    }
    first
}

pub(super) fn page(sources: &Sources, query: &EventListQuery) -> EventPage {
    run(LIMITS, |context| list(sources, query, context)).0.unwrap()
}

pub(super) fn answer(sources: &Sources, query: &EventQuery) -> EventQueryResult {
    run(LIMITS, |context| aggregate(sources, query, context)).0.unwrap()
}

pub(super) fn everything() -> EventFilter {
    EventFilter {
        range: TimeRange::new(0, i64::MAX),
        name: NameFilter::Any,
        user: None,
        tags: Vec::new(),
    }
}

/// Returns an event with nothing but a name, a time and a number.
pub(super) fn plain(number: u64, time: i64) -> Event {
    Event {
        id: EventId(number.into()),
        name: "a".into(),
        time: crate::model::TimestampMs(time),
        user: None,
        value: None,
        tags: Vec::new(),
        properties: None,
    }
}

pub(super) fn chunk(events: &[Event]) -> Chunk {
    let mut rows = EventRows::default();
    for event in events {
        let tags: Vec<(&str, &str)> =
            event.tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let properties = event.properties.as_deref().map(|text| Properties::parse(text).unwrap());
        rows.push(
            event.id,
            &NewEvent {
                name: &event.name,
                time: event.time,
                user: event.user.as_deref(),
                value: event.value,
                tags: &tags,
                properties: properties.as_ref(),
            },
        );
    }
    Chunk::new(Arc::new(rows))
}

/// A chunk with a bitmap for every string, as blocks have for columns with few strings.
#[derive(Debug)]
pub(super) struct Indexed(pub(super) Chunk);

/// A source with columns that cannot be read.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) inner: Chunk,
    pub(super) columns: &'static [&'static str],
    pub(super) error: fn() -> Error,
}

pub(super) const COLUMNS: [&str; 8] =
    ["times", "ids", "names", "users", "tags", "groups", "hashes", "numbers"];

pub(super) fn corrupt() -> Error {
    Error::Corrupt("on purpose".into())
}

impl Broken {
    fn read(&self, column: &str) -> Result<&Chunk> {
        if self.columns.contains(&column) { Err((self.error)()) } else { Ok(&self.inner) }
    }
}

impl EventSource for Broken {
    fn rows(&self) -> u32 {
        EventSource::rows(&self.inner)
    }

    fn time_bounds(&self) -> (i64, i64) {
        EventSource::time_bounds(&self.inner)
    }

    fn times(&self) -> Result<Arc<Vec<i64>>> {
        self.read("times")?.times()
    }

    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>> {
        self.read("ids")?.ids(positions)
    }

    fn with_name(&self, filter: &NameFilter) -> Result<RowSet> {
        self.read("names")?.with_name(filter)
    }

    fn with_user(&self, user: &str) -> Result<RowSet> {
        self.read("users")?.with_user(user)
    }

    fn with_tag(&self, filter: &TagFilter) -> Result<RowSet> {
        self.read("tags")?.with_tag(filter)
    }

    fn counts(&self, by: &EventGroupBy) -> Result<Option<StringCounts>> {
        self.inner.counts(by)
    }

    fn groups(&self, by: &EventGroupBy) -> Result<Arc<CodedColumn>> {
        self.read("groups")?.groups(by)
    }

    fn string_hashes(&self, of: &EventGroupBy) -> Result<Arc<StringHashes>> {
        self.read("groups")?.string_hashes(of)
    }

    fn user_hashes(&self) -> Result<Arc<Vec<u64>>> {
        self.read("hashes")?.user_hashes()
    }

    fn numbers(&self, field: &EventField, rows: &RowSet) -> Result<Numbers> {
        self.read("numbers")?.numbers(field, rows)
    }

    fn events(&self, positions: &[u32]) -> Result<Vec<Event>> {
        self.read("events")?.events(positions)
    }
}

impl EventSource for Indexed {
    fn rows(&self) -> u32 {
        EventSource::rows(&self.0)
    }

    fn time_bounds(&self) -> (i64, i64) {
        EventSource::time_bounds(&self.0)
    }

    fn times(&self) -> Result<Arc<Vec<i64>>> {
        self.0.times()
    }

    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>> {
        self.0.ids(positions)
    }

    fn with_name(&self, filter: &NameFilter) -> Result<RowSet> {
        self.0.with_name(filter)
    }

    fn with_user(&self, user: &str) -> Result<RowSet> {
        self.0.with_user(user)
    }

    fn with_tag(&self, filter: &TagFilter) -> Result<RowSet> {
        self.0.with_tag(filter)
    }

    fn counts(&self, by: &EventGroupBy) -> Result<Option<StringCounts>> {
        let codes = self.groups(by)?;
        let rows = codes.rows.iter().flatten().map(|rows| rows.len() as u32);
        Ok(Some(codes.strings.iter().cloned().zip(rows).collect()))
    }

    fn groups(&self, by: &EventGroupBy) -> Result<Arc<CodedColumn>> {
        let codes = self.0.groups(by)?;
        let mut rows = vec![RoaringBitmap::new(); codes.strings.len()];
        for (row, code) in (0..).zip(&codes.codes).filter(|(_, code)| **code != NO_CODE) {
            rows[*code as usize].insert(row);
        }
        let (strings, codes) = (codes.strings.clone(), codes.codes.clone());
        Ok(Arc::new(CodedColumn { strings, codes, rows: Some(rows) }))
    }

    fn string_hashes(&self, of: &EventGroupBy) -> Result<Arc<StringHashes>> {
        self.0.string_hashes(of)
    }

    fn user_hashes(&self) -> Result<Arc<Vec<u64>>> {
        self.0.user_hashes()
    }

    fn numbers(&self, field: &EventField, rows: &RowSet) -> Result<Numbers> {
        self.0.numbers(field, rows)
    }

    fn events(&self, positions: &[u32]) -> Result<Vec<Event>> {
        self.0.events(positions)
    }
}
