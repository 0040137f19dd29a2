//! Flipped bytes: each costs one record or one block, and is reported.

use std::path::{Path, PathBuf};

use telltale_engine::{
    Aggregation, Buckets, Engine, EventFilter, EventListQuery, Histogram, Interval, MetricName,
    MetricQuery, MetricType, NewEvent, Properties, StartTime, TimeRange, TimestampMs, Write,
};

use super::batch::{BATCH_MS, all, counted, present, write, write_batch};
use super::{DAY, START, memory_dir, open};

fn log_files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir.join("log")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 0x40;
    std::fs::write(path, bytes).unwrap();
}

/// Writes batches, flips the byte of the log that `place` selects, and returns the batches that are
/// lost.
fn lost_by_flipping(place: impl FnOnce(&[u8]) -> usize) -> Vec<u64> {
    let dir = memory_dir();
    let engine = open(dir.path());
    (0..50).for_each(|id| write_batch(&engine, id).unwrap());
    drop(engine);
    let segment =
        log_files(dir.path()).into_iter().max_by_key(|p| p.metadata().unwrap().len()).unwrap();
    flip(&segment, place(&std::fs::read(&segment).unwrap()));
    let engine = open(dir.path());
    let left = present(&engine, 49);
    assert_eq!(engine.damage().len(), 1, "{:?}", engine.damage());
    // After the corruption the engine keeps working, also over a restart.
    write_batch(&engine, 60).unwrap();
    drop(engine);
    let engine = open(dir.path());
    assert!(present(&engine, 60).contains(&60));
    (0..50).filter(|id| !left.contains(id)).collect()
}

#[test]
fn a_flipped_byte_in_the_log_costs_one_record_and_is_reported() {
    let lost = lost_by_flipping(|segment| segment.len() / 2);
    assert_eq!(lost.len(), 1, "{lost:?}");
}

#[test]
fn a_flipped_byte_in_an_event_of_the_log_costs_the_whole_write() {
    let text = b"{\"batch\":25,";
    let found = |segment: &[u8]| segment.windows(text.len()).position(|bytes| bytes == text);
    assert_eq!(lost_by_flipping(|segment| found(segment).unwrap() + 3), [25]);
}

/// Writes incompressible values, enough for a block that shares its disk blocks with no other.
fn write_noise(engine: &Engine, metric: &str) {
    let mut batch = engine.batch();
    let series = batch.series(metric, MetricType::Gauge, &[]).unwrap();
    for n in 0..10_000i64 {
        let noise = (n as f64 * 0.7).sin() * 1e3;
        batch.number(MetricType::Gauge, series, TimestampMs(START + n * BATCH_MS), noise);
    }
    let points = batch.finish();
    engine.write(points).unwrap();
}

/// Returns the number of non-empty minutes, and of blocks that could not be read for them.
fn minutes_of_noise(engine: &Engine, metric: &str) -> (usize, u64) {
    let query = MetricQuery {
        metric: MetricName::new(metric).unwrap(),
        range: TimeRange::new(START, START + 10_000 * BATCH_MS),
        interval: Interval::MINUTE,
        aggregations: vec![Aggregation::Avg],
        filters: vec![],
        group_by: vec![],
    };
    let answer = engine.query(&query).unwrap();
    (answer.groups.iter().map(|g| g.starts.len()).sum(), answer.stats.quarantined)
}

/// Returns the number of lines about quarantined blocks. If their tables are taken out too, that is
/// reported in a line of its own.
fn quarantined_lines(engine: &Engine) -> usize {
    engine
        .damage()
        .iter()
        .filter(|line| line.starts_with("block ") || line.starts_with("event block "))
        .count()
}

/// Flips a byte in the first third of the largest table, far from its index, and removes the guards
/// that could repair it.
fn flip_in_largest_table(dir: &Path) {
    std::fs::remove_dir_all(dir.join("db/guards")).unwrap();
    let tables = std::fs::read_dir(dir.join("db")).unwrap().map(|e| e.unwrap().path());
    let tables = tables.filter(|p: &PathBuf| p.extension().is_some_and(|e| e == "sst"));
    let blocks = tables.max_by_key(|p| p.metadata().unwrap().len()).unwrap();
    let length = blocks.metadata().unwrap().len() as usize;
    assert!(length > 50_000, "this table contains the blocks: {length} bytes");
    flip(&blocks, length / 3);
}

