//! A database stopped by failing calls: the stop is reported, queries still work, and writing
//! resumes by itself once the cause is gone. A seal that failed meanwhile is applied once.

use std::time::Duration;

use telltale_engine::{
    Aggregation, Engine, Interval, Maintenance, MetricName, MetricQuery, MetricType, Options,
    Result, TimeRange, TimestampMs,
};
use telltale_simulation::{Call, Disk, Effect, Errno, Fault, FileKind};

/// Number of checks for a condition that takes some seconds, and the pause between two checks.
const CHECKS_MAX: u32 = 3_000;
const CHECK_PAUSE: Duration = Duration::from_millis(20);

fn write(engine: &Engine, at: i64) -> Result<()> {
    let mut points = engine.batch();
    let series = points.series("a", MetricType::Counter, &[("host", "h")])?;
    points.number(MetricType::Counter, series, TimestampMs(at), 1.0);
    engine.write(points.finish()).map(|_| ())
}

fn written(engine: &Engine) -> f64 {
    let query = MetricQuery {
        metric: MetricName::new("a").unwrap(),
        range: TimeRange::new(0, 1_000_000),
        interval: Interval::DAY,
        aggregations: vec![Aggregation::Sum],
        filters: vec![],
        group_by: vec![],
    };
    let answer = engine.query(&query).unwrap();
    answer.groups.iter().flat_map(|group| &group.columns[0]).sum()
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let happened = (0..CHECKS_MAX).any(|_| {
        let is_so = is_so();
        if !is_so {
            std::thread::park_timeout(CHECK_PAUSE);
        }
        is_so
    });
    assert!(happened, "timed out waiting for {what}");
}

#[test]
fn a_database_stopped_by_failing_calls_resumes_by_itself() {
    let faults = [
        (FileKind::Table, Call::Create, Errno::TooManyFiles),
        (FileKind::Table, Call::Sync, Errno::Io),
        (FileKind::Manifest, Call::Write, Errno::Io),
        (FileKind::DbLog, Call::Write, Errno::Io),
        // The batch of the seal is in RocksDB's log then, complete, and must not be applied again
        // by the next seal.
        (FileKind::DbLog, Call::Sync, Errno::Io),
    ];
    for (kind, call, errno) in faults {
        let case = format!("{errno:?} at {call:?} of {kind:?}");
        let disk = Disk::new(1).unwrap();
        let options = Options {
            maintenance: Maintenance::Background,
            disk_free_bytes: 0,
            threads: 2,
            ..Options::default()
        };
        let engine = Engine::open(&disk.root().join("data"), options).unwrap();
        write(&engine, 1).unwrap();
        // A probe file cannot be created either, so that the database stays stopped.
        let other = Fault { kind: Some(FileKind::Other), call: Some(Call::Create), ..fault(errno) };
        disk.arm(Fault { kind: Some(kind), call: Some(call), ..fault(errno) });
        disk.arm(other);
        engine.seal().unwrap_err();
        eventually("the trouble to be reported", || engine.trouble().is_some());
        assert_eq!(written(&engine), 1.0, "{case}");
        write(&engine, 2).unwrap();
        assert_eq!(written(&engine), 2.0, "{case}");
        disk.disarm();
        eventually("a seal", || engine.seal().is_ok());
        assert_eq!(written(&engine), 2.0, "{case}");
        eventually("the end of the trouble", || engine.trouble().is_none());
        write(&engine, 3).unwrap();
        engine.merge().unwrap();
        assert_eq!(written(&engine), 3.0, "{case}");
        assert_eq!(engine.trouble(), None, "{case}");
        // Failed maintenance is reported until it has succeeded.
        eventually("the damage list to be empty", || engine.damage().is_empty());
        drop(engine);
        let again = Engine::open(&disk.root().join("data"), Options::default()).unwrap();
        assert_eq!(written(&again), 3.0, "{case}");
        assert_eq!(again.damage(), Vec::<String>::new(), "{case}");
    }
}

fn fault(errno: Errno) -> Fault {
    Fault { kind: None, call: None, after: 0, times: u32::MAX, effect: Effect::Fail(errno) }
}
