//! Tests of what the store promises to the rest of the engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::store::FORMAT_VERSION;
use super::*;
use crate::error::Error;
use crate::limits::RANGES_RECLAIMED_MAX;

const CACHE_BYTES: usize = 16 << 20;

pub(super) fn open(dir: &Path) -> Store {
    Store::open(dir, CACHE_BYTES, 2).unwrap()
}

/// Returns the damage found so far.
pub(super) fn damage_of(store: &Store) -> Vec<String> {
    let elsewhere = tempfile::tempdir().unwrap();
    let list = crate::damage::DamageList::open(elsewhere.path(), crate::Clock::system());
    let list = std::sync::Arc::new(list);
    store.report_damage_to(std::sync::Arc::clone(&list));
    list.lines()
}

/// Opens the store in `dir`. Returns it with the damage found by the open.
pub(super) fn open_with_findings(dir: &Path) -> (Store, Vec<String>) {
    let store = open(dir);
    let damage = damage_of(&store);
    (store, damage)
}

fn db(store: &mut Store) -> &mut rocksdb::DB {
    std::sync::Arc::get_mut(store.db.get_mut().as_mut().unwrap()).unwrap()
}

pub(super) fn put(store: &Store, keyspace: Keyspace, key: &[u8], value: &[u8]) {
    let mut batch = Batch::new();
    batch.put(keyspace, key, value.to_vec());
    store.write(batch, Sync::Yes).unwrap();
}

pub(super) fn get(store: &Store, keyspace: Keyspace, key: &[u8]) -> Option<Vec<u8>> {
    store.get(keyspace, key).unwrap().map(|value| value.to_vec())
}

pub(super) fn keys(
    store: &Store,
    keyspace: Keyspace,
    range: &KeyRange,
    direction: Direction,
) -> Vec<Vec<u8>> {
    store
        .scan(RangeOf { keyspace, keys: range.clone() }, direction, Caching::Keep)
        .map(|entry| entry.unwrap().0.into_vec())
        .collect()
}

/// Returns incompressible bytes.
pub(super) fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next).flatten().take(len).collect()
}

#[test]
fn keyspaces_are_independent() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for (n, keyspace) in Keyspace::ALL.into_iter().enumerate() {
        put(&store, keyspace, b"key", &[u8::try_from(n).unwrap()]);
    }
    for (n, keyspace) in Keyspace::ALL.into_iter().enumerate() {
        assert_eq!(get(&store, keyspace, b"key"), Some(vec![u8::try_from(n).unwrap()]));
    }
    assert_eq!(get(&store, Keyspace::Blocks, b"other"), None);
}

#[test]
fn names_of_keyspaces_are_unique() {
    let names: std::collections::BTreeSet<_> = Keyspace::ALL.iter().map(|k| k.name()).collect();
    assert_eq!(names.len(), Keyspace::ALL.len());
}

#[test]
fn a_batch_applies_in_order_over_keyspaces_and_survives_a_reopen() {
    let dir = TempDir::new().unwrap();
    {
        let store = open(dir.path());
        put(&store, Keyspace::Garbage, b"a", b"old");
        put(&store, Keyspace::Garbage, b"b", b"old");
        let mut batch = Batch::new();
        batch.put(Keyspace::Blocks, b"a", b"first".to_vec());
        batch.put(Keyspace::Blocks, b"a", b"second".to_vec());
        batch.put(Keyspace::Catalog, b"a", b"".to_vec());
        batch.delete(Keyspace::Garbage, b"a");
        batch.delete(Keyspace::Garbage, b"never there");
        batch.delete_range(RangeOf::between(Keyspace::Garbage, b"b", b"c"));
        batch.put(Keyspace::Garbage, b"bb", b"after the range delete".to_vec());
        assert_eq!(batch.len(), 7);
        store.write(batch, Sync::No).unwrap();
    }
    let store = open(dir.path());
    assert_eq!(get(&store, Keyspace::Blocks, b"a").unwrap(), b"second");
    assert_eq!(get(&store, Keyspace::Catalog, b"a").unwrap(), b"");
    let left = keys(&store, Keyspace::Garbage, &KeyRange::all(), Direction::Forward);
    assert_eq!(left, [b"bb"]);
}

