//! OTLP requests, in protobuf and JSON: never a panic, never more samples than the size of the
//! request allows, and a request gives the same result whether its series are new or known.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use telltale_engine::{Engine, Maintenance, Options, TimestampMs};
use telltale_server::areas::bulk::OtlpSettings;
use telltale_server::areas::bulk::{Encoding, resolve_export};

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);
/// Limits the series, so that a long run stays small. Further ones are refused.
const SERIES_MAX: usize = 10_000;

/// Returns the engine of the whole run. Nothing is written to it but the names of series.
fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let folder = format!("telltale-fuzz-otlp-{}", std::process::id());
        let options = Options {
            maintenance: Maintenance::Manual,
            series_total: SERIES_MAX,
            ..Options::default()
        };
        match Engine::open(&std::env::temp_dir().join(folder), options) {
            Ok(engine) => engine,
            Err(error) => panic!("no engine: {error}"),
        }
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((encoding, body)) = input.split_first() else { return };
    let encoding = if *encoding == b'{' { Encoding::Json } else { Encoding::Protobuf };
    // A body that starts like JSON is JSON as a whole.
    let body = if encoding == Encoding::Json { input } else { body };
    let chosen = Arc::new(OtlpSettings::default());
    let Ok((points, outcome)) = resolve_export(engine(), body, encoding, NOW, &chosen) else {
        return;
    };
    assert_eq!(points.len(), outcome.accepted(), "every accepted value becomes a sample");
    // A data point takes at least a key and a length.
    assert!(outcome.accepted() + outcome.rejected() <= body.len() / 2);
    let again = resolve_export(engine(), body, encoding, NOW, &chosen);
    assert_eq!(again, Ok((points, outcome)), "known series give the same result as new ones");
});
