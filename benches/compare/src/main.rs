//! Telltale beside what users would pick instead: the same machine, the same cores, the same
//! points, one peer at a time. Generates data, runs every part with every peer, keeps what was
//! measured, and writes the tables of `docs/benchmarks`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program to be read by people")]

mod ask;
mod clock;
mod contest;
mod data;
mod feed;
mod options;
mod outcome;
mod parts;
mod peers;
mod report;
mod results;
mod server;

use std::process::ExitCode;

use options::Options;
use outcome::Outcome;
use parts::Context;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compare: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let context = Context { options: Options::read()? };
    if !context.options.report_only {
        contest::run(&context)?;
    }
    report::write(&context)
}

/// Tells what goes on.
fn say(line: &str) {
    println!("{line}");
}
