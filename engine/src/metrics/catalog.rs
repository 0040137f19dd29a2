//! The catalog: the index of all blocks. It is immutable: a change creates a new catalog that
//! shares the unchanged parts, so that its cost depends on the size of the change only. Seals,
//! compactions and deletions serialize on it, and there may be a million metrics.
//!
//! The blocks of a metric form *clusters*: blocks whose windows overlap. Windows are two hours or a
//! day, aligned, so a cluster spans at most a day. In a cluster, the blocks that one compaction
//! wrote form a compacted block set: the same samples, and their rollups. Every tier of a set
//! covers all of its samples, so that any tier may expire before the others. Blocks from the head
//! are *loose*; they may contain samples that replace samples of a set.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rpds::{HashTrieMapSync, RedBlackTreeMapSync};

use super::block::{BlockInfo, BlockKey, CompactedSetId, Coverage, Tier};
use super::registry::day_of;
use super::times::TimePageGroup;
use crate::model::{MetricId, TimeRange};

/// All blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    metrics: HashTrieMapSync<MetricId, Arc<MetricBlocks>>,
    /// The blocks of samples by the group of time pages that they refer to. There are as many
    /// groups as windows with such blocks.
    page_groups: HashTrieMapSync<TimePageGroup, BlockSum>,
    all: BlockSum,
}

/// A number of blocks, and their total size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BlockSum {
    blocks: u64,
    bytes: u64,
}

impl BlockSum {
    fn add(&mut self, block: &BlockInfo) {
        self.blocks += 1;
        self.bytes += u64::from(block.bytes);
    }

    fn remove(&mut self, block: &BlockInfo) {
        self.blocks -= 1;
        self.bytes -= u64::from(block.bytes);
    }
}

/// The sums during a change of many blocks, most of which refer to the same few page groups.
struct Sums<'a> {
    before: &'a HashTrieMapSync<TimePageGroup, BlockSum>,
    all: BlockSum,
    /// The sums of the page groups that change.
    page_groups: HashMap<TimePageGroup, BlockSum>,
}

impl Sums<'_> {
    /// Accounts for a block that is added or removed.
    fn change(&mut self, block: &BlockInfo, change: fn(&mut BlockSum, &BlockInfo)) {
        change(&mut self.all, block);
        if block.key.tier == Tier::Raw {
            let before = |page_group: &TimePageGroup| {
                self.before.get(page_group).copied().unwrap_or_default()
            };
            change(self.page_groups.entry(block.page_group()).or_insert_with_key(before), block);
        }
    }
}

/// The blocks of one metric, ordered by the start of their windows. A change to one day shares the
/// other days.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetricBlocks(RedBlackTreeMapSync<u32, Arc<[BlockInfo]>>);

/// The blocks whose windows overlap.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// The union of the windows.
    pub(crate) window: TimeRange,
    pub(crate) units: Vec<CompactedSet>,
    pub(crate) loose: Vec<BlockInfo>,
}

/// The blocks that one compaction wrote: samples and their rollups.
#[derive(Debug)]
pub(crate) struct CompactedSet {
    pub(crate) id: CompactedSetId,
    pub(crate) window: TimeRange,
    pub(crate) blocks: Vec<BlockInfo>,
}

impl CompactedSet {
    pub(crate) fn of_tier(&self, tier: Tier) -> impl Iterator<Item = &BlockInfo> {
        self.blocks.iter().filter(move |b| b.key.tier == tier)
    }

    /// Returns the tiers that cover all samples of the set, finest first.
    pub(crate) fn tiers(&self) -> Vec<Tier> {
        if self.coverage() == Coverage::Unknown {
            return vec![self.base()];
        }
        self.present().collect()
    }

    /// Returns the finest tier that covers all samples of the set.
    pub(crate) fn base(&self) -> Tier {
        let finest = self.present().next().unwrap_or(Tier::Raw);
        if self.coverage() == Coverage::Whole {
            return finest;
        }
        // A finer tier never has fewer rows than a coarser one with the same coverage.
        let rows = |tier: Tier| self.of_tier(tier).map(|b| u64::from(b.rows)).sum::<u64>();
        self.present().fold(finest, |base, tier| if rows(tier) > rows(base) { tier } else { base })
    }

    /// Returns whether every tier covers all samples. This holds whenever the finest tier of the
    /// metric is present, as the others were computed from it.
    pub(crate) fn coverage(&self) -> Coverage {
        let has_finest = self.blocks.iter().any(|b| b.key.tier == Tier::finest(b.kind));
        let is_whole = |b: &BlockInfo| b.coverage == Coverage::Whole || !b.kind.keeps_points();
        if has_finest || self.blocks.iter().all(is_whole) {
            Coverage::Whole
        } else {
            Coverage::Unknown
        }
    }

    fn present(&self) -> impl Iterator<Item = Tier> {
        Tier::ALL.into_iter().filter(|t| self.of_tier(*t).next().is_some())
    }
}

impl Cluster {
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &BlockInfo> {
        self.units.iter().flat_map(|u| &u.blocks).chain(&self.loose)
    }

