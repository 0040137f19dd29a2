//! Compacts many small tables into fewer, larger ones.
//!
//! Each seal and each compaction leaves a small table. Where keys only grow, RocksDB moves such a
//! table to the bottom level without reading it and never compacts it again: a server that seals
//! every minute would gain 1 440 of them per day, each an open file with a guard of its own. So
//! adjacent tables of similar size are compacted into one, which is later compacted with others of
//! its new size. Each entry is rewritten once each time tables grow by a factor of
//! [`TABLES_JOINED_MIN`].

use rocksdb::LiveFile;

use super::keyspace::Keyspace;
use super::rocksdb_error::failure;
use super::store::Store;
use super::table_removal::keyspace_of;
use super::tuning;
use crate::error::Result;

/// Minimum number of adjacent small tables that are compacted together.
const TABLES_JOINED_MIN: usize = 16;
/// Upper size bound of the smallest size class, in bytes. The bound of each next class is
/// [`TABLES_JOINED_MIN`] times larger.
const SMALLEST_BYTES: u64 = 64 << 10;
/// A table is small if its size is at most this fraction of the target table size.
const SMALL_PART: u64 = 8;

/// A table at the bottom level of its keyspace, where tables do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    bytes: u64,
    /// The first key. The last key follows.
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Store {
    /// Compacts adjacent small tables, one run per keyspace. Returns by how many the number of
    /// tables decreased.
    pub(crate) fn join_small_tables(&self) -> Result<usize> {
        let files = self.live_files()?;
        let mut fewer = 0;
        for keyspace in Keyspace::ALL {
            let tables = bottom_tables(keyspace, &files);
            if let Some(run) = small_run(&tables, tuning::table_bytes(keyspace) / SMALL_PART)
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

/// Returns the tables at the bottom level of a keyspace, in key order. Level 0 does not count: its
/// tables overlap and are compacted anyway.
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

/// Returns the first run of adjacent tables of one size class that is long enough, trying the
/// smallest class first. A run is limited to about two tables of the target size, to bound the time
/// that the caller waits for the compaction.
fn small_run(tables: &[Table], small_bytes: u64) -> Option<&[Table]> {
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

    /// Adjacent tables of these sizes, in KiB.
    fn tables(sizes: &[u64]) -> Vec<Table> {
        let table = |(at, kib): (usize, &u64)| {
            let at = u8::try_from(at).unwrap();
            Table { bytes: kib * KIB, first: vec![at, 0], last: vec![at, 9] }
        };
        sizes.iter().enumerate().map(table).collect()
    }

    /// The first table and the number of tables that are joined, where tables up to 4 MiB are
    /// small.
    fn joined(sizes: &[u64]) -> Option<(u8, usize)> {
        let tables = tables(sizes);
        small_run(&tables, 4 << 20).map(|run| (run[0].first[0], run.len()))
    }

    #[test]
    fn enough_adjacent_tables_of_one_size_are_joined() {
        assert_eq!(joined(&[30; 15]), None);
        assert_eq!(joined(&[30; 16]), Some((0, 16)));
        assert_eq!(joined(&[[5_000; 2].as_slice(), &[30; 20]].concat()), Some((2, 20)));
        // A larger table is not rewritten for each sixteen small ones, and separates runs.
        assert_eq!(joined(&[[480; 1].as_slice(), &[30; 16]].concat()), Some((1, 16)));
        assert_eq!(joined(&[&[30; 15], [480].as_slice(), &[30; 15]].concat()), Some((0, 31)));
        assert_eq!(joined(&[&[30; 15], [4_097].as_slice(), &[30; 15]].concat()), None);
        assert_eq!(joined(&[480; 16]), Some((0, 16)));
        assert_eq!(joined(&[4_096; 16]), Some((0, 16)));
        assert_eq!(joined(&[4_097; 99]), None);
        // At most as many bytes at a time as sixteen of the largest tables of the class.
        assert_eq!(joined(&[30; 99]), Some((0, 34)));
        assert_eq!(joined(&[4_096; 99]), Some((0, 16)));
    }

    #[test]
    fn a_long_running_server_has_few_tables() {
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
