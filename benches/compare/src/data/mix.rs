//! A mix as in production: of the hundred metrics of each agent, 25 are constant, 25 are slow
//! counters, 30 are random walks and 20 are noise, both with two decimals. An agent samples all its
//! metrics at the same time, with a random delay of a few milliseconds.

use super::point::{Kind, Numbers, Point, Series, Source, T0_MS};
use super::random::Random;

const STEP_MS: i64 = 10_000;
const METRICS: usize = 100;
/// Maximum delay of an agent.
const JITTER_MS: usize = 20;

/// How a metric changes.
#[derive(Clone, Copy)]
enum Course {
    Constant,
    /// Incremented by 1, on average once in this many samples.
    Counter {
        one_in: usize,
    },
    /// Steps of a standard deviation of 0.05, with two decimals.
    Walk,
    /// Around a level, with a standard deviation of 0.5 and two decimals.
    Noise,
}

/// The state of the generator.
pub(crate) struct Mix {
    series: Vec<Series>,
    /// The course and current value of each series, the value in hundredths.
    state: Vec<(Course, f64)>,
    random: Random,
    steps_left: usize,
    now_ms: i64,
}

impl Mix {
    pub(crate) fn new(agents: usize, steps: usize) -> Self {
        let mut random = Random::new(4);
        let mut series = Vec::new();
        let mut state = Vec::new();
        for agent in 0..agents {
            let zone = format!("zone-{}", random.below(6));
            let service = format!("service-{}", random.below(20));
            for metric in 0..METRICS {
                let (name, course) = course(metric);
                let tags = vec![
                    ("agent", format!("agent-{agent:04}")),
                    ("service", service.clone()),
                    ("zone", zone.clone()),
                ];
                series.push(Series { metric: format!("{name}_{metric:02}"), tags });
                state.push((course, (random.unit() * 10_000.0).floor()));
            }
        }
        Self { series, state, random, steps_left: steps, now_ms: T0_MS }
    }
}

fn course(metric: usize) -> (&'static str, Course) {
    match metric {
        0..25 => ("limit", Course::Constant),
        25..50 => ("handled", Course::Counter { one_in: 1 + metric % 25 }),
        50..80 => ("used", Course::Walk),
        _ => ("took", Course::Noise),
    }
}

impl Source for Mix {
    fn series(&self) -> &[Series] {
        &self.series
    }

    fn numbers(&self) -> Numbers {
        Numbers::Doubles
    }

    fn kind(&self) -> Kind {
        Kind::Gauge
    }

    fn next_into(&mut self, points: &mut Vec<Point>) {
        if self.steps_left == 0 {
            return;
        }
        self.steps_left -= 1;
        let mut time_ms = self.now_ms;
        for (series, (course, at)) in self.state.iter_mut().enumerate() {
            if series % METRICS == 0 {
                time_ms = self.now_ms + self.random.below(JITTER_MS) as i64;
            }
            let value = match *course {
                Course::Constant => (*at / 100.0).floor(),
                Course::Counter { one_in } => {
                    if self.random.below(one_in) == 0 {
                        *at += 1.0;
                    }
                    *at
                }
                Course::Walk => {
                    *at = (*at + 5.0 * self.random.normal()).clamp(0.0, 10_000.0);
                    at.round() / 100.0
                }
                Course::Noise => (*at + 50.0 * self.random.normal()).round() / 100.0,
            };
            points.push(Point { series, time_ms, value });
        }
        self.now_ms += STEP_MS;
    }
}
