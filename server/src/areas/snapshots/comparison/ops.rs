//! The operations on comparisons. All of them block.

use telltale_engine::{MemoryOwner, TimestampMs, Versioned};

use super::model::{
    ComparedImage, Comparison, Decision, FoundDifference, PixelArea, Region, Verdict,
};
use crate::app::App;
use crate::areas::snapshots::baseline::{self, Baseline, BaselineOrigin, NewBaseline};
use crate::areas::snapshots::compare::{
    ChangedRegion, CompareOptions, Difference, Rectangle, compare_png,
};
use crate::areas::snapshots::documents;
use crate::areas::snapshots::error::{SnapshotError, SnapshotKind};
use crate::areas::snapshots::ids::{BaselineId, ComparisonId, SnapshotId};
use crate::areas::snapshots::images::{self, OwnedImage, StoredImage};
use crate::areas::snapshots::library::ComparisonEntry;
use crate::areas::snapshots::limits;
use crate::areas::snapshots::place::PlaceSettings;
use crate::areas::snapshots::snapshot;

/// What a request says about a comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct ComparisonDraft {
    /// In percent; the configured one if absent.
    pub(super) threshold: Option<f64>,
    pub(super) ignored: Vec<PixelArea>,
    pub(super) created_by: String,
}

/// Compares a snapshot with the baseline of its page.
pub(super) fn create(
    app: &App,
    id: SnapshotId,
    draft: ComparisonDraft,
) -> Result<Versioned<Comparison>, SnapshotError> {
    images::check_space(app)?;
    check_count(app)?;
    let snapshot = snapshot::get(app, id)?.value;
    let captured = snapshot.captured().ok_or(SnapshotError::State("the snapshot has no image"))?;
    let snapshot_image = captured.image;
    let library = app.snapshots().library();
    let place = snapshot.place();
    let current = library.current_baseline(&place).ok_or(SnapshotError::NoBaseline)?;
    let options = CompareOptions::default()
        .with_ignored_regions(draft.ignored.iter().map(|area| (*area).into()).collect())?;
    let (found, diff) = {
        let bytes = memory_of(current.image, snapshot_image);
        let _share = app.engine().memory().take(MemoryOwner::Queries, bytes)?;
        let baseline_png = images::read_image(app, current.image, &current.id.text())?;
        let snapshot_png = images::read_image(app, snapshot_image, &id.text())?;
        let difference = compare_png(&baseline_png, &snapshot_png, &options)?;
        let png = difference.picture.to_png()?;
        (FoundDifference::from(&difference), png)
    };
    images::store_image(app, &diff, |digest| {
        let comparison = Comparison {
            id: ComparisonId(app.new_number()),
            place,
            url: snapshot.settings.url,
            viewport: snapshot.settings.viewport,
            full_page: snapshot.settings.full_page,
            snapshot: id,
            baseline: current.id,
            baseline_image: current.image,
            snapshot_image,
            diff_image: StoredImage {
                digest,
                bytes: diff.len() as u64,
                width: current.image.width.max(snapshot_image.width),
                height: current.image.height.max(snapshot_image.height),
            },
            found,
            threshold: draft.threshold.unwrap_or(app.snapshots().settings().threshold.get()),
            ignored: draft.ignored,
            decision: Decision::Pending,
            created_by: draft.created_by,
            created_at: app.now(),
        };
        store(app, comparison)
    })
}

/// Checks that there may be another comparison, before two images are compared for nothing.
fn check_count(app: &App) -> Result<(), SnapshotError> {
    let max = limits::COMPARISONS_MAX;
    match app.snapshots().library().comparison_count() < max {
        true => Ok(()),
        false => Err(SnapshotError::TooMany { kind: SnapshotKind::Comparison, max }),
    }
}

/// Stores a new comparison, unless its images have been deleted.
fn store(app: &App, comparison: Comparison) -> Result<Versioned<Comparison>, SnapshotError> {
    let library = app.snapshots().library();
    let mut changes = documents::begin(app);
    let compared = [comparison.snapshot_image, comparison.baseline_image];
    if !compared.iter().all(|image| library.uses_image(image.digest)) {
        return Err(SnapshotError::State("the snapshot was deleted while it was compared"));
    }
    changes.insert(&comparison)?;
    let revision = changes.commit_then(None, |_| library.put_comparison(&comparison))?;
    Ok(Versioned { value: comparison, revision })
}

/// Returns a comparison.
pub(super) fn get(app: &App, id: ComparisonId) -> Result<Versioned<Comparison>, SnapshotError> {
    documents::get(app.engine(), &id.text())
}