#[test]
fn a_range_delete_without_an_end_deletes_everything_from_its_start() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for key in [&b"a"[..], b"b", &[0xff; 30]] {
        put(&store, Keyspace::Catalog, key, b"");
    }
    let mut batch = Batch::new();
    batch.delete_range_bytes(Keyspace::Catalog, KeyRange { from: b"b".to_vec(), to: None });
    batch.delete_range(RangeOf::between(Keyspace::Catalog, b"z", b"a"));
    store.write(batch, Sync::No).unwrap();
    let left = keys(&store, Keyspace::Catalog, &KeyRange::all(), Direction::Forward);
    assert_eq!(left, [b"a"]);
}

#[test]
fn multi_get_returns_values_in_the_order_of_the_keys() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for n in 0..50_u8 {
        put(&store, Keyspace::Blocks, &[n], &noise(u64::from(n), 20_000));
        if n == 30 {
            store.flush().unwrap();
        }
    }
    for requested in [vec![[3], [9], [200], [40]], vec![[40], [200], [3], [3]], vec![]] {
        let found = store.multi_get(Keyspace::Blocks, &requested);
        assert_eq!(found.len(), requested.len());
        for (key, found) in requested.iter().zip(found) {
            let expected = (key[0] < 50).then(|| noise(u64::from(key[0]), 20_000));
            assert_eq!(found.unwrap().map(|value| value.to_vec()), expected);
        }
    }
}

#[test]
fn a_scan_does_not_see_later_writes() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    put(&store, Keyspace::Catalog, b"a", b"1");
    let mut scan = store.scan(RangeOf::all(Keyspace::Catalog), Direction::Forward, Caching::Keep);
    put(&store, Keyspace::Catalog, b"a", b"2");
    put(&store, Keyspace::Catalog, b"b", b"2");
    let (key, value) = scan.next().unwrap().unwrap();
    assert_eq!((&*key, &*value), (b"a".as_slice(), b"1".as_slice()));
    assert!(scan.next().is_none());
    assert!(scan.next().is_none(), "a finished scan stays finished");
}

#[test]
fn dropping_a_range_frees_disk_space_and_keeps_the_key_at_its_end() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    // Days 1 to 8, each in a table of its own at the bottom level, so that whole tables can be
    // dropped.
    for day in 1..=8_u8 {
        for n in 0..20_u8 {
            put(&store, Keyspace::Blocks, &[day, n], &noise(u64::from(n), 50_000));
        }
        store.flush().unwrap();
        store.compact(Keyspace::Blocks, &KeyRange::all()).unwrap();
    }
    let before = store.figures().unwrap().table_bytes;
    store.delete_range_now(Keyspace::Blocks, &[2], &[6, 0]).unwrap();
    let left = keys(&store, Keyspace::Blocks, &KeyRange::all(), Direction::Forward);
    assert_eq!(left.len(), 80);
    assert!(get(&store, Keyspace::Blocks, &[6, 0]).is_some());
    assert!(get(&store, Keyspace::Blocks, &[1, 19]).is_some());
    let after = store.figures().unwrap().table_bytes;
    assert!(after < before * 55 / 100, "{before} bytes before, {after} after");

    // A single day, and an empty range.
    store.delete_range_now(Keyspace::Blocks, &[6], &[7]).unwrap();
    store.delete_range_now(Keyspace::Blocks, &[9], &[9]).unwrap();
    let left = keys(&store, Keyspace::Blocks, &KeyRange::all(), Direction::Forward);
    assert_eq!(left.first().unwrap(), &[1, 0]);
    assert_eq!(left.len(), 60);
}