#[test]
fn a_flipped_byte_in_a_block_costs_one_block_and_is_reported() {
    let dir = memory_dir();
    let engine = open(dir.path());
    write_noise(&engine, "left");
    write_noise(&engine, "right");
    engine.close().unwrap();
    drop(engine);
    flip_in_largest_table(dir.path());
    let engine = open(dir.path());
    let (left, right) = (minutes_of_noise(&engine, "left"), minutes_of_noise(&engine, "right"));
    let whole = (167, 0);
    assert!(
        (left == (0, 1) && right == whole) || (right == (0, 1) && left == whole),
        "one block is quarantined and the other readable: {left:?} {right:?}"
    );
    assert_eq!(quarantined_lines(&engine), 1, "{:?}", engine.damage());
    assert_eq!(engine.stats().blocks_quarantined, 1);
    write_batch(&engine, 1).unwrap();
    drop(engine);
    // The quarantine survives a restart; seals and compactions skip the block.
    let engine = open(dir.path());
    assert_eq!(quarantined_lines(&engine), 1);
    engine.seal().unwrap();
    engine.merge().unwrap();
    assert!(present(&engine, 1).contains(&1));
}

/// Events of each of the two days that [`write_noisy_days`] fills.
const NOISY_EVENTS: u64 = 10_000;

/// Writes one event block for each of two days.
fn write_noisy_days(engine: &Engine) {
    for day in 1..=2 {
        let mut batch = engine.event_batch();
        let mut noise = 0x2545_f491_4f6c_dd1d_u64;
        for n in 0..NOISY_EVENTS as i64 {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(day);
            let (user, tag) = (format!("{noise:x}"), (n % 5).to_string());
            let text = format!("{{\"noise\":\"{:x}\"}}", noise.rotate_left(17));
            let new = NewEvent {
                name: "noise",
                time: TimestampMs(START - day as i64 * DAY + n * BATCH_MS),
                user: Some(&user),
                value: Some((n as f64 * 0.7).sin()),
                tags: &[("n", &tag)],
                properties: Some(&Properties::parse(&text).unwrap()),
            };
            batch.push(&new).unwrap();
        }
        write(engine, Write { events: Some(batch), ..Write::default() }).unwrap();
    }
}

/// Lists all events. Returns their number, and that of blocks that could not be read.
fn read_all(engine: &Engine) -> (u64, u64) {
    let query = EventListQuery { filter: all(), after: None, offset: 0, limit: usize::MAX };
    let page = engine.list_events(&query).unwrap();
    assert_eq!(page.events.len() as u64, page.total);
    (page.total, page.stats.quarantined)
}

/// Corrupts an event block; `find` reads it in some way.
fn check_flip_in_event_block(find: impl FnOnce(&Engine)) {
    let dir = memory_dir();
    let engine = open(dir.path());
    write_noisy_days(&engine);
    engine.close().unwrap();
    drop(engine);
    flip_in_largest_table(dir.path());
    let engine = open(dir.path());
    assert_eq!(engine.stats().event_blocks, 2);
    find(&engine);
    for _ in 0..2 {
        assert_eq!(read_all(&engine), (NOISY_EVENTS, 1));
        assert_eq!(counted(&engine, all()), (NOISY_EVENTS, 1));
    }
    // Only one of the days is incomplete.
    let day = |day: i64| {
        let range = TimeRange::new(START - day * DAY, START - (day - 1) * DAY);
        counted(&engine, EventFilter { range, ..all() })
    };
    let mut days = [day(1), day(2)];
    days.sort_unstable();
    assert_eq!(days, [(0, 1), (NOISY_EVENTS, 0)]);
    assert_eq!(quarantined_lines(&engine), 1, "{:?}", engine.damage());
    assert_eq!(engine.stats().blocks_quarantined, 1);
    drop(engine);
    // The quarantine survives a restart; seals and compactions skip the block.
    let engine = open(dir.path());
    assert_eq!(quarantined_lines(&engine), 1);
    write_noisy_days(&engine);
    engine.seal().unwrap();
    engine.merge().unwrap();
    // The corrupt block, and one for each day.
    assert_eq!(engine.stats().event_blocks, 3);
    assert_eq!(read_all(&engine), (3 * NOISY_EVENTS, 1));
    assert!(!engine.verify().unwrap().damaged.is_empty());
}

#[test]
fn a_flipped_byte_in_an_event_block_is_detected_by_queries() {
    check_flip_in_event_block(|engine| assert_eq!(read_all(engine), (NOISY_EVENTS, 1)));
}

