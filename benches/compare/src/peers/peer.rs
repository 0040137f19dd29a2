//! What a server must say of itself to be compared.

use std::net::SocketAddr;
use std::path::Path;

use crate::ask::{Digest, Question};
use crate::data::Format;
use crate::feed::Wrap;
use crate::outcome::Outcome;
use crate::server::{Launch, Server};

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    Metrics(Format),
    Events,
    /// The users of the events alone, as a set metric.
    EventUsers,
}

/// Where and how a peer takes a feed.
pub(crate) struct Write {
    pub(crate) path: &'static str,
    /// Headers that only these requests have, each with its line end.
    pub(crate) headers: &'static str,
    pub(crate) wrap: Wrap,
    /// The file of events; those of metrics are named by their format.
    pub(crate) file: &'static str,
}

/// What a server is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Normal,
    /// To bring its files to their final form, where a peer does that in a mode of its own.
    Merge,
}

/// A server that can be measured.
pub(crate) trait Peer: Sync {
    fn name(&self) -> &'static str;

    fn version(&self) -> Outcome<String>;

    /// What has become of a point when its write is acknowledged.
    fn durability(&self) -> &'static str;

    fn launch(&self, folder: &Path, address: SocketAddr, mode: Mode) -> Outcome<Launch>;

    /// Makes an empty server ready for points.
    fn prepare(&self, _server: &mut Server) -> Outcome<()> {
        Ok(())
    }

    /// How it takes a feed; nothing when it does not.
    fn write(&self, feed: Feed) -> Option<Write>;

    /// Moves to disk what is in memory.
    fn flush(&self, server: &mut Server) -> Outcome<()>;

    /// Brings what is on disk to its final form; nothing when that needs a start in
    /// [`Mode::Merge`].
    fn merge(&self, server: &mut Server) -> Outcome<Option<()>>;

    /// Whether it is another peer once more but for when it acknowledges.
    fn differs_in_acknowledgement_alone(&self) -> bool {
        false
    }

    /// The folder of its data directory that is weighed, and why not all of it; everything where
    /// nothing is said.
    fn weighed(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Whether an answer before the merge takes another way than one after it.
    fn answers_change_path(&self) -> bool {
        false
    }

    /// Points or events that it has.
    fn count(&self, server: &mut Server, feed: Feed) -> Outcome<u64>;

    /// The paths to get, one after another, for an answer; nothing when the peer cannot be asked.
    fn requests(&self, question: &Question) -> Option<Vec<String>>;

    fn digest(&self, question: &Question, bodies: &[Vec<u8>]) -> Outcome<Digest>;
}
