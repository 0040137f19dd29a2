//! What a segment stores, what it takes, and which rows are refused.

use proptest::prelude::*;

use super::contents::Segment;
use super::encode::{self, segment_row};
use crate::codec::CodecResult;
use crate::codec::bytes::{put_bytes, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::{self, Effort};
use crate::limits;
use crate::log::SeriesDefined;
use crate::model::{MetricId, SeriesId, Tags};

/// Decodes the series of a row.
fn read_segment(row: &[u8]) -> CodecResult<Vec<SeriesDefined>> {
    Segment::read(row)?.definitions()
}

fn defined(id: u32, metric: u32, tags: &[(&str, &str)]) -> SeriesDefined {
    SeriesDefined { id: SeriesId(id), metric: MetricId(metric), tags: Tags::new(tags).unwrap() }
}

/// Ten tags of a host, seven of which it shares with many others.
fn tags_of_host(host: u32) -> Vec<(&'static str, String)> {
    let mixed = host.wrapping_mul(2_654_435_761);
    let region = format!("eu-{}", (mixed >> 4) % 9);
    vec![
        ("hostname", format!("host_{host}")),
        ("datacenter", format!("{region}{}", (mixed >> 9) % 3)),
        ("region", region),
        ("rack", ((mixed >> 12) % 100).to_string()),
        ("os", format!("os-{}", (mixed >> 7) % 3)),
        ("arch", format!("arch-{}", (mixed >> 11) % 2)),
        ("team", format!("team-{}", (mixed >> 14) % 4)),
        ("service", ((mixed >> 16) % 20).to_string()),
        ("service_version", ((mixed >> 18) % 2).to_string()),
        ("environment", format!("environment-{}", (mixed >> 20) % 3)),
    ]
}

/// Series of ten metrics of each host.
fn of_hosts(series: u32) -> Vec<SeriesDefined> {
    let series = (0..series).map(|number| {
        let tags = tags_of_host(number / 10);
        let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (*k, v.as_str())).collect();
        defined(5_000 + number, number % 10, &tags)
    });
    series.collect()
}

#[test]
fn the_tags_of_a_host_are_stored_once_for_all_of_its_metrics() {
    let series = of_hosts(1_000);
    let row = segment_row(&series).unwrap();
    assert_eq!(read_segment(&row).unwrap(), series);
    assert!(row.len() < 3_000, "{} bytes", row.len());
    // Ten times the series take less than a kilobyte more than one metric of each host.
    let once: Vec<SeriesDefined> = series.iter().step_by(10).cloned().collect();
    let once = segment_row(&once).unwrap();
    assert!(row.len() - once.len() < 1_000, "{} bytes, once {}", row.len(), once.len());
}

#[test]
fn tags_are_stored_once_in_any_order_of_the_series() {
    let mut series = of_hosts(1_000);
    let row = segment_row(&series).unwrap();
    // All hosts of a metric, then those of the next one.
    series.sort_by_key(|series| series.metric);
    series.iter_mut().zip(0..).for_each(|(series, id)| series.id = SeriesId(id));
    let by_metric = segment_row(&series).unwrap();
    assert_eq!(read_segment(&by_metric).unwrap(), series);
    assert!(by_metric.len() < row.len() + 200, "{} and {}", by_metric.len(), row.len());
}

#[test]
fn the_encoding_of_a_segment_is_stable() {
    let series = [
        defined(7, 1, &[("a", "x"), ("b", "y")]),
        defined(8, 2, &[("a", "x"), ("b", "y")]),
        defined(9, 1, &[("b", "y")]),
        defined(11, 1, &[]),
        defined(12, 2, &[("a", "x"), ("b", "y")]),
    ];
    let row = segment_row(&series).unwrap();
    assert_eq!(read_segment(&row).unwrap(), series);
    let bytes: Vec<String> =
        row[frame::HEADER_BYTES..].iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [
        "02 01 61 01 62",       // Keys a and b.
        "03 02 00 00 01 01 00", // Lists of keys: both, b, none.
        "03 03 01 00 02 24",    // Lists of tags, and the keys of each: 0, 1, 2.
        "01 00 00",             // Values of a.
        "02 01 00 01 02",       // Values of b: the first one, twice.
        "01 78 01 79",          // x and y.
        "05 0c",                // Series, first id less one.
        "05 01 02 01 08",       // Differences of ids: 1, 1, 1, 2, 1.
        "05 01 02 01 12",       // Metrics: 1, 2, 1, 1, 2.
        "05 01 05 02 fb 00",    // Lists: 0, -1, 0, 0, -3.
    ];
    assert_eq!(bytes.join(" "), parts.join(" "));
}

