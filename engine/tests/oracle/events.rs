//! Events against a list of events.

use std::sync::mpsc;

use proptest::prelude::*;
use telltale_engine::{
    Clock, DeleteReport, Engine, EventId, EventListQuery, NewEvent, Properties, TimestampMs, Write,
};

use super::event_list::{self, ListedEvent};
use super::event_queries::{EventSeed, QueryCase, event_seeds, query_cases};
use super::{DAY, MINUTE, START, cases, memory_dir, open, reopen, run};

/// Histories with writes that fill a chunk of the head cost as much as eight others each.
const LARGE_CASES_DIVISOR: u32 = 8;

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Write(Vec<EventSeed>),
    /// This many events within some minutes, derived from a seed.
    Many(u64, i64),
    Seal,
    Merge,
    Restart,
    /// Moves the clock, so that days end.
    AdvanceClock(i64),
    Query(QueryCase),
    /// Deletes the events that match a query.
    Delete(QueryCase),
    /// Lists the matching events whose number is at least that of the event at this percentage of
    /// all events.
    Since(QueryCase, usize),
}

struct Harness {
    dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
    /// Every event, in the order of writing.
    events: Vec<ListedEvent>,
}

impl Harness {
    fn new() -> Self {
        let dir = memory_dir();
        let clock = Clock::manual(TimestampMs(START));
        let engine = open(&dir, &clock);
        Self { dir, clock, engine, events: Vec::new() }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Write(samples) => self.write(samples),
            Step::Many(seed, count) => self.write(&many(*seed, *count)),
            Step::Seal => {
                self.engine.seal().unwrap();
                assert_eq!(self.engine.stats().events_stored, self.events.len() as u64);
            }
            Step::Merge => {
                self.engine.merge().unwrap();
            }
            Step::Restart => reopen(&mut self.engine, &self.dir, &self.clock),
            Step::AdvanceClock(ms) => self.clock.set(TimestampMs(self.clock.now().0 + ms)),
            Step::Query(case) => self.check_query(&case.at(self.clock.now().0)),
            Step::Delete(case) => self.delete(&case.at(self.clock.now().0)),
            Step::Since(case, percent) => {
                self.check_since(&case.at(self.clock.now().0), *percent);
            }
        }
    }

    fn write(&mut self, samples: &[EventSeed]) {
        let now = self.clock.now().0;
        let mut batch = self.engine.event_batch();
        for sample in samples {
            let mut event = sample.event(now);
            let properties = event.properties.as_deref().map(|p| Properties::parse(p).unwrap());
            let tags: Vec<(&str, &str)> =
                event.tags.iter().rev().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            let new = NewEvent {
                name: &event.name,
                time: event.time,
                user: event.user.as_deref(),
                value: event.value,
                tags: &tags,
                properties: properties.as_ref(),
            };
            event.id = batch.push(&new).unwrap();
            let before = self.events.last().map_or(EventId(0), |listed| listed.event.id);
            assert!(event.id > before, "{:?} follows {before:?}", event.id);
            assert_eq!(event.id.received(), TimestampMs(now));
            self.events.push(ListedEvent::new(event));
        }
        let (sender, receiver) = mpsc::channel();
        let write = Write { events: Some(batch), ..Write::default() };
        self.engine.submit(write, move |outcome| sender.send(outcome).unwrap());
        receiver.recv().unwrap().unwrap();
    }

    fn check_query(&self, case: &QueryCase) {
        match case {
            QueryCase::Page { query, .. } => self.check_page(query),
            QueryCase::Walk { query, .. } => self.check_all_pages(query),
            QueryCase::Aggregate { query, .. } => {
                let answer = self.engine.query_events(query).unwrap();
                let (all, groups) = event_list::answer(&self.events, query);
                assert_eq!(answer.all, all, "{query:?}");
                assert_eq!(answer.groups, groups, "{query:?}");
                assert_eq!(answer.stats.quarantined, 0);
            }
        }
    }

    fn delete(&mut self, case: &QueryCase) {
        let filter = case.filter();
        let before = self.events.len();
        self.events.retain(|listed| !listed.matches(filter));
        let report = self.engine.delete_events(filter).unwrap();
        assert_eq!(report.events, (before - self.events.len()) as u64, "{filter:?}");
        assert_eq!(self.engine.stats().events_stored, self.events.len() as u64);
        // Repeating the deletion deletes nothing.
        assert_eq!(self.engine.delete_events(filter).unwrap(), DeleteReport::default());
    }

    fn check_since(&self, case: &QueryCase, percent: usize) {
        let filter = case.filter();
        let at = self.events.get(self.events.len() * percent / 100);
        let number = at.map_or(0, |listed| listed.event.id.number());
        let mut visited = Vec::new();
        let left_out =
            self.engine.events_since(filter, number, |event| visited.push(event)).unwrap();
        assert_eq!(left_out, 0);
        visited.sort_by_key(|event| event.id);
        let expected = self.events.iter().filter(|listed| listed.matches(filter));
        let expected =
            expected.map(|listed| &listed.event).filter(|event| event.id.number() >= number);
        assert!(visited.iter().eq(expected), "{filter:?} since {number}");
        let Some(listed) = at else { return };
        let found = self.engine.find_event(filter, listed.event.id).unwrap();
        let expected = listed.matches(filter).then(|| listed.event.clone());
        assert_eq!(found, expected, "{filter:?} with the id of {listed:?}");
    }

    /// Checks one page.
    fn check_page(&self, query: &EventListQuery) {
        let page = self.engine.list_events(query).unwrap();
        let (total, events) = event_list::page(&self.events, query);
        assert_eq!(page.total, total, "{query:?}");
        assert_eq!(page.events, events, "{query:?}");
        assert_eq!((page.stats.matched, page.stats.quarantined), (total, 0), "{query:?}");
    }

    /// Lists all pages; the limit of the query gives their approximate number.
    fn check_all_pages(&self, query: &EventListQuery) {
        let whole = EventListQuery { limit: usize::MAX, ..query.clone() };
        let (total, expected) = event_list::page(&self.events, &whole);
        let limit = expected.len() / query.limit + 1;
        let mut query = EventListQuery { limit, ..whole };
        let mut walked = Vec::new();
        loop {
            let page = self.engine.list_events(&query).unwrap();
            assert_eq!(page.total, total, "{query:?}");
            let Some(last) = page.events.last() else { break };
            query.after = Some((last.time, last.id));
            walked.extend(page.events);
            assert!(walked.len() <= expected.len(), "events are listed twice: {query:?}");
        }
        assert_eq!(walked, expected, "{query:?}");
    }

    /// Checks what must hold at the end of every history.
    fn check_end(&self) {
        assert_eq!(self.engine.damage(), [""; 0]);
        assert_eq!(self.engine.verify().unwrap().damaged, [""; 0]);
        let stats = self.engine.stats();
        assert_eq!(stats.events_head + stats.events_stored, self.events.len() as u64);
    }
}

