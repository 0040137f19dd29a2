//! Compares a history with the contents of the shard.
//!
//! The promises, and the violation that each check finds:
//!
//! - A write that was acknowledged is in the log or in a pack, once, as its client sent it: `Lost`,
//!   `Twice`.
//! - What an owner found when it opened the shard is all that older owners have written for ever:
//!   `Zombie`.
//! - A scan returns records in order, without gaps, and backwards the same: `OutOfOrder`, `Gap`.
//! - A pack that the database names is in the store, whole: `PackMissing`, `PackDamaged`.
//! - A document, the record beside the log and the record of the log of the same batch are all
//!   there or all absent: `DocumentBehind`, `Torn`, `RecordTorn`.
//! - The next owner can open the shard and read it: `Unreadable`, which whoever opens it reports.

use std::collections::{BTreeMap, BTreeSet};

use super::history::Note;
use crate::shard::{Contents, Document, DocumentRevision, NamedPack, PackState, Row};

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// An acknowledged write is absent, or another one has its place.
    Lost { lsn: u64, writer: u64, request: u64 },
    /// A record is present more than once.
    Twice { lsn: u64 },
    /// A record was written by an owner after a newer one had opened the shard.
    Zombie { lsn: u64, writer: u64 },
    /// A scan returns a record behind one with a greater number.
    OutOfOrder { lsn: u64 },
    /// A number between the first and the last record is absent.
    Gap { lsn: u64 },
    /// The database names a pack that is not in the store.
    PackMissing { first: u64 },
    /// A pack is not what was uploaded.
    PackDamaged { first: u64, what: String },
    /// A document is older than an acknowledged change of it.
    DocumentBehind { number: u64, revision: u64 },
    /// A document names a record that did not change it.
    Torn { number: u64 },
    /// A record beside the log is absent, or the write that added it is.
    RecordTorn { lsn: u64 },
    /// The shard cannot be opened or read: all of it is lost until it is repaired.
    Unreadable { reason: String },
}

/// Returns all promises that were not kept.
pub(crate) fn violations(history: &[Note], contents: &Contents) -> Vec<Violation> {
    let mut found = order_violations(contents);
    let rows = all_rows(contents, &mut found);
    for (number, lsn) in (1..).zip(rows.keys()) {
        if number != *lsn {
            found.push(Violation::Gap { lsn: number });
            break;
        }
    }
    found.extend(lost(history, &rows));
    found.extend(zombies(history, &rows));
    found.extend(document_violations(history, contents, &rows));
    found.extend(record_violations(contents, &rows));
    found
}

fn order_violations(contents: &Contents) -> Vec<Violation> {
    let mut found = Vec::new();
    let forwards: Vec<u64> = contents.log.iter().map(|(number, _)| *number).collect();
    for (before, after) in forwards.iter().zip(forwards.iter().skip(1)) {
        if before >= after {
            found.push(Violation::OutOfOrder { lsn: *after });
        }
    }
    let mirrored = contents.backwards.iter().rev();
    if !mirrored.eq(forwards.iter()) {
        found.push(Violation::OutOfOrder { lsn: forwards.last().copied().unwrap_or_default() });
    }
    for (number, row) in &contents.log {
        if *number != row.lsn {
            found.push(Violation::OutOfOrder { lsn: *number });
        }
    }
    found
}

/// Returns the rows of the log and of all packs, by number.
fn all_rows(contents: &Contents, found: &mut Vec<Violation>) -> BTreeMap<u64, Row> {
    let mut rows = BTreeMap::new();
    for pack in &contents.packs {
        for row in rows_of(pack, found) {
            if rows.insert(row.lsn, *row).is_some() {
                found.push(Violation::Twice { lsn: row.lsn });
            }
        }
    }
    for (_, row) in &contents.log {
        if rows.insert(row.lsn, *row).is_some() {
            found.push(Violation::Twice { lsn: row.lsn });
        }
    }
    let mut requests = BTreeMap::new();
    for row in rows.values() {
        if requests.insert((row.writer, row.request), row.lsn).is_some() {
            found.push(Violation::Twice { lsn: row.lsn });
        }
    }
    rows
}

