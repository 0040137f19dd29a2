//! The log: lines on standard error, human-readable on a terminal, otherwise JSON.
//!
//! Set up once by the process; all other code logs through `tracing`. Secrets are not logged: keys
//! and tokens are types whose `Debug` hides them, and bodies are not logged.
//!
//! A separate thread writes the lines. Standard error may be closed, a file on a full disk, or a
//! pipe that nobody reads: logging neither blocks nor fails then. Lines that cannot be written are
//! dropped and counted.

use std::io::{self, IsTerminal, Stderr, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::util::SubscriberInitExt;

use super::log_settings::{LogFormat, LogSettings};

/// Counts the lines dropped because the queue was full.
static QUEUE_FULL_DROPS: OnceLock<ErrorCounter> = OnceLock::new();
/// The number of lines dropped because writing to standard error failed.
static WRITE_FAILURE_DROPS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of log lines dropped since the process started.
pub fn dropped_lines() -> u64 {
    let queue_full = QUEUE_FULL_DROPS.get().map_or(0, |counter| counter.dropped_lines() as u64);
    queue_full + WRITE_FAILURE_DROPS.load(Ordering::Relaxed)
}

/// Standard error as a writer that never fails: each call writes one line; failed lines are
/// counted.
#[derive(Debug)]
struct Lines(Stderr);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.write_all(line).is_err() {
            WRITE_FAILURE_DROPS.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Standard error is not buffered.
        Ok(())
    }
}

/// The running log. Dropping it writes the queued lines, for up to a second.
#[derive(Debug)]
pub struct Logging(Option<WorkerGuard>);

impl Drop for Logging {
    fn drop(&mut self) {
        // When the writer thread is stuck, the guard prints to standard output, and that panics if
        // standard output is closed too.
        let guard = self.0.take();
        let _flushed = catch_unwind(AssertUnwindSafe(|| drop(guard)));
    }
}

/// The log could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The directives of the level are not valid.
    #[error("the log level is not valid")]
    Level(#[from] tracing_subscriber::filter::ParseError),
    /// Another log was set up before.
    #[error("the log is already set up")]
    Twice(#[from] tracing_subscriber::util::TryInitError),
}

/// The common prefix of our own targets: the names of our crates begin with it.
const OWN_TARGETS: &str = "telltale";

/// Restricts the general level to our own targets. Libraries log errors at most, unless a directive
/// names them: some log a warning for each frame that a client sends.
fn directives(level: &str) -> String {
    let parts = level.split(',').map(str::trim).filter(|part| !part.is_empty());
    let (general, named): (Vec<&str>, Vec<&str>) =
        parts.partition(|part| part.parse::<LevelFilter>().is_ok());
    // The last one wins, as in the filter itself.
    let Some(general) = general.last().and_then(|part| part.parse::<LevelFilter>().ok()) else {
        return level.to_owned();
    };
    let libraries = general.min(LevelFilter::ERROR);
    // Named directives follow and therefore override these.
    let defaults = format!("{libraries},{OWN_TARGETS}={general}");
    named.into_iter().fold(defaults, |all, part| all + "," + part)
}

/// Starts logging as configured. Logging stops when the returned value is dropped.
pub fn start(log: &LogSettings) -> Result<Logging, LoggingError> {
    let filter = EnvFilter::builder().parse(directives(log.level.as_str()))?;
    let terminal = io::stderr().is_terminal();
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(log.queue_lines.max(1))
        .thread_name("telltale-log")
        .finish(Lines(io::stderr()));
    QUEUE_FULL_DROPS.get_or_init(|| writer.error_counter());
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
