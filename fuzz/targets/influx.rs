//! Bodies of line protocol: every sample is valid, every line is counted once, and in a body
//! without quoted strings each line is parsed independently of the others.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use telltale_engine::TimestampMs;
use telltale_server::areas::bulk::{Precision, read_influx};
use telltale_server::areas::metrics::Measured;

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);
const UNITS: [&str; 6] = ["ns", "us", "ms", "s", "m", "h"];

/// Returns the number of samples, of accepted lines and of rejected lines of a body.
fn read(body: &[u8], precision: Precision) -> (usize, usize, usize) {
    let mut points = 0;
    let outcome = read_influx(body, precision, NOW, |point| {
        assert!(
            (0..=NOW.0 + 86_400_000).contains(&point.time.0),
            "a time out of range was accepted"
        );
        assert!(matches!(point.value, Measured::Number(value) if value.is_finite()));
        assert!(!point.name.is_empty(), "a sample has a name");
        for (i, (key, value)) in point.tags.iter().enumerate() {
            assert!(!key.is_empty() && !value.is_empty(), "a tag has a key and a value");
            assert!(
                point.tags.iter().skip(i + 1).all(|(other, _)| other != key),
                "a tag key is unique"
            );
        }
        points += 1;
    });
    let json = serde_json::to_value(&outcome).unwrap_or(Value::Null);
    let lines: Vec<u64> = json["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|error| error["line"].as_u64())
        .collect();
    assert!(lines.is_sorted_by(|a, b| a < b), "each rejected line is reported once: {lines:?}");
    let breaks = body.iter().filter(|byte| **byte == b'\n').count() as u64;
    assert!(lines.iter().all(|line| (1..=breaks + 1).contains(line)), "{lines:?}");
    (points, outcome.accepted(), outcome.rejected())
}

fuzz_target!(|input: &[u8]| {
    let Some((unit, body)) = input.split_first() else { return };
    let unit = UNITS[usize::from(*unit) % UNITS.len()];
    let precision = Precision::parse(unit).unwrap_or_default();
    let whole = read(body, precision);
    if body.contains(&b'"') {
        return;
    }
    let mut each = (0, 0, 0);
    for line in body.split(|byte| *byte == b'\n') {
        let (points, accepted, rejected) = read(line, precision);
        assert!(accepted + rejected <= 1, "a line is counted once");
        each = (each.0 + points, each.1 + accepted, each.2 + rejected);
    }
    assert_eq!(whole, each, "the lines of a body are independent");
});
