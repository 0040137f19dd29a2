//! The limits of snapshots, baselines and comparisons, with units and reasons. Those of captures
//! and of comparisons of pictures are in their folders.

/// Snapshots: what memory and the start of the server pay for.
pub(super) const SNAPSHOTS_MAX: usize = 50_000;
/// Snapshots that are not captured yet.
pub(super) const WAITING_SNAPSHOTS_MAX: usize = 500;
/// Comparisons, for the same reason as snapshots.
pub(super) const COMPARISONS_MAX: usize = 50_000;
/// Baselines, current ones and those before them.
pub(super) const BASELINES_MAX: usize = 50_000;
/// Baselines that are kept of a page, browser, viewport and area: the current one and those before
/// it, which can be restored.
pub(super) const BASELINES_KEPT: usize = 20;

/// Attempts to capture a snapshot: more than one if the server ends during the first.
pub(super) const CAPTURE_ATTEMPTS_MAX: u32 = 3;
/// Seconds that a job may take: the start of the browser and the capture.
pub(super) const CAPTURE_JOB_SECONDS: u32 = 180;
/// Milliseconds that a request waits for its snapshot.
pub(super) const CAPTURE_WAIT_MS: u64 = 30_000;

/// Default number of items of a list.
pub(super) const LIST_LIMIT: usize = 50;
/// Characters of the reason for an approval or a rejection.
pub(super) const REASON_CHARS_MAX: usize = 2_000;
/// Refused requests of a page that are stored with its snapshot.
pub(super) const REFUSALS_KEPT: usize = 20;
/// Bytes of memory per pixel of two pictures and their comparison: four of each picture, as much
/// again while they are decoded, one of the marks, and the diff image.
pub(super) const COMPARE_BYTES_PER_PIXEL: u64 = 20;
/// Bytes of memory of a snapshot, comparison or baseline, beside its URL: its entries in the maps.
pub(super) const ENTRY_BYTES: u64 = 320;
/// Snapshots or comparisons that a sweep deletes at a time.
pub(super) const EXPIRED_AT_ONCE: usize = 1_000;
/// Characters that are kept of what a page or the browser says: URLs, hosts, reasons.
pub(super) const FOREIGN_TEXT_CHARS_MAX: usize = 2_048;
