//! Processes in the namespaces of the rig: nodes, whose notes are collected, and their proxies.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::checks::Note;
use crate::outcome::{Failure, Outcome};
use crate::stopwatch::Stopwatch;

/// The notes of all nodes of a shard.
pub(crate) type History = Arc<Mutex<Vec<Note>>>;

/// How far a node has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    is_open: bool,
    acknowledged: u64,
    has_ended: bool,
}

/// A running node.
#[derive(Debug)]
pub(crate) struct Node {
    child: Child,
    /// Closing it ends the node, unless it is stopped.
    _input: Option<ChildStdin>,
    progress: watch::Receiver<Progress>,
    cache: PathBuf,
    started: Stopwatch,
}

/// Returns a command that runs this program in a namespace.
fn command(namespace: &str, arguments: &[String]) -> Outcome<Command> {
    let mut command = Command::new("ip");
    command
        .args(["netns", "exec", namespace])
        .arg(std::env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::piped())
        .kill_on_drop(true);
    Ok(command)
}

impl Node {
    /// Starts a node in a namespace.
    pub(crate) fn start(
        namespace: &str,
        arguments: &[String],
        cache: PathBuf,
        history: &History,
    ) -> Outcome<Self> {
        let started = Stopwatch::start();
        let mut arguments = arguments.to_vec();
        arguments.extend(["--cache".to_owned(), cache.display().to_string()]);
        let mut child = command(namespace, &arguments)?.stdout(Stdio::piped()).spawn()?;
        let (sender, progress) = watch::channel(Progress::default());
        if let Some(output) = child.stdout.take() {
            tokio::spawn(collect(output, Arc::clone(history), sender));
        }
        let input = child.stdin.take();
        Ok(Self { child, _input: input, progress, cache, started })
    }

    /// Waits until the shard is open; returns the milliseconds since the start of the process.
    pub(crate) async fn opened(&mut self, patience: Duration) -> Option<f64> {
        let reached = self.progress.wait_for(|now| now.is_open || now.has_ended);
        match timeout(patience, reached).await {
            Ok(Ok(now)) if now.is_open => Some(self.started.millis()),
            _ => None,
        }
    }

    /// Waits until the node has ended by itself.
    pub(crate) async fn ended(&mut self, patience: Duration) -> bool {
        timeout(patience, self.progress.wait_for(|now| now.has_ended)).await.is_ok()
    }

    /// Waits until this many more writes are acknowledged than now; returns whether they were.
    pub(crate) async fn goes_on(&mut self, writes: u64, patience: Duration) -> bool {
        let enough = self.progress.borrow().acknowledged + writes;
        let reached = self.progress.wait_for(|now| now.acknowledged >= enough || now.has_ended);
        matches!(timeout(patience, reached).await, Ok(Ok(now)) if now.acknowledged >= enough)
    }

    /// Stops the process, or lets it go on.
    pub(crate) fn pause(&self, pause: bool) -> Outcome<()> {
        self.signal(if pause { Signal::STOP } else { Signal::CONT })
    }

    fn signal(&self, signal: Signal) -> Outcome<()> {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        match id {
            Some(id) => Ok(kill_process(id, signal).map_err(std::io::Error::from)?),
            None => Ok(()),
        }
    }

    /// Kills the process with SIGKILL and deletes its data directory.
    pub(crate) async fn kill(mut self) -> Outcome<()> {
        self.signal(Signal::KILL)?;
        self.child.wait().await?;
        // What it had printed before is still in the pipe.
        self.ended(Duration::from_secs(5)).await;
        match tokio::fs::remove_dir_all(&self.cache).await {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Adds the notes of a node to the history until its output ends.
async fn collect(output: ChildStdout, history: History, progress: watch::Sender<Progress>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        // A line that a kill has cut says nothing.
        let Ok(note) = serde_json::from_str::<Note>(&line) else { continue };
        progress.send_modify(|now| match note {
            Note::Opened { .. } => now.is_open = true,
            Note::Acknowledged { .. } => now.acknowledged += 1,
            Note::Fenced { .. } | Note::Failed { .. } => {}
        });
        history.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }
    progress.send_modify(|now| now.has_ended = true);
}

/// A proxy in a namespace.
#[derive(Debug)]
pub(crate) struct ProxyProcess {
    _child: Child,
    input: ChildStdin,
}

impl ProxyProcess {
    /// Starts a proxy that listens on port 9000 of a namespace.
    pub(crate) fn start(namespace: &str, arguments: &[String]) -> Outcome<Self> {
        let mut child = command(namespace, arguments)?.spawn()?;
        let input = child.stdin.take();
        let input = input.ok_or_else(|| Failure::Stopped("a proxy without input".to_owned()))?;
        Ok(Self { _child: child, input })
    }

    /// Sends a command.
    pub(crate) async fn order(&mut self, command: &str) -> Outcome<()> {
        self.input.write_all(format!("{command}\n").as_bytes()).await?;
        Ok(self.input.flush().await?)
    }
}
