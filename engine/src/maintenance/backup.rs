//! A copy of everything on disk that can be opened like the original.
//!
//! The database is copied first, as of one instant; its watermark says which records of the log it does not
//! hold. Seals wait meanwhile, so that every such record is still in the log when that is copied after it. A
//! record being written at that moment may be cut short in the copy: it was not answered before the backup
//! began.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::log::Segments;
use crate::storage::{Store, disk_used};

/// The folder of the database in a data directory.
pub(crate) const DB_DIR: &str = "db";
/// The folder of the log in a data directory.
pub(crate) const LOG_DIR: &str = "log";
/// The file whose lock says that a data directory is in use.
pub(crate) const LOCK_FILE: &str = "LOCK";

/// What a backup holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// Its bytes.
    pub bytes: u64,
    /// Its files.
    pub files: u64,
}

/// Copies the database and the log to `target`, which must not exist. Seals must not happen meanwhile.
pub(crate) fn backup(store: &Store, segments: &Segments, target: &Path) -> Result<BackupReport> {
    fs::create_dir(target).map_err(|e| io("creating", target, e))?;
    let done = || {
        store.checkpoint(&target.join(DB_DIR))?;
        let log = target.join(LOG_DIR);
        fs::create_dir(&log).map_err(|e| io("creating", &log, e))?;
        for (_, path) in segments.list()? {
            let name = path.file_name().unwrap_or_default();
            copy_synced(&path, &log.join(name))?;
        }
        sync_dir(&log)?;
        sync_dir(target)?;
        Ok(BackupReport { bytes: disk_used(target)?, files: count_files(target)? })
    };
    // Half a backup is worse than none.
    done().inspect_err(|_| {
        let _removed = fs::remove_dir_all(target);
    })
}

/// Copies a backup to `dir`, which must not exist or be empty.
pub(crate) fn restore(source: &Path, dir: &Path) -> Result<()> {
    if !source.join(DB_DIR).join("CURRENT").is_file() {
        return Err(refused(source, "it is no backup: it has no database"));
    }
    let occupied = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    if occupied {
        return Err(refused(dir, "it is not empty: a backup is restored to a new directory"));
    }
    copy_tree(source, dir)
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(|e| io("creating", to, e))?;
    for entry in fs::read_dir(from).map_err(|e| io("reading", from, e))? {
        let entry = entry.map_err(|e| io("reading", from, e))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_tree(&path, &target)?;
        } else if entry.file_name() != LOCK_FILE {
            copy_synced(&path, &target)?;
        }
    }
    sync_dir(to)
}

fn copy_synced(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map_err(|e| io("copying", from, e))?;
    let file = fs::File::open(to).map_err(|e| io("opening", to, e))?;
    file.sync_all().map_err(|e| io("syncing", to, e))
}

fn sync_dir(dir: &Path) -> Result<()> {
    fs::File::open(dir).and_then(|d| d.sync_all()).map_err(|e| io("syncing", dir, e))
}

fn count_files(dir: &Path) -> Result<u64> {
    let mut files = 0;
    for entry in fs::read_dir(dir).map_err(|e| io("reading", dir, e))? {
        let path = entry.map_err(|e| io("reading", dir, e))?.path();
        files += if path.is_dir() { count_files(&path)? } else { 1 };
    }
    Ok(files)
}

fn refused(path: &Path, reason: &str) -> Error {
    Error::Open { path: path.to_owned(), reason: reason.to_owned() }
}

fn io(doing: &str, path: &Path, source: std::io::Error) -> Error {
    Error::Io { context: format!("{doing} {}", path.display()), source }
}
