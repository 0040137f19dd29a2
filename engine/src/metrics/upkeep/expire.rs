//! Expiry: the blocks of a tier are removed by whole days, once the end of the day is older than
//! the retention of the tier.
//!
//! A tier that was not written because it would not have been smaller is represented by the next
//! finer tier, which is kept as long as the missing tier would have been. The same applies to a
//! tier that is corrupt or may not cover all samples: a block expires only if the remaining tiers
//! can answer the queries it serves.
//!
//! Gauge samples do not expire while later samples that may replace them have not been compacted
//! with them, because samples in cells cannot be replaced.

use hashbrown::HashSet;

use super::super::Metrics;
use super::super::block::{BlockInfo, BlockKey, Tier};
use super::super::catalog::Cluster;
use super::super::staging::retire;
use super::super::window::retention_ms;
use crate::error::Result;
use crate::model::{Interval, MetricId, MetricType, TimeRange, TimestampMs};
use crate::options::TierRetention;
use crate::reports::ExpireReport;
use crate::storage::{Batch, Sync};

/// Returns how long a tier is kept, in milliseconds, if `present` are the existing tiers: the
/// longest retention of the tier itself and of the missing coarser tiers that only it can
/// represent.
fn kept_where(retention: &TierRetention, kind: MetricType, tier: Tier, present: &[Tier]) -> i64 {
    let next = present.iter().copied().filter(|t| *t > tier).min();
    let own = if tier == Tier::finest(kind) {
        retention_ms(retention, Tier::Raw)
    } else {
        retention_ms(retention, tier)
    };
    let coarser = Tier::ALL.into_iter().filter(|t| *t > tier && next.is_none_or(|next| *t < next));
    coarser.map(|t| retention_ms(retention, t)).fold(own, i64::max)
}

impl Metrics {
    /// Removes the blocks that have expired as of `now`.
    pub(crate) fn expire_blocks(&self, now: TimestampMs) -> Result<ExpireReport> {
        let catalog = self.view.catalog();
        let mut expired: Vec<BlockInfo> = Vec::new();
        for (metric, blocks) in catalog.metrics() {
            let Some(name) = self.registry.name_of(metric) else { continue };
            let retention = self.options().retention.of(name.as_str());
            for cluster in blocks.clusters(TimeRange::ALL) {
                let day_end = cluster.window.start.floor_to(Interval::DAY).0 + Interval::DAY.ms();
                let age = now.0.saturating_sub(day_end);
                let mut expired_here =
                    expired_of(&cluster, &retention, age, |b| self.is_quarantined(b));
                let rest_stays = expired_here.len() < cluster.blocks().count();
                if rest_stays
                    && expired_here.iter().any(may_be_replaced)
                    && self.awaits_compaction(metric, &cluster)
                {
                    expired_here.retain(|b| !may_be_replaced(b));
                }
                expired.extend(expired_here);
            }
        }
        let report = ExpireReport {
            blocks: expired.len() as u64,
            bytes: expired.iter().map(|b| u64::from(b.bytes)).sum(),
            ..ExpireReport::default()
        };
        if !expired.is_empty() {
            let keys: HashSet<BlockKey> = expired.iter().map(|b| b.key).collect();
            let mut batch = Batch::new();
            keys.iter().for_each(|key| retire(&mut batch, key));
            self.store.write(batch, Sync::Yes)?;
            // `replace` returns false if a metric was dropped meanwhile, whose blocks need no
            // expiry.
            let _replaced = self.view.replace(&[], &keys);
        }
        Ok(report)
    }
}

fn may_be_replaced(block: &BlockInfo) -> bool {
    block.kind == MetricType::Gauge && block.key.tier == Tier::Raw
}

impl Metrics {
    /// Reports whether samples that may replace gauge samples of a cluster still have to be
    /// compacted with them.
    fn awaits_compaction(&self, metric: MetricId, cluster: &Cluster) -> bool {
        let compactable = !cluster.sources().any(|b| self.is_quarantined(&b.key));
        let in_head = || {
            let view = self.view.metric(metric, cluster.window, None);
            view.runs.iter().any(|run| run.touches(cluster.window))
        };
        compactable && (!cluster.loose.is_empty() || in_head())
    }
}

fn expired_of(
    cluster: &Cluster,
    retention: &TierRetention,
    age: i64,
    is_quarantined: impl Fn(&BlockKey) -> bool,
) -> Vec<BlockInfo> {
    let mut expired = Vec::new();
    for unit in &cluster.units {
        let mut left = unit.tiers();
        left.retain(|tier| !unit.of_tier(*tier).any(|b| is_quarantined(&b.key)));
        let is_expired = |b: &&BlockInfo| kept_where(retention, b.kind, b.key.tier, &left) <= age;
        expired.extend(unit.blocks.iter().filter(is_expired));
    }
    // Uncompacted blocks have no rollups yet, so they represent all tiers.
    let is_expired =
        |b: &&BlockInfo| kept_where(retention, b.kind, b.key.tier, &[b.key.tier]) <= age;
    expired.extend(cluster.loose.iter().filter(is_expired));
    expired
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_kept_as_long_as_the_tiers_it_represents() {
        let retention = TierRetention::default();
        let day = Interval::DAY.ms();
        let kept =
            |tier, present: &[Tier]| kept_where(&retention, MetricType::Gauge, tier, present) / day;
        let all = [Tier::Raw, Tier::Minute, Tier::FiveMinutes, Tier::Hour, Tier::Day];
        assert_eq!(all.map(|t| kept(t, &all)), [30, 2, 90, 730, 730]);
        assert_eq!(kept(Tier::Raw, &[Tier::Raw, Tier::Hour]), 90);
        assert_eq!(kept(Tier::Raw, &[Tier::Raw]), 730);
        let minutes = [Tier::Minute, Tier::FiveMinutes];
        assert_eq!(kept_where(&retention, MetricType::Set, Tier::Minute, &minutes) / day, 30);
    }
}
