//! The log: lines on standard error, for people on a terminal and as JSON for machines otherwise.
//!
//! Set up once by the process; everything else speaks through `tracing`. Secrets never reach it: keys and tokens
//! are types whose `Debug` hides them, and bodies are not logged.
//!
//! A line is handed to a thread that writes it. Standard error may be closed, a file on a full disk, or a pipe that nobody reads:
//! whoever logs never waits for it nor fails with it. Lines that it does not take are dropped and counted.

use std::io::{self, IsTerminal, Stderr, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::util::SubscriberInitExt;

use super::config::{Log, LogFormat};

/// Lines for which the queue had no place.
static CROWDED_OUT: OnceLock<ErrorCounter> = OnceLock::new();
/// Lines that standard error did not take.
static NOT_TAKEN: AtomicU64 = AtomicU64::new(0);

/// Lines of the log that were dropped since the process began.
pub fn dropped_lines() -> u64 {
    let crowded_out = CROWDED_OUT.get().map_or(0, |counter| counter.dropped_lines() as u64);
    crowded_out + NOT_TAKEN.load(Ordering::Relaxed)
}

/// Standard error, which never fails: each call brings one line, and those that are not taken are counted.
#[derive(Debug)]
struct Lines(Stderr);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.write_all(line).is_err() {
            NOT_TAKEN.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // It has no buffer.
        Ok(())
    }
}

/// The log that was started. Dropping it writes what still waits, for up to a second.
#[derive(Debug)]
pub struct Logging(Option<WorkerGuard>);

impl Drop for Logging {
    fn drop(&mut self) {
        // It complains on standard output when the thread is stuck, which panics when that is closed too.
        let guard = self.0.take();
        let _flushed = catch_unwind(AssertUnwindSafe(|| drop(guard)));
    }
}

/// The log could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The directives of the level are wrong.
    #[error("the log level cannot be read")]
    Level(#[from] tracing_subscriber::filter::ParseError),
    /// Somebody set up another log before.
    #[error("the log is set up already")]
    Twice(#[from] tracing_subscriber::util::TryInitError),
}

/// What the targets of our own lines begin with: the names of our crates.
const OWN_TARGETS: &str = "telltale";

/// Applies the level for everything to our own lines only. Of libraries errors are written at most, unless a directive names
/// them: some write a warning for each frame that a client sends.
fn directives(level: &str) -> String {
    let parts = level.split(',').map(str::trim).filter(|part| !part.is_empty());
    let (general, named): (Vec<&str>, Vec<&str>) =
        parts.partition(|part| part.parse::<LevelFilter>().is_ok());
    // As in the filter itself, the last one counts.
    let Some(general) = general.last().and_then(|part| part.parse::<LevelFilter>().ok()) else {
        return level.to_owned();
    };
    let libraries = general.min(LevelFilter::ERROR);
    // Directives that are named come later, and so replace these.
    let defaults = format!("{libraries},{OWN_TARGETS}={general}");
    named.into_iter().fold(defaults, |all, part| all + "," + part)
}

/// Starts logging as the settings say, for as long as what it answers is held.
pub fn start(log: &Log) -> Result<Logging, LoggingError> {
    let filter = EnvFilter::builder().parse(directives(log.level.as_str()))?;
    let terminal = io::stderr().is_terminal();
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(usize::try_from(log.queue_lines).unwrap_or(usize::MAX).max(1))
        .thread_name("telltale-log")
        .finish(Lines(io::stderr()));
    CROWDED_OUT.get_or_init(|| writer.error_counter());
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .log_internal_errors(false)
        .with_writer(writer);
    let human = match log.format {
        LogFormat::Auto => terminal,
        LogFormat::Human => true,
        LogFormat::Json => false,
    };
    if human {
        lines.with_ansi(terminal).with_target(false).finish().try_init()?;
    } else {
        lines.json().flatten_event(true).with_current_span(false).finish().try_init()?;
    }
    Ok(Logging(Some(guard)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_write_errors_only_unless_they_are_named() {
        for (level, expected) in [
            ("info", "error,telltale=info"),
            ("debug", "error,telltale=debug"),
            ("error", "error,telltale=error"),
            ("off", "off,telltale=off"),
            (
                "warn, telltale_server::http=debug",
                "error,telltale=warn,telltale_server::http=debug",
            ),
            ("h2=warn,info", "error,telltale=info,h2=warn"),
            ("hyper=trace", "hyper=trace"),
            ("info,debug", "error,telltale=debug"),
        ] {
            assert_eq!(directives(level), expected, "{level}");
            assert!(EnvFilter::builder().parse(directives(level)).is_ok(), "{level}");
        }
    }
}
