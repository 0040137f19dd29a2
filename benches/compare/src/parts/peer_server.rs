//! A server of a peer under test: started on an empty directory, loaded, merged, restarted,
//! removed.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::data::{Format, Set};
use crate::feed::{Connection, Sent, frames, lines, send};
use crate::options::Options;
use crate::outcome::Outcome;
use crate::peers::{Feed, Mode, Peer};
use crate::results::{Load, quantile};
use crate::server::{Server, free_address};

/// A server started in [`Mode::Merge`] begins to merge within this time.
const MERGE_BEGINS_SECONDS: f64 = 12.0;

/// The options and directories of a run.
pub(crate) struct Context {
    pub(crate) options: Options,
}

impl Context {
    pub(crate) fn data(&self) -> PathBuf {
        self.options.home.join("data")
    }

    /// The directory for data directories of running peers.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.options.home.join("run")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.options.home.join("logs")
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.options.home.join("results").join(self.options.scale.name())
    }
}

/// A data set, and the requests in which it is sent.
pub(crate) struct Workload<'a> {
    /// The name of the row, for parts that send several sets; else empty.
    pub(crate) name: &'a str,
    pub(crate) set: Set,
    pub(crate) feed: Feed,
    pub(crate) per_request: usize,
}

/// The point up to which a load is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Flushed,
    Merged,
}

/// A running server and its peer.
pub(crate) struct PeerServer<'a> {
    pub(crate) context: &'a Context,
    pub(crate) peer: &'a dyn Peer,
    pub(crate) server: Server,
    log: PathBuf,
}

impl<'a> PeerServer<'a> {
    /// Starts a server on an empty directory.
    pub(crate) fn new(context: &'a Context, peer: &'a dyn Peer) -> Outcome<Self> {
        let folder = context.scratch().join(peer.name());
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        std::fs::create_dir_all(context.logs())?;
        let log = context.logs().join(format!("{}.log", peer.name()));
        let mut server = start(peer, &folder, &log, Mode::Normal)?;
        peer.prepare(&mut server)?;
        Ok(Self { context, peer, server, log })
    }

    /// Returns the first of these formats that the running version of the peer accepts.
    pub(crate) fn format(&mut self, formats: &[Format]) -> Outcome<Format> {
        for format in formats {
            if self.takes(Feed::Metrics(*format))? {
                return Ok(*format);
            }
        }
        Err(format!("{} takes none of {formats:?}", self.peer.name()).into())
    }

    /// Returns whether the server has a route for the feed.
    pub(crate) fn takes(&mut self, feed: Feed) -> Outcome<bool> {
        let Some(write) = self.peer.write(feed) else { return Ok(false) };
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\n{}{}Content-Length: 0\r\n\r\n",
            write.path, self.server.address, self.server.headers, write.headers
        );
        let mut connection = Connection::open(self.server.address)?;
        Ok(connection.exchange(request.as_bytes())?.status != 404)
    }

    /// Sends the workload and waits until it is flushed; with [`Until::Merged`] also until it is
    /// merged, if the peer can merge while it serves.
    pub(crate) fn load(&mut self, workload: &Workload<'_>, until: Until) -> Outcome<Load> {
        let mut load = self.send(workload)?;
        let before = self.server.cpu_seconds()? - load.cpu_ack;
        self.peer.flush(&mut self.server)?;
        self.server.settle()?;
        load.cpu_flush = Some(self.server.cpu_seconds()? - before);
        load.memory_mb = self.server.memory_peak_mb()?;
        if until == Until::Merged && self.peer.merge(&mut self.server)?.is_some() {
            self.server.settle()?;
            load.cpu_merge = Some(self.server.cpu_seconds()? - before);
            load.memory_merge_mb = Some(self.server.memory_peak_mb()?);
        }
        Ok(load)
    }

    /// Sends the workload and measures up to the last response.
    pub(crate) fn send(&self, workload: &Workload<'_>) -> Outcome<Load> {
        let write = self.peer.write(workload.feed).ok_or("the peer does not take this")?;
        let json = write.headers.contains("json");
        let (format, file) = match workload.feed {
            Feed::Metrics(format) => (format, format.file()),
            _ if json => (Format::Json, write.file.to_owned()),
            _ => (Format::Lines, write.file.to_owned()),
        };
        let path = workload.set.ensure(&self.context.data(), &[format])?.join(file);
        let batches = match format {
            Format::RemoteWrite(_) => frames(&path)?,
            Format::Wide => lines(&path, workload.per_request, 10)?,
            _ => lines(&path, workload.per_request, 1)?,
        };
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\n{}{}",
            write.path, self.server.address, self.server.headers, write.headers
        );
        let cpu = self.server.cpu_seconds()?;
        let sent = send(self.server.address, &head, &path, write.wrap, &batches)?;
        Ok(load_row(workload, format, &sent, self.server.cpu_seconds()? - cpu))
    }

    /// Merges the files and returns the CPU seconds. If the peer merges in a mode of its own only,
    /// the server is restarted in that mode and stays in it.
    pub(crate) fn merge(&mut self) -> Outcome<f64> {
        let before = self.server.cpu_seconds()?;
        if self.peer.merge(&mut self.server)?.is_some() {
            self.server.settle()?;
            return Ok(self.server.cpu_seconds()? - before);
        }
        self.restart(Signal::TERM, Mode::Merge)?;
        // The server is idle until it begins to merge, and would be taken for settled.
        crate::clock::pause(MERGE_BEGINS_SECONDS);
        self.server.settle()?;
        self.server.cpu_seconds()
    }

    /// Stops the server and starts it on the same directory. Returns the seconds that the stop
    /// took.
    pub(crate) fn restart(&mut self, signal: Signal, mode: Mode) -> Outcome<f64> {
        self.restart_after(signal, mode, |_| Ok(()))
    }

    /// Stops the server, does something with its directory and starts it again. Returns the seconds
    /// that the stop took.
    pub(crate) fn restart_after(
        &mut self,
        signal: Signal,
        mode: Mode,
        between: impl FnOnce(&Path) -> Outcome<()>,
    ) -> Outcome<f64> {
        let folder = self.server.folder.clone();
        let stop_s = self.server.stop(signal)?;
        between(&folder)?;
        self.server = start(self.peer, &folder, &self.log, mode)?;
        Ok(stop_s)
    }

    /// Stops the server and starts one on an empty directory.
    pub(crate) fn start_again(&mut self) -> Outcome<()> {
        self.server.stop(Signal::TERM)?;
        *self = Self::new(self.context, self.peer)?;
        Ok(())
    }

    /// Stops the server and removes its files.
    pub(crate) fn remove(mut self) -> Outcome<()> {
        let folder = self.server.folder.clone();
        self.server.stop(Signal::TERM)?;
        Ok(std::fs::remove_dir_all(folder)?)
    }
}

fn start(peer: &dyn Peer, folder: &Path, log: &Path, mode: Mode) -> Outcome<Server> {
    let address = free_address()?;
    Server::start(peer.launch(folder, address, mode)?, address, folder, log)
}

fn load_row(workload: &Workload<'_>, format: Format, sent: &Sent, cpu_ack: f64) -> Load {
    Load {
        set: workload.name.to_owned(),
        format: format.to_string(),
        per_request: workload.per_request,
        points: sent.points,
        seconds: sent.seconds,
        cpu_ack,
        p50_ms: quantile(&sent.took_ms, 0.5),
        p99_ms: quantile(&sent.took_ms, 0.99),
        refused: sent.refused,
        refusal: sent.refusal.clone(),
        ..Load::default()
    }
}
