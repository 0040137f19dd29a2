//! The file that the guards of small tables share.
//!
//! Most tables of a small database are shorter than a block of the file system. Each guard in a
//! file of its own would take a block, and creating it a sync. The tables describe themselves in
//! nearly the same words, so their guards compress well together.
//!
//! ```text
//! DB/guards/SMALL: "TTSMALL1" │ XXH3-64 of the rest: u64 │ compressed with Zstandard: of each
//!       table its number: u64 │ bytes of its guard: u32 │ the guard as in a file of its own
//! ```
//!
//! The file is replaced as a whole. One that is damaged protects nothing; its guards are made
//! again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::limits::{SMALL_GUARD_BYTES_MAX, SMALL_TABLE_BYTES_MAX};
use super::table_guard::TableGuard;

/// Name of the file in the directory of the guards.
pub(super) const NAME: &str = "SMALL";
/// Name of the file until it is complete.
const NEW_NAME: &str = "SMALL.new";
const MAGIC: &[u8; 8] = b"TTSMALL1";
/// Guards in the file: about as many small tables as the keyspaces have before RocksDB compacts
/// them. The file is rewritten for each change; further guards have files of their own.
const GUARDS_MAX: usize = 64;
/// Bytes before each guard in the file.
const ENTRY_BYTES: usize = 8 + 4;
/// Bytes of all entries.
const CONTENTS_BYTES_MAX: usize = GUARDS_MAX * (ENTRY_BYTES + SMALL_GUARD_BYTES_MAX);
/// Level of Zstandard: higher ones gain nothing, since half of the contents is noise.
const COMPRESSION: i32 = 9;

/// Guards of small tables, by the number of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SmallGuards(BTreeMap<u64, TableGuard>);

impl SmallGuards {
    /// Reads the guards in a directory, none if it has no such file.
    pub(super) fn read(dir: &Path) -> io::Result<Self> {
        match fs::read(dir.join(NAME)) {
            Ok(bytes) => Self::decode(&bytes).ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidData, "its contents are damaged")
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Replaces the guards in a directory, durably but for the name of the file: if that is lost,
    /// the guards are made again.
    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        let path = dir.join(NAME);
        if self.0.is_empty() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let new = dir.join(NEW_NAME);
        let mut file = File::create(&new)?;
        file.write_all(&self.encode()?)?;
        file.sync_data()?;
        fs::rename(new, path)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.0.keys().copied()
    }

    pub(super) fn get(&self, number: u64) -> Option<&TableGuard> {
        self.0.get(&number)
    }

    /// Adds the guard of a table. Returns it if the table is too large, or the file has no space.
    pub(super) fn add(&mut self, number: u64, guard: TableGuard) -> Result<(), TableGuard> {
        let has_space = self.0.len() < GUARDS_MAX || self.0.contains_key(&number);
        if guard.table_bytes() > SMALL_TABLE_BYTES_MAX as u64 || !has_space {
            return Err(guard);
        }
        self.0.insert(number, guard);
        Ok(())
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.0.remove(&number);
    }

    /// Keeps the guards of the tables that `is_kept` selects.
    pub(super) fn retain(&mut self, is_kept: impl Fn(u64) -> bool) {
        self.0.retain(|number, _| is_kept(*number));
    }

    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut contents = Vec::new();
        for (number, guard) in &self.0 {
            let guard = guard.encode();
            let Ok(bytes) = u32::try_from(guard.len()) else {
                unreachable!("the guard of a small table has at most {SMALL_GUARD_BYTES_MAX} bytes")
            };
            contents.extend_from_slice(&number.to_le_bytes());
            contents.extend_from_slice(&bytes.to_le_bytes());
            contents.extend_from_slice(&guard);
        }
        let packed = zstd::bulk::compress(&contents, COMPRESSION)?;
        Ok([MAGIC, &xxh3_64(&packed).to_le_bytes()[..], &packed].concat())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (sum, packed) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        if u64::from_le_bytes(*sum) != xxh3_64(packed) {
            return None;
        }
        let contents = zstd::bulk::decompress(packed, CONTENTS_BYTES_MAX).ok()?;
        let (mut guards, mut rest) = (Self::default(), contents.as_slice());
        while !rest.is_empty() {
            let (number, after) = rest.split_first_chunk()?;
            let (bytes, after) = after.split_first_chunk()?;
            let bytes = usize::try_from(u32::from_le_bytes(*bytes)).ok()?;
            let (guard, after) = after.split_at_checked(bytes)?;
            guards.add(u64::from_le_bytes(*number), TableGuard::decode(guard)?).ok()?;
            rest = after;
        }
        Some(guards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guards(tables: &[(u64, &[u8])]) -> SmallGuards {
        let mut guards = SmallGuards::default();
        for (number, table) in tables {
            let guard = TableGuard::of(&mut &**table, table.len() as u64).unwrap();
            guards.add(*number, guard).unwrap();
        }
        guards
    }

    #[test]
    fn the_file_has_golden_contents() {
        let guards = guards(&[(7, b"abc"), (9, b"")]);
        let bytes = guards.encode().unwrap();
        assert_eq!(bytes.get(..8), Some(&b"TTSMALL1"[..]));
        let packed = bytes.get(16..).unwrap();
        assert_eq!(bytes.get(8..16), Some(&xxh3_64(packed).to_le_bytes()[..]));
        let contents = zstd::bulk::decompress(packed, 1_000).unwrap();
        let [of_abc, of_nothing] = [7, 9].map(|number| guards.get(number).unwrap().encode());
        let expected = [
            &[7, 0, 0, 0, 0, 0, 0, 0, 31, 0, 0, 0][..],
            &of_abc,
            &[9, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0],
            &of_nothing,
        ];
        assert_eq!(contents, expected.concat());
        assert_eq!(SmallGuards::decode(&bytes), Some(guards));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let bytes = guards(&[(7, b"abc"), (9, &[1; 5_000])]).encode().unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            assert_eq!(SmallGuards::decode(&damaged), None, "{at}");
            assert_eq!(SmallGuards::decode(&bytes[..at]), None, "{at}");
        }
    }

    #[test]
    fn contents_that_no_version_writes_are_refused() {
        let file = |contents: &[u8]| {
            let packed = zstd::bulk::compress(contents, COMPRESSION).unwrap();
            [MAGIC, &xxh3_64(&packed).to_le_bytes()[..], &packed].concat()
        };
        assert_eq!(SmallGuards::decode(&file(&[])), Some(SmallGuards::default()));
        let large = vec![1; SMALL_TABLE_BYTES_MAX + 1];
        let large = TableGuard::of(&mut &*large, large.len() as u64).unwrap().encode();
        let of_large = [&[7; 8], &(large.len() as u32).to_le_bytes()[..], &large].concat();
        for contents in [vec![1], vec![0; 12], vec![0; CONTENTS_BYTES_MAX + 1], of_large] {
            assert_eq!(SmallGuards::decode(&file(&contents)), None, "{}", contents.len());
        }
    }
}
