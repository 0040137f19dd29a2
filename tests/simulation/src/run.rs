//! Lives through histories, one after the other, and reports.
//!
//! `TELLTALE_SIMULATION_SEED=n` lives through one history and prints what becomes of it. `TELLTALE_SIMULATION_SECONDS` bounds the
//! time of the others (30 by default), `TELLTALE_SIMULATION_FIRST` and `TELLTALE_SIMULATION_STRIDE` choose their seeds.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the simulation reads its own switches, measures itself and reports"
)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::failing::{Failure, Outcome};
use crate::history::{Driver, HistoryOf};
use crate::shrink::shrink;

/// Seconds that the histories of a usual test run take.
const SECONDS: u64 = 30;

/// Seconds after which a history hangs.
const HISTORY_SECONDS_MAX: u64 = 600;

/// Characters of a step that are printed.
const STEP_CHARS_MAX: usize = 2_000;

/// Panics of threads of the program, which nobody else would hear of.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The seed that is lived through, and since when.
static UNDER_WAY: Mutex<Option<(u64, Instant)>> = Mutex::new(None);

/// What was lived through.
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

/// Lives through the history of the seed in the environment, or through as many as the time allows.
///
/// # Panics
/// When histories fail, after they were printed.
pub fn live_through_histories<D: Driver>() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload_as_str().unwrap_or("no text");
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("without a name");
        lock(&PANICS).push(format!("thread {name}, {place}: {text}"));
    }));
    watch_over();
    let mut totals = Totals::default();
    if let Some(seed) = setting("TELLTALE_SIMULATION_SEED") {
        let history = D::history(seed);
        println!("{:?}", history.setup);
        if let Err(failure) = live::<D>(&history, &mut totals) {
            tell::<D>(&history, &failure);
            totals.failures.entry(failure.kind).or_default().push(seed);
        }
    } else {
        many::<D>(&mut totals);
    }
    assert!(totals.failures.is_empty(), "histories fail: {:?}", totals.failures);
}

/// What the faults of the history of a seed were, and how often it crashed.
pub fn trace<D: Driver>(seed: u64) -> Outcome<(Vec<String>, u64)> {
    let history = D::history(seed);
    let mut driver = D::new(history.seed, &history.setup)?;
    live_in(&mut driver, &history, &mut Totals::default())?;
    Ok((driver.disk().journal(), driver.crashes()))
}

/// Ends the process when a history hangs: nobody else could tell its seed.
fn watch_over() {
    std::thread::spawn(|| {
        loop {
            std::thread::park_timeout(Duration::from_secs(1));
            let under_way = *lock(&UNDER_WAY);
            if let Some((seed, since)) = under_way
                && since.elapsed() > Duration::from_secs(HISTORY_SECONDS_MAX)
            {
                println!("seed {seed} hangs: a step does not come to its end");
                std::process::abort();
            }
        }
    });
}

fn many<D: Driver>(totals: &mut Totals) {
    let seconds = setting("TELLTALE_SIMULATION_SECONDS").unwrap_or(SECONDS);
    let stride = setting("TELLTALE_SIMULATION_STRIDE").unwrap_or(1).max(1);
    let mut seed = setting("TELLTALE_SIMULATION_FIRST").unwrap_or(1);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) {
        let history = D::history(seed);
        if let Err(failure) = live::<D>(&history, totals) {
            let found = totals.failures.entry(failure.kind).or_default();
            found.push(seed);
            // The first of a kind is told at length.
            if found.len() == 1 {
                tell::<D>(&history, &failure);
            }
        }
        seed += stride;
    }
    report(totals, started.elapsed());
}

fn report(totals: &Totals, took: Duration) {
    let Totals { histories, steps, crashes, struck, failures } = totals;
    let an_hour = *histories as f64 * 3_600.0 / took.as_secs_f64();
    println!(
        "simulated {histories} histories of {steps} steps with {crashes} crashes in {took:.0?}: {an_hour:.0} an hour"
    );
    for (fault, times) in struck {
        println!("{times:>8}  {fault}");
    }
    for (failure, seeds) in failures {
        println!("{:>8}  FAILURES: {failure}, seeds {seeds:?}", seeds.len());
    }
}

/// Lives through a history to its end or its failure.
fn live<D: Driver>(history: &HistoryOf<D>, totals: &mut Totals) -> Outcome {
    *lock(&UNDER_WAY) = Some((history.seed, Instant::now()));
    let lived = catch_unwind(AssertUnwindSafe(|| {
        let mut driver = D::new(history.seed, &history.setup)?;
        let outcome = live_in(&mut driver, history, totals);
        totals.crashes += driver.crashes();
        for ((kind, call, effect), times) in driver.disk().struck() {
            *totals.struck.entry(format!("{effect:?} at {call:?} of {kind:?}")).or_default() +=
                times;
        }
        outcome.map_err(|mut failure| {
            let journal = driver.disk().journal().join("\n    ");
            failure.details.push_str(&format!("\n  faults:\n    {journal}"));
            failure
        })
    }));
    *lock(&UNDER_WAY) = None;
    totals.histories += 1;
    let panics = std::mem::take(&mut *lock(&PANICS));
    match lived {
        Ok(outcome) if panics.is_empty() => outcome,
        _ => Err(Failure { kind: "a panic", details: panics.join("; ") }),
    }
}

fn live_in<D: Driver>(driver: &mut D, history: &HistoryOf<D>, totals: &mut Totals) -> Outcome {
    for (at, step) in history.steps.iter().enumerate() {
        totals.steps += 1;
        driver.step(step).map_err(|mut failure| {
            failure.details = format!("at step {at}: {}", failure.details);
            failure
        })?;
    }
    driver.end()
}

/// Prints a failing history, made as short as it gets.
fn tell<D: Driver>(history: &HistoryOf<D>, failure: &Failure) {
    println!("seed {} fails: {failure}", history.seed);
    let live_again = |history: &HistoryOf<D>| live::<D>(history, &mut Totals::default());
    let (short, last) = shrink(history, failure, live_again);
    println!("  {:?}", short.setup);
    println!("  {} of {} steps suffice: {last}", short.steps.len(), history.steps.len());
    for (at, step) in short.steps.iter().enumerate() {
        let text = format!("{step:?}");
        let cut: String = text.chars().take(STEP_CHARS_MAX).collect();
        println!("  {at:>3} {cut}");
    }
    println!(
        "  again: TELLTALE_SIMULATION_SEED={} cargo test -p {} --test simulation -- --nocapture",
        history.seed,
        D::PACKAGE
    );
}
