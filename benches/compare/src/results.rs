//! What was measured: rows, and the files that keep them. Every part of every peer has a file of
//! its own, so that one can be repeated without the others.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

/// One measurement. The embedded engines write the same rows from their own program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub(crate) enum Row {
    /// Who was measured, when, and what its acknowledgement means.
    Peer {
        version: String,
        durability: String,
        day: String,
        load_average: f64,
    },
    /// The peer cannot be measured here, or stopped being measurable half-way.
    Missing {
        reason: String,
    },
    Load(Load),
    Disk(Disk),
    Query(Query),
    /// Queries of single series over connections that were kept open.
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
    /// What was sent, where a part sends several sets.
    #[serde(default)]
    pub(crate) set: String,
    pub(crate) format: String,
    /// Lines, samples, items or rows of a request.
    pub(crate) per_request: usize,
    pub(crate) points: u64,
    pub(crate) seconds: f64,
    /// Seconds of all cores that the server spent until the last answer; until it had flushed;
    /// until it had merged.
    pub(crate) cpu_ack: f64,
    pub(crate) cpu_flush: Option<f64>,
    pub(crate) cpu_merge: Option<f64>,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// The most memory that was resident, until flushed and until merged.
    pub(crate) memory_mb: f64,
    pub(crate) memory_merge_mb: Option<f64>,
    pub(crate) refused: u64,
    pub(crate) refusal: Option<String>,
    /// Points that the peer says it has afterwards.
    pub(crate) stored: Option<u64>,
}

/// What lies on disk at the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Disk {
    #[serde(default)]
    pub(crate) set: String,
    pub(crate) points: u64,
    /// Allocated to every file of the data directory.
    pub(crate) bytes: u64,
    /// What of it is counted, where that is not everything.
    pub(crate) counted: Option<String>,
}

/// A question asked many times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Query {
    /// `q1` to `q9`, with what is special about a variant behind a space.
    pub(crate) shape: String,
    /// `raw` before blocks were merged, `final` afterwards.
    pub(crate) state: String,
    pub(crate) first_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) times: usize,
    pub(crate) cpu_ms: f64,
    /// How many numbers the first answer had, and their sum.
    pub(crate) numbers: u64,
    pub(crate) sum: f64,
}

/// A stop and a start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Restart {
    pub(crate) signal: String,
    pub(crate) stop_s: f64,
    pub(crate) ready_s: f64,
    /// Until the first whole answer; never when points are gone.
    pub(crate) answer_s: Option<f64>,
    pub(crate) points_before: u64,
    pub(crate) points_after: u64,
    pub(crate) memory_mb: f64,
}

/// The rows of a part of a peer, on their way to the file.
pub(crate) struct Cell {
    path: PathBuf,
    rows: Vec<Row>,
}

impl Cell {
    pub(crate) fn new(folder: &Path, part: &str, peer: &str) -> Outcome<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self { path: folder.join(format!("{part}.{peer}.jsonl")), rows: Vec::new() })
    }

    /// Adds a row and tells it.
    pub(crate) fn add(&mut self, row: Row) -> Outcome<()> {
        crate::say(&format!("  {}", serde_json::to_string(&row)?));
        self.rows.push(row);
        Ok(())
    }

    /// Takes the place of what was measured before.
    pub(crate) fn keep(self) -> Outcome<()> {
        let mut text = String::new();
        for row in &self.rows {
            text.push_str(&serde_json::to_string(row)?);
            text.push('\n');
        }
        Ok(std::fs::write(self.path, text)?)
    }
}

/// All rows of a part of a peer; none where nothing was measured.
pub(crate) fn load(folder: &Path, part: &str, peer: &str) -> Outcome<Vec<Row>> {
    let path = folder.join(format!("{part}.{peer}.jsonl"));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// The value below which `share` of the sorted values lie.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share) as usize;
    sorted.get(rank.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}
