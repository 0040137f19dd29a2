//! The acknowledged samples of a metric by minute, and a check that queries return exactly these.
//!
//! All values are integers, so sums are exact. Only distributions have an aggregation that counts
//! samples; for a counter the sum of its increases is compared. Loads give the samples of a gauge
//! the values 0, 1, 2 …, so that a sample that is lost or stored with another value changes the
//! average, minimum or maximum of its minute.

use std::collections::BTreeMap;

use serde_json::Value;
use telltale_tests::{Client, MINUTE_MS, iso, parse_iso};

/// The largest relative difference between a response and the expected value: an average is rounded
/// once. One sample less in a minute of 100 000 makes a larger difference, unless its value is the
/// average itself.
const ROUNDING: f64 = 1e-12;

/// The type of a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Gauge,
    Counter,
    Distribution,
}

/// The name of an aggregation, and its value for the samples of a minute.
type Aggregation = (&'static str, fn(&Minute) -> f64);

impl Kind {
    fn aggregations(self) -> &'static [Aggregation] {
        match self {
            Self::Gauge => &[("avg", Minute::avg), ("min", Minute::min), ("max", Minute::max)],
            Self::Counter => &[("sum", Minute::sum)],
            Self::Distribution => &[("count", Minute::count), ("sum", Minute::sum)],
        }
    }
}

/// The samples of a metric in one minute.
#[derive(Clone, Copy, Debug)]
struct Minute {
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Minute {
    fn avg(&self) -> f64 {
        self.sum() / self.count()
    }

    fn min(&self) -> f64 {
        self.min as f64
    }

    fn max(&self) -> f64 {
        self.max as f64
    }

    fn sum(&self) -> f64 {
        self.sum as f64
    }

    fn count(&self) -> f64 {
        self.count as f64
    }
}

/// The acknowledged samples of one metric.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    name: &'static str,
    kind: Kind,
    /// By minutes since 1970.
    minutes: BTreeMap<i64, Minute>,
    samples: u64,
}

impl Tally {
    /// Creates the tally of a metric without samples.
    pub(crate) fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, minutes: BTreeMap::new(), samples: 0 }
    }

    /// Adds a sample; for a counter, an increase.
    pub(crate) fn add(&mut self, time_ms: i64, value: u64) {
        let none = Minute { count: 0, sum: 0, min: u64::MAX, max: 0 };
        let minute = self.minutes.entry(time_ms.div_euclid(MINUTE_MS)).or_insert(none);
        minute.count += 1;
        minute.sum += value;
        minute.min = minute.min.min(value);
        minute.max = minute.max.max(value);
        self.samples += 1;
    }

    /// Returns the number of samples.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// Fails unless queries over the whole time return exactly these samples, minute by minute.
    #[track_caller]
    pub(crate) fn check(&self, client: &Client) {
        let (Some(first), Some(last)) =
            (self.minutes.first_key_value(), self.minutes.last_key_value())
        else {
            panic!("no sample of {} was sent", self.name)
        };
        let (from, to) = (iso(*first.0 * MINUTE_MS), iso((*last.0 + 1) * MINUTE_MS));
        for (aggregation, of) in self.kind.aggregations() {
            let path = format!(
                "/api/v1/metrics/{}/query?from={from}&to={to}&interval=1m&aggregation={aggregation}",
                self.name
            );
            let found = buckets(&client.get(&path).data(200)["series"]);
            assert!(
                found.keys().eq(self.minutes.keys()),
                "{} has samples in the minutes {:?} and should in {:?}",
                self.name,
                found.keys(),
                self.minutes.keys()
            );
            for (value, (minute, sent)) in found.values().zip(&self.minutes) {
                let expected = of(sent);
                assert!(
                    (value - expected).abs() <= expected.abs() * ROUNDING,
                    "{aggregation} of {} at {} is {value} and should be {expected}: {sent:?}",
                    self.name,
                    iso(*minute * MINUTE_MS)
                );
            }
        }
    }
}

/// Returns the values of a response by minutes since 1970.
#[track_caller]
fn buckets(series: &Value) -> BTreeMap<i64, f64> {
    let Some(items) = series.as_array() else { panic!("{series} is not a series") };
    let bucket = |item: &Value| {
        let time = parse_iso(item["timestamp"].as_str().unwrap_or_default());
        (time.div_euclid(MINUTE_MS), item["value"].as_f64().unwrap_or(f64::NAN))
    };
    items.iter().map(bucket).collect()
}
