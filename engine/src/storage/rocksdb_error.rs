//! Maps RocksDB errors to the engine's errors.
//!
//! The binding returns RocksDB's status as a string that starts with the error class. For a full
//! disk it contains the operating system's message.

use std::io;

use crate::error::Error;

/// Messages of Linux and RocksDB for a full disk, an exhausted quota and an exceeded file size
/// limit of this process.
const DISK_FULL: [&str; 3] = ["No space left on device", "Disk quota exceeded", "File too large"];

/// Linux's message for a missing file.
const NO_FILE: &str = "No such file or directory";

/// Converts `error`, which occurred during `context`, to an engine error.
pub(super) fn failure(context: &str, error: rocksdb::Error) -> Error {
    use rocksdb::ErrorKind;
    let kind = error.kind();
    let message = format!("{context}: {}", error.into_string());
    match kind {
        // A missing table counts as a damaged one.
        ErrorKind::IOError if message.contains(NO_FILE) && message.contains(".sst") => {
            Error::Corrupt(message)
        }
        ErrorKind::Corruption => Error::Corrupt(message),
        ErrorKind::IOError if is_full(&message) => Error::Unavailable(message),
        ErrorKind::ShutdownInProgress
        | ErrorKind::Busy
        | ErrorKind::TimedOut
        | ErrorKind::TryAgain => Error::Unavailable(message),
        _ => Error::Storage(message),
    }
}

/// Returns whether `message` reports a lack of disk space.
pub(super) fn is_full(message: &str) -> bool {
    DISK_FULL.iter().any(|reason| message.contains(reason))
}

/// Converts `source`, which occurred while `doing` something, to an engine error.
pub(super) fn io_failure(doing: &str, source: io::Error) -> Error {
    Error::Io { context: doing.to_owned(), source }
}
