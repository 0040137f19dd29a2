//! The options of the command and the environment variables: parts, peers, scale and directories.
//! The only reader of the environment.

use std::path::PathBuf;

use crate::outcome::Outcome;

pub(crate) const USAGE: &str = "usage: compare [--scale small|full] [--parts a,b] [--peers a,b] [--runs N] [--report]

  --scale   the size of the data sets (small)
  --parts   tsbs-small tsbs-medium doubles mix latencies events late cardinality month churn
            (all)
  --peers   telltale telltale-interval victoria-metrics influxdb clickhouse duckdb (all)
  --runs    repetitions of each part, with the peers in turn; medians are reported (2)
  --report  write the report of earlier measurements without measuring

Environment: TELLTALE_BIN and VICTORIA_METRICS_BIN are the paths of programs to measure; COMPARE_DIR is the directory of data,
peers and results (default: telltale/compare in the cache directory of the user).";

/// The size of the data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Small,
    Full,
}

impl Scale {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Full => "full",
        }
    }

    /// Returns the value of this scale.
    pub(crate) fn pick<T>(self, small: T, full: T) -> T {
        match self {
            Self::Small => small,
            Self::Full => full,
        }
    }
}

/// The options of a run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) scale: Scale,
    /// Names of parts; empty means all.
    pub(crate) parts: Vec<String>,
    /// Names of peers; empty means all.
    pub(crate) peers: Vec<String>,
    pub(crate) runs: usize,
    pub(crate) report_only: bool,
    /// The directory of data, peers, logs and results.
    pub(crate) home: PathBuf,
    pub(crate) telltale: Option<PathBuf>,
    pub(crate) victoria_metrics: Option<PathBuf>,
}

impl Options {
    pub(crate) fn read() -> Outcome<Self> {
        let home = match variable("COMPARE_DIR") {
            Some(home) => PathBuf::from(home),
            None => cache()?.join("telltale/compare"),
        };
        let mut options = Self {
            scale: Scale::Small,
            parts: Vec::new(),
            peers: Vec::new(),
            runs: 2,
            report_only: false,
            home,
            telltale: variable("TELLTALE_BIN").map(PathBuf::from),
            victoria_metrics: variable("VICTORIA_METRICS_BIN").map(PathBuf::from),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--scale" => options.scale = scale(&value()?)?,
                "--parts" => options.parts = list(&value()?),
                "--peers" => options.peers = list(&value()?),
                "--runs" => options.runs = value()?.parse::<usize>()?.max(1),
                "--report" => options.report_only = true,
                _ => return Err(format!("there is no option {name}\n{USAGE}").into()),
            }
        }
        Ok(options)
    }
}

fn scale(name: &str) -> Outcome<Scale> {
    match name {
        "small" => Ok(Scale::Small),
        "full" => Ok(Scale::Full),
        _ => Err(format!("--scale is small or full, not {name}").into()),
    }
}

fn list(names: &str) -> Vec<String> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn cache() -> Outcome<PathBuf> {
    match (variable("XDG_CACHE_HOME"), variable("HOME")) {
        (Some(cache), _) => Ok(PathBuf::from(cache)),
        (None, Some(home)) => Ok(PathBuf::from(home).join(".cache")),
        (None, None) => Err("neither COMPARE_DIR nor HOME is set".into()),
    }
}

/// Returns an environment variable unless it is empty.
#[expect(clippy::disallowed_methods, reason = "the only reader of the environment")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
