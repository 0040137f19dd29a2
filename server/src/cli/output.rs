//! Standard output and standard error of the command line. A closed pipe (`| head`) is not an
//! error.

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

/// Writes a line for the user to standard error.
pub(super) fn note(line: &str) {
    // If standard error is closed, there is nowhere left to report it.
    writeln!(io::stderr().lock(), "{line}").unwrap_or_default();
}
