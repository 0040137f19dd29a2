//! Disk space: how much is free and how much a directory uses.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// Returns how many bytes this process may still write to the file system that contains `path`.
pub(crate) fn disk_free(path: &Path) -> Result<u64> {
    let stat = rustix::fs::statvfs(path).map_err(|errno| Error::Io {
        context: format!("free space of {}", path.display()),
        source: io::Error::from(errno),
    })?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Returns the total bytes of the files in `dir` and its subdirectories. A file that is removed
/// during the walk counts as zero.
pub(crate) fn disk_used(dir: &Path) -> Result<u64> {
    bytes_below(dir)
        .map_err(|source| Error::Io { context: format!("size of {}", dir.display()), source })
}

fn bytes_below(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        bytes += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
