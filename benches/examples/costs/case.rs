//! A case of the sweep: something that grows, and the operations whose cost is measured at each
//! size.

use std::path::Path;

/// Something that grows. A case is opened, grown and operated on once for each size, always on an
/// empty directory.
pub(crate) trait Case: Sized {
    /// An open database or service, with data that the operations of the case share.
    type Open;

    /// The name of what grows, in the table.
    fn dimension(&self) -> &'static str;

    /// The largest size to measure, if it is below the requested one.
    fn limit(&self) -> Option<Limit> {
        None
    }

    /// Opens an empty database or service in a directory.
    fn open(&self, dir: &Path) -> Self::Open;

    /// The operations, in order. The first ones create `size` of what grows.
    fn operations(&self) -> Vec<Operation<Self>>;
}

/// An operation whose CPU time is measured.
pub(crate) struct Operation<C: Case> {
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// Runs it for a size. Background threads are measured as well.
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
    /// Why larger sizes do not occur.
    pub(crate) reason: &'static str,
}