#[test]
fn a_limited_number_of_ranges_is_reclaimed_at_once() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    let days = || (0..2 * RANGES_RECLAIMED_MAX as u32 + 2).step_by(2);
    let prefix = |day: u32| [b"t".as_slice(), &day.to_be_bytes()].concat();
    let key = |day| [prefix(day).as_slice(), b"block"].concat();
    days().for_each(|day| put(&store, Keyspace::Blocks, &key(day), b"bytes"));
    // Callers have deleted the keys before; here the remaining keys show which ranges were
    // reclaimed.
    store.reclaim(&RangeOf::of_days(Keyspace::Blocks, days(), prefix)).unwrap();
    let left = keys(&store, Keyspace::Blocks, &KeyRange::all(), Direction::Forward);
    assert_eq!(left, [key(2 * RANGES_RECLAIMED_MAX as u32)]);
}

#[test]
fn a_table_whose_last_key_is_the_end_of_a_dropped_range_stays() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    // The table holds [5] and [6]: all of it lies within [5]..=[6], but [6] is not in [5]..[6].
    put(&store, Keyspace::Blocks, &[5], b"goes");
    put(&store, Keyspace::Blocks, &[6], b"stays");
    store.flush().unwrap();
    store.compact(Keyspace::Blocks, &KeyRange::all()).unwrap();
    store.delete_range_now(Keyspace::Blocks, &[5], &[6]).unwrap();
    assert_eq!(get(&store, Keyspace::Blocks, &[5]), None);
    assert_eq!(get(&store, Keyspace::Blocks, &[6]).unwrap(), b"stays");
}

#[test]
fn a_checkpoint_is_an_independent_database() {
    let dir = TempDir::new().unwrap();
    let copy = dir.path().join("copy");
    let store = open(&dir.path().join("db"));
    put(&store, Keyspace::Documents, b"a", b"then");
    store.checkpoint(&copy).unwrap();
    put(&store, Keyspace::Documents, b"a", b"now");
    let copied = open(&copy);
    assert_eq!(get(&copied, Keyspace::Documents, b"a").unwrap(), b"then");
    assert_eq!(get(&store, Keyspace::Documents, b"a").unwrap(), b"now");
    store.checkpoint(&copy).unwrap_err();
}

#[test]
fn the_id_of_a_database_takes_no_file() {
    let dir = TempDir::new().unwrap();
    let (db, copy) = (dir.path().join("db"), dir.path().join("copy"));
    let identity = db.join("IDENTITY");
    let store = open(&db);
    put(&store, Keyspace::Documents, b"k", b"v");
    assert!(!identity.exists());
    drop(store);
    // As older versions leave it, and one that cannot be read.
    for left_behind in ["f5b5a4ab-9b2c-4f12-8d5e-7a1f0c3c9e11", "", "\n"] {
        fs::write(&identity, left_behind).unwrap();
        let store = Store::open_read_only(&db, 8 << 20).unwrap();
        assert_eq!(get(&store, Keyspace::Documents, b"k").as_deref(), Some(&b"v"[..]));
        drop(store);
        let (store, findings) = open_with_findings(&db);
        assert_eq!(get(&store, Keyspace::Documents, b"k").as_deref(), Some(&b"v"[..]));
        assert!(!identity.exists() && findings.is_empty(), "{findings:?}");
        store.checkpoint(&copy).unwrap();
        assert_eq!(get(&open(&copy), Keyspace::Documents, b"k").as_deref(), Some(&b"v"[..]));
        assert!(!copy.join("IDENTITY").exists());
        fs::remove_dir_all(&copy).unwrap();
    }
}

#[test]
fn figures_reflect_the_stored_data() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for n in 0..40_u8 {
        put(&store, Keyspace::Blocks, &[n], &noise(u64::from(n), 20_000));
    }
    let before = store.figures().unwrap();
    assert!(before.memtable_bytes > 800_000);
    store.flush().unwrap();
    let after = store.figures().unwrap();
    assert!(after.table_bytes >= before.table_bytes + 800_000);
    assert_eq!(after.background_errors, 0);
    assert!(store.table_bytes(Keyspace::Blocks).unwrap() >= 800_000);
    assert!(disk_used(dir.path()).unwrap() >= 800_000);
    assert!(disk_free(dir.path()).unwrap() > 0);
    disk_free(&dir.path().join("absent")).unwrap_err();
}

