//! Guards: the redundancy needed to repair damaged files in place.
//!
//! A table file never changes after it is written. For each table the directory `guards` contains a
//! guard: a checksum of each 4 KB sector of the table, and parity sectors, each the exclusive or of
//! every nth sector. A sector with a wrong checksum is reconstructed from its parity and the other
//! sectors of its group, and is written back in place. This covers keys, index, filter and footer
//! as well as values. Adjacent sectors are in different groups, so damage that spans two sectors
//! can be repaired too.
//!
//! ```text
//! <table>.guard   "TTGUARD1" │ XXH3-64 of the rest: u64 │ bytes of the table: u64 │ per sector the
//!                 low half of its XXH3-64: u32 │ parity
//! ```
//!
//! The manifest lists the tables. It is append-only, so it has no parity but a copy, refreshed at
//! each check.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

/// Directory of the guards, inside that of the database.
pub(super) const GUARDS_DIR: &str = "guards";
/// Unit of verification and repair: what disks typically lose at once.
const SECTOR_BYTES: usize = 4 << 10;
/// Sectors per parity sector: a guard takes less than a hundredth of its table.
const SECTORS_PER_PARITY: usize = 128;
/// Parity sectors of a small table: two, so that damage may span two sectors.
const PARITIES_MIN: usize = 2;
/// Bytes of a table that are read at a time: whole sectors.
const READ_BYTES: usize = 64 * SECTOR_BYTES;
const MAGIC: &[u8; 8] = b"TTGUARD1";
/// Offset of the table's length in a guard. The checksums of the sectors follow it.
const TABLE_BYTES_OFFSET: u64 = 16;
/// Sectors at the end of a table that contain its properties, metaindex and footer.
const END_SECTORS: u64 = 4;

/// An offset in a table, and the bytes to restore there.
type Repair = (u64, Vec<u8>);

/// Result of comparing a table with its guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// There is no guard, or it is damaged.
    Unguarded,
    /// The table is unchanged.
    Intact,
    /// This many sectors are damaged and can be reconstructed.
    Repairable(usize),
    /// This many sectors are damaged, and not all can be reconstructed.
    BeyondRepair(usize),
}

/// What [`Guards::copy_manifest`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum ManifestCopy {
    /// The copy is that of the manifest as it is now.
    Updated,
    /// The manifest has not grown, or it is unknown how much of it is on disk.
    Kept,
    /// The manifest is damaged: it does not start with its copy, which is kept.
    Differs,
    /// `CURRENT` is damaged or missing: it names no manifest.
    Unnamed,
}

/// The guard of one table, as stored on disk.
#[derive(Debug, PartialEq, Eq)]
struct Guard {
    table_bytes: u64,
    sums: Vec<u32>,
    parity: Vec<[u8; SECTOR_BYTES]>,
}

/// The guards of one database.
#[derive(Debug)]
pub(super) struct Guards {
    db: PathBuf,
}

impl Guards {
    pub(super) fn new(db: &Path) -> Self {
        Self { db: db.to_owned() }
    }

    fn table(&self, number: u64) -> PathBuf {
        self.db.join(format!("{number:06}.sst"))
    }

    fn guard(&self, number: u64) -> PathBuf {
        self.db.join(GUARDS_DIR).join(format!("{number:06}.guard"))
    }

    /// Returns the numbers of the tables that have a guard.
    pub(super) fn guarded(&self) -> io::Result<Vec<u64>> {
        let paths = paths_in(&self.db.join(GUARDS_DIR))?;
        let guards = paths.iter().filter(|path| path.extension().is_some_and(|e| e == "guard"));
        // Other names are not those of guards.
        Ok(guards.filter_map(|path| path.file_stem()?.to_str()?.parse().ok()).collect())
    }

    /// Creates the guard of a table. Returns the size of the table in bytes.
    pub(super) fn make(&self, number: u64) -> io::Result<u64> {
        fs::create_dir_all(self.db.join(GUARDS_DIR))?;
        let mut table = File::open(self.table(number))?;
        let table_bytes = table.metadata()?.len();
        let guard = Guard::of(&mut table, table_bytes)?;
        let path = self.guard(number);
        let new = path.with_extension("new");
        // Synced, so that a guard with a wrong checksum is known to be damaged. If the rename is
        // lost, the guard is created again.
        let mut file = File::create(&new)?;
        file.write_all(&guard.encode())?;
        file.sync_data()?;
        fs::rename(new, path)?;
        Ok(guard.table_bytes)
    }

