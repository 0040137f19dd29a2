//! Brief queries: what a thread that serves connections answers itself, and what it does not.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use telltale_engine::limits::BRIEF_WORK_MAX;
use telltale_engine::{
    Aggregation, Engine, Interval, MetricName, MetricQuery, MetricType, Options, QueryResult,
    TagCondition, TagFilter, TagValues, TimeRange, TimestampMs, briefly,
};

const HOUR: i64 = 3_600_000;
const HOSTS: usize = 600;

/// Opens an engine with samples of [`HOSTS`] hosts every ten seconds for an hour.
fn open(dir: &std::path::Path) -> Engine {
    let engine = Engine::open(dir, Options::default()).unwrap();
    let hosts: Vec<String> = (0..HOSTS).map(|host| format!("web-{host}")).collect();
    for minute in 0..60 {
        let mut batch = engine.batch();
        for host in &hosts {
            let series = batch.series("cpu", MetricType::Gauge, &[("host", host)]).unwrap();
            for second in (0..60).step_by(10) {
                let time = TimestampMs(minute * 60_000 + second * 1_000);
                batch.number(MetricType::Gauge, series, time, (minute * second) as f64);
            }
        }
        engine.write(batch.finish()).unwrap();
    }
    engine
}

fn query(host: Option<&str>, interval: Interval) -> MetricQuery {
    let filter = |host: &str| TagFilter {
        key: "host".to_owned(),
        condition: TagCondition::AnyOf(TagValues::from_iter([host.to_owned()])),
    };
    MetricQuery {
        metric: MetricName::new("cpu").unwrap(),
        range: TimeRange::new(0, HOUR),
        interval,
        aggregations: vec![Aggregation::Avg, Aggregation::Max],
        filters: host.map(filter).into_iter().collect(),
        group_by: vec![],
    }
}

fn values(result: &QueryResult) -> Vec<Vec<Vec<f64>>> {
    result.groups.iter().map(|group| group.columns.clone()).collect()
}

#[test]
fn a_query_of_one_series_is_brief_and_has_the_same_result() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let one = query(Some("web-7"), Interval::MINUTE);
    let expected = values(&engine.query(&one).unwrap());
    assert_eq!(expected[0][0].len(), 60);
    let in_memory = briefly(|| engine.query(&one)).expect("brief").unwrap();
    assert_eq!(values(&in_memory), expected);
    engine.seal().unwrap();
    assert_eq!(values(&engine.query(&one).unwrap()), expected);
    let in_blocks = briefly(|| engine.query(&one)).expect("brief").unwrap();
    assert_eq!(values(&in_blocks), expected);
    let mut several = Vec::new();
    let outcome = briefly(|| {
        engine.query_all(&[one.clone(), one.clone()], |result| {
            several.push(values(&result));
            Ok::<(), telltale_engine::Error>(())
        })
    });
    outcome.expect("brief").unwrap();
    assert_eq!(several, [expected.clone(), expected]);
    let none = briefly(|| engine.query(&query(Some("no-such-host"), Interval::MINUTE)));
    assert!(none.expect("brief").unwrap().groups.is_empty());
    engine.close().unwrap();
}

#[test]
fn errors_of_brief_queries_are_those_of_the_query() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let unknown =
        MetricQuery { metric: MetricName::new("no").unwrap(), ..query(None, Interval::HOUR) };
    let refused = briefly(|| engine.query(&unknown)).expect("brief");
    assert!(matches!(refused, Err(telltale_engine::Error::Refused(_))));
    engine.close().unwrap();
}

#[test]
fn a_query_that_reads_much_is_not_brief() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let all = query(None, Interval::MINUTE);
    let expected = values(&engine.query(&all).unwrap());
    for _ in 0..2 {
        assert!(briefly(|| engine.query(&all)).is_none(), "216 000 samples in 60 runs");
        let ten = vec![query(Some("web-7"), Interval::from_ms(1_000).unwrap()); 100];
        let many = briefly(|| engine.query_all(&ten, |_| Ok::<(), telltale_engine::Error>(())));
        assert!(many.is_none(), "the queries of a scope count together");
        assert_eq!(values(&engine.query(&all).unwrap()), expected, "outside it is not limited");
        engine.seal().unwrap();
    }
    engine.close().unwrap();
}

#[test]
fn a_query_that_reads_from_the_disk_is_not_brief() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    engine.seal().unwrap();
    engine.close().unwrap();
    drop(engine);
    let engine = Engine::open(dir.path(), Options::default()).unwrap();
    let one = query(Some("web-7"), Interval::MINUTE);
    assert!(briefly(|| engine.query(&one)).is_none(), "nothing is cached after a start");
    let expected = values(&engine.query(&one).unwrap());
    let cached = briefly(|| engine.query(&one)).expect("cached by the query before").unwrap();
    assert_eq!(values(&cached), expected);
    engine.close().unwrap();
}

#[test]
fn a_query_that_reads_more_than_was_estimated_is_not_brief() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(dir.path(), Options::default()).unwrap();
    let mut batch = engine.batch();
    for host in 0..1_000 {
        let name = format!("web-{host}");
        let series = batch.series("cpu", MetricType::Gauge, &[("host", &name)]).unwrap();
        batch.number(MetricType::Gauge, series, TimestampMs(0), 1.0);
    }
    // A thousandth of the series has nearly all samples.
    let series = batch.series("cpu", MetricType::Gauge, &[("host", "busy")]).unwrap();
    for time in 0..BRIEF_WORK_MAX as i64 {
        batch.number(MetricType::Gauge, series, TimestampMs(time), 1.0);
    }
    engine.write(batch.finish()).unwrap();
    for _ in 0..2 {
        let busy = query(Some("busy"), Interval::HOUR);
        engine.query(&busy).unwrap();
        assert!(briefly(|| engine.query(&busy)).is_none());
        let idle = query(Some("web-7"), Interval::HOUR);
        engine.query(&idle).unwrap();
        assert!(briefly(|| engine.query(&idle)).is_some());
        engine.seal().unwrap();
    }
    engine.close().unwrap();
}