#[test]
fn a_segment_with_one_series_over_the_limit_is_refused() {
    let read = |count: usize| {
        let series: Vec<_> = (0..count as u32).map(|id| defined(id, 1, &[("host", "a")])).collect();
        let row = segment_row(&series).and_then(|row| read_segment(&row));
        row.map(|read| read.len()).ok()
    };
    assert_eq!(read(limits::SEGMENT_SERIES_MAX), Some(limits::SEGMENT_SERIES_MAX));
    assert_eq!(read(limits::SEGMENT_SERIES_MAX + 1), None);
}

fn series() -> impl Strategy<Value = SeriesDefined> {
    let tags = prop::collection::btree_map("[a-f]", "[abxyz]{0,2}", 0..5);
    (any::<u32>(), any::<u32>(), tags).prop_map(|(id, metric, tags)| {
        let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (&**k, &**v)).collect();
        defined(id, metric, &tags)
    })
}

proptest! {
    #[test]
    fn any_series_round_trip(
        distinct in prop::collection::vec(series(), 1..40),
        picked in prop::collection::vec((any::<u32>(), any::<prop::sample::Index>()), 0..300),
    ) {
        let series: Vec<SeriesDefined> = picked
            .iter()
            .map(|(id, at)| SeriesDefined { id: SeriesId(*id), ..at.get(&distinct).clone() })
            .collect();
        let row = segment_row(&series).unwrap();
        prop_assert_eq!(read_segment(&row).unwrap(), series);
    }

    #[test]
    fn what_a_damaged_segment_still_says_could_have_been_written(
        series in prop::collection::vec(series(), 0..40),
        version in 1u8..3,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut payload = match version {
            1 => row_of_version_1(&series),
            _ => segment_row(&series).unwrap(),
        }
        .split_off(frame::HEADER_BYTES);
        for (at, byte) in &damage {
            *at.get_mut(&mut payload) = *byte;
        }
        if let Ok(series) = read_segment(&framed(version, &payload)) {
            let row = segment_row(&series).unwrap();
            prop_assert_eq!(read_segment(&row).unwrap(), series);
        }
    }
}

fn framed(version: u8, payload: &[u8]) -> Vec<u8> {
    let mut row = Vec::new();
    let mark = frame::begin(&mut row, FrameKind::SeriesSegment, version);
    row.extend_from_slice(payload);
    frame::close(&mut row, mark);
    row
}

/// Encodes a payload: bytes and columns.
#[derive(Default)]
struct Payload(Vec<u8>);

impl Payload {
    fn numbers(mut self, numbers: &[u64]) -> Self {
        numbers.iter().for_each(|number| put_varint(&mut self.0, *number));
        self
    }

    fn signed(mut self, number: i64) -> Self {
        put_signed(&mut self.0, number);
        self
    }

    fn texts<'t>(mut self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        texts.into_iter().for_each(|text| put_bytes(&mut self.0, text.as_bytes()));
        self
    }

    fn columns(mut self, columns: &[&[i64]]) -> Self {
        for column in columns {
            integers::encode(column, Effort::Seal, &mut self.0).unwrap();
        }
        self
    }
}

