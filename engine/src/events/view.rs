//! What readers see: the heads and the blocks, changed together.
//!
//! An event is in exactly one of the active head, the head being sealed, and the blocks, and moves from one to the next under
//! one lock. A reader takes what it needs under that lock and then reads without it. What is known of a block is shared by
//! all who may read it, so a block that the view has let go is free once nobody else holds it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::block::{EventBlockInfo, EventBlockKey};
use super::head::{Head, HeadRows};
use crate::model::{EventRows, TimeRange};

/// The events, wherever they are.
#[derive(Debug, Default)]
pub(super) struct View {
    state: RwLock<State>,
    /// Blocks that the view has let go.
    retired: Mutex<Vec<Arc<EventBlockInfo>>>,
}

#[derive(Debug, Default)]
struct State {
    active: Head,
    sealing: Option<HeadRows>,
    blocks: BTreeMap<EventBlockKey, Arc<EventBlockInfo>>,
}

/// What one question needs.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) blocks: Vec<Arc<EventBlockInfo>>,
    pub(super) heads: Vec<HeadRows>,
}

/// How much there is.
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
        let state = State { blocks, ..State::default() };
        Self { state: RwLock::new(state), retired: Mutex::default() }
    }

    pub(super) fn add(&self, rows: EventRows) {
        self.state.write().active.add(rows);
    }

    /// Rows and bytes of the active head.
    pub(super) fn active(&self) -> (u64, usize) {
        let state = self.state.read();
        (state.active.rows(), state.active.bytes())
    }

    /// Moves the active head aside to be sealed; one that is already there stays and nothing moves.
    pub(super) fn freeze(&self) -> HeadRows {
        let mut state = self.state.write();
        if state.sealing.is_none() {
            let head = std::mem::take(&mut state.active);
            state.sealing = Some(head.snapshot());
        }
        state.sealing.clone().unwrap_or_default()
    }

    /// Puts blocks in the place of the head that was being sealed.
    pub(super) fn sealed(&self, blocks: Vec<EventBlockInfo>) {
        let mut state = self.state.write();
        state.sealing = None;
        state.blocks.extend(blocks.into_iter().map(|info| (info.key, Arc::new(info))));
    }

    /// Puts blocks in the place of others.
    pub(super) fn replace(&self, added: Vec<EventBlockInfo>, removed: &[EventBlockKey]) {
        let mut state = self.state.write();
        let gone = removed.iter().filter_map(|key| state.blocks.remove(key)).collect::<Vec<_>>();
        state.blocks.extend(added.into_iter().map(|info| (info.key, Arc::new(info))));
        self.retired.lock().extend(gone);
    }

    /// The blocks that no reader can come to any more, until they are [`Self::deleted`].
    pub(super) fn unreachable(&self) -> Vec<EventBlockKey> {
        let retired = self.retired.lock();
        let free = retired.iter().filter(|info| Arc::strong_count(info) == 1);
        free.map(|info| info.key).collect()
    }

    /// Forgets blocks that are deleted on disk.
    pub(super) fn deleted(&self, keys: &[EventBlockKey]) {
        let keys: BTreeSet<&EventBlockKey> = keys.iter().collect();
        self.retired.lock().retain(|info| !keys.contains(&info.key));
    }

    /// The days that have blocks, in the view or in the hands of readers.
    pub(super) fn days(&self) -> BTreeSet<u32> {
        // In this order: a block that is let go meanwhile is seen twice and not missed.
        let mut days = self.days_of_blocks();
        days.extend(self.retired.lock().iter().map(|info| info.key.day));
        days
    }

    pub(super) fn blocks(&self) -> Vec<Arc<EventBlockInfo>> {
        self.state.read().blocks.values().map(Arc::clone).collect()
    }

    /// The days of all blocks in the view.
    pub(super) fn days_of_blocks(&self) -> BTreeSet<u32> {
        self.state.read().blocks.keys().map(|key| key.day).collect()
    }

    /// The blocks of one day.
    pub(super) fn blocks_of(&self, day: u32) -> Vec<Arc<EventBlockInfo>> {
        let key = |sequence| EventBlockKey { day, sequence };
        let state = self.state.read();
        state.blocks.range(key(0)..=key(u64::MAX)).map(|(_, info)| Arc::clone(info)).collect()
    }

    pub(super) fn has(&self, key: &EventBlockKey) -> bool {
        self.state.read().blocks.contains_key(key)
    }

    /// What a question about `range` needs.
    pub(super) fn snapshot(&self, range: TimeRange) -> Snapshot {
        let state = self.state.read();
        let touches = |info: &&Arc<EventBlockInfo>| {
            info.first_time < range.end.0 && info.last_time >= range.start.0
        };
        Snapshot {
            blocks: state.blocks.values().filter(touches).map(Arc::clone).collect(),
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
