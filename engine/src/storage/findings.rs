//! What the store found out about the health of its files: findings for the list of damage, and the
//! tables that have to be checked.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::guard::ManifestCopy;
use crate::damage::{DamageList, Finding};

/// Findings of one store, and what RocksDB has complained about.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The list of damage, once the store is connected to it.
    list: OnceLock<Arc<DamageList>>,
    /// Findings made before there was a list.
    unreported: Mutex<Vec<Finding>>,
    complaints: AtomicU64,
    /// Whether RocksDB has opened a table without reading its properties, and so misinterprets it.
    misread: AtomicBool,
    /// Numbers of the tables that RocksDB complained about.
    suspects: Mutex<BTreeSet<u64>>,
    /// How the log is being read, which decides what messages about dropped bytes mean.
    mode: Mutex<LogReadMode>,
}

/// How RocksDB's log is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogReadMode {
    /// Bytes are only dropped from the tail of a log that was cut by a crash.
    #[default]
    Normal,
    /// Damaged records are skipped deliberately, and RocksDB logs each of them.
    Salvage,
}

impl Findings {
    /// Evaluates a message of RocksDB, from an error or from its log.
    pub(super) fn note_message(&self, message: &str) {
        if *self.mode.lock() == LogReadMode::Salvage
            && message.contains(": dropping ")
            && message.contains(".log")
        {
            self.report(Finding::Lost(format!("a part of the database's log: {message}")));
        }
        if message.contains("properties block") {
            self.misread.store(true, Ordering::Relaxed);
        }
        let complaint_marks = ["orrupt", "mismatch", "magic number", "No such file"];
        if complaint_marks.iter().any(|word| message.contains(word)) {
            self.complaints.fetch_add(1, Ordering::Relaxed);
            self.suspects.lock().extend(tables_named(message));
        }
    }

    /// Reports damage to the manifest of the open database. RocksDB does not read it again, so only
    /// the next open can repair it.
    pub(super) fn note_manifest(&self, outcome: ManifestCopy) {
        let damage = match outcome {
            ManifestCopy::Updated | ManifestCopy::Kept => return,
            ManifestCopy::Differs => {
                "the database's manifest was damaged while it was open; its copy is kept, and the next start repairs it"
            }
            ManifestCopy::Unnamed => {
                "the database's file CURRENT was damaged while it was open; the next start repairs it"
            }
        };
        self.report(Finding::Mended(damage.to_owned()));
    }

    pub(super) fn set_log_read_mode(&self, mode: LogReadMode) {
        *self.mode.lock() = mode;
    }

    pub(super) fn report(&self, finding: Finding) {
        match self.list.get() {
            Some(list) => list.add(finding),
            None => self.unreported.lock().push(finding),
        }
    }

    /// Reports everything found so far, and all later findings, to `list`.
    pub(super) fn report_to(&self, list: Arc<DamageList>) {
        let list = self.list.get_or_init(|| list);
        std::mem::take(&mut *self.unreported.lock())
            .into_iter()
            .for_each(|finding| list.add(finding));
    }

    pub(super) fn take_suspects(&self) -> BTreeSet<u64> {
        std::mem::take(&mut *self.suspects.lock())
    }

    /// Returns whether a table has been opened without its properties since the last call.
    pub(super) fn take_misread(&self) -> bool {
        self.misread.swap(false, Ordering::Relaxed)
    }

    /// Returns how often RocksDB has complained about damage.
    pub(super) fn complaints(&self) -> u64 {
        self.complaints.load(Ordering::Relaxed)
    }

    /// Adds a table that has to be checked.
    pub(super) fn suspect(&self, number: u64) {
        self.suspects.lock().insert(number);
    }

    pub(super) fn is_suspect(&self, number: u64) -> bool {
        self.suspects.lock().contains(&number)
    }

    pub(super) fn has_suspects(&self) -> bool {
        !self.suspects.lock().is_empty()
    }
}

/// Returns the finding for a table that was repaired.
pub(super) fn repaired_table(number: u64, sectors: usize) -> Finding {
    let s = if sectors == 1 { "" } else { "s" };
    Finding::Mended(format!(
        "table {number:06}.sst of the database was damaged in {sectors} sector{s} of 4 KB and has been repaired: the disk may be \
         failing"
    ))
}

/// Returns the numbers of the tables that a message names, by file name or as "for file 7".
pub(super) fn tables_named(message: &str) -> impl Iterator<Item = u64> + '_ {
    let parts = message.split(".sst").collect::<Vec<_>>();
    let named = parts.len().saturating_sub(1);
    let by_file_name = parts.into_iter().take(named).filter_map(|part| {
        let digits = part.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        part.get(digits..)?.parse().ok()
    });
    let by_number = message.split(" for file ").skip(1).filter_map(|part| {
        let number = part.trim_start_matches('#');
        let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        // A number that is part of a file name may belong to any kind of file.
        let named =
            rest.strip_prefix('.').is_some_and(|kind| kind.starts_with(char::is_alphabetic));
        number.strip_suffix(rest).filter(|_| !named)?.parse().ok()
    });
    by_file_name.chain(by_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_in_messages() {
        let message =
            "Corruption: block checksum mismatch: type = 4 in /a/000123.sst offset 0, /b/7.sst";
        assert_eq!(tables_named(message).collect::<Vec<_>>(), [123, 7]);
        assert_eq!(tables_named("nothing.sst, or else").collect::<Vec<_>>(), [0_u64; 0]);
        let message =
            "Unable to load table properties for file 94 --- Corruption: properties unsorted";
        assert_eq!(tables_named(message).collect::<Vec<_>>(), [94]);
        let message = "Corruption: bad record for file 000007.log: dropping 9 bytes for file #8.";
        assert_eq!(tables_named(message).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn early_findings_are_reported_later() {
        let dir = tempfile::tempdir().unwrap();
        let findings = Findings::default();
        findings.report(Finding::Lost("a".into()));
        let list = Arc::new(DamageList::open(dir.path(), crate::Clock::system()));
        findings.report_to(Arc::clone(&list));
        findings.report(Finding::Mended("b".into()));
        assert_eq!(list.lines(), ["lost: a", "mended: b"]);
    }
}
