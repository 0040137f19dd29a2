//! The data sets: their parameters, sizes and files. A file is generated once and kept.

use std::path::{Path, PathBuf};

use super::cpu::{Cpu, METRICS, STEP_MS, STEPS_PER_HOUR, Walk};
use super::format::Format;
use super::latencies::{self, Latencies};
use super::mix::Mix;
use super::point::{DAY_MS, Numbers, Source};
use super::{events, write};
use crate::outcome::Outcome;

/// Incremented when the data behind a name changes.
const EDITION: u32 = 1;

/// A reproducible data set.
#[derive(Clone, Copy)]
pub(crate) enum Set {
    Cpu(Walk),
    Mix { agents: usize, steps: usize },
    Latencies { steps: usize },
    Events { count: u64 },
}

impl Set {
    /// Returns the cpu set of the benchmark suite.
    pub(crate) fn cpu(hosts: usize, hours: usize) -> Self {
        Self::Cpu(Walk {
            hosts,
            steps: hours * STEPS_PER_HOUR,
            step_ms: STEP_MS,
            numbers: Numbers::Integers,
            from_ms: 0,
            late_one_in: None,
            replaced_after: None,
        })
    }

    /// Returns the cpu set with untruncated doubles.
    pub(crate) fn doubles(hosts: usize, hours: usize) -> Self {
        match Self::cpu(hosts, hours) {
            Self::Cpu(walk) => Self::Cpu(Walk { numbers: Numbers::Doubles, ..walk }),
            other => other,
        }
    }

    /// Returns the cpu set of the next day, of which one point in `late_one_in` is one day late.
    pub(crate) fn next_day(hosts: usize, hours: usize, late_one_in: Option<u64>) -> Self {
        match Self::cpu(hosts, hours) {
            Self::Cpu(walk) => Self::Cpu(Walk { from_ms: DAY_MS, late_one_in, ..walk }),
            other => other,
        }
    }

    /// Returns a set of `series` series with `steps` points each, from step `from_step`.
    pub(crate) fn series(series: usize, from_step: usize, steps: usize) -> Self {
        Self::Cpu(Walk {
            hosts: series / METRICS.len(),
            steps,
            step_ms: STEP_MS,
            numbers: Numbers::Integers,
            from_ms: from_step as i64 * STEP_MS,
            late_one_in: None,
            replaced_after: None,
        })
    }

    /// Returns the cpu set of many days, with a point a minute.
    pub(crate) fn days(hosts: usize, days: usize) -> Self {
        match Self::cpu(hosts, 0) {
            Self::Cpu(walk) => Self::Cpu(Walk { steps: days * 24 * 60, step_ms: 60_000, ..walk }),
            other => other,
        }
    }

    /// Returns the cpu set with all hosts replaced every `minutes`.
    pub(crate) fn churn(hosts: usize, hours: usize, minutes: usize) -> Self {
        match Self::cpu(hosts, hours) {
            Self::Cpu(walk) => {
                Self::Cpu(Walk { replaced_after: Some(minutes * STEPS_PER_HOUR / 60), ..walk })
            }
            other => other,
        }
    }

    pub(crate) fn points(self) -> u64 {
        match self {
            Self::Cpu(walk) => (walk.hosts * METRICS.len() * walk.steps) as u64,
            Self::Mix { agents, steps } => (agents * 100 * steps) as u64,
            Self::Latencies { steps } => (latencies::SERIES * steps) as u64,
            Self::Events { count } => count,
        }
    }

    /// Returns the directory of the set in `data`.
    pub(crate) fn folder(self, data: &Path) -> PathBuf {
        let name = match self {
            Self::Cpu(walk) => {
                let Walk { hosts, steps, from_ms, .. } = walk;
                let numbers = if walk.numbers == Numbers::Doubles { "-doubles" } else { "" };
                let late = walk.late_one_in.map_or(String::new(), |n| format!("-late{n}"));
                let every = match walk.step_ms {
                    STEP_MS => String::new(),
                    step_ms => format!("-every{}", step_ms / 1_000),
                };
                let churn = walk.replaced_after.map_or(String::new(), |n| format!("-churn{n}"));
                format!("cpu-{hosts}x{steps}-at{}{numbers}{late}{every}{churn}", from_ms / 1_000)
            }
            Self::Mix { agents, steps } => format!("mix-{agents}x{steps}"),
            Self::Latencies { steps } => format!("latencies-{steps}"),
            Self::Events { count } => format!("events-{count}"),
        };
        data.join(format!("{name}.{EDITION}"))
    }

