//! The output of a compaction: the new blocks, held until its last batch replaces the source
//! blocks.
//!
//! ```text
//! in memory   one batch:  blocks, pages, catalog entries; replaced blocks to the garbage list
//! too large   batches:    blocks, listed as garbage; full pages       (any number of them)
//!             flush:      to tables
//!             one batch:  catalog entries, off the garbage list; the rest as above
//! ```
//!
//! A crash at any moment therefore leaves either the old or the new blocks in the catalog, and
//! nothing else that the next start would not delete. Spilled blocks are flushed to tables before
//! the catalog lists them: damage to the end of RocksDB's log loses whole batches, and a catalog
//! entry must not survive the batch that contains its block.

use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashSet;

use super::super::block::{BlockInfo, BlockKey};
use super::super::times::{TimePageWriter, TimePages};
use super::super::writer::NewBlock;
use crate::codec::integers::Effort;
use crate::error::Result;
use crate::memory::CompactionMemory;
use crate::storage::{Batch, Fact, Store, Sync, keyspaces};

/// Collects the blocks of a compaction, in memory and on disk.
#[derive(Debug)]
pub(crate) struct CompactionOutput<'m> {
    store: &'m Store,
    pages: &'m TimePages,
    sequence: &'m AtomicU64,
    memory: &'m CompactionMemory,
    /// The maximum bytes of finished blocks and pages held in memory.
    bytes_max: usize,
    held: Vec<NewBlock>,
    held_bytes: usize,
    /// Blocks on disk that the catalog does not list.
    spilled: HashSet<BlockKey>,
    page_bytes: u64,
    /// Bytes in memory of the finished parts: their last pages, which are in the last batch, and
    /// the state of their writers.
    finished_bytes: usize,
}

impl<'m> CompactionOutput<'m> {
    pub(crate) fn new(
        (store, pages): (&'m Store, &'m TimePages),
        sequence: &'m AtomicU64,
        memory: &'m CompactionMemory,
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

    /// Adds blocks that refer to pages of `times`, and spills everything to disk once it exceeds
    /// the limit. `working_bytes` is the memory used to produce the blocks.
    pub(crate) fn take(
        &mut self,
        blocks: Vec<NewBlock>,
        times: &TimePageWriter<'_>,
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

    /// Reports the memory used by the compaction. Bytes to be written count twice, because a batch
    /// copies them.
    pub(crate) fn report_memory(&self, times: &TimePageWriter<'_>, working_bytes: usize) {
        self.memory.set(self.bytes() + times.bytes() + working_bytes);
    }

    fn bytes(&self) -> usize {
        2 * self.held_bytes + self.finished_bytes
    }

    /// Stages the last time pages of a part of the compaction.
    pub(crate) fn finish_part(
        &mut self,
        times: &TimePageWriter<'_>,
        batch: &mut Batch,
    ) -> Result<()> {
        let bytes = self.pages.stage(times.pages(Effort::Merge)?, batch);
        self.page_bytes += bytes;
        self.finished_bytes += 2 * bytes as usize + times.bytes();
        self.memory.set(self.bytes());
        Ok(())
    }

    /// Returns the bytes of the time pages so far.
    pub(crate) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Returns the blocks on disk that the catalog does not list: garbage if the compaction fails.
    pub(crate) fn spilled(&self) -> Vec<BlockKey> {
        self.spilled.iter().copied().collect()
    }

    fn spill(&mut self, times: &TimePageWriter<'_>) -> Result<()> {
        let mut batch = Batch::new();
        self.page_bytes += self.pages.stage(times.closed_pages(Effort::Merge)?, &mut batch);
        for NewBlock { info, bytes } in self.held.drain(..) {
            batch.put(keyspaces::Blocks, &info.key, bytes);
            batch.put(keyspaces::Garbage, &info.key, ());
            self.spilled.insert(info.key);
        }
        self.held_bytes = 0;
        self.stage_sequence(&mut batch);
        self.store.write(batch, Sync::No)
    }

    /// Stages in the last batch everything that makes `kept` the blocks of the catalog, and drops
    /// the other blocks.
    pub(crate) fn stage(&mut self, kept: &[BlockInfo], batch: &mut Batch) -> Result<()> {
        if !self.spilled.is_empty() {
            self.store.flush_blocks()?;
        }
        let mut unwanted = self.spilled.clone();
        for info in kept {
            batch.put(keyspaces::Catalog, &info.key, *info);
            if unwanted.remove(&info.key) {
                batch.delete(keyspaces::Garbage, &info.key);
            }
        }
        let kept: HashSet<BlockKey> = kept.iter().map(|info| info.key).collect();
        for NewBlock { info, bytes } in self.held.drain(..).filter(|b| kept.contains(&b.info.key)) {
            batch.put(keyspaces::Blocks, &info.key, bytes);
        }
        for key in unwanted {
            batch.delete(keyspaces::Blocks, &key);
            batch.delete(keyspaces::Garbage, &key);
        }
        self.stage_sequence(batch);
        Ok(())
    }

    fn stage_sequence(&self, batch: &mut Batch) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        batch.put(keyspaces::Meta, &Fact::Sequence, sequence);
    }
}

impl Drop for CompactionOutput<'_> {
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
    fn pages_of_finished_parts_count_until_the_compaction_ends() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path(), 8 << 20, 1).unwrap());
        let pages = TimePages::open(Arc::clone(&store), 1 << 20, &mut Vec::new()).unwrap();
        let (sequence, memory) = (AtomicU64::new(1), CompactionMemory::default());
        let mut output = CompactionOutput::new((&store, &pages), &sequence, &memory, 1 << 20);
        let mut batch = Batch::new();
        for day in 0..3 {
            let page_group = TimePageGroup {
                window: TimeRange::new(day * DAY, (day + 1) * DAY),
                of_compacted_set: true,
            };
            let times = pages.writer_of(page_group, &sequence).unwrap();
            output.report_memory(&times, 0);
            assert!(memory.current() as u64 >= 2 * output.page_bytes(), "after {day} days");
            let late = |i: i64| day * DAY + i * 10_000 + i * i % 97;
            times.place(page_group, &(0..8_000).map(late).collect::<Vec<_>>());
            output.finish_part(&times, &mut batch).unwrap();
            assert!(memory.current() as u64 >= 2 * output.page_bytes(), "after {day} days");
        }
        assert!(output.page_bytes() > 0);
        drop(output);
        assert_eq!(memory.current(), 0);
    }
}
