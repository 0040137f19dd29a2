//! Parses the command line, runs the command and returns the exit code: 0 success, 1 failure, 2
//! invalid command line or settings.

use std::process::ExitCode;

use clap::Parser;
use rustix::fs::Mode;
use tokio::runtime::{Builder, Runtime};

use super::args::{Cli, Command};
use super::error::CliError;
use super::output::note;
use super::target::Destination;
use super::{askpass, copy, health, import, keys, load, login, manual, query, serve, settings};
use crate::config::{Config, Environment, Loaded};
use crate::platform::log_settings::Directives;
use crate::platform::logging;
use crate::platform::settings::Origin;

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    // Data, backups and logs must not be readable by other users.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    if let Some(code) = askpass::run() {
        return code;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to standard output with code 0, errors to standard error with code 2. If
            // that stream is closed, there is nowhere to report it.
            error.print().unwrap_or_default();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("telltale: {}", error.line()));
            error.exit_code()
        }
    }
}

fn dispatch(cli: Cli) -> Result<(), CliError> {
    let environment = Environment::of_process()?;
    let common = cli.common;
    let remote = load::remote(&common.remote, &environment, &cli.command)?;
    match cli.command {
        Command::Serve(args) => {
            let loaded = load::load_config(&common, args.listen.as_deref(), &environment)?;
            serve::run(&loaded.config, &environment)
        }
        Command::Config(args) => settings::print(&common, &args, &environment),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir } => manual::pages(dir.as_deref()),
        other => {
            let config = quiet(load::load_config(&common, None, &environment)?);
            command(&Destination { config, remote }, other)
        }
    }
}

/// Runs a command about data.
fn command(destination: &Destination, command: Command) -> Result<(), CliError> {
    let config = &destination.config;
    let _logging = logging::start(&config.log)
        .map_err(|error| CliError::failed("cannot start logging", error))?;
    let runtime = small_runtime()?;
    match command {
        Command::Keys { action } => runtime.block_on(keys::run(destination, &action)),
        Command::Login(args) => runtime.block_on(login::run(destination, &args)),
        Command::Import { format } => runtime.block_on(import::run(config, &format)),
        Command::Query(args) => runtime.block_on(query::run(destination, &args)),
        Command::Backup { dir } => runtime.block_on(copy::backup(destination, &dir)),
        Command::Restore { dir } => copy::restore(config, &dir),
        Command::Verify => runtime.block_on(copy::verify(destination)),
        Command::Seal => runtime.block_on(copy::seal(destination)),
        Command::Merge => runtime.block_on(copy::merge(destination)),
        Command::Health => runtime.block_on(health::check(config)),
        Command::Serve(_)
        | Command::Config(_)
        | Command::Completions { .. }
        | Command::Man { .. } => Ok(()),
    }
}

/// Commands print their result to standard output; their log contains only warnings and errors
/// unless a level is set.
fn quiet(loaded: Loaded) -> Config {
    let mut config = loaded.config;
    let level = loaded.effective.iter().find(|one| one.key == "log.level");
    if level.is_none_or(|level| level.origin == Origin::Default) {
        config.log.level = Directives::warnings();
    }
    config
}

fn small_runtime() -> Result<Runtime, CliError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failed("cannot start", error))
}
