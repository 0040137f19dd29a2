//! Which blocks of a day are merged with each other: those that surely become fewer, in a bounded amount of memory.

use std::sync::Arc;

use super::block::EventBlockInfo;
use crate::limits::{EVENT_BLOCK_ROWS_MAX, EVENT_BLOCK_TEXT_BYTES_MAX, EVENT_TEXT_BYTES_MAX};

/// Blocks that one merge reads at most: what bounds its memory.
const MERGE_BLOCKS_MAX: usize = 16;
/// Blocks of a day that is not over are merged once so many of them would make half as many or fewer.
pub(super) const MERGE_BLOCKS_MIN: usize = 8;

/// A merge takes about so many times the bytes of the texts that it reads: the rows that were read, and the block that is made of them.
pub(super) const MERGE_TEXT_FACTOR: usize = 2;
/// A block with so many bytes of texts was closed because of them: no event has more than the difference.
const FULL_TEXT_BYTES: usize = EVENT_BLOCK_TEXT_BYTES_MAX - EVENT_TEXT_BYTES_MAX;

/// How much text there is in a merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextBounds {
    /// Bytes of all texts that a merge reads.
    merge_max: usize,
    /// Bytes of the texts of a block that does not grow any more.
    full: usize,
}

impl TextBounds {
    /// Of merges that take so much memory.
    pub(super) fn of(merge_bytes: usize) -> Self {
        let merge_max = merge_bytes / MERGE_TEXT_FACTOR;
        // Two that are not full fit into a merge.
        Self { merge_max, full: FULL_TEXT_BYTES.min(merge_max / 2) }
    }
}

/// The first neighbours of a day, at least `least`, that surely become fewer blocks: half as many where a minimum greater
/// than two asks for it. Blocks are in the order of time.
pub(super) fn group(
    blocks: &[Arc<EventBlockInfo>],
    least: usize,
    bounds: TextBounds,
) -> Option<Vec<Arc<EventBlockInfo>>> {
    for start in 0..blocks.len() {
        let rest = blocks.get(start..).unwrap_or_default();
        if rest.first().is_some_and(|info| is_full(info, bounds)) && !overlaps(rest) {
            continue;
        }
        let mut text_bytes = 0;
        let fits = |info: &&Arc<EventBlockInfo>| {
            text_bytes += info.text_bytes as usize;
            text_bytes <= bounds.merge_max
        };
        let group: Vec<_> =
            rest.iter().take(MERGE_BLOCKS_MAX).take_while(fits).map(Arc::clone).collect();
        let after = blocks_after(&group, bounds);
        let pays = if least > 2 { after * 2 <= group.len() } else { after < group.len() };
        if group.len() >= least && pays {
            return Some(group);
        }
    }
    None
}

/// Whether nothing more goes into a block.
fn is_full(info: &EventBlockInfo, bounds: TextBounds) -> bool {
    info.rows as usize == EVENT_BLOCK_ROWS_MAX || info.text_bytes as usize >= bounds.full
}

/// The most blocks that the rows of these can become, unless they have many tag keys. Every block but the last is full, of
/// rows or of texts.
fn blocks_after(group: &[Arc<EventBlockInfo>], bounds: TextBounds) -> usize {
    let rows: usize = group.iter().map(|info| info.rows as usize).sum();
    let text_bytes: usize = group.iter().map(|info| info.text_bytes as usize).sum();
    rows.saturating_sub(1) / EVENT_BLOCK_ROWS_MAX + text_bytes / bounds.full.max(1) + 1
}

/// Whether the first block shares time with the next.
fn overlaps(group: &[Arc<EventBlockInfo>]) -> bool {
    matches!(group, [first, next, ..] if next.first_time <= first.last_time)
}

#[cfg(test)]
mod tests {
    use super::super::block::EventBlockKey;
    use super::*;

