//! The command line: a command, then pairs of `--name value`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::outcome::{Failure, Outcome};

/// The options of all commands.
const NAMES: [&str; 38] = [
    "boundaries",
    "bytes",
    "bytes-per-point",
    "cache",
    "clients",
    "confirm",
    "delay",
    "fault",
    "first",
    "flush",
    "folder",
    "forget",
    "gateways",
    "get",
    "hold",
    "lanes",
    "level0-mib",
    "listen",
    "mib",
    "out",
    "prefix",
    "put",
    "puts",
    "races",
    "repeats",
    "rig",
    "rounds",
    "seal",
    "seal-mib",
    "seconds",
    "seed",
    "seeds",
    "set-clock",
    "settle",
    "skew",
    "store",
    "to",
    "writer",
];

/// The options of one command.
#[derive(Debug, Default)]
pub(crate) struct Options {
    values: BTreeMap<String, String>,
}

impl Options {
    /// Parses the arguments that follow the command.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut values = BTreeMap::new();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let Some(name) = argument.strip_prefix("--") else {
                return Err(Failure::Usage(format!("expected --name, not '{argument}'")));
            };
            if !NAMES.contains(&name) {
                return Err(Failure::Usage(format!("--{name} is unknown")));
            }
            let Some(value) = arguments.next() else {
                return Err(Failure::Usage(format!("--{name} needs a value")));
            };
            values.insert(name.to_owned(), value);
        }
        Ok(Self { values })
    }

    /// Returns the value of an option, or the default.
    pub(crate) fn get<T: FromStr>(&self, name: &str, default: T) -> Outcome<T> {
        match self.values.get(name) {
            None => Ok(default),
            Some(value) => value
                .parse()
                .map_err(|_| Failure::Usage(format!("--{name}: cannot read '{value}'"))),
        }
    }

    /// Returns the value of an option that must be within these limits.
    pub(crate) fn within<T>(&self, name: &str, default: T, limits: RangeInclusive<T>) -> Outcome<T>
    where
        T: FromStr + PartialOrd + Display,
    {
        let value = self.get(name, default)?;
        if limits.contains(&value) {
            return Ok(value);
        }
        let (least, most) = limits.into_inner();
        Err(Failure::Usage(format!("--{name}: {value} is not within {least} to {most}")))
    }

    /// Returns the value of an option that has no default.
    pub(crate) fn required(&self, name: &str) -> Outcome<String> {
        let value = self.values.get(name).cloned();
        value.ok_or_else(|| Failure::Usage(format!("--{name} is required")))
    }

    /// Returns the parts of a value that commas separate.
    pub(crate) fn list<T: FromStr>(&self, name: &str, default: &str) -> Outcome<Vec<T>> {
        let value = self.get(name, default.to_owned())?;
        let parts = value.split(',').map(|part| {
            part.parse().map_err(|_| Failure::Usage(format!("--{name}: cannot read '{part}'")))
        });
        parts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_pairs() {
        let options = parse("--rounds 3 --mib 1,2").unwrap();
        assert_eq!(options.get("rounds", 0_u32).unwrap(), 3);
        assert_eq!(options.get("seed", 7_u32).unwrap(), 7);
        assert_eq!(options.list::<u32>("mib", "").unwrap(), [1, 2]);
    }

    #[test]
    fn malformed_options_are_refused() {
        assert!(parse("rounds 3").is_err());
        assert!(parse("--rounds").is_err());
        assert!(parse("--rounds x").unwrap().get("rounds", 0_u32).is_err());
        assert!(parse("").unwrap().required("store").is_err());
        assert!(parse("--round 3").is_err());
        let options = parse("--lanes 4").unwrap();
        assert!(options.within("lanes", 1, 1..=3).is_err());
        assert_eq!(options.within("lanes", 1, 1..=4).unwrap(), 4);
    }
}
