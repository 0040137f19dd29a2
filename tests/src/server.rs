//! A running `telltale serve`: started on a free port and a directory of its own, killed when it is
//! dropped.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::telltale;
use crate::client::Client;
use crate::folder::folder;
use crate::raw::Wire;
use crate::time::eventually;

/// The admin key of every server under test.
pub const ADMIN_KEY: &str = "tt_testadmin_0123456789abcdefghijABCDEFGHIJ0123456789abc";

/// Log lines that a failed test prints.
const LOG_LINES_SHOWN: usize = 60;

/// How the log is read once the server listens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogReader {
    /// It is read continuously.
    #[default]
    Reads,
    /// It stays open and is not read.
    Sleeps,
    /// It is closed.
    Leaves,
}

/// The configuration of a server under test.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Settings as TOML values by dotted key.
    settings: BTreeMap<String, String>,
    environment: Vec<(String, String)>,
    data: Option<PathBuf>,
    log_reader: LogReader,
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}

impl Setup {
    /// Returns the defaults without request limits and expiry: tests send many requests, and
    /// samples with any times.
    pub fn new() -> Self {
        let mut setup = Self::as_shipped();
        for class in ["batch", "query", "single", "other", "console"] {
            setup = setup.set(&format!("limits.{class}"), "\"unlimited\"");
        }
        for tier in ["raw", "minute", "five_minutes", "hour", "day", "events"] {
            setup = setup.set(&format!("storage.retention.{tier}"), "\"100y\"");
        }
        setup
    }

    /// Returns the default settings.
    pub fn as_shipped() -> Self {
        let environment = vec![("TELLTALE_ADMIN_KEY".to_owned(), ADMIN_KEY.to_owned())];
        let log_reader = LogReader::default();
        Self { settings: BTreeMap::new(), environment, data: None, log_reader }
    }

    /// Sets a setting by its dotted key; the value is TOML.
    #[must_use]
    pub fn set(mut self, key: &str, toml: &str) -> Self {
        self.settings.insert(key.to_owned(), toml.to_owned());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.retain(|(n, _)| n != name);
        self
    }

    /// Uses `folder` as the data directory instead of a temporary one.
    #[must_use]
    pub fn data(mut self, folder: &Path) -> Self {
        self.data = Some(folder.to_owned());
        self
    }

    /// Sets how the log is read once the server listens.
    #[must_use]
    pub fn log_reader(mut self, reader: LogReader) -> Self {
        self.log_reader = reader;
        self
    }

    /// Starts the server and waits until it is ready.
    #[track_caller]
    pub fn start(self) -> Server {
        let home = folder();
        let toml: String = self.settings.iter().map(|(k, v)| format!("{k} = {v}\n")).collect();
        let config = home.path().join("telltale.toml");
        if let Err(error) = std::fs::write(&config, toml) {
            panic!("cannot write {}: {error}", config.display());
        }
        let data = self.data.clone().unwrap_or_else(|| home.path().join("data"));
        let log = Log { lines: Arc::default(), reader: self.log_reader };
        let process = Process::spawn(&self.environment, &config, &data, log);
        let environment = self.environment;
        let mut server = Server { home, config, data, environment, process, elsewhere: None };
        server.wait_ready();
        server
    }
}

/// A server that is running or was stopped.
#[derive(Debug)]
pub struct Server {
    home: TempDir,
    config: PathBuf,
    data: PathBuf,
    environment: Vec<(String, String)>,
    process: Process,
    /// The parent of the data directory, if that is not in `home`.
    elsewhere: Option<TempDir>,
}

impl Server {
    /// Starts a server with [`Setup::new`].
    #[track_caller]
    pub fn start() -> Self {
        Setup::new().start()
    }

    /// Restores a copy made by `telltale backup` into a new directory, and starts a server there.
    #[track_caller]
    pub fn start_on_copy(copy: &Path) -> Self {
        let home = folder();
        let data = home.path().join("data");
        let restored = Command::new(telltale())
            .arg("restore")
            .arg(copy)
            .arg("--data")
            .arg(&data)
            .env_clear()
            .output();
        match restored {
            Ok(output) if output.status.success() => {}
            other => panic!("the copy was not restored: {other:?}"),
        }
        let mut server = Setup::new().data(&data).start();
        server.elsewhere = Some(home);
        server
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.process.address
    }

    /// Returns its data directory.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns a temporary directory that is deleted with the server.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns a client with the admin key.
    pub fn client(&self) -> Client {
        Client::new(self.address(), Some(ADMIN_KEY))
    }

    /// Opens a raw connection.
    #[track_caller]
    pub fn wire(&self) -> Wire {
        Wire::open(self.address())
    }

