//! `telltale completions` and `telltale man`: shell completions and manual pages, generated from
//! the declaration of the command line, so that they always match it.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::error::CliError;
use super::output::out;

/// The name of the program in completion scripts.
const PROGRAM: &str = "telltale";

/// Prints the completion script of a shell.
pub(super) fn completions(shell: Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), PROGRAM, &mut script);
    out(&String::from_utf8_lossy(&script))
}

/// Prints the manual page of the program, or writes one for each command into a directory.
pub(super) fn pages(dir: Option<&Path>) -> Result<(), CliError> {
    let command = Cli::command();
    let Some(dir) = dir else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(command).render(&mut page);
        rendered.map_err(|error| CliError::failed("cannot render the manual page", error))?;
        return out(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(command, dir))
        .map_err(|error| CliError::failed(format!("cannot write to {}", dir.display()), error))
}
