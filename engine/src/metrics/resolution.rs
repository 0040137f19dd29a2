//! The resolution of stored samples, by time.
//!
//! While a compacted block set has its samples, its resolution is one millisecond. After these have
//! expired, it is the width of the finest rollup left, the *base* of the set: times within a cell
//! are lost. Head blocks and samples in memory within such a window are read at the width of the
//! base too, so that a query has the same result before and after a compaction adds them to the
//! cells. A compaction never changes the resolution of a time range; expiry does.
//!
//! ```text
//! block sets    ├── base: samples ──┤├── base: 5m ──┤          ├── base: 5m ──┤
//!                                              ├── base: 1h ──┤
//! stretches     ├───── samples ─────┤├──────── 1h ────────────┤├───── 5m ─────┤├── samples ──
//! ```

use super::block::Tier;
use super::catalog::CompactedSet;
use crate::model::TimeRange;

/// A time range with one resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) window: TimeRange,
    /// The finest tier that has all samples of the range.
    pub(crate) tier: Tier,
}

/// Whether adjacent stretches of the same resolution are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbours {
    Join,
    Separate,
}

/// Cuts `window` into stretches without gaps, in time order. `units` are the compacted block sets
/// in it; times outside of all sets have the tier `finest`.
pub(crate) fn stretches<'u>(
    window: TimeRange,
    finest: Tier,
    units: impl Iterator<Item = &'u CompactedSet>,
    neighbours: Neighbours,
) -> Vec<Stretch> {
    let mut sets: Vec<Stretch> =
        units.map(|unit| Stretch { window: unit.window, tier: unit.base() }).collect();
    sets.sort_unstable_by_key(|set| set.window.start);
    let mut covered: Vec<Stretch> = Vec::new();
    for set in sets {
        match covered.last_mut() {
            Some(last) if set.window.start < last.window.end => {
                last.window.end = last.window.end.max(set.window.end);
                last.tier = last.tier.max(set.tier);
            }
            _ => covered.push(set),
        }
    }
    let mut out: Vec<Stretch> = Vec::new();
    let mut push = |next: Stretch| match out.last_mut() {
        _ if next.window.is_empty() => {}
        Some(last) if neighbours == Neighbours::Join && last.tier == next.tier => {
            last.window.end = next.window.end;
        }
        _ => out.push(next),
    };
    let mut from = window.start;
    for next in covered {
        push(Stretch { window: TimeRange { start: from, end: next.window.start }, tier: finest });
        push(next);
        from = next.window.end;
    }
    push(Stretch { window: TimeRange { start: from, end: window.end }, tier: finest });
    out
}

#[cfg(test)]
mod tests {
    use super::super::block::CompactedSetId;
    use super::super::catalog::tests::block;
    use super::*;

    fn block_set(id: u64, tiers: &[Tier], start: i64, len: i64) -> CompactedSet {
        let blocks: Vec<_> =
            tiers.iter().map(|tier| block(id, Some(id), *tier, start, len)).collect();
        CompactedSet { id: CompactedSetId(id), window: TimeRange::new(start, start + len), blocks }
    }

    fn check(sets: &[CompactedSet], neighbours: Neighbours, expected: &[(i64, i64, Tier)]) {
        let found = stretches(TimeRange::new(0, 100), Tier::Raw, sets.iter(), neighbours);
        let found: Vec<_> =
            found.iter().map(|s| (s.window.start.0, s.window.end.0, s.tier)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn stretches_have_the_base_tier_of_their_block_set() {
        let samples = [Tier::Raw, Tier::Hour];
        let coarse = [Tier::FiveMinutes, Tier::Hour];
        check(&[], Neighbours::Join, &[(0, 100, Tier::Raw)]);
        let sets = [
            block_set(1, &samples, 10, 10),
            block_set(2, &coarse, 20, 10),
            block_set(3, &coarse, 30, 10),
        ];
        check(
            &sets,
            Neighbours::Join,
            &[(0, 20, Tier::Raw), (20, 40, Tier::FiveMinutes), (40, 100, Tier::Raw)],
        );
        check(
            &sets,
            Neighbours::Separate,
            &[
                (0, 10, Tier::Raw),
                (10, 20, Tier::Raw),
                (20, 30, Tier::FiveMinutes),
                (30, 40, Tier::FiveMinutes),
                (40, 100, Tier::Raw),
            ],
        );
    }

    #[test]
    fn overlapping_block_sets_have_the_tier_of_the_coarsest() {
        let sets =
            [block_set(1, &[Tier::Raw], 0, 100), block_set(2, &[Tier::Hour, Tier::Day], 20, 20)];
        check(&sets, Neighbours::Join, &[(0, 100, Tier::Hour)]);
    }
}