    /// Returns the blocks that a compaction reads: the base of every compacted set, from which the
    /// other tiers are computed, and the loose blocks.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &BlockInfo> {
        self.units.iter().flat_map(|u| u.of_tier(u.base())).chain(&self.loose)
    }
}

impl Catalog {
    /// Returns the catalog with blocks added and removed.
    pub(crate) fn changed(&self, added: &[BlockInfo], removed: &HashSet<BlockKey>) -> Self {
        let mut next = self.clone();
        let mut changed_days: HashMap<MetricId, HashMap<u32, Vec<BlockInfo>>> = HashMap::new();
        for block in added {
            let days = changed_days.entry(block.key.metric).or_default();
            days.entry(block.key.day).or_default().push(*block);
        }
        for key in removed {
            changed_days.entry(key.metric).or_default().entry(key.day).or_default();
        }
        let mut sums =
            Sums { before: &self.page_groups, all: self.all, page_groups: HashMap::new() };
        for (metric, days) in changed_days {
            let mut of_metric = MetricBlocks::clone(&self.metric(metric));
            for (day, mut blocks) in days {
                blocks.iter().for_each(|block| sums.change(block, BlockSum::add));
                for block in of_metric.of_day(day) {
                    if removed.contains(&block.key) {
                        sums.change(block, BlockSum::remove);
                    } else {
                        blocks.push(*block);
                    }
                }
                of_metric.set_day(day, blocks);
            }
            if of_metric.0.is_empty() {
                next.metrics.remove_mut(&metric);
            } else {
                next.metrics.insert_mut(metric, Arc::new(of_metric));
            }
        }
        next.all = sums.all;
        for (page_group, sum) in sums.page_groups {
            if sum.blocks == 0 {
                next.page_groups.remove_mut(&page_group);
            } else {
                next.page_groups.insert_mut(page_group, sum);
            }
        }
        next
    }

    /// Returns how many of these blocks are in the catalog.
    pub(crate) fn present(&self, keys: &HashSet<BlockKey>) -> usize {
        let days: HashSet<(MetricId, u32)> = keys.iter().map(|k| (k.metric, k.day)).collect();
        let of_day = |(metric, day): &(MetricId, u32)| {
            let blocks = self.metrics.get(metric).map(|blocks| blocks.of_day(*day));
            blocks.into_iter().flatten().filter(|block| keys.contains(&block.key)).count()
        };
        days.iter().map(of_day).sum()
    }

    pub(crate) fn metric(&self, metric: MetricId) -> Arc<MetricBlocks> {
        self.metrics.get(&metric).map(Arc::clone).unwrap_or_default()
    }

    pub(crate) fn metrics(&self) -> impl Iterator<Item = (MetricId, &MetricBlocks)> {
        self.metrics.iter().map(|(id, blocks)| (*id, &**blocks))
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> u64 {
        self.all.blocks
    }

    /// Returns the total size of all blocks in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.all.bytes
    }

    /// Returns the page groups that blocks refer to, with the total size of these blocks in bytes.
    pub(crate) fn page_groups(&self) -> impl Iterator<Item = (TimePageGroup, u64)> {
        self.page_groups.iter().map(|(page_group, sum)| (*page_group, sum.bytes))
    }
}

impl MetricBlocks {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &BlockInfo> {
        self.0.values().flat_map(|blocks| blocks.iter())
    }

    fn of_day(&self, day: u32) -> &[BlockInfo] {
        self.0.get(&day).map_or(&[], |blocks| blocks)
    }

    /// Returns the blocks of the days that overlap `range`. No window extends beyond its day.
    fn of_days(&self, range: TimeRange) -> impl Iterator<Item = &BlockInfo> {
        let (first, last) = (day_of(range.start), day_of(range.end));
        self.0.range(first..=last.max(first)).flat_map(|(_, blocks)| blocks.iter())
    }

    /// Returns the number of blocks in the days that overlap `range`.
    pub(crate) fn len_within(&self, range: TimeRange) -> usize {
        let (first, last) = (day_of(range.start), day_of(range.end));
        self.0.range(first..=last.max(first)).map(|(_, blocks)| blocks.len()).sum()
    }

    fn set_day(&mut self, day: u32, mut blocks: Vec<BlockInfo>) {
        if blocks.is_empty() {
            self.0.remove_mut(&day);
        } else {
            blocks.sort_unstable_by_key(|b| (b.window.start, b.key));
            self.0.insert_mut(day, blocks.into());
        }
    }

    /// Returns the clusters that overlap `range`, in time order.
    pub(crate) fn clusters(&self, range: TimeRange) -> Vec<Cluster> {
        let mut clusters = Vec::new();
        let mut open: Vec<BlockInfo> = Vec::new();
        let mut window = TimeRange::new(0, 0);
        for block in self.of_days(range) {
            if block.window.start >= window.end || open.is_empty() {
                close(&mut clusters, window, &mut open, range);
                window = block.window;
            }
            window.end = window.end.max(block.window.end);
            open.push(*block);
        }
        close(&mut clusters, window, &mut open, range);
        clusters
    }
}