#[test]
fn a_flipped_byte_in_an_event_block_is_detected_by_verification() {
    check_flip_in_event_block(|engine| {
        assert!(!engine.verify().unwrap().damaged.is_empty());
    });
}

#[test]
fn a_compaction_skips_a_corrupt_event_block() {
    let dir = memory_dir();
    let engine = open(dir.path());
    write_noisy_days(&engine);
    engine.close().unwrap();
    drop(engine);
    flip_in_largest_table(dir.path());
    let engine = open(dir.path());
    for _ in 0..2 {
        write_noisy_days(&engine);
        engine.seal().unwrap();
    }
    assert_eq!(quarantined_lines(&engine), 0);
    engine.merge().unwrap();
    assert_eq!(quarantined_lines(&engine), 1, "{:?}", engine.damage());
    assert_eq!(engine.stats().event_blocks, 3);
    assert_eq!(read_all(&engine), (5 * NOISY_EVENTS, 1));
}

/// Number of cumulative histograms of [`write_cumulative_noise`], and of buckets of each.
const HISTOGRAMS: u64 = 3_000;
const BUCKETS: u64 = 20;
/// Number of series whose last cumulative samples are stored in one page.
const PAGE: u64 = 256;

/// Writes cumulative histograms with incompressible counts; each bucket has one value more than the
/// round before.
fn write_cumulative_noise(engine: &Engine, round: u64) {
    // The first ones only set the last cumulative values, although their start time would make them
    // count.
    let start_time = StartTime::At { start: TimestampMs(START), counts: round > 0 };
    let mut batch = engine.batch();
    let mut noise = 0x2545_f491_4f6c_dd1d_u64;
    for n in 0..HISTOGRAMS {
        let kind = MetricType::Distribution;
        let series = batch.series("noise", kind, &[("n", &n.to_string())]).unwrap();
        let count = |_| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (noise >> 24) + round
        };
        let counts: Vec<u64> = (0..BUCKETS).map(count).collect();
        let bounds = (1..BUCKETS).map(|bound| bound as f64).collect();
        let total = counts.iter().sum();
        let buckets = Buckets::Explicit { bounds, counts };
        let histogram = Histogram::new(total, None, None, None, buckets).unwrap();
        let time = TimestampMs(START + round as i64 * BATCH_MS);
        batch.cumulative_histogram(series, time, histogram, start_time);
    }
    let points = batch.finish();
    engine.write(points).unwrap();
}

/// Returns the number of values that were added.
fn values_of_noise(engine: &Engine) -> u64 {
    let query = MetricQuery {
        metric: MetricName::new("noise").unwrap(),
        range: TimeRange::new(START, START + DAY),
        interval: Interval::DAY,
        aggregations: vec![Aggregation::Count],
        filters: vec![],
        group_by: vec![],
    };
    let answer = engine.query(&query).unwrap();
    answer.groups.iter().flat_map(|group| &group.columns[0]).sum::<f64>() as u64
}

#[test]
fn a_flipped_byte_in_last_cumulative_values_costs_neighbours_one_delta_and_is_reported() {
    let dir = memory_dir();
    let engine = open(dir.path());
    write_cumulative_noise(&engine, 0);
    assert_eq!(values_of_noise(&engine), 0);
    engine.close().unwrap();
    drop(engine);
    flip_in_largest_table(dir.path());
    let engine = open(dir.path());
    assert!(!engine.damage().is_empty());
    assert!(!engine.verify().unwrap().damaged.is_empty());
    write_cumulative_noise(&engine, 1);
    // The corrupt page, and the one after it, which the backward scan cannot reach.
    let first = values_of_noise(&engine);
    let least = (HISTOGRAMS - 2 * PAGE) * BUCKETS;
    assert!((least..=(HISTOGRAMS - PAGE) * BUCKETS).contains(&first), "{first}");
    write_cumulative_noise(&engine, 2);
    assert_eq!(values_of_noise(&engine), first + HISTOGRAMS * BUCKETS);
    engine.close().unwrap();
    drop(engine);
    // The corrupt pages were rewritten.
    let engine = open(dir.path());
    assert!(!engine.damage().is_empty(), "not acknowledged yet");
    write_cumulative_noise(&engine, 3);
    assert_eq!(values_of_noise(&engine), first + 2 * HISTOGRAMS * BUCKETS);
}
