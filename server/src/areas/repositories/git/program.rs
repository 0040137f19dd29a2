//! The program git, as it is set up, and what all of its commands have in common.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::command::{GitCommand, GitNetwork, GitPlace};
use super::directory::{GitDirectory, GitLease, GitRoot};
use super::error::GitError;
use super::limits;
use super::names::UrlSchemes;
use super::process::{GitProcess, within};
use super::remote::Remote;
use crate::platform::vetting_proxy::{Dial, ProxyLimits, VettingProxy};

/// How git is set up.
#[derive(Clone, Debug)]
pub(in crate::areas::repositories) struct GitSettings {
    pub(in crate::areas::repositories) schemes: UrlSchemes,
    pub(in crate::areas::repositories) ca_file: Option<PathBuf>,
    pub(in crate::areas::repositories) fetch_timeout: Duration,
    /// Bytes of what is fetched of a repository.
    pub(in crate::areas::repositories) bytes_max: u64,
    /// Bytes of what is fetched of all repositories.
    pub(in crate::areas::repositories) total_bytes_max: u64,
    /// Bytes that stay free on the disk.
    pub(in crate::areas::repositories) disk_free_bytes: u64,
    /// Files of a commit.
    pub(in crate::areas::repositories) files_max: usize,
    /// The program that answers for the token.
    pub(in crate::areas::repositories) askpass: PathBuf,
}

/// The system's git.
pub(in crate::areas::repositories) struct Git {
    pub(super) settings: GitSettings,
    dialler: Arc<dyn Dial>,
    pub(super) root: GitRoot,
    /// Whether git is installed; asked once if it is.
    version: OnceCell<()>,
}

/// A command's way to a remote repository.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) network: GitNetwork,
    proxy: Option<VettingProxy>,
}

impl std::fmt::Debug for Git {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Git").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Git {
    /// Returns git, whose directories are in `root`, an absolute path, and which reaches what
    /// `dialler` connects to.
    pub(in crate::areas::repositories) fn new(
        settings: GitSettings,
        dialler: Arc<dyn Dial>,
        root: PathBuf,
    ) -> Self {
        Self { settings, dialler, root: GitRoot::new(root), version: OnceCell::new() }
    }

    /// Returns the schemes of URLs that are allowed.
    pub(in crate::areas::repositories) fn schemes(&self) -> &UrlSchemes {
        &self.settings.schemes
    }

    /// Leases the directory of a repository, whose name is that of a file.
    pub(in crate::areas::repositories) fn lease(&self, name: &str) -> GitLease {
        self.root.lease(name)
    }

    /// Deletes the directories of repositories that are not used.
    pub(in crate::areas::repositories) fn retain(
        &self,
        is_used: impl Fn(&str) -> bool,
    ) -> std::io::Result<()> {
        self.root.retain(is_used)
    }

    /// Returns where a command runs. Fails without git.
    pub(super) async fn place(
        &self,
        directory: Option<&GitDirectory>,
    ) -> Result<GitPlace, GitError> {
        let home = self.root.home()?;
        let place = GitPlace { home, repository: None };
        self.version.get_or_try_init(|| check_version(place.clone())).await?;
        let repository = directory.map(|directory| directory.path().to_owned());
        Ok(GitPlace { repository, ..place })
    }

    /// Opens the way to a remote repository, for so many bytes.
    pub(super) async fn session(
        &self,
        remote: &Remote,
        bytes_max: u64,
    ) -> Result<Session, GitError> {
        let scheme = remote.url.scheme().to_owned();
        if !self.settings.schemes.allow(&scheme) {
            return Err(GitError::Scheme(scheme));
        }
        // A handshake of TLS and the heads of responses.
        let bytes_max = bytes_max.saturating_add(1 << 20);
        let limits = ProxyLimits { bytes_max, connections_max: limits::CONNECTIONS_MAX };
        let proxy = match scheme.as_str() {
            "file" => None,
            _ => Some(VettingProxy::start(Arc::clone(&self.dialler), limits).await?),
        };
        let network = GitNetwork {
            scheme,
            proxy: proxy.as_ref().map(VettingProxy::url),
            ca_file: self.settings.ca_file.clone(),
            askpass: remote.token.as_ref().map(|_| self.settings.askpass.clone()),
        };
        Ok(Session { network, proxy })
    }
}

impl Session {
    /// Returns an error that says why there was no connection, which git does not know.
    pub(super) fn explained(&self, error: GitError) -> GitError {
        let Some(proxy) = &self.proxy else { return error };
        if *proxy.exhaustion().borrow() {
            return GitError::TooLarge("more was sent than repositories.git_bytes_max".to_owned());
        }
        if !matches!(error, GitError::Unreachable(_) | GitError::Failed(_)) {
            return error;
        }
        let counts = proxy.counts();
        match (counts.refusals.first(), counts.failures.first()) {
            (Some(refusal), _) => GitError::Refused(refusal.reason.clone()),
            (None, Some(failure)) => GitError::Unreachable(failure.reason.clone()),
            (None, None) => error,
        }
    }
}

/// Fails unless there is a git that is new enough.
async fn check_version(place: GitPlace) -> Result<(), GitError> {
    let command = GitCommand::local(place, &["version"]);
    let asking = async { GitProcess::start(&command, None).await?.output(1_024).await };
    let written = within(limits::COMMAND_TIMEOUT, asking)
        .await
        .map_err(|error| GitError::Unavailable(error.to_string()))?;
    let text = String::from_utf8_lossy(&written);
    let (major, minor) = limits::VERSION_MIN;
    match version(&text) {
        Some(found) if found >= limits::VERSION_MIN => Ok(()),
        _ => Err(GitError::Unavailable(format!(
            "version {major}.{minor} is required, and this is {:?}",
            text.trim()
        ))),
    }
}

/// Returns the version in `git version 2.39.5 (…)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared() {
        assert_eq!(version("git version 2.39.5 (Apple Git-154)\n"), Some((2, 39)));
        assert_eq!(version("git version 2.47\n"), None, "a third number follows everywhere");
        assert_eq!(version("sh: git: not found"), None);
    }
}
