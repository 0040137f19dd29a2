//! Compares Telltale with alternatives on the same machine, cores and points, one peer at a time.
//! Generates data, runs every part with every peer, saves the measurements, and writes the report
//! in `docs/benchmarks`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is for people")]

mod clock;
mod contest;
mod data;
mod feed;
mod measure;
mod options;
mod outcome;
mod parts;
mod peers;
mod queries;
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

/// Prints progress.
fn print_line(line: &str) {
    println!("{line}");
}