    /// Copies the guards of the tables that exist in the directory of another database. A table
    /// that a compaction has replaced meanwhile gets none.
    pub(super) fn copy_to(&self, other: &Path) -> io::Result<()> {
        let target = Self::new(other);
        fs::create_dir_all(other.join(GUARDS_DIR))?;
        for number in self.guarded()?.into_iter().filter(|number| target.table(*number).exists()) {
            match fs::copy(self.guard(number), target.guard(number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes guards that are damaged themselves. Returns the numbers of their tables.
    pub(super) fn remove_damaged(&self) -> io::Result<Vec<u64>> {
        let is_damaged = |number: &u64| match fs::read(self.guard(*number)) {
            Ok(bytes) => Guard::decode(&bytes).is_none(),
            // It protects nothing either.
            Err(error) => {
                tracing::warn!(%error, number, "the guard of a table cannot be read");
                true
            }
        };
        let damaged: Vec<u64> = self.guarded()?.into_iter().filter(is_damaged).collect();
        damaged.iter().for_each(|number| self.remove(*number));
        Ok(damaged)
    }

    /// Removes the guard of a deleted table.
    pub(super) fn remove(&self, number: u64) {
        // A guard that cannot be removed is removed after the next start.
        if let Err(error) = fs::remove_file(self.guard(number))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, number, "the guard of a deleted table cannot be removed");
        }
    }

    /// Compares a table with its guard.
    pub(super) fn check(&self, number: u64) -> io::Result<Health> {
        self.examine(number).map(|(health, _)| health)
    }

    /// Repairs a damaged table in place. Returns its health before the repair.
    pub(super) fn repair(&self, number: u64) -> io::Result<Health> {
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
    pub(super) fn has_whole_end(&self, number: u64) -> io::Result<bool> {
        let guard = match File::open(self.guard(number)) {
            Ok(guard) => guard,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        let mut table_bytes = [0; 8];
        guard.read_exact_at(&mut table_bytes, TABLE_BYTES_OFFSET)?;
        let table_bytes = u64::from_le_bytes(table_bytes);
        let sectors = table_bytes.div_ceil(SECTOR_BYTES as u64);
        let first = sectors.saturating_sub(END_SECTORS);
        let mut sums = vec![0; (sectors - first) as usize * 4];
        guard.read_exact_at(&mut sums, TABLE_BYTES_OFFSET + 8 + first * 4)?;
        let start = first * SECTOR_BYTES as u64;
        let mut end = vec![0; (table_bytes - start) as usize];
        File::open(self.table(number))?.read_exact_at(&mut end, start)?;
        let (sums, _) = sums.as_chunks();
        let whole =
            |(sector, stored): (&[u8], &[u8; 4])| sum(sector) == u32::from_le_bytes(*stored);
        Ok(end.chunks(SECTOR_BYTES).zip(sums).all(whole))
    }

    /// Returns the health of a table and the bytes that repair it.
    fn examine(&self, number: u64) -> io::Result<(Health, Vec<Repair>)> {
        let guard = match fs::read(self.guard(number)) {
            Ok(bytes) => Guard::decode(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let Some(guard) = guard else { return Ok((Health::Unguarded, Vec::new())) };
        let bytes = fs::read(self.table(number))?;
        Ok(guard.compare(&bytes))
    }

    /// Returns the length of the manifest in bytes, zero if there is none: then
    /// [`Self::copy_manifest`] says so.
    pub(super) fn manifest_bytes(&self) -> io::Result<u64> {
        current_manifest(&self.db).map_or(Ok(0), |path| Ok(fs::metadata(path)?.len()))
    }

    /// Copies the manifest if it grew since the last copy. `is_in_force` is called after its bytes
    /// were read and synced: after a failed sync it is unknown which of them are on disk, and a
    /// copy with more bytes than the manifest would indicate damage where there is none. The
    /// database must be open.
    pub(super) fn copy_manifest(
        &self,
        is_in_force: impl FnOnce() -> bool,
    ) -> io::Result<ManifestCopy> {
        // The second time because RocksDB may just have replaced and deleted a manifest.
        let named = current_manifest(&self.db).or_else(|| current_manifest(&self.db));
        let Some(manifest) = named else { return Ok(ManifestCopy::Unnamed) };
        let Some(name) = manifest.file_name() else {
            unreachable!("the path of a manifest ends in the name that it was found by")
        };
        let folder = self.db.join(GUARDS_DIR);
        let copy = folder.join(name);
        let bytes = fs::metadata(&manifest)?.len();
        // A copy whose length cannot be read is compared below.
        if fs::metadata(&copy).is_ok_and(|copied| copied.len() == bytes + TAIL_BYTES) {
            return Ok(ManifestCopy::Kept);
        }
        if !folder.exists() {
            fs::create_dir_all(&folder)?;
            File::open(&self.db)?.sync_all()?;
        }
        let mut content = fs::read(&manifest)?;
        // The manifest is append-only: if it differs from the copy it is damaged, and the copy is
        // needed to repair it.
        if let Some(earlier) = read_copy(&copy)
            && !content.starts_with(&earlier)
        {
            return Ok(ManifestCopy::Differs);
        }
        File::open(&manifest)?.sync_data()?;
        if !is_in_force() {
            return Ok(ManifestCopy::Kept);
        }
        content.extend_from_slice(&xxh3_64(&content).to_le_bytes());
        let new = folder.join("MANIFEST.new");
        // Synced: a manifest without a copy means that its start was killed before it acknowledged
        // anything.
        let mut file = File::create(&new)?;
        file.write_all(&content)?;
        file.sync_all()?;
        fs::rename(new, &copy)?;
        File::open(&folder)?.sync_all()?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let other = entry.file_name();
            if other != *name && other.to_string_lossy().starts_with("MANIFEST-") {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(ManifestCopy::Updated)
    }

    /// Returns the length of the copy of the current manifest, or `None` if there is no valid copy.
    pub(super) fn copied_bytes(&self) -> Option<usize> {
        let manifest = current_manifest(&self.db)?;
        let copy = self.db.join(GUARDS_DIR).join(manifest.file_name()?);
        read_copy(&copy).map(|copy| copy.len())
    }

    /// Restores the manifest from its copy, keeping what was appended since. Returns whether
    /// anything changed.
    pub(super) fn repair_manifest(&self) -> io::Result<bool> {
        for path in paths_in(&self.db.join(GUARDS_DIR))? {
            let Some(name) = path.file_name() else { continue };
            if !name.to_string_lossy().starts_with("MANIFEST-") {
                continue;
            }
            let Some(copy) = read_copy(&path) else { continue };
            let manifest = self.db.join(name);
            // One that is missing or cannot be read at all is restored as well.
            let now = fs::read(&manifest).unwrap_or_default();
            let same = now.get(..copy.len()).is_some_and(|head| head == copy.as_slice());
            let newest = manifests(&self.db)?.into_iter().max();
            // A newer manifest starts with everything that the older ones contain.
            if same || newest.is_some_and(|newest| newest > manifest) {
                continue;
            }
            let file = File::options().write(true).create(true).truncate(false).open(&manifest)?;
            file.write_all_at(&copy, 0)?;
            file.sync_all()?;
            return Ok(true);
        }
        Ok(false)
    }
}

/// Length of the checksum that ends the copy of a manifest.
const TAIL_BYTES: u64 = 8;

/// Reads the copy of a manifest. Returns `None` if there is none or it is damaged: its owner then
/// does without it or writes a new one.
fn read_copy(path: &Path) -> Option<Vec<u8>> {
    let why = match fs::read(path).map(whole_copy) {
        Ok(Some(copy)) => return Some(copy),
        Ok(None) => "its checksum is wrong".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => error.to_string(),
    };
    tracing::warn!(why, path = %path.display(), "the copy of the database's manifest is damaged");
    None
}

/// Returns the manifest in a copy, or `None` if the copy is damaged.
fn whole_copy(mut copy: Vec<u8>) -> Option<Vec<u8>> {
    let (content, sum) = copy.split_last_chunk::<{ TAIL_BYTES as usize }>()?;
    let length = (u64::from_le_bytes(*sum) == xxh3_64(content)).then_some(content.len())?;
    copy.truncate(length);
    Some(copy)
}

/// Returns the paths of the files in a directory, none if it does not exist.
pub(super) fn paths_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns the manifests in the directory of a database.
pub(super) fn manifests(db: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = paths_in(db)?;
    paths.retain(|path| manifest_number(path).is_some());
    Ok(paths)
}

/// Returns the number in the name of a manifest, or `None` if the name is not that of one.
pub(super) fn manifest_number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("MANIFEST-")?.parse().ok()
}

/// Returns the manifest that `CURRENT` names, or `None` if that file or the manifest is missing or
/// damaged: an open then repairs it.
pub(super) fn current_manifest(db: &Path) -> Option<PathBuf> {
    let current = match fs::read(db.join("CURRENT")) {
        Ok(current) => String::from_utf8(current).ok()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(%error, "the database's file CURRENT cannot be read");
            return None;
        }
    };
    let path = db.join(current.strip_suffix('\n')?);
    let is_inside = path.parent() == Some(db) && path.exists();
    (is_inside && manifest_number(&path).is_some()).then_some(path)
}

impl Guard {
    /// Reads a table of `table_bytes` bytes, part by part.
    fn of(table: &mut impl Read, table_bytes: u64) -> io::Result<Self> {
        let sectors = usize::try_from(table_bytes.div_ceil(SECTOR_BYTES as u64));
        let sectors = sectors.map_err(io::Error::other)?;
        let (mut sums, mut read_bytes) = (Vec::with_capacity(sectors), 0);
        let mut parity = vec![[0; SECTOR_BYTES]; parities(sectors)];
        let mut part = Vec::with_capacity(READ_BYTES);
        loop {
            part.clear();
            table.by_ref().take(READ_BYTES as u64).read_to_end(&mut part)?;
            if part.is_empty() {
                break;
            }
            read_bytes += part.len() as u64;
            add_sectors(&part, &mut parity, &mut sums);
        }
        if read_bytes != table_bytes {
            let reason = format!("a table of {table_bytes} bytes ends after {read_bytes}");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
        }
        Ok(Self { table_bytes, sums, parity })
    }

    fn compare(&self, table: &[u8]) -> (Health, Vec<Repair>) {
        let mut difference = self.parity.clone();
        let mut sums = Vec::with_capacity(self.sums.len());
        add_sectors(table, &mut difference, &mut sums);
        let bad: Vec<usize> = (self.sums.iter().enumerate())
            .filter(|(i, sum)| sums.get(*i) != Some(*sum))
            .map(|(i, _)| i)
            .collect();
        if table.len() as u64 != self.table_bytes {
            return (Health::BeyondRepair(bad.len()), Vec::new());
        }
        if bad.is_empty() {
            return (Health::Intact, Vec::new());
        }
        let repairs: Option<Vec<Repair>> =
            bad.iter().map(|i| self.reconstructed(table, *i, &difference)).collect();
        match repairs {
            Some(repairs) => (Health::Repairable(bad.len()), repairs),
            None => (Health::BeyondRepair(bad.len()), Vec::new()),
        }
    }

    /// Returns the offset and the original bytes of a sector, or `None` when another sector of its
    /// group is damaged too.
    fn reconstructed(
        &self,
        table: &[u8],
        sector: usize,
        difference: &[[u8; SECTOR_BYTES]],
    ) -> Option<(u64, Vec<u8>)> {
        let found = table.chunks(SECTOR_BYTES).nth(sector)?;
        let difference = difference.get(sector % difference.len().max(1))?;
        let bytes: Vec<u8> = found.iter().zip(difference).map(|(a, b)| a ^ b).collect();
        let offset = (sector * SECTOR_BYTES) as u64;
        (self.sums.get(sector) == Some(&sum(&bytes))).then_some((offset, bytes))
    }

    fn encode(&self) -> Vec<u8> {
        let mut rest = self.table_bytes.to_le_bytes().to_vec();
        self.sums.iter().for_each(|sum| rest.extend_from_slice(&sum.to_le_bytes()));
        let used = parity_bytes(self.table_bytes);
        self.parity.iter().for_each(|parity| rest.extend(parity.iter().take(used)));
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&xxh3_64(&rest).to_le_bytes());
        out.extend_from_slice(&rest);
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (checksum, rest) = rest.split_first_chunk()?;
        if u64::from_le_bytes(*checksum) != xxh3_64(rest) {
            return None;
        }
        let (table_bytes, rest) = rest.split_first_chunk()?;
        let table_bytes = u64::from_le_bytes(*table_bytes);
        let sectors = usize::try_from(table_bytes).ok()?.div_ceil(SECTOR_BYTES);
        let (sums, parity) = rest.split_at_checked(sectors.checked_mul(4)?)?;
        let (sums, _) = sums.as_chunks();
        let used = parity_bytes(table_bytes).max(1);
        let whole = parity.len() == parities(sectors).checked_mul(used)?;
        let sums = sums.iter().map(|sum| u32::from_le_bytes(*sum)).collect();
        let filled = |part: &[u8]| {
            let mut parity = [0; SECTOR_BYTES];
            parity.iter_mut().zip(part).for_each(|(byte, stored)| *byte = *stored);
            parity
        };
        whole.then(|| Self { table_bytes, sums, parity: parity.chunks(used).map(filled).collect() })
    }
}

/// Returns how many bytes of each parity sector are stored. Most tables of a small database are
/// shorter than a sector, and the rest of their parity is zero.
fn parity_bytes(table_bytes: u64) -> usize {
    table_bytes.min(SECTOR_BYTES as u64) as usize
}

fn parities(sectors: usize) -> usize {
    sectors.div_ceil(SECTORS_PER_PARITY).max(PARITIES_MIN).min(sectors)
}

/// Adds the next sectors of a table to the parity of their groups, and their checksums to `sums`,
/// which has those of the sectors before.
fn add_sectors(bytes: &[u8], parity: &mut [[u8; SECTOR_BYTES]], sums: &mut Vec<u32>) {
    let groups = parity.len().max(1);
    for sector in bytes.chunks(SECTOR_BYTES) {
        if let Some(parity) = parity.get_mut(sums.len() % groups) {
            parity.iter_mut().zip(sector).for_each(|(sum, byte)| *sum ^= byte);
        }
        sums.push(sum(sector));
    }
}

fn sum(sector: &[u8]) -> u32 {
    xxh3_64(sector) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(len: usize) -> (tempfile::TempDir, Guards, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let table: Vec<u8> = (0..len as u64).map(|i| (xxh3_64(&i.to_le_bytes())) as u8).collect();
        fs::write(dir.path().join("000007.sst"), &table).unwrap();
        let guards = Guards::new(dir.path());
        assert_eq!(guards.make(7).unwrap(), len as u64);
        (dir, guards, table)
    }

    #[test]
    fn any_damaged_sector_is_repaired() {
        for len in [1, 100, 4096, 4097, 9000, 50_000, 1 << 20] {
            let (dir, guards, table) = guarded(len);
            let path = dir.path().join("000007.sst");
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
                fs::write(dir.path().join("000007.sst"), &bad).unwrap();
                let near = at / SECTOR_BYTES + END_SECTORS as usize >= len.div_ceil(SECTOR_BYTES);
                assert_eq!(guards.has_whole_end(7).unwrap(), !near, "{at} of {len}");
            }
        }
    }

    #[test]
    fn damage_beyond_parity_is_left_unchanged() {
        let (dir, guards, mut table) = guarded(400_000);
        table.iter_mut().for_each(|byte| *byte ^= 1);
        fs::write(dir.path().join("000007.sst"), &table).unwrap();
        assert!(matches!(guards.repair(7).unwrap(), Health::BeyondRepair(_)));
        assert_eq!(fs::read(dir.path().join("000007.sst")).unwrap(), table);
        let mut guard = fs::read(guards.guard(7)).unwrap();
        guard[30] ^= 1;
        fs::write(guards.guard(7), guard).unwrap();
        assert_eq!(guards.check(7).unwrap(), Health::Unguarded);
        assert_eq!(guards.check(8).unwrap(), Health::Unguarded);
    }

    #[test]
    fn a_guard_has_golden_bytes() {
        let guard = Guard::of(&mut &b"abc"[..], 3).unwrap().encode();
        assert_eq!(guard.len(), 8 + 8 + 8 + 4 + 3);
        assert_eq!(guard.get(..8), Some(&b"TTGUARD1"[..]));
        assert_eq!(guard.get(16..28), Some(&[3, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x39, 0x2f, 0x89][..]));
        assert_eq!(guard.get(28..), Some(&b"abc"[..]));
    }
}
