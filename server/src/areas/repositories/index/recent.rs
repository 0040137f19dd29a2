//! The blocks of text that were decompressed lately: files that are read one after the other are
//! in the same blocks.

use std::sync::Arc;

use parking_lot::Mutex;

use super::error::IndexError;
use super::limits::{RECENT_BLOCK_BYTES_MAX, RECENT_BLOCKS};

/// Blocks after decompression, the last used one at the end.
#[derive(Debug, Default)]
pub(super) struct RecentBlocks {
    blocks: Mutex<Vec<(u32, Arc<Vec<u8>>)>>,
}

impl RecentBlocks {
    /// Returns a block, which is decompressed unless it is here. Large ones are not kept.
    pub(super) fn get(
        &self,
        block: u32,
        decompress: impl FnOnce() -> Result<Vec<u8>, IndexError>,
    ) -> Result<Arc<Vec<u8>>, IndexError> {
        if let Some(found) = self.find(block) {
            return Ok(found);
        }
        // Without the lock: another thread may do the same meanwhile.
        let bytes = Arc::new(decompress()?);
        if bytes.len() <= RECENT_BLOCK_BYTES_MAX {
            self.keep(block, Arc::clone(&bytes));
        }
        Ok(bytes)
    }

    /// Returns the bytes that all blocks that are kept may have, of an index with these blocks.
    pub(super) fn memory_bytes(blocks: impl Iterator<Item = usize>) -> usize {
        let kept = blocks.filter(|bytes| *bytes <= RECENT_BLOCK_BYTES_MAX);
        kept.sum::<usize>().min(RECENT_BLOCKS * RECENT_BLOCK_BYTES_MAX)
    }

    fn find(&self, block: u32) -> Option<Arc<Vec<u8>>> {
        let mut blocks = self.blocks.lock();
        let at = blocks.iter().position(|(other, _)| *other == block)?;
        let found = blocks.remove(at);
        let bytes = Arc::clone(&found.1);
        blocks.push(found);
        Some(bytes)
    }

    fn keep(&self, block: u32, bytes: Arc<Vec<u8>>) {
        let mut blocks = self.blocks.lock();
        blocks.retain(|(other, _)| *other != block);
        let superfluous = (blocks.len() + 1).saturating_sub(RECENT_BLOCKS);
        blocks.drain(..superfluous);
        blocks.push((block, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_used_blocks_are_kept() {
        let recent = RecentBlocks::default();
        let mut decompressed = Vec::new();
        let mut get = |block: u32| {
            let made = || {
                decompressed.push(block);
                Ok(vec![0; 10])
            };
            recent.get(block, made).unwrap();
        };
        let count = u32::try_from(RECENT_BLOCKS).unwrap();
        (0..count).for_each(&mut get);
        get(0);
        get(count);
        get(0);
        get(1);
        let expected: Vec<u32> = (0..=count).chain([1]).collect();
        assert_eq!(decompressed, expected);
        recent.get(99, || Ok(vec![0; RECENT_BLOCK_BYTES_MAX + 1])).unwrap();
        assert_eq!(recent.find(99), None);
        assert_eq!(RecentBlocks::memory_bytes([10, 1 << 30, 20].into_iter()), 30);
        let failed = recent.get(98, || Err(IndexError::UnknownFile));
        assert_eq!(failed, Err(IndexError::UnknownFile));
    }
}
