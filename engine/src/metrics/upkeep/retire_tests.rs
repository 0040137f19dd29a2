//! Series without data leave the registry, and nothing else changes: not the answers, not the ids of others, whatever happens in
//! between.

use std::path::Path;
use std::time::Duration;

use roaring::RoaringBitmap;
use tempfile::TempDir;

use super::super::registry::Marked;
use crate::error::Refusal;
use crate::metrics::{BatchBuilder, Metrics};
use crate::model::{
    Aggregation, Interval, MetricQuery, MetricType, SeriesId, StartTime, TimeRange, TimestampMs,
};
use crate::options::{Maintenance, Options, Retention, TierRetention};
use crate::storage::{Batch, Caching, KeyRange, Keyspace, Sync};
use crate::{Clock, Engine};

const DAY: i64 = 86_400_000;
const START: i64 = 20_000 * DAY;
/// Days that all tiers are kept.
const KEPT: u64 = 5;

const fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

/// An engine that keeps everything for a few days.
struct Bench {
    dir: TempDir,
    clock: Clock,
    series_max: usize,
    series_total: usize,
    engine: Option<Engine>,
}

impl Bench {
    fn new(series_max: usize) -> Self {
        let dir = memory_dir();
        let clock = Clock::manual(TimestampMs(START));
        let mut bench = Self { dir, clock, series_max, series_total: 1_000, engine: None };
        bench.reopen();
        bench
    }

    /// As after a kill: nothing is sealed before.
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

    /// Lets all data of the series expire and marks those that have none, which may retire now.
    fn expire_all_data(&self) {
        self.engine().seal().unwrap();
        self.pass(days(KEPT + 1));
        let (metrics, expiry) = (self.metrics(), self.now());
        metrics.expire_blocks(expiry).unwrap();
        assert_eq!(metrics.mark_series(expiry), Marked::Quiet);
        self.engine().seal().unwrap();
    }

    fn pass(&self, time: Duration) {
        self.clock.pass(time);
    }

    fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Writes a point of a pod now.
    fn write(&self, pod: &str) -> SeriesId {
        let mut batch = self.engine().batch();
        let series = push(&mut batch, pod, self.now());
        self.engine().write(batch.finish()).unwrap();
        series
    }

    fn series(&self) -> u64 {
        self.engine().stats().series
    }

