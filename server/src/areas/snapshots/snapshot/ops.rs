//! The operations on snapshots. All of them block.

use telltale_engine::{TimestampMs, Versioned};
use zeroize::Zeroizing;

use super::model::{
    CaptureFailure, CaptureSettings, CapturedPage, PageSecrets, RefusedRequest, Snapshot,
    SnapshotState,
};
use super::store::seal_context;
use crate::app::App;
use crate::areas;
use crate::areas::snapshots::baseline::{self, BaselineOrigin, NewBaseline};
use crate::areas::snapshots::capture::{Capture, CaptureError, CaptureRequest};
use crate::areas::snapshots::documents::{self, Changes};
use crate::areas::snapshots::error::{SnapshotError, SnapshotKind};
use crate::areas::snapshots::ids::{BaselineId, SnapshotId};
use crate::areas::snapshots::images::{self, OwnedImage, StoredImage};
use crate::areas::snapshots::library::SnapshotEntry;
use crate::areas::snapshots::limits;
use crate::platform::outbound::OutboundUrl;
use crate::platform::sealing::SecretStore;

/// The code of a snapshot whose capture was interrupted each time.
const INTERRUPTED: &str = "interrupted";

/// Returns whether secrets of snapshots are stored.
pub(in crate::areas) fn has_secrets(app: &App) -> Result<bool, SnapshotError> {
    let secret = |found: Versioned<Snapshot>| found.value.secrets.map(drop);
    Ok(!documents::select(app.engine(), secret)?.is_empty())
}

/// Returns a snapshot.
pub(in crate::areas::snapshots) fn get(
    app: &App,
    id: SnapshotId,
) -> Result<Versioned<Snapshot>, SnapshotError> {
    documents::get(app.engine(), &id.text())
}

/// Creates a snapshot on behalf of a user, to be captured.
pub(super) fn create(
    app: &App,
    settings: CaptureSettings,
    secrets: &PageSecrets,
    created_by: String,
) -> Result<Versioned<Snapshot>, SnapshotError> {
    settings.request(secrets)?;
    OutboundUrl::parse(&settings.url, app.snapshots().policy())?;
    let page = settings.page().ok_or_else(|| {
        // The request for the browser was made from it.
        SnapshotError::NotFound(SnapshotKind::Snapshot, settings.url.clone())
    })?;
    app.snapshots().browser().check_executable()?;
    images::check_space(app)?;
    let id = SnapshotId(app.new_number());
    let secrets = match secrets.is_empty() {
        true => None,
        false => Some(seal(app, id, secrets)?),
    };
    let snapshot = Snapshot {
        id,
        page,
        settings,
        secrets,
        attempts: 0,
        state: SnapshotState::Pending,
        created_by,
        created_at: app.now(),
    };
    let mut changes = documents::begin(app);
    let max = limits::WAITING_SNAPSHOTS_MAX;
    if app.snapshots().library().waiting() >= max {
        return Err(SnapshotError::TooMany { kind: SnapshotKind::WaitingSnapshot, max });
    }
    changes.insert(&snapshot)?;
    commit(app, changes, snapshot)
}

/// Returns the image of a captured snapshot.
pub(super) fn image(app: &App, id: SnapshotId) -> Result<OwnedImage, SnapshotError> {
    let found = get(app, id)?.value;
    let captured = found.captured().ok_or(SnapshotError::State("the snapshot has no image"))?;
    Ok(OwnedImage { image: captured.image, owner: id.text() })
}

/// Deletes a snapshot. Its image stays as long as a baseline or a comparison shows it.
pub(super) fn delete(
    app: &App,
    id: SnapshotId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), SnapshotError> {
    let mut changes = documents::begin(app);
    let revision = changes.revision::<Snapshot>(&id.text(), fits)?;
    changes.delete::<Snapshot>(&id.text(), revision);
    changes.commit_then(None, |_| app.snapshots().library().remove_snapshot(id))?;
    app.file_waste().set();
    app.snapshots().wake_waiting();
    Ok(())
}

