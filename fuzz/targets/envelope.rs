//! Envelopes of Sentry SDKs: any bytes are accepted or refused, and deterministically. An envelope
//! that is accepted is refused when it is truncated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use telltale_server::areas::errors::{GroupHash, examine};

fn read(body: &[u8]) -> Option<Vec<GroupHash>> {
    let scrub_keys = ["password".to_owned(), "token".to_owned()];
    examine(body, &scrub_keys).ok()
}

fuzz_target!(|input: &[u8]| {
    let whole = read(input);
    assert_eq!(whole, read(input), "the same bytes give the same groups");
    // The same bytes as the payload of an event item.
    let length = format!("{{}}\n{{\"type\":\"event\",\"length\":{}}}\n", input.len());
    let as_event = [length.as_bytes(), input].concat();
    if let Some(groups) = read(&as_event) {
        assert_eq!(groups.len(), 1, "one item is one event");
        let short = as_event.get(..as_event.len().saturating_sub(1)).unwrap_or_default();
        assert!(
            input.is_empty() || read(short).is_none(),
            "an item with a wrong length was accepted"
        );
    }
});
