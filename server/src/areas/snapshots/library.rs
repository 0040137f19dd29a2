//! What is kept in memory of snapshots, baselines and comparisons: what lists show, what baselines
//! are current, and which images are used.
//!
//! It is changed under the lock of the documents, right after a change is committed, so whoever
//! holds that lock sees what is stored.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::RwLock;
use telltale_engine::{Engine, FileDigest, TimestampMs};

use super::baseline::Baseline;
use super::comparison::Comparison;
use super::documents;
use super::error::SnapshotError;
use super::ids::{BaselineId, ComparisonId, PageId, SnapshotId};
use super::limits;
use super::place::Place;
use super::snapshot::{Snapshot, SnapshotState};

/// The snapshots, baselines and comparisons.
#[derive(Debug, Default)]
pub(super) struct Library(RwLock<Shelves>);

#[derive(Debug, Default)]
struct Shelves {
    snapshots: BTreeMap<SnapshotId, SnapshotEntry>,
    baselines: BTreeMap<BaselineId, Arc<Baseline>>,
    /// The baselines of each place, oldest first: the last one is current.
    places: HashMap<Place, Vec<BaselineId>>,
    comparisons: BTreeMap<ComparisonId, ComparisonEntry>,
    /// How often each image is used.
    images: HashMap<FileDigest, u32>,
    /// The number of snapshots that are not final.
    waiting: usize,
    /// Bytes of the URLs.
    text_bytes: usize,
}

/// A snapshot, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SnapshotEntry {
    pub(super) id: SnapshotId,
    pub(super) page: PageId,
    pub(super) url: Arc<str>,
    /// The name of its state.
    pub(super) status: &'static str,
    pub(super) is_final: bool,
    pub(super) created_at: TimestampMs,
    pub(super) captured_at: Option<TimestampMs>,
    image: Option<FileDigest>,
}

/// A comparison, as lists need it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ComparisonEntry {
    pub(super) id: ComparisonId,
    pub(super) page: PageId,
    pub(super) snapshot: SnapshotId,
    /// The name of its state.
    pub(super) status: &'static str,
    pub(super) created_at: TimestampMs,
    images: [FileDigest; 3],
}

impl Library {
    /// Reads everything that is stored. Blocks.
    pub(super) fn open(engine: &Engine) -> Result<Self, SnapshotError> {
        let library = Self::default();
        documents::select::<Snapshot, ()>(engine, |found| {
            library.put_snapshot(&found.value);
            None
        })?;
        documents::select::<Baseline, ()>(engine, |found| {
            library.put_baseline(found.value);
            None
        })?;
        documents::select::<Comparison, ()>(engine, |found| {
            library.put_comparison(&found.value);
            None
        })?;
        Ok(library)
    }

    /// Adds a snapshot, or replaces it.
    pub(super) fn put_snapshot(&self, snapshot: &Snapshot) {
        let entry = SnapshotEntry::from(snapshot);
        let mut shelves = self.0.write();
        shelves.remove_snapshot(snapshot.id);
        shelves.text_bytes += entry.url.len();
        shelves.waiting += usize::from(!entry.is_final);
        shelves.use_images(entry.image);
        shelves.snapshots.insert(entry.id, entry);
    }

    /// Removes a snapshot.
    pub(super) fn remove_snapshot(&self, id: SnapshotId) {
        self.0.write().remove_snapshot(id);
    }

    /// Adds a baseline, which is the current one of its place from now on.
    pub(super) fn put_baseline(&self, baseline: Baseline) {
        let mut shelves = self.0.write();
        shelves.use_images([baseline.image.digest]);
        shelves.text_bytes += baseline.url.len();
        let of_place = shelves.places.entry(baseline.place).or_default();
        // They are read in the order of their ids, which is that of their creation.
        of_place.push(baseline.id);
        of_place.sort_unstable();
        shelves.baselines.insert(baseline.id, Arc::new(baseline));
    }

