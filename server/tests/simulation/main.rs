//! Histories of the ledgers of jobs and of errors that a seed decides, lived through on a simulated disk: the whole service but
//! its sockets, with crashes, power losses and failing calls beneath it. A naive model beside each ledger says what is promised.
//!
//! How they are run, and which switches there are, is told by `telltale_simulation`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test may panic")]

mod driver;
mod errors;
mod generate;
mod house;
mod jobs;
mod setup;
mod steps;

use driver::Driver;
use telltale_simulation::{live_through_histories, trace};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;
/// When histories begin.
const START: i64 = 20_000 * DAY;

#[test]
fn histories_hold() {
    live_through_histories::<Driver>();
}

#[test]
fn a_seed_is_one_history() {
    // Faults of any kind of file count what RocksDB does in the background too, which takes its own time.
    let is_timed =
        |step: &steps::Step| matches!(step, steps::Step::Arm(fault) if fault.kind.is_none());
    let seeds = (1..).filter(|seed| !generate::history(*seed).steps.iter().any(is_timed));
    for seed in seeds.take(5) {
        let traces = [trace::<Driver>(seed), trace::<Driver>(seed)].map(Result::unwrap);
        assert_eq!(traces[0], traces[1], "seed {seed}");
    }
}
