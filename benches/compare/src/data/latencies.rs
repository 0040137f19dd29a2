//! Request latencies: log-normal, in milliseconds with three decimals, of 200 endpoints over six
//! hours.

use super::point::{HOUR_MS, Kind, Numbers, Point, Series, Source, T0_MS};
use super::random::Random;

pub(crate) const SERIES: usize = 200;
pub(crate) const HOURS: i64 = 6;
pub(crate) const METRIC: &str = "request_latency_ms";

/// The state of the generator.
pub(crate) struct Latencies {
    series: Vec<Series>,
    /// The logarithm of the median of each endpoint.
    medians: Vec<f64>,
    random: Random,
    steps: usize,
    step: usize,
}

impl Latencies {
    pub(crate) fn new(steps: usize) -> Self {
        let mut random = Random::new(2);
        let series = (0..SERIES).map(|i| Series {
            metric: METRIC.to_owned(),
            tags: vec![
                ("service", format!("svc{}", i / 10)),
                ("endpoint", format!("/api/v1/e{}", i % 10)),
            ],
        });
        let series = series.collect();
        let medians = (0..SERIES).map(|_| 50_f64.ln() + 0.5 * random.normal()).collect();
        Self { series, medians, random, steps, step: 0 }
    }
}

impl Source for Latencies {
    fn series(&self) -> &[Series] {
        &self.series
    }

    fn numbers(&self) -> Numbers {
        Numbers::Doubles
    }

    fn kind(&self) -> Kind {
        Kind::Distribution
    }

    fn next_into(&mut self, points: &mut Vec<Point>) {
        if self.step == self.steps {
            return;
        }
        let time_ms = T0_MS + self.step as i64 * HOURS * HOUR_MS / self.steps as i64;
        for (series, median) in self.medians.iter().enumerate() {
            let took = (median + 0.8 * self.random.normal()).exp();
            points.push(Point { series, time_ms, value: (took * 1000.0).round() / 1000.0 });
        }
        self.step += 1;
    }
}
