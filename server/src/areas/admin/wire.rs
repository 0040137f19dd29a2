//! The JSON types of the area.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::{BackupReport, CompactionReport, SealReport, VerifyReport};

/// The parameters of a backup.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BackupInput {
    /// An absolute path on the server's machine that does not exist yet.
    #[schemars(regex(pattern = "^/"))]
    pub(super) target: PathBuf,
}

/// The result of a seal.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Sealed {
    points: u64,
    blocks: u64,
    bytes: u64,
}

/// The result of a compaction.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Merged {
    windows: u64,
    blocks_read: u64,
    blocks_written: u64,
    bytes_read: u64,
    bytes_written: u64,
}

/// The result of a backup.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BackedUp {
    target: PathBuf,
    files: u64,
    bytes: u64,
    /// Data that is corrupt in the copy because it is corrupt in the original, one line each.
    damaged: Vec<String>,
}

/// The result of a verification.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Verified {
    /// Whether no corrupt data was found.
    ok: bool,
    blocks: u64,
    log_records: u64,
    documents: u64,
    records: u64,
    files: u64,
    bytes: u64,
    /// Corrupt data and its location, one line each.
    damaged: Vec<String>,
}

impl From<SealReport> for Sealed {
    fn from(report: SealReport) -> Self {
        Self { points: report.points, blocks: report.blocks, bytes: report.bytes }
    }
}

impl From<CompactionReport> for Merged {
    fn from(report: CompactionReport) -> Self {
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
    /// Returns the result of the complete backup at `target`.
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
            files: report.files,
            bytes: report.bytes,
            damaged: report.damaged,
        }
    }
}
