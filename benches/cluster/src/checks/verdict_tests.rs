//! Every check accepts a history that keeps the promises, and finds the one that is broken.

use super::{Violation, violations};
use crate::checks::Note;
use crate::shard::{Contents, Document, DocumentRevision, NamedPack, PackState, Row};

fn row(lsn: u64, writer: u64, request: u64) -> Row {
    Row { lsn, writer, request, document: None }
}

fn with_document(lsn: u64, writer: u64, request: u64) -> Row {
    let document = Some(DocumentRevision { number: 7, revision: lsn });
    Row { lsn, writer, request, document }
}

fn opened(writer: u64, epoch: u64, lsn: u64) -> Note {
    Note::Opened { writer, epoch, lsn, sealed: 0, millis: 1.0 }
}

fn acknowledged(row: Row) -> Note {
    let document = row.document.map(|document| (document.number, document.revision));
    Note::Acknowledged { writer: row.writer, request: row.request, lsn: row.lsn, document }
}

/// Two owners: the first wrote 1 to 3, of which 1 and 2 are in a pack, the second 4 and 5.
fn kept() -> (Vec<Note>, Contents) {
    let rows = [row(1, 1, 1), row(2, 1, 2), row(3, 1, 3), row(4, 2, 1), with_document(5, 2, 2)];
    let mut history = vec![opened(1, 1, 0), opened(2, 2, 3)];
    history.extend(rows.map(acknowledged));
    let contents = Contents {
        log: rows.iter().skip(2).map(|row| (row.lsn, *row)).collect(),
        backwards: vec![5, 4, 3],
        packs: vec![NamedPack {
            first: 1,
            last: 2,
            state: PackState::Whole(rows.iter().take(2).copied().collect()),
        }],
        documents: vec![Document { number: 7, revision: 5, lsn: 5 }],
        records: vec![5],
    };
    (history, contents)
}

/// Fails unless a change of what is right is found as this violation.
#[track_caller]
fn check(change: impl FnOnce(&mut Vec<Note>, &mut Contents), expected: &Violation) {
    let (mut history, mut contents) = kept();
    change(&mut history, &mut contents);
    let found = violations(&history, &contents);
    assert!(found.contains(expected), "{found:?} lacks {expected:?}");
}

#[test]
fn a_history_that_keeps_the_promises_is_accepted() {
    let (history, contents) = kept();
    assert_eq!(violations(&history, &contents), []);
    assert_eq!(violations(&[], &Contents::default()), []);
}

#[test]
fn writes_that_were_never_acknowledged_may_be_there() {
    let (mut history, contents) = kept();
    history.pop();
    assert_eq!(violations(&history, &contents), []);
}

#[test]
fn a_lost_write_is_found() {
    let lost = Violation::Lost { lsn: 5, writer: 2, request: 2 };
    let remove_last = |_: &mut Vec<Note>, contents: &mut Contents| {
        contents.log.pop();
        contents.backwards.remove(0);
        contents.documents.clear();
    };
    check(remove_last, &lost);
    // Another write has its place.
    check(|_, contents| contents.log[2].1 = row(5, 2, 9), &lost);
    check(
        |history, _| history.push(acknowledged(row(6, 2, 3))),
        &Violation::Lost { lsn: 6, writer: 2, request: 3 },
    );
}

#[test]
fn a_write_of_a_fenced_owner_is_found() {
    let zombie = Violation::Zombie { lsn: 5, writer: 1 };
    check(|_, contents| contents.log[2].1 = row(5, 1, 4), &zombie);
    // The second owner opened before the third record was there.
    let zombie = Violation::Zombie { lsn: 3, writer: 1 };
    check(|history, _| history[1] = opened(2, 2, 2), &zombie);
    // A node that never opened the shard.
    let zombie = Violation::Zombie { lsn: 4, writer: 2 };
    check(|history, _| drop(history.remove(1)), &zombie);
}

#[test]
fn records_that_are_there_twice_are_found() {
    let unsealed = |_: &mut Vec<Note>, contents: &mut Contents| {
        contents.log.insert(0, (2, row(2, 1, 2)));
        contents.backwards.push(2);
    };
    check(unsealed, &Violation::Twice { lsn: 2 });
    // A request that was stored again under another number.
    check(|_, contents| contents.log[1].1 = row(4, 1, 3), &Violation::Twice { lsn: 4 });
}

#[test]
fn scans_out_of_order_are_found() {
    check(|_, contents| contents.log.swap(0, 1), &Violation::OutOfOrder { lsn: 3 });
    check(|_, contents| contents.backwards.swap(0, 1), &Violation::OutOfOrder { lsn: 5 });
    check(|_, contents| contents.log[0].0 = 2, &Violation::OutOfOrder { lsn: 2 });
}

#[test]
fn gaps_are_found() {
    let remove_third = |history: &mut Vec<Note>, contents: &mut Contents| {
        history.remove(4);
        contents.log.remove(0);
        contents.backwards.pop();
    };
    check(remove_third, &Violation::Gap { lsn: 3 });
}

#[test]
fn missing_and_damaged_packs_are_found() {
    let missing = Violation::PackMissing { first: 1 };
    check(|_, contents| contents.packs[0].state = PackState::Missing, &missing);
    let damaged = |what: &str| Violation::PackDamaged { first: 1, what: what.to_owned() };
    let cut = PackState::Damaged("cut".to_owned());
    check(|_, contents| contents.packs[0].state = cut, &damaged("cut"));
    let other = damaged("its rows are not those of the pointer");
    check(|_, contents| contents.packs[0].last = 3, &other);
}

#[test]
fn documents_that_do_not_match_the_log_are_found() {
    let behind = Violation::DocumentBehind { number: 7, revision: 5 };
    check(|_, contents| contents.documents.clear(), &behind);
    let torn = Violation::Torn { number: 7 };
    check(|_, contents| contents.documents[0].lsn = 4, &torn);
    check(|_, contents| contents.documents[0].revision = 4, &torn);
}

#[test]
fn records_without_their_write_and_writes_without_their_record_are_found() {
    check(|_, contents| contents.records.clear(), &Violation::RecordTorn { lsn: 5 });
    check(|_, contents| contents.records.push(4), &Violation::RecordTorn { lsn: 4 });
}
