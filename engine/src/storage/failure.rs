//! What RocksDB says went wrong, in the engine's words.
//!
//! The binding hands over RocksDB's status as text; its beginning tells the class, and for a full disk the
//! system's own message stands in it.

use std::io;

use crate::error::Error;

/// How Linux and RocksDB say that there is no room: on the disk, in the quota, within the size that a file
/// of this process may have.
const NO_ROOM: [&str; 3] = ["No space left on device", "Disk quota exceeded", "File too large"];

/// How Linux says that there is no such file.
const NO_FILE: &str = "No such file or directory";

/// The engine's error for `error`, which came while doing `context`.
pub(super) fn failure(context: &str, error: rocksdb::Error) -> Error {
    use rocksdb::ErrorKind;
    let kind = error.kind();
    let message = format!("{context}: {}", error.into_string());
    match kind {
        // A table that is not there is as damaged as one can be.
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

/// Whether what went wrong is that there is no room.
pub(super) fn is_full(message: &str) -> bool {
    NO_ROOM.iter().any(|text| message.contains(text))
}

/// The engine's error for what the system says, which came while `doing` something.
pub(super) fn io_failure(doing: &str, source: io::Error) -> Error {
    Error::Io { context: doing.to_owned(), source }
}
