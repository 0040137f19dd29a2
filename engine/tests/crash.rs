//! What is acknowledged survives: SIGKILL at random moments, a full disk, flipped bytes.
//!
//! The writer is this test binary again, as a process of its own. `TELLTALE_CRASH_ROUNDS` sets the number of
//! kills (default 200).
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]
#![allow(clippy::print_stdout, reason = "the child tells its parent so")]
#![allow(
    clippy::disallowed_methods,
    reason = "the test reads its own switches and waits for processes"
)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use telltale_engine::{
    Aggregation, Clock, Durability, Engine, Error, Interval, Maintenance, MetricName, MetricQuery,
    MetricType, Options, TimeRange, TimestampMs,
};

/// Writers of the child process.
const WRITERS: u64 = 3;
/// Series of each metric; every batch writes one point to each.
const SERIES: u64 = 5;
const START: i64 = 20_000 * 86_400_000;
/// Batches lie this far apart in time, so that windows come to their end while the child runs.
const BATCH_MS: i64 = 1_000;
const CHILD: &str = "TELLTALE_CRASH_CHILD";

fn options(durability: Durability) -> Options {
    Options {
        durability,
        clock: Clock::manual(TimestampMs(START + 3 * 86_400_000)),
        // Small, so that a round sees many seals.
        head_bytes: 64 << 10,
        cache_bytes: 16 << 20,
        disk_free_bytes: 0,
        maintenance: Maintenance::Manual,
        ..Options::default()
    }
}

fn memory_dir() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn write_batch(engine: &Engine, id: u64) -> Result<(), Error> {
    let time = TimestampMs(START + id as i64 * BATCH_MS);
    let mut batch = engine.batch();
    for n in 0..SERIES {
        let tag = n.to_string();
        let tags = [("n", tag.as_str())];
        for kind in [MetricType::Gauge, MetricType::Counter, MetricType::Distribution] {
            let series = batch.series(kind.as_str(), kind, &tags).unwrap();
            batch.number(kind, series, time, 1.0);
        }
        let series = batch.series("set", MetricType::Set, &tags).unwrap();
        batch.member(series, time, &format!("{id}-{n}"));
    }
    let points = batch.finish();
    engine.write(points).map(|_| ())
}

/// The number of points, or members, of every batch that has any.
fn stored(engine: &Engine, kind: MetricType, batches: u64) -> Vec<f64> {
    let mut counts = vec![0.0; batches as usize + 1];
    // Cells are minutes, so batches of one minute are told apart by gauges and counters only.
    let (interval, aggregation) = match kind {
        MetricType::Gauge => (Interval::from_ms(BATCH_MS).unwrap(), Aggregation::Max),
        MetricType::Counter => (Interval::from_ms(BATCH_MS).unwrap(), Aggregation::Sum),
        _ => (Interval::DAY, Aggregation::Count),
    };
    let mut from = START;
    let end = START + (batches as i64 + 1) * BATCH_MS;
    while from < end {
        let to = (from + 36_000 * BATCH_MS).min(end);
        let query = MetricQuery {
            metric: MetricName::new(kind.as_str()).unwrap(),
            range: TimeRange::new(from, to),
            interval,
            aggregations: vec![aggregation],
            filters: vec![],
            group_by: vec![],
        };
        let answer = match engine.query(&query) {
            Ok(answer) => answer,
            Err(Error::Refused(_)) => return counts,
            Err(error) => panic!("{error}"),
        };
        for group in answer.groups {
            for (start, value) in group.starts.iter().zip(&group.columns[0]) {
                counts[((start.0 - START) / BATCH_MS) as usize] += value;
            }
        }
        from = to;
    }
    counts
}

/// Not a test by itself: what the child process does until it is killed.
#[test]
fn child() {
    let Ok(dir) = std::env::var(CHILD) else { return };
    let (dir, first) = dir.split_once('|').unwrap();
    let durability =
        [Durability::Sync, Durability::Os, Durability::Interval(Duration::from_millis(5))];
    let first: u64 = first.parse().unwrap();
    let engine = Engine::open(Path::new(dir), options(durability[first as usize % 3])).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let engine = &engine;
            scope.spawn(move || {
                for id in (first + writer..).step_by(WRITERS as usize) {
                    match write_batch(engine, id) {
                        Ok(()) => {
                            let mut out = std::io::stdout().lock();
                            writeln!(out, "ack {id}").unwrap();
                            out.flush().unwrap();
                        }
                        Err(error) => {
                            println!("refused {error}");
                            std::thread::sleep(Duration::from_millis(1));
                        }
                    }
                }
            });
        }
        scope.spawn(|| {
            loop {
                engine.seal().unwrap();
                engine.merge().unwrap();
            }
        });
    });
}

