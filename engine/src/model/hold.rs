//! What keeps series alive between being found and being written.

use std::sync::Arc;

/// Keeps the series that a batch has found in the registry until the batch is written or dropped: a series that has no data
/// may leave the registry otherwise, and what is written to it then would be lost.
///
/// Holds are all alike: a batch is the same whether it has one or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeriesHold(
    #[expect(dead_code, reason = "it is counted, never read")] Option<Arc<()>>,
);

impl SeriesHold {
    /// A share of a hold that somebody waits for the end of.
    pub(crate) fn of(held: &Arc<()>) -> Self {
        Self(Some(Arc::clone(held)))
    }
}

impl PartialEq for SeriesHold {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
