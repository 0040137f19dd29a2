//! Selects the blocks of a day to compact together: blocks whose number is certain to drop, within
//! a bounded amount of memory.

use std::sync::Arc;

use super::block::EventBlockInfo;
use crate::limits::{EVENT_BLOCK_ROWS_MAX, EVENT_BLOCK_STRING_BYTES_MAX, EVENT_STRING_BYTES_MAX};

/// Maximum number of blocks that one compaction reads; bounds its memory.
const COMPACTION_BLOCKS_MAX: usize = 16;

/// Memory of a compaction, as a multiple of the string bytes that it reads: the decoded rows and
/// the new block.
pub(super) const COMPACTION_MEMORY_FACTOR: usize = 2;
/// A block with at least this many string bytes was closed because of its strings: no single event
/// has more than the difference.
const FULL_STRING_BYTES: usize = EVENT_BLOCK_STRING_BYTES_MAX - EVENT_STRING_BYTES_MAX;

/// Bounds on the string bytes of a compaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct StringBounds {
    /// Maximum string bytes that a compaction reads.
    read_max: usize,
    /// String bytes at which a block counts as full and is not compacted again.
    full: usize,
}

impl StringBounds {
    /// Returns the bounds for compactions that use at most `compaction_bytes` bytes of memory.
    pub(super) fn of(compaction_bytes: usize) -> Self {
        let read_max = compaction_bytes / COMPACTION_MEMORY_FACTOR;
        // Two blocks that are not full fit into one compaction.
        Self { read_max, full: FULL_STRING_BYTES.min(read_max / 2) }
    }
}

/// Returns the first run of at least `blocks_min` adjacent blocks that is certain to become so much
/// fewer blocks that it is worth rewriting all of them. `blocks` is in time order.
///
/// A seal of many events leaves blocks of similar size that are more than half full. Writing them a
/// second time took a third of the time of a load, and queries gained nothing that could be
/// measured: they stay as they are, and what is compacted are the blocks of small seals. A quarter
/// of the blocks of a run must disappear, and half of them if `blocks_min` is greater than two or
/// one of them is large. Runs whose blocks cover the same times are rewritten for any saving.
pub(super) fn select_group(
    blocks: &[Arc<EventBlockInfo>],
    blocks_min: usize,
    bounds: StringBounds,
) -> Option<Vec<Arc<EventBlockInfo>>> {
    for start in 0..blocks.len() {
        let rest = blocks.get(start..).unwrap_or_default();
        if rest.first().is_some_and(|info| is_large(info, bounds)) && !overlaps(rest) {
            continue;
        }
        let mut string_bytes = 0;
        let fits = |info: &&Arc<EventBlockInfo>| {
            string_bytes += info.string_bytes as usize;
            string_bytes <= bounds.read_max
        };
        let longest: Vec<_> =
            rest.iter().take(COMPACTION_BLOCKS_MAX).take_while(fits).map(Arc::clone).collect();
        // Up to the first large block, and beyond it.
        let small = longest.iter().take_while(|info| !is_large(info, bounds)).count();
        for group in [longest.get(..small).unwrap_or_default(), &longest] {
            if is_worthwhile(group, blocks_min, bounds) {
                return Some(group.to_vec());
            }
        }
    }
    None
}

fn is_worthwhile(group: &[Arc<EventBlockInfo>], blocks_min: usize, bounds: StringBounds) -> bool {
    let saved = group.len().saturating_sub(blocks_after(group, bounds));
    let has_large = group.iter().any(|info| is_large(info, bounds));
    let is_enough = match blocks_min {
        ..=2 if is_interleaved(group) => true,
        ..=2 if !has_large => saved * 4 >= group.len(),
        _ => saved * 2 >= group.len(),
    };
    group.len() >= blocks_min && saved > 0 && is_enough
}

/// Returns whether a block is more than half full, or cannot grow.
fn is_large(info: &EventBlockInfo, bounds: StringBounds) -> bool {
    info.rows as usize > EVENT_BLOCK_ROWS_MAX / 2 || info.string_bytes as usize >= bounds.full
}

