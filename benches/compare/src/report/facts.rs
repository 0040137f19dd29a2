//! The measurements by part and peer. What was repeated is reported as the median of each number.

use super::medians::{combined, median};
use crate::contest::{PEERS, runs_with};
use crate::outcome::Outcome;
use crate::parts::{Context, PARTS};
use crate::results::{self, Load, QueryResult, Row};

/// All measurements at one scale.
pub(crate) struct Facts {
    cells: Vec<Found>,
}

struct Found {
    part: &'static str,
    peer: &'static str,
    rows: Vec<Row>,
}

impl Facts {
    pub(crate) fn read(context: &Context) -> Outcome<Self> {
        let mut cells = Vec::new();
        for part in PARTS {
            for peer in PEERS.into_iter().filter(|peer| runs_with(part, peer)) {
                let rows = results::load(&context.results(), part.name, peer)?;
                cells.push(Found { part: part.name, peer, rows: combined(rows) });
            }
        }
        Ok(Self { cells })
    }

    pub(crate) fn rows(&self, part: &str, peer: &str) -> &[Row] {
        let found = self.cells.iter().find(|cell| cell.part == part && cell.peer == peer);
        found.map_or(&[], |cell| &cell.rows)
    }

    /// Returns the loads of a part; those with the same set, format and request size are combined.
    pub(crate) fn loads(&self, part: &str, peer: &str) -> Vec<(Load, usize)> {
        let mut groups: Vec<Vec<&Load>> = Vec::new();
        for row in self.rows(part, peer) {
            let Row::Load(load) = row else { continue };
            match groups.iter_mut().find(|group| group.first().is_some_and(|l| alike(l, load))) {
                Some(group) => group.push(load),
                None => groups.push(vec![load]),
            }
        }
        groups.iter().filter_map(|group| Some((median_load(group)?, group.len()))).collect()
    }

    /// Returns the load of a set in a format and request size.
    pub(crate) fn load(
        &self,
        part: &str,
        peer: &str,
        set: &str,
        format: &str,
        per_request: usize,
    ) -> Option<Load> {
        let loads = self.loads(part, peer).into_iter().map(|(load, _)| load);
        let is_it = |l: &Load| l.set == set && l.format == format && l.per_request == per_request;
        loads.into_iter().find(is_it)
    }

    /// Returns the bytes per point on disk; for a part with several sets, of the last one.
    pub(crate) fn bytes_per_point(&self, part: &str, peer: &str) -> Option<f64> {
        self.rows(part, peer).iter().rev().find_map(|row| match row {
            Row::Disk(disk) => Some(disk.bytes as f64 / disk.points as f64),
            _ => None,
        })
    }

    pub(crate) fn query(
        &self,
        part: &str,
        peer: &str,
        shape: &str,
        state: &str,
    ) -> Option<&QueryResult> {
        self.rows(part, peer).iter().find_map(|row| match row {
            Row::Query(query) if query.shape == shape && query.state == state => Some(query),
            _ => None,
        })
    }

    /// Returns the queries per second.
    pub(crate) fn throughput(&self, part: &str, peer: &str) -> Option<f64> {
        self.rows(part, peer).iter().find_map(|row| match row {
            Row::Throughput { per_second, .. } => Some(*per_second),
            _ => None,
        })
    }

    /// Returns the lowest value of the peers other than Telltale.
    pub(crate) fn least(&self, value: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        least_of(value).map(|best| best.value)
    }

    /// Returns the highest value of the peers other than Telltale.
    pub(crate) fn most(&self, value: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        most_of(value).map(|best| best.value)
    }

    /// Returns the name and the version of a peer, as it was measured with a part.
    pub(crate) fn version(&self, part: &str, peer: &str) -> String {
        let version = self.rows(part, peer).iter().find_map(|row| match row {
            Row::Peer { version, .. } => Some(version.as_str()),
            _ => None,
        });
        let version = version.unwrap_or_default();
        // The version of the program, without how it was built.
        let number = version.split([' ', '-', ',']).find(|part| {
            let digits = part.trim_start_matches('v');
            digits.starts_with(|first: char| first.is_ascii_digit()) && digits.contains('.')
        });
        number
            .map_or(peer.to_owned(), |number| format!("{peer} {}", number.trim_start_matches('v')))
    }
}

/// The best value of the peers other than Telltale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best {
    pub(crate) value: f64,
    pub(crate) peer: &'static str,
}

/// Returns the lowest value of the peers other than Telltale.
pub(crate) fn least_of(value: impl Fn(&str) -> Option<f64>) -> Option<Best> {
    all_of(value).min_by(|a, b| a.value.total_cmp(&b.value))
}

/// Returns the highest value of the peers other than Telltale.
pub(crate) fn most_of(value: impl Fn(&str) -> Option<f64>) -> Option<Best> {
    all_of(value).max_by(|a, b| a.value.total_cmp(&b.value))
}

fn all_of(value: impl Fn(&str) -> Option<f64>) -> impl Iterator<Item = Best> {
    rivals().filter_map(move |peer| Some(Best { value: value(peer)?, peer }))
}

/// Returns all peers other than Telltale.
pub(crate) fn rivals() -> impl Iterator<Item = &'static str> {
    PEERS.into_iter().filter(|peer| !peer.starts_with("telltale"))
}

impl Load {
    /// Returns the points per second of wall-clock time.
    pub(crate) fn per_second(&self) -> f64 {
        self.points as f64 / self.seconds
    }

    /// Returns the CPU seconds per million points until the last response.
    pub(crate) fn cpu(&self, seconds: f64) -> f64 {
        seconds / self.points as f64 * 1e6
    }

    /// Returns the CPU seconds per million points, flush and merge included if they were measured.
    pub(crate) fn cpu_all(&self) -> Option<f64> {
        self.cpu_merge.map(|seconds| self.cpu(seconds))
    }
}

fn alike(a: &Load, b: &Load) -> bool {
    a.set == b.set && a.format == b.format && a.per_request == b.per_request
}

fn median_load(group: &[&Load]) -> Option<Load> {
    let first = (*group.first()?).clone();
    let of = |value: fn(&Load) -> f64| median(group.iter().map(|load| value(load)).collect());
    let maybe = |value: fn(&Load) -> Option<f64>| {
        let values: Vec<f64> = group.iter().filter_map(|load| value(load)).collect();
        (!values.is_empty()).then(|| median(values))
    };
    Some(Load {
        seconds: of(|load| load.seconds),
        cpu_ack: of(|load| load.cpu_ack),
        cpu_flush: maybe(|load| load.cpu_flush),
        cpu_merge: maybe(|load| load.cpu_merge),
        p50_ms: of(|load| load.p50_ms),
        p99_ms: of(|load| load.p99_ms),
        memory_mb: of(|load| load.memory_mb),
        memory_merge_mb: maybe(|load| load.memory_merge_mb),
        refused: group.iter().map(|load| load.refused).sum(),
        stored: group.iter().filter_map(|load| load.stored).min(),
        ..first
    })
}
