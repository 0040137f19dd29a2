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
        let (of_disk, bytes_max) = (directory.clone(), self.settings.bytes_max);
        let prepare = move || {
            of_disk.prepare(bytes_max)?;
            Ok(!of_disk.exists())
        };
        let is_new = blocking(prepare).await?;
        let fetched = match self.fetch_once(directory, remote, head).await {
            Err(error) if !is_new && error.may_be_of_directory() => {
                tracing::warn!(%error, "everything of a repository is fetched again");
                remove(directory).await?;
                self.fetch_once(directory, remote, head).await
            }
            outcome => outcome,
        };
        if fetched.as_ref().is_err_and(|error| is_new || error.is_about_size()) {
            // Nobody needs what is there.
            remove(directory).await?;
        }
        fetched
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
        self.make_room().await?;
        let session = self.session(remote, self.settings.bytes_max).await?;
        let fetching = async {
            tokio::select! {
                fetched = self.run_fetch(directory, remote, head, &session) => fetched,
                error = self.space_exceeded(directory) => Err(error),
            }
        };
        let fetched = within(self.settings.fetch_timeout, fetching).await;
        if let Err(error) = fetched {
            let error = session.explained(error);
            // Git does not say that a process of its own was killed at the limit of a file.
            let reason = if error.may_be_damage() { self.excess(directory).await } else { None };
            return Err(reason.unwrap_or(error));
        }
        match self.excess(directory).await {
            Some(error) => Err(error),
            None => self.fetched(directory).await,
        }
    }

    /// Makes an empty repository, without templates and with them without hooks.
    async fn initialise(
        &self,
        directory: &GitDirectory,
        head: &RemoteHead,
    ) -> Result<(), GitError> {
        // What an interrupted attempt left.
        remove(directory).await?;
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

    /// Deletes what was fetched of other repositories if that is too much together.
    async fn make_room(&self) -> Result<(), GitError> {
        let root = self.root.clone();
        let kept = self.settings.total_bytes_max.saturating_sub(self.settings.bytes_max);
        match blocking(move || root.shrink_to(kept)).await? {
            true => Ok(()),
            false => Err(GitError::NoSpace("repositories.git_total_bytes_max is reached")),
        }
    }

    /// Waits until a directory takes more space than it may.
    async fn space_exceeded(&self, directory: &GitDirectory) -> GitError {
        loop {
            sleep(limits::SIZE_PERIOD).await;
            if let Some(error) = self.excess(directory).await {
                return error;
            }
        }
    }

    /// Returns what is wrong with the space that a directory takes.
    async fn excess(&self, directory: &GitDirectory) -> Option<GitError> {
        let (of_disk, root) = (directory.clone(), self.root.clone());
        let measured = blocking(move || Ok((of_disk.bytes(), root.disk_free()?))).await;
        match measured {
            Ok((bytes, _)) if bytes >= self.settings.bytes_max => Some(too_large()),
            Ok((_, free)) if free < self.settings.disk_free_bytes => {
                Some(GitError::NoSpace("less than repositories.disk_free_bytes would stay free"))
            }
            Ok(_) => None,
            Err(error) => Some(error),
        }
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

async fn remove(directory: &GitDirectory) -> Result<(), GitError> {
    let of_disk = directory.clone();
    blocking(move || of_disk.remove()).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, GitError> {
    match spawn_blocking(work).await {
        Ok(outcome) => Ok(outcome?),
        Err(error) => Err(std::io::Error::other(error).into()),
    }
}