    fn block(sequence: u64, rows: u32, first: i64, last: i64) -> Arc<EventBlockInfo> {
        let key = EventBlockKey { day: 0, sequence };
        Arc::new(EventBlockInfo {
            key,
            rows,
            first_time: first,
            last_time: last,
            text_bytes: 9,
            bytes: 9,
        })
    }

    fn chosen(blocks: &[Arc<EventBlockInfo>], least: usize) -> Option<Vec<u64>> {
        // Of merges that read four blocks that are full of text.
        chosen_of(blocks, least, MERGE_TEXT_FACTOR * 4 * EVENT_BLOCK_TEXT_BYTES_MAX)
    }

    fn chosen_of(
        blocks: &[Arc<EventBlockInfo>],
        least: usize,
        merge_bytes: usize,
    ) -> Option<Vec<u64>> {
        let group = group(blocks, least, TextBounds::of(merge_bytes));
        group.map(|group| group.iter().map(|info| info.key.sequence).collect())
    }

    #[test]
    fn full_blocks_stay_and_small_neighbours_come_together() {
        let full = EVENT_BLOCK_ROWS_MAX as u32;
        let blocks = [
            block(1, full, 0, 9),
            block(2, 10, 10, 19),
            block(3, full, 20, 29),
            block(4, 10, 30, 39),
        ];
        assert_eq!(chosen(&blocks, 2), Some(vec![2, 3, 4]));
        assert_eq!(chosen(&blocks[..1], 2), None);
        assert_eq!(chosen(&blocks[..3], 2), None);
        assert_eq!(chosen(&blocks, 8), None);
    }

    #[test]
    fn blocks_that_are_full_of_text_stay_and_a_merge_reads_no_more_than_it_may() {
        let of_text = |sequence, rows, text_bytes: usize| {
            let first = sequence as i64 * 10;
            let block = EventBlockInfo::clone(&block(sequence, rows, first, first + 9));
            Arc::new(EventBlockInfo { text_bytes: text_bytes as u32, ..block })
        };
        let full: Vec<_> = (0..4).map(|i| of_text(i, 1_000, FULL_TEXT_BYTES + 5)).collect();
        assert_eq!(chosen(&full, 2), None);
        // Two of rows and two of texts can become three blocks: not surely fewer.
        let rows = EVENT_BLOCK_ROWS_MAX as u32 - 1;
        let mixed = [of_text(0, rows, 10), of_text(1, 10, FULL_TEXT_BYTES - 5), of_text(2, 9, 6)];
        assert_eq!(chosen(&mixed, 2), None);
        let half = EVENT_BLOCK_TEXT_BYTES_MAX / 2;
        let halves: Vec<_> = (0..12).map(|i| of_text(i, 10, half)).collect();
        assert_eq!(chosen(&halves, 2), Some((0..8).collect()));
    }

    #[test]
    fn a_merge_takes_no_more_memory_than_it_may() {
        const MIB: usize = 1 << 20;
        let blocks: Vec<_> = (0..12)
            .map(|i| {
                let block = EventBlockInfo::clone(&block(i, 10, i as i64 * 10, i as i64 * 10 + 9));
                Arc::new(EventBlockInfo { text_bytes: MIB as u32, ..block })
            })
            .collect();
        assert_eq!(chosen_of(&blocks, 2, 16 * MIB), Some((0..8).collect()));
        assert_eq!(chosen_of(&blocks, 2, 8 * MIB), Some((0..4).collect()));
        assert_eq!(chosen_of(&blocks, 2, 4 * MIB), None, "each of them is full");
        assert_eq!(chosen_of(&blocks, 2, 0), None);
    }

    #[test]
    fn a_day_that_goes_on_waits_for_enough_blocks() {
        let blocks: Vec<_> =
            (0..9).map(|i| block(i, 100, i as i64 * 10, i as i64 * 10 + 9)).collect();
        assert_eq!(chosen(&blocks[..7], MERGE_BLOCKS_MIN), None);
        assert_eq!(chosen(&blocks, MERGE_BLOCKS_MIN), Some((0..9).collect()));
    }
}
