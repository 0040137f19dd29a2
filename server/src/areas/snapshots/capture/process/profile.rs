//! The directory of a browser process: its profile, its home and its temporary files.
//!
//! ```text
//! <root>/telltale-browser-<pid>-<number>/
//!   lock      locked as long as the server that made the directory runs
//!   profile/  Chromium's user data
//!   home/     its home directory, where it stores crash reports
//!   tmp/      its temporary files
//! ```
//!
//! It is deleted with the process. What a server that was killed has left is deleted by the next
//! one: it can lock the file.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The beginning of the name of all directories.
const PREFIX: &str = "telltale-browser-";
/// The name of the file that is locked.
const LOCK: &str = "lock";
/// Attempts to delete a directory in which a process that is ending may still write.
const DELETE_ATTEMPTS: usize = 5;

/// The number of the next directory of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The directory of a browser process, deleted when it is dropped.
#[derive(Debug)]
pub(super) struct ProfileDirectory {
    path: PathBuf,
    _lock: File,
}

impl ProfileDirectory {
    /// Makes a directory that only the user of the server can read.
    pub(super) fn create(root: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(root)?;
        let path = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = root.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => break path,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let lock = File::create_new(path.join(LOCK))?;
        lock.try_lock().map_err(io::Error::from)?;
        let created = Self { path, _lock: lock };
        for directory in [created.user_data(), created.home(), created.temporary()] {
            std::fs::create_dir(directory)?;
        }
        Ok(created)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn user_data(&self) -> PathBuf {
        self.path.join("profile")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Returns the directory for temporary files as processes that run in [`Self::path`] name it:
    /// Chromium makes a socket in it, whose path must be short (`unix(7)`) however long ours is.
    pub(super) fn temporary_of_process() -> &'static Path {
        Path::new("/proc/self/cwd/tmp")
    }
}

impl Drop for ProfileDirectory {
    fn drop(&mut self) {
        delete(&self.path);
    }
}

/// Deletes the directories of servers that ended without deleting them. Blocks.
pub(in super::super) fn delete_stale_profiles(root: &Path) {
    let Ok(entries) = std::fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_ours || !is_directory {
            continue;
        }
        let lock = File::options().write(true).open(entry.path().join(LOCK));
        // Held until the directory is deleted.
        if let Ok(lock) = lock
            && lock.try_lock().is_ok()
        {
            delete(&entry.path());
        }
    }
}

fn delete(path: &Path) {
    for attempt in 1..=DELETE_ATTEMPTS {
        match std::fs::remove_dir_all(path) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) if attempt == DELETE_ATTEMPTS => {
                tracing::warn!(path = %path.display(), %error, "a profile could not be deleted");
            }
            Err(_) => std::thread::yield_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_deleted_when_dropped_or_by_the_next_server() {
        let root = tempfile::tempdir().unwrap();
        let kept = ProfileDirectory::create(root.path()).unwrap();
        let dropped = ProfileDirectory::create(root.path()).unwrap();
        let path = dropped.path().to_owned();
        std::fs::write(dropped.user_data().join("file"), "x").unwrap();
        drop(dropped);
        assert!(!path.exists());
        let stale = root.path().join("telltale-browser-1-0");
        let other = root.path().join("other");
        for directory in [&stale, &other] {
            std::fs::create_dir(directory).unwrap();
            std::fs::write(directory.join(LOCK), "").unwrap();
        }
        delete_stale_profiles(root.path());
        assert!(!stale.exists() && other.exists() && kept.path().exists());
    }
}