/// Returns the rows of a pack; there are none if it is missing or damaged.
fn rows_of<'a>(pack: &'a NamedPack, found: &mut Vec<Violation>) -> &'a [Row] {
    let first = pack.first;
    match &pack.state {
        PackState::Missing => found.push(Violation::PackMissing { first }),
        PackState::Damaged(what) => {
            found.push(Violation::PackDamaged { first, what: what.clone() });
        }
        PackState::Whole(rows) => {
            if !rows.iter().map(|row| row.lsn).eq(first..=pack.last) {
                let what = "its rows are not those of the pointer".to_owned();
                found.push(Violation::PackDamaged { first, what });
            }
            return rows;
        }
    }
    &[]
}

fn lost(history: &[Note], rows: &BTreeMap<u64, Row>) -> Vec<Violation> {
    let mut found = Vec::new();
    for note in history {
        let Note::Acknowledged { writer, request, lsn, document } = note else { continue };
        let document = document.map(|(number, revision)| DocumentRevision { number, revision });
        let sent = Row { lsn: *lsn, writer: *writer, request: *request, document };
        if rows.get(lsn) != Some(&sent) {
            found.push(Violation::Lost { lsn: *lsn, writer: *writer, request: *request });
        }
    }
    found
}

fn zombies(history: &[Note], rows: &BTreeMap<u64, Row>) -> Vec<Violation> {
    let mut opened = BTreeMap::new();
    let mut epochs = BTreeMap::new();
    for note in history {
        if let Note::Opened { writer, epoch, lsn, .. } = note {
            opened.insert(*epoch, *lsn);
            epochs.insert(*writer, *epoch);
        }
    }
    let written_after_end = |row: &&Row| {
        // A node that never reported to be open has no epoch; it must not have written at all.
        let Some(epoch) = epochs.get(&row.writer) else { return true };
        opened.range(epoch + 1..).any(|(_, recovered)| row.lsn > *recovered)
    };
    let late = rows.values().filter(written_after_end);
    late.map(|row| Violation::Zombie { lsn: row.lsn, writer: row.writer }).collect()
}

fn document_violations(
    history: &[Note],
    contents: &Contents,
    rows: &BTreeMap<u64, Row>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut stored = BTreeMap::new();
    for document in &contents.documents {
        stored.insert(document.number, document.lsn);
        if is_torn(document, rows) {
            found.push(Violation::Torn { number: document.number });
        }
    }
    // The last record that names a document is the one that the document names.
    let mut last_change = BTreeMap::new();
    for row in rows.values() {
        if let Some(document) = row.document {
            last_change.insert(document.number, (row.lsn, document.revision));
        }
    }
    for (number, (lsn, revision)) in last_change {
        if stored.get(&number) != Some(&lsn) {
            found.push(Violation::DocumentBehind { number, revision });
        }
    }
    for note in history {
        let Note::Acknowledged { lsn, document: Some((number, revision)), .. } = note else {
            continue;
        };
        if stored.get(number).is_none_or(|stored| stored < lsn) {
            found.push(Violation::DocumentBehind { number: *number, revision: *revision });
        }
    }
    found
}

/// Every write that changed a document has added a record beside the log, and no other has.
fn record_violations(contents: &Contents, rows: &BTreeMap<u64, Row>) -> Vec<Violation> {
    let added = rows.values().filter(|row| row.document.is_some()).map(|row| row.lsn);
    let added: BTreeSet<u64> = added.collect();
    let stored: BTreeSet<u64> = contents.records.iter().copied().collect();
    added.symmetric_difference(&stored).map(|lsn| Violation::RecordTorn { lsn: *lsn }).collect()
}

/// Returns whether the record that a document names did not change it.
fn is_torn(document: &Document, rows: &BTreeMap<u64, Row>) -> bool {
    let Document { number, revision, lsn } = *document;
    let changed = rows.get(&lsn).and_then(|row| row.document);
    changed != Some(DocumentRevision { number, revision })
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
