//! Tests of what is lost when files of the database are damaged, with and without guards.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::tests::{get, keys, noise, open, open_with_findings, put};
use super::*;
use crate::error::Error;

/// Returns the only file in `dir` with this extension that contains `needle`.
fn file_with(dir: &Path, extension: &str, needle: &[u8]) -> std::path::PathBuf {
    let found = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).find(|path| {
        path.extension().is_some_and(|e| e == extension)
            && fs::read(path).unwrap().windows(needle.len()).any(|window| window == needle)
    });
    found.unwrap()
}

fn flip_byte(path: &Path, needle: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_flipped_byte_in_a_table_damages_only_its_part() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for n in 0..100_u8 {
        put(&store, Keyspace::Documents, &[n], &noise(u64::from(n), 10_000));
    }
    store.flush().unwrap();
    store.compact(Keyspace::Documents, &KeyRange::all()).unwrap();
    drop(store);
    fs::remove_dir_all(dir.path().join("guards")).unwrap();
    let needle = &noise(50, 10_000)[5_000..5_020];
    flip_byte(&file_with(dir.path(), "sst", needle), needle);

    let store = open(dir.path());
    let error = store.get(Keyspace::Documents, &[50]).unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error}");
    assert_eq!(get(&store, Keyspace::Documents, &[49]), Some(noise(49, 10_000)));
    assert_eq!(get(&store, Keyspace::Documents, &[51]), Some(noise(51, 10_000)));

    let scan = store.scan(RangeOf::all(Keyspace::Documents), Direction::Forward, Caching::Keep);
    let outcomes: Vec<_> = scan.collect();
    assert_eq!(outcomes.len(), 51);
    assert!(matches!(outcomes.last().unwrap(), Err(Error::Corrupt(_))));

    let mut seen = Vec::new();
    let range = RangeOf::between(Keyspace::Documents, &[10], &[90]);
    let gap = store
        .read_skipping_damage(range, Caching::Bypass, |key, _| seen.push(key[0]))
        .unwrap()
        .unwrap();
    assert_eq!(gap.after.as_deref(), Some([49].as_slice()));
    // 51 can be read by its key, but not by the backward scan.
    assert_eq!(seen, (10..50).chain(52..90).collect::<Vec<_>>());
}

#[test]
fn reading_around_damage_without_damage_reads_everything_once() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for n in 0..10_u8 {
        put(&store, Keyspace::Catalog, &[n], b"");
    }
    let mut seen = Vec::new();
    let all = RangeOf::all(Keyspace::Catalog);
    let gap = store.read_skipping_damage(all, Caching::Keep, |key, _| seen.push(key[0])).unwrap();
    assert!(gap.is_none());
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
}

#[test]
fn a_truncated_log_loses_its_tail_and_a_damaged_one_only_its_damaged_records() {
    // Larger than a block of RocksDB's log, the rest of which would be dropped with a damaged
    // record.
    const RECORD_BYTES: usize = 40_000;
    let dir = TempDir::new().unwrap();
    let (whole, cut, damaged) =
        (dir.path().join("whole"), dir.path().join("cut"), dir.path().join("damaged"));
    let store = open(&whole);
    for n in 0..3_u8 {
        put(&store, Keyspace::Documents, &[n], &noise(u64::from(n), RECORD_BYTES));
    }
    for target in [&cut, &damaged] {
        copy_as_killed(&whole, target);
    }
    let needle = &noise(2, RECORD_BYTES)[2_000..2_020];
    let log = file_with(&cut, "log", needle);
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, bytes.get(..bytes.len() - 1_500).unwrap()).unwrap();
    let found = keys(&open(&cut), Keyspace::Documents, &KeyRange::all(), Direction::Forward);
    assert_eq!(found, [[0], [1]]);

    let needle = &noise(1, RECORD_BYTES)[2_000..2_020];
    flip_byte(&file_with(&damaged, "log", needle), needle);
    let (store, findings) = open_with_findings(&damaged);
    let found = keys(&store, Keyspace::Documents, &KeyRange::all(), Direction::Forward);
    assert_eq!(found, [[0], [2]]);
    assert!(findings.iter().any(|line| line.contains("the database's log")), "{findings:?}");
    drop(store);
    assert!(open_with_findings(&damaged).1.is_empty(), "it is reported once");
}