/// Returns the comparisons that are wanted, newest first, without the first `offset`.
pub(super) fn list(
    app: &App,
    is_wanted: impl Fn(&ComparisonEntry) -> bool,
    offset: usize,
    limit: usize,
) -> Result<Vec<Comparison>, SnapshotError> {
    let entries = app.snapshots().library().comparisons(is_wanted, offset, limit);
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        match get(app, entry.id) {
            Ok(comparison) => found.push(comparison.value),
            // Deleted meanwhile.
            Err(SnapshotError::NotFound(..)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Returns an image of a comparison.
pub(super) fn image(
    app: &App,
    id: ComparisonId,
    which: ComparedImage,
) -> Result<OwnedImage, SnapshotError> {
    let comparison = get(app, id)?.value;
    Ok(OwnedImage { image: comparison.image(which), owner: id.text() })
}

/// Approves a comparison: its snapshot becomes the baseline of the page.
pub(super) fn approve(
    app: &App,
    id: ComparisonId,
    verdict: Verdict,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Comparison>, SnapshotError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut comparison, revision } =
        changes.get::<Comparison>(&id.text(), fits)?;
    comparison.check_pending()?;
    check_not_outdated(app, &comparison)?;
    let new = new_baseline(&comparison, BaselineOrigin::Approved(id), verdict.by.clone());
    let added = baseline::add(app, &mut changes, new)?;
    comparison.decision = Decision::Approved { verdict, baseline: added.id() };
    changes.replace(&comparison, revision)?;
    let revision = changes.commit_then(None, |_| {
        app.snapshots().library().put_comparison(&comparison);
        added.show(app);
    })?;
    Ok(Versioned { value: comparison, revision })
}

/// Checks that an approval does not silently put an older snapshot in the place of a newer one.
fn check_not_outdated(app: &App, comparison: &Comparison) -> Result<(), SnapshotError> {
    let current = app.snapshots().library().current_baseline(&comparison.place);
    let is_outdated = |current: &Baseline| {
        current.id != comparison.baseline && current.snapshot > comparison.snapshot
    };
    match current.is_some_and(|current| is_outdated(&current)) {
        true => Err(SnapshotError::State(
            "the page has the baseline of a newer snapshot; update_baseline replaces it all the same",
        )),
        false => Ok(()),
    }
}

/// Rejects a comparison. The baseline stays.
pub(super) fn reject(
    app: &App,
    id: ComparisonId,
    verdict: Verdict,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Comparison>, SnapshotError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut comparison, revision } =
        changes.get::<Comparison>(&id.text(), fits)?;
    comparison.check_pending()?;
    comparison.decision = Decision::Rejected(verdict);
    changes.replace(&comparison, revision)?;
    let show = |_| app.snapshots().library().put_comparison(&comparison);
    let revision = changes.commit_then(None, show)?;
    Ok(Versioned { value: comparison, revision })
}

/// Makes the snapshot of a comparison the baseline of its page, without a decision.
pub(super) fn update_baseline(
    app: &App,
    id: ComparisonId,
    created_by: String,
) -> Result<(Versioned<Comparison>, BaselineId), SnapshotError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<Comparison>(&id.text(), |_| true)?;
    let new = new_baseline(&found.value, found.value.update_origin(), created_by);
    let added = baseline::add(app, &mut changes, new)?;
    let new_id = added.id();
    changes.commit_then(None, |_| added.show(app))?;
    Ok((found, new_id))
}

/// Deletes a comparison.
pub(super) fn delete(
    app: &App,
    id: ComparisonId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), SnapshotError> {
    let mut changes = documents::begin(app);
    let revision = changes.revision::<Comparison>(&id.text(), fits)?;
    changes.delete::<Comparison>(&id.text(), revision);
    changes.commit_then(None, |_| app.snapshots().library().remove_comparison(id))?;
    app.file_waste().set();
    Ok(())
}

/// Deletes the comparisons that were made before a time.
pub(in crate::areas::snapshots) fn expire(
    app: &App,
    before: TimestampMs,
) -> Result<(), SnapshotError> {
    let is_old = |entry: &ComparisonEntry| entry.created_at < before;
    for entry in app.snapshots().library().comparisons(is_old, 0, limits::EXPIRED_AT_ONCE) {
        match delete(app, entry.id, |_| true) {
            Ok(()) | Err(SnapshotError::NotFound(..)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn new_baseline(
    comparison: &Comparison,
    origin: BaselineOrigin,
    created_by: String,
) -> NewBaseline {
    NewBaseline {
        place: comparison.place,
        settings: PlaceSettings {
            url: comparison.url.clone(),
            viewport: comparison.viewport,
            full_page: comparison.full_page,
        },
        snapshot: comparison.snapshot,
        image: comparison.snapshot_image,
        origin,
        created_by,
    }
}

/// Returns how much memory a comparison takes.
fn memory_of(baseline: StoredImage, snapshot: StoredImage) -> u64 {
    let width = u64::from(baseline.width.max(snapshot.width));
    let height = u64::from(baseline.height.max(snapshot.height));
    let pixels = width.saturating_mul(height);
    let files = baseline.bytes.saturating_add(snapshot.bytes);
    pixels.saturating_mul(limits::COMPARE_BYTES_PER_PIXEL).saturating_add(files)
}

impl From<&Difference> for FoundDifference {
    fn from(difference: &Difference) -> Self {
        Self {
            diff_pixels: difference.diff_pixels,
            total_pixels: difference.all_pixels,
            diff_percentage: difference.diff_percentage(),
            sizes_differ: difference.sizes_differ,
            regions: difference.regions.iter().map(Region::from).collect(),
            regions_total: difference.regions_total as u64,
        }
    }
}

impl From<&ChangedRegion> for Region {
    fn from(region: &ChangedRegion) -> Self {
        let Rectangle { x, y, width, height } = region.rectangle;
        Self { area: PixelArea { x, y, width, height }, diff_pixels: region.diff_pixels }
    }
}

impl From<PixelArea> for Rectangle {
    fn from(area: PixelArea) -> Self {
        let PixelArea { x, y, width, height } = area;
        Self { x, y, width, height }
    }
}
