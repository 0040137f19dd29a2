//! The settings of snapshots.

use std::path::{Path, PathBuf};

use super::capture::SandboxMode;
use crate::platform::settings::{ByteSize, Period, SettingValue, quoted, settings_section};

settings_section! {
    /// Snapshots of pages and their comparison.
    #[derive(Clone, Debug, PartialEq)]
    "snapshots" SnapshotSettings {
        /// The executable of Chromium. `""` looks for `chromium`, `chromium-browser`,
        /// `google-chrome` and `google-chrome-stable` on the PATH.
        browser: BrowserPath = "";
        /// Whether the processes of pages run in Chromium's sandbox: `on`, `off`, or `auto`, which
        /// is `on` unless the server runs as root, for which Chromium has none.
        sandbox: SandboxMode = "auto";
        /// How many pages are captured at the same time. Each takes 100 to 500 MiB of memory, which
        /// is not part of `memory.limit`.
        captures_at_once: usize = "2";
        /// How many pairs of images are compared at the same time.
        comparisons_at_once: usize = "1";
        /// How much of an image may differ, in percent, before a comparison does not pass, unless
        /// the request says otherwise.
        threshold: Percentage = "0.1";
        /// How long snapshots and comparisons are kept. Baselines are kept longer.
        retention: Period = "90d";
        /// How much disk space images may take. Beyond it nothing is captured.
        images_bytes_max: ByteSize = "10GiB";
        /// How long the URLs of images are valid. They need no key.
        image_url_lifetime: Period = "24h";
    }
}

/// The path of the browser, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrowserPath(Option<PathBuf>);

/// A percentage from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentage(f64);

impl BrowserPath {
    /// Returns the path, if there is one.
    pub fn get(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl Percentage {
    /// Returns the percentage of a number.
    pub fn new(percent: f64) -> Option<Self> {
        (0.0..=100.0).contains(&percent).then_some(Self(percent))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl SettingValue for BrowserPath {
    const EXPECTS: &'static str = "an absolute path such as \"/usr/bin/chromium\", or \"\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(Self(None)),
            path if Path::new(path).is_absolute() => Ok(Self(Some(path.into()))),
            other => Err(Self::mismatch(&format!("{other:?}"))),
        }
    }

    fn to_toml(&self) -> String {
        quoted(&self.get().map_or_else(String::new, |path| path.to_string_lossy().into_owned()))
    }
}

impl SettingValue for Percentage {
    const EXPECTS: &'static str = "a percentage from 0 to 100, such as \"0.1\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let percent = text.parse().ok().and_then(Self::new);
        percent.ok_or_else(|| Self::mismatch(&format!("{text:?}")))
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        let percent = u8::try_from(n).ok().and_then(|n| Self::new(n.into()));
        percent.ok_or_else(|| Self::mismatch(&n.to_string()))
    }

    fn to_toml(&self) -> String {
        quoted(&self.0.to_string())
    }
}

impl SettingValue for SandboxMode {
    const EXPECTS: &'static str = "\"auto\", \"on\" or \"off\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            other => Err(Self::mismatch(&format!("{other:?}"))),
        }
    }

    fn to_toml(&self) -> String {
        quoted(match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
        })
    }
}
