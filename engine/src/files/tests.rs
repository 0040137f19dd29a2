//! Tests of the files of an engine: storing, reading, deletion, damage, backup and verification.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::{FileDigest, PinnedFile};
use crate::limits::FILE_BYTES_MAX;
use crate::maintenance::BackupStage;
use crate::options::{Maintenance, Options};
use crate::reports::FilesReport;
use crate::{Collection, Engine, Error, Expect};

const IMAGES: Collection = Collection("images");

fn options() -> Options {
    Options {
        maintenance: Maintenance::Manual,
        cache_bytes: 8 << 20,
        disk_free_bytes: 0,
        ..Options::default()
    }
}

fn open(dir: &Path) -> Engine {
    Engine::open(dir, options()).unwrap()
}

/// Contents that differ for each `n`, longer than a buffer.
fn contents(n: u32) -> Vec<u8> {
    n.to_le_bytes().repeat(20_000)
}

fn store(engine: &Engine, n: u32) -> FileDigest {
    engine.files().put(&contents(n)).unwrap().digest()
}

fn path_of(dir: &Path, digest: FileDigest) -> PathBuf {
    let name = digest.to_string();
    dir.join("files").join(name.get(..2).unwrap()).join(name)
}

#[test]
fn a_file_of_another_length_is_damaged_and_only_its_length_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let digest = store(&engine, 7);
    let bytes = contents(7).len() as u64;
    assert_eq!(engine.files().read_sized(digest, bytes).unwrap().unwrap(), contents(7));
    let longer = fs::OpenOptions::new().append(true).open(path_of(dir.path(), digest)).unwrap();
    longer.set_len(FILE_BYTES_MAX as u64).unwrap();
    for expected in [bytes, 0, u64::MAX] {
        let read = engine.files().read_sized(digest, expected);
        assert!(matches!(read, Err(Error::Corrupt(_))), "{expected}: {read:?}");
    }
}

#[test]
fn missing_files_are_one_finding() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let digests: Vec<_> = (0..13).map(|n| store(&engine, n)).collect();
    let references = || digests.iter().zip(0..).map(|(digest, n)| (*digest, format!("r{n}")));
    engine.files().check_stored(references());
    assert_eq!(engine.damage(), [""; 0]);
    for digest in &digests[1..] {
        fs::remove_file(path_of(dir.path(), *digest)).unwrap();
    }
    engine.files().check_stored(references());
    engine.files().check_stored(references());
    let named = "r1, r2, r3, r4, r5, r6, r7, r8, r9, r10 and 2 others";
    assert_eq!(engine.damage(), [format!("lost: files of {named}: they are missing")]);
    // A folder in the place of a file is none.
    fs::create_dir(path_of(dir.path(), digests[1])).unwrap();
    assert!(matches!(engine.files().read(digests[1]), Err(Error::Corrupt(_))));
}

#[test]
fn a_kept_file_is_not_deleted_by_this_engine() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let file = engine.files().put(&contents(1)).unwrap();
    let digest = file.digest();
    file.keep();
    engine.files().retain(|_| false).unwrap();
    assert!(engine.files().read(digest).unwrap().is_some());
    drop(engine);
    let engine = open(dir.path());
    engine.files().retain(|_| false).unwrap();
    assert!(engine.files().read(digest).unwrap().is_none());
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

/// Returns the names of all files below `dir/files`.
fn names(dir: &Path) -> BTreeSet<String> {
    let shards = fs::read_dir(dir.join("files")).unwrap().map(|shard| shard.unwrap().path());
    let entries = shards.flat_map(|shard| fs::read_dir(shard).unwrap());
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn files_are_read_as_they_were_stored_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, lengths) = (open(dir.path()), [0, 1, 65_535, 65_536, 65_537, 1 << 20]);
    let stored: Vec<(FileDigest, Vec<u8>)> = lengths
        .iter()
        .map(|length| {
            let contents: Vec<u8> = contents(7).into_iter().cycle().take(*length).collect();
            (engine.files().put(&contents).unwrap().digest(), contents)
        })
        .collect();
    let check = |engine: &Engine| {
        for (digest, contents) in &stored {
            assert_eq!(engine.files().read(*digest).unwrap().as_ref(), Some(contents));
        }
        assert_eq!(engine.files().read(FileDigest::of(b"absent")).unwrap(), None);
        let bytes = lengths.iter().sum::<usize>() as u64;
        assert_eq!((engine.files().count(), engine.files().bytes()), (6, bytes));
        assert_eq!(engine.damage(), [""; 0]);
    };
    check(&engine);
    drop(engine);
    check(&open(dir.path()));
}

