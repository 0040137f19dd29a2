//! Backup and restore: copies of all data on disk that can be opened like the original.
//!
//! ```text
//! while no file is deleted:   checkpoint, links, then hard links to the files ─▶ DIR/.backup-N
//!   while seals are blocked:    checkpoint of the database, hard links to the segments
//! afterwards:                 copy to TARGET.partial, sync, verify, rename to TARGET; remove
//!                             DIR/.backup-N
//! ```
//!
//! The checkpoint of the database is created first, as of one instant; its watermark identifies the
//! log records that it does not contain. Seals are blocked so that every such record is still in
//! the log when the segments are linked afterwards. Each segment is copied up to its length at that
//! time: a record that was being written may be cut off, but it was not acknowledged before the
//! backup started. Checkpoint and links stay within the file system of the data directory, so the
//! time for which seals are blocked does not depend on the target.
//!
//! Files that the documents of the checkpoint refer to still exist when they are linked, since none
//! is deleted from before the checkpoint. Later ones may be in the copy too.
//!
//! An incomplete copy contains a marker file and is never opened. The copy is verified before the
//! marker is removed. Damaged files are copied unchanged and reported: an incomplete backup is
//! better than none.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::inspect::inspect_files;
use crate::dir_sync::sync_dir;
use crate::directory::{
    self, DB_DIR, FILES_DIR, IMPORTS_DIR, LOG_DIR, STAGE_PREFIX, create_durably, refused,
};
use crate::error::{Error, Result};
use crate::files::DeletionBlock;
use crate::log::Segments;
use crate::storage::{Store, disk_used};

/// The folders of a copy.
const PARTS: [&str; 4] = [DB_DIR, LOG_DIR, FILES_DIR, IMPORTS_DIR];

/// The contents of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// Bytes of the copy.
    pub bytes: u64,
    /// Files of the copy.
    pub files: u64,
    /// Damage in the copy, one line each; damaged files are copied unchanged.
    pub damaged: Vec<String>,
}

/// Hard links, within the data directory, to everything that a backup needs. Removed when dropped.
#[derive(Debug)]
pub(crate) struct BackupStage {
    dir: PathBuf,
    /// The segments, each with the number of bytes that belong to the backup.
    segments: Vec<(PathBuf, u64)>,
}

impl BackupStage {
    /// Links the database and the log of the data directory `data`. Seals must be blocked
    /// meanwhile.
    pub(crate) fn new(data: &Path, store: &Store, segments: &Segments) -> Result<Self> {
        static STAGES: AtomicU64 = AtomicU64::new(0);
        let number = STAGES.fetch_add(1, Ordering::Relaxed);
        let dir = data.join(format!("{STAGE_PREFIX}{number}"));
        fs::create_dir(&dir).map_err(|e| io("creating", &dir, e))?;
        let mut stage = Self { dir, segments: Vec::new() };
        store.checkpoint(&stage.dir.join(DB_DIR))?;
        let log = stage.dir.join(LOG_DIR);
        fs::create_dir(&log).map_err(|e| io("creating", &log, e))?;
        for (first, path) in segments.list()? {
            let link = log.join(path.file_name().unwrap_or_default());
            let linked = fs::hard_link(&path, &link).or_else(|_| fs::copy(&path, &link).map(drop));
            let length = linked.and_then(|()| segments.newest().length_of(first, &link));
            stage.segments.push((link.clone(), length.map_err(|e| io("linking", &link, e))?));
        }
        Ok(stage)
    }

    /// Links the immutable files. Their deletion must have been blocked since before [`Self::new`].
    pub(crate) fn link_files(&self, files: &DeletionBlock<'_>) -> Result<()> {
        files.link_to(&self.dir)
    }

    /// Copies the linked files to `target`, which is created by a rename once the copy is complete.
    pub(crate) fn copy_to(self, target: &Path) -> Result<BackupReport> {
        // A target without a name, such as `/`, exists and has been refused.
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let partial = target.with_file_name(name);
        if directory::is_unfinished(&partial) {
            fs::remove_dir_all(&partial).map_err(|e| io("removing", &partial, e))?;
        }
        fs::create_dir(&partial).map_err(|e| unusable(target, &e))?;
        let done = || {
            directory::mark_unfinished(&partial).map_err(|e| io("marking", &partial, e))?;
            copy_tree(&self.dir.join(DB_DIR), &partial.join(DB_DIR), TreeCopy::LinkTables)?;
            if self.dir.join(FILES_DIR).is_dir() {
                let files = partial.join(FILES_DIR);
                copy_tree(&self.dir.join(FILES_DIR), &files, TreeCopy::LinkAll)?;
            }
            let log = partial.join(LOG_DIR);
            fs::create_dir(&log).map_err(|e| io("creating", &log, e))?;
            for (path, length) in &self.segments {
                copy(path, &log.join(path.file_name().unwrap_or_default()), *length)?;
            }
            sync_dir(&log).map_err(|e| io("syncing", &log, e))?;
            let report = finish(&partial)?;
            if target.symlink_metadata().is_ok() {
                return Err(refused(target, "it appeared while the backup was made"));
            }
            fs::rename(&partial, target).map_err(|e| io("renaming", &partial, e))?;
            let parent = parent(target);
            sync_dir(parent).map_err(|e| io("syncing", parent, e))?;
            Ok(report)
        };
        // A partial backup is worse than none.
        done().map_err(|error| {
            if remove_content(&partial).is_ok() {
                let _removed = fs::remove_dir(&partial);
            }
            match error {
                Error::Io { source, .. } if is_target_error(&source) => unusable(target, &source),
                other => other,
            }
        })
    }
}

