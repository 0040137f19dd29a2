//! Two bodies of batches, one after the other: the quick way takes what the general reader takes and nothing else, whatever
//! it has learned of series before. Each way has an engine of its own.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libfuzzer_sys::fuzz_target;
use telltale_engine::{Engine, Maintenance, Options, PointBatch, TimestampMs};
use telltale_server::areas::metrics::{Measured, MetricsError, Outcome, read_batch, resolve_batch};

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);
/// Inputs that the same engines meet: what one of them teaches a later one may need to be found again.
const INPUTS_MAX: u32 = 2_000;

/// Nothing is written to them: they know series.
struct Engines {
    home: PathBuf,
    general: Engine,
    quick: Engine,
    inputs: u32,
}

static ENGINES: Mutex<Option<Engines>> = Mutex::new(None);

impl Engines {
    fn new() -> Self {
        let home = std::env::temp_dir().join(format!("telltale-json-plain-{}", std::process::id()));
        let (general, quick) = (open(&home.join("general")), open(&home.join("quick")));
        Self { home, general, quick, inputs: 0 }
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

/// The points of a body, all of them by the general reader.
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
    // The old ones go first: they remove their folder, which is that of the new ones.
    let fresh = slot.take().filter(|engines| engines.inputs < INPUTS_MAX);
    let engines = slot.insert(fresh.unwrap_or_else(Engines::new));
    engines.inputs += 1;
    let cut = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (first, second) = input.split_at(cut);
    for body in [first, second.get(1..).unwrap_or_default(), first] {
        match (general(&engines.general, body), resolve_batch(&engines.quick, NOW, body)) {
            (Ok(general), Ok(quick)) => assert_eq!(general, quick, "{body:?}"),
            (Err(general), Err(quick)) => assert_eq!(general.to_string(), quick.to_string()),
            (general, quick) => panic!("{body:?}: {general:?}, {quick:?}"),
        }
    }
});
