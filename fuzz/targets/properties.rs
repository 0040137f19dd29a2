//! Properties of events: read or refused, never a panic, and what is kept as columns comes back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| telltale_engine::fuzzing::properties(bytes));
