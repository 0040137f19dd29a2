//! A full disk: writes are refused, everything else keeps working.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use telltale_engine::{Durability, Engine, Error, Options};

use super::batch::{check, present, write_batch};
use super::{memory_dir, open, options};

#[test]
fn a_full_disk_refuses_writes_and_still_serves_queries() {
    let dir = memory_dir();
    let engine = open(dir.path());
    (0..20).for_each(|id| write_batch(&engine, id).unwrap());
    drop(engine);
    let full = Options { disk_free_bytes: u64::MAX, ..options(Durability::Os) };
    let engine = Engine::open(dir.path(), full).unwrap();
    assert!(matches!(write_batch(&engine, 20), Err(Error::Unavailable(_))));
    assert!(engine.trouble().is_some() && engine.stats().read_only);
    assert_eq!(present(&engine, 20), (0..20).collect());
}

/// Fills a file system of its own. Needs root or user namespaces, which CI machines and most
/// developers have.
#[test]
fn writes_resume_without_a_restart_when_a_full_disk_has_space_again() {
    if let Ok(dir) = std::env::var("TELLTALE_FULL_DISK") {
        return fill_and_empty(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=64m none \"$TELLTALE_FULL_DISK\" && exec \"$0\" --exact \
                  full_disk::writes_resume_without_a_restart_when_a_full_disk_has_space_again --nocapture";
    let done = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("TELLTALE_FULL_DISK", dir.path())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && output.contains("1 passed"), "{output}");
}

fn fill_and_empty(dir: &Path) {
    let data = dir.join("data");
    let engine = Engine::open(&data, options(Durability::Sync)).unwrap();
    let ballast = dir.join("ballast");
    std::fs::write(&ballast, vec![7u8; 40 << 20]).unwrap();
    let mut acked = BTreeSet::new();
    let mut id = 0;
    let refused = loop {
        match write_batch(&engine, id) {
            Ok(()) => acked.insert(id),
            Err(error) => break error,
        };
        id += 1;
        // Fills most of the rest at once, so that the engine runs into the end itself.
        if id == 200 {
            let mut rest = std::fs::File::create(dir.join("rest")).unwrap();
            while rest.write_all(&[1u8; 4096]).is_ok() {}
        }
        assert!(id < 1_000_000, "the disk never filled");
    };
    assert!(matches!(refused, Error::Unavailable(_)), "{refused}");
    check(&engine, &acked, id + 1);
    std::fs::remove_file(&ballast).unwrap();
    // There is space again: the same engine accepts writes, within the time that the database needs
    // to notice.
    let mut tries = 0;
    while let Err(error) = write_batch(&engine, id + 1) {
        tries += 1;
        assert!(tries < 600, "{error}");
        std::thread::sleep(Duration::from_millis(50));
    }
    acked.insert(id + 1);
    while let Err(error) = engine.seal() {
        tries += 1;
        assert!(tries < 600, "{error}");
        std::thread::sleep(Duration::from_millis(50));
    }
    check(&engine, &acked, id + 2);
    drop(engine);
    check(&Engine::open(&data, options(Durability::Sync)).unwrap(), &acked, id + 2);
}