#[test]
fn identical_contents_are_stored_once() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let digest = thread::scope(|scope| {
        let writers = [(); 8].map(|()| scope.spawn(|| store(&engine, 1)));
        let stored: HashSet<_> = writers.map(|writer| writer.join().unwrap()).into();
        assert_eq!(stored.len(), 1);
        stored.into_iter().next().unwrap()
    });
    assert_eq!(names(dir.path()), [digest.to_string()].into());
    assert_eq!((engine.files().count(), engine.files().bytes()), (1, 80_000));
}

#[test]
fn only_the_owner_may_read_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = path_of(dir.path(), store(&open(dir.path()), 1));
    let shard = path.parent().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([&path, shard, shard.parent().unwrap()].map(mode), [0o600, 0o700, 0o700]);
}

#[test]
fn contents_that_are_too_large_and_a_full_disk_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let refused = engine.files().put(&vec![0; FILE_BYTES_MAX + 1]).unwrap_err();
    assert!(refused.to_string().contains("too large"), "{refused}");
    let kept = store(&engine, 1);
    drop(engine);
    let full = Options { disk_free_bytes: u64::MAX / 2, ..options() };
    let engine = Engine::open(dir.path(), full).unwrap();
    let refused = engine.files().put(&contents(2)).unwrap_err();
    assert!(matches!(refused, Error::Unavailable(_)), "{refused}");
    assert_eq!(store(&engine, 1), kept, "nothing is written for a file that exists");
    assert_eq!(names(dir.path()), [kept.to_string()].into());
}

#[test]
fn files_that_are_neither_pinned_nor_kept_are_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let files = engine.files();
    let (kept, dropped) = (store(&engine, 1), store(&engine, 2));
    let pins: Vec<PinnedFile> = (0..2).map(|_| files.put(&contents(3)).unwrap()).collect();
    let expected = FilesReport { kept: 2, deleted: 1, deleted_bytes: 80_000, temporary_deleted: 0 };
    assert_eq!(files.retain(|digest| digest == kept).unwrap(), expected);
    assert_eq!(files.read(dropped).unwrap(), None);
    for pin in pins {
        assert_eq!(files.read(pin.digest()).unwrap(), Some(contents(3)));
        assert_eq!(files.retain(|digest| digest == kept).unwrap().deleted, 0);
        // Dropped on another thread than it was created on.
        thread::spawn(move || drop(pin)).join().unwrap();
    }
    assert_eq!(files.retain(|digest| digest == kept).unwrap().deleted, 1);
    assert_eq!(names(dir.path()), [kept.to_string()].into());
    assert_eq!((files.count(), files.bytes()), (1, 80_000));
    assert_eq!(store(&engine, 2), dropped);
    assert_eq!(files.read(dropped).unwrap(), Some(contents(2)));
}

#[test]
fn a_file_whose_reference_is_registered_before_its_pin_is_dropped_is_never_lost() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let (references, done) = (Mutex::new(HashSet::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        let sweeper = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                engine.files().retain(|digest| references.lock().contains(&digest)).unwrap();
            }
        });
        let writers = [0, 1, 2].map(|writer| {
            let (engine, references) = (&engine, &references);
            scope.spawn(move || {
                for n in 0..60 {
                    // Others refer to this file, before or after.
                    drop(engine.files().put(&contents(n + writer + 1)).unwrap());
                    let pin = engine.files().put(&contents(n + writer)).unwrap();
                    let digest = pin.digest();
                    // `keep` waits for this lock.
                    let mut referred = references.lock();
                    referred.insert(digest);
                    drop(pin);
                    drop(referred);
                    assert_eq!(engine.files().read(digest).unwrap(), Some(contents(n + writer)));
                }
            })
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        sweeper.join().unwrap();
    });
    engine.files().retain(|digest| references.lock().contains(&digest)).unwrap();
    let expected = references.into_inner().into_iter().map(|digest| digest.to_string());
    assert_eq!(names(dir.path()), expected.collect());
    assert_eq!((engine.files().count(), engine.files().bytes()), (62, 62 * 80_000));
}

