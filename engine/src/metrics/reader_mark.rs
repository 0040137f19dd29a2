//! A position in the order of replaced catalogs, by which a caller waits until older readers have
//! ended.

/// Readers that hold a catalog older than the one that was current when the mark was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReaderMark(pub(super) u64);
