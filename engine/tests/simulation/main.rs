//! Histories derived from a seed, run on a simulated disk: writes of every kind, seals,
//! compactions, deletions, expiry, backups, crashes, failing disks, clock jumps and decaying files.
//! A naive model gives the expected results.
//!
//! `telltale_simulation` documents how histories are run, and the environment variables for it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test may panic")]

#[path = "../oracle/bucketed_values.rs"]
#[allow(dead_code, reason = "shared with the oracle, which uses all of it")]
mod bucketed_values;
#[path = "../oracle/event_list.rs"]
#[allow(dead_code, reason = "shared with the oracle, which uses all of it")]
mod event_list;
#[path = "../oracle/event_queries.rs"]
#[allow(dead_code, reason = "shared with the oracle, which uses all of it")]
mod event_queries;

mod check;
mod documents;
mod driver;
mod expected;
mod generate;
mod model;
mod processes;
mod recovery;
mod samples;
mod setup;
mod steps;
mod stopped;
mod write;

use driver::Driver;
use telltale_simulation::{
    Call, Driver as _, Effect, Fault, FileKind, run_histories_with_report, trace,
};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// The day on which histories start.
const START: i64 = 20_000 * DAY;

#[test]
fn random_histories_match_the_model() {
    run_histories_with_report::<Driver>();
}

#[test]
fn a_seed_determines_its_history() {
    // RocksDB uses its files from its own threads, so the faults of those files depend on timing.
    let is_timed = |step: &steps::Step| matches!(step, steps::Step::Arm(fault) if fault.kind != Some(FileKind::Log));
    let seeds = (1..).filter(|seed| !generate::history(*seed).steps.iter().any(is_timed));
    for seed in seeds.take(5) {
        let traces = [trace::<Driver>(seed), trace::<Driver>(seed)].map(|trace| {
            let (faults, crashes) = trace.unwrap();
            (faults.iter().map(|fault| without_segment(fault)).collect::<Vec<_>>(), crashes)
        });
        assert_eq!(traces[0], traces[1], "seed {seed}");
    }
}

/// Returns a fault without the number of the log segment that it struck. Concurrent writes share
/// records of definitions depending on timing, so the first number of a segment may differ.
fn without_segment(fault: &str) -> String {
    match fault.rsplit_once('/') {
        Some((folder, name)) if name.ends_with(".log") => format!("{folder}/a segment"),
        _ => fault.to_owned(),
    }
}

#[test]
fn some_histories_retire_series() {
    let all = (1..).map(generate::history);
    let ageing = all.filter(|history| {
        let expires = |step: &&steps::Step| matches!(step, steps::Step::Expire);
        let kept_days = history.setup.retention.hour.as_secs() / 86_400;
        kept_days < 5 && history.steps.iter().filter(expires).count() > 3
    });
    let retired = ageing.take(10).map(|history| {
        let mut driver = Driver::new(history.seed, &history.setup).unwrap();
        for step in history.steps.iter().filter(|step| !matches!(step, steps::Step::Arm(_))) {
            driver.step(step).unwrap();
        }
        driver.retired
    });
    assert!(retired.sum::<u64>() > 10);
}

#[test]
fn file_calls_of_the_engine_and_of_rocksdb_are_simulated() {
    let seed = 1;
    let history = generate::history(seed);
    let mut driver = Driver::new(seed, &history.setup).unwrap();
    let kinds = [FileKind::Log, FileKind::DbLog, FileKind::Table, FileKind::Manifest];
    for kind in kinds {
        let (kind, call, effect) = (Some(kind), Some(Call::Write), Effect::Short);
        driver.disk.arm(Fault { kind, call, after: 0, times: 1, effect });
    }
    let writes = history.steps.iter().filter(|step| matches!(step, steps::Step::Write(_))).take(1);
    for step in writes.chain([&steps::Step::Seal, &steps::Step::Merge]) {
        driver.step(step).unwrap();
    }
    let struck: Vec<FileKind> =
        driver.disk.faults_by_kind().keys().map(|(kind, ..)| *kind).collect();
    assert_eq!(struck, kinds);
}
