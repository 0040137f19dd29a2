//! Random requests, encoded by a protobuf library, store what a naive model of the same structures
//! stores.

use std::collections::BTreeMap;

use proptest::prelude::*;
use prost::Message;
use telltale_engine::MetricType;
use telltale_tests::remote_write::{
    Label, Metadata, MetricMetadata, RequestV2, Sample, TimeSeries, WriteRequest,
};

use super::fixture::{Fixture, MINUTE, NOW, T0};
use crate::areas::bulk::remote_write::{Version, WrittenCounts};

/// A series as the model sees it.
#[derive(Clone, Debug)]
struct Plain {
    labels: Vec<(String, String)>,
    samples: Vec<Sample>,
    /// The type in the request's metadata, by its number in the protocol.
    declared: i32,
}

/// What is stored, by metric name and sorted tags: the value of each minute.
type Stored = BTreeMap<(String, BTreeMap<String, String>), BTreeMap<i64, f64>>;

/// A model that works on the decoded structures.
#[derive(Default)]
struct Model {
    kinds: BTreeMap<String, MetricType>,
    families: BTreeMap<String, i32>,
    stored: Stored,
    /// The time and value of each counter's last cumulative sample.
    last: BTreeMap<(String, BTreeMap<String, String>), (i64, f64)>,
    accepted: usize,
    rejected: usize,
}

impl Model {
    fn write(&mut self, series: &Plain) {
        let good = |sample: &Sample| {
            sample.value.is_finite() && (0..=NOW.0 + 24 * 60 * MINUTE).contains(&sample.timestamp)
        };
        let is_stale = |sample: &&Sample| sample.value.to_bits() == 0x7ff0_0000_0000_0002;
        let stale = series.samples.iter().filter(is_stale).count();
        let storable = series.samples.iter().filter(|s| good(s)).count();
        let Some(key) = self.key(series).filter(|_| storable > 0) else {
            // The labels of a series without a storable value are not checked.
            let accepted = if storable > 0 { 0 } else { stale };
            self.accepted += accepted;
            self.rejected += series.samples.len() - accepted;
            return;
        };
        let kind = match self.kinds.get(&key.0) {
            Some(kind) => *kind,
            None => self.guess(&key.0, series.declared),
        };
        self.kinds.insert(key.0.clone(), kind);
        self.accepted += storable + stale;
        self.rejected += series.samples.len() - storable - stale;
        for sample in series.samples.iter().filter(|s| good(s)) {
            self.store(&key, kind, sample);
        }
    }

    fn store(
        &mut self,
        key: &(String, BTreeMap<String, String>),
        kind: MetricType,
        sample: &Sample,
    ) {
        let minute = (sample.timestamp - T0) / MINUTE;
        let points = self.stored.entry(key.clone()).or_default();
        if kind == MetricType::Gauge {
            points.insert(minute, sample.value + 0.0);
            return;
        }
        let last = self.last.get(key).copied();
        if last.is_some_and(|(time, _)| sample.timestamp <= time) {
            return;
        }
        self.last.insert(key.clone(), (sample.timestamp, sample.value));
        if let Some((_, before)) = last {
            let reset = sample.value < before;
            let increase = if reset { sample.value } else { sample.value - before };
            *points.entry(minute).or_default() += increase;
        }
    }

    /// Returns the name and tags; `None` if they are invalid.
    fn key(&self, series: &Plain) -> Option<(String, BTreeMap<String, String>)> {
        let (mut name, mut tags) = (None, BTreeMap::new());
        for (key, value) in series.labels.iter().filter(|(_, value)| !value.is_empty()) {
            let twice = if key == "__name__" {
                name.replace(value.clone()).is_some()
            } else {
                tags.insert(key.clone(), value.clone()).is_some()
            };
            if twice || key.is_empty() {
                return None;
            }
        }
        Some((name?, tags))
    }

    fn guess(&self, name: &str, declared: i32) -> MetricType {
        let cumulative = ["_total", "_count", "_sum", "_bucket"].iter().any(|s| name.ends_with(s));
        let by_name = if cumulative { MetricType::Counter } else { MetricType::Gauge };
        let known = |number: &i32| (1..=7).contains(number);
        match Some(declared).filter(known).or_else(|| self.families.get(name).copied()) {
            Some(1) => MetricType::Counter,
            Some(3 | 5) => by_name,
            Some(_) => MetricType::Gauge,
            None if name == "latency_bucket" && self.families.get("latency") == Some(&4) => {
                MetricType::Gauge
            }
            None => by_name,
        }
    }
}

fn name() -> impl Strategy<Value = String> {
    let names = ["up", "hits_total", "latency", "latency_bucket", "latency_sum", "é", ""];
    prop::sample::select(names.to_vec()).prop_map(str::to_owned)
}

