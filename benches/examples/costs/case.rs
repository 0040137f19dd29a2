//! What a case of the sweep is: something that grows, and the operations whose cost is measured at
//! each size.

use std::path::Path;

/// Something that grows. A case is opened, grown and operated on once for each size, always on an
/// empty directory.
pub(crate) trait Case: Sized {
    /// An open database or service, with what the operations of the case hand on to each other.
    type Open;

    /// What grows, as the table names it.
    fn dimension(&self) -> &'static str;

    /// The largest size that is worth a measurement, where that is not the one asked for.
    fn limit(&self) -> Option<Limit> {
        None
    }

    /// Opens an empty database or service in a directory.
    fn open(&self, dir: &Path) -> Self::Open;

    /// What the operations cost, in this order. The first ones make `size` of what grows.
    fn operations(&self) -> Vec<Operation<Self>>;
}

/// Something whose CPU time is measured.
pub(crate) struct Operation<C: Case> {
    /// As the table names it.
    pub(crate) name: &'static str,
    /// Does it for a size. Background threads count as well.
    pub(crate) act: fn(&C, &mut C::Open, usize),
}

impl<C: Case> Operation<C> {
    pub(crate) fn new(name: &'static str, act: fn(&C, &mut C::Open, usize)) -> Self {
        Self { name, act }
    }
}

/// A size above which a dimension is not swept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) size: usize,
    /// Why nobody has more.
    pub(crate) reason: &'static str,
}
