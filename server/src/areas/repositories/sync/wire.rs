//! The JSON of syncs.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{CompletedSync, Sync, SyncState, SyncStats};
use super::progress::SyncProgress;
use crate::app::App;
use crate::areas::repositories::limits;
use crate::areas::repositories::wire::FailureView;
use crate::platform::time::IsoTime;

/// How far a sync is.
#[derive(JsonSchema)]
#[schemars(rename = "SyncStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum StatusName {
    Started,
    Completed,
    Failed,
}

/// Why a sync began.
#[derive(JsonSchema)]
#[schemars(rename = "SyncTrigger", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum TriggerName {
    Created,
    Requested,
    Changed,
    Automatic,
}

/// What a sync does now.
#[derive(JsonSchema)]
#[schemars(rename = "SyncStep", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum StepName {
    Fetching,
    Reading,
    Indexing,
}

/// A sync that was begun, or that runs already.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StartedSync")]
pub(super) struct StartedSyncView {
    sync_id: String,
    #[schemars(with = "StatusName")]
    status: &'static str,
    started_at: IsoTime,
}

/// Syncs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SyncList")]
pub(super) struct SyncListView {
    syncs: Vec<SyncView>,
}

/// A sync.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Sync")]
pub(super) struct SyncView {
    sync_id: String,
    #[schemars(with = "StatusName")]
    status: &'static str,
    started_at: IsoTime,
    /// When it completed or failed.
    completed_at: Option<IsoTime>,
    stats: SyncStatsView,
    #[schemars(with = "TriggerName")]
    trigger: &'static str,
    /// The commit that was indexed, or is still.
    commit: Option<String>,
    branch: Option<String>,
    /// Only while it runs.
    progress: Option<SyncProgressView>,
    /// Why it failed.
    error: Option<FailureView>,
}

/// What a sync has done; zeros until it has completed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SyncStats")]
struct SyncStatsView {
    /// New and changed files, which were read.
    files_processed: u64,
    /// Chunks of these files.
    chunks_created: u64,
    /// Pages of the wiki and diagrams; none if the commit is the one before.
    pages_generated: u64,
    files_unchanged: u64,
    files_removed: u64,
    /// Files of the commit that are not indexed, by reason.
    files_skipped: SkippedFilesView,
}

/// The files of a commit that are not indexed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SkippedFiles")]
struct SkippedFilesView {
    /// By the patterns.
    excluded: u64,
    /// Larger than `repositories.file_bytes_max`.
    too_large: u64,
    binary: u64,
    not_utf8: u64,
    /// Files that say that they were generated.
    generated: u64,
    symbolic_links: u64,
    submodules: u64,
    /// Paths that are not UTF-8, are too long, or lead out of the repository.
    invalid_paths: u64,
}

/// How far a sync is.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SyncProgress")]
struct SyncProgressView {
    #[schemars(with = "StepName")]
    step: &'static str,
    files_done: u64,
    files_total: u64,
}

impl StartedSyncView {
    pub(super) fn new(sync: &Sync) -> Self {
        Self {
            sync_id: sync.id.text(),
            status: sync.state.name(),
            started_at: IsoTime(sync.started_at),
        }
    }
}

impl SyncListView {
    pub(super) fn new(app: &App, syncs: &[Sync]) -> Self {
        Self { syncs: syncs.iter().map(|sync| SyncView::new(app, sync)).collect() }
    }
}

impl SyncView {
    pub(super) fn new(app: &App, sync: &Sync) -> Self {
        let (completed, failure) = match &sync.state {
            SyncState::Started => (None, None),
            SyncState::Completed(completed) => (Some(completed), None),
            SyncState::Failed(failure) => (None, Some(failure)),
        };
        let ended_at = completed.map(|completed| completed.at).or(failure.map(|failed| failed.at));
        Self {
            sync_id: sync.id.text(),
            status: sync.state.name(),
            started_at: IsoTime(sync.started_at),
            completed_at: ended_at.map(IsoTime),
            stats: SyncStatsView::new(completed.map_or_else(SyncStats::default, |of| of.stats)),
            trigger: sync.trigger.name(),
            commit: completed.map(short_commit),
            branch: completed.map(|completed| completed.branch.to_string()),
            progress: app.repositories().progress(sync.id).map(SyncProgressView::new),
            error: failure.map(FailureView::new),
        }
    }
}

impl SyncStatsView {
    fn new(stats: SyncStats) -> Self {
        let skipped = stats.skipped;
        Self {
            files_processed: stats.files_processed,
            chunks_created: stats.chunks_created,
            pages_generated: stats.pages_generated,
            files_unchanged: stats.files_unchanged,
            files_removed: stats.files_removed,
            files_skipped: SkippedFilesView {
                excluded: skipped.excluded,
                too_large: skipped.too_large,
                binary: skipped.binary,
                not_utf8: skipped.not_utf8,
                generated: skipped.generated,
                symbolic_links: skipped.links,
                submodules: skipped.submodules,
                invalid_paths: skipped.invalid_paths,
            },
        }
    }
}

impl SyncProgressView {
    fn new(progress: SyncProgress) -> Self {
        Self {
            step: progress.step.name(),
            files_done: progress.files_done,
            files_total: progress.files_total,
        }
    }
}

fn short_commit(completed: &CompletedSync) -> String {
    completed.commit.to_string().chars().take(limits::COMMIT_CHARS).collect()
}
