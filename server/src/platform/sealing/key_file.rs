//! The file `secret.key` in the data directory: one line that names the format, and one with the
//! key in base64.
//!
//! ```text
//! telltale-secret-key 1
//! <44 characters>
//! ```
//!
//! The file is complete or absent, also after a power failure, and an existing one is never
//! replaced. One that other users can read is refused instead of repaired: they may have read it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use zeroize::Zeroizing;

use super::secret_key::{InvalidSecretKey, SecretKey};

/// The name of the file in the data directory.
pub const FILE_NAME: &str = "secret.key";
/// The environment variable with the key, for messages.
pub const VARIABLE: &str = "TELLTALE_SECRET_KEY";

/// The name of the file while it is written.
const NEW_FILE_NAME: &str = "secret.key.new";
/// The first line.
const HEADER: &str = "telltale-secret-key 1";
/// Bytes that are read: longer than any valid file.
const READ_BYTES_MAX: u64 = 1_024;
/// The mode of a new file: its owner may read and write it.
const MODE: u32 = 0o600;
/// Permissions that only the owner may have.
const FORBIDDEN_MODE: u32 = 0o077;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file does not exist.
    #[error(
        "there is no key file {path}: restore it from a backup, or set {VARIABLE} to its second line; without the key, stored secrets cannot be opened and must be entered again"
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Other users have permissions for the file.
    #[error(
        "{path} has mode {mode:04o}, so other users can access the key: run `chmod 600` on it, or set {VARIABLE} instead"
    )]
    TooPermissive {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file is not a key file.
    #[error(
        "{path} is not a valid key file ({reason}): restore it from a backup, or set {VARIABLE}"
    )]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file cannot be read.
    #[error(
        "cannot read {path}: make it readable for the user that runs the server, or set {VARIABLE}"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file cannot be created.
    #[error("cannot create {path}: make its directory writable, or set {VARIABLE}")]
    NotCreated {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The key in the environment is not one.
    #[error("{VARIABLE} {0}")]
    Given(#[from] InvalidSecretKey),
}

/// Returns the key in the environment if there is one, otherwise that in the data directory. Fails
/// with [`KeyFileError::Missing`] if there is neither.
pub fn load(given: Option<&str>, dir: &Path) -> Result<SecretKey, KeyFileError> {
    match given {
        Some(text) => Ok(SecretKey::parse(text)?),
        None => read(&dir.join(FILE_NAME)),
    }
}

/// Does the same, but if there is neither, generates a key and stores it in the data directory.
pub fn load_or_create(given: Option<&str>, dir: &Path) -> Result<SecretKey, KeyFileError> {
    match load(given, dir) {
        Err(KeyFileError::Missing { path }) => {
            create(dir, &path).map_err(|source| KeyFileError::NotCreated { path, source })
        }
        loaded => loaded,
    }
}

fn read(path: &Path) -> Result<SecretKey, KeyFileError> {
    let path = || path.to_owned();
    let file = match File::open(path()) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(KeyFileError::Missing { path: path() });
        }
        Err(source) => return Err(KeyFileError::Unreadable { path: path(), source }),
    };
    let unreadable = |source| KeyFileError::Unreadable { path: path(), source };
    let metadata = file.metadata().map_err(unreadable)?;
    let mode = metadata.mode() & 0o7777;
    if mode & FORBIDDEN_MODE != 0 {
        return Err(KeyFileError::TooPermissive { path: path(), mode });
    }
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(READ_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    let key = str::from_utf8(&bytes).map_err(|_| "it is not text".to_owned()).and_then(parse);
    key.map_err(|reason| KeyFileError::Invalid { path: path(), reason })
}

fn parse(text: &str) -> Result<SecretKey, String> {
    let mut lines = text.lines();
    match lines.next() {
        None => return Err("it is empty".to_owned()),
        Some(HEADER) => {}
        Some(_) => return Err(format!("its first line must be {HEADER:?}")),
    }
    let key = SecretKey::parse(lines.next().unwrap_or_default());
    let key = key.map_err(|error| format!("its second line {error}"))?;
    if lines.next().is_some() { Err("it has more than two lines".to_owned()) } else { Ok(key) }
}

/// Writes a new key to a file of another name, which then gets its name. If another process creates
/// the file meanwhile, that one remains, and the call fails.
fn create(dir: &Path, path: &Path) -> io::Result<SecretKey> {
    let key = SecretKey::generate()?;
    let new = dir.join(NEW_FILE_NAME);
    // Left behind by a process that did not get this far.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&new)?;
    let text = Zeroizing::new(format!("{HEADER}\n{}\n", key.to_base64().as_str()));
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    rename_to_absent(&new, path)?;
    File::open(dir)?.sync_all()?;
    Ok(key)
}

