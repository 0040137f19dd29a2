//! A peer that runs: started on a free port, asked, weighed by what the kernel says of its process,
//! and stopped.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::{Stopwatch, pause};
use crate::feed::{Answer, Connection};
use crate::options::variable;
use crate::outcome::Outcome;

/// Ticks of a second in /proc, which Linux shows to programs as 100 on every machine.
const TICKS_PER_SECOND: f64 = 100.0;
/// A server that is not ready by then is broken.
const READY_SECONDS_MAX: f64 = 120.0;
/// A server that still works by then is measured as it is.
const SETTLE_SECONDS_MAX: f64 = 60.0;
/// Of one core; a server below it has nothing left to do.
const SETTLED_SHARE: f64 = 0.05;

/// How to start a peer.
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// A path that is answered with success when the peer serves.
    pub(crate) ready: &'static str,
    /// Headers of every request, each with its line end.
    pub(crate) headers: String,
}

/// A running peer.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) headers: String,
    pub(crate) folder: PathBuf,
    connection: Option<Connection>,
    /// From the start of the process to the first good answer.
    pub(crate) ready_s: f64,
}

/// An address that nobody listens on.
pub(crate) fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

impl Server {
    /// Starts it and waits until it serves.
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
        while !server.get(launch.ready).is_ok_and(|answer| answer.is_good()) {
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

    pub(crate) fn get(&mut self, path: &str) -> Outcome<Answer> {
        self.request("GET", path)
    }

    pub(crate) fn post(&mut self, path: &str) -> Outcome<Answer> {
        self.request("POST", path)
    }

    /// The answer of a request that must succeed.
    pub(crate) fn good(&mut self, method: &str, path: &str) -> Outcome<Vec<u8>> {
        let answer = self.request(method, path)?;
        if answer.is_good() {
            Ok(answer.body)
        } else {
            Err(format!("{method} {path}: {}", answer.summary()).into())
        }
    }

    /// Asks over the connection that is open, and over a new one where that was closed meanwhile.
    fn request(&mut self, method: &str, path: &str) -> Outcome<Answer> {
        let length = if method == "GET" { "" } else { "Content-Length: 0\r\n" };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{}{length}\r\n",
            self.address, self.headers
        );
        if let Some(mut connection) = self.connection.take()
            && let Ok(answer) = connection.exchange(request.as_bytes())
        {
            self.connection = Some(connection);
            return Ok(answer);
        }
        let mut connection = Connection::open(self.address)?;
        let answer = connection.exchange(request.as_bytes())?;
        self.connection = Some(connection);
        Ok(answer)
    }

    /// Seconds of all cores that the process has spent, in its own code and in the kernel for it.
    pub(crate) fn cpu_seconds(&self) -> Outcome<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name of the program may hold anything, and ends with the last parenthesis.
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
        let mut spent = fields.split_whitespace().skip(11).map(str::parse::<f64>);
        let user = spent.next().ok_or("no user time in /proc")??;
        let system = spent.next().ok_or("no system time in /proc")??;
        Ok((user + system) / TICKS_PER_SECOND)
    }

    /// The most memory that was resident since the start, in MB of 2^20 bytes.
    pub(crate) fn memory_peak_mb(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmHWM in /proc")?;
        Ok(kb.parse::<f64>()? / 1024.0)
    }

    /// Waits until it does nothing.
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

    /// Tells it to end, and waits until it has; gives the seconds that took.
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
        // Where it ended already there is nothing to kill.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What the file system has set aside for all files below a folder, as `du` tells it.
pub(crate) fn allocated_bytes(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(of) if of.is_dir() => bytes += allocated_bytes(&entry.path())?,
            Ok(of) => bytes += of.blocks() * 512,
            // Files come and go while the server works.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}
