//! The documents of the area: one collection for each kind of resource.

use super::error::{RepositoryError, RepositoryKind};
use crate::app::App;
pub(super) use crate::platform::documents::{DocumentLock, StoredResource, get, select};

/// A change of any number of resources, applied as a whole or not at all.
pub(super) type Changes<'a> =
    crate::platform::documents::Changes<'a, RepositoryKind, RepositoryError>;

/// Waits for the change before this one.
pub(super) fn begin(app: &App) -> Changes<'_> {
    Changes::begin(app.engine(), app.repositories().documents())
}
