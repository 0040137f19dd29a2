//! Tests of repairs from guards, and of damaged guards, manifests and interrupted repairs.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::tests::{damage_of, get, keys, noise, open, put};
use super::*;

const TABLES: u8 = 3;
const ROWS: u8 = 20;

/// Fills and closes a store with several guarded tables of one keyspace with consecutive keys.
fn tables(dir: &Path) -> Vec<PathBuf> {
    let store = open(dir);
    for table in 0..TABLES {
        for row in 0..ROWS {
            let n = table * ROWS + row;
            put(&store, Keyspace::Documents, &[n], &noise(u64::from(n), 1_000));
        }
        store.flush().unwrap();
    }
    drop(store);
    let needles = (0..TABLES).map(|table| noise(u64::from(table * ROWS), 1_000));
    needles.map(|needle| table_containing(dir, &needle[..100])).collect()
}

fn table_containing(dir: &Path, needle: &[u8]) -> PathBuf {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut tables = paths.filter(|path| path.extension().is_some_and(|e| e == "sst"));
    let holds = |path: &PathBuf| {
        fs::read(path).unwrap().windows(needle.len()).any(|window| window == needle)
    };
    tables.find(holds).unwrap()
}

fn flip(path: &Path, at: impl FnOnce(usize) -> usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = at(bytes.len());
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[track_caller]
fn check_complete(store: &Store) {
    let found = keys(store, Keyspace::Documents, &KeyRange::all(), Direction::Forward);
    assert_eq!(found.len(), usize::from(TABLES * ROWS));
    for n in 0..TABLES * ROWS {
        assert_eq!(get(store, Keyspace::Documents, &[n]), Some(noise(u64::from(n), 1_000)));
    }
}

#[test]
fn one_damaged_sector_in_each_of_several_tables_loses_nothing() {
    type OffsetFor = fn(usize) -> usize;
    // In the rows, in the properties and index, and in the footer.
    let offsets: [OffsetFor; 4] = [|_| 2_000, |len| len - 60, |len| len - 300, |len| len - 900];
    for offset in offsets {
        let dir = TempDir::new().unwrap();
        tables(dir.path()).iter().for_each(|table| flip(table, offset));
        check_complete(&open(dir.path()));
        check_complete(&open(dir.path()));
    }
}

#[test]
fn a_damaged_guard_is_rebuilt() {
    let dir = TempDir::new().unwrap();
    let table = tables(dir.path()).remove(0);
    let name = table.with_extension("guard");
    let guard = dir.path().join("guards").join(name.file_name().unwrap());
    let whole = fs::read(&guard).unwrap();
    flip(&guard, |len| len / 2);
    let store = open(dir.path());
    store.tend().unwrap();
    assert_eq!(fs::read(&guard).unwrap(), whole);
}

/// Fills and closes a store with a small table of each of several keyspaces.
fn small_tables(dir: &Path) -> Vec<PathBuf> {
    let store = open(dir);
    let keyspaces = [Keyspace::Documents, Keyspace::Records, Keyspace::Catalog];
    let value = |n: usize| noise(n as u64, 1_000);
    keyspaces.iter().enumerate().for_each(|(n, k)| put(&store, *k, b"key", &value(n)));
    store.flush().unwrap();
    drop(store);
    (0..keyspaces.len()).map(|n| table_containing(dir, &value(n)[..100])).collect()
}

#[track_caller]
fn check_small_tables(store: &Store) {
    for (n, keyspace) in
        [Keyspace::Documents, Keyspace::Records, Keyspace::Catalog].iter().enumerate()
    {
        assert_eq!(get(store, *keyspace, b"key"), Some(noise(n as u64, 1_000)), "{keyspace:?}");
    }
}

#[test]
fn damage_to_several_small_tables_loses_nothing() {
    for at in [100, 900, 1_100, 1_400] {
        let dir = TempDir::new().unwrap();
        small_tables(dir.path()).iter().for_each(|table| flip(table, |_| at));
        check_small_tables(&open(dir.path()));
        check_small_tables(&open(dir.path()));
    }
}

#[test]
fn the_guards_of_small_tables_are_rebuilt_together() {
    let dir = TempDir::new().unwrap();
    let tables = small_tables(dir.path());
    let shared = dir.path().join("guards/SMALL");
    assert!(
        !dir.path()
            .join("guards")
            .join(tables[0].with_extension("guard").file_name().unwrap())
            .exists()
    );
    for damage in
        [|path: &Path| flip(path, |len| len / 2), |path: &Path| fs::remove_file(path).unwrap()]
    {
        let guarded = super::guard::Guards::new(dir.path()).guarded().unwrap();
        assert!(guarded.len() >= tables.len());
        damage(&shared);
        let store = open(dir.path());
        store.tend().unwrap();
        check_small_tables(&store);
        drop(store);
        let again = super::guard::Guards::new(dir.path()).guarded().unwrap();
        assert!(guarded.is_subset(&again), "{guarded:?} {again:?}");
    }
    tables.iter().for_each(|table| flip(table, |len| len / 2));
    check_small_tables(&open(dir.path()));
}

#[test]
fn a_damaged_guard_is_not_rebuilt_from_a_damaged_table() {
    let dir = TempDir::new().unwrap();
    let table = tables(dir.path()).remove(1);
    let name = table.with_extension("guard");
    let guard = dir.path().join("guards").join(name.file_name().unwrap());
    flip(&guard, |len| len / 2);
    flip(&table, |_| 2_000);
    let store = open(dir.path());
    for _ in 0..10 {
        store.tend().unwrap();
    }
    let damage = damage_of(&store);
    assert!(damage.iter().any(|line| line.starts_with("lost: ")), "{damage:?}");
    let found = keys(&store, Keyspace::Documents, &KeyRange::all(), Direction::Forward);
    let lost = usize::from(TABLES * ROWS) - found.len();
    // At most the block of rows that was hit.
    assert!((1..=usize::from(ROWS)).contains(&lost), "{lost}");
}

#[test]
fn a_table_without_a_guard_is_read_before_it_gets_one() {
    let dir = TempDir::new().unwrap();
    let table = tables(dir.path()).remove(1);
    fs::remove_dir_all(dir.path().join("guards")).unwrap();
    flip(&table, |_| 2_000);
    let store = open(dir.path());
    store.tend().unwrap();
    let number = table.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let guarded = super::guard::Guards::new(dir.path()).guarded().unwrap();
    assert!(!guarded.contains(&number) && !guarded.is_empty(), "{guarded:?}");
    store.tend().unwrap();
    // The table was removed, and its readable rows are in another one.
    assert!(!table.exists());
    let found = keys(&store, Keyspace::Documents, &KeyRange::all(), Direction::Forward);
    assert!(found.len() >= usize::from((TABLES - 1) * ROWS), "{}", found.len());
}

#[test]
fn a_new_table_is_guarded_at_the_next_check() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    store.tend().unwrap();
    let guards = || super::guard::Guards::new(dir.path()).guarded().unwrap().len();
    let before = guards();
    store.guard_new_tables().unwrap();
    assert_eq!(guards(), before);
    put(&store, Keyspace::Documents, &[1], &noise(1, 5_000));
    store.flush_keyspace(Keyspace::Documents).unwrap();
    store.guard_new_tables().unwrap();
    assert_eq!(guards(), before + 1);
}

