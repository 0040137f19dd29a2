//! The curve: samples of the resources that the server uses, taken from outside, printed and
//! written to a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use telltale_tests::{Client, Server};

use crate::pace::Run;
use crate::sender::Sender;

/// Bytes of the blocks that a file system counts in.
const BLOCK_BYTES: u64 = 512;
/// The start of the lines of `/metrics` with the memory of each owner.
const OWNER_MEMORY: &str = "telltale_memory_bytes{owner=\"";

/// The resource usage of the server at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerSample {
    /// Seconds since the start of the run.
    pub(crate) seconds: f64,
    /// Bytes of anonymous memory, which a leak adds to.
    pub(crate) anonymous: u64,
    /// Bytes of resident memory.
    pub(crate) resident: u64,
    /// Open files, including sockets.
    pub(crate) files: u64,
    pub(crate) threads: u64,
    /// Bytes of disk space that the data directory uses.
    pub(crate) disk: u64,
    /// Samples, events and occurrences that were acknowledged.
    pub(crate) stored: u64,
    /// Requests refused with 503, and sent again.
    pub(crate) refused: u64,
    /// Bytes of memory by owner.
    pub(crate) owners: BTreeMap<String, u64>,
}

/// Samples the server each `period` until the run is over. Prints a line each `print_every`, and
/// writes all samples to `file`.
pub(crate) fn record(
    run: &Run,
    server: &Server,
    (period, print_every): (Duration, Duration),
    file: Option<&Path>,
) -> Vec<ServerSample> {
    let mut file = file.map(create);
    let mut sender = Sender::new(run, server.client(), "curve");
    let (mut curve, mut schedule) = (Vec::new(), run.schedule("curve", period));
    let mut print_at = Duration::ZERO;
    while schedule.wait() {
        let sample = take_sample(run, server, &mut sender);
        if let Some(file) = &mut file {
            if curve.is_empty() {
                append(file, &sample.header());
            }
            append(file, &sample.row());
        }
        if run.elapsed() >= print_at {
            print(&sample.line());
            print_at += print_every;
        }
        curve.push(sample);
    }
    curve
}

/// Returns the current resource usage of the server.
#[track_caller]
fn take_sample(run: &Run, server: &Server, sender: &mut Sender<'_>) -> ServerSample {
    let page = sender.send(|client: &Client, _| client.get("/metrics"));
    let status = read(&format!("/proc/{}/status", server.pid()));
    ServerSample {
        seconds: run.elapsed().as_secs_f64(),
        anonymous: proc_value(&status, "RssAnon:") << 10,
        resident: proc_value(&status, "VmRSS:") << 10,
        files: open_files(server.pid()),
        threads: proc_value(&status, "Threads:"),
        disk: disk_bytes(server.data()),
        stored: run.stored(),
        refused: run.refused(),
        owners: owners(page.text()),
    }
}

#[track_caller]
fn read(path: &str) -> String {
    match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("{path}: {error}; the curve needs the files of Linux in /proc"),
    }
}

/// Returns the number in the line that starts with `name`.
#[track_caller]
fn proc_value(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    match line.split_whitespace().next().and_then(|number| number.parse().ok()) {
        Some(number) => number,
        None => panic!("no {name} in {status}"),
    }
}

#[track_caller]
fn open_files(pid: u32) -> u64 {
    match std::fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(entries) => entries.count() as u64,
        Err(error) => panic!("the open files of the server cannot be counted: {error}"),
    }
}

/// Returns the disk space that a file or a directory with its contents uses. Files that are removed
/// meanwhile count as empty.
#[track_caller]
fn disk_bytes(path: &Path) -> u64 {
    let result = std::fs::symlink_metadata(path).and_then(|metadata| {
        let mut bytes = metadata.blocks() * BLOCK_BYTES;
        if metadata.is_dir() {
            for entry in std::fs::read_dir(path)? {
                bytes += disk_bytes(&entry?.path());
            }
        }
        Ok(bytes)
    });
    match result {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => panic!("{} cannot be measured: {error}", path.display()),
    }
}

/// Returns the memory by owner on a page of `/metrics`.
#[track_caller]
fn owners(page: &str) -> BTreeMap<String, u64> {
    let owner = |line: &str| {
        let (name, bytes) = line.strip_prefix(OWNER_MEMORY)?.split_once("\"} ")?;
        Some((name.to_owned(), bytes.trim().parse().ok()?))
    };
    let owners: BTreeMap<String, u64> = page.lines().filter_map(owner).collect();
    assert!(!owners.is_empty(), "no memory by owner in {page}");
    owners
}

impl ServerSample {
    fn header(&self) -> String {
        let owners: String = self.owners.keys().map(|owner| format!("\t{owner}")).collect();
        format!("seconds\tanonymous\tresident\tfiles\tthreads\tdisk\tstored\trefused{owners}")
    }

    fn row(&self) -> String {
        let Self { anonymous, resident, files, threads, disk, stored, refused, .. } = self;
        let owners: String = self.owners.values().map(|bytes| format!("\t{bytes}")).collect();
        format!(
            "{:.1}\t{anonymous}\t{resident}\t{files}\t{threads}\t{disk}\t{stored}\t{refused}{owners}",
            self.seconds
        )
    }

    /// Returns the sample as a line for people.
    fn line(&self) -> String {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let owners: Vec<String> = self
            .owners
            .iter()
            .filter(|(_, bytes)| mib(**bytes) >= 0.1)
            .map(|(owner, bytes)| format!("{owner} {:.1}", mib(*bytes)))
            .collect();
        format!(
            "{:>6.0} s  anonymous {:.1} MiB, resident {:.1} MiB ({})  files {}  threads {}  disk {:.1} MiB  stored {}  refused {}",
            self.seconds,
            mib(self.anonymous),
            mib(self.resident),
            owners.join(", "),
            self.files,
            self.threads,
            mib(self.disk),
            self.stored,
            self.refused
        )
    }
}

#[track_caller]
fn create(path: &Path) -> File {
    match File::create(path) {
        Ok(file) => file,
        Err(error) => panic!("{} cannot be written: {error}", path.display()),
    }
}

/// Appends a line at once, so that a run that is killed leaves the samples it took.
#[track_caller]
fn append(file: &mut File, line: &str) {
    if let Err(error) = writeln!(file, "{line}") {
        panic!("the curve cannot be written: {error}");
    }
}

#[expect(clippy::print_stdout, reason = "the curve of a long run is printed while it runs")]
fn print(line: &str) {
    println!("{line}");
}
