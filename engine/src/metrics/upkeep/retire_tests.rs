//! Retirement removes series without data from the registry and changes nothing else: neither query
//! results nor the ids of other series, even across kills.

use std::path::Path;
use std::time::Duration;

use roaring::RoaringBitmap;
use tempfile::TempDir;

use super::super::registry::RetirementProgress;
use crate::error::Refusal;
use crate::metrics::{BatchBuilder, Metrics};
use crate::model::{
    Aggregation, Interval, MetricQuery, MetricType, SeriesId, StartTime, TimeRange, TimestampMs,
};
use crate::options::{Maintenance, Options, Retention, TierRetention};
use crate::storage::{Batch, Caching, Keyspace, RangeOf, Sync};
use crate::{Clock, Engine};

const DAY: i64 = 86_400_000;
const START: i64 = 20_000 * DAY;
/// The longest retention of all tiers, in days.
const KEPT: u64 = 5;

const fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

/// An engine with a retention of a few days.
struct TestEngine {
    dir: TempDir,
    clock: Clock,
    series_max: usize,
    series_total: usize,
    engine: Option<Engine>,
}

impl TestEngine {
    fn new(series_max: usize) -> Self {
        let dir = memory_dir();
        let clock = Clock::manual(TimestampMs(START));
        let mut test = Self { dir, clock, series_max, series_total: 1_000, engine: None };
        test.reopen();
        test
    }

