//! The system calls of a durable write, and the error for one that fails.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::error::Error;

/// The permissions of a file: its owner may read and write it.
const FILE_MODE: u32 = 0o600;
/// The permissions of a folder.
const FOLDER_MODE: u32 = 0o700;
/// Bytes that are compared at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// Creates a folder unless it exists. Its name is not durable yet.
pub(super) fn create_folder(dir: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(FOLDER_MODE).create(dir) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

/// Writes and syncs a new file. Its name is not durable yet. Removes it if that fails.
pub(super) fn write_synced(path: &Path, contents: &[u8]) -> io::Result<()> {
    let written = || {
        // One of this name was left by an earlier run.
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(FILE_MODE);
        let mut file = options.open(path)?;
        file.write_all(contents)?;
        file.sync_all()
    };
    written().inspect_err(|_| {
        // One that remains is removed by the next sweep.
        let _removed = fs::remove_file(path);
    })
}

/// Returns whether the file at `path` consists of `contents`.
pub(super) fn has_contents(path: &Path, mut contents: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(contents.is_empty()),
            Ok(read) => buffer.get(..read).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match contents.strip_prefix(read) {
            Some(rest) => contents = rest,
            None => return Ok(false),
        }
    }
}

/// Returns the engine's error for a failed system call.
pub(super) fn io_error(doing: &str, path: &Path, source: io::Error) -> Error {
    let context = format!("{doing} {}", path.display());
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Error::Unavailable(format!("{context}: {source}"))
        }
        _ => Error::Io { context, source },
    }
}
