//! The names of files on disk, and which entries of the folder are files.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::digest::FileDigest;
use crate::directory::FILES_DIR;

/// The prefix of the names of files that are being written.
const TEMPORARY_PREFIX: &str = ".put-";

/// The folder `files/` of a data directory.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    root: PathBuf,
}

/// An entry of a subfolder. All others are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A complete file.
    Stored(FileDigest),
    /// A file that is being written, or was when the process stopped; with its digest unless the
    /// name is damaged.
    Temporary(PathBuf, Option<FileDigest>),
}

impl Layout {
    /// Returns the layout of the data directory `dir`.
    pub(super) fn new(dir: &Path) -> Self {
        Self { root: dir.join(FILES_DIR) }
    }

    /// Returns the path of the folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the subfolder of the files with this first byte.
    pub(super) fn shard(&self, first_byte: u8) -> PathBuf {
        self.root.join(shard_name(first_byte))
    }

    /// Returns the path of a file.
    pub(super) fn file(&self, digest: FileDigest) -> PathBuf {
        self.shard(digest.first_byte()).join(digest.to_string())
    }

    /// Returns the path of a file while it is written. `number` distinguishes concurrent writers of
    /// the same contents.
    pub(super) fn temporary(&self, digest: FileDigest, number: u64) -> PathBuf {
        let name = format!("{TEMPORARY_PREFIX}{digest}-{number}");
        self.shard(digest.first_byte()).join(name)
    }

    /// Calls `visit`, which may delete it, with each entry. If a subfolder cannot be listed, fails
    /// after all others were.
    pub(super) fn visit(&self, mut visit: impl FnMut(Entry)) -> io::Result<()> {
        let mut outcome = Ok(());
        for first_byte in 0..=u8::MAX {
            match self.entries(first_byte) {
                Ok(entries) => entries.into_iter().for_each(&mut visit),
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome
    }

    fn entries(&self, first_byte: u8) -> io::Result<Vec<Entry>> {
        let shard = self.shard(first_byte);
        let listed = match fs::read_dir(&shard) {
            Ok(listed) => listed,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for entry in listed {
            let entry = entry?;
            if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                continue;
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if let Some(rest) = name.strip_prefix(TEMPORARY_PREFIX) {
                let digest = rest.split('-').next().and_then(|digits| digits.parse().ok());
                entries.push(Entry::Temporary(entry.path(), digest));
            } else if let Ok(digest) = name.parse::<FileDigest>()
                && digest.first_byte() == first_byte
            {
                entries.push(Entry::Stored(digest));
            }
        }
        Ok(entries)
    }
}

fn shard_name(first_byte: u8) -> String {
    format!("{first_byte:02x}")
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
