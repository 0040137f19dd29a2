//! Crash tests: what is acknowledged survives SIGKILL at random moments, a full disk and flipped
//! bytes. Samples and events of a write are stored together or not at all.
//!
//! The writer is this test binary itself, run as a child process. `TELLTALE_CRASH_ROUNDS` sets the
//! number of kills (default 200).
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]
#![allow(clippy::print_stdout, reason = "the child process reports to its parent")]
#![allow(
    clippy::disallowed_methods,
    reason = "the test reads its environment variables and waits for processes"
)]

mod batch;
mod corruption;
mod damage;
mod definitions;
mod full_disk;
mod kill;

use std::path::Path;

use telltale_engine::{Clock, Durability, Engine, Error, Maintenance, Options, TimestampMs};

const START: i64 = 20_000 * DAY;
const DAY: i64 = 86_400_000;

fn options(durability: Durability) -> Options {
    Options {
        durability,
        clock: Clock::manual(TimestampMs(START + 3 * DAY)),
        // Small, so that there are many seals between two kills.
        head_bytes: 64 << 10,
        cache_bytes: 16 << 20,
        disk_free_bytes: 0,
        maintenance: Maintenance::Manual,
        ..Options::default()
    }
}

fn memory_dir() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn open(dir: &Path) -> Engine {
    loop {
        match Engine::open(dir, options(Durability::Os)) {
            // A process that another test is starting shares the lock until its exec.
            Err(Error::Open { reason, .. }) if reason.contains("another process") => {
                std::thread::yield_now();
            }
            outcome => return outcome.unwrap(),
        }
    }
}