#[test]
fn memory_stays_within_the_budget() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for n in 0..400_u16 {
        put(&store, Keyspace::Blocks, &n.to_be_bytes(), &noise(u64::from(n), 200_000));
    }
    for n in 0..400_u16 {
        assert!(store.get(Keyspace::Blocks, &n.to_be_bytes()).unwrap().is_some());
        let used = store.figures().unwrap().cache_bytes;
        assert!(used <= CACHE_BYTES as u64 * 5 / 4, "{used} bytes after {n} reads");
    }
}

#[test]
fn opening_a_database_twice_is_refused_with_a_reason() {
    let dir = TempDir::new().unwrap();
    let _store = open(dir.path());
    let error = Store::open(dir.path(), CACHE_BYTES, 2).unwrap_err();
    assert!(matches!(error, Error::Open { .. }), "{error}");
}

#[test]
fn an_older_format_is_upgraded_unless_the_database_is_opened_read_only() {
    let dir = TempDir::new().unwrap();
    put(&open(dir.path()), Keyspace::Meta, b"format", &1_u32.to_le_bytes());
    let format = |store: &Store| store.get(Keyspace::Meta, b"format").unwrap().unwrap().to_vec();
    let read = Store::open_read_only(dir.path(), 8 << 20).unwrap();
    assert_eq!(format(&read), 1_u32.to_le_bytes());
    let mut batch = Batch::new();
    batch.put(Keyspace::Meta, b"a", vec![1]);
    assert!(read.is_read_only() && read.write(batch, Sync::Yes).is_err());
    drop(read);
    assert_eq!(format(&open(dir.path())), FORMAT_VERSION.to_le_bytes());
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let dir = TempDir::new().unwrap();
    put(&open(dir.path()), Keyspace::Meta, b"format", &(FORMAT_VERSION + 1).to_le_bytes());
    let error = Store::open(dir.path(), CACHE_BYTES, 2).unwrap_err();
    let expected = format!("newer version of this program: it has format {}", FORMAT_VERSION + 1);
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn a_newer_keyspace_is_refused_by_name() {
    let dir = TempDir::new().unwrap();
    let mut store = open(dir.path());
    db(&mut store).create_cf("traces", &rocksdb::Options::default()).unwrap();
    drop(store);
    let error = Store::open(dir.path(), CACHE_BYTES, 2).unwrap_err();
    assert!(
        error.to_string().contains("newer version of this program: it has a keyspace \"traces\""),
        "{error}"
    );
}

#[test]
fn an_older_database_gains_the_keyspaces_it_lacks() {
    let dir = TempDir::new().unwrap();
    let mut store = open(dir.path());
    put(&store, Keyspace::Documents, b"a", b"1");
    db(&mut store).drop_cf("quarantine").unwrap();
    drop(store);
    let store = open(dir.path());
    put(&store, Keyspace::Quarantine, b"a", b"2");
    assert_eq!(get(&store, Keyspace::Documents, b"a").unwrap(), b"1");
}

#[test]
fn closing_leaves_no_file_open_and_releases_the_lock() {
    let dir = TempDir::new().unwrap();
    let open_files = || {
        let entries = fs::read_dir("/proc/self/fd").unwrap();
        let targets = entries.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        targets.filter(|target| target.starts_with(dir.path())).count()
    };
    let use_and_close = || {
        let store = open(dir.path());
        for n in 0..50_u8 {
            put(&store, Keyspace::Blocks, &[n], &noise(u64::from(n), 20_000));
        }
        store.flush().unwrap();
        assert!(open_files() > 0);
    };
    use_and_close();
    assert_eq!(open_files(), 0);
    // A leaked store would hold RocksDB's lock, and the next open would fail.
    use_and_close();
    assert_eq!(open_files(), 0);
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8, u8),
    Delete(u8, u8),
    DeleteRange(u8, u8, u8),
    DropRange(u8, u8, u8),
    Flush,
    Compact(u8),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let (k, key) = (0_u8..3, 0_u8..24);
    prop_oneof![
        8 => (k.clone(), key.clone(), any::<u8>()).prop_map(|(k, a, v)| Step::Put(k, a, v)),
        2 => (k.clone(), key.clone()).prop_map(|(k, a)| Step::Delete(k, a)),
        1 => (k.clone(), key.clone(), key.clone()).prop_map(|(k, a, b)| Step::DeleteRange(k, a, b)),
        1 => (k.clone(), key.clone(), key).prop_map(|(k, a, b)| Step::DropRange(k, a, b)),
        1 => Just(Step::Flush),
        1 => k.prop_map(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

type Model = [BTreeMap<Vec<u8>, Vec<u8>>; 3];
const MODELLED: [Keyspace; 3] = [Keyspace::Blocks, Keyspace::Documents, Keyspace::Meta];

fn apply(store: &mut Option<Store>, model: &mut Model, dir: &Path, step: &Step) {
    let db = store.as_ref().unwrap();
    let remove = |model: &mut Model, k: u8, a: u8, b: u8| {
        model[usize::from(k)].retain(|key, _| !(*key >= vec![a] && *key < vec![b]));
    };
    let mut batch = Batch::new();
    match *step {
        Step::Put(k, a, v) => {
            batch.put(MODELLED[usize::from(k)], &[a], vec![v]);
            model[usize::from(k)].insert(vec![a], vec![v]);
        }
        Step::Delete(k, a) => {
            batch.delete(MODELLED[usize::from(k)], &[a]);
            model[usize::from(k)].remove(&vec![a]);
        }
        Step::DeleteRange(k, a, b) => {
            batch.delete_range(RangeOf::between(MODELLED[usize::from(k)], &[a], &[b]));
            remove(model, k, a, b);
        }
        Step::DropRange(k, a, b) => {
            db.delete_range_now(MODELLED[usize::from(k)], &[a], &[b]).unwrap();
            remove(model, k, a, b);
        }
        Step::Flush => db.flush().unwrap(),
        Step::Compact(k) => db.compact(MODELLED[usize::from(k)], &KeyRange::all()).unwrap(),
        Step::Reopen => {
            drop(store.take());
            *store = Some(open(dir));
            return;
        }
    }
    db.write(batch, Sync::No).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The store contains what a sorted map would after the same steps, in both directions and in
    /// every range.
    #[test]
    fn the_store_is_a_sorted_map(
        steps in prop::collection::vec(step(), 1..60),
        ranges in prop::collection::vec((0_u8..26, 0_u8..26), 4),
    ) {
        let dir = TempDir::new().unwrap();
        let mut model = Model::default();
        let mut store = Some(open(dir.path()));
        for step in &steps {
            apply(&mut store, &mut model, dir.path(), step);
        }
        let store = store.unwrap();
        for (keyspace, expected) in MODELLED.into_iter().zip(&model) {
            for (from, to) in &ranges {
                let range = KeyRange::between(&[*from], &[*to]);
                let mut expected: Vec<_> = expected
                    .keys()
                    .filter(|key| **key >= range.from && range.to.as_ref().is_some_and(|to| *key < to))
                    .cloned()
                    .collect();
                prop_assert_eq!(&keys(&store, keyspace, &range, Direction::Forward), &expected);
                expected.reverse();
                prop_assert_eq!(&keys(&store, keyspace, &range, Direction::Backward), &expected);
            }
            for key in 0_u8..24 {
                prop_assert_eq!(get(&store, keyspace, &[key]), expected.get(&vec![key]).cloned());
            }
        }
    }
}