fn spawn(dir: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{}|{first}", dir.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Acknowledged batches that the child told of.
fn acks(output: &str) -> BTreeSet<u64> {
    // The test harness writes before the first one on the same line.
    output.lines().filter_map(|l| l.split("ack ").nth(1)?.trim().parse().ok()).collect()
}

fn check(engine: &Engine, acked: &BTreeSet<u64>, last: u64) {
    let counters = stored(engine, MetricType::Counter, last);
    let gauges = stored(engine, MetricType::Gauge, last);
    let mut batches = 0;
    for id in 0..=last {
        let (sum, max) = (counters[id as usize], gauges[id as usize]);
        assert!(sum == 0.0 || sum == SERIES as f64, "batch {id} is stored in part or twice: {sum}");
        assert_eq!(sum > 0.0, max == 1.0, "batch {id}: gauge and counter differ");
        assert!(sum > 0.0 || !acked.contains(&id), "batch {id} was acknowledged and is lost");
        batches += u64::from(sum > 0.0);
    }
    let values: f64 = stored(engine, MetricType::Distribution, last).iter().sum();
    assert_eq!(values, (batches * SERIES) as f64, "values of the distribution");
    let members: f64 = stored(engine, MetricType::Set, last).iter().sum();
    let wanted = (batches * SERIES) as f64;
    assert!((members - wanted).abs() <= wanted * 0.04, "{members} members instead of {wanted}");
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled_by_sigkill() {
    let rounds =
        std::env::var("TELLTALE_CRASH_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let dir = memory_dir();
    let (mut acked, mut next, mut last) = (BTreeSet::new(), 0, 0);
    // A fixed sequence: a failure is met again at the same moment, give or take the machine.
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..rounds {
        let mut child = spawn(dir.path(), next);
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let wanted = random % 60;
        let (mut output, mut seen) = (String::new(), 0);
        // The kill comes after some acknowledgements, in the middle of whatever else goes on.
        while seen < wanted {
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap() == 0 {
                break;
            }
            seen += u64::from(line.contains("ack "));
            output.push_str(&line);
        }
        std::thread::sleep(Duration::from_micros(random >> 16 & 0x3fff));
        child.kill().unwrap();
        child.wait().unwrap();
        lines.read_to_string(&mut output).unwrap();
        let new = acks(&output);
        last = last.max(new.last().copied().unwrap_or(0) + WRITERS * 2).max(next + WRITERS * 2);
        acked.extend(new);
        next = last + 1;
        if round % 10 == 9 || round + 1 == rounds {
            let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
            assert_eq!(engine.damage(), [""; 0], "round {round}");
            check(&engine, &acked, last);
        }
    }
    assert!(acked.len() as u64 > rounds, "the child wrote: {} batches", acked.len());
    let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
    let verified = engine.verify().unwrap();
    assert!(verified.damaged.is_empty(), "{:?}", verified.damaged);
}

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

#[test]
fn a_flipped_byte_in_the_log_costs_one_record_and_is_told() {
    let dir = memory_dir();
    let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
    (0..50).for_each(|id| write_batch(&engine, id).unwrap());
    drop(engine);
    let segment =
        log_files(dir.path()).into_iter().max_by_key(|p| p.metadata().unwrap().len()).unwrap();
    flip(&segment, segment.metadata().unwrap().len() as usize / 2);
    let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
    let counters = stored(&engine, MetricType::Counter, 49);
    let lost = counters.iter().take(50).filter(|n| **n == 0.0).count();
    assert_eq!(lost, 1, "{counters:?}");
    assert_eq!(engine.damage().len(), 1, "{:?}", engine.damage());
    // What was damaged does not come back to hurt: the engine goes on.
    write_batch(&engine, 60).unwrap();
    drop(engine);
    let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
    assert_eq!(stored(&engine, MetricType::Counter, 60)[60], SERIES as f64);
}

/// Writes values that nothing compresses, enough for a block that shares its place on disk with no other.
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

/// Buckets of a minute that hold anything, and how many blocks could not be read for them.
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

#[test]
fn a_flipped_byte_in_a_block_costs_one_block_and_is_told() {
    let dir = memory_dir();
    let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
    write_noise(&engine, "left");
    write_noise(&engine, "right");
    engine.close().unwrap();
    drop(engine);
    let tables = std::fs::read_dir(dir.path().join("db")).unwrap().map(|e| e.unwrap().path());
    let tables = tables.filter(|p: &PathBuf| p.extension().is_some_and(|e| e == "sst"));
    let blocks = tables.max_by_key(|p| p.metadata().unwrap().len()).unwrap();
    let length = blocks.metadata().unwrap().len() as usize;
    assert!(length > 100_000, "the blocks lie in this table: {length} bytes");
    // In the first third, far from the index of the table.
    flip(&blocks, length / 3);
    let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
    let (left, right) = (minutes_of_noise(&engine, "left"), minutes_of_noise(&engine, "right"));
    let whole = (167, 0);
    assert!(
        (left == (0, 1) && right == whole) || (right == (0, 1) && left == whole),
        "one of them is set aside and the other whole: {left:?} {right:?}"
    );
    assert_eq!(engine.damage().len(), 1, "{:?}", engine.damage());
    assert_eq!(engine.stats().blocks_quarantined, 1);
    write_batch(&engine, 1).unwrap();
    drop(engine);
    // It is known from the start the next time, and seals and merges go around it.
    let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
    assert_eq!(engine.damage().len(), 1);
    engine.seal().unwrap();
    engine.merge().unwrap();
    assert_eq!(stored(&engine, MetricType::Counter, 1)[1], SERIES as f64);
}

#[test]
fn a_disk_without_room_refuses_writes_and_answers_questions() {
    let dir = memory_dir();
    let engine = Engine::open(dir.path(), options(Durability::Os)).unwrap();
    (0..20).for_each(|id| write_batch(&engine, id).unwrap());
    drop(engine);
    let full = Options { disk_free_bytes: u64::MAX, ..options(Durability::Os) };
    let engine = Engine::open(dir.path(), full).unwrap();
    assert!(matches!(write_batch(&engine, 20), Err(Error::Unavailable(_))));
    assert!(engine.trouble().is_some() && engine.stats().read_only);
    assert_eq!(stored(&engine, MetricType::Counter, 20)[19], SERIES as f64);
}

/// Fills a real file system of its own. Needs to be root or to have user namespaces, as CI machines and
/// most developers do.
#[test]
fn a_disk_that_fills_and_empties_again_needs_no_restart() {
    if let Ok(dir) = std::env::var("TELLTALE_FULL_DISK") {
        return fill_and_empty(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=64m none \"$TELLTALE_FULL_DISK\" && exec \"$0\" --exact \
                  a_disk_that_fills_and_empties_again_needs_no_restart --nocapture";
    let done = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("TELLTALE_FULL_DISK", dir.path())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && output.contains("1 passed"), "{output}");
}

fn fill_and_empty(dir: &Path) {
    let data = dir.join("data");
    let engine = Engine::open(&data, options(Durability::Sync)).unwrap();
    let ballast = dir.join("ballast");
    std::fs::write(&ballast, vec![7u8; 40 << 20]).unwrap();
    let mut acked = BTreeSet::new();
    let mut id = 0;
    let refused = loop {
        match write_batch(&engine, id) {
            Ok(()) => acked.insert(id),
            Err(error) => break error,
        };
        id += 1;
        // Fill the rest quickly, then let the engine meet the end by itself.
        if id == 200 {
            let mut rest = std::fs::File::create(dir.join("rest")).unwrap();
            while rest.write_all(&[1u8; 4096]).is_ok() {}
        }
        assert!(id < 1_000_000, "the disk never filled");
    };
    assert!(matches!(refused, Error::Unavailable(_)), "{refused}");
    check(&engine, &acked, id + 1);
    std::fs::remove_file(&ballast).unwrap();
    // Space is back: the same engine takes writes again, within the time the database needs to notice.
    let mut tries = 0;
    while let Err(error) = write_batch(&engine, id + 1) {
        tries += 1;
        assert!(tries < 600, "{error}");
        std::thread::sleep(Duration::from_millis(50));
    }
    acked.insert(id + 1);
    while let Err(error) = engine.seal() {
        tries += 1;
        assert!(tries < 600, "{error}");
        std::thread::sleep(Duration::from_millis(50));
    }
    check(&engine, &acked, id + 2);
    drop(engine);
    check(&Engine::open(&data, options(Durability::Sync)).unwrap(), &acked, id + 2);
}
