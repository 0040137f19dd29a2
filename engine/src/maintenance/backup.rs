//! Copies of everything on disk that can be opened like the original.
//!
//! ```text
//! seals wait:    checkpoint of the database, links to the segments ─▶ DIR/.backup-N
//! they go on:    copy to TARGET.partial, sync, verify, rename to TARGET; remove DIR/.backup-N
//! ```
//!
//! The database is taken first, as of one instant; its watermark says which records of the log it does not hold. Seals wait
//! meanwhile, so that every such record is still in the log when the segments are linked after it. A segment is copied as long
//! as it was then: a record being written at that moment may be cut short, and nobody had an answer for it before the
//! backup began. Both are links within one file system, so seals wait as long wherever the target lies.
//!
//! A copy that is not complete has a file that says so, and is never opened. It is verified before that file goes. Damage is
//! copied as it is, and reported: a copy of what is left is better than none.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::inspect::inspect_files;
use crate::dir_sync::sync_dir;
use crate::directory::{self, DB_DIR, IMPORTS_DIR, LOG_DIR, STAGE_PREFIX, create_durably, refused};
use crate::error::{Error, Result};
use crate::log::Segments;
use crate::storage::{Store, disk_used};

/// What a copy holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// Its bytes.
    pub bytes: u64,
    /// Its files.
    pub files: u64,
    /// What is damaged in it, one line each: it was copied as it was.
    pub damaged: Vec<String>,
}

/// Links to everything that a backup needs, in the data directory. Removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Stage {
    dir: PathBuf,
    /// The segments, and how much of each belongs to the backup.
    segments: Vec<(PathBuf, u64)>,
}

impl Stage {
    /// Links database and log of the data directory `data`. Seals must not happen meanwhile.
    pub(crate) fn new(data: &Path, store: &Store, segments: &Segments) -> Result<Self> {
        static STAGES: AtomicU64 = AtomicU64::new(0);
        let number = STAGES.fetch_add(1, Ordering::Relaxed);
        let dir = data.join(format!("{STAGE_PREFIX}{number}"));
        fs::create_dir(&dir).map_err(|e| io("creating", &dir, e))?;
        let mut stage = Self { dir, segments: Vec::new() };
        store.checkpoint(&stage.dir.join(DB_DIR))?;
        let log = stage.dir.join(LOG_DIR);
        fs::create_dir(&log).map_err(|e| io("creating", &log, e))?;
        for (_, path) in segments.list()? {
            let link = log.join(path.file_name().unwrap_or_default());
            let linked = fs::hard_link(&path, &link).or_else(|_| fs::copy(&path, &link).map(drop));
            let length = linked.and_then(|()| link.metadata()).map(|found| found.len());
            stage.segments.push((link.clone(), length.map_err(|e| io("linking", &link, e))?));
        }
        Ok(stage)
    }

    /// Copies what is linked to `target`, which appears when it is complete.
    pub(crate) fn copy_to(self, target: &Path) -> Result<BackupReport> {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let partial = target.with_file_name(name);
        if directory::is_unfinished(&partial) {
            fs::remove_dir_all(&partial).map_err(|e| io("removing", &partial, e))?;
        }
        fs::create_dir(&partial).map_err(|e| unusable(target, &e))?;
        let done = || {
            directory::mark_unfinished(&partial).map_err(|e| io("marking", &partial, e))?;
            copy_tree(&self.dir.join(DB_DIR), &partial.join(DB_DIR), Tables::Link)?;
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
        // MagnitudeHistogram a backup is worse than none.
        done().map_err(|error| {
            if remove_content(&partial).is_ok() {
                let _removed = fs::remove_dir(&partial);
            }
            match error {
                Error::Io { source, .. } if is_of_the_place(&source) => unusable(target, &source),
                other => other,
            }
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be removed now is at the next start.
        let _removed = fs::remove_dir_all(&self.dir);
    }
}

/// Refuses a target that exists, that cannot be made, or that lies inside the data directory.
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
    let _nobody_writes = directory::lock_for_reading(source)?;
    if directory::is_unfinished(dir) {
        let reason = "a restore into it was not finished; remove what it holds and restore again";
        return Err(refused(dir, reason));
    }
    if !directory::is_empty(dir)? {
        return Err(refused(dir, "it is not empty: a backup is restored to a new directory"));
    }
    let existed = dir.is_dir();
    create_durably(dir, sync_dir).map_err(|e| io("creating", dir, e))?;
    let done = || {
        directory::mark_unfinished(dir).map_err(|e| io("marking", dir, e))?;
        for part in [DB_DIR, LOG_DIR, IMPORTS_DIR] {
            if source.join(part).is_dir() {
                copy_tree(&source.join(part), &dir.join(part), Tables::Copy)?;
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

/// Verifies a copy and says that it is complete.
fn finish(copy: &Path) -> Result<BackupReport> {
    let damaged = inspect_files(copy)?.damaged;
    directory::mark_finished(copy).map_err(|e| io("finishing", copy, e))?;
    Ok(BackupReport { bytes: disk_used(copy)?, files: count_files(copy)?, damaged })
}

/// The mark that says that it is unfinished goes last.
fn remove_content(dir: &Path) -> io::Result<()> {
    for part in [DB_DIR, LOG_DIR, IMPORTS_DIR] {
        let part = dir.join(part);
        if part.is_dir() {
            fs::remove_dir_all(part)?;
        }
    }
    directory::remove_marks(dir)
}

/// What becomes of the tables of the database, which never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tables {
    /// They are linked where that is possible: it costs neither time nor space.
    Link,
    Copy,
}

fn copy_tree(from: &Path, to: &Path, tables: Tables) -> Result<()> {
    fs::create_dir(to).map_err(|e| io("creating", to, e))?;
    for entry in fs::read_dir(from).map_err(|e| io("reading", from, e))? {
        let entry = entry.map_err(|e| io("reading", from, e))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let is_table = path.extension().is_some_and(|extension| extension == "sst");
        if path.is_dir() {
            copy_tree(&path, &target, tables)?;
        } else if tables != Tables::Link || !is_table || fs::hard_link(&path, &target).is_err() {
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

/// Whether the place that is written to is why a copy fails, and not what is copied.
fn is_of_the_place(error: &io::Error) -> bool {
    use io::ErrorKind::{
        FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    let kinds = [FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull];
    kinds.contains(&error.kind())
}

/// The refusal of a target in a place that cannot be written to.
fn unusable(target: &Path, error: &io::Error) -> Error {
    refused(target, format!("nothing can be written there: {error}"))
}

fn io(doing: &str, path: &Path, source: io::Error) -> Error {
    Error::Io { context: format!("{doing} {}", path.display()), source }
}