    /// Removes a baseline.
    pub(super) fn remove_baseline(&self, id: BaselineId) {
        let mut shelves = self.0.write();
        let Some(baseline) = shelves.baselines.remove(&id) else { return };
        shelves.drop_images([baseline.image.digest]);
        shelves.text_bytes -= baseline.url.len();
        if let Some(of_place) = shelves.places.get_mut(&baseline.place) {
            of_place.retain(|of_place| *of_place != id);
            if of_place.is_empty() {
                shelves.places.remove(&baseline.place);
            }
        }
    }

    /// Adds a comparison, or replaces it.
    pub(super) fn put_comparison(&self, comparison: &Comparison) {
        let entry = ComparisonEntry::from(comparison);
        let mut shelves = self.0.write();
        shelves.remove_comparison(comparison.id);
        shelves.use_images(entry.images);
        shelves.comparisons.insert(entry.id, entry);
    }

    /// Removes a comparison.
    pub(super) fn remove_comparison(&self, id: ComparisonId) {
        self.0.write().remove_comparison(id);
    }

    /// Returns the snapshots that are wanted, newest first, without the first `offset`, at most
    /// `limit`.
    pub(super) fn snapshots(
        &self,
        is_wanted: impl Fn(&SnapshotEntry) -> bool,
        offset: usize,
        limit: usize,
    ) -> Vec<SnapshotEntry> {
        let shelves = self.0.read();
        let wanted = shelves.snapshots.values().rev().filter(|entry| is_wanted(entry));
        wanted.skip(offset).take(limit).cloned().collect()
    }

    /// Returns the comparisons that are wanted, like [`Self::snapshots`].
    pub(super) fn comparisons(
        &self,
        is_wanted: impl Fn(&ComparisonEntry) -> bool,
        offset: usize,
        limit: usize,
    ) -> Vec<ComparisonEntry> {
        let shelves = self.0.read();
        let wanted = shelves.comparisons.values().rev().filter(|entry| is_wanted(entry));
        wanted.skip(offset).take(limit).cloned().collect()
    }

    /// Returns the baselines that are wanted, like [`Self::snapshots`], and whether each is the
    /// current one.
    pub(super) fn baselines(
        &self,
        is_wanted: impl Fn(&Baseline, bool) -> bool,
        offset: usize,
        limit: usize,
    ) -> Vec<(Arc<Baseline>, bool)> {
        let shelves = self.0.read();
        let all = shelves.baselines.values().rev();
        let all = all.map(|baseline| (baseline, shelves.is_current(baseline)));
        let wanted = all.filter(|(baseline, is_current)| is_wanted(baseline, *is_current));
        wanted
            .skip(offset)
            .take(limit)
            .map(|(baseline, is_current)| (Arc::clone(baseline), is_current))
            .collect()
    }

    /// Returns a baseline, and whether it is current.
    pub(super) fn baseline(&self, id: BaselineId) -> Option<(Arc<Baseline>, bool)> {
        let shelves = self.0.read();
        let baseline = shelves.baselines.get(&id)?;
        Some((Arc::clone(baseline), shelves.is_current(baseline)))
    }

    /// Returns the current baseline of a place.
    pub(super) fn current_baseline(&self, place: &Place) -> Option<Arc<Baseline>> {
        let shelves = self.0.read();
        let id = shelves.places.get(place)?.last()?;
        shelves.baselines.get(id).map(Arc::clone)
    }

    /// Returns the baselines of a place that are too many when there is one more, oldest first.
    pub(super) fn superfluous_baselines(&self, place: &Place) -> Vec<BaselineId> {
        let shelves = self.0.read();
        let Some(of_place) = shelves.places.get(place) else { return Vec::new() };
        let excess = (of_place.len() + 1).saturating_sub(limits::BASELINES_KEPT);
        of_place.iter().take(excess).copied().collect()
    }

    /// Returns the number of snapshots that are not captured yet.
    pub(super) fn waiting(&self) -> usize {
        self.0.read().waiting
    }