/// Returns events within some minutes.
fn many(seed: u64, count: i64) -> Vec<EventSeed> {
    let sample = |i: i64| EventSeed {
        seed: seed ^ (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        age: i * 97 % (20 * MINUTE),
    };
    (0..count).map(sample).collect()
}

fn histories(
    writes: impl Strategy<Value = Step>,
    steps: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => writes,
        3 => Just(Step::Seal),
        2 => Just(Step::Merge),
        1 => Just(Step::Restart),
        2 => (0..5 * 60 * MINUTE).prop_map(Step::AdvanceClock),
        1 => (0..2 * DAY).prop_map(Step::AdvanceClock),
        12 => query_cases().prop_map(Step::Query),
        1 => query_cases().prop_map(Step::Delete),
        2 => (query_cases(), 0..110_usize).prop_map(|(case, percent)| Step::Since(case, percent)),
    ];
    prop::collection::vec(step, steps)
}

fn run_history(history: Vec<Step>) {
    let mut harness = Harness::new();
    history.iter().for_each(|step| harness.step(step));
    harness.check_end();
}

#[test]
fn query_results_equal_those_of_a_list_of_events() {
    let writes = event_seeds(1..120).prop_map(Step::Write);
    run(cases(), &histories(writes, 30..100), run_history);
}

#[test]
fn large_and_small_writes_are_listed_together() {
    // Around the size of a full chunk of the head.
    let sizes = prop_oneof![8_000..8_400i64, Just(8_192i64), 1_000..9_500i64];
    let writes = prop_oneof![
        (any::<u64>(), sizes).prop_map(|(seed, count)| Step::Many(seed, count)),
        event_seeds(1..120).prop_map(Step::Write),
    ];
    run(cases().div_ceil(LARGE_CASES_DIVISOR), &histories(writes, 20..40), run_history);
}

#[test]
fn a_day_of_several_blocks_gives_the_results_of_a_list_of_events() {
    run(2, &prop::collection::vec(query_cases(), 12), |query_cases| {
        let mut harness = Harness::new();
        // Two blocks of one seal, then a later one over the same minutes.
        harness.clock.set(TimestampMs(START + 60 * MINUTE));
        harness.step(&Step::Many(1, 70_000));
        harness.step(&Step::Seal);
        assert_eq!(harness.engine.stats().event_blocks, 2);
        harness.step(&Step::Many(2, 9_000));
        harness.step(&Step::Seal);
        let (before, after) = query_cases.split_at(query_cases.len() / 2);
        before.iter().for_each(|case| harness.step(&Step::Query(case.clone())));
        harness.step(&Step::Merge);
        assert_eq!(harness.engine.stats().event_blocks, 2);
        harness.step(&Step::Restart);
        after.iter().for_each(|case| harness.step(&Step::Query(case.clone())));
        harness.check_end();
    });
}
