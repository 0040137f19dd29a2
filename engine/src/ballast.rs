//! The ballast: disk that is set aside when it runs short, so that a start has room on a disk that others have filled to the last byte.
//!
//! Opening the database writes a little: a manifest, tables of what its log held, a segment of our own log. Without room for
//! that nothing could be read. So when less is free than is kept free, and writes are refused, a part of what is left is taken by
//! a file without meaning: at most half, since what runs needs room too; a start removes it first, and so does whoever finds that there is room again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

use crate::error::Result;
use crate::storage::disk_free;

/// The name of the file.
pub(crate) const NAME: &str = "BALLAST";
/// Less is not worth a file.
const BYTES_MIN: u64 = 1 << 20;

/// The ballast of a data directory.
#[derive(Clone, Debug)]
pub(crate) struct Ballast {
    dir: PathBuf,
    /// What is to be kept free.
    kept_free: u64,
}

impl Ballast {
    pub(crate) fn new(dir: &Path, kept_free: u64) -> Self {
        Self { dir: dir.to_owned(), kept_free }
    }

    /// Gives the room back, for a start.
    pub(crate) fn release(&self) {
        // One that is not there, or that stays, is found again.
        let _removed = fs::remove_file(self.path());
    }

    /// Bytes free on the disk. Where they are fewer than `enough`, those of the ballast are included: they can be had.
    pub(crate) fn disk_free(&self, enough: u64) -> Result<u64> {
        let free = disk_free(&self.dir)?;
        Ok(if free >= enough { free } else { free.saturating_add(self.bytes()) })
    }

    /// Takes room when it runs short, and gives it back when there is enough.
    pub(crate) fn look(&self) -> Result<()> {
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

    /// Takes as much as can be had, half of it each time that it cannot.
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
                        "the disk is nearly full: some of it is set aside for the next start"
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
    fn room_is_taken_when_it_is_short_and_given_back_when_there_is_enough() {
        let dir = tempfile::tempdir().unwrap();
        let short = Ballast { dir: dir.path().to_owned(), kept_free: u64::MAX };
        let little = 4 << 20;
        short.take(little);
        assert_eq!(short.bytes(), little);
        let other = Ballast { dir: dir.path().join("none"), ..short.clone() };
        assert_eq!((other.bytes(), short.bytes()), (0, little), "its bytes can be had");
        short.look().unwrap();
        assert_eq!(short.bytes(), little, "what there is suffices");
        let enough = Ballast { kept_free: 1, ..short.clone() };
        enough.look().unwrap();
        assert_eq!(enough.bytes(), 0);
        enough.look().unwrap();
        assert!(!enough.path().exists());
        short.take(BYTES_MIN - 1);
        assert!(!short.path().exists(), "not worth a file");
    }
}
