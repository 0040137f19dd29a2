//! A server of a peer at work: made on an empty folder, loaded, brought to its final form, stopped
//! and started again.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::data::{Format, Set};
use crate::feed::{Connection, Sent, frames, lines, send};
use crate::options::Options;
use crate::outcome::Outcome;
use crate::peers::{Feed, Mode, Peer};
use crate::results::{Load, quantile};
use crate::server::{Server, free_address};

/// After its start a server in the mode that merges looks for work now and then.
const MERGE_BEGINS_SECONDS: f64 = 12.0;

/// What every part needs to know.
pub(crate) struct Context {
    pub(crate) options: Options,
}

impl Context {
    pub(crate) fn data(&self) -> PathBuf {
        self.options.home.join("data")
    }

    /// Where peers keep their files while they are measured.
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

/// What is sent to a server, in which pieces.
pub(crate) struct Cargo<'a> {
    /// How the row is named where a part sends several sets.
    pub(crate) name: &'a str,
    pub(crate) set: Set,
    pub(crate) feed: Feed,
    pub(crate) per_request: usize,
}

/// Whether a load is measured up to the final form of the files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Flushed,
    Merged,
}

/// A running server and whose it is.
pub(crate) struct House<'a> {
    pub(crate) context: &'a Context,
    pub(crate) peer: &'a dyn Peer,
    pub(crate) server: Server,
    log: PathBuf,
}

impl<'a> House<'a> {
    /// A server with nothing in it.
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

    /// The first of these formats that the peer takes, as this program of it is.
    pub(crate) fn format(&mut self, formats: &[Format]) -> Outcome<Format> {
        for format in formats {
            if self.takes(Feed::Metrics(*format))? {
                return Ok(*format);
            }
        }
        Err(format!("{} takes none of {formats:?}", self.peer.name()).into())
    }

    /// Whether there is anything where the feed goes.
    pub(crate) fn takes(&mut self, feed: Feed) -> Outcome<bool> {
        let Some(write) = self.peer.write(feed) else { return Ok(false) };
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\n{}{}Content-Length: 0\r\n\r\n",
            write.path, self.server.address, self.server.headers, write.headers
        );
        let mut connection = Connection::open(self.server.address)?;
        Ok(connection.exchange(request.as_bytes())?.status != 404)
    }

    /// Sends it all, and waits until it is flushed, or merged too where the peer can do that while
    /// it serves.
    pub(crate) fn load(&mut self, cargo: &Cargo<'_>, until: Until) -> Outcome<Load> {
        let mut load = self.send(cargo)?;
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

    /// Sends it all and measures up to the last answer.
    pub(crate) fn send(&self, cargo: &Cargo<'_>) -> Outcome<Load> {
        let write = self.peer.write(cargo.feed).ok_or("the peer does not take this")?;
        let json = write.headers.contains("json");
        let (format, file) = match cargo.feed {
            Feed::Metrics(format) => (format, format.file()),
            _ if json => (Format::Json, write.file.to_owned()),
            _ => (Format::Lines, write.file.to_owned()),
        };
        let path = cargo.set.ensure(&self.context.data(), &[format])?.join(file);
        let batches = match format {
            Format::RemoteWrite(_) => frames(&path)?,
            Format::Wide => lines(&path, cargo.per_request, 10)?,
            _ => lines(&path, cargo.per_request, 1)?,
        };
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\n{}{}",
            write.path, self.server.address, self.server.headers, write.headers
        );
        let cpu = self.server.cpu_seconds()?;
        let sent = send(self.server.address, &head, &path, write.wrap, &batches)?;
        Ok(told(cargo, format, &sent, self.server.cpu_seconds()? - cpu))
    }

    /// Brings its files to their final form and gives what that cost; where that needs a mode of
    /// its own, it is in it then.
    pub(crate) fn merge(&mut self) -> Outcome<f64> {
        let before = self.server.cpu_seconds()?;
        if self.peer.merge(&mut self.server)?.is_some() {
            self.server.settle()?;
            return Ok(self.server.cpu_seconds()? - before);
        }
        self.restart(Signal::TERM, Mode::Merge)?;
        // There is nothing to see of its work before.
        crate::clock::pause(MERGE_BEGINS_SECONDS);
        self.server.settle()?;
        self.server.cpu_seconds()
    }

    /// Stops it and starts it on the same folder; gives the seconds that the stop took.
    pub(crate) fn restart(&mut self, signal: Signal, mode: Mode) -> Outcome<f64> {
        let folder = self.server.folder.clone();
        let stop_s = self.server.stop(signal)?;
        self.server = start(self.peer, &folder, &self.log, mode)?;
        Ok(stop_s)
    }

    /// Ends it and removes its files.
    pub(crate) fn leave(mut self) -> Outcome<()> {
        let folder = self.server.folder.clone();
        self.server.stop(Signal::TERM)?;
        Ok(std::fs::remove_dir_all(folder)?)
    }
}

fn start(peer: &dyn Peer, folder: &Path, log: &Path, mode: Mode) -> Outcome<Server> {
    let address = free_address()?;
    Server::start(peer.launch(folder, address, mode)?, address, folder, log)
}

fn told(cargo: &Cargo<'_>, format: Format, sent: &Sent, cpu_ack: f64) -> Load {
    Load {
        set: cargo.name.to_owned(),
        format: format.to_string(),
        per_request: cargo.per_request,
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
