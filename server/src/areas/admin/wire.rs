//! The JSON of the area.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::{BackupReport, MergeReport, SealReport, VerifyReport};

/// Where a copy shall go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BackupInput {
    /// An absolute path on the server's machine where nothing is yet.
    #[schemars(regex(pattern = "^/"))]
    pub(super) target: PathBuf,
}

/// What was sealed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Sealed {
    points: u64,
    blocks: u64,
    bytes: u64,
}

/// What was merged.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Merged {
    windows: u64,
    blocks_read: u64,
    blocks_written: u64,
    bytes_read: u64,
    bytes_written: u64,
}

/// What was copied.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BackedUp {
    target: PathBuf,
    files: u64,
    bytes: u64,
    /// One line each: what is damaged in the copy, because it is in the original.
    damaged: Vec<String>,
}

/// What was checked.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Verified {
    /// Whether nothing is damaged.
    ok: bool,
    blocks: u64,
    log_records: u64,
    documents: u64,
    records: u64,
    bytes: u64,
    /// One line each: what is damaged and where.
    damaged: Vec<String>,
}

impl From<SealReport> for Sealed {
    fn from(report: SealReport) -> Self {
        Self { points: report.points, blocks: report.blocks, bytes: report.bytes }
    }
}

impl From<MergeReport> for Merged {
    fn from(report: MergeReport) -> Self {
        Self {
            windows: report.windows,
            blocks_read: report.blocks_read,
            blocks_written: report.blocks_written,
            bytes_read: report.bytes_read,
            bytes_written: report.bytes_written,
        }
    }
}

impl BackedUp {
    /// The copy at `target` is complete.
    pub(super) fn new(target: PathBuf, report: BackupReport) -> Self {
        Self { target, files: report.files, bytes: report.bytes, damaged: report.damaged }
    }
}

impl From<VerifyReport> for Verified {
    fn from(report: VerifyReport) -> Self {
        Self {
            ok: report.damaged.is_empty(),
            blocks: report.blocks,
            log_records: report.log_records,
            documents: report.documents,
            records: report.records,
            bytes: report.bytes,
            damaged: report.damaged,
        }
    }
}
