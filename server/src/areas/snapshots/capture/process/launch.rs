//! Starts Chromium.
//!
//! Chromium reads commands from descriptor 3 and writes messages to descriptor 4. The standard
//! library passes only descriptors 0, 1 and 2 to a child without unsafe code, so a shell moves the
//! pipes of 0 and 1 to their places and then becomes Chromium.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpSocket;
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::executable::find_executable;
use super::flags::{self, Sandbox};
use super::group::ProcessGroup;
use super::profile::ProfileDirectory;
use super::{memory_guard, preferences};
use crate::areas::snapshots::capture::error::CaptureError;
use crate::areas::snapshots::capture::limits::{
    CAPTURES_PER_PROCESS, LAST_WORDS_BYTES, MEMORY_PERIOD, START_TIMEOUT,
};
use crate::areas::snapshots::capture::protocol::{CommandSender, Connection, ProtocolError};
use crate::areas::snapshots::capture::settings::{BrowserSettings, SandboxMode};

const SHELL: &str = "/bin/sh";
/// Becomes the program of its arguments, with the pipes of the protocol.
const SHELL_SCRIPT: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null";
/// Where the shell and Chromium's start script find their tools.
const TOOLS_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A running Chromium. Killed, with all that it started, when it is dropped.
#[derive(Debug)]
pub(in super::super) struct BrowserProcess {
    // Dropped in this order: the processes end before their directory is deleted.
    connection: Connection,
    group: ProcessGroup,
    captures: AtomicU32,
    is_broken: AtomicBool,
    /// Bound, so that no other program accepts connections at the address.
    _closed: TcpSocket,
    _directory: ProfileDirectory,
}

impl BrowserProcess {
    /// Starts Chromium and waits until it answers.
    pub(in super::super) async fn start(settings: &BrowserSettings) -> Result<Self, CaptureError> {
        let unavailable = |what: &str, error: std::io::Error| {
            CaptureError::unavailable(format!("{what}: {error}"))
        };
        let path = find_executable(settings)?;
        let directory = ProfileDirectory::create(&settings.profile_root)
            .map_err(|error| unavailable("a profile cannot be created", error))?;
        preferences::write(&directory.user_data())
            .map_err(|error| unavailable("a profile cannot be written", error))?;
        let (closed, address) =
            closed_address().map_err(|error| unavailable("no port can be reserved", error))?;
        let sandbox = sandbox(settings.sandbox);
        let arguments = flags::arguments(&directory.user_data(), sandbox, address);
        let mut child = command(&path, &arguments, &directory)
            .spawn()
            .map_err(|error| unavailable("the browser cannot be started", error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = ProcessGroup::new(child, directory.path().to_owned());
        let (Some(commands), Some(messages), Some(errors)) = pipes else {
            return Err(CaptureError::unavailable("the browser has no pipes"));
        };
        let last_words = LastWords::read(errors);
        let process = Self {
            connection: Connection::open(commands, messages),
            group,
            captures: AtomicU32::new(0),
            is_broken: AtomicBool::new(false),
            _closed: closed,
            _directory: directory,
        };
        match timeout(START_TIMEOUT, process.prepare()).await {
            Ok(Ok(())) => Ok(process),
            Ok(Err(error)) => Err(CaptureError::unavailable(format!(
                "the browser did not start: {error}{}",
                last_words.to_text()
            ))),
            Err(_) => Err(CaptureError::unavailable("the browser did not start in time")),
        }
    }

    /// Returns what sends commands to the process.
    pub(in super::super) fn commands(&self) -> &CommandSender {
        self.connection.commands()
    }

    /// Returns the number of the process.
    pub(in super::super) fn id(&self) -> Option<u32> {
        self.group.id()
    }

    /// Counts a capture. `false` if the process has ended or has made enough of them.
    pub(in super::super) fn count_capture(&self) -> bool {
        !self.commands().is_closed()
            && !self.is_broken.load(Ordering::Relaxed)
            && self.captures.fetch_add(1, Ordering::Relaxed) < CAPTURES_PER_PROCESS
    }

    /// Makes this the last capture of the process.
    pub(in super::super) fn mark_broken(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    /// Ends, as long as it is awaited, processes that take too much memory. Never returns.
    pub(in super::super) async fn guard_memory(&self) {
        loop {
            sleep(MEMORY_PERIOD).await;
            if let Some(group) = self.id() {
                // Only fails if the runtime shuts down.
                drop(spawn_blocking(move || memory_guard::kill_oversized(group)).await);
            }
        }
    }

    /// Attaches to everything that is opened, before it runs.
    async fn prepare(&self) -> Result<(), ProtocolError> {
        let filter = json!([
            { "type": "browser", "exclude": true },
            { "type": "tab", "exclude": true },
            { "type": "browser_ui", "exclude": true },
            {},
        ]);
        let params = json!({
            "autoAttach": true,
            "waitForDebuggerOnStart": true,
            "flatten": true,
            "filter": filter,
        });
        let _: Value = self.commands().call(None, "Target.setAutoAttach", params).await?;
        Ok(())
    }
}

fn command(path: &Path, arguments: &[OsString], directory: &ProfileDirectory) -> Command {
    let mut command = Command::new(SHELL);
    command
        .arg("-c")
        .arg(SHELL_SCRIPT)
        .arg(path)
        .args(arguments)
        // The environment of the server contains secrets.
        .env_clear()
        .env("PATH", TOOLS_PATH)
        .env("HOME", directory.home())
        .env("TMPDIR", ProfileDirectory::temporary_of_process())
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// Reserves a port on which nobody listens.
fn closed_address() -> std::io::Result<(TcpSocket, SocketAddr)> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let address = socket.local_addr()?;
    Ok((socket, address))
}

fn sandbox(mode: SandboxMode) -> Sandbox {
    match mode {
        SandboxMode::On => Sandbox::Confined,
        SandboxMode::Off => Sandbox::Unconfined,
        SandboxMode::Auto if rustix::process::geteuid().is_root() => {
            tracing::warn!(
                "the server runs as root, so the browser runs without a sandbox: a page that \
                 exploits it has the rights of root"
            );
            Sandbox::Unconfined
        }
        SandboxMode::Auto => Sandbox::Confined,
    }
}

/// The end of what a process writes to its error output.
#[derive(Clone, Debug)]
struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// Reads the output to its end, which is that of the process.
    fn read(mut output: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let kept = Self(Arc::default());
        let words = kept.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 1 << 10];
            while let Ok(count @ 1..) = output.read(&mut buffer).await {
                let mut words = words.0.lock();
                words.extend_from_slice(buffer.get(..count).unwrap_or_default());
                let surplus = words.len().saturating_sub(LAST_WORDS_BYTES);
                words.drain(..surplus);
            }
        });
        kept
    }

    /// Returns the last line, with a separator in front, or nothing.
    fn to_text(&self) -> String {
        let words = self.0.lock();
        let text = String::from_utf8_lossy(&words);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.map(|line| format!(" ({})", line.trim())).unwrap_or_default()
    }
}