/// Returns the database of [`table_of_documents`] with one more document, as a kill soon after a
/// start leaves it.
fn killed_after_a_start() -> (TempDir, std::path::PathBuf) {
    let dir = TempDir::new().unwrap();
    table_of_documents(dir.path(), true);
    let store = open(dir.path());
    put(&store, Keyspace::Documents, &[200], b"after");
    let copy = TempDir::new().unwrap();
    let db = copy.path().join("db");
    copy_as_killed(dir.path(), &db);
    (copy, db)
}

/// Fills and closes a store with a hundred documents of 10 KB in one table, with or without a
/// guard.
fn table_of_documents(dir: &Path, guarded: bool) {
    let store = open(dir);
    for n in 0..100_u8 {
        put(&store, Keyspace::Documents, &[n], &noise(u64::from(n), 10_000));
    }
    store.flush().unwrap();
    drop(store);
    if !guarded {
        fs::remove_dir_all(dir.join("guards")).unwrap();
    }
}

#[test]
fn a_flipped_byte_in_a_guarded_table_loses_nothing() {
    let dir = TempDir::new().unwrap();
    table_of_documents(dir.path(), true);
    let needle = &noise(50, 10_000)[5_000..5_020];
    flip_byte(&file_with(dir.path(), "sst", needle), needle);
    let store = open(dir.path());
    let mut seen = Vec::new();
    let all = RangeOf::all(Keyspace::Documents);
    let gap = store.read_skipping_damage(all, Caching::Bypass, |key, _| seen.push(key[0])).unwrap();
    assert!(gap.is_none(), "{gap:?}");
    assert_eq!(seen, (0..100).collect::<Vec<_>>());
    assert_eq!(get(&store, Keyspace::Documents, &[50]), Some(noise(50, 10_000)));
}

#[test]
fn writes_succeed_after_a_compaction_met_damage() {
    for guarded in [true, false] {
        let dir = TempDir::new().unwrap();
        table_of_documents(dir.path(), guarded);
        let needle = &noise(50, 10_000)[5_000..5_020];
        flip_byte(&file_with(dir.path(), "sst", needle), needle);
        let store = open(dir.path());
        // A second table with the same keys, so that the first one has to be read.
        put(&store, Keyspace::Documents, &[0], b"new");
        put(&store, Keyspace::Documents, &[99], b"new");
        store.flush_keyspace(Keyspace::Documents).unwrap();
        store.compact(Keyspace::Documents, &KeyRange::all()).unwrap();
        put(&store, Keyspace::Documents, &[100], b"after");
        store.tend().unwrap();
        store.compact(Keyspace::Documents, &KeyRange::all()).unwrap();
        drop(store);
        let store = open(dir.path());
        let found = keys(&store, Keyspace::Documents, &KeyRange::all(), Direction::Forward);
        let lost = (0..=100).filter(|n| !found.contains(&vec![*n])).collect::<Vec<u8>>();
        assert!(lost.is_empty() || (!guarded && lost.contains(&50) && lost.len() <= 2), "{lost:?}");
        assert_eq!(lost.is_empty(), guarded);
        assert_eq!(get(&store, Keyspace::Documents, &[0]).unwrap(), b"new");
    }
}

#[test]
fn the_meta_keyspace_survives_the_loss_of_a_table() {
    let keyspace = Keyspace::Meta;
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    (0..50_u8).for_each(|n| put(&store, keyspace, &[n], &noise(u64::from(n), 500)));
    store.flush().unwrap();
    drop(store);
    fs::remove_dir_all(dir.path().join("guards")).unwrap();
    // Each keyspace as a whole, but not its copy.
    let needle = &noise(25, 500)[100..120];
    let tables = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let tables: Vec<_> =
        tables.filter(|path| path.extension().is_some_and(|e| e == "sst")).collect();
    let matching = tables.iter().filter(|path| {
        fs::read(path).unwrap().windows(needle.len()).any(|window| window == needle)
    });
    let matching: Vec<_> = matching.collect();
    assert_eq!(matching.len(), 2);
    for lost in matching {
        let copy = dir.path().join("../copy");
        let copy = TempDir::new_in(copy.parent().unwrap()).unwrap();
        copy_as_killed(dir.path(), &copy.path().join("db"));
        let table = copy.path().join("db").join(lost.file_name().unwrap());
        let zeroes = vec![0; fs::metadata(&table).unwrap().len() as usize];
        fs::write(&table, zeroes).unwrap();
        let (store, findings) = open_with_findings(&copy.path().join("db"));
        assert!(!findings.is_empty());
        for n in 0..50_u8 {
            assert_eq!(get(&store, keyspace, &[n]), Some(noise(u64::from(n), 500)), "{findings:?}");
        }
    }
}

