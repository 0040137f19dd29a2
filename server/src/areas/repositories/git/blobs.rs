//! The contents of files, from `git cat-file --batch`.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::ChildStdout;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::command::{GitCommand, GitInput};
use super::directory::GitDirectory;
use super::error::GitError;
use super::limits;
use super::process::GitProcess;
use super::program::Git;
use crate::areas::repositories::object_id::ObjectId;

/// Bytes of the line before the contents.
const HEAD_BYTES_MAX: u64 = 256;

/// Reads blobs, in the order in which they were asked for. Ends git when dropped.
#[derive(Debug)]
pub(in crate::areas::repositories) struct BlobReader {
    output: BufReader<ChildStdout>,
    writing: AbortHandle,
    /// Killed when dropped.
    _process: GitProcess,
}

impl Git {
    /// Begins to read blobs that were fetched.
    pub(in crate::areas::repositories) async fn blobs(
        &self,
        directory: &GitDirectory,
        wanted: impl Iterator<Item = ObjectId>,
    ) -> Result<BlobReader, GitError> {
        let place = self.place(Some(directory)).await?;
        let arguments = ["cat-file", "--batch", "--buffer"];
        let command = GitCommand {
            input: GitInput::Command,
            cpu: self.settings.fetch_timeout,
            ..GitCommand::local(place, &arguments)
        };
        let mut process = GitProcess::start(&command, None).await?;
        let output = BufReader::new(process.take_output()?);
        let mut input = process.take_input()?;
        let mut names = String::new();
        for id in wanted {
            names.push_str(&id.to_string());
            names.push('\n');
        }
        // Git reads them as it writes contents. If it ends early, its output does too.
        let writing = tokio::spawn(async move {
            if input.write_all(names.as_bytes()).await.is_ok() {
                drop(input.shutdown().await);
            }
        });
        Ok(BlobReader { output, writing: writing.abort_handle(), _process: process })
    }
}

impl BlobReader {
    /// Returns the contents of the next blob, which has so many bytes.
    pub(in crate::areas::repositories) async fn next(
        &mut self,
        bytes: u64,
    ) -> Result<Vec<u8>, GitError> {
        let limit = limits::COMMAND_TIMEOUT;
        let reading = timeout(limit, self.read(bytes)).await;
        reading.unwrap_or(Err(GitError::TimedOut(limit.as_secs())))
    }

    async fn read(&mut self, bytes: u64) -> Result<Vec<u8>, GitError> {
        let damaged = |what: &str| GitError::Damaged(what.to_owned());
        let mut head = Vec::new();
        (&mut self.output).take(HEAD_BYTES_MAX).read_until(b'\n', &mut head).await?;
        // `<object> blob <size>`, or `<object> missing`.
        let head = String::from_utf8_lossy(&head);
        let mut parts = head.trim_end().split(' ').skip(1);
        let (kind, size) = (parts.next(), parts.next().and_then(|size| size.parse().ok()));
        if kind != Some("blob") || size != Some(bytes) {
            return Err(damaged("an object of the commit is missing"));
        }
        let length = usize::try_from(bytes).map_err(|_| damaged("an object is too large"))?;
        let mut contents = vec![0; length];
        self.output.read_exact(&mut contents).await?;
        match self.output.read_u8().await? {
            b'\n' => Ok(contents),
            _ => Err(damaged("an object has another size than is said")),
        }
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        self.writing.abort();
    }
}