/// Returns an upper bound on the number of blocks that the rows of `group` become, not counting
/// splits caused by many tag keys. Every block but the last is full, by rows or by string bytes.
fn blocks_after(group: &[Arc<EventBlockInfo>], bounds: StringBounds) -> usize {
    let rows: usize = group.iter().map(|info| info.rows as usize).sum();
    let string_bytes: usize = group.iter().map(|info| info.string_bytes as usize).sum();
    rows.saturating_sub(1) / EVENT_BLOCK_ROWS_MAX + string_bytes / bounds.full.max(1) + 1
}

/// Returns whether the first block overlaps the next in time.
fn overlaps(group: &[Arc<EventBlockInfo>]) -> bool {
    matches!(group, [first, next, ..] if next.first_time <= first.last_time)
}

/// Returns whether at least a quarter of the blocks cover mostly the same times as the next one, as
/// after imports in no order: each of them would be read for queries of these times.
fn is_interleaved(group: &[Arc<EventBlockInfo>]) -> bool {
    let duration = |info: &EventBlockInfo| info.last_time.saturating_sub(info.first_time);
    let cover_the_same = |(info, next): &(&Arc<EventBlockInfo>, &Arc<EventBlockInfo>)| {
        let shared = info.last_time.min(next.last_time).saturating_sub(next.first_time);
        shared >= 0 && shared.saturating_mul(2) >= duration(info).min(duration(next))
    };
    let next = group.iter().skip(1);
    group.iter().zip(next).filter(cover_the_same).count() * 4 >= group.len()
}

#[cfg(test)]
mod tests {
    use super::super::block::EventBlockKey;
    use super::*;
    use crate::limits::EVENT_COMPACTION_BLOCKS_MIN;

    fn block(sequence: u64, rows: u32, first: i64, last: i64) -> Arc<EventBlockInfo> {
        let key = EventBlockKey { day: 0, sequence };
        Arc::new(EventBlockInfo {
            key,
            rows,
            first_time: first,
            last_time: last,
            string_bytes: 9,
            bytes: 9,
        })
    }

    fn chosen(blocks: &[Arc<EventBlockInfo>], blocks_min: usize) -> Option<Vec<u64>> {
        // Bounds for compactions that read four blocks full of strings.
        chosen_of(blocks, blocks_min, COMPACTION_MEMORY_FACTOR * 4 * EVENT_BLOCK_STRING_BYTES_MAX)
    }

    fn chosen_of(
        blocks: &[Arc<EventBlockInfo>],
        blocks_min: usize,
        compaction_bytes: usize,
    ) -> Option<Vec<u64>> {
        let group = select_group(blocks, blocks_min, StringBounds::of(compaction_bytes));
        group.map(|group| group.iter().map(|info| info.key.sequence).collect())
    }

    #[test]
    fn large_blocks_stay_and_small_neighbours_are_compacted() {
        let full = EVENT_BLOCK_ROWS_MAX as u32;
        let blocks = [
            block(1, full / 2 + 1, 0, 9),
            block(2, 10, 10, 19),
            block(3, 10, 20, 29),
            block(4, full, 30, 39),
            block(5, 10, 40, 49),
        ];
        assert_eq!(chosen(&blocks, 2), Some(vec![2, 3]));
        assert_eq!(chosen(&blocks[..2], 2), None);
        assert_eq!(chosen(&blocks[2..], 2), None);
        assert_eq!(chosen(&blocks, 8), None);
        // Half of the blocks would disappear.
        let around = [block(1, 10, 0, 9), block(2, full / 2 + 1, 10, 19), block(3, 10, 20, 29)];
        assert_eq!(chosen(&around, 2), Some(vec![1, 2, 3]));
    }

