//! The event part of a seal: sorts the rows of a head and splits them into blocks of one UTC day
//! each.

use std::sync::atomic::Ordering;

use hashbrown::HashSet;

use super::Events;
use super::block::{self, EventBlockInfo, EventBlockKey};
use super::head::HeadRows;
use super::keys::CatalogEntry;
use crate::codec::integers::Effort;
use crate::error::{Error, Result};
use crate::limits::{EVENT_BLOCK_ROWS_MAX, EVENT_BLOCK_STRING_BYTES_MAX, EVENT_BLOCK_TAG_KEYS_MAX};
use crate::model::{EventId, EventRows, TimestampMs, event_day};
use crate::storage::{Batch, Fact, keyspaces};

/// The events that the log contains up to a position and that are not in blocks yet.
#[derive(Debug)]
pub(crate) struct FrozenEvents {
    head: HeadRows,
    /// The number of the next event.
    number: u64,
}

/// Blocks that are part of a batch not yet written.
#[derive(Debug, Default)]
pub(crate) struct StagedEvents {
    pub(super) infos: Vec<EventBlockInfo>,
}

impl FrozenEvents {
    /// Returns the number of events.
    pub(crate) fn rows(&self) -> u64 {
        self.head.pieces().map(|rows| rows.len() as u64).sum()
    }
}

impl StagedEvents {
    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> u64 {
        self.infos.len() as u64
    }

    /// Returns the bytes of all blocks.
    pub(crate) fn bytes(&self) -> u64 {
        self.infos.iter().map(|info| u64::from(info.bytes)).sum()
    }
}

impl Events {
    /// Freezes the active head, so that it can be sealed.
    pub(crate) fn freeze(&self) -> FrozenEvents {
        FrozenEvents { head: self.view.freeze(), number: self.numbers.load(Ordering::Relaxed) }
    }

    /// Adds the frozen events to a batch, as blocks.
    pub(crate) fn stage_seal(
        &self,
        frozen: &FrozenEvents,
        batch: &mut Batch,
    ) -> Result<StagedEvents> {
        let pieces: Vec<&EventRows> = frozen.head.pieces().collect();
        let staged = self.stage(&pieces, Effort::Seal, batch)?;
        batch.put(keyspaces::Meta, &Fact::EventNumber, frozen.number);
        Ok(staged)
    }

    /// Replaces the sealed head by its blocks, which are on disk now.
    pub(crate) fn sealed(&self, staged: StagedEvents) {
        self.view.sealed(staged.infos);
    }

    /// Adds all rows to a batch, as blocks.
    pub(super) fn stage(
        &self,
        pieces: &[&EventRows],
        effort: Effort,
        batch: &mut Batch,
    ) -> Result<StagedEvents> {
        let mut staged = StagedEvents::default();
        let sorted = sorted(pieces);
        for day in sorted.chunk_by(|a, b| day_of(a.time) == day_of(b.time)) {
            let mut rest = day;
            // Blocks of similar size: a small last one would soon be compacted, with others.
            let rows_max = day.len().div_ceil(day.len().div_ceil(EVENT_BLOCK_ROWS_MAX));
            while let Some(first) = rest.first() {
                let (rows, later) = rest.split_at(block_rows(pieces, rest, rows_max));
                rest = later;
                let origins: Vec<(u32, u32)> = rows.iter().map(|row| row.origin).collect();
                let bytes = block::encode(pieces, &origins, effort)?;
                let key = EventBlockKey {
                    day: day_of(first.time),
                    sequence: self.sequence.fetch_add(1, Ordering::Relaxed),
                };
                let info = block::describe(key, &bytes)?;
                let entry = info.to_catalog_entry();
                if EventBlockInfo::from_catalog_entry(&key.encode(), &entry) != Ok(info) {
                    let reason = format!(
                        "the catalog entry of event block {key:?} does not decode to its original"
                    );
                    return Err(Error::Encoder(reason));
                }
                batch.put(keyspaces::EventCatalog, &CatalogEntry::Block(key), info);
                batch.put(keyspaces::EventBlocks, &key, bytes);
                staged.infos.push(info);
            }
        }
        let sequence = self.sequence.load(Ordering::Relaxed);
        batch.put(keyspaces::Meta, &Fact::EventSequence, sequence);
        Ok(staged)
    }
}

