//! Tests of a disk that is really full: writes are refused, reads go on, and once there is space
//! again writes succeed without a restart.
//!
//! The test runs itself again in a child process on a small file system created for it (a `tmpfs`
//! in a mount namespace that disappears with the process). Where the system allows no mount, the
//! child gets a file size limit instead: RocksDB meets a real failing write there too, but treats
//! it as permanent, so the last part of the promise is then that a restart finds every acknowledged
//! write.
#![expect(clippy::disallowed_methods, reason = "the child gets its parameters by its environment")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::error::{Error, Result};

const DIR: &str = "TELLTALE_FULL_DISK_DIR";
const KIND: &str = "TELLTALE_FULL_DISK_KIND";
/// Gives blocks a memtable of 4 MB.
const CACHE_BYTES: usize = 64 << 20;

#[test]
fn a_full_disk_stops_writes_only_until_there_is_space() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else {
        return run_children();
    };
    match std::env::var(KIND).unwrap().as_str() {
        "mount" => {
            log_finds_disk_full(&dir.join("log"));
            flush_finds_disk_full(&dir.join("flush"));
            compaction_finds_disk_full(&dir.join("compaction"));
        }
        _ => file_size_limit(&dir.join("limit")),
    }
}

fn run_children() {
    if !run_child("mount", MOUNT) {
        assert!(run_child("limit", LIMIT), "neither a mount nor a file size limit is available");
    }
}

/// Exits with 77 when the system allows no mount.
const MOUNT: &str = r#"unshare --mount "$@" true 2>/dev/null || set -- --map-root-user
exec unshare --mount "$@" sh -c '
    mount -t tmpfs -o size=64m telltale "$TELLTALE_FULL_DISK_DIR" || exit 77
    "$TELLTALE_FULL_DISK_EXE" --exact "$TELLTALE_FULL_DISK_TEST" --nocapture' || exit 77"#;

/// A write beyond the limit raises a signal, which must be ignored for the write to fail instead.
const LIMIT: &str = r#"trap "" XFSZ
ulimit -f 8192 || exit 77
exec "$TELLTALE_FULL_DISK_EXE" --exact "$TELLTALE_FULL_DISK_TEST" --nocapture"#;

/// Returns whether the child could be set up. Panics if it could and its test failed.
fn run_child(kind: &str, script: &str) -> bool {
    let dir = TempDir::new().unwrap();
    let test = format!("{}::a_full_disk_stops_writes_only_until_there_is_space", module_path!());
    let (_, test) = test.split_once("::").unwrap();
    let output = Command::new("sh")
        .args(["-c", script])
        .env(DIR, dir.path())
        .env(KIND, kind)
        .env("TELLTALE_FULL_DISK_EXE", std::env::current_exe().unwrap())
        .env("TELLTALE_FULL_DISK_TEST", test)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stdout.contains("running 1 test") {
        assert!(output.status.success(), "{stdout}\n{stderr}");
        return true;
    }
    println!("no {kind}: {stderr}");
    false
}

/// A file that fills the disk except for `spare` bytes.
struct Ballast(PathBuf);

impl Ballast {
    fn fill(dir: &Path, spare: u64) -> Self {
        let path = dir.join("ballast");
        let mut file = File::create(&path).unwrap();
        let piece = [1_u8; 64 << 10];
        while file.write_all(&piece).is_ok() {}
        file.set_len(file.metadata().unwrap().len().saturating_sub(spare)).unwrap();
        Self(path)
    }

    fn remove(self) {
        fs::remove_file(self.0).unwrap();
    }
}

/// The acknowledged writes of one store.
struct Writer {
    store: Store,
    acknowledged: Vec<(u32, usize)>,
}

impl Writer {
    fn open(dir: &Path) -> Self {
        fs::create_dir(dir).unwrap();
        let store = Store::open(&dir.join("db"), CACHE_BYTES, 2).unwrap();
        Self { store, acknowledged: Vec::new() }
    }

    fn write(&mut self, key: u32, len: usize) -> Result<()> {
        let mut batch = Batch::new();
        batch.put(Keyspace::Blocks, &key.to_be_bytes(), value(key, len));
        batch.put(Keyspace::Receipts, &key.to_be_bytes(), value(key, 16));
        self.store.write(batch, Sync::Yes)?;
        self.acknowledged.push((key, len));
        Ok(())
    }

    fn write_all(&mut self, keys: std::ops::Range<u32>, len: usize) {
        keys.for_each(|key| self.write(key, len).unwrap());
    }

    /// Writes until a write is refused, and checks the refusal.
    fn write_until_refused(&mut self, from: u32, len: usize) {
        for key in from..from + 10_000 {
            match self.write(key, len) {
                Ok(()) => {}
                Err(Error::Unavailable(_)) => return self.check_atomic(key),
                Err(error) => panic!("a full disk is reported as: {error}"),
            }
        }
        panic!("the disk never became full");
    }