/// Renames a file. Fails if the new name is taken, on file systems that can tell.
fn rename_to_absent(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fs::rename(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const KEY: &str = "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=";

    fn write(dir: &Path, text: impl AsRef<[u8]>, mode: u32) {
        let path = dir.join(FILE_NAME);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_key_is_created_once_and_only_when_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let missing = load(None, dir.path()).unwrap_err();
        assert!(matches!(&missing, KeyFileError::Missing { .. }), "{missing}");
        assert!(missing.to_string().contains("TELLTALE_SECRET_KEY"), "{missing}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

        fs::write(dir.path().join(NEW_FILE_NAME), "left behind").unwrap();
        let created = load_or_create(None, dir.path()).unwrap();
        let metadata = fs::metadata(dir.path().join(FILE_NAME)).unwrap();
        assert_eq!(metadata.mode() & 0o7777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        for again in [load(None, dir.path()), load_or_create(None, dir.path())] {
            assert_eq!(again.unwrap().bytes(), created.bytes());
        }
    }

    #[test]
    fn the_environment_takes_precedence() {
        let dir = tempfile::tempdir().unwrap();
        let given = Some(KEY);
        assert_eq!(load_or_create(given, dir.path()).unwrap().bytes(), &[0xfb; 32]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        write(dir.path(), "damaged", 0o644);
        assert_eq!(load(given, dir.path()).unwrap().bytes(), &[0xfb; 32]);
        let refused = load(Some("hunter2"), dir.path()).unwrap_err().to_string();
        assert!(refused.starts_with("TELLTALE_SECRET_KEY must be 32 bytes"), "{refused}");
    }

    #[test]
    fn only_its_owner_may_have_permissions() {
        let dir = tempfile::tempdir().unwrap();
        for (mode, passes) in
            [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o601, false)]
        {
            write(dir.path(), format!("{HEADER}\n{KEY}\n"), mode);
            match load_or_create(None, dir.path()) {
                Ok(key) => assert!(passes && key.bytes() == &[0xfb; 32], "{mode:o}"),
                Err(error) => {
                    assert!(!passes, "{mode:o}: {error}");
                    let part = format!("has mode {mode:04o}, so other users");
                    assert!(error.to_string().contains(&part), "{error}");
                }
            }
        }
    }

    #[test]
    fn a_file_of_another_form_is_refused_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        for (text, part) in [
            (String::new(), "it is empty"),
            (KEY.to_owned(), "its first line must be \"telltale-secret-key 1\""),
            (format!("telltale-secret-key 2\n{KEY}\n"), "its first line"),
            (format!("{HEADER}\n"), "its second line must be 32 bytes"),
            (format!("{HEADER}\n{}\n", KEY.get(4..).unwrap()), "its second line"),
            (format!("{HEADER}\n{KEY}\nmore\n"), "more than two lines"),
            (format!("{HEADER}\n{KEY}{}", " ".repeat(1 << 20)), ""),
        ] {
            write(dir.path(), &text, 0o600);
            let result = load_or_create(None, dir.path());
            match result {
                Ok(_) => assert_eq!(part, "", "trailing white space is ignored"),
                Err(error) => {
                    assert!(matches!(error, KeyFileError::Invalid { .. }), "{error:?}");
                    assert!(!part.is_empty() && error.to_string().contains(part), "{error}");
                    assert!(!error.to_string().contains(KEY), "{error}");
                }
            }
            assert_eq!(fs::read_to_string(dir.path().join(FILE_NAME)).unwrap(), text);
        }
        write(dir.path(), [0xff, 0xfe], 0o600);
        let invalid = load_or_create(None, dir.path()).unwrap_err();
        assert!(invalid.to_string().contains("(it is not text)"), "{invalid}");
    }

    #[test]
    fn an_existing_key_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), format!("{HEADER}\n{KEY}\n"), 0o600);
        let path = dir.path().join(FILE_NAME);
        let refused = create(dir.path(), &path).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(load(None, dir.path()).unwrap().bytes(), &[0xfb; 32]);
    }

    #[test]
    fn a_missing_directory_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let error = load_or_create(None, &dir.path().join("absent")).unwrap_err();
        assert!(matches!(error, KeyFileError::NotCreated { .. }), "{error}");
    }
}
