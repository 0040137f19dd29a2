//! Segments of the registry, as a damaged disk may return them: decoded or refused, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| telltale_engine::fuzzing::registry_segment(bytes));
