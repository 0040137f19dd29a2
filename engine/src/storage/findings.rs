//! What the store noticed about the health of its files: told to whoever keeps the list of damage, and the tables that have
//! to be looked at.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::damage::{DamageList, Finding};

/// What was found and nobody has been told yet.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Where it is told.
    list: OnceLock<Arc<DamageList>>,
    /// What was found before there was a list.
    told: Mutex<Vec<Finding>>,
    complaints: AtomicU64,
    /// Whether RocksDB reads a table without its properties, and so otherwise than it was written.
    misread: AtomicBool,
    /// Numbers of the tables that RocksDB complained about.
    suspects: Mutex<BTreeSet<u64>>,
    /// Whether records of RocksDB's log are being left out on purpose, each of which it then mentions.
    mode: Mutex<Hearing>,
}

/// What a message about dropped bytes of a log means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Hearing {
    /// The tail of a log that a crash left half written.
    #[default]
    Usual,
    /// Damage that the open goes around.
    Salvage,
}

impl Findings {
    /// Takes note of what RocksDB says: of an error, or in its log.
    pub(super) fn hear(&self, message: &str) {
        if *self.mode.lock() == Hearing::Salvage
            && message.contains(": dropping ")
            && message.contains(".log")
        {
            self.report(Finding::Lost(format!("a part of the database's log: {message}")));
        }
        if message.contains("properties block") {
            self.misread.store(true, Ordering::Relaxed);
        }
        let complains = ["orrupt", "mismatch", "magic number", "No such file"];
        if complains.iter().any(|word| message.contains(word)) {
            self.complaints.fetch_add(1, Ordering::Relaxed);
            self.suspects.lock().extend(tables_named(message));
        }
    }

    pub(super) fn listen_for(&self, hearing: Hearing) {
        *self.mode.lock() = hearing;
    }

    pub(super) fn report(&self, finding: Finding) {
        match self.list.get() {
            Some(list) => list.add(finding),
            None => self.told.lock().push(finding),
        }
    }

    /// Tells everything to `list`, from now on and from before.
    pub(super) fn tell_to(&self, list: Arc<DamageList>) {
        let list = self.list.get_or_init(|| list);
        std::mem::take(&mut *self.told.lock()).into_iter().for_each(|finding| list.add(finding));
    }

    pub(super) fn take_suspects(&self) -> BTreeSet<u64> {
        std::mem::take(&mut *self.suspects.lock())
    }

    /// Whether a table has been read without its properties since this was asked.
    pub(super) fn take_misread(&self) -> bool {
        self.misread.swap(false, Ordering::Relaxed)
    }

    /// How often RocksDB has complained of damage.
    pub(super) fn complaints(&self) -> u64 {
        self.complaints.load(Ordering::Relaxed)
    }

    /// A table that is to be looked at.
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

/// What is told of a table that was mended.
pub(super) fn mended(number: u64, sectors: usize) -> Finding {
    let s = if sectors == 1 { "" } else { "s" };
    Finding::Mended(format!(
        "table {number:06}.sst of the database was damaged in {sectors} sector{s} of 4 KB, and has its bytes again: the disk may be \
         failing"
    ))
}

/// The numbers of the tables that a message names: by their files, or as "for file 7".
pub(super) fn tables_named(message: &str) -> impl Iterator<Item = u64> + '_ {
    let before = message.split(".sst").collect::<Vec<_>>();
    let named = before.len().saturating_sub(1);
    let by_name = before.into_iter().take(named).filter_map(|text| {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        text.get(digits..)?.parse().ok()
    });
    let by_number = message.split(" for file ").skip(1).filter_map(|text| {
        let number = text.trim_start_matches('#');
        let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        // By its name it may be any file.
        let named =
            rest.strip_prefix('.').is_some_and(|kind| kind.starts_with(char::is_alphabetic));
        number.strip_suffix(rest).filter(|_| !named)?.parse().ok()
    });
    by_name.chain(by_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_in_what_is_said() {
        let said =
            "Corruption: block checksum mismatch: type = 4 in /a/000123.sst offset 0, /b/7.sst";
        assert_eq!(tables_named(said).collect::<Vec<_>>(), [123, 7]);
        assert_eq!(tables_named("nothing.sst, or else").collect::<Vec<_>>(), [0_u64; 0]);
        let said =
            "Unable to load table properties for file 94 --- Corruption: properties unsorted";
        assert_eq!(tables_named(said).collect::<Vec<_>>(), [94]);
        let said = "Corruption: bad record for file 000007.log: dropping 9 bytes for file #8.";
        assert_eq!(tables_named(said).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn what_was_found_early_is_told_later() {
        let dir = tempfile::tempdir().unwrap();
        let findings = Findings::default();
        findings.report(Finding::Lost("a".into()));
        let list = Arc::new(DamageList::open(dir.path(), crate::Clock::system()));
        findings.tell_to(Arc::clone(&list));
        findings.report(Finding::Mended("b".into()));
        assert_eq!(list.lines(), ["lost: a", "mended: b"]);
    }
}
