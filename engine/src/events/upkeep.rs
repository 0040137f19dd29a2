//! Maintenance of blocks after the seal: compaction, deletion of events, expiry, garbage
//! collection, verification.
//!
//! Every step is one atomic write to disk followed by one change of the view. A crash between the
//! two loses nothing: the next start reads the catalog from disk. Steps run one at a time.

use std::collections::BTreeSet;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::Events;
use super::block::{self, EventBlockInfo, EventBlockKey};
use super::compaction_group::{COMPACTION_MEMORY_FACTOR, StringBounds, select_group};
use super::keys::{CatalogEntry, EventDay};
use super::query::select;
use super::source::RowSet;
use crate::codec::integers::Effort;
use crate::error::{Error, Result};
use crate::limits;
use crate::model::{EventFilter, EventRows, Interval, TimestampMs, event_day};
use crate::reports::{CompactionReport, CompactionScope, DeleteReport, ExpireReport, VerifyReport};
use crate::storage::{Batch, RangeOf, Sync, keyspaces};

impl Events {
    /// Compacts up to `windows_max` groups of blocks and returns what was done. The report is empty
    /// if there is nothing to compact.
    pub(crate) fn compact_blocks(
        &self,
        scope: CompactionScope,
        windows_max: usize,
    ) -> Result<CompactionReport> {
        let mut report = CompactionReport::default();
        let (mut failed, mut failure) = (BTreeSet::new(), None);
        // One day at a time: scanning all blocks for each group would be quadratic in their number.
        for day in self.view.days_of_blocks() {
            while report.windows < windows_max as u64 {
                let Some(group) = self.next_group(day, scope, &failed) else { break };
                match self.compact_group(&group, &mut report) {
                    Ok(()) => {}
                    // These blocks stay as they are; others are still compacted.
                    Err(error @ Error::Encoder(_)) => {
                        failed.extend(group.iter().map(|info| info.key));
                        failure = failure.or(Some(error));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        failure.map_or(Ok(report), Err)
    }

    /// Returns the first group of blocks of a day that is worth compacting, without the blocks in
    /// `excluded`.
    fn next_group(
        &self,
        day: u32,
        scope: CompactionScope,
        excluded: &BTreeSet<EventBlockKey>,
    ) -> Option<Vec<Arc<EventBlockInfo>>> {
        let mut blocks = self.view.blocks_of(day);
        let irreducible = self.irreducible.read();
        blocks.retain(|info| {
            let left_out = irreducible.contains(&info.key) || excluded.contains(&info.key);
            !left_out && !self.is_quarantined(&info.key)
        });
        blocks.sort_unstable_by_key(|info| (info.first_time, info.key));
        // By a clock before 1970, no day is over.
        let is_window_over = event_day(self.now()).is_some_and(|today| day < today);
        let blocks_min = match scope {
            CompactionScope::All => 2,
            CompactionScope::Over if is_window_over => 2,
            CompactionScope::Over | CompactionScope::Grown => limits::EVENT_COMPACTION_BLOCKS_MIN,
        };
        select_group(&blocks, blocks_min, StringBounds::of(self.options.compaction_bytes))
    }

    fn compact_group(
        &self,
        group: &[Arc<EventBlockInfo>],
        report: &mut CompactionReport,
    ) -> Result<()> {
        let string_bytes: usize = group.iter().map(|info| info.string_bytes as usize).sum();
        self.rewriting(string_bytes, || self.compact_rows(group, report))
    }

    /// Runs `work`, which rewrites blocks with `string_bytes` bytes of strings, and accounts for
    /// its memory.
    fn rewriting<T>(&self, string_bytes: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.compaction_memory.set(string_bytes.saturating_mul(COMPACTION_MEMORY_FACTOR));
        let outcome = work();
        self.compaction_memory.set(0);
        outcome
    }

    fn compact_rows(
        &self,
        group: &[Arc<EventBlockInfo>],
        report: &mut CompactionReport,
    ) -> Result<()> {
        let mut rows: Vec<EventRows> = Vec::with_capacity(group.len());
        for info in group {
            let bytes = self.read_block(&info.key);
            let read = bytes.and_then(|bytes| Ok(block::read_checked(info, &bytes)?));
            match read {
                Ok(read) => rows.push(read),
                Err(Error::Corrupt(reason)) => {
                    // The other blocks stay as they are; the next pass compacts them without the
                    // corrupt one.
                    self.quarantine(&info.key, &reason);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        let mut batch = Batch::new();
        let staged = self.stage(&rows.iter().collect::<Vec<_>>(), Effort::Merge, &mut batch)?;
        let removed: Vec<EventBlockKey> = group.iter().map(|info| info.key).collect();
        if staged.infos.len() >= group.len() {
            // Rows with many tag keys. The result has as many blocks as before: it is not written,
            // and this group is not tried again.
            self.irreducible.write().extend(removed);
            return Ok(());
        }
        removed.iter().for_each(|key| retire(&mut batch, key));
        self.store.write(batch, Sync::Yes)?;
        report.windows += 1;
        report.blocks_read += group.len() as u64;
        report.bytes_read += group.iter().map(|info| u64::from(info.bytes)).sum::<u64>();
        report.blocks_written += staged.blocks();
        report.bytes_written += staged.bytes();
        self.view.replace(staged.infos, &removed);
        Ok(())
    }

    /// Deletes the matching events from all blocks, except events numbered after the call started.
    /// Each block that contains a match is rewritten without the matches, or dropped if nothing is
    /// left. Every block is one atomic step, so a deletion interrupted by a crash is completed by
    /// repeating it. `pause` is called after each block and may run other steps.
    pub(crate) fn delete_rows(
        &self,
        filter: &EventFilter,
        mut pause: impl FnMut(),
    ) -> Result<DeleteReport> {
        let mut report = DeleteReport::default();
        let end = self.next_number();
        let mut seen: BTreeSet<EventBlockKey> = BTreeSet::new();
        loop {
            // Repeats until every block was seen: during a pause a compaction may replace unseen
            // blocks by new ones.
            let mut blocks = self.view.blocks();
            blocks.retain(|info| seen.insert(info.key));
            if blocks.is_empty() {
                return Ok(report);
            }
            for info in blocks {
                let is_in_range =
                    info.first_time < filter.range.end.0 && info.last_time >= filter.range.start.0;
                match self.delete_rows_of(&info, filter, end) {
                    Ok(0) if is_in_range && self.is_quarantined(&info.key) => {
                        report.quarantined += 1;
                    }
                    Ok(0) => {}
                    Ok(events) => {
                        report.events += events;
                        report.blocks += 1;
                    }
                    // Queries no longer see a quarantined block, and expiry removes it with its
                    // day.
                    Err(Error::Corrupt(reason)) => {
                        self.quarantine(&info.key, &reason);
                        report.quarantined += 1;
                    }
                    Err(error) => return Err(error),
                }
                pause();
            }
        }
    }

    /// Deletes the matching events of one block whose numbers are below `end`. Returns how many.
    fn delete_rows_of(&self, info: &EventBlockInfo, filter: &EventFilter, end: u64) -> Result<u64> {
        // If the block has left the view, its rows are in another block.
        if self.is_quarantined(&info.key) || !self.view.has(&info.key) {
            return Ok(0);
        }
        let matching = select(&self.open_block(info)?, filter)?.clipped(info.rows);
        if matching == RowSet::none() {
            return Ok(0);
        }
        let gone = matching.to_bitmap(info.rows);
        self.rewriting(info.string_bytes as usize, || self.rewrite_without(info, gone, end))
    }

    /// Rewrites a block without those of the rows `gone` whose numbers are below `end`. Returns how
    /// many rows were deleted.
    fn rewrite_without(
        &self,
        info: &EventBlockInfo,
        mut gone: RoaringBitmap,
        end: u64,
    ) -> Result<u64> {
        let bytes = self.read_block(&info.key)?;
        let rows = block::read_checked(info, &bytes)?;
        for (row, id) in (0..info.rows).zip(rows.ids()) {
            if id.number() >= end {
                gone.remove(row);
            }
        }
        if gone.is_empty() {
            return Ok(0);
        }
        let kept = rows.retained(|row| u32::try_from(row).is_ok_and(|row| !gone.contains(row)));
        let mut batch = Batch::new();
        let staged = self.stage(&[&kept], Effort::Merge, &mut batch)?;
        retire(&mut batch, &info.key);
        self.store.write(batch, Sync::Yes)?;
        self.view.replace(staged.infos, &[info.key]);
        Ok(gone.len())
    }

    /// Removes the days that are older than the retention of events, as of `now`.
    pub(crate) fn expire_blocks(&self, now: TimestampMs) -> Result<ExpireReport> {
        let kept = i64::try_from(self.options.event_retention.as_millis()).unwrap_or(i64::MAX);
        let end_of = |day: u32| (i64::from(day) + 1).saturating_mul(Interval::DAY.ms());
        let oldest = now.0.saturating_sub(kept);
        let expired: Vec<_> =
            self.view.blocks().into_iter().filter(|info| end_of(info.key.day) <= oldest).collect();
        let bytes = expired.iter().map(|info| u64::from(info.bytes)).sum();
        if !expired.is_empty() {
            let keys: Vec<EventBlockKey> = expired.iter().map(|info| info.key).collect();
            let mut batch = Batch::new();
            keys.iter().for_each(|key| retire(&mut batch, key));
            self.store.write(batch, Sync::Yes)?;
            self.view.replace(Vec::new(), &keys);
        }
        Ok(ExpireReport { blocks: expired.len() as u64, bytes, ..ExpireReport::default() })
    }

    /// Deletes the bytes of retired blocks that no reader holds.
    pub(crate) fn collect_garbage(&self) -> Result<()> {
        self.delete_blocks(&self.view.unreachable())
    }

    /// Deletes the bytes of blocks and their garbage entries. Releases the disk space of days that
    /// have no blocks left, neither in the view nor held by a reader.
    pub(super) fn delete_blocks(&self, garbage: &[EventBlockKey]) -> Result<()> {
        if garbage.is_empty() {
            return Ok(());
        }
        self.store.flush_blocks()?;
        let mut batch = Batch::new();
        for key in garbage {
            batch.delete(keyspaces::EventBlocks, key);
            batch.delete(keyspaces::EventCatalog, &CatalogEntry::Garbage(*key));
            // Hardly ever: deleting what is not there would leave a tombstone for every block.
            if self.is_quarantined(key) {
                batch.delete(keyspaces::EventCatalog, &CatalogEntry::Quarantine(*key));
            }
        }
        self.store.write(batch, Sync::No)?;
        self.view.deleted(garbage);
        let gone: BTreeSet<EventBlockKey> = garbage.iter().copied().collect();
        self.quarantined.write().retain(|key| !gone.contains(key));
        self.irreducible.write().retain(|key| !gone.contains(key));
        let used = self.view.days();
        let days: BTreeSet<u32> = garbage.iter().map(|key| key.day).collect();
        let empty = days.difference(&used).copied();
        self.store.reclaim(&RangeOf::of_days(keyspaces::EventBlocks, empty, EventDay))
    }

    /// Reads and checks every block. Quarantines the corrupt ones.
    pub(crate) fn verify_blocks(&self, report: &mut VerifyReport) -> Result<()> {
        for info in self.view.blocks() {
            let checked = self.read_block(&info.key).and_then(|bytes| {
                report.bytes += bytes.len() as u64;
                Ok(block::read_checked(&info, &bytes)?)
            });
            report.blocks += 1;
            match checked {
                Ok(_rows) => {}
                Err(Error::Corrupt(reason)) => {
                    self.quarantine(&info.key, &reason);
                    report.damaged.push(format!("event block {:?}: {reason}", info.key));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Marks a block as garbage in the catalog; its bytes stay until no reader holds it.
fn retire(batch: &mut Batch, key: &EventBlockKey) {
    batch.delete(keyspaces::EventCatalog, &CatalogEntry::Block(*key));
    batch.put(keyspaces::EventCatalog, &CatalogEntry::Garbage(*key), ());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::verified::sabotage::{self, Sabotage};
    use crate::limits::{EVENT_BLOCK_TAG_KEYS_MAX, TAGS_MAX};
    use crate::model::{NameFilter, NewEvent, TimeRange, TimestampMs};
    use crate::options::{Maintenance, Options};
    use crate::storage::{Caching, Keyspace};
    use crate::{Clock, Engine, Write};

    #[test]
    fn blocks_left_empty_by_a_deletion_are_removed_however_many_days_they_span() {
        const DAYS: i64 = 40;
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(20_000 * Interval::DAY.ms()));
        let (maintenance, own) = (Maintenance::Manual, clock.clone());
        let options = Options { maintenance, clock: own, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let mut batch = engine.event_batch();
        for day in 0..DAYS {
            let time = TimestampMs(clock.now().0 - day * Interval::DAY.ms());
            let (name, tags) = (if day % 2 == 0 { "a" } else { "b" }, &[][..]);
            let new = NewEvent { name, time, user: None, value: None, tags, properties: None };
            batch.push(&new).unwrap();
        }
        engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
        engine.seal().unwrap();
        let events = &engine.inner().telemetry.events;
        let keys = || events.view.blocks().iter().map(|info| info.key).collect::<BTreeSet<_>>();
        let before = keys();
        assert_eq!(before.len() as i64, DAYS);
        let range = TimeRange::new(0, i64::MAX);
        let name = NameFilter::Exactly("a".into());
        let filter = EventFilter { range, name, user: None, tags: Vec::new() };
        assert_eq!(events.delete_rows(&filter, || ()).unwrap().blocks as i64, DAYS / 2);
        events.collect_garbage().unwrap();
        let kept = keys();
        assert_eq!(kept.len() as i64, DAYS / 2);
        for key in before {
            assert_eq!(events.read_block(&key).is_ok(), kept.contains(&key), "{key:?}");
        }
        assert!(engine.verify().unwrap().damaged.is_empty());
    }

    #[test]
    fn blocks_full_of_tag_keys_are_not_compacted_again_and_again() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(20_000 * Interval::DAY.ms()));
        let (maintenance, own) = (Maintenance::Manual, clock.clone());
        let options = Options { maintenance, clock: own, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let rows = 3 * EVENT_BLOCK_TAG_KEYS_MAX / TAGS_MAX;
        let mut batch = engine.event_batch();
        for row in 0..rows {
            let keys: Vec<String> = (0..TAGS_MAX).map(|tag| format!("k{row}.{tag:02}")).collect();
            let tags: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), "v")).collect();
            let time = TimestampMs(clock.now().0 + row as i64);
            let new = NewEvent {
                name: "a",
                time,
                user: None,
                value: None,
                tags: &tags,
                properties: None,
            };
            batch.push(&new).unwrap();
        }
        engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
        engine.seal().unwrap();
        assert_eq!(engine.stats().event_blocks, 3);
        let events = &engine.inner().telemetry.events;
        for info in events.view.blocks() {
            let bytes = events.read_block(&info.key).unwrap();
            let read = block::decode(&bytes).unwrap();
            assert_eq!((read.len(), read.tags(7).len()), (rows / 3, TAGS_MAX));
            let keys: BTreeSet<_> = (0..read.len()).flat_map(|row| read.tags(row)).collect();
            assert_eq!(keys.len(), EVENT_BLOCK_TAG_KEYS_MAX);
        }
        let report = events.compact_blocks(CompactionScope::All, usize::MAX).unwrap();
        assert_eq!((report.windows, engine.stats().event_blocks), (0, 3));
        assert!(engine.verify().unwrap().damaged.is_empty());
    }

    #[test]
    fn a_block_that_does_not_decode_to_its_rows_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(20_000 * Interval::DAY.ms()));
        let (maintenance, own) = (Maintenance::Manual, clock.clone());
        let options = Options { maintenance, clock: own, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let write = |names: &[&str]| {
            let mut batch = engine.event_batch();
            for name in names {
                let (time, tags) = (clock.now(), &[][..]);
                let new = NewEvent { name, time, user: None, value: None, tags, properties: None };
                batch.push(&new).unwrap();
            }
            engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
        };
        let events = &engine.inner().telemetry.events;
        let sizes = || (engine.stats().event_blocks, engine.stats().events_stored);
        write(&["a", "b"]);
        sabotage::set(Sabotage::All);
        assert!(matches!(engine.seal(), Err(Error::Encoder(_))));
        assert_eq!(sizes(), (0, 0));
        sabotage::set(Sabotage::Compressed);
        engine.seal().unwrap();
        assert_eq!(sizes(), (1, 2));
        write(&["a", "b", "c"]);
        engine.seal().unwrap();
        sabotage::set(Sabotage::All);
        let merged = events.compact_blocks(CompactionScope::All, usize::MAX);
        assert!(matches!(merged, Err(Error::Encoder(_))));
        let range = TimeRange::new(0, i64::MAX);
        let name = NameFilter::Exactly("a".into());
        let filter = EventFilter { range, name, user: None, tags: Vec::new() };
        assert!(matches!(events.delete_rows(&filter, || ()), Err(Error::Encoder(_))));
        assert_eq!(sizes(), (2, 5));
        sabotage::set(Sabotage::None);
        assert_eq!(
            events.compact_blocks(CompactionScope::All, usize::MAX).unwrap().blocks_written,
            1
        );
        assert_eq!(events.delete_rows(&filter, || ()).unwrap().events, 2);
        assert_eq!(sizes(), (1, 3));
        assert!(engine.verify().unwrap().damaged.is_empty());
    }

    #[test]
    fn a_deletion_deletes_every_event_once_whatever_is_compacted_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(20_000 * Interval::DAY.ms()));
        let (maintenance, own) = (Maintenance::Manual, clock.clone());
        let options = Options { maintenance, clock: own, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        for _ in 0..6 {
            let mut batch = engine.event_batch();
            for name in ["a", "b"] {
                let (time, tags) = (clock.now(), &[][..]);
                let new = NewEvent { name, time, user: None, value: None, tags, properties: None };
                batch.push(&new).unwrap();
            }
            engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
            engine.seal().unwrap();
        }
        let events = &engine.inner().telemetry.events;
        let range = TimeRange::new(0, i64::MAX);
        let name = NameFilter::Exactly("a".into());
        let filter = EventFilter { range, name, user: None, tags: Vec::new() };
        let merge = || assert!(events.compact_blocks(CompactionScope::All, usize::MAX).is_ok());
        let report = events.delete_rows(&filter, merge).unwrap();
        // One was deleted from its own block, the other five from the block that theirs were
        // compacted into.
        assert_eq!(report, DeleteReport { events: 6, blocks: 2, quarantined: 0 });
        assert_eq!(engine.stats().events_stored, 6);
        assert_eq!(events.delete_rows(&filter, || ()).unwrap(), DeleteReport::default());
    }

    #[test]
    fn a_deletion_spares_events_written_after_its_start_and_terminates() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let write = || {
            let mut batch = engine.event_batch();
            let (time, tags) = (TimestampMs(1), &[][..]);
            let new = NewEvent { name: "a", time, user: None, value: None, tags, properties: None };
            batch.push(&new).unwrap();
            engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
            engine.seal().unwrap();
        };
        (0..3).for_each(|_| write());
        let events = &engine.inner().telemetry.events;
        let range = TimeRange::new(0, i64::MAX);
        let filter = EventFilter { range, name: NameFilter::Any, user: None, tags: Vec::new() };
        let mut pauses = 0;
        let more = || {
            pauses += 1;
            if pauses <= 5 {
                write();
            }
        };
        let report = events.delete_rows(&filter, more).unwrap();
        assert_eq!(report, DeleteReport { events: 3, blocks: 3, quarantined: 0 });
        assert_eq!(engine.stats().events_stored, 5);
    }

    #[test]
    fn a_deletion_counts_the_corrupt_blocks_that_it_skips() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(20_000 * Interval::DAY.ms()));
        let (maintenance, own) = (Maintenance::Manual, clock.clone());
        let options = Options { maintenance, clock: own, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        for _ in 0..2 {
            let mut batch = engine.event_batch();
            for name in ["a", "b"] {
                let (time, tags) = (clock.now(), &[][..]);
                let new = NewEvent { name, time, user: None, value: None, tags, properties: None };
                batch.push(&new).unwrap();
            }
            engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
            engine.seal().unwrap();
        }
        let events = &engine.inner().telemetry.events;
        let corrupt = events.view.blocks()[0].key;
        let mut harm = Batch::new();
        harm.put(Keyspace::EventBlocks, &corrupt.encode(), vec![1]);
        events.store.write(harm, Sync::Yes).unwrap();
        let delete = |start, end| {
            let (range, name) = (TimeRange::new(start, end), NameFilter::Exactly("a".into()));
            events.delete_rows(&EventFilter { range, name, user: None, tags: vec![] }, || ())
        };
        let report = delete(0, i64::MAX).unwrap();
        assert_eq!(report, DeleteReport { events: 1, blocks: 1, quarantined: 1 });
        assert!(events.is_quarantined(&corrupt));
        // It is quarantined already, and still contains what should be deleted.
        let report = delete(0, i64::MAX).unwrap();
        assert_eq!(report, DeleteReport { quarantined: 1, ..DeleteReport::default() });
        assert_eq!(delete(0, 1).unwrap(), DeleteReport::default());
        // The entry in the quarantine is deleted with the block.
        events.expire_blocks(TimestampMs(i64::MAX)).unwrap();
        events.collect_garbage().unwrap();
        let (mut left, all) = (0, RangeOf::all(Keyspace::EventCatalog));
        events.store.read_skipping_damage(all, Caching::Bypass, |_, _| left += 1).unwrap();
        assert_eq!((left, events.sizes().quarantined), (0, 0));
    }

    #[test]
    fn skipped_event_numbers_are_not_assigned_and_impossible_ones_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        engine.skip_event_numbers(1_000);
        assert_eq!(engine.take_event_number(), 1_001);
        engine.skip_event_numbers(7);
        engine.skip_event_numbers(u64::MAX);
        assert_eq!(engine.take_event_number(), 1_002);
    }

    #[test]
    fn the_blocks_of_a_day_stay_while_a_reader_holds_one() {
        let dir = tempfile::tempdir().unwrap();
        let start = TimestampMs(20_000 * Interval::DAY.ms());
        let clock = Clock::manual(start);
        let (maintenance, own) = (Maintenance::Manual, clock.clone());
        let options = Options { maintenance, clock: own, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        for time in [0, 1_000] {
            let mut batch = engine.event_batch();
            let time = TimestampMs(start.0 + time);
            let (name, tags) = ("a", &[][..]);
            let new = NewEvent { name, time, user: None, value: None, tags, properties: None };
            batch.push(&new).unwrap();
            engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
            engine.seal().unwrap();
        }
        let events = &engine.inner().telemetry.events;
        let held = events.view.snapshot(TimeRange::new(start.0, start.0 + 1));
        let [block] = &held.blocks[..] else { panic!("{held:?}") };
        clock.set(TimestampMs(start.0 + 40 * Interval::DAY.ms()));
        assert_eq!(engine.expire().unwrap().blocks, 2);
        events.collect_garbage().unwrap();
        assert!(events.read_block(&block.key).is_ok());
        let key = block.key;
        drop(held);
        // What cannot be deleted now is deleted in the next pass.
        engine.inner().store.close();
        events.collect_garbage().unwrap_err();
        engine.inner().store.reopen().unwrap();
        assert!(events.read_block(&key).is_ok());
        events.collect_garbage().unwrap();
        assert!(events.read_block(&key).is_err());
    }
}
