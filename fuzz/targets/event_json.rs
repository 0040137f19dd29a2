//! Bodies of events, single and in batches: the result agrees with a plain JSON parser, every item
//! is counted once, and an accepted event obeys the limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use telltale_engine::{InvalidEvent, NewEvent, Properties, TimestampMs};
use telltale_server::areas::events::{EventsError, read_batch, read_one};
use telltale_server::platform::json::InvalidJson;

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);

fuzz_target!(|body: &[u8]| {
    drop(read_one(body, NOW, check));
    let reference: Result<Value, _> = serde_json::from_slice(body);
    let mut taken = 0;
    let outcome = read_batch(body, NOW, |event| {
        taken += 1;
        check(event)
    });
    match (outcome, reference) {
        (Ok(outcome), Ok(value)) => {
            let items = value["events"].as_array().map_or(0, Vec::len);
            assert_eq!(outcome.accepted, taken, "the visitor sees every accepted item");
            assert_eq!(outcome.accepted + outcome.rejected, items, "every item is counted once");
        }
        // The reference parser refuses numbers beyond f64; here they only invalidate their item.
        (Ok(_), Err(error)) => {
            assert!(error.to_string().contains("number out of range"), "{error}")
        }
        (Err(EventsError::Body(refusal)), Ok(_)) => {
            // Valid JSON is refused only because of our own limits.
            let is_bound = matches!(refusal, InvalidJson::TooDeep(_) | InvalidJson::TooManyValues);
            assert!(is_bound, "{refusal}");
        }
        (Err(_), _) => {}
    }
});

fn check(event: &NewEvent<'_>) -> Result<(), InvalidEvent> {
    assert!(!event.name.is_empty(), "a name is not empty");
    assert!((0..=NOW.0 + 86_400_000).contains(&event.time.0), "a time out of range was accepted");
    assert!(event.value.is_none_or(f64::is_finite), "a value is finite");
    if let Some(properties) = event.properties {
        let again = Properties::parse(properties.as_str());
        assert_eq!(again.as_ref(), Ok(properties), "canonical text is its own canonical form");
    }
    Ok(())
}
