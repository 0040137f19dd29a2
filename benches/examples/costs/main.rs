//! A sweep of costs: the CPU time of each operation over powers of ten of everything that an
//! installation may have many of. Prints the exponent of its growth over all sizes, and over the
//! last power of ten; the program fails if the former is above 1.2, which indicates quadratic
//! growth. A map of as many entries is measured first, for comparison: beyond the caches of the
//! CPU, it grows faster than n·log n.
//!
//! `cargo run --release -p telltale-benches --example costs [largest size] [dimension]...`
//!
//! The largest size is 100 000 by default; 1 000 000 is the full sweep. Without names, all
//! dimensions are swept. Data goes to the directory of temporary files (`TMPDIR`).
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "its output is for people")]

mod case;
mod cpu;
mod errors;
mod events;
mod fit;
mod jobs;
mod metrics;
mod open_engine;
mod queues;
mod reference;
mod sweep;

use std::process::ExitCode;

use sweep::Sweep;

/// The default of the largest size, which takes minutes instead of most of an hour.
const SIZE_DEFAULT: usize = 100_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let largest = match arguments.next().as_deref().map(str::parse::<usize>) {
        None => SIZE_DEFAULT,
        Some(Ok(size)) if size >= sweep::SIZE_MIN => size,
        Some(_) => {
            println!("usage: costs [largest size, at least {}] [dimension]...", sweep::SIZE_MIN);
            return ExitCode::from(2);
        }
    };
    let mut sweep = Sweep::new(largest, arguments.collect());
    metrics::Growing::ALL.iter().for_each(|growing| sweep.run(growing));
    events::Growing::ALL.iter().for_each(|growing| sweep.run(growing));
    sweep.run(&jobs::WaitingJobs);
    sweep.run(&jobs::ScheduledJobs);
    sweep.run(&queues::Queues);
    sweep.run(&errors::ErrorGroups);
    sweep.finish()
}