#[test]
fn damaged_current_and_manifest_files_are_rebuilt() {
    for damaged in ["CURRENT", "MANIFEST"] {
        for guarded in [true, false] {
            let dir = TempDir::new().unwrap();
            table_of_documents(dir.path(), guarded);
            let file = fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .find(|path| path.file_name().unwrap().to_string_lossy().starts_with(damaged));
            let file = file.unwrap();
            let mut bytes = fs::read(&file).unwrap();
            // In the number of the current manifest, and within the first edit of the manifest: the
            // last edits of one without a copy count as torn.
            bytes[10] ^= 4;
            fs::write(&file, bytes).unwrap();
            let (store, findings) = open_with_findings(dir.path());
            assert!(!findings.is_empty(), "{damaged}, guarded: {guarded}");
            let found = keys(&store, Keyspace::Documents, &KeyRange::all(), Direction::Forward);
            assert_eq!(found.len(), 100, "{damaged}, guarded: {guarded}: {findings:?}");
            put(&store, Keyspace::Documents, &[200], b"after");
        }
    }
}

#[test]
fn a_damaged_manifest_end_that_was_in_force_is_reported() {
    // A start writes a new manifest and is killed before it is copied.
    let (_copy, db) = killed_after_a_start();
    let manifest = super::guard::current_manifest(&db).unwrap();
    fs::remove_file(db.join("guards").join(manifest.file_name().unwrap())).unwrap();
    let whole = fs::read(&manifest).unwrap();
    for sector in (0..whole.len()).step_by(512) {
        let mut damaged = whole.clone();
        let end = whole.len().min(sector + 512);
        damaged[sector..end].fill(0);
        let dir = TempDir::new().unwrap();
        let again = dir.path().join("db");
        copy_as_killed(&db, &again);
        fs::write(again.join(manifest.file_name().unwrap()), damaged).unwrap();
        let (store, findings) = open_with_findings(&again);
        let found = keys(&store, Keyspace::Documents, &KeyRange::all(), Direction::Forward);
        assert!(found.len() == 101 || !findings.is_empty(), "{sector}: {} are left", found.len());
    }
}

#[test]
fn zeroed_edits_at_the_end_of_a_manifest_are_restored() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    put(&store, Keyspace::Documents, &[1], b"one");
    store.flush().unwrap();
    let manifest = super::guard::current_manifest(dir.path()).unwrap();
    let before = fs::metadata(&manifest).unwrap().len() as usize;
    put(&store, Keyspace::Documents, &[2], b"two");
    store.flush().unwrap();
    let copy = TempDir::new().unwrap();
    let db = copy.path().join("db");
    copy_as_killed(dir.path(), &db);
    let manifest = super::guard::current_manifest(&db).unwrap();
    let mut bytes = fs::read(&manifest).unwrap();
    assert!(bytes.len() > before);
    bytes[before..].fill(0);
    fs::write(&manifest, bytes).unwrap();
    let (store, findings) = open_with_findings(&db);
    assert!(findings.iter().any(|line| line.starts_with("mended: ")), "{findings:?}");
    assert_eq!(get(&store, Keyspace::Documents, &[2]).as_deref(), Some(b"two".as_slice()));
}

#[test]
fn an_edit_torn_by_a_power_loss_is_not_damage() {
    let (_copy, db) = killed_after_a_start();
    let manifest = super::guard::current_manifest(&db).unwrap();
    let mut bytes = fs::read(&manifest).unwrap();
    let whole = bytes.len();
    super::journal::put_record(&mut bytes, &[7; 100]);
    bytes[whole + 50..].fill(0);
    fs::write(&manifest, bytes).unwrap();
    let (store, findings) = open_with_findings(&db);
    assert_eq!(findings, [""; 0]);
    let found = keys(&store, Keyspace::Documents, &KeyRange::all(), Direction::Forward);
    assert_eq!(found.len(), 101);
}