impl Drop for BackupStage {
    fn drop(&mut self) {
        // A failure is harmless: the next start removes the directory.
        let _removed = fs::remove_dir_all(&self.dir);
    }
}

/// Fails if `target` exists, cannot be created, or is inside the data directory.
pub(crate) fn check_target(data: &Path, target: &Path) -> Result<()> {
    if target.symlink_metadata().is_ok() {
        return Err(refused(target, "it exists: a backup is made in a new directory"));
    }
    let parent = parent(target).canonicalize().map_err(|e| unusable(target, &e))?;
    let data = data.canonicalize().map_err(|e| io("finding", data, e))?;
    if target.file_name().is_none() || parent.starts_with(&data) {
        return Err(refused(target, "it is in the data directory: keep backups elsewhere"));
    }
    Ok(())
}

/// Copies a backup to `dir`, which must not exist or be empty.
pub(crate) fn restore(source: &Path, dir: &Path) -> Result<BackupReport> {
    directory::must_hold_data(source)?;
    let _read_lock = directory::lock_for_reading(source)?;
    if directory::is_unfinished(dir) {
        let reason = "a restore into it was not finished; delete its contents and restore again";
        return Err(refused(dir, reason));
    }
    if !directory::is_empty(dir)? {
        return Err(refused(dir, "it is not empty: a backup is restored to a new directory"));
    }
    let existed = dir.is_dir();
    create_durably(dir, sync_dir).map_err(|e| io("creating", dir, e))?;
    let done = || {
        directory::mark_unfinished(dir).map_err(|e| io("marking", dir, e))?;
        for part in PARTS {
            if source.join(part).is_dir() {
                copy_tree(&source.join(part), &dir.join(part), TreeCopy::Copy)?;
            }
        }
        finish(dir)
    };
    done().inspect_err(|_| {
        let removed = remove_content(dir);
        if removed.is_ok() && !existed {
            let _removed = fs::remove_dir(dir);
        }
    })
}

/// Verifies a copy and marks it as complete.
fn finish(copy: &Path) -> Result<BackupReport> {
    let damaged = inspect_files(copy)?.damaged;
    directory::mark_finished(copy).map_err(|e| io("finishing", copy, e))?;
    Ok(BackupReport { bytes: disk_used(copy)?, files: count_files(copy)?, damaged })
}

/// Removes the contents of a failed copy. The marker of an incomplete copy is removed last.
fn remove_content(dir: &Path) -> io::Result<()> {
    for part in PARTS {
        let part = dir.join(part);
        if part.is_dir() {
            fs::remove_dir_all(part)?;
        }
    }
    directory::remove_markers(dir)
}

/// How to copy the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TreeCopy {
    /// The tables of the database, which are immutable, as hard links if possible: takes neither
    /// time nor space.
    LinkTables,
    /// All as hard links if possible, since all are immutable.
    LinkAll,
    Copy,
}

impl TreeCopy {
    fn links(self, path: &Path) -> bool {
        match self {
            Self::LinkTables => path.extension().is_some_and(|extension| extension == "sst"),
            Self::LinkAll => true,
            Self::Copy => false,
        }
    }
}

fn copy_tree(from: &Path, to: &Path, how: TreeCopy) -> Result<()> {
    fs::create_dir(to).map_err(|e| io("creating", to, e))?;
    for entry in fs::read_dir(from).map_err(|e| io("reading", from, e))? {
        let entry = entry.map_err(|e| io("reading", from, e))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_tree(&path, &target, how)?;
        } else if !how.links(&path) || fs::hard_link(&path, &target).is_err() {
            copy(&path, &target, u64::MAX)?;
        }
    }
    sync_dir(to).map_err(|e| io("syncing", to, e))
}

/// Copies the first `length` bytes of a file.
fn copy(from: &Path, to: &Path, length: u64) -> Result<()> {
    let mut source = File::open(from).map_err(|e| io("opening", from, e))?.take(length);
    let mut file = File::create_new(to).map_err(|e| io("creating", to, e))?;
    io::copy(&mut source, &mut file).map_err(|e| io("copying to", to, e))?;
    file.sync_all().map_err(|e| io("syncing", to, e))
}

fn count_files(dir: &Path) -> Result<u64> {
    let mut files = 0;
    for entry in fs::read_dir(dir).map_err(|e| io("reading", dir, e))? {
        let path = entry.map_err(|e| io("reading", dir, e))?.path();
        files += if path.is_dir() { count_files(&path)? } else { 1 };
    }
    Ok(files)
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Returns whether a copy failed because of the target rather than the source.
fn is_target_error(error: &io::Error) -> bool {
    use io::ErrorKind::{
        FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    let kinds = [FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull];
    kinds.contains(&error.kind())
}

/// Returns the error for a target that cannot be written to.
fn unusable(target: &Path, error: &io::Error) -> Error {
    refused(target, format!("it cannot be written to: {error}"))
}

fn io(doing: &str, path: &Path, source: io::Error) -> Error {
    Error::Io { context: format!("{doing} {}", path.display()), source }
}