    /// Returns the log lines of all its runs so far.
    pub fn log(&self) -> Vec<String> {
        self.process.log.lines().clone()
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// Sends SIGKILL: the server cannot write anything more.
    pub fn kill9(&mut self) {
        self.process.kill();
    }

    /// Sends SIGTERM and waits until the server has stopped.
    #[track_caller]
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait_until_stopped()
    }

    /// Waits until the server has stopped, after a signal.
    #[track_caller]
    pub fn wait_until_stopped(&mut self) -> ExitStatus {
        match self.process.child.wait() {
            Ok(status) => status,
            Err(error) => panic!("cannot wait for the server: {error}"),
        }
    }

    /// Sends a signal by name.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let command = format!("kill -{name} {}", self.pid());
        let sent = Command::new("sh").args(["-c", &command]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{command} failed");
    }

    /// Kills the server if it is running, starts it with the same settings and data, and waits
    /// until it is ready.
    #[track_caller]
    pub fn restart(&mut self) {
        self.process.kill();
        let log = self.process.log.clone();
        self.process = Process::spawn(&self.environment, &self.config, &self.data, log);
        self.wait_ready();
    }

    /// Runs another command of the program with the same settings and data.
    #[track_caller]
    pub fn cli<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        self.cli_on(&self.data, arguments)
    }

    /// Runs another command on another data directory.
    #[track_caller]
    pub fn cli_on<S: AsRef<OsStr>>(
        &self,
        data: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Output {
        let output = Command::new(telltale())
            .args(arguments)
            .arg("--config")
            .arg(&self.config)
            .arg("--data")
            .arg(data)
            .env_clear()
            // Where the browser of snapshots is.
            .env("PATH", SEARCH_PATH)
            .envs(self.environment.iter().map(|(n, v)| (n, v)))
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) => output,
            Err(error) => panic!("telltale did not start: {error}"),
        }
    }

    #[track_caller]
    fn wait_ready(&mut self) {
        let client = self.client().without_key();
        eventually("the server to be ready", || {
            if let Ok(Some(status)) = self.process.child.try_wait() {
                panic!("the server ended before it was ready: {status}");
            }
            let response = client.request("GET", "/readyz").try_send().ok()?;
            (response.status == 200).then_some(())
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill();
        if std::thread::panicking() {
            let log = self.log();
            eprintln_lines(log.iter().skip(log.len().saturating_sub(LOG_LINES_SHOWN)));
        }
    }
}

#[expect(clippy::print_stderr, reason = "a failed test shows the log of its server")]
fn eprintln_lines<'a>(lines: impl Iterator<Item = &'a String>) {
    for line in lines {
        eprintln!("server: {line}");
    }
}

/// One process of the program.
#[derive(Debug)]
struct Process {
    child: Child,
    address: SocketAddr,
    log: Log,
}

/// The log of all processes of one server.
#[derive(Clone, Debug)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    reader: LogReader,
}

impl Log {
    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where servers look for programs.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Process {
    #[track_caller]
    fn spawn(environment: &[(String, String)], config: &Path, data: &Path, log: Log) -> Self {
        let spawned = Command::new(telltale())
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(config)
            .arg("--data")
            .arg(data)
            .env_clear()
            // Where the browser of snapshots is.
            .env("PATH", SEARCH_PATH)
            .envs(environment.iter().map(|(n, v)| (n, v)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => panic!("telltale did not start: {error}"),
        };
        let Some(stderr) = child.stderr.take() else { panic!("stderr is piped") };
        let listening = follow(stderr, log.clone());
        let Ok(address) = listening.recv() else {
            let logged = log.lines().join("\n");
            panic!("the server ended before it listened ({:?}):\n{logged}", child.wait());
        };
        Self { child, address, log }
    }

    fn kill(&mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "cannot kill the server: {ended:?}");
    }
}

/// Collects the log on a thread that ends with the process. The receiver gets the address once it
/// is logged.
fn follow(stderr: ChildStderr, log: Log) -> Receiver<SocketAddr> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut sender = Some(sender);
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        for line in lines.by_ref() {
            let address = listen_address(&line);
            log.lines().push(line);
            if let Some(address) = address
                && let Some(sender) = sender.take()
            {
                // The receiver is gone if the test has failed.
                let _test_has_failed = sender.send(address);
                match log.reader {
                    LogReader::Reads => {}
                    LogReader::Leaves => return,
                    LogReader::Sleeps => loop {
                        std::thread::park();
                    },
                }
            }
        }
    });
    receiver
}

/// Returns the address in a JSON line of the log that has a field `listen`.
fn listen_address(line: &str) -> Option<SocketAddr> {
    let line: Value = serde_json::from_str(line).ok()?;
    let field = line.get("listen").or_else(|| line.get("fields")?.get("listen"))?;
    field.as_str()?.parse().ok()
}