/// Changes an entry of `Meta` or its copy, but not both.
fn change_one(store: &Store, keyspace: Keyspace, key: &[u8], value: Option<&[u8]>) {
    let db = store.db().unwrap();
    let family = super::store::family(&db, keyspace);
    match value {
        Some(value) => db.put_cf(family, key, value).unwrap(),
        None => db.delete_cf(family, key).unwrap(),
    }
}

#[test]
fn every_difference_between_meta_and_its_copy_is_reported_and_mended() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for n in 0..4_u8 {
        put(&store, Keyspace::Meta, &[n], &7_u64.to_le_bytes());
    }
    assert_eq!(store.compare_copies().unwrap(), [""; 0]);
    change_one(&store, Keyspace::Meta, &[0], None);
    change_one(&store, Keyspace::Copies, b"m\x01", None);
    change_one(&store, Keyspace::Copies, b"m\x02", Some(&6_u64.to_le_bytes()));
    let expected = [
        "meta: 1 entries are only in the copy",
        "meta: 1 entries are not in the copy",
        "meta: 1 entries differ from their copies",
    ];
    assert_eq!(store.compare_copies().unwrap(), expected);
    drop(store);
    let (store, findings) = open_with_findings(dir.path());
    assert!(findings.iter().any(|line| line.contains("(1 entries, 2 copies)")), "{findings:?}");
    assert_eq!(store.compare_copies().unwrap(), [""; 0]);
    for n in 0..4_u8 {
        assert_eq!(get(&store, Keyspace::Meta, &[n]), Some(7_u64.to_le_bytes().to_vec()));
    }
}

#[test]
fn only_a_different_value_is_mended_too() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    put(&store, Keyspace::Meta, b"n", &7_u64.to_le_bytes());
    change_one(&store, Keyspace::Meta, b"n", Some(&6_u64.to_le_bytes()));
    drop(store);
    let (store, findings) = open_with_findings(dir.path());
    assert!(findings.iter().any(|line| line.contains("(0 entries, 1 copies)")), "{findings:?}");
    assert_eq!(get(&store, Keyspace::Meta, b"n"), Some(7_u64.to_le_bytes().to_vec()));
}

#[test]
fn a_noted_loss_is_in_the_copy_too() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    super::table_removal::note_loss(&store.db().unwrap(), Keyspace::Catalog).unwrap();
    assert!(store.has_lost_entries(Keyspace::Catalog).unwrap());
    assert_eq!(store.compare_copies().unwrap(), [""; 0]);
    store.clear_lost_entries(Keyspace::Catalog).unwrap();
    assert!(!store.has_lost_entries(Keyspace::Catalog).unwrap());
}

#[test]
fn a_lost_mark_of_the_log_is_reported() {
    let dir = TempDir::new().unwrap();
    drop(open(dir.path()));
    let mark = dir.path().join("guards/ACKNOWLEDGED");
    fs::write(&mark, [1; 32]).unwrap();
    let (store, findings) = open_with_findings(dir.path());
    assert!(findings.iter().any(|line| line.contains("guards/ACKNOWLEDGED")), "{findings:?}");
    let mut damaged = Vec::new();
    store.verify_files(&mut damaged).unwrap();
    assert_eq!(damaged, [""; 0], "the open has written it again");
    fs::write(&mark, [1; 32]).unwrap();
    store.verify_files(&mut damaged).unwrap();
    assert!(damaged.iter().any(|line| line.contains("guards/ACKNOWLEDGED")), "{damaged:?}");
}

#[test]
fn a_verification_finds_a_damaged_manifest() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    let manifest = super::guard::current_manifest(dir.path()).unwrap();
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[40] ^= 1;
    fs::write(&manifest, bytes).unwrap();
    let mut damaged = Vec::new();
    store.verify_files(&mut damaged).unwrap();
    assert!(
        damaged.iter().any(|line| line.contains("manifest of the database is damaged")),
        "{damaged:?}"
    );
}
