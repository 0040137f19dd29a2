//! A damaged segment of the log: whatever is read from it was written, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| telltale_engine::fuzzing::log_segment(bytes));
