//! Bodies of metric batches: the result agrees with a plain JSON parser, and every item is counted
//! once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use telltale_engine::TimestampMs;
use telltale_server::areas::metrics::{MetricsError, read_batch};
use telltale_server::platform::json::InvalidJson;

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);

fuzz_target!(|body: &[u8]| {
    let reference: Result<Value, _> = serde_json::from_slice(body);
    let mut taken = 0;
    let outcome = read_batch(body, NOW, |point| {
        assert!(
            (0..=NOW.0 + 86_400_000).contains(&point.time.0),
            "a time out of range was accepted"
        );
        taken += 1;
        Ok(())
    });
    match (outcome, reference) {
        (Ok(outcome), Ok(value)) => {
            let items = value["metrics"].as_array().map_or(0, Vec::len);
            assert_eq!(outcome.accepted, taken, "the visitor sees every accepted item");
            assert_eq!(outcome.accepted + outcome.rejected, items, "every item is counted once");
        }
        // The reference parser refuses numbers beyond f64; here they only invalidate their item.
        (Ok(_), Err(error)) => {
            assert!(error.to_string().contains("number out of range"), "{error}")
        }
        (Err(MetricsError::Body(refusal)), Ok(_)) => {
            // Valid JSON is refused only because of our own limits.
            let is_bound = matches!(refusal, InvalidJson::TooDeep(_) | InvalidJson::TooManyValues);
            assert!(is_bound, "{refusal}");
        }
        (Err(_), _) => {}
    }
});
