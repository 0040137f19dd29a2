//! The traces that a write leaves of which only a part reached the file. What they mean is part of
//! the rules of [`super::segment`].

use super::segment::{LARGE_SECTOR_BYTES, SECTOR_BYTES};

/// Returns the number of sectors containing a part of `bytes`, which start at `offset` of the file,
/// in which that part is all zeros.
pub(super) fn zero_sectors(bytes: &[u8], offset: usize) -> u32 {
    let (first, rest) = bytes.split_at((SECTOR_BYTES - offset % SECTOR_BYTES).min(bytes.len()));
    let parts =
        [first].into_iter().filter(|first| !first.is_empty()).chain(rest.chunks(SECTOR_BYTES));
    parts.filter(|part| part.iter().all(|byte| *byte == 0)).count() as u32
}

/// Returns whether `bytes`, from `at` to the end of the file, are what a write leaves that ended
/// within the first `length` of them: the zeros written ahead follow. A process that is killed may
/// leave any part of a write, not only whole sectors. Where no zeros were written ahead, the file
/// ends with the write: a last record that ends in zeros is damaged then.
pub(super) fn is_cut_within(bytes: &[u8], at: usize, length: usize) -> bool {
    let zeros_ahead = bytes.len() > length || (at + length).is_multiple_of(LARGE_SECTOR_BYTES);
    let rest = bytes.get(length.saturating_sub(1)..).filter(|_| zeros_ahead);
    rest.is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
}

#[cfg(test)]
#[path = "torn_tests.rs"]
mod tests;
