//! Sources of all kinds for the tests: chunks, chunks that keep bitmaps as blocks do, and ones that cannot be read.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use rayon::ThreadPool;
use roaring::RoaringBitmap;

use super::super::super::{Chunk, Codes, Counts, NO_CODE, Numbers, Rows, Source, TextHashes};
use super::super::{QueryContext, QueryLimits, aggregate, list};
use crate::asking::Asking;
use crate::error::{Error, Result};
use crate::events::source::Unopened;
use crate::memory::Memory;
use crate::model::{
    Event, EventAnswer, EventField, EventFilter, EventGroupBy, EventId, EventListQuery, EventPage,
    EventQuery, EventRows, NameFilter, NewEvent, Properties, TagFilter, TimeRange,
};

pub(super) const LIMITS: Limits =
    Limits { query: QueryLimits { groups_max: 1_000, buckets_max: 10_000 }, bytes_max: 64 << 20 };

/// What a question may take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) query: QueryLimits,
    pub(super) bytes_max: usize,
}

pub(super) type Sources = Vec<Box<dyn Unopened>>;

static POOLS: LazyLock<Vec<ThreadPool>> = LazyLock::new(|| {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    vec![pool(1), pool(3)]
});

/// An answer, and the sources that turned out damaged.
pub(super) type Told<T> = (Result<T>, BTreeSet<usize>);

/// Asks with one thread and with several, which must answer the same.
pub(super) fn told<T: PartialEq + std::fmt::Debug>(
    limits: Limits,
    ask: impl Fn(&QueryContext<'_>) -> Result<T>,
) -> Told<T> {
    let mut answers = POOLS.iter().map(|pool| {
        let heard = Mutex::new(BTreeSet::new());
        let damaged = |index: usize, _: &Error| assert!(heard.lock().insert(index), "told twice");
        let asking = Asking::begin(&Memory::unlimited(), limits.bytes_max);
        let limits = limits.query;
        let answer = ask(&QueryContext { pool, limits, asking: &asking, damaged: &damaged });
        (answer, heard.into_inner())
    });
    let (first, second) = (answers.next().unwrap(), answers.next().unwrap());
    if let (Ok(first), Ok(second)) = (&first.0, &second.0) {
        assert_eq!(first, second, "the number of threads shows");
    }
    first
}

pub(super) fn page(sources: &Sources, query: &EventListQuery) -> EventPage {
    told(LIMITS, |context| list(sources, query, context)).0.unwrap()
}

pub(super) fn answer(sources: &Sources, query: &EventQuery) -> EventAnswer {
    told(LIMITS, |context| aggregate(sources, query, context)).0.unwrap()
}

pub(super) fn everything() -> EventFilter {
    EventFilter {
        range: TimeRange::new(0, i64::MAX),
        name: NameFilter::Any,
        user: None,
        tags: Vec::new(),
    }
}

/// An event with nothing but a name, a time and a number.
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

/// A chunk that keeps a bitmap of every text, as blocks do while a column has few.
#[derive(Debug)]
pub(super) struct Indexed(pub(super) Chunk);

/// A source some of whose columns cannot be read.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) inner: Chunk,
    pub(super) columns: &'static [&'static str],
    pub(super) error: fn() -> Error,
}

pub(super) const COLUMNS: [&str; 8] =
    ["times", "ids", "names", "users", "tags", "groups", "hashes", "numbers"];

pub(super) fn damage() -> Error {
    Error::Corrupt("on purpose".into())
}

impl Broken {
    fn read(&self, column: &str) -> Result<&Chunk> {
        if self.columns.contains(&column) { Err((self.error)()) } else { Ok(&self.inner) }
    }
}

impl Source for Broken {
    fn rows(&self) -> u32 {
        Source::rows(&self.inner)
    }

    fn time_bounds(&self) -> (i64, i64) {
        Source::time_bounds(&self.inner)
    }

    fn times(&self) -> Result<Arc<Vec<i64>>> {
        self.read("times")?.times()
    }

    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>> {
        self.read("ids")?.ids(positions)
    }

    fn with_name(&self, filter: &NameFilter) -> Result<Rows> {
        self.read("names")?.with_name(filter)
    }

    fn with_user(&self, user: &str) -> Result<Rows> {
        self.read("users")?.with_user(user)
    }

    fn with_tag(&self, filter: &TagFilter) -> Result<Rows> {
        self.read("tags")?.with_tag(filter)
    }

    fn counts(&self, by: &EventGroupBy) -> Result<Option<Counts>> {
        self.inner.counts(by)
    }

    fn groups(&self, by: &EventGroupBy) -> Result<Arc<Codes>> {
        self.read("groups")?.groups(by)
    }

    fn text_hashes(&self, of: &EventGroupBy) -> Result<Arc<TextHashes>> {
        self.read("groups")?.text_hashes(of)
    }

    fn user_hashes(&self) -> Result<Arc<Vec<u64>>> {
        self.read("hashes")?.user_hashes()
    }

    fn numbers(&self, field: &EventField, rows: &Rows) -> Result<Numbers> {
        self.read("numbers")?.numbers(field, rows)
    }

    fn events(&self, positions: &[u32]) -> Result<Vec<Event>> {
        self.read("events")?.events(positions)
    }
}

impl Source for Indexed {
    fn rows(&self) -> u32 {
        Source::rows(&self.0)
    }

    fn time_bounds(&self) -> (i64, i64) {
        Source::time_bounds(&self.0)
    }

    fn times(&self) -> Result<Arc<Vec<i64>>> {
        self.0.times()
    }

    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>> {
        self.0.ids(positions)
    }

    fn with_name(&self, filter: &NameFilter) -> Result<Rows> {
        self.0.with_name(filter)
    }

    fn with_user(&self, user: &str) -> Result<Rows> {
        self.0.with_user(user)
    }

    fn with_tag(&self, filter: &TagFilter) -> Result<Rows> {
        self.0.with_tag(filter)
    }

    fn counts(&self, by: &EventGroupBy) -> Result<Option<Counts>> {
        let codes = self.groups(by)?;
        let rows = codes.rows.iter().flatten().map(|rows| rows.len() as u32);
        Ok(Some(codes.texts.iter().cloned().zip(rows).collect()))
    }

    fn groups(&self, by: &EventGroupBy) -> Result<Arc<Codes>> {
        let codes = self.0.groups(by)?;
        let mut rows = vec![RoaringBitmap::new(); codes.texts.len()];
        for (row, code) in (0..).zip(&codes.codes).filter(|(_, code)| **code != NO_CODE) {
            rows[*code as usize].insert(row);
        }
        let (texts, codes) = (codes.texts.clone(), codes.codes.clone());
        Ok(Arc::new(Codes { texts, codes, rows: Some(rows) }))
    }

    fn text_hashes(&self, of: &EventGroupBy) -> Result<Arc<TextHashes>> {
        self.0.text_hashes(of)
    }

    fn user_hashes(&self) -> Result<Arc<Vec<u64>>> {
        self.0.user_hashes()
    }

    fn numbers(&self, field: &EventField, rows: &Rows) -> Result<Numbers> {
        self.0.numbers(field, rows)
    }

    fn events(&self, positions: &[u32]) -> Result<Vec<Event>> {
        self.0.events(positions)
    }
}
