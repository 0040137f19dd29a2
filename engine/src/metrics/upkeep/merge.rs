//! Merging: the blocks of a window that is over become one unit with rollups, first of two hours, then of a day.

use std::sync::atomic::Ordering;

use hashbrown::HashSet;

use super::super::Metrics;
use super::super::block::{BlockInfo, BlockKey, Tier, UnitId, WriteOrder};
use super::super::catalog::Cluster;
use super::super::consolidate::{Loaded, consolidate};
use super::super::seal::is_over;
use super::super::writer::BlockOrigin;
use super::seal::retire;
use crate::codec::integers::Effort;
use crate::error::{Error, Result};
use crate::maintenance::{Eagerness, MergeReport};
use crate::model::{Interval, MetricId, MetricType, TimeRange, TimestampMs};
use crate::storage::{Batch, Sync};

/// A day with more rows than this stays in windows of two hours: it is large enough as it is.
const DAY_ROWS_MAX: u64 = 1 << 28;

/// Blocks that are to become one unit.
#[derive(Debug)]
struct Job {
    metric: MetricId,
    kind: MetricType,
    window: TimeRange,
    clusters: Vec<Cluster>,
}

impl Job {
    fn blocks(&self) -> impl Iterator<Item = &BlockInfo> {
        self.clusters.iter().flat_map(Cluster::blocks)
    }
}

impl Metrics {
    /// Merges up to `windows_max` windows. Answers what was done; nothing when nothing is to do.
    pub(crate) fn merge_windows(
        &self,
        eagerness: Eagerness,
        windows_max: usize,
    ) -> Result<MergeReport> {
        let mut report = MergeReport::default();
        for job in self.merge_jobs(eagerness, windows_max) {
            self.merge_one(&job, &mut report)?;
        }
        Ok(report)
    }

    fn merge_jobs(&self, eagerness: Eagerness, windows_max: usize) -> Vec<Job> {
        let now = self.now();
        let catalog = self.view.catalog();
        let all_time = TimeRange::new(i64::MIN, i64::MAX);
        let mut jobs = Vec::new();
        for (metric, blocks) in catalog.metrics() {
            let mut clusters = blocks.clusters(all_time);
            clusters.retain(|c| !c.blocks().any(|b| self.is_quarantined(&b.key)));
            let day_of = |c: &Cluster| c.window.start.floor_to(Interval::DAY);
            while !clusters.is_empty() && jobs.len() < windows_max {
                let Some(day) = clusters.first().map(day_of) else { break };
                let later =
                    clusters.iter().position(|c| day_of(c) != day).unwrap_or(clusters.len());
                let rest = clusters.split_off(later);
                let of_day = std::mem::replace(&mut clusters, rest);
                jobs.extend(jobs_of_day(metric, day, of_day, now, eagerness));
            }
        }
        jobs.truncate(windows_max);
        jobs
    }

    fn merge_one(&self, job: &Job, report: &mut MergeReport) -> Result<()> {
        let mut loaded: Vec<Loaded<'_>> = Vec::new();
        for info in job.blocks() {
            match self.checked(info) {
                Ok(bytes) => loaded.push((*info, bytes)),
                Err(Error::Corrupt(reason)) => {
                    // The window stays as it is; without the damaged block it is merged no more.
                    self.quarantine(&info.key, &reason);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        let origin = BlockOrigin {
            metric: job.metric,
            kind: job.kind,
            unit: Some(UnitId(self.next_sequence().max(1))),
            order: job.blocks().map(|b| b.order).max().unwrap_or(WriteOrder(0)),
            effort: Effort::Merge,
            sequence: &self.sequence,
        };
        let name = self.registry.name_of(job.metric);
        let retention = self.options().retention.of(name.as_ref().map_or("", |n| n.as_str()));
        let age = self.now().0.saturating_sub(job.window.end.0);
        let wanted: Vec<Tier> = Tier::ALL
            .into_iter()
            .filter(|t| super::expire::kept_ms(&retention, *t) > age)
            .collect();
        let blocks = consolidate(&job.clusters, &loaded, job.window, &wanted, origin)?;
        let removed: HashSet<BlockKey> = loaded.iter().map(|(info, _)| info.key).collect();
        report.windows += 1;
        report.blocks_read += loaded.len() as u64;
        report.bytes_read += loaded.iter().map(|(info, _)| u64::from(info.bytes)).sum::<u64>();
        drop(loaded);
        let mut batch = Batch::new();
        let staged = self.stage(blocks, &mut batch);
        removed.iter().for_each(|key| retire(&mut batch, key));
        self.store.write(batch, Sync::Yes)?;
        report.blocks_written += staged.blocks();
        report.bytes_written += staged.bytes();
        if !self.view.replace(&staged.infos, &removed) {
            // The metric was dropped meanwhile: its new blocks go as well.
            self.remove(&staged.infos.iter().map(|info| info.key).collect::<Vec<_>>())?;
        }
        self.counters.merges.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn checked(&self, info: &BlockInfo) -> Result<crate::storage::Pinned<'_>> {
        let bytes = self.read_block(&info.key)?;
        super::super::block::check(info, &bytes)?;
        Ok(bytes)
    }
}

/// What is to merge of one day of one metric.
fn jobs_of_day(
    metric: MetricId,
    day: TimestampMs,
    clusters: Vec<Cluster>,
    now: TimestampMs,
    eagerness: Eagerness,
) -> Vec<Job> {
    let window = TimeRange { start: day, end: TimestampMs(day.0 + Interval::DAY.ms()) };
    let Some(kind) = clusters.iter().flat_map(Cluster::blocks).map(|b| b.kind).next() else {
        return Vec::new();
    };
    let rows: u64 = clusters.iter().flat_map(Cluster::blocks).map(|b| u64::from(b.rows)).sum();
    if is_over(window.end, now) && rows <= DAY_ROWS_MAX {
        let done = matches!(clusters.as_slice(), [only]
            if only.loose.is_empty() && matches!(only.units.as_slice(), [unit] if unit.window == window));
        let job = Job { metric, kind, window, clusters };
        return if done { Vec::new() } else { vec![job] };
    }
    clusters
        .into_iter()
        .filter(|c| !c.loose.is_empty() || c.units.len() > 1)
        .filter(|c| eagerness == Eagerness::All || is_over(c.window.end, now))
        .map(|cluster| Job { metric, kind, window: cluster.window, clusters: vec![cluster] })
        .collect()
}
