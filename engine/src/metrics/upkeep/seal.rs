//! The metrics' part of a seal: the head becomes blocks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::Metrics;
use super::super::block::{BlockKey, WriteOrder};
use super::super::head::Head;
use super::super::readings::ChangedBaselines;
use super::super::registry::{RegistryRows, Unsealed};
use super::super::staging::{StagedBlocks, retire};
use super::super::writer::BlockOrigin;
use super::seal_blocks::{Sealed, seal_head};
use crate::codec::integers::Effort;
use crate::error::Result;
use crate::model::{Lsn, MetricId};
use crate::storage::Batch;

/// What the metrics of a seal are: everything that the log holds up to a position and the disk does not.
#[derive(Debug)]
pub(crate) struct FrozenMetrics {
    head: Option<Arc<Head>>,
    news: Unsealed,
    baselines: ChangedBaselines,
    dropped: Vec<(MetricId, Vec<BlockKey>)>,
}

impl FrozenMetrics {
    /// How many points there are.
    pub(crate) fn points(&self) -> u64 {
        self.head.as_ref().map_or(0, |head| head.points())
    }
}

impl Metrics {
    /// Sets everything aside that was written before.
    pub(crate) fn freeze(&self) -> FrozenMetrics {
        FrozenMetrics {
            head: self.view.freeze(),
            news: self.registry.take_unsealed(),
            baselines: self.baselines.lock().freeze(),
            dropped: std::mem::take(&mut self.dropped.lock()),
        }
    }

    /// Adds what was set aside to a batch, as blocks.
    pub(crate) fn stage_seal(
        &self,
        frozen: &FrozenMetrics,
        boundary: Lsn,
        batch: &mut Batch,
    ) -> Result<StagedBlocks> {
        let order = WriteOrder(boundary.0);
        let times = self.times.writer(&self.sequence);
        let origin = |metric, kind| BlockOrigin {
            metric,
            kind,
            unit: None,
            order,
            effort: Effort::Seal,
            sequence: &self.sequence,
            times: &times,
        };
        // Noted before they are on disk: too late a day only keeps a series longer.
        let seen = |series, time| self.registry.raise_last_day(series, time);
        let Sealed { blocks, replaced } = match &frozen.head {
            Some(head) => seal_head(head, self.now(), origin, seen)?,
            None => Sealed::default(),
        };
        frozen.baselines.times().for_each(|(series, time)| seen(series, time));
        // New series without points: their first ones may be on their way.
        self.registry.note_new_series(&frozen.news.series, self.now());
        self.times.stage(times.pages(Effort::Seal)?, batch);
        let mut rows = RegistryRows(batch);
        let registry = rows.define(&self.registry, &frozen.news)?;
        for (metric, head) in frozen.head.iter().flat_map(|head| head.metrics()) {
            let gone = replaced.get(&metric).copied().unwrap_or(0);
            rows.stats(metric, self.view.stats_after(metric, head.stats.without(gone)));
        }
        frozen.baselines.stage(batch)?;
        for (metric, blocks) in &frozen.dropped {
            RegistryRows(batch).drop_metric(*metric);
            blocks.iter().for_each(|key| retire(batch, key));
        }
        Ok(StagedBlocks { registry, replaced, ..self.stage(blocks, batch) })
    }

    /// Shows the blocks that are on disk by now in the place of the head they were. Cannot fail: the head would be sealed again, and
    /// its points stored twice.
    pub(crate) fn sealed(&self, frozen: &FrozenMetrics, staged: StagedBlocks) {
        staged.registry.written(&self.registry);
        self.view.drops_written(&frozen.dropped.iter().map(|(metric, _)| *metric).collect());
        self.discard(self.view.sealed(&staged.infos, &staged.replaced));
        self.counters.seals.fetch_add(1, Ordering::Relaxed);
    }
}
