//! The log: lines on standard error, for people on a terminal and as JSON for machines otherwise.
//!
//! Set up once by the process; everything else speaks through `tracing`. Secrets never reach it: keys and tokens
//! are types whose `Debug` hides them, and bodies are not logged.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

use super::config::{Log, LogFormat};

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

/// Starts logging as the settings say.
pub fn start(log: &Log) -> Result<(), LoggingError> {
    let filter = EnvFilter::builder().parse(log.level.as_str())?;
    let terminal = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
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
    Ok(())
}
