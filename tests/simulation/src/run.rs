//! Runs histories one after the other, and reports the results.
//!
//! `TELLTALE_SIMULATION_SEED=n` runs one history and prints its result. Otherwise
//! `TELLTALE_SIMULATION_SECONDS` limits the time (30 by default), and `TELLTALE_SIMULATION_FIRST`
//! and `TELLTALE_SIMULATION_STRIDE` select the seeds.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the simulation reads its own environment variables, measures itself and reports"
)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::failure::{Failure, Outcome};
use crate::history::{Driver, HistoryOf};
use crate::shrink::shrink;

/// Default seconds for the histories of a test run.
const SECONDS: u64 = 30;

/// Seconds after which a history counts as hanging.
const HISTORY_SECONDS_MAX: u64 = 600;

/// Maximum characters printed of a step.
const STEP_CHARS_MAX: usize = 2_000;

/// Panics of threads of the program, which would go unnoticed otherwise.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The seed of the running history, and when it started.
static RUNNING: Mutex<Option<(u64, Instant)>> = Mutex::new(None);

/// Totals over all histories.
#[derive(Debug, Default)]
struct Totals {
    histories: u64,
    steps: u64,
    crashes: u64,
    struck: BTreeMap<String, u64>,
    failures: BTreeMap<&'static str, Vec<u64>>,
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the history of the seed in the environment, or as many histories as the time allows.
///
/// # Panics If histories fail, after they were printed.
pub fn run_histories_with_report<D: Driver>() {
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("without a name");
        lock(&PANICS).push(format!("thread {name}, {location}: {message}"));
    }));
    abort_when_hanging();
    let mut totals = Totals::default();
    if let Some(seed) = setting("TELLTALE_SIMULATION_SEED") {
        let history = D::history(seed);
        println!("{:?}", history.setup);
        if let Err(failure) = run_history::<D>(&history, &mut totals) {
            print_failure::<D>(&history, &failure);
            totals.failures.entry(failure.kind).or_default().push(seed);
        }
    } else {
        run_histories::<D>(&mut totals);
    }
    assert!(totals.failures.is_empty(), "histories fail: {:?}", totals.failures);
}

/// Runs the history of a seed. Returns the faults that struck, and the number of crashes.
pub fn trace<D: Driver>(seed: u64) -> Outcome<(Vec<String>, u64)> {
    let history = D::history(seed);
    let mut driver = D::new(history.seed, &history.setup)?;
    run_steps(&mut driver, &history, &mut Totals::default())?;
    Ok((driver.disk().journal(), driver.crashes()))
}

/// Ends the process when a history hangs, after printing its seed.
fn abort_when_hanging() {
    std::thread::spawn(|| {
        loop {
            std::thread::park_timeout(Duration::from_secs(1));
            let running = *lock(&RUNNING);
            if let Some((seed, since)) = running
                && since.elapsed() > Duration::from_secs(HISTORY_SECONDS_MAX)
            {
                println!("seed {seed} hangs: a step does not end");
                std::process::abort();
            }
        }
    });
}

fn run_histories<D: Driver>(totals: &mut Totals) {
    let seconds = setting("TELLTALE_SIMULATION_SECONDS").unwrap_or(SECONDS);
    let stride = setting("TELLTALE_SIMULATION_STRIDE").unwrap_or(1).max(1);
    let mut seed = setting("TELLTALE_SIMULATION_FIRST").unwrap_or(1);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) {
        let history = D::history(seed);
        if let Err(failure) = run_history::<D>(&history, totals) {
            let found = totals.failures.entry(failure.kind).or_default();
            found.push(seed);
            // Only the first failure of a kind is printed with its steps.
            if found.len() == 1 {
                print_failure::<D>(&history, &failure);
            }
        }
        seed += stride;
    }
    report(totals, started.elapsed());
}

fn report(totals: &Totals, took: Duration) {
    let Totals { histories, steps, crashes, struck, failures } = totals;
    let per_hour = *histories as f64 * 3_600.0 / took.as_secs_f64();
    println!(
        "simulated {histories} histories of {steps} steps with {crashes} crashes in {took:.0?}: {per_hour:.0} per hour"
    );
    for (fault, times) in struck {
        println!("{times:>8}  {fault}");
    }
    for (failure, seeds) in failures {
        println!("{:>8}  FAILURES: {failure}, seeds {seeds:?}", seeds.len());
    }
}

/// Runs a history to its end or its failure.
fn run_history<D: Driver>(history: &HistoryOf<D>, totals: &mut Totals) -> Outcome {
    *lock(&RUNNING) = Some((history.seed, Instant::now()));
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut driver = D::new(history.seed, &history.setup)?;
        let outcome = run_steps(&mut driver, history, totals);
        totals.crashes += driver.crashes();
        for ((kind, call, effect), times) in driver.disk().faults_by_kind() {
            *totals.struck.entry(format!("{effect:?} at {call:?} of {kind:?}")).or_default() +=
                times;
        }
        outcome.map_err(|mut failure| {
            let journal = driver.disk().journal().join("\n    ");
            failure.details.push_str(&format!("\n  faults:\n    {journal}"));
            failure
        })
    }));
    *lock(&RUNNING) = None;
    totals.histories += 1;
    let panics = std::mem::take(&mut *lock(&PANICS));
    match result {
        Ok(outcome) if panics.is_empty() => outcome,
        _ => Err(Failure { kind: "a panic", details: panics.join("; ") }),
    }
}

fn run_steps<D: Driver>(driver: &mut D, history: &HistoryOf<D>, totals: &mut Totals) -> Outcome {
    for (at, step) in history.steps.iter().enumerate() {
        totals.steps += 1;
        driver.step(step).map_err(|mut failure| {
            failure.details = format!("at step {at}: {}", failure.details);
            failure
        })?;
    }
    driver.check_end()
}

/// Prints a failing history after shrinking it.
fn print_failure<D: Driver>(history: &HistoryOf<D>, failure: &Failure) {
    println!("seed {} fails: {failure}", history.seed);
    let run_again = |history: &HistoryOf<D>| run_history::<D>(history, &mut Totals::default());
    let (short, last) = shrink(history, failure, run_again);
    println!("  {:?}", short.setup);
    println!("  {} of {} steps suffice: {last}", short.steps.len(), history.steps.len());
    for (at, step) in short.steps.iter().enumerate() {
        let formatted = format!("{step:?}");
        let cut: String = formatted.chars().take(STEP_CHARS_MAX).collect();
        println!("  {at:>3} {cut}");
    }
    println!(
        "  repeat: TELLTALE_SIMULATION_SEED={} cargo test -p {} --test simulation -- --nocapture",
        history.seed,
        D::PACKAGE
    );
}
