//! The operations on baselines. All of them block.

use std::sync::Arc;

use telltale_engine::MemoryOwner;

use super::model::{Baseline, BaselineOrigin, NewBaseline};
use crate::app::App;
use crate::areas::snapshots::documents::{self, Changes};
use crate::areas::snapshots::error::{SnapshotError, SnapshotKind};
use crate::areas::snapshots::ids::BaselineId;
use crate::areas::snapshots::images::read_image;

/// A baseline that a change adds, and those that it deletes because there are too many.
#[derive(Debug)]
pub(in crate::areas::snapshots) struct AddedBaseline {
    baseline: Baseline,
    deleted: Vec<BaselineId>,
}

/// Adds a baseline to a change: the current one of its place once the change is committed and
/// [`AddedBaseline::show`] was called.
pub(in crate::areas::snapshots) fn add(
    app: &App,
    changes: &mut Changes<'_>,
    new: NewBaseline,
) -> Result<AddedBaseline, SnapshotError> {
    if new.origin != BaselineOrigin::First {
        // One that cannot be read would replace one that can; a first one was stored just now.
        let _share = app.engine().memory().take(MemoryOwner::Queries, new.image.bytes)?;
        read_image(app, new.image, &new.snapshot.text())?;
    }
    let deleted = app.snapshots().library().superfluous_baselines(&new.place);
    let baseline = Baseline::new(BaselineId(app.new_number()), new, app.now());
    let mut gone = Vec::new();
    for id in deleted {
        match changes.revision::<Baseline>(&id.text(), |_| true) {
            Ok(revision) => changes.delete::<Baseline>(&id.text(), revision),
            Err(SnapshotError::NotFound(..)) => {}
            Err(error) => return Err(error),
        }
        gone.push(id);
    }
    // After those that it replaces, so that there may be as many as the limit allows.
    changes.insert(&baseline)?;
    Ok(AddedBaseline { baseline, deleted: gone })
}

impl AddedBaseline {
    /// Returns the id.
    pub(in crate::areas::snapshots) fn id(&self) -> BaselineId {
        self.baseline.id
    }

    /// Shows the committed change in memory.
    pub(in crate::areas::snapshots) fn show(self, app: &App) {
        let library = app.snapshots().library();
        library.put_baseline(self.baseline);
        if !self.deleted.is_empty() {
            self.deleted.into_iter().for_each(|id| library.remove_baseline(id));
            app.file_waste().set();
        }
    }
}

/// Returns a baseline, and whether it is current.
pub(in crate::areas::snapshots) fn get(
    app: &App,
    id: BaselineId,
) -> Result<(Arc<Baseline>, bool), SnapshotError> {
    let missing = || SnapshotError::NotFound(SnapshotKind::Baseline, id.text());
    app.snapshots().library().baseline(id).ok_or_else(missing)
}

/// Deletes a baseline, which may be unreadable. The one before it is current then.
pub(super) fn delete(app: &App, id: BaselineId) -> Result<(), SnapshotError> {
    let mut changes = documents::begin(app);
    let revision = changes.revision::<Baseline>(&id.text(), |_| true)?;
    changes.delete::<Baseline>(&id.text(), revision);
    changes.commit_then(None, |_| app.snapshots().library().remove_baseline(id))?;
    app.file_waste().set();
    Ok(())
}

/// Makes the image of a baseline before the current one a new baseline.
pub(super) fn restore(
    app: &App,
    id: BaselineId,
    created_by: String,
) -> Result<(Arc<Baseline>, bool), SnapshotError> {
    let mut changes = documents::begin(app);
    let (old, is_current) = get(app, id)?;
    if is_current {
        return Err(SnapshotError::State("the baseline is the current one"));
    }
    let new = NewBaseline {
        place: old.place,
        settings: old.settings(),
        snapshot: old.snapshot,
        image: old.image,
        origin: BaselineOrigin::Restored(id),
        created_by,
    };
    let added = add(app, &mut changes, new)?;
    let new_id = added.id();
    changes.commit_then(None, |_| added.show(app))?;
    get(app, new_id)
}
