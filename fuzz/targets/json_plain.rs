//! Two bodies of metric batches, one after the other: the fast parser accepts exactly what the
//! general one does, whatever series it has cached before. Each parser has its own engine.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libfuzzer_sys::fuzz_target;
use telltale_engine::{Engine, Maintenance, Options, PointBatch, TimestampMs};
use telltale_server::areas::metrics::{Measured, MetricsError, Outcome, read_batch, resolve_batch};

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);
/// Inputs per pair of engines: whatever one input puts into their caches, later ones may depend on.
const INPUTS_MAX: u32 = 2_000;

/// Two engines to which nothing is written; they only register series.
struct Engines {
    home: PathBuf,
    general: Engine,
    fast: Engine,
    inputs: u32,
}

static ENGINES: Mutex<Option<Engines>> = Mutex::new(None);

impl Engines {
    fn new() -> Self {
        let home = std::env::temp_dir().join(format!("telltale-json-plain-{}", std::process::id()));
        let (general, fast) = (open(&home.join("general")), open(&home.join("fast")));
        Self { home, general, fast, inputs: 0 }
    }
}

impl Drop for Engines {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.home));
    }
}

fn open(home: &Path) -> Engine {
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    match Engine::open(home, options) {
        Ok(engine) => engine,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the samples of a body, all of them parsed by the general parser.
fn general(engine: &Engine, body: &[u8]) -> Result<(PointBatch, Outcome), MetricsError> {
    let mut batch = engine.batch();
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
    let mut slot = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
    // The old engines are dropped first: they remove their folder, which the new ones use too.
    let fresh = slot.take().filter(|engines| engines.inputs < INPUTS_MAX);
    let engines = slot.insert(fresh.unwrap_or_else(Engines::new));
    engines.inputs += 1;
    let cut = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (first, second) = input.split_at(cut);
    for body in [first, second.get(1..).unwrap_or_default(), first] {
        match (general(&engines.general, body), resolve_batch(&engines.fast, NOW, body)) {
            (Ok(general), Ok(fast)) => assert_eq!(general, fast, "{body:?}"),
            (Err(general), Err(fast)) => assert_eq!(general.to_string(), fast.to_string()),
            (general, fast) => panic!("{body:?}: {general:?}, {fast:?}"),
        }
    }
});
