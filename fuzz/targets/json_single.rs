//! Bodies of single samples: never a panic, and an accepted sample obeys the limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use telltale_engine::TimestampMs;
use telltale_server::areas::metrics::{Measured, read_one};

/// 2026-01-02T03:04:05Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_000);

fuzz_target!(|body: &[u8]| {
    let read = read_one(body, NOW, |point| {
        if let Measured::Number(number) = point.value {
            assert!(number.is_finite(), "a value is finite");
        }
        assert!(!point.name.is_empty(), "a name is not empty");
        Ok(())
    });
    drop(read);
});
