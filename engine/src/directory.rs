//! The data directory: how one is recognised, created, locked and released.
//!
//! ```text
//! TELLTALE     marks a data directory: written at the end of the first start, so a directory
//!              that has it but lacks db/ or log/ is damaged
//! UNFINISHED   marks an incomplete copy: removed when the copy is complete
//! LOCK         locked while the directory is open
//! .backup-N/   hard links to the files of a backup in progress
//! ```
//!
//! The first start creates `log/`, then the database, then the first segment, then `TELLTALE`. So
//! an interrupted first start leaves neither segments nor `TELLTALE`, and the next start repeats
//! it. Directories of older versions, which did not write `TELLTALE`, are recognised by having a
//! database and a log, and get the file when they are opened.
//!
//! A directory that is neither empty nor recognised is refused before anything is written to it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::ballast;
use crate::dir_sync::sync_dir;
use crate::error::{Error, Result};

/// The folder of the database within a data directory.
pub(crate) const DB_DIR: &str = "db";
/// The folder of the write-ahead log within a data directory.
pub(crate) const LOG_DIR: &str = "log";
/// The folder of immutable files within a data directory. Missing until the first is stored.
pub(crate) const FILES_DIR: &str = "files";
/// The folder of import checkpoints, which belongs to the server.
pub(crate) const IMPORTS_DIR: &str = "imports";
/// The file that marks a data directory.
const DATA_FILE: &str = "TELLTALE";
const DATA_TEXT: &[u8] =
    b"This is a data directory of Telltale. Its files belong together: do not add or remove any.\n";
/// The file that marks an incomplete copy.
const UNFINISHED_FILE: &str = "UNFINISHED";
const UNFINISHED_TEXT: &[u8] = b"A backup or a restore is writing here, or was interrupted.\n";
/// The file that is locked while a data directory is in use.
const LOCK_FILE: &str = "LOCK";
/// The prefix of the folders of backups in progress.
pub(crate) const STAGE_PREFIX: &str = ".backup-";
/// Entries that a directory regarded as empty may contain: files of an interrupted first start, the
/// server's socket, and what file systems create in their root.
const HARMLESS: [&str; 7] =
    [DB_DIR, LOG_DIR, IMPORTS_DIR, LOCK_FILE, ballast::NAME, "control.sock", "lost+found"];

/// The contents of a directory that may be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryContents {
    /// No data: the directory is missing, empty, or left by an interrupted first start.
    Nothing,
    /// Data.
    Data,
}

/// Classifies a directory without modifying it. Fails if it is neither a data directory nor empty.
pub(crate) fn classify(dir: &Path) -> Result<DirectoryContents> {
    let names = match names(dir) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(DirectoryContents::Nothing),
        Err(error) => return Err(refused(dir, error.to_string())),
    };
    if names.iter().any(|name| name == UNFINISHED_FILE) {
        let reason =
            "a backup or restore into it was not finished; delete its contents and start over";
        return Err(refused(dir, reason));
    }
    classify_parts(dir, &names)
}

fn classify_parts(dir: &Path, names: &[OsString]) -> Result<DirectoryContents> {
    let has = |name: &str| names.iter().any(|found| found == name);
    let io = |error: io::Error| refused(dir, error.to_string());
    let database = is_file(&dir.join(DB_DIR).join("CURRENT")).map_err(io)?;
    let segments = has_files(&dir.join(LOG_DIR), "log").map_err(io)?;
    let tables = has_files(&dir.join(DB_DIR), "sst").map_err(io)?;
    let lacks = |part: &str| {
        Err(refused(
            dir,
            format!("it is a data directory, but its {part} is missing; restore a backup"),
        ))
    };
    match (database, segments) {
        (true, true) => Ok(DirectoryContents::Data),
        (true, false) if has(DATA_FILE) || !has(LOG_DIR) => lacks("log (log/)"),
        (false, _) if has(DATA_FILE) || segments || tables => lacks("database (db/CURRENT)"),
        (true, false) => Ok(DirectoryContents::Nothing),
        (false, _) => match names.iter().find(|name| !is_harmless(name)) {
            Some(name) => {
                let name = name.display();
                Err(refused(
                    dir,
                    format!("it is neither a data directory nor empty: it contains {name}"),
                ))
            }
            None => Ok(DirectoryContents::Nothing),
        },
    }
}

/// Fails unless the directory contains data.
pub(crate) fn must_hold_data(dir: &Path) -> Result<()> {
    match classify(dir)? {
        DirectoryContents::Data => Ok(()),
        DirectoryContents::Nothing => Err(refused(dir, "there is no data in this directory")),
    }
}

