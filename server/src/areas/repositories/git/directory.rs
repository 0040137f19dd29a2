//! The directories of git: bare repositories with what was fetched so far. They are caches: any of
//! them can be deleted, and everything is fetched anew then.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::limits;

/// What the names of directories end with.
const SUFFIX: &str = ".git";
/// The empty directory in which git runs.
const HOME: &str = "home";

/// The directory of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct GitDirectory {
    path: PathBuf,
}

/// Where all directories are.
#[derive(Clone, Debug)]
pub(super) struct GitRoot(PathBuf);

impl GitRoot {
    /// Returns the root at an absolute path, which need not exist.
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns the directory of a repository. The name is that of a file.
    pub(super) fn directory(&self, name: &str) -> GitDirectory {
        GitDirectory { path: self.0.join(format!("{name}{SUFFIX}")) }
    }

    /// Returns the empty directory in which git runs, which exists then. Blocks.
    pub(super) fn home(&self) -> io::Result<PathBuf> {
        let home = self.0.join(HOME);
        fs::create_dir_all(&home)?;
        Ok(home)
    }

    /// Deletes all directories but those of the names that `is_used` returns true for. Blocks.
    pub(super) fn retain(&self, is_used: impl Fn(&str) -> bool) -> io::Result<()> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        let mut first = Ok(());
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
            if name.is_some_and(|name| !is_used(name)) {
                first = first.and(remove(&entry.path()));
            }
        }
        first
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

    /// Returns whether it has so many packs that everything is better fetched anew. Blocks.
    pub(super) fn is_worn(&self) -> bool {
        let packs = fs::read_dir(self.path.join("objects/pack"));
        let is_pack = |name: OsString| Path::new(&name).extension().is_some_and(|of| of == "pack");
        let count = packs
            .map_or(0, |packs| packs.flatten().filter(|entry| is_pack(entry.file_name())).count());
        count >= limits::PACKS_MAX
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
