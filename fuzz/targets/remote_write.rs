//! Uncompressed remote-write requests in both versions: parsing always terminates, every value is
//! counted once, and a request gives the same result whether its series are new or known.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use telltale_engine::{Engine, Maintenance, Options, TimestampMs};
use telltale_server::areas::bulk::Families;
use telltale_server::areas::bulk::{Version, resolve_remote_write};

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("telltale-fuzz-{}", std::process::id()));
    let (series_per_metric, series_total) = (1_000, 10_000);
    let maintenance = Maintenance::Manual;
    let options = Options { series_per_metric, series_total, maintenance, ..Options::default() };
    Engine::open(&folder, options).expect("an engine opens in a new folder")
});
static FAMILIES: LazyLock<Families> = LazyLock::new(Families::default);

fuzz_target!(|input: &[u8]| {
    // The first byte selects the content type.
    let Some((version, body)) = input.split_first() else { return };
    let version = if version & 1 == 0 { Version::V1 } else { Version::V2 };
    let read = || resolve_remote_write(&ENGINE, &FAMILIES, version, body, NOW);
    match (read(), read()) {
        (Ok((points, outcome, written)), Ok((again, same_outcome, same_written))) => {
            assert_eq!(written.samples + written.histograms, outcome.accepted() as u64);
            assert!(points.len() <= outcome.accepted(), "a sample comes from a value");
            assert_eq!((points, outcome, written), (again, same_outcome, same_written));
        }
        (first, again) => {
            assert_eq!(first.err(), again.err(), "the same body is refused both times")
        }
    }
});
