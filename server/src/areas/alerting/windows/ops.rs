//! The operations on maintenance windows. All of them block.

use telltale_engine::Versioned;

use super::model::{Occurrences, Window, WindowChange, WindowSettings};
use crate::app::App;
use crate::areas::alerting::documents::{self, Changes};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::WindowId;

/// Returns what `select` makes of the windows, newest first.
pub(super) fn list<S>(
    app: &App,
    select: impl FnMut(Versioned<Window>) -> Option<S>,
) -> Result<Vec<S>, AlertingError> {
    documents::select(app.engine(), select)
}

/// Returns one window.
pub(super) fn get(app: &App, id: &WindowId) -> Result<Versioned<Window>, AlertingError> {
    documents::get(app.engine(), id.as_str())
}

/// Creates a window on behalf of a user.
pub(super) fn create(
    app: &App,
    settings: WindowSettings,
    created_by: String,
) -> Result<Versioned<Window>, AlertingError> {
    let occurrences = Occurrences::new(&settings)?;
    let mut changes = Changes::begin(app);
    let id = app.new_id(WindowId::PREFIX).into();
    let window = Window { id, settings, occurrences, created_by, created_at: app.now() };
    changes.insert(&window)?;
    let revision = changes.commit(None)?;
    Ok(Versioned { value: window, revision })
}

/// Changes a window. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    id: &WindowId,
    change: WindowChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Window>, AlertingError> {
    let mut changes = Changes::begin(app);
    let Versioned { value: mut window, revision } = changes.get::<Window>(id.as_str(), fits)?;
    window.change(change)?;
    changes.replace(&window, revision)?;
    let revision = changes.commit(None)?;
    Ok(Versioned { value: window, revision })
}

/// Deletes a window.
pub(super) fn delete(
    app: &App,
    id: &WindowId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), AlertingError> {
    let mut changes = Changes::begin(app);
    let found = changes.get::<Window>(id.as_str(), fits)?;
    changes.delete::<Window>(id.as_str(), found.revision);
    changes.commit(None).map(drop)
}
