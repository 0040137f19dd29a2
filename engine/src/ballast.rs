//! The ballast file: disk space reserved while the disk is nearly full, so that a later start has
//! space even if other programs fill the disk completely.
//!
//! Opening the database needs some space: a manifest, tables for the contents of its log, a segment
//! of the write-ahead log. Without it not even reads would be possible. So once free space falls
//! below `Options::disk_free_bytes`, where writes are refused, a file without content takes part of
//! what is left: at most half, because the running process needs space too. A start removes the
//! file first; it is also removed once there is enough space again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

use crate::error::{Error, Result};
use crate::storage::disk_free;

/// The name of the ballast file in a data directory.
pub(crate) const NAME: &str = "BALLAST";
/// Bytes of the smallest ballast file that is worth creating.
const BYTES_MIN: u64 = 1 << 20;

/// The ballast file of one data directory.
#[derive(Clone, Debug)]
pub(crate) struct Ballast {
    dir: PathBuf,
    /// Bytes of disk space to be kept free; see `Options::disk_free_bytes`.
    kept_free: u64,
}

impl Ballast {
    pub(crate) fn new(dir: &Path, kept_free: u64) -> Self {
        Self { dir: dir.to_owned(), kept_free }
    }

    /// Removes the file, to free its space for a start.
    pub(crate) fn release(&self) {
        // A failure is harmless: `update` finds the file and tries again.
        let _removed = fs::remove_file(self.path());
    }

    /// Returns the free bytes on the disk. If they are fewer than `enough`, the bytes of the
    /// ballast file are added, since they can be freed at any time.
    pub(crate) fn disk_free(&self, enough: u64) -> Result<u64> {
        let free = disk_free(&self.dir)?;
        Ok(if free >= enough { free } else { free.saturating_add(self.bytes()) })
    }

    /// Fails with [`Error::Unavailable`] if less space than must be kept free would be left after
    /// `bytes` were written.
    pub(crate) fn check_space(&self, bytes: u64) -> Result<()> {
        let (least, enough) = (self.kept_free, self.kept_free.saturating_add(bytes));
        let free = self.disk_free(enough)?;
        if free >= enough {
            return Ok(());
        }
        let after = if bytes == 0 { String::new() } else { format!(" after {bytes} are written") };
        Err(Error::Unavailable(format!(
            "the disk has {free} bytes free, but {least} must stay free{after}; free some space"
        )))
    }

    /// Creates the file if free space is short, and removes it once there is enough.
    pub(crate) fn update(&self) -> Result<()> {
        let (free, bytes) = (disk_free(&self.dir)?, self.bytes());
        if free.saturating_add(bytes) >= self.kept_free {
            if bytes > 0 {
                self.release();
            }
        } else if bytes == 0 {
            self.take(free.min(self.kept_free) / 2);
        }
        Ok(())
    }

    /// Allocates a file of `bytes`, halving the size as long as the allocation fails.
    fn take(&self, mut bytes: u64) {
        while bytes >= BYTES_MIN {
            let taken = File::create(self.path()).and_then(|file| {
                fallocate(&file, FallocateFlags::empty(), 0, bytes)?;
                file.sync_all()
            });
            match taken {
                Ok(()) => {
                    tracing::warn!(
                        bytes,
                        "the disk is nearly full: space is reserved for the next start"
                    );
                    return;
                }
                Err(_) => bytes /= 2,
            }
        }
        self.release();
    }

    fn bytes(&self) -> u64 {
        fs::metadata(self.path()).map_or(0, |file| file.len())
    }

    fn path(&self) -> PathBuf {
        self.dir.join(NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_reserved_when_it_is_short_and_freed_when_there_is_enough() {
        let dir = tempfile::tempdir().unwrap();
        let short = Ballast { dir: dir.path().to_owned(), kept_free: u64::MAX };
        let little = 4 << 20;
        short.take(little);
        assert_eq!(short.bytes(), little);
        let other = Ballast { dir: dir.path().join("none"), ..short.clone() };
        assert_eq!((other.bytes(), short.bytes()), (0, little), "its bytes can be freed");
        short.update().unwrap();
        assert_eq!(short.bytes(), little, "an existing file is kept");
        let enough = Ballast { kept_free: 1, ..short.clone() };
        enough.update().unwrap();
        assert_eq!(enough.bytes(), 0);
        enough.update().unwrap();
        assert!(!enough.path().exists());
        short.take(BYTES_MIN - 1);
        assert!(!short.path().exists(), "not worth a file");
    }
}