    #[test]
    fn blocks_full_of_strings_stay_and_a_compaction_reads_a_bounded_number_of_bytes() {
        let of_strings = |sequence, rows, string_bytes: usize| {
            let first = sequence as i64 * 10;
            let block = EventBlockInfo::clone(&block(sequence, rows, first, first + 9));
            Arc::new(EventBlockInfo { string_bytes: string_bytes as u32, ..block })
        };
        let full: Vec<_> = (0..4).map(|i| of_strings(i, 1_000, FULL_STRING_BYTES + 5)).collect();
        assert_eq!(chosen(&full, 2), None);
        // Together one block full of rows and one full of strings can become three: not certain to
        // be fewer.
        let rows = EVENT_BLOCK_ROWS_MAX as u32 - 1;
        let mixed = [
            of_strings(0, rows, 10),
            of_strings(1, 10, FULL_STRING_BYTES - 5),
            of_strings(2, 9, 6),
        ];
        assert_eq!(chosen(&mixed, 2), None);
        let half = EVENT_BLOCK_STRING_BYTES_MAX / 2;
        let halves: Vec<_> = (0..12).map(|i| of_strings(i, 10, half)).collect();
        assert_eq!(chosen(&halves, 2), Some((0..8).collect()));
    }

    #[test]
    fn a_compaction_stays_within_its_memory() {
        const MIB: usize = 1 << 20;
        let blocks: Vec<_> = (0..12)
            .map(|i| {
                let block = EventBlockInfo::clone(&block(i, 10, i as i64 * 10, i as i64 * 10 + 9));
                Arc::new(EventBlockInfo { string_bytes: MIB as u32, ..block })
            })
            .collect();
        assert_eq!(chosen_of(&blocks, 2, 16 * MIB), Some((0..8).collect()));
        assert_eq!(chosen_of(&blocks, 2, 8 * MIB), Some((0..4).collect()));
        assert_eq!(chosen_of(&blocks, 2, 4 * MIB), None, "each block is full");
        assert_eq!(chosen_of(&blocks, 2, 0), None);
    }

    #[test]
    fn full_blocks_between_others_are_not_rewritten_to_save_few() {
        let full = EVENT_BLOCK_ROWS_MAX as u32;
        // Of each seal, three blocks are full.
        let of_seals = |seals: u64, rest: u32| -> Vec<_> {
            let rows = (0..4 * seals).map(|i| if i % 4 == 3 { rest } else { full });
            (0..)
                .zip(rows)
                .map(|(i, rows)| block(i, rows, i as i64 * 10, i as i64 * 10 + 9))
                .collect()
        };
        assert_eq!(chosen(&of_seals(8, full / 2), 2), None);
        assert_eq!(chosen(&of_seals(8, 1), 2), None);
        // Without full blocks between them.
        let small: Vec<_> =
            (0..4).map(|i| block(i, full / 2, i as i64 * 10, i as i64 * 10 + 9)).collect();
        assert_eq!(chosen(&small, 2), Some(vec![0, 1, 2, 3]));
    }

    #[test]
    fn blocks_that_cover_the_same_times_are_compacted_for_any_saving() {
        let rows = EVENT_BLOCK_ROWS_MAX as u32 - 5_000;
        let covering = |step: i64| -> Vec<_> {
            (0..16).map(|i| block(i, rows, i as i64 * step, i as i64 * step + 100)).collect()
        };
        assert_eq!(chosen(&covering(100), 2), None);
        assert_eq!(chosen(&covering(60), 2), None);
        assert_eq!(chosen(&covering(10), 2), Some((0..16).collect()));
    }

    #[test]
    fn the_current_day_is_compacted_once_it_has_enough_blocks() {
        let blocks: Vec<_> =
            (0..9).map(|i| block(i, 100, i as i64 * 10, i as i64 * 10 + 9)).collect();
        assert_eq!(chosen(&blocks[..7], EVENT_COMPACTION_BLOCKS_MIN), None);
        assert_eq!(chosen(&blocks, EVENT_COMPACTION_BLOCKS_MIN), Some((0..9).collect()));
    }
}
