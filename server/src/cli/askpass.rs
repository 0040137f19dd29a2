//! This program as the one that git asks for a token.

use std::ffi::OsString;
use std::process::ExitCode;

use super::output::{note, out};
use crate::areas::repositories::git::{ASKPASS_VARIABLE, answer};

/// Answers the question of git, if this process was started for that.
pub(super) fn run() -> Option<ExitCode> {
    let descriptor = descriptor()?;
    let question = std::env::args_os().nth(1).unwrap_or_default();
    Some(match answer(&question.to_string_lossy(), &descriptor.to_string_lossy()) {
        Ok(text) => match out(&format!("{text}\n")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            note(&format!("telltale: {error}"));
            ExitCode::FAILURE
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "it says what this process is for; no setting")]
fn descriptor() -> Option<OsString> {
    std::env::var_os(ASKPASS_VARIABLE)
}