/// A row with its sort key.
struct SortedRow {
    time: i64,
    id: EventId,
    /// Index of the piece, and of the row in it.
    origin: (u32, u32),
}

/// Returns how many of the first rows go into one block, at least one: at most `rows_max`, and as
/// many as the limits on string bytes and tag keys allow.
fn block_rows(pieces: &[&EventRows], rows: &[SortedRow], rows_max: usize) -> usize {
    let mut string_bytes = 0;
    let mut keys = TagKeys { pieces, seen: vec![Vec::new(); pieces.len()], keys: HashSet::new() };
    let fits = |row: &&SortedRow| {
        let (piece, at) = row.origin;
        string_bytes += pieces[piece as usize].string_bytes(at as usize);
        keys.add(row);
        string_bytes <= EVENT_BLOCK_STRING_BYTES_MAX && keys.keys.len() <= EVENT_BLOCK_TAG_KEYS_MAX
    };
    rows.iter().take(rows_max).take_while(fits).count().max(1)
}

/// The distinct tag keys of rows from several pieces.
struct TagKeys<'a> {
    pieces: &'a [&'a EventRows],
    /// For each piece, which of its strings were already counted as a key: most rows repeat the
    /// keys of the rows before.
    seen: Vec<Vec<bool>>,
    keys: HashSet<&'a str>,
}

impl TagKeys<'_> {
    fn add(&mut self, row: &SortedRow) {
        let (piece, at) = row.origin;
        let (rows, seen) = (self.pieces[piece as usize], &mut self.seen[piece as usize]);
        for (key, _) in rows.tags(at as usize) {
            let string = key.0 as usize;
            if seen.len() <= string {
                seen.resize(string + 1, false);
            }
            if !std::mem::replace(&mut seen[string], true) {
                self.keys.insert(rows.texts().text(*key));
            }
        }
    }
}

/// Returns the rows of all pieces sorted by time, then id.
fn sorted(pieces: &[&EventRows]) -> Vec<SortedRow> {
    let mut sorted = Vec::with_capacity(pieces.iter().map(|rows| rows.len()).sum());
    for (piece, rows) in (0..).zip(pieces) {
        let keys = rows.times().iter().zip(rows.ids());
        let rows = (0..).zip(keys).map(|(row, (time, id))| SortedRow {
            time: *time,
            id: *id,
            origin: (piece, row),
        });
        sorted.extend(rows);
    }
    // Events arrive nearly in order, which makes a stable sort fast.
    sorted.sort_by_key(|row| (row.time, row.id));
    sorted
}

/// Returns the day of an event.
fn day_of(time: i64) -> u32 {
    event_day(TimestampMs(time)).unwrap_or_else(|| {
        panic!(
            "an event at {time} ms has no day: batches, the log and blocks refuse such times when \
             events are pushed and decoded"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NewEvent;
    use crate::options::{Maintenance, Options};
    use crate::{Clock, Engine, Write};

    #[test]
    fn a_seal_divides_its_rows_evenly_and_leaves_nothing_to_compact() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(20_000 * 86_400_000));
        let (maintenance, own) = (Maintenance::Manual, clock.clone());
        let options = Options { maintenance, clock: own, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let mut batch = engine.event_batch();
        for row in 0..=2 * EVENT_BLOCK_ROWS_MAX {
            let (time, tags) = (TimestampMs(clock.now().0 + row as i64), &[][..]);
            let new = NewEvent { name: "a", time, user: None, value: None, tags, properties: None };
            batch.push(&new).unwrap();
        }
        engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
        engine.seal().unwrap();
        let rows = || {
            let infos = engine.inner().telemetry.events.view.blocks();
            infos.iter().map(|info| info.rows as usize).collect::<Vec<_>>()
        };
        let third = (2 * EVENT_BLOCK_ROWS_MAX).div_ceil(3);
        assert_eq!(rows(), [third, third, 2 * EVENT_BLOCK_ROWS_MAX + 1 - 2 * third]);
        engine.merge().unwrap();
        assert_eq!(rows().len(), 3);
    }
}