    /// Generates the missing ones of these formats, for events all formats. Returns the directory.
    pub(crate) fn ensure(self, data: &Path, formats: &[Format]) -> Outcome<PathBuf> {
        let folder = self.folder(data);
        std::fs::create_dir_all(&folder)?;
        let missing: Vec<Format> = match self {
            Self::Events { .. } if folder.join(events::TABLE).exists() => Vec::new(),
            Self::Events { .. } => vec![Format::Columns],
            _ => formats.iter().copied().filter(|f| !folder.join(f.file()).exists()).collect(),
        };
        if missing.is_empty() {
            return Ok(folder);
        }
        crate::print_line(&format!("generating {}: {missing:?}", folder.display()));
        let written = match self.source() {
            Some(mut source) => write::write_all(source.as_mut(), &folder, &missing)?,
            None => events::write_all(self.points(), &folder)?,
        };
        if written != self.points() {
            return Err(
                format!("{written} points were generated instead of {}", self.points()).into()
            );
        }
        // So that the disk is idle in the load that follows.
        rustix::fs::sync();
        Ok(folder)
    }

    /// Returns the generator of points; `None` for events.
    fn source(self) -> Option<Box<dyn Source>> {
        match self {
            Self::Cpu(walk) => Some(Box::new(Cpu::new(walk))),
            Self::Mix { agents, steps } => Some(Box::new(Mix::new(agents, steps))),
            Self::Latencies { steps } => Some(Box::new(Latencies::new(steps))),
            Self::Events { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::point::Point;
    use super::*;

    /// Returns the number of points of a set and the sum of their values.
    fn count_and_sum(set: Set) -> (usize, f64) {
        let mut points: Vec<Point> = Vec::new();
        let mut source = set.source();
        while let Some(source) = &mut source {
            let before = points.len();
            source.next_into(&mut points);
            if points.len() == before {
                break;
            }
        }
        (points.len(), points.iter().map(|point| point.value).sum())
    }

    /// Results of different days are compared, so the data behind a name must not change unnoticed.
    #[test]
    fn a_set_is_reproducible() {
        for (set, sum) in [
            (Set::cpu(10, 1), 1778293.0),
            (Set::doubles(10, 1), 1795990.2101072753),
            (Set::next_day(10, 1, Some(10)), 1754449.0),
            (Set::days(1, 1), 706001.0),
            (Set::churn(10, 1, 10), 1833872.0),
            (Set::Mix { agents: 2, steps: 50 }, 12651916.12000005),
            (Set::Latencies { steps: 50 }, 809814.6980000006),
        ] {
            let (points, actual) = count_and_sum(set);
            assert_eq!(points as u64, set.points());
            assert!((actual - sum).abs() < 1e-3, "the sum of the values is {actual}");
        }
    }

    #[test]
    fn replaced_hosts_have_other_names_and_no_more_points() {
        let mut source = Cpu::new(match Set::churn(2, 1, 10) {
            Set::Cpu(walk) => walk,
            _ => return,
        });
        let host = |points: &[Point], source: &Cpu| {
            let series = points.first().and_then(|point| source.series().get(point.series));
            series.and_then(|series| series.tags.first().map(|(_, host)| host.clone()))
        };
        let mut hosts = Vec::new();
        for _ in 0..STEPS_PER_HOUR {
            let mut points = Vec::new();
            source.next_into(&mut points);
            assert_eq!(points.len(), 2 * METRICS.len());
            hosts.push(host(&points, &source).unwrap());
        }
        hosts.dedup();
        assert_eq!(hosts, ["host_0", "host_2", "host_4", "host_6", "host_8", "host_10"]);
    }

    #[test]
    fn a_tenth_is_late() {
        let mut points = Vec::new();
        let mut source = Cpu::new(match Set::next_day(10, 1, Some(10)) {
            Set::Cpu(walk) => walk,
            _ => return,
        });
        (0..STEPS_PER_HOUR).for_each(|_| source.next_into(&mut points));
        let late = points.iter().filter(|p| p.time_ms < super::super::point::T0_MS + DAY_MS);
        let share = late.count() as f64 / points.len() as f64;
        assert!((share - 0.1).abs() < 0.005, "{share}");
    }
}
