//! A process of git: started, read, and killed with everything that it has started.

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpgid};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::command::{GitCommand, GitInput};
use super::error::{self, GitError, Secrecy};
use super::limits;
use crate::platform::sealing::Secret;
use crate::platform::ticks::Ticks;

/// A process of git that runs. Killed with its process group when it is dropped.
#[derive(Debug)]
pub(super) struct GitProcess {
    group: ProcessGroup,
    /// What it writes to standard output.
    output: Option<ChildStdout>,
    input: Option<ChildStdin>,
    errors: Option<JoinHandle<Vec<u8>>>,
    /// The URL, which is left out of the words of git.
    url: Option<String>,
    /// Whether these words may be shown.
    secrecy: Secrecy,
}

/// The process group of a child.
#[derive(Debug)]
struct ProcessGroup {
    /// `None` once it is dropped.
    child: Option<Child>,
    leader: Option<Pid>,
}

impl GitProcess {
    /// Starts a command. The token is what it reads from the pipe for it.
    pub(super) async fn start(
        command: &GitCommand,
        token: Option<&Secret>,
    ) -> Result<Self, GitError> {
        let mut child = command.to_process().spawn()?;
        let (mut input, output) = (child.stdin.take(), child.stdout.take());
        let errors = child.stderr.take().map(|errors| tokio::spawn(last_words(errors)));
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let group = ProcessGroup { child: Some(child), leader };
        if command.input == GitInput::Token
            && let (Some(mut pipe), Some(token)) = (input.take(), token)
        {
            // A pipe holds all copies of the longest token, so this does not wait for git.
            let line = format!("{}\n", token.expose()).repeat(limits::TOKEN_COPIES);
            pipe.write_all(zeroize::Zeroizing::new(line).as_bytes()).await?;
        }
        let secrecy = if token.is_some() { Secrecy::TokenSent } else { Secrecy::Nothing };
        Ok(Self { group, output, input, errors, url: command.url.clone(), secrecy })
    }

    /// Returns the standard output. Only once.
    pub(super) fn take_output(&mut self) -> Result<ChildStdout, GitError> {
        self.output.take().ok_or_else(|| io::Error::other("git has no output").into())
    }

    /// Returns the standard input of a command that reads it. Only once.
    pub(super) fn take_input(&mut self) -> Result<ChildStdin, GitError> {
        self.input.take().ok_or_else(|| io::Error::other("git has no input").into())
    }

    /// Waits for the end. Fails with what git says if it failed.
    pub(super) async fn finish(mut self) -> Result<(), GitError> {
        drop(self.input.take());
        let ended = || io::Error::other("the process has ended");
        let status = self.group.child.as_mut().ok_or_else(ended)?.wait().await?;
        let errors = self.errors().await;
        match status.success() {
            true => Ok(()),
            false => Err(error::of_output(&errors, self.url.as_deref(), self.secrecy)),
        }
    }

    /// Runs until the end, and returns what it wrote: at most so many bytes.
    pub(super) async fn output(mut self, bytes_max: u64) -> Result<Vec<u8>, GitError> {
        let output = self.take_output()?;
        let mut written = Vec::new();
        output.take(bytes_max.saturating_add(1)).read_to_end(&mut written).await?;
        if written.len() as u64 > bytes_max {
            return Err(GitError::Failed("it wrote more than is expected".to_owned()));
        }
        self.finish().await?;
        Ok(written)
    }

    async fn errors(&mut self) -> String {
        match self.errors.take() {
            None => String::new(),
            Some(errors) => String::from_utf8_lossy(&errors.await.unwrap_or_default()).into_owned(),
        }
    }
}

/// Runs a command that ends by itself, within a time.
pub(super) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, GitError>>,
) -> Result<T, GitError> {
    timeout(limit, work).await.unwrap_or(Err(GitError::TimedOut(limit.as_secs())))
}

/// Reads to the end, and returns the last bytes.
async fn last_words(mut errors: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut words = Vec::new();
    let mut part = [0; 4_096];
    loop {
        match errors.read(&mut part).await {
            Ok(0) | Err(_) => return words,
            Ok(read) => {
                words.extend(part.iter().take(read));
                let superfluous = words.len().saturating_sub(limits::ERRORS_BYTES_MAX);
                words.drain(..superfluous);
            }
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let (Some(leader), Some(mut child)) = (self.leader, self.child.take()) else { return };
        kill(leader);
        if matches!(child.try_wait(), Ok(Some(_))) {
            // Helpers that outlive it were killed too. The number of the group is not used again as
            // long as one of them is left.
            return;
        }
        // Not on a thread of the runtime: a process that waits for the disk ends later.
        let reaping = std::thread::Builder::new().name("git-reaper".to_owned());
        if let Err(error) = reaping.spawn(move || reap(leader, child)) {
            tracing::warn!(%error, "a process of git is not waited for");
        }
    }
}

/// Waits until a group that was killed has ended.
fn reap(leader: Pid, mut child: Child) {
    let watch = Ticks::system();
    // The leader is waited for last, so that the number of the group stays its own.
    while matches!(child.try_wait(), Ok(None)) && watch.elapsed() < limits::REAP_TIMEOUT {
        std::thread::park_timeout(limits::REAP_PERIOD);
    }
    // Those whose parent has ended belong to the first process of a container, which may be this
    // one.
    while matches!(waitpgid(leader, WaitOptions::NOHANG), Ok(Some(_))) {}
}

fn kill(group: Pid) {
    match kill_process_group(group, Signal::KILL) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => tracing::warn!(%error, "a process of git could not be killed"),
    }
}
