//! The command line: what can be typed, and what the help says. No work is done here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// One program that watches and operates your systems.
#[derive(Debug, Parser)]
#[command(name = "telltale", bin_name = "telltale", version, propagate_version = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What every command takes: where the settings and the data are.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// The configuration file (TOML) [env: TELLTALE_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Settings")]
    pub(super) config: Option<PathBuf>,
    /// The data directory, as the setting server.data
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub(super) data: Option<String>,
    /// Any setting, e.g. --set limits.batch=unlimited (see `telltale config --reference`)
    #[arg(long, global = true, value_name = "KEY=VALUE", help_heading = "Settings")]
    pub(super) set: Vec<String>,
    #[command(flatten)]
    pub(super) remote: RemoteArgs,
}

/// A remote server, for keys, query, backup, verify, seal and merge.
#[derive(Debug, Args)]
pub(super) struct RemoteArgs {
    /// A remote server, as http://HOST:PORT, instead of the one on the data directory [env: TELLTALE_URL]
    #[arg(long, global = true, value_name = "URL", help_heading = "Remote server")]
    pub(super) url: Option<String>,
    /// The API key for --url; other users of this machine can see flags, but not the variable [env: TELLTALE_KEY]
    #[arg(long, global = true, value_name = "KEY", help_heading = "Remote server")]
    pub(super) key: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the server
    Serve(Listen),
    /// Print the effective settings as TOML, each with where it comes from
    Config(ConfigArgs),
    /// Create, list and revoke API keys
    Keys {
        #[command(subcommand)]
        action: KeysAction,
    },
    /// Load metric points from files; an interrupted import goes on where it stopped
    Import {
        #[command(subcommand)]
        format: ImportFormat,
    },
    /// Query a metric and show the answer
    Query(QueryArgs),
    /// Copy the data into a new directory, while the server runs or not
    Backup {
        /// The directory to make; must not exist. On the server's machine, with --url
        dir: PathBuf,
    },
    /// Put a copy made by `backup` into an absent or empty data directory
    Restore {
        /// The copy
        dir: PathBuf,
    },
    /// Read and check all data, without changing any
    Verify,
    /// Move the points in memory into blocks now
    Seal,
    /// Merge blocks to their final form now and remove unused files
    Merge,
    /// Check that the server on the data directory is ready; exits with 1 if it is not
    Health,
    /// Print the script that completes commands in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page in roff, or write the pages of all commands into a directory
    Man {
        /// The directory; made if it does not exist
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(super) struct Listen {
    /// Address and port, as the setting server.listen
    #[arg(long, value_name = "ADDR", help_heading = "Settings")]
    pub(super) listen: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    pub(super) listen: Listen,
    /// Print all settings with their defaults and meanings as Markdown instead
    #[arg(long, conflicts_with = "example")]
    pub(super) reference: bool,
    /// Print a file to begin with: each setting with its meaning, commented out where it has its default
    #[arg(long)]
    pub(super) example: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeysAction {
    /// Create a key and print it; it is shown only once
    Create(NewKeyArgs),
    /// List all keys, the newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Refuse a key from now on
    Revoke {
        /// The id of the key: the part between `tt_` and the second `_`
        id: String,
        /// Revoke it without asking, even if it is the last admin key
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct NewKeyArgs {
    /// What the key is for
    #[arg(long)]
    pub(super) name: String,
    /// The email of the person or program that acts through the key
    #[arg(long, value_name = "EMAIL")]
    pub(super) user: String,
    /// What the key may do: ingest, work, read, write, admin (repeat or separate by commas)
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', required = true)]
    pub(super) scopes: Vec<String>,
    /// A quota of its own, per minute: batch=unlimited, query=6000 (classes batch, query, single, other)
    #[arg(long = "limit", value_name = "CLASS=QUOTA", value_delimiter = ',')]
    pub(super) limits: Vec<String>,
    /// The key may stand in a public web page: it can send telemetry and errors, and nothing else
    #[arg(long)]
    pub(super) public_ingest: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum ImportFormat {
    /// Comma-separated files: one point per row
    Csv(CsvArgs),
    /// Newline-delimited JSON: one metric input per line, as POST /api/v1/metrics takes it
    Ndjson(ImportArgs),
}

/// What both formats take.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Files, also packed (.gz), directories that are searched for files of the format, and - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Fail when any row is rejected (valid rows are stored anyway)
    #[arg(long)]
    pub(super) strict: bool,
    /// Forget how far an earlier import of these files came and begin anew
    #[arg(long)]
    pub(super) restart: bool,
    /// Whether the rows in doubt after an interruption are in the data; asked for only when it matters
    #[arg(long, value_name = "ANSWER")]
    pub(super) in_doubt: Option<InDoubt>,
}

/// What the user knows of rows whose storage was not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum InDoubt {
    /// They are in the data: go on after them
    Stored,
    /// They are not: send them again
    Lost,
}

#[derive(Debug, Args)]
pub(super) struct CsvArgs {
    #[command(flatten)]
    pub(super) import: ImportArgs,
    /// The metric of all rows [default: named after the file]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["prefix", "name_from"])]
    pub(super) metric: Option<String>,
    /// Put before names that come from files, e.g. `nab.`
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub(super) prefix: String,
    /// How a file names its metric: by its name without ending, or by its path with dots for slashes
    #[arg(long, value_name = "WHAT", default_value = "stem")]
    pub(super) name_from: NameFrom,
    /// The type of the metric: gauge, counter, distribution, set
    #[arg(long = "type", value_name = "TYPE", default_value = "gauge")]
    pub(super) kind: String,
    /// The column of times: its header, or its number from 1 with --no-header
    #[arg(long, value_name = "COLUMN", default_value = "timestamp")]
    pub(super) time_column: String,
    /// How times are written: ISO 8601 (UTC when without zone; a date is its midnight), or a number since 1970 in this unit
    #[arg(long, value_name = "FORM", default_value = "iso")]
    pub(super) time_format: TimeFormat,
    /// The column of values
    #[arg(long, value_name = "COLUMN", default_value = "value")]
    pub(super) value_column: String,
    /// A column of tag values, as COLUMN or KEY=COLUMN; an empty cell is no tag
    #[arg(long = "tag-column", value_name = "[KEY=]COLUMN")]
    pub(super) tag_columns: Vec<String>,
    /// A tag of all rows
    #[arg(long = "tag", value_name = "KEY=VALUE")]
    pub(super) tags: Vec<String>,
    /// What separates cells: one ASCII character, or `tab`
    #[arg(long, value_name = "CHAR", default_value = ",")]
    pub(super) delimiter: String,
    /// The first row is data; columns are numbers from 1
    #[arg(long)]
    pub(super) no_header: bool,
}

/// How a file names its metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum NameFrom {
    /// `nab/realTraffic/speed_6005.csv` is `speed_6005`
    Stem,
    /// `nab/realTraffic/speed_6005.csv` is `nab.realTraffic.speed_6005`
    Path,
}

/// How times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TimeFormat {
    /// 2014-02-14 14:30:00, 2014-02-14T14:30:00.5+01:00, 2014-02-14
    Iso,
    /// Seconds, with or without a fraction
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

#[derive(Debug, Args)]
pub(super) struct QueryArgs {
    /// The metric
    pub(super) metric: String,
    /// The first instant: ISO 8601, a date, epoch seconds or milliseconds, or now-2h [default: one hour before --to]
    #[arg(long, value_name = "TIME")]
    pub(super) from: Option<String>,
    /// The instant after the last, in the same forms; a date is the end of that day [default: now]
    #[arg(long, value_name = "TIME")]
    pub(super) to: Option<String>,
    /// The time up to now, e.g. 24h, instead of --from and --to
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["from", "to"])]
    pub(super) last: Option<String>,
    /// 1m, 5m, 1h or 1d [default: by the length of the range]
    #[arg(long)]
    pub(super) interval: Option<String>,
    /// last, avg, min, max, sum, rate, p50, p90, p95, p99, count; several with commas [default: by the type]
    #[arg(long, value_name = "NAME")]
    pub(super) aggregation: Option<String>,
    /// A tag that must match: k=v, k=a,b (one of), k=!v (not), k=v* (begins with), k= (no such tag)
    #[arg(long = "tags", alias = "tag", value_name = "KEY=VALUE")]
    pub(super) tags: Vec<String>,
    /// Tag keys whose values make groups
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub(super) group_by: Vec<String>,
    #[command(flatten)]
    pub(super) show: Show,
}

/// How the answer is shown; a table when nothing is said.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct Show {
    /// One line of bars per group
    #[arg(long)]
    pub(super) sparkline: bool,
    /// One row per bucket
    #[arg(long)]
    pub(super) table: bool,
    /// The answer of the server as it is
    #[arg(long)]
    pub(super) json: bool,
}
