//! The damage list: data found lost or damaged, kept on disk until an operator acknowledges it.
//!
//! The evidence of a loss may disappear seconds after it is found: a seal deletes the log, and a
//! damaged table is removed. So each finding is logged once, as an error, and appended to the file
//! `DAMAGE` in the data directory:
//!
//! ```text
//! milliseconds since 1970 │ tab │ `lost` or `mended` │ tab │ description │ newline
//! ```
//!
//! Removing the file acknowledges the findings; this is possible while the server is running.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::clock::Clock;
use crate::limits;

/// The name of the file in a data directory.
const FILE: &str = "DAMAGE";

/// One instance of damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Something that was stored cannot be read any more.
    Lost(String),
    /// A damaged file was repaired, or will be: nothing is lost, but the disk is unreliable.
    Mended(String),
}

/// The damage found in one data directory.
#[derive(Debug)]
pub(crate) struct DamageList {
    path: PathBuf,
    clock: Clock,
    found: Mutex<Vec<Finding>>,
    /// Whether the file was written: if it is missing then, an operator has removed it.
    stored: AtomicBool,
}

impl Finding {
    fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Lost(what) => ("lost", what),
            Self::Mended(what) => ("mended", what),
        }
    }

    fn on_one_line(self) -> Self {
        let one_line = |what: String| what.replace(['\n', '\r', '\t'], " ");
        match self {
            Self::Lost(what) => Self::Lost(one_line(what)),
            Self::Mended(what) => Self::Mended(one_line(what)),
        }
    }

    fn line(&self) -> String {
        let (kind, what) = self.parts();
        format!("{kind}: {what}")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, '\t');
        let (_, kind, what) = (parts.next()?, parts.next()?, parts.next()?);
        Some(match kind {
            "mended" => Self::Mended(what.to_owned()),
            _ => Self::Lost(what.to_owned()),
        })
    }
}

impl DamageList {
    /// Opens the list of the data directory `dir`.
    pub(crate) fn open(dir: &Path, clock: Clock) -> Self {
        let path = dir.join(FILE);
        let read = fs::read(&path);
        let stored = read.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let mut found: Vec<Finding> = stored.lines().filter_map(Finding::parse).collect();
        if let Err(error) = &read
            && error.kind() != ErrorKind::NotFound
        {
            found.push(Finding::Lost(format!("the damage list, {FILE}, cannot be read: {error}")));
        }
        if stored.lines().count() > found.len() || stored.contains(['\0', '\u{fffd}']) {
            // Records that part of the list itself is lost.
            found.push(Finding::Lost(format!(
                "a part of the damage list, {FILE}, was damaged itself"
            )));
        }
        if !found.is_empty() {
            let path = path.display();
            tracing::error!(found = found.len(), %path, "an earlier run found damage that has not been acknowledged: remove the file once it is handled");
        }
        let stored = AtomicBool::new(!found.is_empty());
        Self { path, clock, found: Mutex::new(found), stored }
    }

    /// Records and logs a finding, unless it is already on the list.
    pub(crate) fn add(&self, finding: Finding) {
        // Findings are compared in the form they have after a reload.
        let finding = finding.on_one_line();
        let mut found = self.found.lock();
        self.clear_if_acknowledged(&mut found);
        if found.contains(&finding) {
            return;
        }
        let (kind, what) = finding.parts();
        tracing::error!(kind, what, "damage was found");
        if found.len() >= limits::DAMAGE_FOUND_MAX {
            return;
        }
        let line = format!("{}\t{kind}\t{what}\n", self.clock.now().0);
        let stored =
            File::options().create(true).append(true).open(&self.path).and_then(|mut file| {
                file.write_all(line.as_bytes())?;
                file.sync_all()
            });
        match stored {
            Ok(()) => self.stored.store(true, Ordering::Relaxed),
            Err(error) => tracing::error!(%error, "cannot write the damage list"),
        }
        found.push(finding);
    }

    /// Returns one line per finding, oldest first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut found = self.found.lock();
        self.clear_if_acknowledged(&mut found);
        found.iter().map(Finding::line).collect()
    }

    /// Returns the number of findings.
    pub(crate) fn len(&self) -> usize {
        let mut found = self.found.lock();
        self.clear_if_acknowledged(&mut found);
        found.len()
    }

    fn clear_if_acknowledged(&self, found: &mut Vec<Finding>) {
        // An error is no proof that the file is gone.
        if self.stored.load(Ordering::Relaxed) && matches!(self.path.try_exists(), Ok(false)) {
            self.stored.store(false, Ordering::Relaxed);
            found.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_listed_until_the_file_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let open = || DamageList::open(dir.path(), Clock::system());
        let list = open();
        assert_eq!(list.lines(), [""; 0]);
        list.add(Finding::Lost("one\nthing".into()));
        list.add(Finding::Mended("another".into()));
        list.add(Finding::Mended("another".into()));
        assert_eq!(list.len(), 2);
        let again = open();
        assert_eq!(again.lines(), ["lost: one thing", "mended: another"]);
        fs::remove_file(dir.path().join(FILE)).unwrap();
        assert_eq!((again.len(), list.len(), open().len()), (0, 0, 0));
    }
    #[test]
    fn a_list_that_cannot_be_read_is_listed_until_it_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        fs::create_dir(&path).unwrap();
        let list = DamageList::open(dir.path(), Clock::system());
        let lines = list.lines();
        assert!(lines.iter().all(|line| line.contains("cannot be read")), "{lines:?}");
        assert_eq!((lines.len(), list.len()), (1, 1));
        fs::remove_dir(&path).unwrap();
        assert_eq!(list.len(), 0);
    }

    #[test]
    fn damage_to_the_list_itself_is_listed() {
        let dir = tempfile::tempdir().unwrap();
        let open = || DamageList::open(dir.path(), Clock::system());
        open().add(Finding::Lost("one".into()));
        let path = dir.path().join(FILE);
        let whole = fs::read(&path).unwrap();
        for damaged in [vec![0; whole.len()], [&whole[..], &[0; 100]].concat(), vec![b'\n'; 3]] {
            fs::write(&path, damaged).unwrap();
            let lines = open().lines();
            assert!(lines.iter().any(|line| line.contains("damaged itself")), "{lines:?}");
        }
    }
}
