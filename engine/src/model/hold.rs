//! A hold that keeps series in the registry between lookup and write.

use std::sync::Arc;

/// Keeps the series that a batch has looked up in the registry until the batch is written or
/// dropped. Otherwise a series without data could be removed from the registry, and samples written
/// to it would be lost.
///
/// All holds compare equal: a batch is the same with and without one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeriesHold(
    #[expect(dead_code, reason = "it is counted, never read")] Option<Arc<()>>,
);

impl SeriesHold {
    /// Returns a clone of a hold; whoever owns `held` waits until all clones are dropped.
    pub(crate) fn of(held: &Arc<()>) -> Self {
        Self(Some(Arc::clone(held)))
    }
}

impl PartialEq for SeriesHold {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
