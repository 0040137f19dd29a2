//! Storing and reading files.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::digest::FileDigest;
use super::durable_write::{create_folder, has_contents, io_error, write_synced};
use super::layout::{Entry, Layout};
use super::pins::{PinnedFile, Pins};
use super::totals::Totals;
use crate::ballast::Ballast;
use crate::damage::{DamageList, Finding};
use crate::dir_sync::sync_dir;
use crate::error::{Error, Result};
use crate::limits::{FILE_BYTES_MAX, MISSING_FILES_NAMED_MAX};

/// The immutable files of an engine. Can be used from any thread; calls block.
#[derive(Debug)]
pub struct Files {
    /// The data directory.
    dir: PathBuf,
    pub(super) layout: Layout,
    pub(super) pins: Arc<Pins>,
    /// Held by a sweep, and by a backup while it links the files.
    pub(super) sweeps: Mutex<()>,
    /// Held while a name appears or disappears.
    pub(super) names: Mutex<()>,
    pub(super) totals: Totals,
    /// Subfolders whose own names are known to be durable, by first byte.
    durable_shards: Mutex<[bool; 256]>,
    next_temporary: AtomicU64,
    damage: Arc<DamageList>,
    ballast: Ballast,
}

/// What is stored under the name of a file that is about to be stored.
enum Existing {
    /// Nothing.
    Nothing,
    /// The same contents.
    Same,
    /// Other bytes: the file is damaged.
    Different,
    /// It cannot be read.
    Unreadable(io::Error),
}

impl Files {
    /// Opens the files of the data directory `dir`: counts them, and removes what an interrupted
    /// write has left.
    pub(crate) fn open(dir: &Path, damage: Arc<DamageList>, ballast: Ballast) -> Self {
        let files = Self {
            dir: dir.to_owned(),
            layout: Layout::new(dir),
            pins: Arc::default(),
            sweeps: Mutex::default(),
            names: Mutex::default(),
            totals: Totals::default(),
            durable_shards: Mutex::new([false; 256]),
            next_temporary: AtomicU64::new(0),
            damage,
            ballast,
        };
        let counted = files.layout.visit(|entry| match entry {
            Entry::Stored(digest) => {
                let bytes = fs::metadata(files.layout.file(digest)).map_or(0, |file| file.len());
                files.totals.add(bytes, None);
            }
            Entry::Temporary(path, _) => {
                // One that remains is removed by the next sweep.
                let _removed = fs::remove_file(path);
            }
        });
        if let Err(error) = counted {
            // Only the files are affected: everything else can be used.
            let root = files.layout.root().display();
            files.damage.add(Finding::Lost(format!("files: {root} cannot be listed: {error}")));
        }
        files
    }

    /// Stores `contents`, unless they are stored already, and returns when they are durable. A
    /// damaged file of the same contents is replaced.
    ///
    /// Fails with [`Error::Unavailable`] while the disk is full or less of it would be free than
    /// [`crate::Options::disk_free_bytes`], and with [`Error::Storage`] if `contents` are longer
    /// than [`FILE_BYTES_MAX`].
    pub fn put(&self, contents: &[u8]) -> Result<PinnedFile> {
        if contents.len() > FILE_BYTES_MAX {
            let bytes = contents.len();
            return Err(Error::Storage(format!("a file of {bytes} bytes is too large")));
        }
        let digest = FileDigest::of(contents);
        let pin = self.pin(digest);
        let existing = self.existing(digest, contents);
        if let Existing::Same = existing {
            // The writer of the file may not have synced its name yet.
            self.sync_name(digest)?;
            return Ok(pin);
        }
        self.write(digest, contents)?;
        match existing {
            Existing::Different => {
                let what = format!("file {digest}: it was damaged, and was stored again");
                self.damage.add(Finding::Mended(what));
            }
            Existing::Unreadable(error) => {
                tracing::warn!(%digest, %error, "a file could not be read and was stored again");
            }
            Existing::Nothing | Existing::Same => {}
        }
        Ok(pin)
    }

    /// Returns the contents of a file, or `None` if it is not stored. Takes as much memory as the
    /// file is long.
    ///
    /// Fails with [`Error::Corrupt`] if the contents have another digest; the damage is also
    /// reported by [`crate::Engine::damage`].
    pub fn read(&self, digest: FileDigest) -> Result<Option<Vec<u8>>> {
        self.read_checked(digest, None)
    }

    /// Like [`Self::read`], for a file that was `bytes` long: another length is damage, so this
    /// takes no more memory than that.
    pub fn read_sized(&self, digest: FileDigest, bytes: u64) -> Result<Option<Vec<u8>>> {
        self.read_checked(digest, Some(bytes))
    }

