//! The engine against models that keep everything in a list: random histories of writes, seals, merges and restarts,
//! with what comes late and out of order, and after each the same questions to both.
//!
//! `TELLTALE_ORACLE_CASES` sets the number of histories of points, of readings and of events (default 200 each, every one with
//! about 25 questions).
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]
#![allow(
    clippy::disallowed_methods,
    reason = "the test reads its own switches and waits for processes"
)]

mod ageing;
mod counted;
mod event_list;
mod event_questions;
mod events;
mod points;
mod readings;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use telltale_engine::{Clock, Durability, Engine, Maintenance, Options};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
/// The day on which histories begin.
const START: i64 = 20_000 * DAY;

/// What a sync costs is not the question here: memory is quick where there is some.
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
        // Every rollup that shrinks, so that questions meet all of them.
        rollup_points_min: 1,
        threads: 2,
        ..Options::default()
    };
    Engine::open(dir.path(), options).unwrap()
}

/// Opens an engine again without closing it: the log has to bring everything back.
fn reopen(engine: &mut Engine, dir: &tempfile::TempDir, clock: &Clock) {
    let placeholder = memory_dir();
    *engine = open(&placeholder, clock);
    *engine = open(dir, clock);
}

/// The number of histories.
fn cases() -> u32 {
    std::env::var("TELLTALE_ORACLE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// Lives through histories.
fn run<S: Strategy>(cases: u32, histories: &S, live: impl Fn(S::Value)) {
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let lived = |history| {
        live(history);
        Ok(())
    };
    TestRunner::new(config).run(histories, lived).unwrap();
}