    /// Retries, as a client does, until the write is accepted.
    fn write_until_accepted(&mut self, key: u32) {
        until_it_works(|| self.write(key, 100));
    }

    fn until_it_works(&self, work: impl Fn(&Store) -> Result<()>) {
        until_it_works(|| work(&self.store));
    }

    fn check_atomic(&self, refused: u32) {
        for keyspace in [Keyspace::Blocks, Keyspace::Receipts] {
            assert!(self.store.get(keyspace, &refused.to_be_bytes()).unwrap().is_none());
        }
    }

    fn check_all(&self) {
        for (key, len) in &self.acknowledged {
            let found = self.store.get(Keyspace::Blocks, &key.to_be_bytes()).unwrap().unwrap();
            assert_eq!(*found, *value(*key, *len), "block {key}");
            let found = self.store.get(Keyspace::Receipts, &key.to_be_bytes()).unwrap().unwrap();
            assert_eq!(*found, *value(*key, 16), "receipt {key}");
        }
    }

    /// Checks what a start after a kill finds: the files as they are now, while the store is open.
    fn check_after_a_kill(&self, dir: &Path) {
        let elsewhere = TempDir::new().unwrap();
        let killed = elsewhere.path().join("db");
        copy_as_killed(&dir.join("db"), &killed);
        let store = Store::open(&killed, CACHE_BYTES, 2).unwrap();
        Self { store, acknowledged: self.acknowledged.clone() }.check_all();
    }

    /// Checks the same after an orderly stop.
    fn check_after_a_restart(self, dir: &Path) {
        drop(self.store);
        let store = Store::open(&dir.join("db"), CACHE_BYTES, 2).unwrap();
        let mut again = Self { store, acknowledged: self.acknowledged };
        again.check_all();
        again.write(u32::MAX, 100).unwrap();
    }
}

fn until_it_works(mut work: impl FnMut() -> Result<()>) {
    // The database checks for free space every 5 seconds.
    let attempts = 3_000;
    for _ in 0..attempts {
        match work() {
            Ok(()) => return,
            Err(Error::Unavailable(_)) => thread::park_timeout(Duration::from_millis(10)),
            Err(error) => panic!("there is space again, but: {error}"),
        }
    }
    panic!("writes never succeeded again");
}

fn value(key: u32, len: usize) -> Vec<u8> {
    let mut state = u64::from(key) << 1 | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next).flatten().take(len).collect()
}

fn log_finds_disk_full(dir: &Path) {
    let mut writer = Writer::open(dir);
    writer.write_all(0..20, 1_000);
    let ballast = Ballast::fill(dir, 0);
    writer.write_until_refused(100, 50_000);
    writer.write(99_999, 1).unwrap_err();
    writer.check_all();
    writer.check_after_a_kill(dir);
    ballast.remove();
    writer.write_until_accepted(200_000);
    writer.write_all(200_001..200_050, 50_000);
    writer.check_all();
    writer.check_after_a_kill(dir);
    writer.check_after_a_restart(dir);
    fs::remove_dir_all(dir).unwrap();
}

fn flush_finds_disk_full(dir: &Path) {
    let mut writer = Writer::open(dir);
    // More than the log frees when it is truncated to its length and the next one starts.
    writer.write_all(0..70, 50_000);
    let ballast = Ballast::fill(dir, 0);
    let error = writer.store.flush().unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    writer.check_all();
    writer.check_after_a_kill(dir);
    ballast.remove();
    writer.write_until_accepted(200_000);
    writer.until_it_works(Store::flush);
    writer.check_all();
    writer.check_after_a_restart(dir);
    fs::remove_dir_all(dir).unwrap();
}

fn compaction_finds_disk_full(dir: &Path) {
    let mut writer = Writer::open(dir);
    for round in 0..3 {
        (0..50).for_each(|n| writer.write(n * 7 + round, 50_000).unwrap());
        writer.store.flush().unwrap();
    }
    let ballast = Ballast::fill(dir, 1 << 20);
    let error = writer.store.compact(Keyspace::Blocks, &KeyRange::all()).unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    writer.check_all();
    ballast.remove();
    writer.write_until_accepted(200_000);
    writer.until_it_works(|store| store.compact(Keyspace::Blocks, &KeyRange::all()));
    writer.check_all();
    writer.check_after_a_restart(dir);
    fs::remove_dir_all(dir).unwrap();
}

fn file_size_limit(dir: &Path) {
    let mut writer = Writer::open(dir);
    writer.write_until_refused(0, 50_000);
    writer.write(99_999, 1).unwrap_err();
    writer.check_all();
    writer.check_after_a_restart(dir);
}
