//! Merging: the blocks of a window that is over become one unit with rollups, first of two hours, then of a day.

use std::sync::atomic::Ordering;

use hashbrown::HashSet;

use super::super::Metrics;
use super::super::block::{BlockInfo, BlockKey, Tier, UnitId, WriteOrder};
use super::super::catalog::{Cluster, Unit};
use super::super::consolidate::{Loaded, Rollups, consolidate};
use super::super::seal::is_over;
use super::super::times::Shelf;
use super::super::writer::BlockOrigin;
use super::expire::kept_ms;
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
    /// Merges up to `windows_max` windows, leaving out what has expired as of `expiry`. Answers what was done; nothing when
    /// nothing is to do.
    pub(crate) fn merge_windows(
        &self,
        eagerness: Eagerness,
        windows_max: usize,
        expiry: TimestampMs,
    ) -> Result<MergeReport> {
        let mut report = MergeReport::default();
        let mut failure = None;
        for job in self.merge_jobs(eagerness, windows_max, expiry) {
            match self.merge_one(&job, expiry, &mut report) {
                Ok(()) => {}
                // This window stays as it is; the others are merged.
                Err(error @ Error::Encoder(_)) => failure = failure.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        failure.map_or(Ok(report), Err)
    }

    fn merge_jobs(
        &self,
        eagerness: Eagerness,
        windows_max: usize,
        expiry: TimestampMs,
    ) -> Vec<Job> {
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
                let plan = |day| self.rollups(metric, day, expiry);
                jobs.extend(jobs_of_day(metric, day, of_day, (now, eagerness), plan));
            }
        }
        jobs.truncate(windows_max);
        jobs
    }

    fn merge_one(&self, job: &Job, expiry: TimestampMs, report: &mut MergeReport) -> Result<()> {
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
        let shelf = Shelf { window: job.window, of_unit: true };
        let times = self.times.writer_of(shelf, &self.sequence)?;
        let origin = BlockOrigin {
            metric: job.metric,
            kind: job.kind,
            unit: Some(UnitId(self.next_sequence().max(1))),
            order: job.blocks().map(|b| b.order).max().unwrap_or(WriteOrder(0)),
            effort: Effort::Merge,
            sequence: &self.sequence,
            times: &times,
        };
        let (wanted, rollups) = self.rollups(job.metric, job.window, expiry);
        let blocks = consolidate(
            &job.clusters,
            &loaded,
            (job.window, &self.times),
            (&wanted, rollups),
            origin,
        )?;
        let removed: HashSet<BlockKey> = loaded.iter().map(|(info, _)| info.key).collect();
        report.windows += 1;
        report.blocks_read += loaded.len() as u64;
        report.bytes_read += loaded.iter().map(|(info, _)| u64::from(info.bytes)).sum::<u64>();
        drop(loaded);
        let mut batch = Batch::new();
        let pages = times.pages(Effort::Merge)?;
        report.bytes_written += self.times.stage(pages, &mut batch);
        let staged = self.stage(blocks, &mut batch);
        removed.iter().for_each(|key| retire(&mut batch, key));
        self.store.write(batch, Sync::Yes)?;
        self.times.written(times);
        report.blocks_written += staged.blocks();
        report.bytes_written += staged.bytes();
        if !self.view.replace(&staged.infos, &removed) {
            // The metric was dropped meanwhile: its new blocks go as well.
            self.remove(&staged.infos.iter().map(|info| info.key).collect::<Vec<_>>())?;
        }
        self.counters.merges.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The tiers that have not expired in a window, and which of them are worth their disk.
    fn rollups(
        &self,
        metric: MetricId,
        window: TimeRange,
        expiry: TimestampMs,
    ) -> (Vec<Tier>, Rollups) {
        let name = self.registry.name_of(metric);
        let retention = self.options().retention.of(name.as_ref().map_or("", |n| n.as_str()));
        let day_end = window.start.floor_to(Interval::DAY).0 + Interval::DAY.ms();
        let age = expiry.0.saturating_sub(day_end);
        let rollups = if kept_ms(&retention, Tier::Raw) <= age {
            Rollups::InsteadOfPoints
        } else {
            Rollups::BesidePoints { points_per_cell: self.options().rollup_points_min }
        };
        (Tier::ALL.into_iter().filter(|t| kept_ms(&retention, *t) > age).collect(), rollups)
    }

    fn checked(&self, info: &BlockInfo) -> Result<crate::storage::Pinned<'_>> {
        let bytes = self.read_block(&info.key)?;
        super::super::block::check(info, &bytes)?;
        Ok(bytes)
    }
}

/// What is to merge of one day of one metric. `rollups` tells which tiers a window should have.
fn jobs_of_day(
    metric: MetricId,
    day: TimestampMs,
    clusters: Vec<Cluster>,
    (now, eagerness): (TimestampMs, Eagerness),
    rollups: impl Fn(TimeRange) -> (Vec<Tier>, Rollups),
) -> Vec<Job> {
    let window = TimeRange { start: day, end: TimestampMs(day.0 + Interval::DAY.ms()) };
    let Some(kind) = clusters.iter().flat_map(Cluster::blocks).map(|b| b.kind).next() else {
        return Vec::new();
    };
    let (wanted, rollups) = rollups(window);
    let is_one = |c: &Cluster| c.loose.is_empty() && c.units.len() == 1;
    let summarise = |c: &Cluster| {
        rollups == Rollups::InsteadOfPoints && c.units.iter().any(|u| lacks_rollups(u, &wanted))
    };
    let rows: u64 = clusters.iter().flat_map(Cluster::blocks).map(|b| u64::from(b.rows)).sum();
    if is_over(window.end, now) && rows <= DAY_ROWS_MAX {
        let done = matches!(clusters.as_slice(), [only]
            if is_one(only) && only.window == window && !summarise(only));
        let job = Job { metric, kind, window, clusters };
        return if done { Vec::new() } else { vec![job] };
    }
    clusters
        .into_iter()
        .filter(|c| !is_one(c) || summarise(c))
        .filter(|c| eagerness == Eagerness::All || is_over(c.window.end, now))
        .map(|cluster| Job { metric, kind, window: cluster.window, clusters: vec![cluster] })
        .collect()
}

/// Whether the points of a unit stand in for a tier that would surely be kept if it were written now, so that this is
/// not tried again and again.
fn lacks_rollups(unit: &Unit, wanted: &[Tier]) -> bool {
    let Some(finest) = unit.blocks.first().map(|b| Tier::finest(b.kind)) else { return false };
    let points: u64 = unit.of_tier(finest).map(|b| u64::from(b.rows)).sum();
    let present = unit.tiers();
    let next = present.iter().copied().find(|t| *t > finest);
    let absent = wanted.iter().filter(|t| **t > finest && next.is_none_or(|next| **t < next));
    let cells = |width: Interval| -> u64 {
        let of_block = |b: &BlockInfo| {
            let first = b.first_time.floor_to(width).0;
            let buckets = (b.last_time.0 - first) / width.ms() + 1;
            u64::from(b.series).saturating_mul(buckets as u64).min(u64::from(b.rows))
        };
        unit.of_tier(finest).map(of_block).sum()
    };
    let rows_max = Rollups::InsteadOfPoints.rows_max(points);
    points > 0 && absent.filter_map(|t| t.width()).any(|width| cells(width) <= rows_max)
}