    /// Reopens the engine as after a kill, without sealing first.
    fn reopen(&mut self) {
        self.engine = None;
        let limits = (self.series_max, self.series_total);
        self.engine = Some(open(self.dir.path(), &self.clock, limits));
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn metrics(&self) -> &Metrics {
        &self.engine().inner().telemetry.metrics
    }

    /// Lets all data expire and marks the series without data, so that they can retire now.
    fn expire_all_data(&self) {
        self.engine().seal().unwrap();
        self.pass(days(KEPT + 1));
        let (metrics, expiry) = (self.metrics(), self.now());
        metrics.expire_blocks(expiry).unwrap();
        assert_eq!(metrics.mark_series(expiry), RetirementProgress::Quiet);
        self.engine().seal().unwrap();
    }

    fn pass(&self, time: Duration) {
        self.clock.pass(time);
    }

    fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Writes a point of a pod at the current time.
    fn write(&self, pod: &str) -> SeriesId {
        let mut batch = self.engine().batch();
        let series = push(&mut batch, pod, self.now());
        self.engine().write(batch.finish()).unwrap();
        series
    }

    fn series(&self) -> u64 {
        self.engine().stats().series
    }

    /// Returns the number of registry rows of a kind.
    fn rows(&self, kind: u8) -> usize {
        let mut rows = 0;
        let range = RangeOf::prefix(Keyspace::Registry, &[kind]);
        let store = &self.engine().inner().store;
        store.read_skipping_damage(range, Caching::Bypass, |_, _| rows += 1).unwrap();
        rows
    }

    fn pods(&self) -> Vec<(String, f64)> {
        let query = MetricQuery::of_all(
            "cpu",
            TimeRange::new(START - 100 * DAY, START + 1000 * DAY),
            Interval::DAY,
            &[Aggregation::Sum],
        )
        .by("pod");
        let groups = self.engine().query(&query).unwrap().groups;
        groups.iter().map(|group| (group.key.concat(), group.columns[0].iter().sum())).collect()
    }
}

/// Creates a temporary directory, in memory where possible, so that syncs are cheap.
pub(super) fn memory_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Opens the engine with limits on the series per metric and in total.
fn open(dir: &Path, clock: &Clock, (series_max, series_total): (usize, usize)) -> Engine {
    let default = TierRetention::of_days([KEPT, 2, KEPT, KEPT, KEPT]);
    let options = Options {
        maintenance: Maintenance::Manual,
        clock: clock.clone(),
        retention: Retention { default, by_prefix: Vec::new() },
        series_per_metric: series_max,
        series_total,
        tag_keys_per_metric: 3,
        clock_grace: Duration::ZERO,
        disk_free_bytes: 0,
        ..Options::default()
    };
    Engine::open(dir, options).unwrap()
}

fn push(batch: &mut BatchBuilder<'_>, pod: &str, time: TimestampMs) -> SeriesId {
    let series = batch.series("cpu", MetricType::Counter, &[("pod", pod)]).unwrap();
    batch.number(MetricType::Counter, series, time, 1.0);
    series
}

#[test]
fn a_metric_at_its_limit_accepts_new_series_once_its_data_has_expired() {
    let mut test = TestEngine::new(50);
    for pod in 0..50 {
        test.write(&format!("old-{pod}"));
    }
    let refused = |test: &TestEngine| {
        let mut batch = test.engine().batch();
        batch.series("cpu", MetricType::Counter, &[("pod", "new")]).err()
    };
    assert!(matches!(refused(&test), Some(Refusal::CardinalityLimit(_))));
    test.engine().seal().unwrap();
    test.engine().merge().unwrap();
    test.pass(days(KEPT));
    test.engine().expire().unwrap();
    assert!(refused(&test).is_some(), "the last day has not expired yet");
    test.pass(days(1));
    test.engine().expire().unwrap();
    assert_eq!((test.series(), test.engine().stats().blocks), (0, 0));
    assert_eq!((test.rows(b's'), test.rows(b'u'), test.rows(b'm')), (0, 0, 1));
    let definition = test.engine().metric("cpu").unwrap().unwrap();
    assert_eq!((definition.series, definition.data_points, definition.tag_keys.len()), (0, 50, 0));
    // As many tag keys as allowed, different from those before.
    let mut batch = test.engine().batch();
    let tags = [("a", "1"), ("b", "1"), ("c", "1")];
    let series = batch.series("cpu", MetricType::Counter, &tags).unwrap();
    assert_eq!(series, SeriesId(50), "ids are not reused");
    batch.number(MetricType::Counter, series, test.now(), 1.0);
    test.engine().write(batch.finish()).unwrap();
    test.reopen();
    assert_eq!(test.pods(), [(String::new(), 1.0)]);
    assert_eq!(test.engine().damage(), [""; 0]);
}

#[test]
fn ids_are_not_reused_after_a_kill() {
    let mut test = TestEngine::new(50);
    for cycle in 0..4u32 {
        let ids: Vec<u32> = (0..5).map(|pod| test.write(&format!("pod-{pod}")).0).collect();
        assert_eq!(ids, (5 * cycle..5 * cycle + 5).collect::<Vec<_>>());
        test.engine().seal().unwrap();
        test.pass(days(KEPT + 1));
        test.engine().expire().unwrap();
        assert_eq!(test.series(), 0);
        test.reopen();
        assert_eq!(test.series(), 0);
    }
}

#[test]
fn a_metric_without_series_counts_towards_the_limit() {
    let mut test = TestEngine::new(5);
    test.series_total = 3;
    test.reopen();
    let create = |test: &TestEngine, name: &str| {
        let mut batch = test.engine().batch();
        let series = batch.series(name, MetricType::Gauge, &[])?;
        batch.number(MetricType::Gauge, series, test.now(), 1.0);
        test.engine().write(batch.finish()).map(|_| ())
    };
    for metric in ["a", "b", "c"] {
        create(&test, metric).unwrap();
    }
    test.engine().seal().unwrap();
    test.pass(days(KEPT + 1));
    test.engine().expire().unwrap();
    assert_eq!((test.engine().stats().metrics, test.series()), (3, 0));
    let refused = create(&test, "new").unwrap_err().to_string();
    assert!(refused.contains("including 3 metrics without series"), "{refused}");
    test.engine().delete_metric("b").unwrap();
    create(&test, "new").unwrap();
    assert_eq!((test.engine().stats().metrics, test.series()), (3, 1));
}

#[test]
fn a_batch_in_progress_keeps_its_series() {
    let test = TestEngine::new(50);
    let old = test.write("pod");
    test.engine().seal().unwrap();
    test.pass(days(KEPT + 1));
    let mut batch = test.engine().batch();
    assert_eq!(push(&mut batch, "pod", test.now()), old);
    let points = batch.finish();
    test.engine().expire().unwrap();
    assert_eq!(test.series(), 1, "a batch may write to it");
    test.engine().write(points).unwrap();
    test.engine().expire().unwrap();
    assert_eq!(test.pods(), [("pod".to_owned(), 1.0)]);
    test.pass(days(KEPT + 1));
    test.engine().expire().unwrap();
    assert_eq!((test.series(), test.pods().len()), (0, 0));
}

#[test]
fn a_marked_series_that_is_looked_up_is_kept() {
    let test = TestEngine::new(50);
    let (kept, _retired) = (test.write("kept"), test.write("retired"));
    test.engine().seal().unwrap();
    test.pass(days(KEPT + 1));
    let before_the_marks = test.engine().batch();
    test.engine().expire().unwrap();
    assert_eq!(test.metrics().registry().marked(), RetirementProgress::InUse);
    for _ in 0..2 {
        assert_eq!(push(&mut test.engine().batch(), "kept", test.now()), kept);
    }
    drop(before_the_marks);
    test.engine().expire().unwrap();
    assert_eq!(test.series(), 1);
    // It was not written to after all.
    test.engine().expire().unwrap();
    assert_eq!(test.series(), 0);
}

#[test]
fn samples_of_a_series_that_is_kept_are_not_forgotten() {
    let test = TestEngine::new(50);
    let write_cumulative = |pod: &str| {
        let mut batch = test.engine().batch();
        let series = batch.series("cpu", MetricType::Counter, &[("pod", pod)]).unwrap();
        batch.reading(series, test.now(), 1.0, StartTime::Unknown);
        test.engine().write(batch.finish()).unwrap();
        series
    };
    let (found, retired) = (write_cumulative("found"), write_cumulative("retired"));
    test.expire_all_data();
    let metrics = test.metrics();
    // After both were selected for retirement.
    assert_eq!(write_cumulative("found"), found);
    assert_eq!(metrics.retire_piece(&RoaringBitmap::from_iter([found.0, retired.0])), 1);
    assert_eq!(metrics.registry().newest_forgotten_sample(), TimestampMs(START));
}

#[test]
fn a_late_point_keeps_its_series() {
    let mut test = TestEngine::new(50);
    let old = test.write("pod");
    test.engine().seal().unwrap();
    test.pass(days(KEPT));
    let mut batch = test.engine().batch();
    assert_eq!(push(&mut batch, "pod", TimestampMs(START + DAY)), old);
    push(&mut batch, "ahead", TimestampMs(START + 20 * DAY));
    test.engine().write(batch.finish()).unwrap();
    test.pass(days(1));
    test.engine().expire().unwrap();
    test.reopen();
    let one = |pod: &str| (pod.to_owned(), 1.0);
    assert_eq!(test.pods(), [one("ahead"), one("pod")]);
    test.pass(days(1));
    test.engine().expire().unwrap();
    assert_eq!((test.series(), test.pods()), (1, vec![one("ahead")]));
}

/// The point at which the process is killed.
#[derive(Clone, Copy, Debug)]
enum Killed {
    BeforeTheDiskWrite,
    BetweenSegmentsAndDays,
    BeforeTheNextSeal,
}

#[test]
fn a_kill_between_two_steps_leaves_a_series_with_one_id() {
    let steps =
        [Killed::BeforeTheDiskWrite, Killed::BetweenSegmentsAndDays, Killed::BeforeTheNextSeal];
    for killed in steps {
        let mut test = TestEngine::new(50);
        let total = |test: &TestEngine, total, start| {
            let mut batch = test.engine().batch();
            let series = batch.series("cpu", MetricType::Counter, &[("pod", "total")]).unwrap();
            let start_time = StartTime::At { start: TimestampMs(start), counts: true };
            batch.reading(series, test.now(), total, start_time);
            test.engine().write(batch.finish()).unwrap();
            series
        };
        let old = (test.write("pod"), total(&test, 10.0, START - 5));
        test.expire_all_data();
        let (metrics, expiry) = (test.metrics(), test.now());
        match killed {
            Killed::BeforeTheDiskWrite => {
                metrics.retire_piece(&RoaringBitmap::from_iter([old.0.0, old.1.0]));
            }
            Killed::BetweenSegmentsAndDays => {
                metrics.retire_piece(&RoaringBitmap::from_iter([old.0.0, old.1.0]));
                let registry = metrics.registry();
                let (removed, segments) = registry.segments_with_removed();
                let mut batch = Batch::new();
                let (_, removal) = registry.stage_removal(&segments, &removed, &mut batch).unwrap();
                metrics.store.write(batch, Sync::No).unwrap();
                registry.removal_written(removal);
            }
            Killed::BeforeTheNextSeal => {
                _ = metrics.retire_series(RetirementProgress::Quiet, expiry).unwrap()
            }
        }
        assert_eq!(test.series(), 0, "{killed:?}");
        let new = (test.write("pod"), total(&test, 17.0, START - 5));
        assert!(new.0 > old.1 && new.1 > old.1);
        for _ in 0..3 {
            test.reopen();
            let mut batch = test.engine().batch();
            assert_eq!(push(&mut batch, "pod", test.now()), new.0, "{killed:?}");
            drop(batch);
            // The stream started before the newest forgotten sample, so its value is not known to
            // be new.
            assert_eq!(test.pods(), [("pod".to_owned(), 1.0)], "{killed:?}");
            test.engine().expire().unwrap();
            assert_eq!(test.series(), 2, "{killed:?}");
        }
        test.pass(Duration::from_secs(60));
        total(&test, 20.0, START - 5);
        let expected = [("pod".to_owned(), 1.0), ("total".to_owned(), 3.0)];
        assert_eq!(test.pods(), expected, "{killed:?}");
        assert_eq!(test.engine().verify().unwrap().damaged, [""; 0]);
    }
}

#[test]
fn directories_of_older_versions_without_last_days_are_upgraded() {
    let mut test = TestEngine::new(50);
    test.write("old");
    test.engine().seal().unwrap();
    test.pass(days(2));
    test.write("young");
    test.engine().seal().unwrap();
    let mut batch = Batch::new();
    batch.delete_range(RangeOf::prefix(Keyspace::Registry, b"u"));
    batch.put(Keyspace::Meta, b"format", 2_u32.to_le_bytes().to_vec());
    test.engine().inner().store.write(batch, Sync::Yes).unwrap();
    test.reopen();
    test.pass(days(KEPT - 1));
    test.engine().expire().unwrap();
    assert_eq!((test.series(), test.pods().len()), (2, 1), "as old as the metric's newest block");
    test.reopen();
    test.pass(days(2));
    test.engine().expire().unwrap();
    assert_eq!((test.series(), test.rows(b'u')), (0, 0));
}

#[test]
fn rows_that_reappear_after_damage_hide_no_data() {
    let mut test = TestEngine::new(50);
    let series = test.write("pod");
    test.engine().seal().unwrap();
    let store = &test.engine().inner().store;
    let key = [b'u', 0, 0, 0, 0];
    let old = store.get(Keyspace::Registry, &key).unwrap().unwrap().to_vec();
    test.pass(days(KEPT + 3));
    assert_eq!(test.write("pod"), series);
    test.engine().seal().unwrap();
    let mut batch = Batch::new();
    batch.put(Keyspace::Registry, &key, old);
    batch.put(Keyspace::Meta, b"lost.registry", vec![1; 8]);
    test.engine().inner().store.write(batch, Sync::Yes).unwrap();
    for _ in 0..2 {
        test.reopen();
        test.engine().expire().unwrap();
        assert_eq!(test.pods(), [("pod".to_owned(), 1.0)]);
    }
}

#[test]
fn a_deleted_metric_leaves_no_series_on_disk() {
    let mut test = TestEngine::new(50);
    for pod in 0..50 {
        test.write(&format!("pod-{pod}"));
    }
    test.engine().seal().unwrap();
    test.engine().delete_metric("cpu").unwrap();
    test.engine().seal().unwrap();
    // The segment is found by the start as well as by the running engine.
    test.reopen();
    assert_eq!((test.rows(b's'), test.rows(b'u')), (1, 1));
    test.engine().expire().unwrap();
    assert_eq!((test.rows(b's'), test.rows(b'u')), (0, 0));
    assert_eq!(test.write("pod-0"), SeriesId(50));
}

#[test]
fn series_kept_on_disk_by_damage_are_not_retried_before_the_next_start() {
    let mut test = TestEngine::new(50);
    let mut batch = test.engine().batch();
    let series = batch.series("lost", MetricType::Gauge, &[]).unwrap();
    batch.number(MetricType::Gauge, series, test.now(), 1.0);
    push(&mut batch, "gone", test.now());
    test.engine().write(batch.finish()).unwrap();
    test.engine().seal().unwrap();
    let lost = test.metrics().registry().with_metric("lost", |metric| metric.id).unwrap();
    let mut batch = Batch::new();
    batch.delete(Keyspace::Registry, &[&b"m"[..], &lost.0.to_be_bytes()].concat());
    test.metrics().store.write(batch, Sync::Yes).unwrap();
    for _ in 0..2 {
        test.reopen();
        assert_eq!(test.series(), 1);
        test.pass(days(KEPT + 1));
        test.engine().expire().unwrap();
        assert_eq!(
            (test.series(), test.rows(b's')),
            (0, 1),
            "the segment contains an unknown series"
        );
        let seals = test.engine().stats().seals;
        test.engine().expire().unwrap();
        assert_eq!(test.engine().stats().seals, seals);
    }
}

#[test]
fn the_registry_size_is_bounded_by_the_series_with_data() {
    const DAYS: u64 = 200;
    const PODS: u32 = 50;
    let mut test = TestEngine::new((PODS * (KEPT as u32 + 3)) as usize);
    let mut figures = Vec::new();
    for day in 0..DAYS {
        let mut batch = test.engine().batch();
        for pod in 0..PODS {
            push(&mut batch, &format!("day-{day}-pod-{pod:04}"), test.now());
        }
        push(&mut batch, "always", test.now());
        test.engine().write(batch.finish()).unwrap();
        test.engine().seal().unwrap();
        test.engine().merge().unwrap();
        test.pass(days(1));
        test.engine().expire().unwrap();
        if day % 10 == 0 {
            test.reopen();
        }
        if day % 20 == 19 {
            test.engine().inner().telemetry.settle_disk().unwrap();
            let stats = test.engine().stats();
            let disk = test.engine().inner().store.table_bytes(Keyspace::Registry).unwrap();
            figures.push((stats.series, stats.registry_bytes, disk, test.rows(b's')));
        }
    }
    let first = figures[0];
    for (series, memory, disk, rows) in &figures {
        assert!(*series <= u64::from(PODS) * (KEPT + 1) + 1, "{figures:?}");
        assert!(*memory <= first.1 * 5 / 4 && *disk <= first.2 * 5 / 4, "{figures:?}");
        assert!(*rows <= KEPT as usize + 3, "{figures:?}");
    }
    assert_eq!(test.engine().verify().unwrap().damaged, [""; 0]);
}
