//! Times as text: all of RFC 3339 is read as chrono reads it, and what is written reads back.
#![no_main]

use chrono::DateTime;
use libfuzzer_sys::fuzz_target;
use telltale_server::platform::time;

fuzz_target!(|text: &str| {
    let ours = time::parse(text);
    if let Ok(reference) = DateTime::parse_from_rfc3339(text) {
        let ours = ours.map(|t| t.0);
        assert_eq!(ours, Some(reference.timestamp_millis()), "{text:?}");
    }
    if let Some(moment) = time::parse_date_or_time(text) {
        assert!(moment.start().0 <= moment.end().0, "{text:?}");
    }
    if let Some(instant) = ours {
        let written = time::format(instant);
        // Years of more or fewer than four digits are written as the nearest that has them.
        if (-62_167_219_200_000..=253_402_300_799_999).contains(&instant.0) {
            assert_eq!(time::parse(&written), Some(instant), "{text:?}");
        }
    }
});
