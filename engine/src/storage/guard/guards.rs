//! All guards of a database: in files of their own, `<table>.guard`, and those of small tables in
//! the file that these share.
//!
//! Earlier versions wrote a file for each table. Those of small tables move to the shared file with
//! the first [`Change`] after a start.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};

use super::limits::SMALL_GUARD_BYTES_MAX;
use super::small_file::SmallGuards;
use super::table_guard::{Health, Repair, TableGuard, is_end_whole_by};
use crate::dir_sync::sync_dir;

/// Directory of the guards, inside that of the database.
pub(in super::super) const GUARDS_DIR: &str = "guards";

/// The guards of one database.
#[derive(Debug)]
pub(in super::super) struct Guards {
    pub(super) db: PathBuf,
    /// The shared file, once it was read. Nobody else writes it.
    small: Mutex<Option<SmallFile>>,
}

/// The file of small tables as it is on disk.
#[derive(Debug)]
enum SmallFile {
    Intact(SmallGuards),
    /// It protects nothing, and is replaced by the next change.
    Damaged,
}

/// A change of the guards. Those of small tables are stored together, by [`Self::store`].
#[derive(Debug)]
#[must_use]
pub(in super::super) struct Change<'g> {
    guards: &'g Guards,
    /// The guards of small tables after the change.
    small: SmallGuards,
    /// Tables whose guards move from files of their own to the shared one.
    moved: Vec<u64>,
}

impl Guards {
    pub(in super::super) fn new(db: &Path) -> Self {
        Self { db: db.to_owned(), small: Mutex::default() }
    }

    fn table(&self, number: u64) -> PathBuf {
        self.db.join(format!("{number:06}.sst"))
    }

    pub(super) fn dir(&self) -> PathBuf {
        self.db.join(GUARDS_DIR)
    }

    /// Returns the path of the guard of a table that is not a small one.
    fn own_file(&self, number: u64) -> PathBuf {
        self.dir().join(format!("{number:06}.guard"))
    }

    /// Returns the numbers of the tables whose guards have files of their own.
    fn with_own_file(&self) -> io::Result<BTreeSet<u64>> {
        let paths = paths_in(&self.dir())?;
        let guards = paths.iter().filter(|path| path.extension().is_some_and(|e| e == "guard"));
        // Other names are not those of guards.
        Ok(guards.filter_map(|path| path.file_stem()?.to_str()?.parse().ok()).collect())
    }

