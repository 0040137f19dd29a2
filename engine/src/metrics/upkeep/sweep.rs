//! Deleting the pages of times that no block refers to any more.
//!
//! The pages of a page group are looked through when they have become twice what its blocks needed when that was last known: so the
//! cost is that of writing them, nearly, and what is unused is as much as what is used at most. See [`crate::metrics::times`].

use hashbrown::HashMap;

use super::super::Metrics;
use super::super::block::{BlockInfo, Tier, shared_times};
use super::super::times::{Sweep, TimePageGroup};
use crate::error::{Error, Result};
use crate::model::MetricId;
use crate::reports::Pace;
use crate::storage::{Batch, Sync};

/// Blocks that are asked in one piece of a sweep, nearly: those of a metric are not parted.
const BLOCKS_PER_PIECE: usize = 256;

/// How far a piece of a sweep came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// There are more blocks to ask.
    More,
    /// Readers hold blocks that were not asked.
    Waits,
    /// It is over.
    Done,
}

impl Metrics {
    /// Looks for pages of times that no block refers to, and deletes them.
    pub(super) fn sweep_times(&self, pace: Pace) -> Result<()> {
        loop {
            let mut under_way = self.times.sweep();
            let Some(sweep) = under_way.as_mut() else {
                drop(under_way);
                if !self
                    .times
                    .begin_sweep(|| self.shelf_bytes(), |page_group| self.metrics_of(page_group))
                {
                    return Ok(());
                }
                continue;
            };
            match self.sweep_piece(sweep) {
                Ok(Outcome::More) if pace == Pace::Whole => {}
                Ok(Outcome::More | Outcome::Waits) => return Ok(()),
                Ok(Outcome::Done) => {
                    *under_way = None;
                    if pace == Pace::Piece {
                        return Ok(());
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "unused time pages stay: the sweep failed");
                    // Whatever the error: the same block may fail for good, and other page groups wait.
                    self.times.give_up_sweep(sweep.page_group);
                    *under_way = None;
                    if !matches!(error, Error::Corrupt(_)) {
                        return Err(error);
                    }
                }
            }
        }
    }

    fn sweep_piece(&self, sweep: &mut Sweep) -> Result<Outcome> {
        let catalog = self.view.catalog();
        let mut asked = 0;
        while asked < BLOCKS_PER_PIECE
            && let Some(metric) = sweep.unasked.last().copied()
        {
            let page_group = sweep.page_group;
            for info in catalog.metric(metric).iter().filter(|b| refers_to(b, page_group)) {
                let places = shared_times(info.key, &self.read_block(&info.key)?)?;
                places.into_iter().for_each(|place| sweep.mark(place));
                asked += 1;
            }
            sweep.unasked.pop();
        }
        if !sweep.unasked.is_empty() {
            return Ok(Outcome::More);
        }
        drop(catalog);
        let readers = *sweep.readers.get_or_insert_with(|| self.view.readers());
        if !self.view.are_gone(readers) {
            return Ok(Outcome::Waits);
        }
        let mut batch = Batch::new();
        let swept = self.times.stage_unused(sweep, &mut batch)?;
        if swept.has_unused() {
            // What no longer refers to them must not be lost with the end of a log.
            self.store.flush_blocks()?;
            self.store.write(batch, Sync::No)?;
        }
        self.times.swept(swept);
        Ok(Outcome::Done)
    }

    /// The bytes of the blocks of points, by page group.
    fn shelf_bytes(&self) -> HashMap<TimePageGroup, u64> {
        self.view.catalog().page_groups().collect()
    }

    /// The metrics that have blocks of points of a page group.
    fn metrics_of(&self, page_group: TimePageGroup) -> Vec<MetricId> {
        let catalog = self.view.catalog();
        let metrics =
            catalog.metrics().filter(|(_, blocks)| blocks.iter().any(|b| refers_to(b, page_group)));
        metrics.map(|(metric, _)| metric).collect()
    }
}

fn refers_to(block: &BlockInfo, page_group: TimePageGroup) -> bool {
    block.key.tier == Tier::Raw && block.page_group() == page_group
}