fn labels() -> impl Strategy<Value = Vec<(String, String)>> {
    let key = prop::sample::select(vec!["host", "zone", "le", "", "host"]);
    let value = prop::sample::select(vec!["a", "b", "+Inf", "", "éa"]);
    let tags = prop::collection::vec((key, value), 0..4);
    (0..10, name(), tags).prop_map(|(dice, name, tags)| {
        let tags = tags.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned()));
        let name = (dice > 0).then(|| ("__name__".to_owned(), name));
        name.into_iter().chain(tags).collect()
    })
}

fn one_sample() -> impl Strategy<Value = Sample> {
    let value = prop_oneof![
        8 => (-20_i32..20).prop_map(|n| f64::from(n) / 4.0),
        1 => prop::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::from_bits(0x7ff0_0000_0000_0002), -0.0, 1e300,
        ]),
    ];
    let time = prop_oneof![
        9 => (0_i64..20).prop_map(|minute| T0 + minute * MINUTE),
        1 => prop::sample::select(vec![-1, NOW.0 + 24 * 60 * MINUTE + 1, i64::MIN, i64::MAX]),
    ];
    (value, time).prop_map(|(value, timestamp)| Sample { value, timestamp, start_timestamp: 0 })
}

fn plain() -> impl Strategy<Value = Vec<Plain>> {
    let series = (labels(), prop::collection::vec(one_sample(), 0..4), 0..9_i32);
    let series = series.prop_map(|(labels, samples, declared)| Plain { labels, samples, declared });
    prop::collection::vec(series, 0..8)
}

fn to_v1(series: &[Plain], families: &[(String, i32)]) -> WriteRequest {
    let one = |series: &Plain| TimeSeries {
        labels: series
            .labels
            .iter()
            .map(|(name, value)| Label { name: name.clone(), value: value.clone() })
            .collect(),
        samples: series.samples.clone(),
        ..TimeSeries::default()
    };
    let family = |(name, kind): &(String, i32)| MetricMetadata {
        kind: *kind,
        metric_family_name: name.clone(),
        ..MetricMetadata::default()
    };
    WriteRequest {
        timeseries: series.iter().map(one).collect(),
        metadata: families.iter().map(family).collect(),
    }
}

fn to_v2(series: &[Plain]) -> RequestV2 {
    let mut request = RequestV2::new();
    for plain in series {
        let labels: Vec<(&str, &str)> =
            plain.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let series = request.series(&labels);
        series.samples = plain.samples.clone();
        series.metadata = Some(Metadata { kind: plain.declared, ..Metadata::default() });
    }
    request
}

fn families() -> impl Strategy<Value = Vec<(String, i32)>> {
    prop::collection::vec((name(), 0..9_i32), 0..3)
}

pub(super) fn request_v1() -> impl Strategy<Value = WriteRequest> {
    (plain(), families()).prop_map(|(series, families)| to_v1(&series, &families))
}

pub(super) fn request_v2() -> impl Strategy<Value = RequestV2> {
    plain().prop_map(|series| to_v2(&series))
}

#[track_caller]
fn compare(fixture: &Fixture, model: &Model) {
    let mut ours = Stored::new();
    for (name, tags) in model.stored.keys() {
        let kind = fixture.kind(name).unwrap();
        assert_eq!(kind, model.kinds[name], "{name}");
        // Filters also match series with more tags, so each series is queried by exact tags.
        let series = fixture.series(name, kind, tags);
        let key = (name.clone(), tags.clone());
        ours.insert(key, series.into_iter().collect());
    }
    assert_eq!(ours, model.stored);
    assert_eq!(fixture.engine.stats().series, model.stored.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn requests_store_what_the_model_stores(
        requests in prop::collection::vec((plain(), families(), any::<bool>()), 1..4)
    ) {
        let (fixture, mut model) = (Fixture::new(), Model::default());
        for (mut series, families, is_v1) in requests {
            let (version, body) = if is_v1 {
                series.iter_mut().for_each(|series| series.declared = 0);
                let known = families.iter().filter(|(_, kind)| (1..=7).contains(kind));
                model.families.extend(known.cloned());
                (Version::V1, to_v1(&series, &families).encode_to_vec())
            } else {
                (Version::V2, to_v2(&series).encode_to_vec())
            };
            let before = (model.accepted, model.rejected);
            series.iter().for_each(|series| model.write(series));
            let result = fixture.write_once(version, &body).unwrap();
            let expected = (model.accepted - before.0, model.rejected - before.1);
            prop_assert_eq!((result.accepted, result.rejected), expected);
            let written = WrittenCounts { samples: expected.0 as u64, histograms: 0 };
            prop_assert_eq!(result.written, written);
            compare(&fixture, &model);
        }
    }
}
