//! Tests the state machine with random histories against a slow model, and against the state
//! reloaded from disk.

mod damage;
mod model;
mod purge;
mod unused_queues;
mod verbs;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use telltale_engine::{Clock, Engine, Options, TimestampMs};
use tempfile::TempDir;

use self::model::{Model, QUEUES};
use super::*;
use crate::jobs::model::{
    FailureReport, JobId, JobStatus, NewJob, NewWorker, WorkerId, WorkerStatus, WorkerUsage,
};
use crate::jobs::names::{ClassName, QueueName, UniqueKey};
use crate::jobs::settings::JobsSettings;
use crate::platform::ids::Ids;
use crate::platform::settings::{FromZero, Period};

/// The start of all histories.
const START_MS: i64 = 1_700_000_000_000;

/// A step of a history. Numbers select among what exists.
#[derive(Clone, Debug)]
enum Step {
    Enqueue { queue: usize, in_ms: i64, max_attempts: u16, unique: Option<u8>, timeout_s: u32 },
    Delete(usize),
    Register { queues: Vec<usize> },
    Heartbeat(usize),
    Restrict(usize, bool),
    Deregister(usize),
    Fetch { worker: usize, limit: u32 },
    Ack { job: usize, stale: bool },
    Fail { job: usize, stale: bool },
    Extend { job: usize, seconds: u32 },
    GiveBack(usize),
    Pause(usize),
    Resume(usize),
    Purge(usize),
    Pass { ms: i64 },
    Jump { ms: i64 },
    Reload,
}

fn step() -> impl Strategy<Value = Step> {
    let n = any::<usize>;
    let queue = || 0..QUEUES.len();
    prop_oneof![
        12 => (queue(), prop_oneof![3 => Just(0), 1 => 1..200_000_i64], 1..4_u16, prop::option::weighted(0.3, 0..4_u8), 1..100_u32)
            .prop_map(|(queue, in_ms, max_attempts, unique, timeout_s)| Step::Enqueue { queue, in_ms, max_attempts, unique, timeout_s }),
        1 => n().prop_map(Step::Delete),
        2 => prop::sample::subsequence(vec![0, 1, 2], 1..=3).prop_shuffle().prop_map(|queues| Step::Register { queues }),
        3 => n().prop_map(Step::Heartbeat),
        1 => (n(), any::<bool>()).prop_map(|(worker, stop)| Step::Restrict(worker, stop)),
        1 => n().prop_map(Step::Deregister),
        12 => (n(), 1..4_u32).prop_map(|(worker, limit)| Step::Fetch { worker, limit }),
        5 => (n(), prop::bool::weighted(0.2)).prop_map(|(job, stale)| Step::Ack { job, stale }),
        5 => (n(), prop::bool::weighted(0.2)).prop_map(|(job, stale)| Step::Fail { job, stale }),
        1 => (n(), 1..200_u32).prop_map(|(job, seconds)| Step::Extend { job, seconds }),
        1 => n().prop_map(Step::GiveBack),
        1 => queue().prop_map(Step::Pause),
        2 => queue().prop_map(Step::Resume),
        1 => queue().prop_map(Step::Purge),
        6 => (1..60_000_i64).prop_map(|ms| Step::Pass { ms }),
        1 => (-100_000_000..100_000_000_i64).prop_map(|ms| Step::Jump { ms }),
        2 => Just(Step::Reload),
    ]
}

/// The state and the model.
struct Pair {
    _dir: TempDir,
    engine: Engine,
    settings: JobsSettings,
    ids: Arc<Ids>,
    clock: Clock,
    steady_ms: i64,
    state: State,
    model: Model,
    last_token: u64,
}

fn settings() -> JobsSettings {
    JobsSettings {
        lease: Period::from(Duration::from_secs(50)),
        worker_silence: Period::from(Duration::from_secs(60)),
        retry_jitter_seconds: FromZero(0),
        finished_max: 10,
        dead_max: 5,
        ..JobsSettings::default()
    }
}

impl Pair {
    fn open() -> Self {
        let dir = TempDir::new().unwrap();
        let engine =
            Engine::open(dir.path(), Options { cache_bytes: 8 << 20, ..Options::default() })
                .unwrap();
        let clock = Clock::manual(TimestampMs(START_MS));
        let ids = Arc::new(Ids::new(clock.clone()).unwrap());
        let state = State::new(settings(), Arc::clone(&ids), 7, 1);
        let model = Model::new(settings(), START_MS);
        Self {
            _dir: dir,
            engine,
            settings: settings(),
            ids,
            clock,
            steady_ms: 0,
            state,
            model,
            last_token: 0,
        }
    }

    fn now(&self) -> Now {
        let wall = self.clock.now();
        Now { wall, believed: wall, steady_ms: self.steady_ms }
    }

    /// Runs a cycle: fires timers, changes the state, writes the records.
    fn cycle<T>(&mut self, work: impl FnOnce(&mut State, &mut Cycle) -> T) -> T {
        let mut cycle = Cycle::new(self.now());
        assert!(!self.state.tick(&mut cycle), "one cycle does everything that is due");
        let outcome = work(&mut self.state, &mut cycle);
        self.engine.records().write(cycle.batch).unwrap();
        outcome
    }

