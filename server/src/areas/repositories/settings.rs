//! The settings of repositories.

use std::path::{Path, PathBuf};

use super::git::UrlSchemes;
use crate::platform::settings::{ByteSize, Period, SettingValue, quoted, settings_section};

settings_section! {
    /// Repositories of source code.
    #[derive(Clone, Debug, PartialEq)]
    "repositories" RepositoriesSettings {
        /// The schemes of URLs that git may fetch from, of `https`, `http` and `file`. With `file`,
        /// whoever may write can have every repository on this machine indexed that the server can
        /// read.
        schemes: UrlSchemes = "https";
        /// A file with certificates of authorities, in PEM, that git trusts instead of those of the
        /// system. `""` is those of the system.
        ca_file: CertificateFile = "";
        /// How many repositories are synced at the same time.
        syncs_at_once: usize = "1";
        /// How long git may take to fetch a commit.
        fetch_timeout: Period = "5m";
        /// How often it is looked whether the branches of repositories with `auto_sync` have moved.
        auto_sync_every: Period = "15m";
        /// How much disk space the fetched objects of a repository may take.
        git_bytes_max: ByteSize = "2GiB";
        /// How much disk space the fetched objects of all repositories may take. They are a cache:
        /// those that were not fetched into for the longest time are deleted first.
        git_total_bytes_max: ByteSize = "16GiB";
        /// How much disk space fetching leaves free.
        disk_free_bytes: ByteSize = "1GiB";
        /// How many files a commit may have.
        files_max: usize = "200000";
        /// How large an indexed file may be. Larger ones are left out, and counted.
        file_bytes_max: ByteSize = "1MiB";
        /// How much text of a repository may be indexed. A sync takes eight times as much memory
        /// while it runs.
        text_bytes_max: ByteSize = "128MiB";
        /// How much memory indexes in use may take together, at most an eighth of `memory.limit`,
        /// and so each of them: a repository with a larger one is not synced. Those that were not
        /// used for the longest time are read again when they are.
        index_memory: ByteSize = "256MiB";
    }
}

/// The path of a file with certificates, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateFile(Option<PathBuf>);

impl CertificateFile {
    /// Returns the path, if there is one.
    pub fn get(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl SettingValue for CertificateFile {
    const EXPECTS: &'static str = "an absolute path such as \"/etc/telltale/ca.pem\", or \"\"";

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
