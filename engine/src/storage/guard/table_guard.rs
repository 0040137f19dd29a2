//! The guard of one table: checksums and parity of its sectors.
//!
//! ```text
//! "TTGUARD1" │ XXH3-64 of the rest: u64 │ bytes of the table: u64 │ per sector the low half of its
//! XXH3-64: u32 │ parity
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use xxhash_rust::xxh3::xxh3_64;

use super::limits::{HEAD_BYTES, PARITIES_MIN, SECTOR_BYTES};

/// Sectors per parity sector: a guard takes less than a hundredth of its table.
const SECTORS_PER_PARITY: usize = 128;
/// Bytes of a table that are read at a time: whole sectors.
const READ_BYTES: usize = 64 * SECTOR_BYTES;
const MAGIC: &[u8; 8] = b"TTGUARD1";
/// Offset of the table's length in a guard.
const TABLE_BYTES_OFFSET: u64 = 16;
/// Offset of the checksums of the sectors.
const SUMS_OFFSET: u64 = HEAD_BYTES as u64;
/// Sectors at the end of a table that contain its properties, metaindex and footer.
const END_SECTORS: u64 = 4;

/// An offset in a table, and the bytes to restore there.
pub(super) type Repair = (u64, Vec<u8>);

/// Result of comparing a table with its guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Health {
    /// There is no guard, or it is damaged.
    Unguarded,
    /// The table is unchanged.
    Intact,
    /// This many sectors are damaged and can be reconstructed.
    Repairable(usize),
    /// This many sectors are damaged, and not all can be reconstructed.
    BeyondRepair(usize),
}

/// The guard of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableGuard {
    table_bytes: u64,
    sums: Vec<u32>,
    parity: Vec<[u8; SECTOR_BYTES]>,
}

impl TableGuard {
    /// Reads a table of `table_bytes` bytes, part by part.
    pub(super) fn of(table: &mut impl Read, table_bytes: u64) -> io::Result<Self> {
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

    /// Returns the health of a table and the bytes that repair it.
    pub(super) fn compare(&self, table: &[u8]) -> (Health, Vec<Repair>) {
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

    /// Returns the length of the table.
    pub(super) fn table_bytes(&self) -> u64 {
        self.table_bytes
    }

    /// Returns whether the end of the table is undamaged.
    pub(super) fn has_whole_end(&self, table: &File) -> io::Result<bool> {
        let first = self.sums.len().saturating_sub(END_SECTORS as usize);
        is_end_whole(table, self.table_bytes, self.sums.iter().skip(first).copied())
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

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut rest = self.table_bytes.to_le_bytes().to_vec();
        self.sums.iter().for_each(|sum| rest.extend_from_slice(&sum.to_le_bytes()));
        let used = parity_bytes(self.table_bytes);
        self.parity.iter().for_each(|parity| rest.extend(parity.iter().take(used)));
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&xxh3_64(&rest).to_le_bytes());
        out.extend_from_slice(&rest);
        out
    }

    /// Returns `None` if the bytes are those of no guard.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
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

/// Returns whether the end of a table is undamaged according to the guard in a file, of which only
/// the part that matters is read.
pub(super) fn is_end_whole_by(
    guard: &File,
    table: impl FnOnce() -> io::Result<File>,
) -> io::Result<bool> {
    let mut table_bytes = [0; 8];
    guard.read_exact_at(&mut table_bytes, TABLE_BYTES_OFFSET)?;
    let table_bytes = u64::from_le_bytes(table_bytes);
    let sectors = table_bytes.div_ceil(SECTOR_BYTES as u64);
    let first = sectors.saturating_sub(END_SECTORS);
    let mut sums = vec![0; (sectors - first) as usize * 4];
    guard.read_exact_at(&mut sums, SUMS_OFFSET + first * 4)?;
    let (sums, _) = sums.as_chunks();
    is_end_whole(&table()?, table_bytes, sums.iter().map(|sum| u32::from_le_bytes(*sum)))
}

/// Compares the last sectors of a table with their checksums.
fn is_end_whole(
    table: &File,
    table_bytes: u64,
    mut sums: impl ExactSizeIterator<Item = u32>,
) -> io::Result<bool> {
    let sectors = table_bytes.div_ceil(SECTOR_BYTES as u64);
    let start = (sectors - sums.len() as u64) * SECTOR_BYTES as u64;
    let mut end = vec![0; (table_bytes - start) as usize];
    table.read_exact_at(&mut end, start)?;
    Ok(end.chunks(SECTOR_BYTES).all(|sector| sums.next() == Some(sum(sector))))
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

    #[test]
    fn a_guard_has_golden_bytes() {
        let guard = TableGuard::of(&mut &b"abc"[..], 3).unwrap().encode();
        assert_eq!(guard.len(), 8 + 8 + 8 + 4 + 3);
        assert_eq!(guard.get(..8), Some(&b"TTGUARD1"[..]));
        assert_eq!(guard.get(16..28), Some(&[3, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x39, 0x2f, 0x89][..]));
        assert_eq!(guard.get(28..), Some(&b"abc"[..]));
    }
}
