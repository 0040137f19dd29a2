//! The events' part of a seal: rows of a head, sorted and cut into blocks of one day each.

use std::sync::atomic::Ordering;

use hashbrown::HashSet;

use super::Events;
use super::block::{self, EventBlockInfo, EventBlockKey};
use super::head::HeadRows;
use super::keys;
use super::load::{NUMBER_KEY, SEQUENCE_KEY};
use crate::codec::integers::Effort;
use crate::error::{Error, Result};
use crate::limits::{EVENT_BLOCK_ROWS_MAX, EVENT_BLOCK_TAG_KEYS_MAX, EVENT_BLOCK_TEXT_BYTES_MAX};
use crate::model::{EventId, EventRows, Interval};
use crate::storage::{Batch, Keyspace};

/// Everything of events that the log holds up to a position and the disk does not.
#[derive(Debug)]
pub(crate) struct FrozenEvents {
    head: HeadRows,
    /// The number of the next event.
    number: u64,
}

/// Blocks that are about to be on disk.
#[derive(Debug, Default)]
pub(crate) struct StagedEvents {
    pub(super) infos: Vec<EventBlockInfo>,
}

impl FrozenEvents {
    /// How many events there are.
    pub(crate) fn rows(&self) -> u64 {
        self.head.pieces().map(|rows| rows.len() as u64).sum()
    }
}

impl StagedEvents {
    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> u64 {
        self.infos.len() as u64
    }

    /// Their bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.infos.iter().map(|info| u64::from(info.bytes)).sum()
    }
}

impl Events {
    /// Sets everything aside that was written before.
    pub(crate) fn freeze(&self) -> FrozenEvents {
        FrozenEvents { head: self.view.freeze(), number: self.numbers.load(Ordering::Relaxed) }
    }

    /// Adds what was set aside to a batch, as blocks.
    pub(crate) fn stage_seal(
        &self,
        frozen: &FrozenEvents,
        batch: &mut Batch,
    ) -> Result<StagedEvents> {
        let pieces: Vec<&EventRows> = frozen.head.pieces().collect();
        let staged = self.stage(&pieces, Effort::Seal, batch)?;
        batch.put(Keyspace::Meta, NUMBER_KEY, frozen.number.to_le_bytes().to_vec());
        Ok(staged)
    }

    /// Shows the blocks that are on disk by now in the place of the head they were.
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
            while let Some(first) = rest.first() {
                let (rows, later) = rest.split_at(block_rows(pieces, rest));
                rest = later;
                let places: Vec<(u32, u32)> = rows.iter().map(|row| row.place).collect();
                let bytes = block::encode(pieces, &places, effort)?;
                let key = EventBlockKey {
                    day: day_of(first.time),
                    sequence: self.sequence.fetch_add(1, Ordering::Relaxed),
                };
                let info = block::describe(key, &bytes)?;
                let entry = info.to_catalog_entry();
                if EventBlockInfo::from_catalog_entry(&key.encode(), &entry) != Ok(info) {
                    let reason = format!("the catalog entry of {key:?} does not read back");
                    return Err(Error::Encoder(reason));
                }
                batch.put(Keyspace::EventCatalog, &keys::block(&key), entry);
                batch.put(Keyspace::EventBlocks, &key.encode(), bytes);
                staged.infos.push(info);
            }
        }
        let sequence = self.sequence.load(Ordering::Relaxed);
        batch.put(Keyspace::Meta, SEQUENCE_KEY, sequence.to_le_bytes().to_vec());
        Ok(staged)
    }
}

/// A row by the order that blocks have.
struct Row {
    time: i64,
    id: EventId,
    /// Which piece, and where in it.
    place: (u32, u32),
}

/// How many of the first rows make a block: as many as it may hold, and no more than its texts may take and its tag keys may
/// be.
fn block_rows(pieces: &[&EventRows], rows: &[Row]) -> usize {
    let mut text_bytes = 0;
    let mut keys = TagKeys { pieces, seen: vec![Vec::new(); pieces.len()], keys: HashSet::new() };
    let fits = |row: &&Row| {
        let (piece, at) = row.place;
        let rows = pieces.get(piece as usize);
        text_bytes += rows.map_or(0, |rows| rows.text_bytes(at as usize));
        keys.add(row);
        text_bytes <= EVENT_BLOCK_TEXT_BYTES_MAX && keys.keys.len() <= EVENT_BLOCK_TAG_KEYS_MAX
    };
    rows.iter().take(EVENT_BLOCK_ROWS_MAX).take_while(fits).count().max(1)
}

/// The distinct tag keys of rows of several pieces.
struct TagKeys<'a> {
    pieces: &'a [&'a EventRows],
    /// Of each piece which of its texts were met as keys: most rows have those of the rows before.
    seen: Vec<Vec<bool>>,
    keys: HashSet<&'a str>,
}

impl TagKeys<'_> {
    fn add(&mut self, row: &Row) {
        let (piece, at) = row.place;
        let piece = piece as usize;
        let (Some(rows), Some(seen)) = (self.pieces.get(piece), self.seen.get_mut(piece)) else {
            return;
        };
        for (key, _) in rows.tags(at as usize) {
            let place = key.0 as usize;
            if seen.len() <= place {
                seen.resize(place + 1, false);
            }
            if let Some(seen) = seen.get_mut(place)
                && !std::mem::replace(seen, true)
            {
                self.keys.insert(rows.texts().text(*key));
            }
        }
    }
}

fn sorted(pieces: &[&EventRows]) -> Vec<Row> {
    let mut sorted = Vec::with_capacity(pieces.iter().map(|rows| rows.len()).sum());
    for (piece, rows) in (0..).zip(pieces) {
        let keys = rows.times().iter().zip(rows.ids());
        let rows = (0..).zip(keys).map(|(row, (time, id))| Row {
            time: *time,
            id: *id,
            place: (piece, row),
        });
        sorted.extend(rows);
    }
    // Events come nearly in order, which a stable sort makes use of.
    sorted.sort_by_key(|row| (row.time, row.id));
    sorted
}

/// Days since the epoch.
pub(super) fn day_of(time: i64) -> u32 {
    u32::try_from(time.div_euclid(Interval::DAY.ms())).unwrap_or_default()
}
