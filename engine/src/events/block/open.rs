//! A block opened for questions: the header is read, all else when it is needed.

use std::ops::Deref;
use std::sync::OnceLock;

use super::cache::PartsCache;
use super::info::EventBlockInfo;
use super::parts::{Fetched, Parts};
use crate::error::Result;

/// An open block. Reads its bytes only for what is not in the cache.
pub(crate) struct EventBlock<'a> {
    pub(super) parts: Parts<'a>,
}

impl<'a> EventBlock<'a> {
    /// Opens the block that `info` describes. `fetch` gets its bytes; it is called at most once, and not at all while all that
    /// is asked for is in the cache.
    pub(crate) fn open<F, B>(info: &EventBlockInfo, cache: &'a PartsCache, fetch: F) -> Result<Self>
    where
        F: Fn() -> Result<B> + Send + Sync + 'a,
        B: Deref<Target = [u8]> + Send + Sync + 'a,
    {
        let bytes = Fetched { fetch, bytes: OnceLock::new() };
        let parts = Parts::open(info.key, Box::new(bytes), Some(cache))?;
        if parts.header().info(info.key) != *info {
            return Err(parts.damaged("it is another one than the catalog says"));
        }
        Ok(Self { parts })
    }
}

impl std::fmt::Debug for EventBlock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventBlock").field("header", self.parts.header()).finish()
    }
}
