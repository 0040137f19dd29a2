//! Expiry: whole days of a tier go when their last instant is older than the tier is kept.
//!
//! A tier that was not written because it would not have been smaller lives on in the next finer one, so that
//! one is kept as long as the missing tier would have been. So does a tier that is damaged, or that perhaps does not cover all samples:
//! what counts is what the tiers that are left can answer for.
//!
//! Samples of gauges wait for a merge while later ones, which may replace them, are not in their unit yet: cells cannot
//! be replaced.

use hashbrown::HashSet;

use super::super::Metrics;
use super::super::block::{BlockInfo, BlockKey, Tier};
use super::super::catalog::Cluster;
use super::super::staging::retire;
use super::super::window::kept_ms;
use crate::error::Result;
use crate::model::{Interval, MetricId, MetricType, TimeRange, TimestampMs};
use crate::options::TierRetention;
use crate::reports::ExpireReport;
use crate::storage::{Batch, Sync};

/// How long a tier is kept where `present` are the tiers there are: as long as itself and those coarser ones that
/// only it can answer for.
fn kept_where(retention: &TierRetention, kind: MetricType, tier: Tier, present: &[Tier]) -> i64 {
    let next = present.iter().copied().filter(|t| *t > tier).min();
    let own = if tier == Tier::finest(kind) {
        kept_ms(retention, Tier::Raw)
    } else {
        kept_ms(retention, tier)
    };
    let coarser = Tier::ALL.into_iter().filter(|t| *t > tier && next.is_none_or(|next| *t < next));
    coarser.map(|t| kept_ms(retention, t)).fold(own, i64::max)
}

impl Metrics {
    /// Removes what is older than it is kept, as of `now`.
    pub(crate) fn expire_blocks(&self, now: TimestampMs) -> Result<ExpireReport> {
        let catalog = self.view.catalog();
        let mut expired: Vec<BlockInfo> = Vec::new();
        for (metric, blocks) in catalog.metrics() {
            let Some(name) = self.registry.name_of(metric) else { continue };
            let retention = self.options().retention.of(name.as_str());
            for cluster in blocks.clusters(TimeRange::ALL) {
                let day_end = cluster.window.start.floor_to(Interval::DAY).0 + Interval::DAY.ms();
                let age = now.0.saturating_sub(day_end);
                let mut gone = expired_of(&cluster, &retention, age, |b| self.is_quarantined(b));
                let rest_stays = gone.len() < cluster.blocks().count();
                if rest_stays
                    && gone.iter().any(may_be_replaced)
                    && self.awaits_merge(metric, &cluster)
                {
                    gone.retain(|b| !may_be_replaced(b));
                }
                expired.extend(gone);
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
            // False when a metric was dropped meanwhile: what is gone needs no expiry.
            let _replaced = self.view.replace(&[], &keys);
        }
        Ok(report)
    }
}

fn may_be_replaced(block: &BlockInfo) -> bool {
    block.kind == MetricType::Gauge && block.key.tier == Tier::Raw
}

impl Metrics {
    /// Whether samples that may replace some of the units of a cluster are still to be merged with them.
    fn awaits_merge(&self, metric: MetricId, cluster: &Cluster) -> bool {
        let mergeable = !cluster.sources().any(|b| self.is_quarantined(&b.key));
        let in_head = || {
            let view = self.view.metric(metric, cluster.window);
            view.runs.iter().any(|run| run.touches(cluster.window))
        };
        mergeable && (!cluster.loose.is_empty() || in_head())
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
        let gone = |b: &&BlockInfo| kept_where(retention, b.kind, b.key.tier, &left) <= age;
        expired.extend(unit.blocks.iter().filter(gone));
    }
    // Loose blocks have no rollups yet: they answer for all tiers.
    let gone = |b: &&BlockInfo| kept_where(retention, b.kind, b.key.tier, &[b.key.tier]) <= age;
    expired.extend(cluster.loose.iter().filter(gone));
    expired
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_kept_as_long_as_those_it_stands_for() {
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
