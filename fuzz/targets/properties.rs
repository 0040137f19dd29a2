//! Properties of events: parsed or refused, never a panic, and splitting into columns is
//! reversible.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| telltale_engine::fuzzing::properties(bytes));
