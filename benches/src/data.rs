//! Series and values like those of real agents, the same in every run.

use telltale_engine::{
    Clock, Durability, Engine, Maintenance, MetricType, Options, PointBatch, SeriesId, TimestampMs,
};

/// The start of all data: the start of a day.
pub const START: i64 = 20_000 * DAY;
/// A day in milliseconds.
pub const DAY: i64 = 86_400_000;

/// Returns options of an engine that seals and compacts only on request, with a clock two days
/// after [`START`].
pub fn options() -> Options {
    Options {
        durability: Durability::Interval(std::time::Duration::from_millis(50)),
        clock: Clock::manual(TimestampMs(START + 2 * DAY)),
        maintenance: Maintenance::Manual,
        ..Options::default()
    }
}

/// Creates `count` series of one gauge, each with its own host and one of 20 zones.
///
/// # Panics
/// When the engine refuses them.
pub fn series(engine: &Engine, metric: &str, count: usize) -> Vec<SeriesId> {
    let mut batch = engine.batch();
    let ids = (0..count).map(|i| {
        let (host, zone) = (format!("host-{i}"), format!("zone-{}", i % 20));
        batch.series(metric, MetricType::Gauge, &[("host", &host), ("zone", &zone)])
    });
    ids.collect::<Result<_, _>>().unwrap_or_else(|e| panic!("{e}"))
}

/// Returns a value of a random walk with two decimals.
pub fn value(series: usize, tick: i64) -> f64 {
    let noise = (series as i64 * 7919 + tick * 104_729) % 37;
    ((tick / 7 + noise) % 10_000) as f64 / 100.0
}

/// Returns one sample of every series.
pub fn fill(batch: &mut PointBatch, ids: &[SeriesId], tick: i64, step_ms: i64) {
    let time = TimestampMs(START + tick * step_ms);
    for (i, id) in ids.iter().enumerate() {
        batch.push_number(MetricType::Gauge, *id, time, value(i, tick));
    }
}

/// Writes and seals a day of 1 000 series of `cpu` at ten seconds: 8.64 million samples.
///
/// # Panics
/// When the engine refuses them.
pub fn day_of_points(engine: &Engine) {
    let ids = series(engine, "cpu", 1_000);
    for tick in (0..8_640).step_by(10) {
        let mut batch = PointBatch::default();
        (tick..tick + 10).for_each(|tick| fill(&mut batch, &ids, tick, 10_000));
        engine.write(batch).unwrap_or_else(|e| panic!("{e}"));
    }
    engine.seal().unwrap_or_else(|e| panic!("{e}"));
}