    /// The keys of a kind of rows of the registry.
    fn rows(&self, kind: u8) -> usize {
        let mut rows = 0;
        let range = KeyRange::prefix(&[kind]);
        let store = &self.engine().inner().store;
        store
            .read_around_damage(Keyspace::Registry, &range, Caching::Bypass, |_, _| rows += 1)
            .unwrap();
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

/// A directory whose syncs cost nothing, where there is one.
pub(super) fn memory_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Opens the engine with limits on the series of a metric and of all.
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
fn a_metric_at_its_limit_has_room_again_when_its_data_expired() {
    let mut bench = Bench::new(50);
    for pod in 0..50 {
        bench.write(&format!("old-{pod}"));
    }
    let refused = |bench: &Bench| {
        let mut batch = bench.engine().batch();
        batch.series("cpu", MetricType::Counter, &[("pod", "new")]).err()
    };
    assert!(matches!(refused(&bench), Some(Refusal::CardinalityLimit(_))));
    bench.engine().seal().unwrap();
    bench.engine().merge().unwrap();
    bench.pass(days(KEPT));
    bench.engine().expire().unwrap();
    assert!(refused(&bench).is_some(), "the last day is not over as long as it is kept");
    bench.pass(days(1));
    bench.engine().expire().unwrap();
    assert_eq!((bench.series(), bench.engine().stats().blocks), (0, 0));
    assert_eq!((bench.rows(b's'), bench.rows(b'u'), bench.rows(b'm')), (0, 0, 1));
    let definition = bench.engine().metric("cpu").unwrap().unwrap();
    assert_eq!((definition.series, definition.data_points, definition.tag_keys.len()), (0, 50, 0));
    // As many tag keys as there may be, and others than before.
    let mut batch = bench.engine().batch();
    let tags = [("a", "1"), ("b", "1"), ("c", "1")];
    let series = batch.series("cpu", MetricType::Counter, &tags).unwrap();
    assert_eq!(series, SeriesId(50), "ids are not given again");
    batch.number(MetricType::Counter, series, bench.now(), 1.0);
    bench.engine().write(batch.finish()).unwrap();
    bench.reopen();
    assert_eq!(bench.pods(), [(String::new(), 1.0)]);
    assert_eq!(bench.engine().damage(), [""; 0]);
}

#[test]
fn ids_are_not_given_again_after_a_kill() {
    let mut bench = Bench::new(50);
    for round in 0..4u32 {
        let ids: Vec<u32> = (0..5).map(|pod| bench.write(&format!("pod-{pod}")).0).collect();
        assert_eq!(ids, (5 * round..5 * round + 5).collect::<Vec<_>>());
        bench.engine().seal().unwrap();
        bench.pass(days(KEPT + 1));
        bench.engine().expire().unwrap();
        assert_eq!(bench.series(), 0);
        bench.reopen();
        assert_eq!(bench.series(), 0);
    }
}

#[test]
fn a_metric_without_series_counts_towards_the_limit() {
    let mut bench = Bench::new(5);
    bench.series_total = 3;
    bench.reopen();
    let begin = |bench: &Bench, name: &str| {
        let mut batch = bench.engine().batch();
        let series = batch.series(name, MetricType::Gauge, &[])?;
        batch.number(MetricType::Gauge, series, bench.now(), 1.0);
        bench.engine().write(batch.finish()).map(|_| ())
    };
    for metric in ["a", "b", "c"] {
        begin(&bench, metric).unwrap();
    }
    bench.engine().seal().unwrap();
    bench.pass(days(KEPT + 1));
    bench.engine().expire().unwrap();
    assert_eq!((bench.engine().stats().metrics, bench.series()), (3, 0));
    let refused = begin(&bench, "new").unwrap_err().to_string();
    assert!(refused.contains("3 metrics without series included"), "{refused}");
    bench.engine().delete_metric("b").unwrap();
    begin(&bench, "new").unwrap();
    assert_eq!((bench.engine().stats().metrics, bench.series()), (3, 1));
}

#[test]
fn a_batch_that_is_under_way_keeps_its_series() {
    let bench = Bench::new(50);
    let old = bench.write("pod");
    bench.engine().seal().unwrap();
    bench.pass(days(KEPT + 1));
    let mut batch = bench.engine().batch();
    assert_eq!(push(&mut batch, "pod", bench.now()), old);
    let points = batch.finish();
    bench.engine().expire().unwrap();
    assert_eq!(bench.series(), 1, "somebody may write to it");
    bench.engine().write(points).unwrap();
    bench.engine().expire().unwrap();
    assert_eq!(bench.pods(), [("pod".to_owned(), 1.0)]);
    bench.pass(days(KEPT + 1));
    bench.engine().expire().unwrap();
    assert_eq!((bench.series(), bench.pods().len()), (0, 0));
}

#[test]
fn a_series_that_is_found_while_it_is_marked_stays() {
    let bench = Bench::new(50);
    let (kept, _gone) = (bench.write("kept"), bench.write("gone"));
    bench.engine().seal().unwrap();
    bench.pass(days(KEPT + 1));
    let before_the_marks = bench.engine().batch();
    bench.engine().expire().unwrap();
    assert_eq!(bench.metrics().registry().marked(), Marked::InUse);
    for _ in 0..2 {
        assert_eq!(push(&mut bench.engine().batch(), "kept", bench.now()), kept);
    }
    drop(before_the_marks);
    bench.engine().expire().unwrap();
    assert_eq!(bench.series(), 1);
    // Nobody wrote to it after all.
    bench.engine().expire().unwrap();
    assert_eq!(bench.series(), 0);
}

#[test]
fn readings_of_a_series_that_stays_do_not_count_as_forgotten() {
    let bench = Bench::new(50);
    let read = |pod: &str| {
        let mut batch = bench.engine().batch();
        let series = batch.series("cpu", MetricType::Counter, &[("pod", pod)]).unwrap();
        batch.reading(series, bench.now(), 1.0, StartTime::Unknown);
        bench.engine().write(batch.finish()).unwrap();
        series
    };
    let (found, gone) = (read("found"), read("gone"));
    bench.expire_all_data();
    let metrics = bench.metrics();
    // After both were chosen to retire.
    assert_eq!(read("found"), found);
    assert_eq!(metrics.retire_piece(&RoaringBitmap::from_iter([found.0, gone.0])), 1);
    assert_eq!(metrics.registry().readings_forgotten(), TimestampMs(START));
}

#[test]
fn a_point_that_is_late_keeps_its_series() {
    let mut bench = Bench::new(50);
    let old = bench.write("pod");
    bench.engine().seal().unwrap();
    bench.pass(days(KEPT));
    let mut batch = bench.engine().batch();
    assert_eq!(push(&mut batch, "pod", TimestampMs(START + DAY)), old);
    push(&mut batch, "ahead", TimestampMs(START + 20 * DAY));
    bench.engine().write(batch.finish()).unwrap();
    bench.pass(days(1));
    bench.engine().expire().unwrap();
    bench.reopen();
    let one = |pod: &str| (pod.to_owned(), 1.0);
    assert_eq!(bench.pods(), [one("ahead"), one("pod")]);
    bench.pass(days(1));
    bench.engine().expire().unwrap();
    assert_eq!((bench.series(), bench.pods()), (1, vec![one("ahead")]));
}

/// Where the process is killed.
#[derive(Clone, Copy, Debug)]
enum Killed {
    BeforeTheDiskKnows,
    BetweenSegmentsAndDays,
    BeforeTheNextSeal,
}

#[test]
fn a_kill_between_two_steps_gives_a_series_one_id() {
    let steps =
        [Killed::BeforeTheDiskKnows, Killed::BetweenSegmentsAndDays, Killed::BeforeTheNextSeal];
    for killed in steps {
        let mut bench = Bench::new(50);
        let total = |bench: &Bench, total, start| {
            let mut batch = bench.engine().batch();
            let series = batch.series("cpu", MetricType::Counter, &[("pod", "total")]).unwrap();
            let begins = StartTime::At { start: TimestampMs(start), counts: true };
            batch.reading(series, bench.now(), total, begins);
            bench.engine().write(batch.finish()).unwrap();
            series
        };
        let old = (bench.write("pod"), total(&bench, 10.0, START - 5));
        bench.expire_all_data();
        let (metrics, expiry) = (bench.metrics(), bench.now());
        match killed {
            Killed::BeforeTheDiskKnows => {
                metrics.retire_piece(&RoaringBitmap::from_iter([old.0.0, old.1.0]));
            }
            Killed::BetweenSegmentsAndDays => {
                metrics.retire_piece(&RoaringBitmap::from_iter([old.0.0, old.1.0]));
                let registry = metrics.registry();
                let (left, segments) = registry.segments_of_left();
                let mut batch = Batch::new();
                let (_, removal) = registry.stage_removal(&segments, &left, &mut batch).unwrap();
                metrics.store.write(batch, Sync::No).unwrap();
                registry.removed(removal);
            }
            Killed::BeforeTheNextSeal => _ = metrics.retire_series(Marked::Quiet, expiry).unwrap(),
        }
        assert_eq!(bench.series(), 0, "{killed:?}");
        let new = (bench.write("pod"), total(&bench, 17.0, START - 5));
        assert!(new.0 > old.1 && new.1 > old.1);
        for _ in 0..3 {
            bench.reopen();
            let mut batch = bench.engine().batch();
            assert_eq!(push(&mut batch, "pod", bench.now()), new.0, "{killed:?}");
            drop(batch);
            // The stream began before readings that were forgotten: what it came to in all is not known to be new.
            assert_eq!(bench.pods(), [("pod".to_owned(), 1.0)], "{killed:?}");
            bench.engine().expire().unwrap();
            assert_eq!(bench.series(), 2, "{killed:?}");
        }
        bench.pass(Duration::from_secs(60));
        total(&bench, 20.0, START - 5);
        let expected = [("pod".to_owned(), 1.0), ("total".to_owned(), 3.0)];
        assert_eq!(bench.pods(), expected, "{killed:?}");
        assert_eq!(bench.engine().verify().unwrap().damaged, [""; 0]);
    }
}

#[test]
fn directories_of_older_versions_know_no_last_days() {
    let mut bench = Bench::new(50);
    bench.write("old");
    bench.engine().seal().unwrap();
    bench.pass(days(2));
    bench.write("young");
    bench.engine().seal().unwrap();
    let mut batch = Batch::new();
    batch.delete_range(Keyspace::Registry, KeyRange::prefix(b"u"));
    batch.put(Keyspace::Meta, b"format", 2_u32.to_le_bytes().to_vec());
    bench.engine().inner().store.write(batch, Sync::Yes).unwrap();
    bench.reopen();
    bench.pass(days(KEPT - 1));
    bench.engine().expire().unwrap();
    assert_eq!((bench.series(), bench.pods().len()), (2, 1), "as old as the metric's newest block");
    bench.reopen();
    bench.pass(days(2));
    bench.engine().expire().unwrap();
    assert_eq!((bench.series(), bench.rows(b'u')), (0, 0));
}

#[test]
fn rows_that_came_back_after_damage_hide_nothing() {
    let mut bench = Bench::new(50);
    let series = bench.write("pod");
    bench.engine().seal().unwrap();
    let store = &bench.engine().inner().store;
    let key = [b'u', 0, 0, 0, 0];
    let old = store.get(Keyspace::Registry, &key).unwrap().unwrap().to_vec();
    bench.pass(days(KEPT + 3));
    assert_eq!(bench.write("pod"), series);
    bench.engine().seal().unwrap();
    let mut batch = Batch::new();
    batch.put(Keyspace::Registry, &key, old);
    batch.put(Keyspace::Meta, b"lost.registry", vec![1; 8]);
    bench.engine().inner().store.write(batch, Sync::Yes).unwrap();
    for _ in 0..2 {
        bench.reopen();
        bench.engine().expire().unwrap();
        assert_eq!(bench.pods(), [("pod".to_owned(), 1.0)]);
    }
}

#[test]
fn a_deleted_metric_leaves_no_series_on_disk() {
    let mut bench = Bench::new(50);
    for pod in 0..50 {
        bench.write(&format!("pod-{pod}"));
    }
    bench.engine().seal().unwrap();
    bench.engine().delete_metric("cpu").unwrap();
    bench.engine().seal().unwrap();
    // The segment is found at the start as well as in memory.
    bench.reopen();
    assert_eq!((bench.rows(b's'), bench.rows(b'u')), (1, 1));
    bench.engine().expire().unwrap();
    assert_eq!((bench.rows(b's'), bench.rows(b'u')), (0, 0));
    assert_eq!(bench.write("pod-0"), SeriesId(50));
}

#[test]
fn series_that_damage_keeps_on_disk_are_not_tried_again_before_the_next_start() {
    let mut bench = Bench::new(50);
    let mut batch = bench.engine().batch();
    let series = batch.series("lost", MetricType::Gauge, &[]).unwrap();
    batch.number(MetricType::Gauge, series, bench.now(), 1.0);
    push(&mut batch, "gone", bench.now());
    bench.engine().write(batch.finish()).unwrap();
    bench.engine().seal().unwrap();
    let lost = bench.metrics().registry().with_metric("lost", |metric| metric.id).unwrap();
    let mut batch = Batch::new();
    batch.delete(Keyspace::Registry, &[&b"m"[..], &lost.0.to_be_bytes()].concat());
    bench.metrics().store.write(batch, Sync::Yes).unwrap();
    for _ in 0..2 {
        bench.reopen();
        assert_eq!(bench.series(), 1);
        bench.pass(days(KEPT + 1));
        bench.engine().expire().unwrap();
        assert_eq!((bench.series(), bench.rows(b's')), (0, 1), "the segment has what is unknown");
        let seals = bench.engine().stats().seals;
        bench.engine().expire().unwrap();
        assert_eq!(bench.engine().stats().seals, seals);
    }
}

#[test]
fn the_registry_holds_as_many_series_as_have_data_however_many_came() {
    const DAYS: u64 = 200;
    const PODS: u32 = 50;
    let mut bench = Bench::new((PODS * (KEPT as u32 + 3)) as usize);
    let mut figures = Vec::new();
    for day in 0..DAYS {
        let mut batch = bench.engine().batch();
        for pod in 0..PODS {
            push(&mut batch, &format!("day-{day}-pod-{pod:04}"), bench.now());
        }
        push(&mut batch, "always", bench.now());
        bench.engine().write(batch.finish()).unwrap();
        bench.engine().seal().unwrap();
        bench.engine().merge().unwrap();
        bench.pass(days(1));
        bench.engine().expire().unwrap();
        if day % 10 == 0 {
            bench.reopen();
        }
        if day % 20 == 19 {
            bench.engine().inner().telemetry.settle_disk().unwrap();
            let stats = bench.engine().stats();
            let disk = bench.engine().inner().store.table_bytes(Keyspace::Registry).unwrap();
            figures.push((stats.series, stats.registry_bytes, disk, bench.rows(b's')));
        }
    }
    let first = figures[0];
    for (series, memory, disk, rows) in &figures {
        assert!(*series <= u64::from(PODS) * (KEPT + 1) + 1, "{figures:?}");
        assert!(*memory <= first.1 * 5 / 4 && *disk <= first.2 * 5 / 4, "{figures:?}");
        assert!(*rows <= KEPT as usize + 3, "{figures:?}");
    }
    assert_eq!(bench.engine().verify().unwrap().damaged, [""; 0]);
}
