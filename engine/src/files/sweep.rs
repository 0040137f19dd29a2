//! Deletion of files that nobody refers to, and what keeps it from interfering with a backup.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use parking_lot::MutexGuard;

use super::digest::FileDigest;
use super::durable_write::{create_folder, io_error};
use super::file_store::Files;
use super::layout::{Entry, Layout};
use crate::error::Result;
use crate::reports::FilesReport;

/// While this exists, no file is deleted.
#[derive(Debug)]
#[must_use = "files may be deleted once this is dropped"]
pub(crate) struct DeletionBlock<'f> {
    files: &'f Files,
    _no_sweep: MutexGuard<'f, ()>,
}

impl Files {
    /// Deletes all files that are neither pinned nor kept, and what interrupted writes have left.
    /// Waits while a backup links the files, and for another call.
    ///
    /// `keep` returns whether something refers to a file. For each file, pins are checked first,
    /// then `keep` is called, and no pin of the file is created before it is deleted. So a caller
    /// that registers a reference before it drops its pin never loses the file, provided that
    /// `keep` looks at the references as they are when it is called, not at an earlier copy.
    ///
    /// `keep` must not call [`Files::put`] or [`Files::retain`], and must not wait for a thread
    /// that does.
    ///
    /// Deletions are not synced: after a power loss, files may exist again. A file that cannot be
    /// deleted does not keep others from being deleted; the first error is returned.
    pub fn retain(&self, keep: impl Fn(FileDigest) -> bool) -> Result<FilesReport> {
        let _turn = self.sweeps.lock();
        let mut report = FilesReport::default();
        let mut failure = None;
        let root = self.layout.root();
        let listed = self.layout.visit(|entry| {
            let outcome = match &entry {
                Entry::Stored(digest) => self.delete_unless_kept(*digest, &keep, &mut report),
                Entry::Temporary(path, digest) => self.delete_temporary(path, *digest, &mut report),
            };
            if let Err(error) = outcome {
                failure.get_or_insert(error);
            }
        });
        listed.map_err(|error| io_error("listing", root, error))?;
        match failure {
            None => Ok(report),
            Some(error) => Err(io_error("deleting files in", root, error)),
        }
    }

    /// Keeps files from being deleted until the result is dropped. Waits for a sweep in progress.
    pub(crate) fn block_deletion(&self) -> DeletionBlock<'_> {
        DeletionBlock { files: self, _no_sweep: self.sweeps.lock() }
    }

    fn delete_unless_kept(
        &self,
        digest: FileDigest,
        keep: impl Fn(FileDigest) -> bool,
        report: &mut FilesReport,
    ) -> io::Result<()> {
        let _names = self.names.lock();
        if self.pins.has(digest) || keep(digest) {
            report.kept += 1;
            return Ok(());
        }
        let path = self.layout.file(digest);
        let bytes = fs::metadata(&path).map_or(0, |file| file.len());
        if remove(&path)? {
            self.totals.remove(bytes);
            report.deleted += 1;
            report.deleted_bytes += bytes;
        }
        Ok(())
    }

    fn delete_temporary(
        &self,
        path: &Path,
        digest: Option<FileDigest>,
        report: &mut FilesReport,
    ) -> io::Result<()> {
        let _names = self.names.lock();
        // A writer pins the file first.
        if digest.is_some_and(|digest| self.pins.has(digest)) {
            return Ok(());
        }
        if remove(path)? {
            report.temporary_deleted += 1;
        }
        Ok(())
    }
}

impl DeletionBlock<'_> {
    /// Links, or where that is impossible copies, all files to the data directory `copy`. Creates
    /// nothing if there are no files.
    pub(crate) fn link_to(&self, copy: &Path) -> Result<()> {
        let from = &self.files.layout;
        let to = Layout::new(copy);
        let mut linked = Ok(());
        let listed = from.visit(|entry| {
            if let (Entry::Stored(digest), Ok(())) = (entry, &linked) {
                linked = link(from, &to, digest);
            }
        });
        listed.and(linked).map_err(|error| io_error("linking files to", to.root(), error))
    }
}

fn link(from: &Layout, to: &Layout, digest: FileDigest) -> io::Result<()> {
    create_folder(to.root())?;
    create_folder(&to.shard(digest.first_byte()))?;
    let (path, link) = (from.file(digest), to.file(digest));
    match fs::hard_link(&path, &link).or_else(|_| fs::copy(&path, &link).map(drop)) {
        // Removed by another program: the rest is copied.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        linked => linked,
    }
}

/// Removes a file. Returns whether it existed.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
