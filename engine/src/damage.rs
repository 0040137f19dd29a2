//! The list of damage: what was found lost or damaged, kept beside the data until an operator has seen it.
//!
//! A loss is told where it is met, and a second later there may be nothing left to see of it: the log is deleted after the
//! seal, a damaged table is taken out. So each finding is logged once, as an error, and appended to the file `DAMAGE` of the data directory:
//!
//! ```text
//! milliseconds since 1970 │ tab │ lost, or mended │ tab │ what │ newline
//! ```
//!
//! Removing the file, also while the server runs, says that it was seen.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::clock::Clock;
use crate::limits;

/// The file in a data directory.
const FILE: &str = "DAMAGE";

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Something that was stored cannot be read any more.
    Lost(String),
    /// A file was damaged and has its old bytes again: nothing is lost, but the disk forgets.
    Mended(String),
}

/// What was found in one data directory.
#[derive(Debug)]
pub(crate) struct DamageList {
    path: PathBuf,
    clock: Clock,
    found: Mutex<Vec<Finding>>,
    /// Whether the file could be written: one that is missing then was removed by somebody.
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
    /// The list of the data directory `dir`.
    pub(crate) fn open(dir: &Path, clock: Clock) -> Self {
        let path = dir.join(FILE);
        // A list that cannot be read is damage too, but there is nothing to be told of it.
        let stored = fs::read(&path).unwrap_or_default();
        let stored = String::from_utf8_lossy(&stored);
        let mut found: Vec<Finding> = stored.lines().filter_map(Finding::parse).collect();
        if stored.lines().count() > found.len() || stored.contains(['\0', '\u{fffd}']) {
            // Of what it said, only this is left.
            found.push(Finding::Lost(format!(
                "a part of the list of damage, {FILE}, was damaged itself"
            )));
        }
        if !found.is_empty() {
            let path = path.display();
            tracing::error!(found = found.len(), %path, "damage was found before, and nobody has removed the list of it");
        }
        let stored = AtomicBool::new(!found.is_empty());
        Self { path, clock, found: Mutex::new(found), stored }
    }

    /// Takes note of something, unless it is known.
    pub(crate) fn add(&self, finding: Finding) {
        // A line of the file, as it will be read.
        let finding = finding.on_one_line();
        let mut found = self.found.lock();
        self.forget_seen(&mut found);
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
            Err(error) => tracing::error!(%error, "the list of damage cannot be written"),
        }
        found.push(finding);
    }

    /// A line for each, the oldest first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut found = self.found.lock();
        self.forget_seen(&mut found);
        found.iter().map(Finding::line).collect()
    }

    /// How much was found.
    pub(crate) fn len(&self) -> usize {
        let mut found = self.found.lock();
        self.forget_seen(&mut found);
        found.len()
    }

    fn forget_seen(&self, found: &mut Vec<Finding>) {
        if self.stored.load(Ordering::Relaxed) && !self.path.exists() {
            self.stored.store(false, Ordering::Relaxed);
            found.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_known_until_the_list_is_removed() {
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
    fn a_list_that_is_damaged_says_so() {
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
