//! Lives through histories, one after the other, and reports.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::failing::{Failure, Outcome};
use super::generate::{History, history};
use super::shrink::shrink;

/// Seconds that the histories of a usual test run take.
const SECONDS: u64 = 30;

/// Seconds after which a history hangs.
const HISTORY_SECONDS_MAX: u64 = 600;

/// Panics of threads of the engine, which nobody else would hear of.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

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

/// Lives through the history of the seed in the environment, or through as many as the time allows.
pub(crate) fn all() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload_as_str().unwrap_or("no text");
        PANICS.lock().unwrap().push(format!("{place}: {text}"));
    }));
    watch_over();
    let mut totals = Totals::default();
    if let Some(seed) = setting("TELLTALE_SIMULATION_SEED") {
        let history = history(seed);
        println!("{:?}", history.setup);
        if let Err(failure) = live(&history, &mut totals) {
            tell(&history, &failure);
            totals.failures.entry(failure.kind).or_default().push(seed);
        }
    } else {
        many(&mut totals);
    }
    assert!(totals.failures.is_empty(), "histories fail: {:?}", totals.failures);
}

/// The seed that is lived through, and since when.
static UNDER_WAY: Mutex<Option<(u64, Instant)>> = Mutex::new(None);

/// Ends the process when a history hangs: nobody else could tell its seed.
fn watch_over() {
    std::thread::spawn(|| {
        loop {
            std::thread::park_timeout(Duration::from_secs(1));
            let under_way = *UNDER_WAY.lock().unwrap();
            if let Some((seed, since)) = under_way
                && since.elapsed() > Duration::from_secs(HISTORY_SECONDS_MAX)
            {
                println!("seed {seed} hangs: a step does not come to its end");
                std::process::abort();
            }
        }
    });
}

/// What the faults of a history were, and how often it crashed.
pub(crate) fn trace(seed: u64) -> Outcome<(Vec<String>, u64)> {
    let history = history(seed);
    let mut driver = Driver::new(history.seed, &history.setup)?;
    live_in(&mut driver, &history, &mut Totals::default())?;
    Ok((driver.disk.journal(), driver.crashes))
}

fn many(totals: &mut Totals) {
    let seconds = setting("TELLTALE_SIMULATION_SECONDS").unwrap_or(SECONDS);
    let stride = setting("TELLTALE_SIMULATION_STRIDE").unwrap_or(1).max(1);
    let mut seed = setting("TELLTALE_SIMULATION_FIRST").unwrap_or(1);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) {
        let history = history(seed);
        if let Err(failure) = live(&history, totals) {
            let found = totals.failures.entry(failure.kind).or_default();
            found.push(seed);
            // The first of a kind is told at length.
            if found.len() == 1 {
                tell(&history, &failure);
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
fn live(history: &History, totals: &mut Totals) -> Outcome {
    *UNDER_WAY.lock().unwrap() = Some((history.seed, Instant::now()));
    let lived = catch_unwind(AssertUnwindSafe(|| {
        let mut driver = Driver::new(history.seed, &history.setup)?;
        let outcome = live_in(&mut driver, history, totals);
        totals.crashes += driver.crashes;
        for ((kind, call, effect), times) in driver.disk.struck() {
            *totals.struck.entry(format!("{effect:?} at {call:?} of {kind:?}")).or_default() +=
                times;
        }
        outcome.map_err(|mut failure| {
            let journal = driver.disk.journal().join("\n    ");
            failure.details.push_str(&format!("\n  faults:\n    {journal}"));
            failure
        })
    }));
    *UNDER_WAY.lock().unwrap() = None;
    totals.histories += 1;
    let panics = std::mem::take(&mut *PANICS.lock().unwrap());
    match lived {
        Ok(outcome) if panics.is_empty() => outcome,
        _ => Err(Failure { kind: "a panic", details: panics.join("; ") }),
    }
}

fn live_in(driver: &mut Driver, history: &History, totals: &mut Totals) -> Outcome {
    for (at, step) in history.steps.iter().enumerate() {
        totals.steps += 1;
        driver.step(step).map_err(|mut failure| {
            failure.details = format!("at step {at}: {}", failure.details);
            failure
        })?;
    }
    let decayed = matches!(history.steps.last(), Some(super::steps::Step::Decay(..)));
    if decayed { Ok(()) } else { driver.end() }
}

/// Prints a failing history, made as short as it gets.
fn tell(history: &History, failure: &Failure) {
    println!("seed {} fails: {failure}", history.seed);
    let (short, last) = shrink(history, failure, |history| live(history, &mut Totals::default()));
    println!("  {:?}", short.setup);
    println!("  {} of {} steps suffice: {last}", short.steps.len(), history.steps.len());
    for (at, step) in short.steps.iter().enumerate() {
        let text = format!("{step:?}");
        let cut: String = text.chars().take(2_000).collect();
        println!("  {at:>3} {cut}");
    }
    println!(
        "  again: TELLTALE_SIMULATION_SEED={} cargo test -p telltale-engine --test simulation -- --nocapture",
        history.seed
    );
}