/// Begins to capture a snapshot. Returns what to capture, and `None` if there is nothing to do: it
/// was deleted, is final, or was begun too often.
pub(in crate::areas::snapshots) fn begin(
    app: &App,
    id: SnapshotId,
) -> Result<Option<CaptureRequest>, SnapshotError> {
    let changes = documents::begin(app);
    let found = match changes.get::<Snapshot>(&id.text(), |_| true) {
        Err(SnapshotError::NotFound(..)) => return Ok(None),
        found => found?,
    };
    let mut snapshot = found.value;
    if snapshot.state.is_final() {
        return Ok(None);
    }
    if snapshot.attempts >= limits::CAPTURE_ATTEMPTS_MAX {
        let message = "the capture was interrupted each time";
        fail(app, changes, snapshot, found.revision, INTERRUPTED, message.to_owned())?;
        return Ok(None);
    }
    let request = match request(app, &snapshot) {
        Ok(request) => request,
        Err((code, error)) => {
            fail(app, changes, snapshot, found.revision, code, error.to_string())?;
            return Ok(None);
        }
    };
    snapshot.attempts += 1;
    snapshot.state = SnapshotState::Capturing;
    replace(app, changes, snapshot, found.revision)?;
    Ok(Some(request))
}

/// Returns what to capture, or the code and the reason of the failure.
fn request(
    app: &App,
    snapshot: &Snapshot,
) -> Result<CaptureRequest, (&'static str, SnapshotError)> {
    // Others may have been captured since it was created.
    images::check_space(app).map_err(|error| ("images_full", error))?;
    let secrets = open(snapshot, app.snapshots().secrets());
    let secrets = secrets.map_err(|error| ("secrets_lost", error))?;
    // Limits may be other than those it was created under.
    snapshot.settings.request(&secrets).map_err(|error| ("invalid_settings", error))
}

/// Stores what came of a capture. The first captured snapshot of a page becomes its baseline.
pub(in crate::areas::snapshots) fn finish(
    app: &App,
    id: SnapshotId,
    outcome: Result<Capture, CaptureError>,
) -> Result<(), SnapshotError> {
    match outcome {
        Ok(capture) => images::store_image(app, &capture.png, |digest| {
            let image = StoredImage {
                digest,
                bytes: capture.png.len() as u64,
                width: capture.width,
                height: capture.height,
            };
            let Some((changes, found)) = unfinished_one(app, id)? else { return Ok(()) };
            complete(app, changes, found, captured(image, &capture, app.now()))
        }),
        Err(error) => {
            let Some((changes, found)) = unfinished_one(app, id)? else { return Ok(()) };
            let message = shortened(&error.to_string());
            fail(app, changes, found.value, found.revision, error.code(), message)
        }
    }
}

/// Begins to change a snapshot; `None` if it was deleted or is final.
fn unfinished_one(
    app: &App,
    id: SnapshotId,
) -> Result<Option<(Changes<'_>, Versioned<Snapshot>)>, SnapshotError> {
    let changes = documents::begin(app);
    match changes.get::<Snapshot>(&id.text(), |_| true) {
        Err(SnapshotError::NotFound(..)) => Ok(None),
        Err(error) => Err(error),
        Ok(found) if found.value.state.is_final() => Ok(None),
        Ok(found) => Ok(Some((changes, found))),
    }
}

/// Makes the snapshot the baseline of its page.
pub(super) fn make_baseline(
    app: &App,
    id: SnapshotId,
    created_by: String,
) -> Result<BaselineId, SnapshotError> {
    let mut changes = documents::begin(app);
    let snapshot = changes.get::<Snapshot>(&id.text(), |_| true)?.value;
    let captured = snapshot.captured().ok_or(SnapshotError::State("the snapshot has no image"))?;
    let new = NewBaseline {
        place: snapshot.place(),
        settings: snapshot.settings.place(),
        snapshot: id,
        image: captured.image,
        origin: BaselineOrigin::Chosen,
        created_by,
    };
    let added = baseline::add(app, &mut changes, new)?;
    let new_id = added.id();
    changes.commit_then(None, |_| added.show(app))?;
    Ok(new_id)
}

/// Returns the snapshots that are to be captured, and are not at the moment.
pub(super) fn unfinished(app: &App) -> Vec<SnapshotEntry> {
    let state = app.snapshots();
    let is_open = |entry: &SnapshotEntry| !entry.is_final;
    let mut open = state.library().snapshots(is_open, 0, limits::WAITING_SNAPSHOTS_MAX);
    // Not while the library is locked: each of the two locks is taken alone.
    open.retain(|entry| !state.is_captured_now(entry.id));
    open
}

