//! The interface of a peer with a server.

use std::net::SocketAddr;
use std::path::Path;

use crate::data::Format;
use crate::feed::Wrap;
use crate::outcome::Outcome;
use crate::queries::{Digest, Query};
use crate::server::{Launch, Server};

/// The kind of data that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    Metrics(Format),
    Events,
    /// The users of the events alone, as a set metric.
    EventUsers,
}

/// The request with which a peer accepts a feed.
pub(crate) struct Write {
    pub(crate) path: &'static str,
    /// Additional headers, with line ends.
    pub(crate) headers: &'static str,
    pub(crate) wrap: Wrap,
    /// The file name for events; files of metrics are named by their format.
    pub(crate) file: &'static str,
}

/// The mode of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Normal,
    /// Merges the files, for peers that do not merge fully while they serve.
    Merge,
}

/// A peer with a server.
pub(crate) trait Peer: Sync {
    fn name(&self) -> &'static str;

    fn version(&self) -> Outcome<String>;

    /// Describes what an acknowledgement of a write guarantees.
    fn durability(&self) -> &'static str;

    fn launch(&self, folder: &Path, address: SocketAddr, mode: Mode) -> Outcome<Launch>;

    /// Prepares an empty server for points.
    fn prepare(&self, _server: &mut Server) -> Outcome<()> {
        Ok(())
    }

    /// Returns the request for a feed; `None` if the peer does not support it.
    fn write(&self, feed: Feed) -> Option<Write>;

    /// Writes data in memory to disk.
    fn flush(&self, server: &mut Server) -> Outcome<()>;

    /// Merges the files; `None` if that requires a start in [`Mode::Merge`].
    fn merge(&self, server: &mut Server) -> Outcome<Option<()>>;

    /// Returns whether it differs from another peer only in when it acknowledges.
    fn differs_in_acknowledgement_alone(&self) -> bool {
        false
    }

    /// Returns the subdirectory whose disk space counts, and the reason; `None` if everything
    /// counts.
    fn counted_folder(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Returns whether queries are executed differently before and after the merge.
    fn merge_changes_plans(&self) -> bool {
        false
    }

    /// Returns the number of stored points or events.
    fn count(&self, server: &mut Server, feed: Feed) -> Outcome<u64>;

    /// Returns the paths to request in order for a query; `None` if the peer does not support it.
    fn requests(&self, query: &Query) -> Option<Vec<String>>;

    fn digest(&self, query: &Query, bodies: &[Vec<u8>]) -> Outcome<Digest>;
}
