//! Measurements as rows, and the files that store them. Each part of each peer has its own file, so
//! that it can be repeated without the others.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

/// One measurement. The embedded engines write the same rows from their own program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub(crate) enum Row {
    /// The peer, the day, and what an acknowledgement of the peer guarantees.
    Peer {
        version: String,
        durability: String,
        day: String,
        load_average: f64,
    },
    /// The peer is not available, or failed.
    Missing {
        reason: String,
    },
    Load(Load),
    Disk(Disk),
    Query(QueryResult),
    /// Queries of single series over keep-alive connections.
    Throughput {
        connections: usize,
        per_second: f64,
        p50_ms: f64,
        p99_ms: f64,
    },
    Restart(Restart),
}

/// Points sent and acknowledged.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Load {
    /// The name of the set, for parts that send several; else empty.
    #[serde(default)]
    pub(crate) set: String,
    pub(crate) format: String,
    /// Lines, samples, items or rows per request.
    pub(crate) per_request: usize,
    pub(crate) points: u64,
    pub(crate) seconds: f64,
    /// CPU seconds of the server until the last response, until the flush, and until the merge.
    pub(crate) cpu_ack: f64,
    pub(crate) cpu_flush: Option<f64>,
    pub(crate) cpu_merge: Option<f64>,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Peak resident memory until the flush, and until the merge.
    pub(crate) memory_mb: f64,
    pub(crate) memory_merge_mb: Option<f64>,
    pub(crate) refused: u64,
    pub(crate) refusal: Option<String>,
    /// Points that the peer reports afterwards.
    pub(crate) stored: Option<u64>,
}

/// Disk space at the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Disk {
    #[serde(default)]
    pub(crate) set: String,
    pub(crate) points: u64,
    /// Bytes allocated to the files of the data directory.
    pub(crate) bytes: u64,
    /// Which files are counted, if not all.
    pub(crate) counted: Option<String>,
}

/// A repeated query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct QueryResult {
    /// `q1` to `q9`, for a variant with a space and its name.
    pub(crate) shape: String,
    /// `raw` before the merge, `final` afterwards.
    pub(crate) state: String,
    pub(crate) first_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) times: usize,
    pub(crate) cpu_ms: f64,
    /// The count and sum of the numbers in the first response.
    pub(crate) numbers: u64,
    pub(crate) sum: f64,
}

/// A restart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Restart {
    pub(crate) signal: String,
    pub(crate) stop_s: f64,
    pub(crate) ready_s: f64,
    /// Seconds until the first complete response; `None` if points are missing.
    pub(crate) answer_s: Option<f64>,
    pub(crate) points_before: u64,
    pub(crate) points_after: u64,
    pub(crate) memory_mb: f64,
}

/// The rows of one part and one peer before they are saved.
pub(crate) struct Cell {
    path: PathBuf,
    rows: Vec<Row>,
}

impl Cell {
    pub(crate) fn new(folder: &Path, part: &str, peer: &str) -> Outcome<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self { path: folder.join(format!("{part}.{peer}.jsonl")), rows: Vec::new() })
    }

    /// Adds a row and prints it.
    pub(crate) fn add(&mut self, row: Row) -> Outcome<()> {
        crate::print_line(&format!("  {}", serde_json::to_string(&row)?));
        self.rows.push(row);
        Ok(())
    }

    /// Writes the rows to their file, in place of earlier ones.
    pub(crate) fn save(&self) -> Outcome<()> {
        let mut text = String::new();
        for row in &self.rows {
            text.push_str(&serde_json::to_string(row)?);
            text.push('\n');
        }
        Ok(std::fs::write(&self.path, text)?)
    }
}

/// Reads all rows of a part and a peer; empty if it was not measured.
pub(crate) fn load(folder: &Path, part: &str, peer: &str) -> Outcome<Vec<Row>> {
    let path = folder.join(format!("{part}.{peer}.jsonl"));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Returns the value below which `share` of the sorted values are.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share) as usize;
    sorted.get(rank.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}
