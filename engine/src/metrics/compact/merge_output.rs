//! The blocks that a merge writes, until its last batch puts them in the place of those that it read.
//!
//! ```text
//! they fit into memory    one batch:  blocks, pages, entries of the catalog; the blocks that go, to the list of garbage
//! they do not             batches:    blocks, named in the list of garbage; full pages          (any number of them)
//!                         flush:      to tables
//!                         one batch:  entries of the catalog, off the list of garbage; the rest as above
//! ```
//!
//! So a crash at any moment leaves either the old blocks or the new ones in the catalog, and of the others nothing that the next
//! start would not delete. They are in tables before anything names them: damage to the end of RocksDB's log takes a batch,
//! which must not be one that others rely on.

use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashSet;

use super::super::block::{BlockInfo, BlockKey};
use super::super::load::SEQUENCE_KEY;
use super::super::times::{TimePages, TimesWriter};
use super::super::writer::NewBlock;
use crate::codec::integers::Effort;
use crate::error::Result;
use crate::memory::MergeMemory;
use crate::storage::{Batch, Keyspace, Store, Sync};

/// Takes the blocks of a merge, in memory and on disk.
#[derive(Debug)]
pub(crate) struct MergeOutput<'m> {
    store: &'m Store,
    pages: &'m TimePages,
    sequence: &'m AtomicU64,
    memory: &'m MergeMemory,
    /// The bytes that may wait in memory.
    bytes_max: usize,
    held: Vec<NewBlock>,
    held_bytes: usize,
    /// Blocks on disk that no catalog names.
    spilled: HashSet<BlockKey>,
    page_bytes: u64,
    /// Bytes in memory of the parts that are finished: their last pages, in the last batch, and what their writers know.
    finished_bytes: usize,
}

impl<'m> MergeOutput<'m> {
    pub(crate) fn new(
        (store, pages): (&'m Store, &'m TimePages),
        sequence: &'m AtomicU64,
        memory: &'m MergeMemory,
        bytes_max: usize,
    ) -> Self {
        let (held, spilled) = (Vec::new(), HashSet::new());
        Self {
            store,
            pages,
            sequence,
            memory,
            bytes_max,
            held,
            held_bytes: 0,
            spilled,
            page_bytes: 0,
            finished_bytes: 0,
        }
    }

    /// Takes blocks that refer to pages of `times`. `working_bytes` are those of whoever makes them.
    pub(crate) fn take(
        &mut self,
        blocks: Vec<NewBlock>,
        times: &TimesWriter<'_>,
        working_bytes: usize,
    ) -> Result<()> {
        self.held_bytes += blocks.iter().map(|block| block.bytes.len()).sum::<usize>();
        self.held.extend(blocks);
        self.report_memory(times, working_bytes);
        if self.held_bytes + times.closed_bytes() > self.bytes_max {
            self.spill(times)
        } else {
            Ok(())
        }
    }

    /// Tells how much memory the merge takes: a batch is copied when it is written.
    pub(crate) fn report_memory(&self, times: &TimesWriter<'_>, working_bytes: usize) {
        self.memory.set(self.bytes() + times.bytes() + working_bytes);
    }

    fn bytes(&self) -> usize {
        2 * self.held_bytes + self.finished_bytes
    }

    /// Takes the last pages of a part of the merge.
    pub(crate) fn finish_part(&mut self, times: &TimesWriter<'_>, batch: &mut Batch) -> Result<()> {
        let bytes = self.pages.stage(times.pages(Effort::Merge)?, batch);
        self.page_bytes += bytes;
        self.finished_bytes += 2 * bytes as usize + times.bytes();
        self.memory.set(self.bytes());
        Ok(())
    }

    /// Bytes of the pages so far.
    pub(crate) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Blocks that are on disk and that no catalog names: garbage, should the merge fail.
    pub(crate) fn spilled(&self) -> Vec<BlockKey> {
        self.spilled.iter().copied().collect()
    }

    fn spill(&mut self, times: &TimesWriter<'_>) -> Result<()> {
        let mut batch = Batch::new();
        self.page_bytes += self.pages.stage(times.closed_pages(Effort::Merge)?, &mut batch);
        for NewBlock { info, bytes } in self.held.drain(..) {
            let key = info.key.encode();
            batch.put(Keyspace::Blocks, &key, bytes);
            batch.put(Keyspace::Garbage, &key, Vec::new());
            self.spilled.insert(info.key);
        }
        self.held_bytes = 0;
        self.stage_sequence(&mut batch);
        self.store.write(batch, Sync::No)
    }

    /// Adds everything to the last batch that makes `kept` the blocks of the catalog, and leaves out all others that were taken.
    pub(crate) fn stage(&mut self, kept: &[BlockInfo], batch: &mut Batch) -> Result<()> {
        if !self.spilled.is_empty() {
            self.store.flush_blocks()?;
        }
        let mut unwanted = self.spilled.clone();
        for info in kept {
            let key = info.key.encode();
            batch.put(Keyspace::Catalog, &key, info.to_catalog_entry());
            if unwanted.remove(&info.key) {
                batch.delete(Keyspace::Garbage, &key);
            }
        }
        let kept: HashSet<BlockKey> = kept.iter().map(|info| info.key).collect();
        for NewBlock { info, bytes } in self.held.drain(..).filter(|b| kept.contains(&b.info.key)) {
            batch.put(Keyspace::Blocks, &info.key.encode(), bytes);
        }
        for key in unwanted {
            batch.delete(Keyspace::Blocks, &key.encode());
            batch.delete(Keyspace::Garbage, &key.encode());
        }
        self.stage_sequence(batch);
        Ok(())
    }

    fn stage_sequence(&self, batch: &mut Batch) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        batch.put(Keyspace::Meta, SEQUENCE_KEY, sequence.to_le_bytes().to_vec());
    }
}

impl Drop for MergeOutput<'_> {
    fn drop(&mut self) {
        self.memory.set(0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::times::TimePageGroup;
    use crate::model::TimeRange;

    const DAY: i64 = 86_400_000;

    #[test]
    fn pages_of_finished_parts_count_until_the_merge_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path(), 8 << 20, 1).unwrap());
        let pages = TimePages::open(Arc::clone(&store), 1 << 20, &mut Vec::new()).unwrap();
        let (sequence, memory) = (AtomicU64::new(1), MergeMemory::default());
        let mut output = MergeOutput::new((&store, &pages), &sequence, &memory, 1 << 20);
        let mut batch = Batch::new();
        for day in 0..3 {
            let page_group =
                TimePageGroup { window: TimeRange::new(day * DAY, (day + 1) * DAY), of_unit: true };
            let times = pages.writer_of(page_group, &sequence).unwrap();
            output.report_memory(&times, 0);
            assert!(memory.current() as u64 >= 2 * output.page_bytes(), "of {day} days");
            let late = |i: i64| day * DAY + i * 10_000 + i * i % 97;
            times.place(page_group, &(0..8_000).map(late).collect::<Vec<_>>());
            output.finish_part(&times, &mut batch).unwrap();
            assert!(memory.current() as u64 >= 2 * output.page_bytes(), "of {day} days");
        }
        assert!(output.page_bytes() > 0);
        drop(output);
        assert_eq!(memory.current(), 0);
    }
}
