//! The limits of git, with units and reasons.

use std::time::Duration;

/// KiB of address space of each process: the windows into packs, and the largest object that is
/// not streamed with what it is a delta of.
pub(super) const MEMORY_KIB_MAX: u64 = 2 << 20;
/// Bytes from which git streams an object instead of loading it.
pub(super) const STREAMED_BYTES: u64 = 16 << 20;
/// How long git may take to ask a remote repository for its branches, or to read what is here.
pub(super) const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// How often the size of a directory is looked at while git fetches into it.
pub(super) const SIZE_PERIOD: Duration = Duration::from_millis(500);
/// Bytes that are kept of what git writes to standard error: its last words say what failed.
pub(super) const ERRORS_BYTES_MAX: usize = 16 << 10;
/// Characters that are shown of them.
pub(super) const ERROR_CHARS_MAX: usize = 300;
/// Bytes that a server may send to name its branches: those of an old version name all of them.
pub(super) const ADVERTISED_BYTES_MAX: u64 = 64 << 20;
/// Bytes of the list of branches that are asked for.
pub(super) const REFS_BYTES_MAX: u64 = 64 << 10;
/// Packs of a directory; with more, everything is fetched anew: each sync adds one.
pub(super) const PACKS_MAX: usize = 50;
/// Bytes of a path in a commit, as many as Linux allows.
pub(super) const PATH_BYTES_MAX: usize = 4_096;
/// Directories in a path.
pub(super) const PATH_DEPTH_MAX: usize = 100;
/// Bytes of all paths of a commit.
pub(super) const PATHS_BYTES_MAX: usize = 64 << 20;
/// Bytes of a line of the list of objects before its path.
pub(super) const ENTRY_HEAD_BYTES_MAX: usize = 128;
/// Connections of a fetch: git opens a few.
pub(super) const CONNECTIONS_MAX: usize = 64;
/// How often a token is written to the pipe: git asks once, and once more if it is refused.
pub(super) const TOKEN_COPIES: usize = 4;
/// The oldest version of git that has all of what is used.
pub(super) const VERSION_MIN: (u32, u32) = (2, 34);
/// How long processes may take to end after they are killed.
pub(super) const REAP_TIMEOUT: Duration = Duration::from_secs(5);
/// How often it is looked whether they have ended.
pub(super) const REAP_PERIOD: Duration = Duration::from_millis(2);
