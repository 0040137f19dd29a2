//! Events against a list of events.

use std::sync::mpsc;

use proptest::prelude::*;
use telltale_engine::{
    Clock, DeleteReport, Engine, EventId, EventListQuery, NewEvent, Properties, TimestampMs, Write,
};

use super::event_list::{self, Listed};
use super::event_questions::{Question, Sample, questions, samples};
use super::{DAY, MINUTE, START, cases, memory_dir, open, reopen, run};

/// Histories with writes that fill a piece of the head each cost as much as eight others.
const LARGE_CASES_DIVISOR: u32 = 8;

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Write(Vec<Sample>),
    /// This many events within some minutes, made from a seed.
    Many(u64, i64),
    Seal,
    Merge,
    Restart,
    /// Moves the clock, so that days come to their end.
    Pass(i64),
    Ask(Question),
    /// Deletes what a question is about.
    Delete(Question),
    /// Asks for what a question is about and came after so many hundredths of all events.
    Since(Question, usize),
}

struct World {
    dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
    /// Every event, in the order of writing.
    events: Vec<Listed>,
}

impl World {
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
            Step::Pass(ms) => self.clock.set(TimestampMs(self.clock.now().0 + ms)),
            Step::Ask(question) => self.ask(&question.at(self.clock.now().0)),
            Step::Delete(question) => self.delete(&question.at(self.clock.now().0)),
            Step::Since(question, percent) => {
                self.since(&question.at(self.clock.now().0), *percent);
            }
        }
    }

    fn write(&mut self, samples: &[Sample]) {
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
            self.events.push(Listed::new(event));
        }
        let (tell, told) = mpsc::channel();
        let write = Write { events: Some(batch), ..Write::default() };
        self.engine.submit(write, move |outcome| tell.send(outcome).unwrap());
        told.recv().unwrap().unwrap();
    }

    fn ask(&self, question: &Question) {
        match question {
            Question::Page { query, .. } => self.turn(query),
            Question::Walk { query, .. } => self.walk(query),
            Question::Answer { query, .. } => {
                let answer = self.engine.query_events(query).unwrap();
                let (all, groups) = event_list::answer(&self.events, query);
                assert_eq!(answer.all, all, "{query:?}");
                assert_eq!(answer.groups, groups, "{query:?}");
                assert_eq!(answer.stats.quarantined, 0);
            }
        }
    }

    fn delete(&mut self, question: &Question) {
        let filter = question.filter();
        let before = self.events.len();
        self.events.retain(|listed| !listed.matches(filter));
        let report = self.engine.delete_events(filter).unwrap();
        assert_eq!(report.events, (before - self.events.len()) as u64, "{filter:?}");
        assert_eq!(self.engine.stats().events_stored, self.events.len() as u64);
        // Done again, there is nothing left to do.
        assert_eq!(self.engine.delete_events(filter).unwrap(), DeleteReport::default());
    }

    fn since(&self, question: &Question, percent: usize) {
        let filter = question.filter();
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
    }

    /// Asks for one page.
    fn turn(&self, query: &EventListQuery) {
        let page = self.engine.list_events(query).unwrap();
        let (total, events) = event_list::page(&self.events, query);
        assert_eq!(page.total, total, "{query:?}");
        assert_eq!(page.events, events, "{query:?}");
        assert_eq!((page.stats.matched, page.stats.quarantined), (total, 0), "{query:?}");
    }

    /// Turns all pages; the limit of the query says how many there are, more or less.
    fn walk(&self, query: &EventListQuery) {
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
            assert!(walked.len() <= expected.len(), "events come twice: {query:?}");
        }
        assert_eq!(walked, expected, "{query:?}");
    }

    /// What must hold at the end of every history.
    fn end(&self) {
        assert_eq!(self.engine.damage(), [""; 0]);
        assert_eq!(self.engine.verify().unwrap().damaged, [""; 0]);
        let stats = self.engine.stats();
        assert_eq!(stats.events_head + stats.events_stored, self.events.len() as u64);
    }
}

/// Events within some minutes.
fn many(seed: u64, count: i64) -> Vec<Sample> {
    let sample = |i: i64| Sample {
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
        2 => (0..5 * 60 * MINUTE).prop_map(Step::Pass),
        1 => (0..2 * DAY).prop_map(Step::Pass),
        12 => questions().prop_map(Step::Ask),
        1 => questions().prop_map(Step::Delete),
        2 => (questions(), 0..110_usize).prop_map(|(question, percent)| Step::Since(question, percent)),
    ];
    prop::collection::vec(step, steps)
}

fn live(history: Vec<Step>) {
    let mut world = World::new();
    history.iter().for_each(|step| world.step(step));
    world.end();
}

#[test]
fn answers_are_those_of_a_list_of_events() {
    let writes = samples(1..120).prop_map(Step::Write);
    run(cases(), &histories(writes, 30..100), live);
}

#[test]
fn large_writes_and_small_ones_make_one_list() {
    // Around the size at which a piece of the head is full.
    let sizes = prop_oneof![8_000..8_400i64, Just(8_192i64), 1_000..9_500i64];
    let writes = prop_oneof![
        (any::<u64>(), sizes).prop_map(|(seed, count)| Step::Many(seed, count)),
        samples(1..120).prop_map(Step::Write),
    ];
    run(cases().div_ceil(LARGE_CASES_DIVISOR), &histories(writes, 20..40), live);
}

#[test]
fn a_day_of_several_blocks_answers_like_any_other() {
    run(2, &prop::collection::vec(questions(), 12), |questions| {
        let mut world = World::new();
        // Two blocks of one seal, then a late one over the same minutes.
        world.clock.set(TimestampMs(START + 60 * MINUTE));
        world.step(&Step::Many(1, 70_000));
        world.step(&Step::Seal);
        assert_eq!(world.engine.stats().event_blocks, 2);
        world.step(&Step::Many(2, 9_000));
        world.step(&Step::Seal);
        let (before, after) = questions.split_at(questions.len() / 2);
        before.iter().for_each(|question| world.step(&Step::Ask(question.clone())));
        world.step(&Step::Merge);
        assert_eq!(world.engine.stats().event_blocks, 2);
        world.step(&Step::Restart);
        after.iter().for_each(|question| world.step(&Step::Ask(question.clone())));
        world.end();
    });
}