/// Returns whether a directory is missing or empty.
pub(crate) fn is_empty(dir: &Path) -> Result<bool> {
    match names(dir) {
        Ok(names) => Ok(names.iter().all(|name| name == "lost+found")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(refused(dir, error.to_string())),
    }
}

/// Classifies a directory, creates it if it does not exist, and locks it. The caller calls
/// [`finish`] once database and log are open.
pub(crate) fn claim(dir: &Path) -> Result<File> {
    classify(dir)?;
    create_durably(dir, sync_dir).map_err(|e| refused(dir, e.to_string()))?;
    let file = File::options().create(true).truncate(false).write(true).open(dir.join(LOCK_FILE));
    let file = file.map_err(|e| refused(dir, e.to_string()))?;
    file.try_lock().map_err(|error| locked(dir, error))?;
    let prepared = || -> io::Result<()> {
        for name in names(dir)? {
            // Left by a backup during which the process stopped.
            if name.to_string_lossy().starts_with(STAGE_PREFIX) {
                fs::remove_dir_all(dir.join(name))?;
            }
        }
        create_durably(&dir.join(LOG_DIR), sync_dir)
    };
    prepared().map_err(|e| refused(dir, e.to_string()))?;
    Ok(file)
}

/// Marks the directory as a data directory, now that database and log exist.
pub(crate) fn finish(dir: &Path) -> Result<()> {
    if dir.join(DATA_FILE).exists() {
        return Ok(());
    }
    // The entries of database and log must be durable before the marker that promises them.
    sync_dir(dir)
        .and_then(|()| write_marker(dir, DATA_FILE, DATA_TEXT))
        .map_err(|e| refused(dir, e.to_string()))
}

/// Takes a shared lock, which keeps others from opening the directory for writing, without
/// modifying it. Returns `None` if there is no lock file. Fails while another process has the
/// directory open.
pub(crate) fn lock_for_reading(dir: &Path) -> Result<Option<File>> {
    match File::open(dir.join(LOCK_FILE)) {
        Ok(file) => {
            file.try_lock_shared().map_err(|error| locked(dir, error))?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused(dir, error.to_string())),
    }
}

/// Marks a directory as an incomplete copy.
pub(crate) fn mark_unfinished(dir: &Path) -> io::Result<()> {
    write_marker(dir, UNFINISHED_FILE, UNFINISHED_TEXT)
}

/// Marks a copy as complete.
pub(crate) fn mark_finished(dir: &Path) -> io::Result<()> {
    write_marker(dir, DATA_FILE, DATA_TEXT)?;
    fs::remove_file(dir.join(UNFINISHED_FILE))?;
    sync_dir(dir)
}

/// Removes the markers of a failed copy.
pub(crate) fn remove_markers(dir: &Path) -> io::Result<()> {
    for name in [DATA_FILE, UNFINISHED_FILE] {
        match fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether a copy into this directory was started and not finished.
pub(crate) fn is_unfinished(dir: &Path) -> bool {
    dir.join(UNFINISHED_FILE).exists()
}

/// Creates a directory and its missing parents, and makes their directory entries durable.
pub(crate) fn create_durably(
    dir: &Path,
    mut sync: impl FnMut(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|dir| !exists(dir)).collect();
    fs::create_dir_all(dir)?;
    for made in missing.into_iter().rev() {
        match made.parent() {
            Some(parent) if parent != Path::new("") => sync(parent)?,
            _ => sync(Path::new("."))?,
        }
    }
    Ok(())
}

fn exists(dir: &Path) -> bool {
    dir == Path::new("") || dir.is_dir()
}

fn write_marker(dir: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let path = dir.join(name);
    fs::write(&path, text)?;
    File::open(&path).and_then(|file| file.sync_all())?;
    sync_dir(dir)
}

fn names(dir: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
}

/// Returns whether a directory contains files with this extension. Fails if that is unknown, since
/// a directory that cannot be read must not pass for an empty one.
fn has_files(dir: &Path, extension: &str) -> io::Result<bool> {
    let has_extension =
        |name: &OsString| Path::new(name).extension().is_some_and(|found| found == extension);
    match names(dir) {
        Ok(names) => Ok(names.iter().any(has_extension)),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_file(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) => Ok(found.is_file()),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn is_harmless(name: &OsString) -> bool {
    HARMLESS.iter().any(|harmless| name == harmless) || name.to_string_lossy().starts_with('.')
}

pub(crate) fn refused(dir: &Path, reason: impl Into<String>) -> Error {
    Error::Open { path: dir.to_owned(), reason: reason.into() }
}

fn locked(dir: &Path, error: fs::TryLockError) -> Error {
    match error {
        fs::TryLockError::WouldBlock => refused(dir, "another process has it open"),
        fs::TryLockError::Error(error) => refused(dir, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Maintenance, Options};
    use crate::{Engine, Expect};

    fn options() -> Options {
        Options { maintenance: Maintenance::Manual, cache_bytes: 8 << 20, ..Options::default() }
    }

    /// Creates a data directory that contains one document.
    fn data() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let engine = Engine::open(dir.path(), options()).unwrap();
        let mut transaction = engine.documents().begin();
        let rules = crate::Collection("rules");
        transaction.put(rules, "a", &7, Expect::Any).unwrap();
        transaction.commit().unwrap();
        dir
    }

    fn reason(dir: &Path) -> String {
        let error = Engine::open(dir, options()).unwrap_err().to_string();
        assert!(Engine::verify_directory(dir).is_err());
        error
    }

    #[test]
    fn directories_with_a_missing_part_are_refused_and_left_unchanged() {
        for part in [DB_DIR, LOG_DIR, "db/CURRENT"] {
            for with_marker in [true, false] {
                let dir = data();
                let gone = dir.path().join(part);
                if gone.is_dir() { fs::remove_dir_all(gone) } else { fs::remove_file(gone) }
                    .unwrap();
                if !with_marker {
                    fs::remove_file(dir.path().join(DATA_FILE)).unwrap();
                }
                let before = names(dir.path()).unwrap().len();
                let message = reason(dir.path());
                assert!(message.contains("is missing"), "{part}, {with_marker}: {message}");
                assert_eq!(names(dir.path()).unwrap().len(), before);
            }
        }
    }

    #[test]
    fn a_part_that_cannot_be_read_is_not_taken_for_a_missing_one() {
        for part in [LOG_DIR, DB_DIR, "db/CURRENT"] {
            let dir = data();
            fs::remove_file(dir.path().join(DATA_FILE)).unwrap();
            let unreadable = dir.path().join(part);
            if unreadable.is_dir() {
                fs::remove_dir_all(&unreadable)
            } else {
                fs::remove_file(&unreadable)
            }
            .unwrap();
            // A link to itself: any access to it fails.
            std::os::unix::fs::symlink(&unreadable, &unreadable).unwrap();
            let message = reason(dir.path());
            assert!(!message.contains("missing"), "{part}: {message}");
        }
    }

    #[test]
    fn a_foreign_directory_is_refused_and_left_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.txt"), "precious").unwrap();
        assert!(reason(dir.path()).contains("thesis.txt"));
        assert_eq!(names(dir.path()).unwrap(), ["thesis.txt"]);
    }

    #[test]
    fn an_interrupted_first_start_is_repeated() {
        for left in [&[][..], &[LOG_DIR], &[LOG_DIR, DB_DIR]] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(LOCK_FILE), "").unwrap();
            left.iter().for_each(|part| fs::create_dir(dir.path().join(part)).unwrap());
            assert!(Engine::verify_directory(dir.path()).is_err(), "there is nothing to verify");
            Engine::open(dir.path(), options()).unwrap();
            assert!(dir.path().join(DATA_FILE).exists());
        }
        // The database was created, but nothing was ever written.
        let dir = tempfile::tempdir().unwrap();
        drop(Engine::open(dir.path(), options()).unwrap());
        fs::remove_file(dir.path().join(DATA_FILE)).unwrap();
        fs::remove_dir_all(dir.path().join(LOG_DIR)).unwrap();
        fs::create_dir(dir.path().join(LOG_DIR)).unwrap();
        Engine::open(dir.path(), options()).unwrap();
    }

    #[test]
    fn a_directory_of_an_older_version_is_opened_and_marked() {
        let dir = data();
        fs::remove_file(dir.path().join(DATA_FILE)).unwrap();
        assert_eq!(classify(dir.path()).unwrap(), DirectoryContents::Data);
        drop(Engine::open(dir.path(), options()).unwrap());
        assert!(dir.path().join(DATA_FILE).exists());
    }

    #[test]
    fn the_entries_of_new_directories_are_made_durable() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("a/b"));
        let mut synced = Vec::new();
        let mut note = |dir: &Path| {
            synced.push(dir.to_owned());
            Ok(())
        };
        create_durably(&b.join("c"), &mut note).unwrap();
        create_durably(&b, &mut note).unwrap();
        assert_eq!(synced, [dir.path().to_owned(), a, b]);
    }
}