fn close(into: &mut Vec<Cluster>, window: TimeRange, open: &mut Vec<BlockInfo>, range: TimeRange) {
    let blocks = std::mem::take(open);
    if blocks.is_empty() || window.intersect(range).is_empty() {
        return;
    }
    let mut cluster = Cluster { window, units: Vec::new(), loose: Vec::new() };
    for block in blocks {
        let Some(id) = block.unit else {
            cluster.loose.push(block);
            continue;
        };
        match cluster.units.iter_mut().find(|u| u.id == id) {
            Some(unit) => unit.blocks.push(block),
            None => {
                cluster.units.push(CompactedSet { id, window: block.window, blocks: vec![block] })
            }
        }
    }
    into.push(cluster);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::metrics::block::WriteOrder;
    use crate::model::{MetricType, TimestampMs};

    pub(in crate::metrics) fn block(
        sequence: u64,
        unit: Option<u64>,
        tier: Tier,
        start: i64,
        len: i64,
    ) -> BlockInfo {
        BlockInfo {
            key: BlockKey { tier, day: 0, metric: MetricId(1), sequence },
            kind: MetricType::Gauge,
            unit: unit.map(CompactedSetId),
            order: WriteOrder(sequence),
            window: TimeRange::new(start, start + len),
            first_series: 0,
            last_series: 9,
            series: 10,
            rows: 100,
            first_time: TimestampMs(start),
            last_time: TimestampMs(start + len - 1),
            bytes: 1000,
            coverage: Coverage::Whole,
        }
    }

    #[test]
    fn of_a_set_of_unknown_coverage_the_tier_with_the_most_rows_is_used() {
        let rows = |tier, rows, coverage| BlockInfo {
            rows,
            coverage,
            ..block(u64::from(rows), Some(1), tier, 0, 20)
        };
        let set = |blocks: Vec<BlockInfo>| CompactedSet {
            id: CompactedSetId(1),
            window: TimeRange::new(0, 20),
            blocks,
        };
        let tiers = |coverage| {
            vec![
                rows(Tier::Minute, 1, coverage),
                rows(Tier::FiveMinutes, 288, coverage),
                rows(Tier::Day, 1, coverage),
            ]
        };
        assert_eq!(set(tiers(Coverage::Unknown)).tiers(), [Tier::FiveMinutes]);
        assert_eq!(set(tiers(Coverage::Whole)).base(), Tier::Minute);
        let mut samples = tiers(Coverage::Unknown);
        samples.push(rows(Tier::Raw, 600, Coverage::Unknown));
        assert_eq!(set(samples).tiers().len(), 4, "the other tiers were computed from the samples");
    }

    #[test]
    fn blocks_with_overlapping_windows_form_one_cluster() {
        let blocks = [
            block(1, Some(1), Tier::Raw, 0, 20),
            block(2, Some(1), Tier::Hour, 0, 20),
            block(3, Some(2), Tier::Raw, 20, 20),
            block(4, None, Tier::Raw, 25, 5),
            block(5, None, Tier::Raw, 60, 20),
        ];
        let catalog = Catalog::default().changed(&blocks, &HashSet::new());
        assert_eq!((catalog.blocks(), catalog.bytes()), (5, 5000));
        let mut page_groups: Vec<_> = catalog
            .page_groups()
            .map(|(s, bytes)| (s.window.start.0, s.of_compacted_set, bytes))
            .collect();
        page_groups.sort_unstable();
        // The rollup block refers to no time pages.
        let of_window = |start, of_compacted_set| (start, of_compacted_set, 1000);
        assert_eq!(
            page_groups,
            [of_window(0, true), of_window(20, true), of_window(25, false), of_window(60, false)]
        );
        let fewer = catalog.changed(&[], &HashSet::from_iter([blocks[3].key]));
        assert!(fewer.page_groups().all(|(page_group, _)| page_group.window.start.0 != 25));
        let same = fewer.changed(&[block(6, Some(1), Tier::Raw, 0, 20)], &HashSet::new());
        assert!(
            same.page_groups()
                .any(|(page_group, bytes)| page_group.window.start.0 == 0 && bytes == 2000)
        );
        let clusters = catalog.metric(MetricId(1)).clusters(TimeRange::new(0, 100));
        let shape: Vec<_> =
            clusters.iter().map(|c| (c.window.start.0, c.units.len(), c.loose.len())).collect();
        assert_eq!(shape, [(0, 1, 0), (20, 1, 1), (60, 0, 1)]);
        assert_eq!(clusters[0].units[0].tiers(), [Tier::Raw, Tier::Hour]);
        assert_eq!(catalog.metric(MetricId(1)).clusters(TimeRange::new(30, 60)).len(), 1);
        let removed = HashSet::from_iter(blocks.iter().map(|b| b.key));
        let empty = catalog.changed(&[], &removed);
        assert_eq!((empty.blocks(), empty.bytes(), empty.metrics().count()), (0, 0, 0));
        assert_eq!(empty.page_groups().count(), 0);
    }
}
