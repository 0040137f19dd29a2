//! Many small tables become few larger ones.
//!
//! Each seal and each merge leaves a small table. Where the keys only grow, RocksDB moves such a table to the bottom level unread and
//! never looks at it again: a server that seals each minute would have 1 440 more of them a day, each an open file with a guard of
//! its own. So neighbours of about the same size are compacted into one, which is a neighbour of its like later: what is in a table is
//! written once for each time that tables grow by [`TABLES_JOINED_MIN`].

use rocksdb::LiveFile;

use super::failure::failure;
use super::keyspace::Keyspace;
use super::rescue::keyspace_of;
use super::store::Store;
use super::tuning;
use crate::error::Result;

/// So many small neighbours are compacted together, at least.
const TABLES_JOINED_MIN: usize = 16;
/// Tables of so many bytes are the smallest of those that are alike; the next are [`TABLES_JOINED_MIN`] times as large.
const SMALLEST_BYTES: u64 = 64 << 10;
/// Which part of the wanted size a table has at most to be called small.
const SMALL_PART: u64 = 8;

/// A table at the bottom level of its keyspace, where tables do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    bytes: u64,
    /// Its first and its last key.
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Store {
    /// Compacts small tables that lie beside each other, some of each keyspace. Returns how many fewer there are now.
    pub(crate) fn join_small_tables(&self) -> Result<usize> {
        let files = self.live_files()?;
        let mut fewer = 0;
        for keyspace in Keyspace::ALL {
            let tables = bottom_tables(keyspace, &files);
            if let Some(run) = small_neighbours(&tables, tuning::table_bytes(keyspace) / SMALL_PART)
                && let [first, .., last] = run
            {
                self.compact_bottom(keyspace, &first.first, &last.last)?;
                let after = bottom_tables(keyspace, &self.live_files()?);
                fewer += tables.len().saturating_sub(after.len());
            }
        }
        Ok(fewer)
    }

    fn live_files(&self) -> Result<Vec<LiveFile>> {
        self.db()?.live_files().map_err(|error| failure("tables", error))
    }
}

/// The tables at the bottom level of a keyspace, in the order of their keys. Level 0 is none: its tables overlap, and are compacted anyway.
fn bottom_tables(keyspace: Keyspace, files: &[LiveFile]) -> Vec<Table> {
    let own = || files.iter().filter(|file| keyspace_of(file) == Some(keyspace));
    let bottom = own().map(|file| file.level).max().unwrap_or(0);
    let mut tables: Vec<Table> = own()
        .filter(|file| bottom > 0 && file.level == bottom)
        .filter_map(|file| {
            let (first, last) = (file.start_key.clone()?, file.end_key.clone()?);
            Some(Table { bytes: file.size as u64, first, last })
        })
        .collect();
    tables.sort_unstable_by(|a, b| a.first.cmp(&b.first));
    tables
}

/// The first neighbours of about the same size that are enough to be joined, the smallest first. They make up about two tables of the wanted
/// size at most: whoever waits for the end of the compaction waits for no more.
fn small_neighbours(tables: &[Table], small_bytes: u64) -> Option<&[Table]> {
    let larger = |bytes: &u64| Some(bytes.saturating_mul(TABLES_JOINED_MIN as u64));
    std::iter::successors(Some(SMALLEST_BYTES), larger)
        .take_while(|bytes| *bytes < small_bytes)
        .chain([small_bytes])
        .find_map(|bytes| {
            let mut runs = tables.split(|table| table.bytes > bytes);
            let run = runs.find(|run| run.len() >= TABLES_JOINED_MIN)?;
            let mut left = larger(&bytes)?;
            let fits = |table: &&Table| {
                let rest = left.checked_sub(table.bytes);
                left = rest.unwrap_or(0);
                rest.is_some()
            };
            run.get(..run.iter().take_while(fits).count())
        })
}

#[cfg(test)]
mod tests {
    use super::super::batch::{Batch, Sync};
    use super::*;

    const KIB: u64 = 1 << 10;

    /// Neighbours of these sizes, in KiB.
    fn tables(sizes: &[u64]) -> Vec<Table> {
        let table = |(at, kib): (usize, &u64)| {
            let at = u8::try_from(at).unwrap();
            Table { bytes: kib * KIB, first: vec![at, 0], last: vec![at, 9] }
        };
        sizes.iter().enumerate().map(table).collect()
    }

    /// The first and the number of those that are joined, of which 4 MiB are small.
    fn joined(sizes: &[u64]) -> Option<(u8, usize)> {
        let tables = tables(sizes);
        small_neighbours(&tables, 4 << 20).map(|run| (run[0].first[0], run.len()))
    }

    #[test]
    fn enough_neighbours_of_a_size_are_joined() {
        assert_eq!(joined(&[30; 15]), None);
        assert_eq!(joined(&[30; 16]), Some((0, 16)));
        assert_eq!(joined(&[[5_000; 2].as_slice(), &[30; 20]].concat()), Some((2, 20)));
        // One that is larger is not written again for each sixteen small ones, and keeps others apart.
        assert_eq!(joined(&[[480; 1].as_slice(), &[30; 16]].concat()), Some((1, 16)));
        assert_eq!(joined(&[&[30; 15], [480].as_slice(), &[30; 15]].concat()), Some((0, 31)));
        assert_eq!(joined(&[&[30; 15], [4_097].as_slice(), &[30; 15]].concat()), None);
        assert_eq!(joined(&[480; 16]), Some((0, 16)));
        assert_eq!(joined(&[4_096; 16]), Some((0, 16)));
        assert_eq!(joined(&[4_097; 99]), None);
        // No more at a time than sixteen of the largest of them.
        assert_eq!(joined(&[30; 99]), Some((0, 34)));
        assert_eq!(joined(&[4_096; 99]), Some((0, 16)));
    }

    #[test]
    fn a_server_that_writes_for_long_has_few_tables() {
        const TABLES: usize = 40;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 8 << 20, 2).unwrap();
        let keyspace = Keyspace::EventBlocks;
        let at_bottom = || bottom_tables(keyspace, &store.live_files().unwrap()).len();
        let mut most = 0;
        for n in 0..TABLES {
            let mut batch = Batch::new();
            batch.put(keyspace, &n.to_be_bytes(), vec![7; 1_000]);
            store.write(batch, Sync::Yes).unwrap();
            store.flush_keyspace(keyspace).unwrap();
            store.compact(keyspace, &super::super::range::KeyRange::all()).unwrap();
            most = most.max(at_bottom());
            let fewer = store.join_small_tables().unwrap();
            assert_eq!(fewer, if at_bottom() == 1 && n > 0 { TABLES_JOINED_MIN - 1 } else { 0 });
        }
        assert_eq!(most, TABLES_JOINED_MIN, "RocksDB leaves small tables as they are");
        for n in 0..TABLES {
            assert!(store.get(keyspace, &n.to_be_bytes()).unwrap().is_some(), "{n}");
        }
        assert_eq!(store.join_small_tables().unwrap(), 0);
    }
}
