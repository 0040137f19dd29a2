//! The cpu-only set of the Time Series Benchmark Suite: ten metrics of each host every ten seconds,
//! random walks between 0 and 100. As integers, as the suite sends them, or as untruncated doubles.

use super::point::{Kind, Numbers, Point, Series, Source, T0_MS};
use super::random::Random;

pub(crate) const METRICS: [&str; 10] = [
    "usage_user",
    "usage_system",
    "usage_idle",
    "usage_nice",
    "usage_iowait",
    "usage_irq",
    "usage_softirq",
    "usage_steal",
    "usage_guest",
    "usage_guest_nice",
];
const REGIONS: [&str; 9] = [
    "us-east-1",
    "us-west-1",
    "us-west-2",
    "eu-west-1",
    "eu-central-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-northeast-1",
    "sa-east-1",
];
/// The time between two points of a series, for most sets.
pub(crate) const STEP_MS: i64 = 10_000;
pub(crate) const STEPS_PER_HOUR: usize = 360;

/// The hosts and time range of a walk.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    pub(crate) hosts: usize,
    pub(crate) steps: usize,
    pub(crate) step_ms: i64,
    pub(crate) numbers: Numbers,
    /// The start, in milliseconds after the first timestamp of all sets.
    pub(crate) from_ms: i64,
    /// One point in this many is one day late, at a time between two points of that day.
    pub(crate) late_one_in: Option<u64>,
    /// All hosts are replaced by others after this many steps, as the pods of a cluster are.
    pub(crate) replaced_after: Option<usize>,
}

impl Walk {
    /// Returns how many times all hosts are replaced, plus one.
    fn generations(&self) -> usize {
        self.replaced_after.map_or(1, |steps| self.steps.div_ceil(steps.max(1)))
    }
}

/// The state of a walk.
pub(crate) struct Cpu {
    walk: Walk,
    series: Vec<Series>,
    state: Vec<f64>,
    random: Random,
    step: usize,
}

impl Cpu {
    pub(crate) fn new(walk: Walk) -> Self {
        let mut random = Random::new(1);
        let hosts = walk.hosts * walk.generations();
        let tags: Vec<_> = (0..hosts).map(|host| tags(host, &mut random)).collect();
        let state = (0..walk.hosts * METRICS.len()).map(|_| random.unit() * 100.0).collect();
        let series = tags.iter().flat_map(|tags| {
            METRICS.map(|metric| Series { metric: metric.to_owned(), tags: tags.clone() })
        });
        let series = series.collect();
        // Another day has other values: a repetition would compress too well.
        let random = if walk.from_ms == 0 { random } else { Random::new(walk.from_ms as u64) };
        Self { walk, series, state, random, step: 0 }
    }
}

impl Source for Cpu {
    fn series(&self) -> &[Series] {
        &self.series
    }

    fn numbers(&self) -> Numbers {
        self.walk.numbers
    }

    fn kind(&self) -> Kind {
        Kind::Gauge
    }

    fn fields_per_line(&self) -> usize {
        METRICS.len()
    }

    fn next_into(&mut self, points: &mut Vec<Point>) {
        if self.step == self.walk.steps {
            return;
        }
        let now = T0_MS + self.walk.from_ms + self.step as i64 * self.walk.step_ms;
        let generation = self.walk.replaced_after.map_or(0, |steps| self.step / steps.max(1));
        let first = generation * self.state.len();
        for value in &mut self.state {
            *value = (*value + self.random.normal()).clamp(0.0, 100.0);
        }
        for (series, value) in self.state.iter().enumerate() {
            let time_ms = match self.walk.late_one_in {
                Some(n) if spread(series, self.step).is_multiple_of(n) => {
                    now - super::point::DAY_MS + self.walk.step_ms / 2
                }
                _ => now,
            };
            let value = match self.walk.numbers {
                Numbers::Integers => value.floor(),
                Numbers::Doubles => *value,
            };
            points.push(Point { series: first + series, time_ms, value });
        }
        self.step += 1;
    }
}

/// Returns a pseudo-random number of a series and a step, without using the generator of the walk.
fn spread(series: usize, step: usize) -> u64 {
    let mixed = (series as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (step as u64) << 32;
    Random::new(mixed).bits()
}

fn tags(host: usize, random: &mut Random) -> Vec<(&'static str, String)> {
    let mut pick = |choices: &[&'static str]| random.one_of(choices).unwrap_or_default().to_owned();
    let region = pick(&REGIONS);
    let datacenter = format!("{region}{}", pick(&["a", "b", "c"]));
    let rack = random.below(100).to_string();
    let mut pick = |choices: &[&'static str]| random.one_of(choices).unwrap_or_default().to_owned();
    let os = pick(&["Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"]);
    let arch = pick(&["x64", "x86"]);
    let team = pick(&["SF", "NYC", "LON", "CHI"]);
    let service = random.below(20).to_string();
    let service_version = random.below(2).to_string();
    let environment = random.one_of(&["production", "staging", "test"]).unwrap_or_default();
    vec![
        ("hostname", format!("host_{host}")),
        ("region", region),
        ("datacenter", datacenter),
        ("rack", rack),
        ("os", os),
        ("arch", arch),
        ("team", team),
        ("service", service),
        ("service_version", service_version),
        ("service_environment", environment.to_owned()),
    ]
}