    /// Checks that files are stored, given with the name of what refers to each, and reports those
    /// that are missing as one finding. Reads nothing of them.
    pub fn check_stored(&self, references: impl IntoIterator<Item = (FileDigest, String)>) {
        let is_missing = |digest: FileDigest| {
            let found = fs::symlink_metadata(self.layout.file(digest));
            !found.is_ok_and(|file| file.is_file())
        };
        let mut missing = references.into_iter().filter(|(digest, _)| is_missing(*digest));
        let named: Vec<String> =
            missing.by_ref().take(MISSING_FILES_NAMED_MAX).map(|(_, owner)| owner).collect();
        if named.is_empty() {
            return;
        }
        let others = match missing.count() {
            0 => String::new(),
            count => format!(" and {count} others"),
        };
        let what = format!("files of {}{others}: they are missing", named.join(", "));
        self.damage.add(Finding::Lost(what));
    }

    fn read_checked(&self, digest: FileDigest, expected: Option<u64>) -> Result<Option<Vec<u8>>> {
        let path = self.layout.file(digest);
        let bytes_max = expected.unwrap_or(FILE_BYTES_MAX as u64).saturating_add(1);
        let contents = match read_up_to(&path, bytes_max) {
            Ok(contents) => contents,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_error("reading", &path, error)),
        };
        if FileDigest::of(&contents) == digest {
            return Ok(Some(contents));
        }
        let what = format!("file {digest}: its contents do not match its name");
        self.damage.add(Finding::Lost(what.clone()));
        Err(Error::Corrupt(what))
    }

    /// Returns the bytes of all stored files.
    pub fn bytes(&self) -> u64 {
        self.totals.bytes()
    }

    /// Returns the number of stored files.
    pub fn count(&self) -> u64 {
        self.totals.count()
    }

    fn pin(&self, digest: FileDigest) -> PinnedFile {
        // A sweep that is about to delete the file deletes it before, or not at all.
        let _names = self.names.lock();
        self.pins.pin(digest)
    }

    fn existing(&self, digest: FileDigest, contents: &[u8]) -> Existing {
        match has_contents(&self.layout.file(digest), contents) {
            Ok(true) => Existing::Same,
            Ok(false) => Existing::Different,
            Err(error) if error.kind() == ErrorKind::NotFound => Existing::Nothing,
            Err(error) => Existing::Unreadable(error),
        }
    }

    fn write(&self, digest: FileDigest, contents: &[u8]) -> Result<()> {
        self.ballast.check_space(contents.len() as u64)?;
        self.create_shard(digest)?;
        let number = self.next_temporary.fetch_add(1, Ordering::Relaxed);
        let (temporary, path) = (self.layout.temporary(digest, number), self.layout.file(digest));
        write_synced(&temporary, contents).map_err(|e| io_error("writing", &temporary, e))?;
        self.publish(&temporary, &path, contents.len() as u64).map_err(|error| {
            // One that remains is removed by the next sweep.
            let _removed = fs::remove_file(&temporary);
            io_error("renaming a file to", &path, error)
        })?;
        self.sync_name(digest)
    }

    /// Gives a complete file its name.
    fn publish(&self, temporary: &Path, path: &Path, bytes: u64) -> io::Result<()> {
        let _names = self.names.lock();
        let replaced = fs::metadata(path).ok().map(|file| file.len());
        fs::rename(temporary, path)?;
        self.totals.add(bytes, replaced);
        Ok(())
    }

    /// Makes the name of a file durable.
    fn sync_name(&self, digest: FileDigest) -> Result<()> {
        let shard = self.create_shard(digest)?;
        sync_dir(&shard).map_err(|error| io_error("syncing", &shard, error))
    }

    /// Returns the subfolder of a file. Creates it if necessary, and makes its own name durable.
    fn create_shard(&self, digest: FileDigest) -> Result<PathBuf> {
        let shard = self.layout.shard(digest.first_byte());
        let mut durable = self.durable_shards.lock();
        let Some(is_durable) = durable.get_mut(usize::from(digest.first_byte())) else {
            unreachable!("there is an entry for every byte")
        };
        if !*is_durable {
            let root = self.layout.root();
            // An existing folder may be one whose creator stopped before it synced the name.
            create_folder(root)
                .and_then(|()| sync_dir(&self.dir))
                .and_then(|()| create_folder(&shard))
                .and_then(|()| sync_dir(root))
                .map_err(|error| io_error("creating", &shard, error))?;
            *is_durable = true;
        }
        Ok(shard)
    }
}

/// Returns the first `bytes_max` bytes of a file; nothing of what is no regular file.
fn read_up_to(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    if !fs::symlink_metadata(path)?.is_file() {
        // A pipe or a device in its place, which may never end.
        return Ok(Vec::new());
    }
    let file = File::open(path)?;
    let bytes = file.metadata()?.len().min(bytes_max);
    let mut contents = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
    file.take(bytes_max).read_to_end(&mut contents)?;
    Ok(contents)
}
