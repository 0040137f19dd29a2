//! Random histories of the jobs ledger and the errors ledger, derived from a seed and executed on a
//! simulated disk: the whole service without its sockets, with crashes, power losses and failing
//! system calls. A simple model of each ledger defines what is promised.
//!
//! `telltale_simulation` documents how to run them, and the options.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test may panic")]

mod driver;
mod errors;
mod generate;
mod jobs;
mod service;
mod setup;
mod steps;

use driver::Driver;
use telltale_simulation::{run_histories_with_report, trace};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;
/// The start of histories.
const START: i64 = 20_000 * DAY;

#[test]
fn histories_hold() {
    run_histories_with_report::<Driver>();
}

#[test]
fn a_seed_is_one_history() {
    // Faults of any kind of file also count background operations of RocksDB, whose timing varies.
    let is_timed =
        |step: &steps::Step| matches!(step, steps::Step::Arm(fault) if fault.kind.is_none());
    let seeds = (1..).filter(|seed| !generate::history(*seed).steps.iter().any(is_timed));
    for seed in seeds.take(5) {
        let traces = [trace::<Driver>(seed), trace::<Driver>(seed)].map(Result::unwrap);
        assert_eq!(traces[0], traces[1], "seed {seed}");
    }
}
