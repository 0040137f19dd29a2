//! Times as strings: all of RFC 3339 is parsed as chrono does, formatting round-trips, and `from`
//! and `to` of a query are parsed or refused.
#![no_main]

use chrono::DateTime;
use libfuzzer_sys::fuzz_target;
use telltale_engine::TimestampMs;
use telltale_server::platform::time;

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);

fuzz_target!(|text: &str| {
    let ours = time::parse(text);
    if let Ok(reference) = DateTime::parse_from_rfc3339(text) {
        let ours = ours.map(|t| t.0);
        assert_eq!(ours, Some(reference.timestamp_millis()), "{text:?}");
    }
    let moment = time::parse_moment(text, NOW);
    if let Some(moment) = moment {
        assert!(moment.start().0 <= moment.end().0, "{text:?}");
    }
    if let Some(instant) = ours {
        assert_eq!(moment.map(|moment| moment.start()), ours, "{text:?}");
        let written = time::format(instant);
        // Years of more or fewer than four digits are formatted as the nearest one with four.
        if (-62_167_219_200_000..=253_402_300_799_999).contains(&instant.0) {
            assert_eq!(time::parse(&written), Some(instant), "{text:?}");
        }
    }
});