#[test]
fn a_damaged_manifest_does_not_overwrite_its_copy() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    put(&store, Keyspace::Documents, &[1], b"one");
    store.flush().unwrap();
    let manifest = super::guard::current_manifest(dir.path()).unwrap();
    let whole = fs::read(&manifest).unwrap();
    // RocksDB does not read the manifest again, and appends to it.
    let file = fs::File::options().write(true).open(&manifest).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[!whole[40]], 40).unwrap();
    put(&store, Keyspace::Documents, &[2], b"two");
    store.flush().unwrap();
    let copy = dir.path().join("guards").join(manifest.file_name().unwrap());
    assert!(super::guard::read_copy(&copy).unwrap().starts_with(&whole));
    let damage = damage_of(&store);
    assert!(damage.iter().any(|line| line.contains("manifest was damaged")), "{damage:?}");
    let killed = TempDir::new().unwrap();
    let killed = killed.path().join("db");
    copy_as_killed(dir.path(), &killed);
    let store = open(&killed);
    for (key, value) in [([1], b"one"), ([2], b"two")] {
        assert_eq!(get(&store, Keyspace::Documents, &key).as_deref(), Some(value.as_slice()));
    }
}

#[test]
fn damage_to_the_file_current_of_an_open_database_is_reported() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    store.tend().unwrap();
    fs::write(dir.path().join("CURRENT"), "MANIFEST-\u{fffd}\n").unwrap();
    store.tend().unwrap();
    let damage = damage_of(&store);
    assert!(damage.iter().any(|line| line.contains("CURRENT was damaged")), "{damage:?}");
}

#[test]
fn an_interrupted_repair_is_repeated() {
    let dir = TempDir::new().unwrap();
    tables(dir.path());
    // What RocksDB's repair leaves when it is killed early: a manifest without any table.
    let manifest = super::guard::current_manifest(dir.path()).unwrap();
    fs::remove_dir_all(dir.path().join("guards")).unwrap();
    let empty = TempDir::new().unwrap();
    drop(open(empty.path()));
    let of_empty = super::guard::current_manifest(empty.path()).unwrap();
    fs::copy(of_empty, &manifest).unwrap();
    fs::write(dir.path().join("REPAIRING"), "").unwrap();
    check_complete(&open(dir.path()));
    assert!(!dir.path().join("REPAIRING").exists());
}

#[test]
fn a_checkpoint_contains_the_guards_of_its_tables() {
    let dir = TempDir::new().unwrap();
    let target = TempDir::new().unwrap();
    let target = target.path().join("db");
    let store = open(dir.path());
    put(&store, Keyspace::Documents, &[1], &noise(1, 5_000));
    store.checkpoint(&target).unwrap();
    drop(store);
    let table = table_containing(&target, &noise(1, 5_000)[..100]);
    // The table is a hard link to that of the store: replace it with a copy.
    let bytes = fs::read(&table).unwrap();
    fs::remove_file(&table).unwrap();
    fs::write(&table, bytes).unwrap();
    flip(&table, |_| 2_000);
    assert_eq!(get(&open(&target), Keyspace::Documents, &[1]), Some(noise(1, 5_000)));
}
