//! The engine against models that keep everything in a list: random histories of writes, seals,
//! compactions and restarts, with late and out-of-order data, and the same queries to both after
//! each step.
//!
//! `TELLTALE_ORACLE_CASES` sets the number of histories of samples, of cumulative samples and of
//! events (default 200 each, with about 25 queries each).
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]
#![allow(
    clippy::disallowed_methods,
    reason = "the test reads its environment variables and waits for processes"
)]

mod ageing;
mod bucketed_values;
mod cumulative;
mod event_list;
mod event_queries;
mod events;
mod samples;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use telltale_engine::{Clock, Durability, Engine, Maintenance, Options};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
/// The day on which histories start.
const START: i64 = 20_000 * DAY;

/// Returns a directory in memory where possible: the cost of syncs does not matter here.
fn memory_dir() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn open(dir: &tempfile::TempDir, clock: &Clock) -> Engine {
    let options = Options {
        clock: clock.clone(),
        durability: Durability::Os,
        maintenance: Maintenance::Manual,
        cache_bytes: 8 << 20,
        disk_free_bytes: 0,
        // Every rollup that is smaller than its samples, so that queries read all of them.
        rollup_points_min: 1,
        threads: 2,
        ..Options::default()
    };
    Engine::open(dir.path(), options).unwrap()
}

/// Opens an engine again without closing it: everything must be recovered from the log.
fn reopen(engine: &mut Engine, dir: &tempfile::TempDir, clock: &Clock) {
    let placeholder = memory_dir();
    *engine = open(&placeholder, clock);
    *engine = open(dir, clock);
}

/// Returns the number of histories.
fn cases() -> u32 {
    std::env::var("TELLTALE_ORACLE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// Runs `live` on random histories.
fn run<S: Strategy>(cases: u32, histories: &S, test: impl Fn(S::Value)) {
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let case = |history| {
        test(history);
        Ok(())
    };
    TestRunner::new(config).run(histories, case).unwrap();
}
