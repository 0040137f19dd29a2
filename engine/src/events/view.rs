//! What readers see: the heads and the blocks, changed together.
//!
//! An event is in exactly one of the active head, the head being sealed, and the blocks, and moves
//! from one to the next under one lock. A reader takes a snapshot under that lock and then reads
//! without it. The info of a block is reference-counted: a block that was removed from the view can
//! be deleted once no reader holds its info.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::block::{EventBlockInfo, EventBlockKey};
use super::head::{Head, HeadRows};
use crate::model::{EventRows, TimeRange};

/// The heads and blocks of the engine.
#[derive(Debug, Default)]
pub(super) struct View {
    state: RwLock<ViewState>,
    /// Blocks removed from the view, whose bytes are not deleted yet.
    retired: Mutex<Vec<Arc<EventBlockInfo>>>,
}

#[derive(Debug, Default)]
struct ViewState {
    active: Head,
    sealing: Option<HeadRows>,
    blocks: BTreeMap<EventBlockKey, Arc<EventBlockInfo>>,
}

/// The heads and blocks that a query reads.
#[derive(Debug)]
pub(super) struct ViewSnapshot {
    pub(super) blocks: Vec<Arc<EventBlockInfo>>,
    pub(super) heads: Vec<HeadRows>,
}

/// Sizes and counters of the events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventSizes {
    pub(crate) written: u64,
    pub(crate) head_rows: u64,
    pub(crate) head_bytes: u64,
    pub(crate) stored_rows: u64,
    pub(crate) blocks: u64,
    pub(crate) block_bytes: u64,
    pub(crate) quarantined: u64,
    pub(crate) cache_bytes: u64,
}

impl View {
    pub(super) fn new(blocks: impl Iterator<Item = EventBlockInfo>) -> Self {
        let blocks = blocks.map(|info| (info.key, Arc::new(info))).collect();
        let state = ViewState { blocks, ..ViewState::default() };
        Self { state: RwLock::new(state), retired: Mutex::default() }
    }

    pub(super) fn add(&self, rows: EventRows) {
        self.state.write().active.add(rows);
    }

    /// Returns the rows and bytes of the active head.
    pub(super) fn active(&self) -> (u64, usize) {
        let state = self.state.read();
        (state.active.rows(), state.active.bytes())
    }

    /// Moves the active head aside to be sealed. If a head is already being sealed, returns that
    /// one and leaves the active head.
    pub(super) fn freeze(&self) -> HeadRows {
        let mut state = self.state.write();
        if let Some(sealing) = &state.sealing {
            return sealing.clone();
        }
        let frozen = std::mem::take(&mut state.active).snapshot();
        state.sealing = Some(frozen.clone());
        frozen
    }

    /// Replaces the head being sealed by its blocks.
    pub(super) fn sealed(&self, blocks: Vec<EventBlockInfo>) {
        let mut state = self.state.write();
        state.sealing = None;
        state.blocks.extend(blocks.into_iter().map(|info| (info.key, Arc::new(info))));
    }

    /// Replaces the `removed` blocks by the `added` ones.
    pub(super) fn replace(&self, added: Vec<EventBlockInfo>, removed: &[EventBlockKey]) {
        let mut state = self.state.write();
        let is_present = |key: &&EventBlockKey| state.blocks.contains_key(key);
        if let Some(absent) = removed.iter().find(|key| !is_present(key)) {
            panic!(
                "event block {absent:?} left the view during a step, but steps run one at a time"
            );
        }
        let gone = removed.iter().filter_map(|key| state.blocks.remove(key)).collect::<Vec<_>>();
        state.blocks.extend(added.into_iter().map(|info| (info.key, Arc::new(info))));
        self.retired.lock().extend(gone);
    }

    /// Returns the retired blocks that no reader holds. They stay listed until they are
    /// [`Self::deleted`].
    pub(super) fn unreachable(&self) -> Vec<EventBlockKey> {
        let retired = self.retired.lock();
        let free = retired.iter().filter(|info| Arc::strong_count(info) == 1);
        free.map(|info| info.key).collect()
    }

    /// Removes blocks from the list of retired ones, once deleted on disk.
    pub(super) fn deleted(&self, keys: &[EventBlockKey]) {
        let keys: BTreeSet<&EventBlockKey> = keys.iter().collect();
        self.retired.lock().retain(|info| !keys.contains(&info.key));
    }

    /// Returns the days that have blocks, in the view or held by readers.
    pub(super) fn days(&self) -> BTreeSet<u32> {
        // In this order: a block retired in between is counted twice, not missed.
        let mut days = self.days_of_blocks();
        days.extend(self.retired.lock().iter().map(|info| info.key.day));
        days
    }

    pub(super) fn blocks(&self) -> Vec<Arc<EventBlockInfo>> {
        self.state.read().blocks.values().map(Arc::clone).collect()
    }

    /// Returns the days of all blocks in the view.
    pub(super) fn days_of_blocks(&self) -> BTreeSet<u32> {
        self.state.read().blocks.keys().map(|key| key.day).collect()
    }

    /// Returns the blocks of one day.
    pub(super) fn blocks_of(&self, day: u32) -> Vec<Arc<EventBlockInfo>> {
        let key = |sequence| EventBlockKey { day, sequence };
        let state = self.state.read();
        state.blocks.range(key(0)..=key(u64::MAX)).map(|(_, info)| Arc::clone(info)).collect()
    }

    pub(super) fn has(&self, key: &EventBlockKey) -> bool {
        self.state.read().blocks.contains_key(key)
    }

    /// Returns the heads, and the blocks that overlap `range`.
    pub(super) fn snapshot(&self, range: TimeRange) -> ViewSnapshot {
        let state = self.state.read();
        let overlaps = |info: &&Arc<EventBlockInfo>| {
            info.first_time < range.end.0 && info.last_time >= range.start.0
        };
        ViewSnapshot {
            blocks: state.blocks.values().filter(overlaps).map(Arc::clone).collect(),
            heads: state.sealing.iter().cloned().chain([state.active.snapshot()]).collect(),
        }
    }

    pub(super) fn sizes(&self) -> EventSizes {
        let state = self.state.read();
        let sealing = state.sealing.iter().flat_map(HeadRows::pieces);
        let (rows, bytes) =
            sealing.fold((0, 0), |(rows, bytes), p| (rows + p.len() as u64, bytes + p.bytes()));
        EventSizes {
            head_rows: rows + state.active.rows(),
            head_bytes: (bytes + state.active.bytes()) as u64,
            stored_rows: state.blocks.values().map(|info| u64::from(info.rows)).sum(),
            blocks: state.blocks.len() as u64,
            block_bytes: state.blocks.values().map(|info| u64::from(info.bytes)).sum(),
            ..EventSizes::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "left the view during a step")]
    fn a_block_that_is_not_in_the_view_cannot_be_replaced() {
        let view = View::new(std::iter::empty());
        view.replace(Vec::new(), &[EventBlockKey { day: 1, sequence: 1 }]);
    }
}