#[test]
fn an_interrupted_write_leaves_nothing_and_other_names_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let (stored, absent) = (store(&engine, 1), FileDigest::of(b"absent"));
    let shard = path_of(dir.path(), stored).parent().unwrap().to_owned();
    let foreign = ["notes.txt", &absent.to_string(), ".hidden"].map(str::to_owned);
    let left = [format!(".put-{absent}-7"), format!(".put-{stored}-0"), ".put-".to_owned()];
    let create = |names: &[String]| {
        names.iter().for_each(|name| fs::write(shard.join(name), "part").unwrap());
    };
    create(&foreign);
    create(&left);
    let mut expected: BTreeSet<String> = foreign.into();
    expected.insert(stored.to_string());
    // A write in progress has pinned its file.
    let pin = engine.files().put(&contents(1)).unwrap();
    assert_eq!(engine.files().retain(|_| true).unwrap().temporary_deleted, 2);
    assert!(names(dir.path()).contains(&left[1]));
    drop(pin);
    assert_eq!(engine.files().retain(|_| true).unwrap().temporary_deleted, 1);
    assert_eq!(names(dir.path()), expected);
    create(&left);
    drop(engine);
    assert_eq!(Engine::verify_directory(dir.path()).unwrap().files, 1);
    let engine = open(dir.path());
    assert_eq!(names(dir.path()), expected);
    assert_eq!((engine.files().count(), engine.files().bytes()), (1, 80_000));
}

#[test]
fn a_damaged_file_is_reported_and_is_repaired_when_it_is_stored_again() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let digest = store(&engine, 1);
    let path = path_of(dir.path(), digest);
    let (cut, extended) = (contents(1)[..70_000].to_vec(), [contents(1), vec![0]].concat());
    let damages: [&dyn Fn(); 3] = [&|| flip(&path), &|| fs::write(&path, &cut).unwrap(), &|| {
        fs::write(&path, &extended).unwrap()
    }];
    for damage in damages {
        damage();
        let error = engine.files().read(digest).unwrap_err();
        assert!(matches!(&error, Error::Corrupt(what) if what.contains(&digest.to_string())));
        assert_eq!(engine.files().put(&contents(1)).unwrap().digest(), digest);
        assert_eq!(engine.files().read(digest).unwrap(), Some(contents(1)));
    }
    let lines = engine.damage();
    assert!(lines[0].starts_with("lost: file ") && lines[1].starts_with("mended: file "));
    assert_eq!((lines.len(), engine.files().count()), (2, 1));
    assert_eq!(names(dir.path()), [digest.to_string()].into());
}

#[test]
fn verification_reads_every_file_and_finds_damage() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let digests = [1, 2, 3].map(|n| store(&engine, n));
    let report = engine.verify().unwrap();
    assert_eq!((report.files, report.damaged.len()), (3, 0));
    assert!(report.bytes >= 3 * 80_000);
    flip(&path_of(dir.path(), digests[1]));
    let check = |damaged: &[String]| {
        assert_eq!(damaged.len(), 1, "{damaged:?}");
        assert!(damaged[0].contains(&digests[1].to_string()), "{damaged:?}");
    };
    check(&engine.verify().unwrap().damaged);
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, restored) = (elsewhere.path().join("backup"), elsewhere.path().join("restored"));
    check(&engine.backup(&backup).unwrap().damaged);
    drop(engine);
    check(&Engine::verify_directory(dir.path()).unwrap().damaged);
    check(&Engine::restore(&backup, &restored).unwrap().damaged);
    // Without a database the files can still be checked.
    fs::write(dir.path().join("db/CURRENT"), "junk").unwrap();
    let report = Engine::verify_directory(dir.path()).unwrap();
    assert_eq!((report.files, report.damaged.len()), (3, 2), "{report:?}");
}

