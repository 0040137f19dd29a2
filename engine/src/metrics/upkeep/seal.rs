//! The metrics' part of a seal: writes the head as blocks, together with registry rows and last
//! cumulative values.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::Metrics;
use super::super::block::{BlockKey, WriteOrder};
use super::super::cumulative::ChangedLastValues;
use super::super::head::Head;
use super::super::registry::{RegistryRows, Unsealed};
use super::super::staging::{StagedBlocks, retire};
use super::super::writer::BlockOrigin;
use super::seal_blocks::{SealedHead, seal_head};
use crate::codec::integers::Effort;
use crate::error::Result;
use crate::model::{Lsn, MetricId};
use crate::storage::Batch;

/// The frozen metric state of a seal: everything that the log contains up to a position and the
/// disk does not.
#[derive(Debug)]
pub(crate) struct FrozenMetrics {
    head: Option<Arc<Head>>,
    unsealed: Unsealed,
    last_values: ChangedLastValues,
    dropped: Vec<(MetricId, Vec<BlockKey>)>,
}

impl FrozenMetrics {
    /// Returns the number of points.
    pub(crate) fn points(&self) -> u64 {
        self.head.as_ref().map_or(0, |head| head.points())
    }
}

impl Metrics {
    /// Freezes everything written so far.
    pub(crate) fn freeze(&self) -> FrozenMetrics {
        FrozenMetrics {
            head: self.view.freeze(),
            unsealed: self.registry.take_unsealed(),
            last_values: self.last_values.lock().freeze(),
            dropped: std::mem::take(&mut self.dropped.lock()),
        }
    }

    /// Stages the frozen state in a batch, its points as blocks. `boundary` is its position in the
    /// log.
    pub(crate) fn stage_seal(
        &self,
        frozen: &FrozenMetrics,
        boundary: Lsn,
        batch: &mut Batch,
    ) -> Result<StagedBlocks> {
        let order = WriteOrder(boundary.0);
        let times = self.times.writer(&self.sequence);
        let opened = self.opened().newly_opened();
        let origin = |metric, kind| BlockOrigin {
            metric,
            kind,
            unit: None,
            order,
            effort: Effort::Seal,
            sequence: &self.sequence,
            times: &times,
            opened: Some(&opened),
        };
        // Recorded before the blocks are on disk: a day that is too late only keeps a series
        // longer.
        let seen = |last_times| self.registry.raise_last_days(last_times);
        let SealedHead { blocks, replaced } = match &frozen.head {
            Some(head) => seal_head(head, self.now(), origin, seen)?,
            None => SealedHead::default(),
        };
        self.registry.raise_last_days(frozen.last_values.times());
        // New series without points: their first points may still be in flight.
        self.registry.note_new_series(&frozen.unsealed.series, self.now());
        let (pages, time_pages) = times.pages_and_decoded(
            &opened.time_pages(),
            self.times.seal_bytes_max(),
            Effort::Seal,
        )?;
        self.times.stage(pages, batch);
        let mut rows = RegistryRows(batch);
        let registry = rows.define(&self.registry, &frozen.unsealed)?;
        for (metric, head) in frozen.head.iter().flat_map(|head| head.metrics()) {
            let replaced_points = replaced.get(&metric).copied().unwrap_or(0);
            rows.stats(metric, self.view.stats_after(metric, head.stats.without(replaced_points)));
        }
        frozen.last_values.stage(batch)?;
        for (metric, blocks) in &frozen.dropped {
            RegistryRows(batch).drop_metric(*metric);
            blocks.iter().for_each(|key| retire(batch, key));
        }
        Ok(StagedBlocks { registry, replaced, opened, time_pages, ..self.stage(blocks, batch) })
    }

    /// Replaces the frozen head by the blocks that are on disk now. Infallible: after an error the
    /// head would be sealed again and its points stored twice.
    pub(crate) fn sealed(&self, frozen: &FrozenMetrics, staged: StagedBlocks) {
        staged.registry.written(&self.registry);
        // Before anybody reads them.
        self.times.keep_new(staged.time_pages);
        self.opened().keep_new(staged.opened);
        self.view.confirm_drops(&frozen.dropped.iter().map(|(metric, _)| *metric).collect());
        self.discard(self.view.sealed(&staged.infos, &staged.replaced));
        self.counters.seals.fetch_add(1, Ordering::Relaxed);
    }
}
