//! Builds the configuration from flags, environment and file.

use std::path::Path;

use super::args::{Command, Common, RemoteArgs};
use super::error::CliError;
use crate::config::{Environment, Flag, Loaded, Sources};
use crate::platform::remote::Remote;
use crate::platform::settings::ConfigError;

/// Loads the configuration from file, environment and flags.
pub(super) fn load_config(
    common: &Common,
    listen: Option<&str>,
    environment: &Environment,
) -> Result<Loaded, CliError> {
    let path = common.config.clone().or_else(|| environment.config_file());
    let file = match path {
        Some(path) => {
            let text = read_file(&path)?;
            Some((path, text))
        }
        None => None,
    };
    let sources = Sources { file, environment: environment.clone(), flags: flags(common, listen)? };
    Ok(Loaded::from_sources(&sources)?)
}

/// Returns the remote server given by flags or environment, for a command that supports one. Other
/// commands reject the flags and ignore the environment.
pub(super) fn remote(
    args: &RemoteArgs,
    environment: &Environment,
    command: &Command,
) -> Result<Option<Remote>, CliError> {
    if let Some(name) = local_only(command) {
        let flags = [args.url.as_ref().map(|_| "--url"), args.key.as_ref().map(|_| "--key")];
        return match flags.into_iter().flatten().next() {
            Some(flag) => Err(CliError::Usage(format!(
                "{name} does not take {flag}: it works on this machine only"
            ))),
            None => Ok(None),
        };
    }
    let Some(url) = args.url.as_deref().or_else(|| environment.url()) else {
        return match args.key {
            Some(_) => Err(CliError::Usage("--key needs --url or TELLTALE_URL".to_owned())),
            None => Ok(None),
        };
    };
    let key = args.key.as_deref().or_else(|| environment.key());
    let remote = Remote::new(url, key).map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Some(remote))
}

/// Returns the name of a command that works only on this machine.
fn local_only(command: &Command) -> Option<&'static str> {
    match command {
        Command::Serve(_) => Some("serve"),
        Command::Config(_) => Some("config"),
        Command::Restore { .. } => Some("restore"),
        Command::Import { .. } => Some("import"),
        Command::Health => Some("health"),
        Command::Completions { .. } => Some("completions"),
        Command::Man { .. } => Some("man"),
        Command::Keys { .. }
        | Command::Login(_)
        | Command::Query(_)
        | Command::Backup { .. }
        | Command::Verify
        | Command::Seal
        | Command::Merge => None,
    }
}

fn read_file(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path)
        .map_err(|source| ConfigError::File { path: path.to_owned(), source })
}

/// Returns the flags as settings, `--set` first: a dedicated flag takes precedence.
fn flags(common: &Common, listen: Option<&str>) -> Result<Vec<Flag>, CliError> {
    let mut flags = Vec::new();
    for set in &common.set {
        let (key, value) = set
            .split_once('=')
            .ok_or_else(|| CliError::Usage(format!("--set {set:?} is not KEY=VALUE")))?;
        let (key, value, spelled) = (key.to_owned(), value.to_owned(), "--set".to_owned());
        flags.push(Flag { key, value, spelled });
    }
    let own =
        [("server.data", "--data", common.data.as_deref()), ("server.listen", "--listen", listen)];
    for (key, spelled, value) in own {
        flags.extend(value.map(|value| Flag {
            key: key.to_owned(),
            value: value.to_owned(),
            spelled: spelled.to_owned(),
        }));
    }
    Ok(flags)
}
