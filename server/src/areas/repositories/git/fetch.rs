//! Fetching: the newest commit of a branch, without those before it.

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::command::GitCommand;
use super::directory::GitDirectory;
use super::error::GitError;
use super::limits;
use super::process::{GitProcess, within};
use super::program::{Git, Session};
use super::remote::{Remote, RemoteHead, input_of};
use crate::areas::repositories::object_id::ObjectId;

/// What points to the commit that was fetched last.
const FETCHED: &str = "refs/telltale/fetched";

impl Git {
    /// Fetches the commit that a branch is at, and returns it: another one than `head` if the
    /// branch has moved meanwhile. Objects that are here already are not fetched again.
    pub(in crate::areas::repositories) async fn fetch(
        &self,
        directory: &GitDirectory,
        remote: &Remote,
        head: &RemoteHead,
    ) -> Result<ObjectId, GitError> {
        let of_disk = directory.clone();
        let is_new = blocking(move || {
            if of_disk.is_worn() {
                of_disk.remove()?;
            }
            Ok(!of_disk.exists())
        })
        .await?;
        match self.fetch_once(directory, remote, head).await {
            Err(error) if !is_new && error.may_be_damage() => {
                tracing::warn!(%error, "everything of a repository is fetched again");
                let of_disk = directory.clone();
                blocking(move || of_disk.remove()).await?;
                self.fetch_once(directory, remote, head).await
            }
            outcome => outcome,
        }
    }

    async fn fetch_once(
        &self,
        directory: &GitDirectory,
        remote: &Remote,
        head: &RemoteHead,
    ) -> Result<ObjectId, GitError> {
        let of_disk = directory.clone();
        if !blocking(move || Ok(of_disk.exists())).await? {
            self.initialise(directory, head).await?;
        }
        let session = self.session(remote, self.settings.bytes_max).await?;
        let fetching = async {
            tokio::select! {
                fetched = self.run_fetch(directory, remote, head, &session) => fetched,
                error = self.size_exceeded(directory) => Err(error),
            }
        };
        let fetched = within(self.settings.fetch_timeout, fetching).await;
        if let Err(error) = fetched {
            let error = session.explained(error);
            // Git does not say that a process of its own was killed at the limit of a file.
            let is_full = error.may_be_damage() && self.is_full(directory).await;
            return Err(if is_full { too_large() } else { error });
        }
        self.fetched(directory).await
    }

    /// Makes an empty repository, without templates and with them without hooks.
    async fn initialise(
        &self,
        directory: &GitDirectory,
        head: &RemoteHead,
    ) -> Result<(), GitError> {
        let of_disk = directory.clone();
        // What an interrupted attempt left.
        blocking(move || of_disk.remove()).await?;
        let format = match head.commit.as_bytes().len() {
            20 => "--object-format=sha1",
            _ => "--object-format=sha256",
        };
        let arguments = ["init", "--bare", "--quiet", "--template=", format];
        let command = GitCommand {
            file_bytes_max: limits::REFS_BYTES_MAX,
            ..GitCommand::local(self.place(Some(directory)).await?, &arguments)
        };
        let making = async { GitProcess::start(&command, None).await?.finish().await };
        within(limits::COMMAND_TIMEOUT, making).await
    }

    async fn run_fetch(
        &self,
        directory: &GitDirectory,
        remote: &Remote,
        head: &RemoteHead,
        session: &Session,
    ) -> Result<(), GitError> {
        let refspec = format!("+{}:{FETCHED}", head.branch.full_ref());
        let url = remote.url.to_string();
        let arguments = [
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--",
            &url,
            &refspec,
        ];
        let command = GitCommand {
            url: Some(url.clone()),
            network: Some(session.network.clone()),
            file_bytes_max: self.settings.bytes_max,
            cpu: self.settings.fetch_timeout,
            input: input_of(remote),
            ..GitCommand::local(self.place(Some(directory)).await?, &arguments)
        };
        GitProcess::start(&command, remote.token.as_ref()).await?.finish().await
    }

    /// Waits until a directory is larger than it may be.
    async fn size_exceeded(&self, directory: &GitDirectory) -> GitError {
        loop {
            sleep(limits::SIZE_PERIOD).await;
            if self.is_full(directory).await {
                return too_large();
            }
        }
    }

    /// Returns whether a directory is as large as it may be.
    async fn is_full(&self, directory: &GitDirectory) -> bool {
        let of_disk = directory.clone();
        let bytes = spawn_blocking(move || of_disk.bytes()).await.unwrap_or(0);
        bytes >= self.settings.bytes_max
    }

    async fn fetched(&self, directory: &GitDirectory) -> Result<ObjectId, GitError> {
        let wanted = format!("{FETCHED}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        let command = GitCommand::local(self.place(Some(directory)).await?, &arguments);
        let asking =
            async { GitProcess::start(&command, None).await?.output(limits::REFS_BYTES_MAX).await };
        let written = within(limits::COMMAND_TIMEOUT, asking).await?;
        let text = String::from_utf8_lossy(&written);
        let damaged = |_| GitError::Damaged("the fetched commit cannot be found".to_owned());
        ObjectId::parse(text.trim_end()).map_err(damaged)
    }
}

fn too_large() -> GitError {
    GitError::TooLarge("what is fetched exceeds repositories.git_bytes_max".to_owned())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, GitError> {
    match spawn_blocking(work).await {
        Ok(outcome) => Ok(outcome?),
        Err(error) => Err(std::io::Error::other(error).into()),
    }
}