    /// Returns the shared file. It is read once, so that its guards can be used and stored again
    /// even if it is damaged meanwhile.
    fn small_file(&self) -> MappedMutexGuard<'_, SmallFile> {
        let read = || match SmallGuards::read(&self.dir()) {
            Ok(guards) => SmallFile::Intact(guards),
            Err(error) => {
                tracing::warn!(%error, "the guards of small tables cannot be read");
                SmallFile::Damaged
            }
        };
        MutexGuard::map(self.small.lock(), |file| file.get_or_insert_with(read))
    }

    /// Returns the guards in the shared file.
    fn small(&self) -> SmallGuards {
        match &*self.small_file() {
            SmallFile::Intact(guards) => guards.clone(),
            SmallFile::Damaged => SmallGuards::default(),
        }
    }

    fn small_guard(&self, number: u64) -> Option<TableGuard> {
        match &*self.small_file() {
            SmallFile::Intact(guards) => guards.get(number).cloned(),
            SmallFile::Damaged => None,
        }
    }

    /// Returns the numbers of the tables that have a guard.
    pub(in super::super) fn guarded(&self) -> io::Result<BTreeSet<u64>> {
        let mut numbers = self.with_own_file()?;
        numbers.extend(self.small().numbers());
        Ok(numbers)
    }

    /// Starts a change of the guards. There must not be another one meanwhile.
    pub(in super::super) fn change(&self) -> Change<'_> {
        Change { guards: self, small: self.small(), moved: Vec::new() }
    }

    /// Copies the guards of the tables that exist in the directory of another database. A table
    /// that a compaction has replaced meanwhile gets none.
    pub(in super::super) fn copy_to(&self, other: &Path) -> io::Result<()> {
        let target = Self::new(other);
        fs::create_dir_all(target.dir())?;
        let exists = |number: &u64| target.table(*number).exists();
        for number in self.with_own_file()?.into_iter().filter(exists) {
            match fs::copy(self.own_file(number), target.own_file(number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        // After the others: guards move from them to the shared file.
        let mut small = self.small();
        small.retain(|number| exists(&number));
        small.write(&target.dir())
    }

    /// Removes guards that are damaged themselves. Returns the numbers of their tables. A damaged
    /// shared file stays until it is replaced.
    pub(in super::super) fn remove_damaged(&self) -> io::Result<Vec<u64>> {
        let is_damaged = |number: &u64| match fs::read(self.own_file(*number)) {
            Ok(bytes) => TableGuard::decode(&bytes).is_none(),
            // It protects nothing either.
            Err(error) => {
                tracing::warn!(%error, number, "the guard of a table cannot be read");
                true
            }
        };
        let damaged: Vec<u64> = self.with_own_file()?.into_iter().filter(is_damaged).collect();
        damaged.iter().for_each(|number| self.remove_own_file(*number));
        Ok(damaged)
    }

    fn remove_own_file(&self, number: u64) {
        // A guard that cannot be removed is removed after the next start.
        if let Err(error) = fs::remove_file(self.own_file(number))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, number, "the file of a guard cannot be removed");
        }
    }

    /// Compares a table with its guard.
    pub(in super::super) fn check(&self, number: u64) -> io::Result<Health> {
        self.examine(number).map(|(health, _)| health)
    }

    /// Repairs a damaged table in place. Returns its health before the repair.
    pub(in super::super) fn repair(&self, number: u64) -> io::Result<Health> {
        let (health, repairs) = self.examine(number)?;
        if matches!(health, Health::Repairable(_)) {
            let file = File::options().write(true).open(self.table(number))?;
            for (offset, bytes) in repairs {
                file.write_all_at(&bytes, offset)?;
            }
            file.sync_all()?;
        }
        Ok(health)
    }

    /// Returns whether the end of a table, where its properties lie, is undamaged. RocksDB silently
    /// misinterprets a table whose properties it cannot read, and finds fewer rows in it. A table
    /// without a guard counts as undamaged.
    pub(in super::super) fn has_whole_end(&self, number: u64) -> io::Result<bool> {
        let table = || File::open(self.table(number));
        if let Some(guard) = self.small_guard(number) {
            return guard.has_whole_end(&table()?);
        }
        match File::open(self.own_file(number)) {
            Ok(guard) => is_end_whole_by(&guard, table),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Returns the health of a table and the bytes that repair it.
    fn examine(&self, number: u64) -> io::Result<(Health, Vec<Repair>)> {
        let Some(guard) = self.guard_of(number)? else {
            return Ok((Health::Unguarded, Vec::new()));
        };
        let bytes = fs::read(self.table(number))?;
        Ok(guard.compare(&bytes))
    }

    /// Returns the guard of a table, `None` if it has none or a damaged one.
    fn guard_of(&self, number: u64) -> io::Result<Option<TableGuard>> {
        if let Some(guard) = self.small_guard(number) {
            return Ok(Some(guard));
        }
        match fs::read(self.own_file(number)) {
            Ok(bytes) => Ok(TableGuard::decode(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Change<'_> {
    /// Creates the guard of a table. Returns the size of the table in bytes.
    pub(in super::super) fn make(&mut self, number: u64) -> io::Result<u64> {
        let mut table = File::open(self.guards.table(number))?;
        let table_bytes = table.metadata()?.len();
        let guard = TableGuard::of(&mut table, table_bytes)?;
        if let Err(guard) = self.small.add(number, guard) {
            fs::create_dir_all(self.guards.dir())?;
            let path = self.guards.own_file(number);
            let new = path.with_extension("new");
            // Synced, so that a guard with a wrong checksum is known to be damaged. If the rename
            // is lost, the guard is created again.
            let mut file = File::create(&new)?;
            file.write_all(&guard.encode())?;
            file.sync_data()?;
            fs::rename(new, path)?;
        }
        Ok(table_bytes)
    }

    /// Removes the guard of a deleted table.
    pub(in super::super) fn remove(&mut self, number: u64) {
        self.small.remove(number);
        self.guards.remove_own_file(number);
    }

    /// Moves guards of small tables from files of their own to the shared one.
    pub(in super::super) fn move_small(&mut self) -> io::Result<()> {
        for number in self.guards.with_own_file()? {
            let path = self.guards.own_file(number);
            if fs::metadata(&path)?.len() > SMALL_GUARD_BYTES_MAX as u64 {
                continue;
            }
            let guard = TableGuard::decode(&fs::read(&path)?);
            // A kill before the file was removed may have left both.
            let is_moved = self.small.get(number).is_some()
                || guard.is_some_and(|guard| self.small.add(number, guard).is_ok());
            if is_moved {
                self.moved.push(number);
            }
        }
        Ok(())
    }

    /// Stores the guards of small tables, if they have changed.
    pub(in super::super) fn store(self) -> io::Result<()> {
        let mut file = self.guards.small_file();
        let is_stored = matches!(&*file, SmallFile::Intact(guards) if *guards == self.small);
        if !is_stored {
            fs::create_dir_all(self.guards.dir())?;
            self.small.write(&self.guards.dir())?;
            *file = SmallFile::Intact(self.small);
        }
        if !self.moved.is_empty() {
            // Not before the shared file has its name for good.
            sync_dir(&self.guards.dir())?;
        }
        self.moved.iter().for_each(|number| self.guards.remove_own_file(*number));
        Ok(())
    }
}

/// Returns the paths of the files in a directory, none if it does not exist.
pub(in super::super) fn paths_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    fn noise(seed: u64, len: usize) -> Vec<u8> {
        (0..len as u64).map(|i| xxh3_64(&(seed << 32 | i).to_le_bytes()) as u8).collect()
    }

    fn path(dir: &Path, number: u64) -> PathBuf {
        dir.join(format!("{number:06}.sst"))
    }

    /// Writes tables, each a number and a length, and stores their guards at once.
    fn add_tables(dir: &Path, tables: impl IntoIterator<Item = (u64, usize)>) {
        let guards = Guards::new(dir);
        let mut change = guards.change();
        for (number, len) in tables {
            fs::write(path(dir, number), noise(number, len)).unwrap();
            assert_eq!(change.make(number).unwrap(), len as u64);
        }
        change.store().unwrap();
    }

    fn guarded(len: usize) -> (tempfile::TempDir, Guards, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        add_tables(dir.path(), [(7, len)]);
        let guards = Guards::new(dir.path());
        (dir, guards, noise(7, len))
    }

    fn files(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir.join(GUARDS_DIR)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Damages a byte of a table and expects it to be repaired.
    #[track_caller]
    fn check_repair(dir: &Path, number: u64) {
        let whole = fs::read(path(dir, number)).unwrap();
        let mut bad = whole.clone();
        bad[whole.len() / 2] ^= 1;
        fs::write(path(dir, number), bad).unwrap();
        assert_eq!(Guards::new(dir).repair(number).unwrap(), Health::Repairable(1));
        assert_eq!(fs::read(path(dir, number)).unwrap(), whole);
    }

    #[test]
    fn any_damaged_sector_is_repaired() {
        for len in [1, 100, 4096, 4097, 9000, 50_000, 1 << 20] {
            let (dir, guards, table) = guarded(len);
            let path = path(dir.path(), 7);
            assert_eq!(guards.check(7).unwrap(), Health::Intact);
            for (at, bytes) in
                [(0, 1), (len / 2, 512), (len.saturating_sub(3), 4096), (len / 3, 4096)]
            {
                let mut bad = table.clone();
                bad.iter_mut().skip(at).take(bytes).for_each(|byte| *byte = !*byte);
                fs::write(&path, &bad).unwrap();
                assert!(
                    matches!(guards.repair(7).unwrap(), Health::Repairable(1..=2)),
                    "{len} {at}"
                );
                assert_eq!(fs::read(&path).unwrap(), table);
            }
        }
    }

    #[test]
    fn the_end_of_a_table_is_checked_separately() {
        for len in [1, 4096, 16_384, 50_000] {
            let (dir, guards, table) = guarded(len);
            assert!(guards.has_whole_end(7).unwrap() && guards.has_whole_end(8).unwrap());
            for at in [0, len / 2, len - 1] {
                let mut bad = table.clone();
                bad[at] ^= 1;
                fs::write(path(dir.path(), 7), &bad).unwrap();
                let near = at / 4096 + 4 >= len.div_ceil(4096);
                assert_eq!(guards.has_whole_end(7).unwrap(), !near, "{at} of {len}");
            }
        }
    }

    #[test]
    fn damage_beyond_parity_is_left_unchanged() {
        let (dir, guards, mut table) = guarded(400_000);
        table.iter_mut().for_each(|byte| *byte ^= 1);
        fs::write(path(dir.path(), 7), &table).unwrap();
        assert!(matches!(guards.repair(7).unwrap(), Health::BeyondRepair(_)));
        assert_eq!(fs::read(path(dir.path(), 7)).unwrap(), table);
        let mut guard = fs::read(guards.own_file(7)).unwrap();
        guard[30] ^= 1;
        fs::write(guards.own_file(7), guard).unwrap();
        assert_eq!(guards.check(7).unwrap(), Health::Unguarded);
        assert_eq!(guards.check(8).unwrap(), Health::Unguarded);
    }

    #[test]
    fn small_tables_share_a_file_and_large_ones_have_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let (small, large) = (16 << 10, (16 << 10) + 1);
        add_tables(dir.path(), [(1, 10), (2, large), (3, small), (4, 5_000)]);
        assert_eq!(files(dir.path()), ["000002.guard", "SMALL"]);
        assert_eq!(Guards::new(dir.path()).guarded().unwrap(), BTreeSet::from([1, 2, 3, 4]));
        (1..=4).for_each(|number| check_repair(dir.path(), number));
        // A change without any effect does not touch the file.
        let path = dir.path().join(GUARDS_DIR).join("SMALL");
        fs::write(&path, b"untouched").unwrap();
        let guards = Guards::new(dir.path());
        *guards.small.lock() = Some(SmallFile::Intact(SmallGuards::default()));
        guards.change().store().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"untouched");
    }

    #[test]
    fn guards_of_deleted_tables_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        add_tables(dir.path(), [(1, 10), (2, 100_000), (3, 10)]);
        let guards = Guards::new(dir.path());
        for (removed, left) in [(&[1, 2][..], &["SMALL"][..]), (&[3], &[])] {
            let mut change = guards.change();
            removed.iter().for_each(|number| change.remove(*number));
            change.store().unwrap();
            assert_eq!(files(dir.path()), left);
        }
        assert!(guards.guarded().unwrap().is_empty());
    }

    #[test]
    fn a_change_that_is_not_stored_leaves_the_guards_of_small_tables() {
        let dir = tempfile::tempdir().unwrap();
        add_tables(dir.path(), [(1, 10)]);
        fs::write(path(dir.path(), 2), noise(2, 10)).unwrap();
        let guards = Guards::new(dir.path());
        let mut change = guards.change();
        change.make(2).unwrap();
        change.remove(1);
        drop(change);
        for guards in [guards, Guards::new(dir.path())] {
            assert_eq!(guards.guarded().unwrap(), BTreeSet::from([1]));
        }
        check_repair(dir.path(), 1);
    }

    #[test]
    fn only_so_many_guards_share_the_file() {
        let dir = tempfile::tempdir().unwrap();
        add_tables(dir.path(), (1..=66).map(|number| (number, 20_000 - 100 * number as usize)));
        // The first 36 tables are not small.
        assert_eq!(files(dir.path()).len(), 36 + 1);
        add_tables(dir.path(), (101..=136).map(|number| (number, 16 << 10)));
        assert_eq!(files(dir.path()).len(), 36 + 2 + 1);
        (1..=66).chain(101..=136).for_each(|number| check_repair(dir.path(), number));
    }

    #[test]
    fn guards_of_earlier_versions_are_read_and_then_move_to_the_shared_file() {
        let dir = tempfile::tempdir().unwrap();
        add_tables(dir.path(), [(1, 10), (2, 100_000), (3, 16 << 10)]);
        let guards_dir = dir.path().join(GUARDS_DIR);
        for number in [1, 3] {
            let guard = Guards::new(dir.path()).guard_of(number).unwrap().unwrap();
            fs::write(guards_dir.join(format!("{number:06}.guard")), guard.encode()).unwrap();
        }
        let shared = fs::read(guards_dir.join("SMALL")).unwrap();
        fs::remove_file(guards_dir.join("SMALL")).unwrap();
        // Also as a kill leaves them: the shared file is written, and they are not removed yet.
        for killed in [false, true] {
            let again: Vec<_> = [1, 3].map(|n| Guards::new(dir.path()).own_file(n)).into();
            let kept: Vec<_> = again.iter().map(|path| fs::read(path).unwrap()).collect();
            if killed {
                fs::write(guards_dir.join("SMALL"), &shared).unwrap();
            }
            (1..=3).for_each(|number| check_repair(dir.path(), number));
            let guards = Guards::new(dir.path());
            let mut change = guards.change();
            change.move_small().unwrap();
            change.store().unwrap();
            assert_eq!(files(dir.path()), ["000002.guard", "SMALL"], "killed: {killed}");
            assert_eq!(fs::read(guards_dir.join("SMALL")).unwrap(), shared);
            (1..=3).for_each(|number| check_repair(dir.path(), number));
            again.iter().zip(kept).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        }
    }

    #[test]
    fn a_damaged_shared_file_protects_nothing_and_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        add_tables(dir.path(), [(1, 10), (2, 5_000)]);
        let path = dir.path().join(GUARDS_DIR).join("SMALL");
        let whole = fs::read(&path).unwrap();
        for damaged in [vec![], vec![0; whole.len()], whole[..whole.len() - 1].to_vec()] {
            fs::write(&path, damaged).unwrap();
            let guards = Guards::new(dir.path());
            assert!(guards.guarded().unwrap().is_empty());
            assert_eq!(guards.check(1).unwrap(), Health::Unguarded);
            assert!(guards.has_whole_end(1).unwrap());
            let mut change = guards.change();
            assert_eq!([1, 2].map(|number| change.make(number).unwrap()), [10, 5_000]);
            change.store().unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
        fs::write(&path, b"damaged").unwrap();
        Guards::new(dir.path()).change().store().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_copy_has_the_guards_of_the_tables_that_it_has() {
        let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        add_tables(dir.path(), [(1, 10), (2, 10), (3, 50_000), (4, 50_000)]);
        for number in [1, 3] {
            fs::copy(path(dir.path(), number), path(copy.path(), number)).unwrap();
        }
        Guards::new(dir.path()).copy_to(copy.path()).unwrap();
        assert_eq!(Guards::new(copy.path()).guarded().unwrap(), BTreeSet::from([1, 3]));
        [1, 3].iter().for_each(|number| check_repair(copy.path(), *number));
    }
}
