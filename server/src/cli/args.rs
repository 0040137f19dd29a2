//! The command line as declared for clap: commands, flags and help texts. No work is done here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// The command line; its description in the help is that of the package.
#[derive(Debug, Parser)]
#[command(
    name = "telltale",
    bin_name = "telltale",
    about,
    long_about = None,
    version,
    propagate_version = true
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Options of every command: configuration, data directory, remote server.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// The configuration file (TOML) [env: TELLTALE_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Settings")]
    pub(super) config: Option<PathBuf>,
    /// The data directory; same as the setting server.data
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
    /// URL of a remote server, as http://HOST:PORT, to use instead of the data directory [env:
    /// TELLTALE_URL]
    #[arg(long, global = true, value_name = "URL", help_heading = "Remote server")]
    pub(super) url: Option<String>,
    /// API key for --url; other users of this machine can see flags, but not the variable [env:
    /// TELLTALE_KEY]
    #[arg(long, global = true, value_name = "KEY", help_heading = "Remote server")]
    pub(super) key: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the server
    Serve(Listen),
    /// Print the effective settings as TOML, each with its source
    Config(ConfigArgs),
    /// Create, list and revoke API keys
    Keys {
        #[command(subcommand)]
        action: KeysAction,
    },
    /// Print a link that signs in to the console, once and within ten minutes
    Login(LoginArgs),
    /// Import metric samples from files; an interrupted import resumes where it stopped
    Import {
        #[command(subcommand)]
        format: ImportFormat,
    },
    /// Query a metric and print the result
    Query(QueryArgs),
    /// Copy the data to a new directory, whether the server is running or not
    Backup {
        /// The directory to create; must not exist. With --url, a path on the server's machine
        dir: PathBuf,
    },
    /// Restore a copy made by `backup` to a missing or empty data directory
    Restore {
        /// The directory of the copy
        dir: PathBuf,
    },
    /// Read and check all data without modifying it
    Verify,
    /// Seal the samples and events in memory into blocks now
    Seal,
    /// Compact blocks to their final form now and remove unused files
    Merge,
    /// Check that the server on the data directory is ready; exits with 1 if it is not
    Health,
    /// Print the completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page in roff, or write the pages of all commands to a directory
    Man {
        /// The directory; created if it does not exist
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(super) struct Listen {
    /// Address and port to listen on; same as the setting server.listen
    #[arg(long, value_name = "ADDR", help_heading = "Settings")]
    pub(super) listen: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    pub(super) listen: Listen,
    /// Print all settings with their defaults and descriptions as Markdown instead
    #[arg(long, conflicts_with = "example")]
    pub(super) reference: bool,
    /// Print an example file: each setting with its description, commented out if it has its
    /// default
    #[arg(long)]
    pub(super) example: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeysAction {
    /// Create a key and print it; it is shown only once
    Create(NewKeyArgs),
    /// List all keys, newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key, which is refused from then on
    Revoke {
        /// The id of the key: the part between `tt_` and the second `_`
        id: String,
        /// Revoke it without confirmation, even if it is the last admin key
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct LoginArgs {
    /// The key whose permissions the session has [default: with --url the key of --key, otherwise
    /// the oldest admin key]
    #[arg(long, value_name = "ID")]
    pub(super) key_id: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct NewKeyArgs {
    /// A description of the key
    #[arg(long)]
    pub(super) name: String,
    /// The email address of the person or program that uses the key
    #[arg(long, value_name = "EMAIL")]
    pub(super) user: String,
    /// The permissions of the key: ingest, work, read, write, admin (repeat, or separate with
    /// commas)
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', required = true)]
    pub(super) scopes: Vec<String>,
    /// Quotas per minute for this key: batch=unlimited, query=6000 (classes batch, query, single,
    /// other, console)
    #[arg(long = "limit", value_name = "CLASS=QUOTA", value_delimiter = ',')]
    pub(super) limits: Vec<String>,
    /// The key may be published in a web page: it can only send telemetry and errors
    #[arg(long)]
    pub(super) public_ingest: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum ImportFormat {
    /// Comma-separated values: one sample per row
    Csv(CsvArgs),
    /// Newline-delimited JSON: one metric input per line, as in POST /api/v1/metrics
    Ndjson(ImportArgs),
}

/// Options of both formats.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Files, also compressed (.gz), directories to search for files of the format, or - for
    /// standard input
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Fail if any row is rejected (valid rows are stored anyway)
    #[arg(long)]
    pub(super) strict: bool,
    /// Discard the progress of an earlier import of these files and start over
    #[arg(long)]
    pub(super) restart: bool,
    /// Whether the rows that were being stored at an interruption are in the data; needed only if
    /// this cannot be determined
    #[arg(long, value_name = "ANSWER")]
    pub(super) in_doubt: Option<InDoubt>,
}

/// The user's knowledge about rows whose storage was not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum InDoubt {
    /// They are in the data: continue after them
    Stored,
    /// They are not in the data: send them again
    Lost,
}

#[derive(Debug, Args)]
pub(super) struct CsvArgs {
    #[command(flatten)]
    pub(super) import: ImportArgs,
    /// The metric of all rows [default: named after the file]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["prefix", "name_from"])]
    pub(super) metric: Option<String>,
    /// Prefix of metric names derived from files, e.g. `nab.`
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub(super) prefix: String,
    /// How the metric is named after a file: by the file name without extension, or by the path
    /// with dots for slashes
    #[arg(long, value_name = "WHAT", default_value = "stem")]
    pub(super) name_from: NameFrom,
    /// The type of the metric: gauge, counter, distribution, set
    #[arg(long = "type", value_name = "TYPE", default_value = "gauge")]
    pub(super) kind: String,
    /// The column of timestamps: its header, or its number starting at 1 with --no-header
    #[arg(long, value_name = "COLUMN", default_value = "timestamp")]
    pub(super) time_column: String,
    /// The format of timestamps: ISO 8601 (UTC if without a zone; a date means midnight), or a
    /// number since 1970 in this unit
    #[arg(long, value_name = "FORM", default_value = "iso")]
    pub(super) time_format: TimeFormat,
    /// The column of values
    #[arg(long, value_name = "COLUMN", default_value = "value")]
    pub(super) value_column: String,
    /// A column of tag values, as COLUMN or KEY=COLUMN; an empty cell means no tag
    #[arg(long = "tag-column", value_name = "[KEY=]COLUMN")]
    pub(super) tag_columns: Vec<String>,
    /// A tag of all rows
    #[arg(long = "tag", value_name = "KEY=VALUE")]
    pub(super) tags: Vec<String>,
    /// The cell separator: one ASCII character, or `tab`
    #[arg(long, value_name = "CHAR", default_value = ",")]
    pub(super) delimiter: String,
    /// The first row is data; columns are given as numbers starting at 1
    #[arg(long)]
    pub(super) no_header: bool,
}

/// How a metric is named after a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum NameFrom {
    /// `nab/realTraffic/speed_6005.csv` is `speed_6005`
    Stem,
    /// `nab/realTraffic/speed_6005.csv` is `nab.realTraffic.speed_6005`
    Path,
}

/// The format of timestamps.
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
    /// The name of the metric
    pub(super) metric: String,
    /// Start of the range: ISO 8601, a date, epoch seconds or milliseconds, or now-2h [default: one
    /// hour before --to]
    #[arg(long, value_name = "TIME")]
    pub(super) from: Option<String>,
    /// End of the range (exclusive), in the same forms; a date means the end of that day [default:
    /// now]
    #[arg(long, value_name = "TIME")]
    pub(super) to: Option<String>,
    /// Length of a range that ends now, e.g. 24h, instead of --from and --to
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["from", "to"])]
    pub(super) last: Option<String>,
    /// Bucket width: a number of s, m, h or d, e.g. 10s or 6h [default: by the length of the range]
    #[arg(long)]
    pub(super) interval: Option<String>,
    /// last, avg, min, max, sum, rate, p50, p90, p95, p99, count; separate several with commas
    /// [default: by the type]
    #[arg(long, value_name = "NAME")]
    pub(super) aggregation: Option<String>,
    /// A tag condition: k=v, k=a,b (one of), k=!v (not), k=v* (prefix), k= (no such tag)
    #[arg(long = "tags", alias = "tag", value_name = "KEY=VALUE")]
    pub(super) tags: Vec<String>,
    /// Tag keys to group by
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub(super) group_by: Vec<String>,
    #[command(flatten)]
    pub(super) show: Show,
}

/// The output format; a table by default.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct Show {
    /// One line of bars per group
    #[arg(long)]
    pub(super) sparkline: bool,
    /// One row per bucket
    #[arg(long)]
    pub(super) table: bool,
    /// The JSON response of the server, unchanged
    #[arg(long)]
    pub(super) json: bool,
}
