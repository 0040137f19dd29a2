//! How finely samples are known, by time.
//!
//! While a compacted block set has its samples, every instant of its window is known to the millisecond. When they have
//! expired, the finest rollup that is left, the *base* of the set, is all that is known: a cell has no instants inside. Blocks from the
//! head and samples in memory that fall into such a window are taken at the width of the base too, so that a query has the
//! same result before and after a merge adds them to the cells. A merge never changes the resolution of an instant;
//! expiry does.
//!
//! ```text
//! block sets    ├── base: samples ──┤├── base: 5m ──┤          ├── base: 5m ──┤
//!                                              ├── base: 1h ──┤
//! stretches     ├───── samples ─────┤├──────── 1h ────────────┤├───── 5m ─────┤├── samples ──
//! ```

use super::block::Tier;
use super::catalog::CompactedSet;
use crate::model::TimeRange;

/// A part of time in which all samples are known equally finely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) window: TimeRange,
    /// The finest tier that has all of its samples.
    pub(crate) tier: Tier,
}

/// Whether neighbouring stretches that are known equally finely become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbours {
    Join,
    Separate,
}

/// Cuts `window` into stretches without gaps, in the order of time. `units` are the block sets in it; `finest` is the tier of
/// what no set covers.
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
    use super::super::block::UnitId;
    use super::super::catalog::tests::block;
    use super::*;

    fn unit(id: u64, tiers: &[Tier], start: i64, len: i64) -> CompactedSet {
        let blocks: Vec<_> =
            tiers.iter().map(|tier| block(id, Some(id), *tier, start, len)).collect();
        CompactedSet { id: UnitId(id), window: TimeRange::new(start, start + len), blocks }
    }

    fn check(units: &[CompactedSet], neighbours: Neighbours, expected: &[(i64, i64, Tier)]) {
        let found = stretches(TimeRange::new(0, 100), Tier::Raw, units.iter(), neighbours);
        let found: Vec<_> =
            found.iter().map(|s| (s.window.start.0, s.window.end.0, s.tier)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn stretches_follow_the_bases_of_block_sets() {
        let samples = [Tier::Raw, Tier::Hour];
        let coarse = [Tier::FiveMinutes, Tier::Hour];
        check(&[], Neighbours::Join, &[(0, 100, Tier::Raw)]);
        let units = [unit(1, &samples, 10, 10), unit(2, &coarse, 20, 10), unit(3, &coarse, 30, 10)];
        check(
            &units,
            Neighbours::Join,
            &[(0, 20, Tier::Raw), (20, 40, Tier::FiveMinutes), (40, 100, Tier::Raw)],
        );
        check(
            &units,
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
    fn block_sets_that_overlap_are_as_coarse_as_the_coarsest() {
        let units = [unit(1, &[Tier::Raw], 0, 100), unit(2, &[Tier::Hour, Tier::Day], 20, 20)];
        check(&units, Neighbours::Join, &[(0, 100, Tier::Hour)]);
    }
}