#[test]
fn a_directory_without_files_is_opened_and_copied_without_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, restored) = (elsewhere.path().join("backup"), elsewhere.path().join("restored"));
    let engine = open(dir.path());
    assert_eq!((engine.files().count(), engine.files().bytes()), (0, 0));
    assert_eq!(engine.files().read(FileDigest::of(b"")).unwrap(), None);
    assert_eq!(engine.files().retain(|_| false).unwrap(), FilesReport::default());
    assert_eq!(engine.verify().unwrap().files, 0);
    engine.backup(&backup).unwrap();
    Engine::restore(&backup, &restored).unwrap();
    for dir in [dir.path(), &backup, &restored] {
        assert!(!dir.join("files").exists());
    }
}

#[test]
fn a_backup_contains_files_that_are_deleted_while_it_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let (backup, restored) = (elsewhere.path().join("backup"), elsewhere.path().join("restored"));
    let engine = open(dir.path());
    let digests = [1, 2].map(|n| store(&engine, n));
    fs::write(path_of(dir.path(), digests[0]).with_file_name("notes.txt"), "").unwrap();
    let inner = engine.inner();
    let block = inner.files.block_deletion();
    let stage = BackupStage::new(&inner.dir, &inner.store, &inner.segments).unwrap();
    let (sender, deleted) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(engine.files().retain(|_| false).unwrap().deleted).unwrap());
        assert!(deleted.recv_timeout(Duration::from_millis(50)).is_err(), "it waits");
        stage.link_files(&block).unwrap();
        drop(block);
        assert_eq!(deleted.recv().unwrap(), 2);
    });
    assert_eq!(engine.files().count(), 0);
    assert_eq!(stage.copy_to(&backup).unwrap().damaged, [""; 0]);
    Engine::restore(&backup, &restored).unwrap();
    assert_eq!(names(&restored), digests.map(|digest| digest.to_string()).into());
    let copy = open(&restored);
    assert_eq!((copy.files().count(), copy.files().bytes()), (2, 160_000));
    for (digest, n) in digests.into_iter().zip(1..) {
        assert_eq!(copy.files().read(digest).unwrap(), Some(contents(n)));
        assert_eq!(copy.files().put(&contents(n)).unwrap().digest(), digest);
    }
}

#[test]
fn every_reference_in_a_backup_has_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let done = Arc::new(AtomicBool::new(false));
    let writer = thread::spawn({
        let (engine, done) = (engine.clone(), Arc::clone(&done));
        move || {
            let mut n = 0;
            while !done.load(Ordering::Relaxed) {
                replace_image(&engine, n);
                let referred = images(&engine);
                engine.files().retain(|digest| referred.contains(&digest.to_string())).unwrap();
                n += 1;
            }
        }
    });
    for round in 0..5 {
        let backup = elsewhere.path().join(format!("backup-{round}"));
        let restored = elsewhere.path().join(format!("restored-{round}"));
        assert_eq!(engine.backup(&backup).unwrap().damaged, [""; 0]);
        Engine::restore(&backup, &restored).unwrap();
        let copy = open(&restored);
        for image in images(&copy) {
            let found = copy.files().read(image.parse().unwrap()).unwrap();
            assert!(found.is_some(), "{image} is missing");
        }
    }
    done.store(true, Ordering::Relaxed);
    writer.join().unwrap();
}

/// Stores an image and a document that refers to it, in place of one of ten earlier images.
fn replace_image(engine: &Engine, n: u32) {
    let pin = engine.files().put(&contents(n)).unwrap();
    let mut transaction = engine.documents().begin();
    let digest = pin.digest().to_string();
    transaction.put(IMAGES, &(n % 10).to_string(), &digest, Expect::Any).unwrap();
    transaction.commit().unwrap();
}

/// Returns the digests that the documents refer to.
fn images(engine: &Engine) -> HashSet<String> {
    let ids = (0..10).map(|id| id.to_string());
    ids.filter_map(|id| engine.documents().get::<String>(IMAGES, &id).unwrap())
        .map(|found| found.value)
        .collect()
}