fn error(version: u8, payload: &Payload) -> String {
    match read_segment(&framed(version, &payload.0)) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

/// A segment of one list of tags; values of keys are numbered from 0.
fn one_list(keys: &[&str], steps: &[u64], values: &[&str]) -> Payload {
    let columns = vec![&[0i64][..]; keys.len()];
    Payload::default()
        .numbers(&[keys.len() as u64])
        .texts(keys.iter().copied())
        .numbers(&[1, steps.len() as u64])
        .numbers(steps)
        .numbers(&[1])
        .columns(&[&[0]])
        .columns(&columns)
        .texts(values.iter().copied())
        .numbers(&[1])
        .signed(6)
        .columns(&[&[1], &[1], &[0]])
}

#[test]
fn tags_that_no_series_can_have_are_refused() {
    let error = |payload: Payload| error(encode::VERSION, &payload);
    let long_key = "k".repeat(limits::TAG_KEY_CHARS_MAX);
    let long_value = "é".repeat(limits::TAG_VALUE_CHARS_MAX);
    assert_eq!(error(one_list(&["a", "b"], &[0, 0], &["x", ""])), "");
    assert_eq!(error(one_list(&[&long_key], &[0], &[&long_value])), "");
    assert!(error(one_list(&["b", "a"], &[0, 0], &["x", "y"])).contains("not sorted"));
    assert!(error(one_list(&["a", "a"], &[0, 0], &["x", "y"])).contains("not sorted"));
    for key in ["", "a\n", &format!("{long_key}k")] {
        assert!(error(one_list(&[key], &[0], &["x"])).contains("cannot be the key"));
    }
    let long_value = format!("{long_value}v");
    assert!(error(one_list(&["a"], &[0], &[&long_value])).contains("cannot be the value"));
    assert!(error(one_list(&["a", "b"], &[0, 1], &["x", "y"])).contains("key number"));
    assert!(error(one_list(&["a"], &[u64::MAX], &["x"])).contains("limit"));
    let many: Vec<String> = (0..=limits::TAGS_MAX).map(|n| format!("k{n:02}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (steps, values) = (vec![0; many.len()], vec!["v"; many.len()]);
    assert_eq!(error(one_list(&many[1..], &steps[1..], &values[1..])), "");
    assert!(error(one_list(&many, &steps, &values)).contains("limit"));
}

/// A segment of two lists with the key `a`, whose values are `values`; the series have `lists`.
fn two_lists(of_lists: &[i64], values: &[i64], texts: &[&str], lists: &[i64]) -> Payload {
    let series = lists.len();
    Payload::default()
        .numbers(&[1])
        .texts(["a"])
        .numbers(&[1, 1, 0, of_lists.len() as u64])
        .columns(&[of_lists, values])
        .texts(texts.iter().copied())
        .numbers(&[series as u64])
        .signed(6)
        .columns(&[&vec![1; series], &vec![1; series], lists])
}

#[test]
fn numbers_of_nothing_are_refused() {
    let error = |of_lists: &[i64], values: &[i64], texts: &[&str], lists: &[i64]| {
        error(encode::VERSION, &two_lists(of_lists, values, texts, lists))
    };
    assert_eq!(error(&[0, 0], &[0, 0], &["x", "y"], &[0, 0, -2]), "");
    assert_eq!(error(&[0, 0], &[0, 1], &["x"], &[0, -1, 0]), "");
    for number in [1, -1, i64::MIN, i64::MAX] {
        assert!(error(&[0, number], &[0, 0], &["x", "y"], &[0, 0]).contains("no list of keys"));
    }
    for number in [2, -1, i64::MIN, i64::MAX] {
        assert!(error(&[0, 0], &[0, number], &["x"], &[0, 0]).contains("value number"));
    }
    for number in [1, -2, i64::MIN, i64::MAX] {
        let lists = [0, number];
        assert!(error(&[0, 0], &[0, 0], &["x", "y"], &lists).contains("no list of tags"));
    }
    assert!(error(&[0, 0], &[0, 0], &["x", "y"], &[0, 0, 0]).contains("no list of tags"));
    assert!(error(&[0, 0], &[0, 0], &["x", "y"], &[0, -1]).contains("belong to no series"));
    assert!(error(&[0, 0], &[0], &["x"], &[0, 0]).contains("expected 2 rows"));
}

/// Encodes series as version 1 did.
fn row_of_version_1(series: &[SeriesDefined]) -> Vec<u8> {
    let tags = || series.iter().flat_map(|series| series.tags.iter());
    let mut strings: Vec<&str> = tags().flat_map(|(key, value)| [key, value]).collect();
    strings.sort_unstable();
    strings.dedup();
    let number = |string: &str| strings.binary_search(&string).unwrap() as i64;
    let mut before = 0;
    let ids = series.iter().map(|series| {
        let id = i64::from(series.id.0);
        id - std::mem::replace(&mut before, id)
    });
    let ids: Vec<i64> = ids.collect();
    let metrics: Vec<i64> = series.iter().map(|series| i64::from(series.metric.0)).collect();
    let counts: Vec<i64> = series.iter().map(|series| series.tags.len() as i64).collect();
    let keys: Vec<i64> = tags().map(|(key, _)| number(key)).collect();
    let values: Vec<i64> = tags().map(|(_, value)| number(value)).collect();
    let payload = Payload::default()
        .numbers(&[strings.len() as u64])
        .texts(strings.iter().copied())
        .numbers(&[series.len() as u64])
        .columns(&[&ids, &metrics, &counts, &keys, &values]);
    framed(1, &payload.0)
}

/// The tags of one series in version 1.
fn one_series_of_version_1(tags: &[(&str, &str)], count: i64) -> Payload {
    let keys: Vec<i64> = (0..tags.len() as i64).map(|tag| 2 * tag).collect();
    let values: Vec<i64> = keys.iter().map(|key| key + 1).collect();
    Payload::default()
        .numbers(&[2 * tags.len() as u64])
        .texts(tags.iter().flat_map(|(key, value)| [*key, *value]))
        .numbers(&[1])
        .columns(&[&[7], &[1], &[count], &keys, &values])
}

#[test]
fn segments_of_version_1_are_read() {
    let series = of_hosts(1_000);
    let row = row_of_version_1(&series);
    assert_eq!(read_segment(&row).unwrap(), series);
    assert_eq!(Segment::read(&row).unwrap().lists().len(), 100);
}

#[test]
fn tags_of_version_1_that_no_series_can_have_are_refused() {
    let error = |tags: &[(&str, &str)], count| error(1, &one_series_of_version_1(tags, count));
    let long_key = "k".repeat(limits::TAG_KEY_CHARS_MAX);
    let long_value = "é".repeat(limits::TAG_VALUE_CHARS_MAX);
    assert_eq!(error(&[("a", "x"), ("b", "")], 2), "");
    assert_eq!(error(&[(&long_key, &long_value)], 1), "");
    assert!(error(&[("b", "x"), ("a", "y")], 2).contains("not sorted"));
    assert!(error(&[("a", "x"), ("a", "y")], 2).contains("not sorted"));
    assert!(error(&[("", "x")], 1).contains("cannot be part of a tag"));
    assert!(error(&[(&format!("{long_key}k"), "x")], 1).contains("cannot be part of a tag"));
    assert!(error(&[("a", &format!("{long_value}v"))], 1).contains("cannot be part of a tag"));
    assert!(error(&[("a\n", "x")], 1).contains("cannot be part of a tag"));
    assert!(error(&[("a", "x")], 2).contains("fewer tags"));
    assert!(error(&[("a", "x")], 0).contains("belong to no series"));
    assert!(error(&[("a", "x")], -1).contains("negative"));
    assert!(error(&[("a", "x")], i64::MAX).contains("fewer tags"));
    let many: Vec<String> = (0..=limits::TAGS_MAX).map(|n| format!("k{n:02}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|key| (key.as_str(), "v")).collect();
    assert_eq!(error(&many[1..], limits::TAGS_MAX as i64), "");
    assert_ne!(error(&many, many.len() as i64), "");
}
