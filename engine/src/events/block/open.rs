//! A block opened for queries: its header is decoded; other parts are read when needed.

use std::ops::Deref;
use std::sync::OnceLock;

use super::cache::PartsCache;
use super::info::EventBlockInfo;
use super::parts::{LazyBytes, Parts};
use crate::error::Result;

/// An open block. Reads its bytes only for parts that are not in the cache.
pub(crate) struct EventBlock<'a> {
    pub(super) parts: Parts<'a>,
}

impl<'a> EventBlock<'a> {
    /// Opens the block that `info` describes. `fetch` reads its bytes; it is called at most once,
    /// and not at all if the cache contains all parts that are used.
    pub(crate) fn open<F, B>(info: &EventBlockInfo, cache: &'a PartsCache, fetch: F) -> Result<Self>
    where
        F: Fn() -> Result<B> + Send + Sync + 'a,
        B: Deref<Target = [u8]> + Send + Sync + 'a,
    {
        let bytes = LazyBytes { fetch, bytes: OnceLock::new() };
        let parts = Parts::open(info.key, Box::new(bytes), Some(cache))?;
        if parts.header().info(info.key) != *info {
            return Err(parts.damaged("it is not the block that the catalog describes"));
        }
        Ok(Self { parts })
    }
}

impl std::fmt::Debug for EventBlock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventBlock").field("header", self.parts.header()).finish()
    }
}
