//! Two bodies of batches, one after the other: the quick way takes what the general reader takes and nothing else, whatever
//! it has learned of series before.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use telltale_engine::{Engine, Maintenance, Options, PointBatch, TimestampMs};
use telltale_server::areas::metrics::{Measured, MetricsError, Outcome, read_batch, resolve_batch};

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);

/// Nothing is written to it: it knows series.
static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let home = std::env::temp_dir().join(format!("telltale-json-plain-{}", std::process::id()));
    open(&home)
});

fn open(home: &Path) -> Engine {
    let options = Options {
        maintenance: Maintenance::Manual,
        series_total: 1 << 26,
        series_per_metric: 1 << 26,
        ..Options::default()
    };
    match Engine::open(home, options) {
        Ok(engine) => engine,
        Err(error) => panic!("{error}"),
    }
}

/// The points of a body, all of them by the general reader.
fn general(body: &[u8]) -> Result<(PointBatch, Outcome), MetricsError> {
    let mut batch = ENGINE.batch();
    let outcome = read_batch(body, NOW, |point| {
        let series = batch.series(point.name, point.kind, point.tags)?;
        match point.value {
            Measured::Number(value) => batch.number(point.kind, series, point.time, value),
            Measured::Member(member) => batch.member(series, point.time, member),
        }
        Ok(())
    })?;
    Ok((batch.finish(), outcome))
}

fuzz_target!(|input: &[u8]| {
    let cut = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (first, second) = input.split_at(cut);
    for body in [first, second.get(1..).unwrap_or_default(), first] {
        // Why an item is refused may depend on the metrics that there are by then.
        drop(general(body));
        match (general(body), resolve_batch(&ENGINE, NOW, body)) {
            (Ok(general), Ok(quick)) => assert_eq!(general, quick, "{body:?}"),
            (Err(general), Err(quick)) => assert_eq!(general.to_string(), quick.to_string()),
            (general, quick) => panic!("{body:?}: {general:?}, {quick:?}"),
        }
    }
});