    /// Reports the images that are missing in the files of the engine. Blocks.
    pub(super) fn check_images(&self, engine: &Engine) {
        let shelves = self.0.read();
        let of_snapshots = shelves.snapshots.values();
        let of_snapshots =
            of_snapshots.filter_map(|entry| entry.image.map(|digest| (digest, entry.id.text())));
        let of_baselines = shelves.baselines.values();
        let of_baselines = of_baselines.map(|of| (of.image.digest, of.id.text()));
        let of_comparisons = shelves.comparisons.values();
        let of_comparisons =
            of_comparisons.flat_map(|entry| entry.images.map(|digest| (digest, entry.id.text())));
        engine.files().check_stored(of_snapshots.chain(of_baselines).chain(of_comparisons));
    }

    /// Returns the number of comparisons.
    pub(super) fn comparison_count(&self) -> usize {
        self.0.read().comparisons.len()
    }

    /// Returns the greatest number of an id.
    pub(super) fn greatest_id(&self) -> u128 {
        let shelves = self.0.read();
        let last = [
            shelves.snapshots.keys().next_back().map(|id| id.0),
            shelves.baselines.keys().next_back().map(|id| id.0),
            shelves.comparisons.keys().next_back().map(|id| id.0),
        ];
        last.into_iter().flatten().max().unwrap_or(0)
    }

    /// Returns whether an image is used.
    pub(super) fn uses_image(&self, digest: FileDigest) -> bool {
        self.0.read().images.contains_key(&digest)
    }

    /// Returns the state of a snapshot by its name and whether it is final.
    pub(super) fn is_final(&self, id: SnapshotId) -> Option<bool> {
        self.0.read().snapshots.get(&id).map(|entry| entry.is_final)
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let shelves = self.0.read();
        let entries = shelves.snapshots.len()
            + shelves.baselines.len() * 2
            + shelves.comparisons.len()
            + shelves.images.len();
        entries as u64 * limits::ENTRY_BYTES + shelves.text_bytes as u64
    }
}

impl Shelves {
    fn remove_snapshot(&mut self, id: SnapshotId) {
        if let Some(entry) = self.snapshots.remove(&id) {
            self.text_bytes -= entry.url.len();
            self.waiting -= usize::from(!entry.is_final);
            self.drop_images(entry.image);
        }
    }

    fn remove_comparison(&mut self, id: ComparisonId) {
        if let Some(entry) = self.comparisons.remove(&id) {
            self.drop_images(entry.images);
        }
    }

    fn is_current(&self, baseline: &Baseline) -> bool {
        let of_place = self.places.get(&baseline.place);
        of_place.and_then(|ids| ids.last()) == Some(&baseline.id)
    }

    fn use_images(&mut self, images: impl IntoIterator<Item = FileDigest>) {
        for image in images {
            *self.images.entry(image).or_default() += 1;
        }
    }

    fn drop_images(&mut self, images: impl IntoIterator<Item = FileDigest>) {
        for image in images {
            match self.images.get_mut(&image) {
                Some(uses) if *uses > 1 => *uses -= 1,
                _ => drop(self.images.remove(&image)),
            }
        }
    }
}

impl From<&Snapshot> for SnapshotEntry {
    fn from(snapshot: &Snapshot) -> Self {
        let captured = match &snapshot.state {
            SnapshotState::Completed(captured) => Some(captured),
            _ => None,
        };
        Self {
            id: snapshot.id,
            page: snapshot.page,
            url: snapshot.settings.url.as_str().into(),
            status: snapshot.state.name(),
            is_final: snapshot.state.is_final(),
            created_at: snapshot.created_at,
            captured_at: captured.map(|captured| captured.captured_at),
            image: captured.map(|captured| captured.image.digest),
        }
    }
}

impl From<&Comparison> for ComparisonEntry {
    fn from(comparison: &Comparison) -> Self {
        Self {
            id: comparison.id,
            page: comparison.place.page(),
            snapshot: comparison.snapshot,
            status: comparison.decision.name(),
            created_at: comparison.created_at,
            images: comparison.images().map(|image| image.digest),
        }
    }
}
