//! `telltale config`: prints the effective settings, an example file, or the reference of all
//! settings.

use super::args::{Common, ConfigArgs};
use super::error::CliError;
use super::load;
use super::output::out;
use crate::config::{Environment, reference};

/// Prints the requested form of the settings.
pub(super) fn print(
    common: &Common,
    args: &ConfigArgs,
    environment: &Environment,
) -> Result<(), CliError> {
    if args.reference {
        return out(&reference());
    }
    let loaded = load::load_config(common, args.listen.listen.as_deref(), environment)?;
    out(&if args.example { loaded.to_example() } else { loaded.to_toml() })
}
