//! Standard output and standard error of the command line. A reader that went away (`| head`) is no error.

use std::io::{self, ErrorKind, Write};

use super::error::CliError;

/// Writes `text` to standard output.
pub(super) fn out(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::failed("cannot write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes a line for the person at the terminal to standard error.
pub(super) fn note(line: &str) {
    // There is nowhere left to say that standard error is closed.
    writeln!(io::stderr().lock(), "{line}").unwrap_or_default();
}
