//! Sweep of time pages: deletes the pages that no block refers to any more.
//!
//! A page group is swept when its pages have grown to twice the bytes that its blocks needed at the
//! last sweep. The cost of sweeping is therefore proportional to that of writing the pages, and
//! unused pages take at most as much space as used ones. See [`crate::metrics::times`].

use hashbrown::HashMap;

use super::super::Metrics;
use super::super::block::{BlockInfo, Tier, time_page_refs};
use super::super::times::{Sweep, TimePageGroup};
use crate::error::{Error, Result};
use crate::model::MetricId;
use crate::reports::Pace;
use crate::storage::{Batch, Sync};

/// Approximate number of blocks read in one step of a sweep; the blocks of a metric are not split.
const BLOCKS_PER_STEP: usize = 256;

/// The outcome of one step of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepOutcome {
    /// More blocks have to be read.
    More,
    /// Readers still hold blocks that have not been read.
    Waits,
    /// The sweep is complete.
    Done,
}

impl Metrics {
    /// Sweeps the page groups that are due, one step or all of it depending on `pace`.
    pub(super) fn sweep_times(&self, pace: Pace) -> Result<()> {
        loop {
            let mut current = self.times.sweep();
            let Some(sweep) = current.as_mut() else {
                drop(current);
                if !self.times.begin_sweep(
                    || self.page_group_bytes(),
                    |page_group| self.metrics_of(page_group),
                ) {
                    return Ok(());
                }
                continue;
            };
            match self.sweep_step(sweep) {
                Ok(StepOutcome::More) if pace == Pace::Whole => {}
                Ok(StepOutcome::More | StepOutcome::Waits) => return Ok(()),
                Ok(StepOutcome::Done) => {
                    *current = None;
                    if pace == Pace::Piece {
                        return Ok(());
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "the sweep of unused time pages failed; they are kept");
                    // Regardless of the error: the same block may fail permanently, and other page
                    // groups must not be blocked by it.
                    self.times.postpone_sweep(sweep.page_group);
                    *current = None;
                    if !matches!(error, Error::Corrupt(_)) {
                        return Err(error);
                    }
                }
            }
        }
    }

    fn sweep_step(&self, sweep: &mut Sweep) -> Result<StepOutcome> {
        let catalog = self.view.catalog();
        let mut blocks_read = 0;
        while blocks_read < BLOCKS_PER_STEP
            && let Some(metric) = sweep.unmarked_metrics.last().copied()
        {
            let page_group = sweep.page_group;
            for info in catalog.metric(metric).iter().filter(|b| refers_to(b, page_group)) {
                let used = time_page_refs(info.key, &self.read_block(&info.key)?)?;
                used.into_iter().for_each(|place| sweep.mark(place));
                blocks_read += 1;
            }
            sweep.unmarked_metrics.pop();
        }
        if !sweep.unmarked_metrics.is_empty() {
            return Ok(StepOutcome::More);
        }
        drop(catalog);
        let readers = *sweep.readers.get_or_insert_with(|| self.view.readers());
        if !self.view.have_ended(readers) {
            return Ok(StepOutcome::Waits);
        }
        let mut batch = Batch::new();
        let swept = self.times.stage_unused(sweep, &mut batch)?;
        if swept.has_unused() {
            // The removal of the blocks that referred to these pages must be durable before the
            // pages are deleted.
            self.store.flush_blocks()?;
            self.store.write(batch, Sync::No)?;
        }
        self.times.swept(swept);
        Ok(StepOutcome::Done)
    }

    /// Returns the bytes of the point blocks of each page group.
    fn page_group_bytes(&self) -> HashMap<TimePageGroup, u64> {
        self.view.catalog().page_groups().collect()
    }

    /// Returns the metrics that have point blocks in a page group.
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
