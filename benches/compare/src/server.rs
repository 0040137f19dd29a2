//! The process of a peer: started on a free port, queried, measured by `/proc`, and stopped.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::{Stopwatch, pause};
use crate::feed::{Connection, Response};
use crate::options::variable;
use crate::outcome::Outcome;

/// Ticks per second in `/proc`, which Linux reports to programs as 100 on every machine.
const TICKS_PER_SECOND: f64 = 100.0;
/// The limit for a start, after which the server counts as failed.
const READY_SECONDS_MAX: f64 = 120.0;
/// How long to wait for an idle server; after that it is measured as it is.
const SETTLE_SECONDS_MAX: f64 = 60.0;
/// Share of one core below which a server counts as idle.
const SETTLED_SHARE: f64 = 0.05;

/// How to start a peer.
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// A path that returns success once the peer is ready.
    pub(crate) ready: &'static str,
    /// Headers of each request, with line ends.
    pub(crate) headers: String,
}

/// A running peer.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) headers: String,
    pub(crate) folder: PathBuf,
    connection: Option<Connection>,
    /// From the start of the process to the first good response.
    pub(crate) ready_s: f64,
}

/// Returns an unused address.
pub(crate) fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

impl Server {
    /// Starts the process and waits until it is ready.
    pub(crate) fn start(
        launch: Launch,
        address: SocketAddr,
        folder: &Path,
        log: &Path,
    ) -> Outcome<Self> {
        let log_file = File::options().create(true).append(true).open(log)?;
        let clock = Stopwatch::start();
        let child = Command::new(&launch.program)
            .args(&launch.arguments)
            .env_clear()
            .envs(["PATH", "HOME"].iter().filter_map(|name| Some((name, variable(name)?))))
            .envs(launch.environment)
            .stdin(Stdio::null())
            .stdout(log_file.try_clone()?)
            .stderr(log_file)
            .spawn()
            .map_err(|error| format!("{} did not start: {error}", launch.program.display()))?;
        let mut server = Self {
            child,
            address,
            headers: launch.headers,
            folder: folder.to_owned(),
            connection: None,
            ready_s: 0.0,
        };
        while !server.get(launch.ready).is_ok_and(|response| response.is_success()) {
            if let Some(status) = server.child.try_wait()? {
                return Err(format!("it ended with {status}; see {}", log.display()).into());
            }
            if clock.seconds() > READY_SECONDS_MAX {
                return Err(format!("it is not ready; see {}", log.display()).into());
            }
            pause(0.005);
        }
        server.ready_s = clock.seconds();
        Ok(server)
    }

    pub(crate) fn get(&mut self, path: &str) -> Outcome<Response> {
        self.request("GET", path)
    }

    pub(crate) fn post(&mut self, path: &str) -> Outcome<Response> {
        self.request("POST", path)
    }

    /// Returns the response body of a request that must succeed.
    pub(crate) fn success_body(&mut self, method: &str, path: &str) -> Outcome<Vec<u8>> {
        let response = self.request(method, path)?;
        if response.is_success() {
            Ok(response.body)
        } else {
            Err(format!("{method} {path}: {}", response.summary()).into())
        }
    }

    /// Sends a request over the open connection, or over a new one if that was closed.
    fn request(&mut self, method: &str, path: &str) -> Outcome<Response> {
        let length = if method == "GET" { "" } else { "Content-Length: 0\r\n" };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{}{length}\r\n",
            self.address, self.headers
        );
        if let Some(mut connection) = self.connection.take()
            && let Ok(response) = connection.exchange(request.as_bytes())
        {
            self.connection = Some(connection);
            return Ok(response);
        }
        let mut connection = Connection::open(self.address)?;
        let response = connection.exchange(request.as_bytes())?;
        self.connection = Some(connection);
        Ok(response)
    }

    /// Returns the CPU seconds of the process so far, user and system.
    pub(crate) fn cpu_seconds(&self) -> Outcome<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The program name may contain any character; it ends at the last parenthesis.
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
        let mut spent = fields.split_whitespace().skip(11).map(str::parse::<f64>);
        let user = spent.next().ok_or("no user time in /proc")??;
        let system = spent.next().ok_or("no system time in /proc")??;
        Ok((user + system) / TICKS_PER_SECOND)
    }

    /// Returns the peak resident memory since the start, in MB of 2^20 bytes.
    pub(crate) fn memory_peak_mb(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmHWM in /proc")?;
        Ok(kb.parse::<f64>()? / 1024.0)
    }

    /// Waits until the process is idle.
    pub(crate) fn settle(&self) -> Outcome<()> {
        let clock = Stopwatch::start();
        while clock.seconds() < SETTLE_SECONDS_MAX {
            let before = self.cpu_seconds()?;
            pause(1.0);
            if self.cpu_seconds()? - before < SETTLED_SHARE {
                break;
            }
        }
        Ok(())
    }

    /// Sends a signal and waits until the process has ended. Returns the seconds that took.
    pub(crate) fn stop(&mut self, signal: Signal) -> Outcome<f64> {
        let clock = Stopwatch::start();
        kill_process(self.pid()?, signal)?;
        self.child.wait()?;
        Ok(clock.seconds())
    }

    fn pid(&self) -> Outcome<Pid> {
        Pid::from_raw(i32::try_from(self.child.id())?).ok_or_else(|| "no process".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail if the process has already ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the bytes allocated to all files below a directory, as `du` reports them.
pub(crate) fn allocated_bytes(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(of) if of.is_dir() => bytes += allocated_bytes(&entry.path())?,
            Ok(of) => bytes += of.blocks() * 512,
            // Files appear and disappear while the server runs.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

/// Removes the contents of all files below a directory from the memory of the system.
pub(crate) fn evict(folder: &Path) -> Outcome<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.metadata()?.is_dir() {
            evict(&entry.path())?;
            continue;
        }
        let file = std::fs::File::open(entry.path())?;
        // What is not written yet cannot be removed.
        file.sync_all()?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    }
    Ok(())
}
