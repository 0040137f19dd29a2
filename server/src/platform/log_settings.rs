//! The settings of the log.

use tracing_subscriber::EnvFilter;

use super::settings::{SettingValue, quoted, settings_section};

settings_section! {
    /// The log on standard error.
    #[derive(Clone, Debug, PartialEq)]
    "log" LogSettings {
        /// Format of the lines; `auto` is `human` on a terminal, otherwise `json`.
        format: LogFormat = "auto";
        /// Minimum severity (`error`, `warn`, `info`, `debug`, `trace`, `off`), in general and for
        /// single modules. Libraries log errors only, unless they are named, as in `info,h2=warn`:
        /// otherwise clients could cause any number of lines.
        level: Directives = "info", variable "TELLTALE_LOG";
        /// Maximum number of queued lines. When nobody reads them or they cannot be written,
        /// further lines are dropped and counted.
        queue_lines: usize = "8192";
    }
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Human-readable if standard error is a terminal, JSON otherwise.
    Auto,
    /// Human-readable.
    Human,
    /// One JSON object per line.
    Json,
}

impl SettingValue for LogFormat {
    const EXPECTS: &'static str = "\"auto\", \"human\" or \"json\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "human" => Ok(Self::Human),
            "json" => Ok(Self::Json),
            _ => Err(Self::mismatch(&format!("{text:?}"))),
        }
    }

    fn to_toml(&self) -> String {
        quoted(match self {
            Self::Auto => "auto",
            Self::Human => "human",
            Self::Json => "json",
        })
    }
}

/// Which log lines are written: a general level, and levels of single modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directives(String);

impl Directives {
    /// Returns the directives for warnings and errors of all modules.
    pub fn warnings() -> Self {
        Self("warn".to_owned())
    }

    /// Returns the directives as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SettingValue for Directives {
    const EXPECTS: &'static str =
        "a level such as \"info\", or \"warn,telltale_server::http=debug\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let plausible = !text.trim().is_empty() && EnvFilter::builder().parse(text).is_ok();
        // The filter takes any single word for a module name, so a misspelled level would silence
        // the log.
        let level_known =
            text.split(',').map(str::trim).filter(|part| !part.contains(['=', '['])).all(|part| {
                part.contains("::") || part.parse::<tracing::level_filters::LevelFilter>().is_ok()
            });
        if plausible && level_known {
            Ok(Self(text.to_owned()))
        } else {
            Err(Self::mismatch(&format!("{text:?}")))
        }
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}