    fn pass(&mut self, ms: i64) {
        self.clock.set(TimestampMs(self.clock.now().0 + ms));
        self.steady_ms += ms;
        self.model.pass(ms);
    }

    /// Changes the wall clock only.
    fn jump(&mut self, ms: i64) {
        self.clock.set(TimestampMs((self.clock.now().0 + ms).max(1)));
        self.model.jump_to(self.clock.now().0);
    }

    fn reload(&mut self) {
        let loaded = State::load(&self.engine, self.settings, Arc::clone(&self.ids), 7, self.now());
        let loaded = loaded.unwrap();
        assert_eq!(loaded.damaged, Vec::<String>::new());
        self.state = loaded.state;
        self.model.restart();
    }

    /// Compares everything visible.
    fn compare(&mut self) {
        self.cycle(|_, _| ());
        self.model.tick();
        for (number, name) in QUEUES.iter().enumerate() {
            let Some(known) = self.state.queues.by_name.get(*name) else { continue };
            let queue = self.state.queues.of(*known);
            let is_ready = |id: &&JobId| {
                self.state.jobs.get(id).is_some_and(|job| job.status == JobStatus::Ready)
            };
            let order: Vec<JobId> = queue.order.iter().filter(is_ready).copied().collect();
            assert_eq!(order, self.model.order(number), "{name}");
            assert_eq!(queue.ready, order.len(), "{name}");
            let counts = (queue.scheduled, queue.retrying, queue.running);
            assert_eq!(counts, self.model.counts(number), "{name}");
            assert_eq!(queue.paused_ms.is_some(), self.model.is_paused(number), "{name}");
        }
        for (id, expected) in self.model.jobs() {
            let found = self.state.job(id).map(|job| (job.status, job.attempts));
            assert_eq!(found, expected, "{id}");
        }
        assert!(self.state.workers.keys().copied().eq(self.model.workers()));
        assert_eq!(self.state.holds.len(), self.model.running());
        assert_eq!(self.state.unique.holders.len(), self.state.unique.keys.len());
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Pass { ms } => self.pass(ms),
            Step::Jump { ms } => self.jump(ms),
            Step::Reload => self.reload(),
            other => self.act(other),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_history_matches_the_model_and_the_disk(steps in prop::collection::vec(step(), 1..120)) {
        let mut pair = Pair::open();
        for step in steps {
            pair.run(step);
            pair.compare();
        }
        pair.reload();
        pair.compare();
    }
}

const ENQUEUE: Step =
    Step::Enqueue { queue: 0, in_ms: 0, max_attempts: 3, unique: None, timeout_s: 10 };

#[test]
fn jobs_whose_leases_end_together_return_in_their_order() {
    let mut pair = Pair::open();
    (0..3).for_each(|_| pair.run(ENQUEUE));
    let order = pair.model.order(0);
    pair.run(Step::Register { queues: vec![0] });
    pair.run(Step::Fetch { worker: 0, limit: 3 });
    assert!(pair.model.order(0).is_empty());
    pair.run(Step::Pass { ms: 10_000 });
    pair.compare();
    assert_eq!(pair.model.order(0), order);
}

#[test]
fn ids_of_jobs_that_left_do_not_accumulate() {
    let mut pair = Pair::open();
    (0..300).for_each(|_| pair.run(ENQUEUE));
    (1..299).for_each(|number| pair.run(Step::Delete(number)));
    let last = pair.model.order(0)[1];
    let order = |pair: &Pair| pair.state.queues.of(0).order.clone();
    assert!(order(&pair).len() < 100, "{}", order(&pair).len());
    pair.run(Step::Delete(0));
    assert_eq!(order(&pair).front(), Some(&last), "ids of jobs that left are not at the front");
    pair.compare();
}

#[test]
fn a_heartbeat_is_stored_when_it_has_new_values_and_otherwise_once_a_minute() {
    let mut pair = Pair::open();
    pair.run(Step::Register { queues: vec![0] });
    let id = pair.model.choose_worker(0).unwrap();
    let mut is_stored = |after_ms: i64, vitals| {
        pair.clock.set(TimestampMs(pair.clock.now().0 + after_ms));
        let mut cycle = Cycle::new(pair.now());
        pair.state.heartbeat(id, vitals, &mut cycle).unwrap();
        !cycle.batch.is_empty()
    };
    let vitals = |n: u32| WorkerUsage {
        busy_threads: Some(n),
        memory_mb: Some(f64::from(n)),
        cpu_percent: Some(f64::from(n) / 2.0),
    };
    assert!(!is_stored(15_000, WorkerUsage::default()));
    assert!(is_stored(15_000, vitals(1)), "the first values");
    for n in 2..5 {
        assert!(!is_stored(15_000, vitals(n)), "{n}");
    }
    assert!(!is_stored(14_999, WorkerUsage::default()));
    assert!(is_stored(1, vitals(5)), "a minute is over");
    assert!(!is_stored(-59_999, vitals(6)));
    assert!(is_stored(-1, vitals(7)), "the clock was set back");
    assert!(!is_stored(15_000, vitals(8)));
}