/// Deletes the snapshots that were created before a time.
pub(in crate::areas::snapshots) fn expire(
    app: &App,
    before: TimestampMs,
) -> Result<(), SnapshotError> {
    let is_old = |entry: &SnapshotEntry| entry.is_final && entry.created_at < before;
    for entry in app.snapshots().library().snapshots(is_old, 0, limits::EXPIRED_AT_ONCE) {
        match delete(app, entry.id, |_| true) {
            Ok(()) | Err(SnapshotError::NotFound(..)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the beginning of a text of a page or of the browser, which may be megabytes.
fn shortened(text: &str) -> String {
    text.chars().take(limits::FOREIGN_TEXT_CHARS_MAX).collect()
}

fn captured(image: StoredImage, capture: &Capture, now: TimestampMs) -> CapturedPage {
    let refused = capture.traffic.refusals.iter().take(limits::REFUSALS_KEPT);
    let refused = refused.map(|refusal| RefusedRequest {
        host: shortened(&refusal.host),
        port: refusal.port,
        reason: shortened(&refusal.reason),
    });
    CapturedPage {
        image,
        captured_at: now,
        duration_ms: u64::try_from(capture.duration.as_millis()).unwrap_or(u64::MAX),
        http_status: capture.http_status,
        final_url: shortened(&capture.url),
        is_truncated: capture.is_truncated,
        is_unstable: capture.is_unstable,
        refused: refused.collect(),
        refused_total: capture.traffic.refused,
    }
}

fn complete(
    app: &App,
    mut changes: Changes<'_>,
    found: Versioned<Snapshot>,
    captured: CapturedPage,
) -> Result<(), SnapshotError> {
    let Versioned { value: mut snapshot, revision } = found;
    let image = captured.image;
    snapshot.secrets = None;
    snapshot.state = SnapshotState::Completed(Box::new(captured));
    changes.replace(&snapshot, revision)?;
    let place = snapshot.place();
    let first = match app.snapshots().library().current_baseline(&place) {
        Some(_) => None,
        None => {
            let new = NewBaseline {
                place,
                settings: snapshot.settings.place(),
                snapshot: snapshot.id,
                image,
                origin: BaselineOrigin::First,
                created_by: snapshot.created_by.clone(),
            };
            // The snapshot is worth keeping even if there are too many baselines.
            baseline::add(app, &mut changes, new)
                .inspect_err(|error| tracing::warn!(%error, "a page gets no baseline"))
                .ok()
        }
    };
    changes.commit_then(None, |_| {
        app.snapshots().library().put_snapshot(&snapshot);
        if let Some(first) = first {
            first.show(app);
        }
    })?;
    app.snapshots().wake_waiting();
    Ok(())
}

fn fail(
    app: &App,
    changes: Changes<'_>,
    mut snapshot: Snapshot,
    revision: u64,
    code: &str,
    message: String,
) -> Result<(), SnapshotError> {
    snapshot.secrets = None;
    snapshot.state = SnapshotState::Failed(CaptureFailure {
        code: code.to_owned(),
        message,
        failed_at: app.now(),
    });
    replace(app, changes, snapshot, revision)?;
    app.snapshots().wake_waiting();
    Ok(())
}

fn replace(
    app: &App,
    mut changes: Changes<'_>,
    snapshot: Snapshot,
    revision: u64,
) -> Result<(), SnapshotError> {
    changes.replace(&snapshot, revision)?;
    commit(app, changes, snapshot).map(drop)
}

fn commit(
    app: &App,
    changes: Changes<'_>,
    snapshot: Snapshot,
) -> Result<Versioned<Snapshot>, SnapshotError> {
    let show = |_| app.snapshots().library().put_snapshot(&snapshot);
    let revision = changes.commit_then(None, show)?;
    Ok(Versioned { value: snapshot, revision })
}

fn seal(app: &App, id: SnapshotId, secrets: &PageSecrets) -> Result<String, SnapshotError> {
    let plain = Zeroizing::new(secrets.to_plain());
    let sealer = areas::sealer_of_new_secrets(app, app.snapshots().secrets())?;
    Ok(sealer.seal(&plain, &seal_context(&id.text()))?.to_string())
}

fn open(snapshot: &Snapshot, secrets: &SecretStore) -> Result<PageSecrets, SnapshotError> {
    let Some(sealed) = &snapshot.secrets else { return Ok(PageSecrets::default()) };
    let id = snapshot.id.text();
    let plain = secrets.sealer()?.open(&sealed.parse()?, &seal_context(&id))?;
    PageSecrets::from_plain(&plain)
        .ok_or(SnapshotError::State("the secrets of the snapshot are damaged"))
}
