//! The directories of git: bare repositories with what was fetched so far. They are caches: any of
//! them can be deleted, and everything is fetched anew then. One that is in use is leased, and is
//! not deleted by others meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;

use super::limits;

/// What the names of directories end with.
const SUFFIX: &str = ".git";
/// The empty directory in which git runs.
const HOME: &str = "home";
/// Where git keeps what it fetched.
const PACKS: &str = "objects/pack";
/// What the names of files begin with that a fetch has not completed.
const UNFINISHED: &str = "tmp_";

/// The directory of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct GitDirectory {
    path: PathBuf,
}

/// A directory that is in use, until this is dropped.
#[derive(Debug)]
pub(in crate::areas::repositories) struct GitLease {
    directory: GitDirectory,
    leased: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// Where all directories are.
#[derive(Clone, Debug)]
pub(super) struct GitRoot {
    path: PathBuf,
    leased: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl GitLease {
    /// Returns the directory.
    pub(in crate::areas::repositories) fn directory(&self) -> &GitDirectory {
        &self.directory
    }
}

impl Drop for GitLease {
    fn drop(&mut self) {
        self.leased.lock().remove(&self.directory.path);
    }
}

impl GitRoot {
    /// Returns the root at an absolute path, which need not exist.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, leased: Arc::default() }
    }

    /// Leases the directory of a repository. The name is that of a file.
    pub(super) fn lease(&self, name: &str) -> GitLease {
        let directory = GitDirectory { path: self.path.join(format!("{name}{SUFFIX}")) };
        self.leased.lock().insert(directory.path.clone());
        GitLease { directory, leased: Arc::clone(&self.leased) }
    }

    /// Returns the empty directory in which git runs, which exists then. Blocks.
    pub(super) fn home(&self) -> io::Result<PathBuf> {
        let home = self.path.join(HOME);
        fs::create_dir_all(&home)?;
        Ok(home)
    }

    /// Deletes all directories but those in use and those of the names that `is_used` returns true
    /// for. Blocks.
    pub(super) fn retain(&self, is_used: impl Fn(&str) -> bool) -> io::Result<()> {
        let mut first = Ok(());
        for directory in self.directories()? {
            let is_used = is_used(directory.name()) || self.is_leased(&directory);
            if !is_used {
                first = first.and(directory.remove());
            }
        }
        first
    }

    /// Deletes directories that were not fetched into for the longest time, until all of them have
    /// at most so many bytes. Returns whether they have then: those in use are kept. Blocks.
    pub(super) fn shrink_to(&self, bytes_max: u64) -> io::Result<bool> {
        let directories = self.directories()?.into_iter();
        let mut sizes: Vec<_> = directories.map(|of| (of.fetched_at(), of.bytes(), of)).collect();
        sizes.sort_by_key(|(fetched_at, ..)| *fetched_at);
        let mut total: u64 = sizes.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, directory) in sizes {
            if total <= bytes_max {
                return Ok(true);
            }
            if !self.is_leased(&directory) {
                directory.remove()?;
                total -= bytes;
            }
        }
        Ok(total <= bytes_max)
    }

    /// Returns how many bytes are free where the directories are. Blocks.
    pub(super) fn disk_free(&self) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(&self.path)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    fn directories(&self) -> io::Result<Vec<GitDirectory>> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let entries: Vec<fs::DirEntry> = entries.collect::<io::Result<_>>()?;
        let directories = entries.iter().map(|entry| GitDirectory { path: entry.path() });
        Ok(directories.filter(|directory| !directory.name().is_empty()).collect())
    }

    fn is_leased(&self, directory: &GitDirectory) -> bool {
        self.leased.lock().contains(&directory.path)
    }
}

impl GitDirectory {
    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether there is one. Blocks.
    pub(super) fn exists(&self) -> bool {
        self.path.join("HEAD").is_file()
    }

    /// Deletes it. Blocks.
    pub(super) fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }

    /// Returns the name of the repository; empty if it is not a directory of one.
    fn name(&self) -> &str {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_suffix(SUFFIX).unwrap_or_default()
    }

    /// Returns when something was fetched last.
    fn fetched_at(&self) -> SystemTime {
        let packs = fs::metadata(self.path.join(PACKS));
        packs.and_then(|of| of.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Prepares it for a fetch of at most so many bytes: what an interrupted fetch left is deleted,
    /// and everything if it holds so much of earlier commits that it is better fetched anew.
    /// Blocks.
    pub(super) fn prepare(&self, bytes_max: u64) -> io::Result<()> {
        let mut packs = 0;
        for entry in fs::read_dir(self.path.join(PACKS)).into_iter().flatten() {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with(UNFINISHED) {
                fs::remove_file(&path)?;
            }
            packs += usize::from(path.extension().is_some_and(|of| of == "pack"));
        }
        let is_worn = packs >= limits::PACKS_MAX || packs > 1 && self.bytes() > bytes_max / 2;
        if is_worn { self.remove() } else { Ok(()) }
    }

    /// Returns the bytes of all its files. Blocks.
    pub(super) fn bytes(&self) -> u64 {
        let mut bytes = 0;
        let mut directories = vec![self.path.clone()];
        while let Some(directory) = directories.pop() {
            // What is deleted meanwhile takes nothing.
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                match entry.metadata() {
                    Ok(of) if of.is_dir() => directories.push(entry.path()),
                    Ok(of) => bytes += of.len(),
                    Err(_) => {}
                }
            }
        }
        bytes
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}
