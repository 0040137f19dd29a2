//! Distributions and distinct counts, as they may stand on a damaged disk: decoded or refused, never a panic, and
//! what is decoded merges.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| telltale_engine::fuzzing::sketch(bytes));
