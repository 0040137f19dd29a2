//! Pages of last readings, as they may stand on a damaged disk: decoded or refused, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| telltale_engine::fuzzing::baselines(bytes));
