//! Writes query responses as JSON, directly from the engine's columns.
//!
//! With one aggregation: `{"name","aggregation","interval","series":[{"timestamp","value"}]}`. With
//! several, points contain one number under the name of each. If only cells wider than the interval
//! remain, `meta.resolution` lists these parts of the range: `[{"from","to","interval"}]`. With
//! groups, `series` is replaced by `groups`, an object of such lists by tag value. The values of
//! several tags are joined with `,`; a `,` or `\` within a value is escaped with `\`, so that group
//! names are unique.

use telltale_engine::{
    Aggregation, CoarseRange, Error, Group, Interval, Memory, QueryResult, TimeRange, TimestampMs,
};

use super::model::{Fill, ParsedQuery};
use crate::http::ApiResult;
use crate::limits;
use crate::platform::json::{self, ChargedJson};
use crate::platform::telemetry::buckets::BucketWidth;
use crate::platform::telemetry::query_params::{InvalidQueryParams, label};
use crate::platform::time;

/// Approximate bytes of a point with one number, for reserving memory.
const POINT_BYTES: usize = 64;

/// Returns the response to one query.
pub(super) fn response(
    parsed: &ParsedQuery,
    result: &QueryResult,
    memory: &Memory,
) -> ApiResult<ChargedJson> {
    let mut out = ResponseWriter::begin(memory, b"{\"data\":")?;
    out.add(parsed, result)?;
    out.end(b"}")
}

/// Writes one or several results, limited in total to the points that one result may have.
#[derive(Debug)]
pub(super) struct ResponseWriter {
    out: ChargedJson,
    points: u64,
}

impl ResponseWriter {
    /// Starts a list of results.
    pub(super) fn list(memory: &Memory) -> ApiResult<Self> {
        Self::begin(memory, b"{\"data\":[")
    }

    fn begin(memory: &Memory, opening: &[u8]) -> ApiResult<Self> {
        let mut writer = Self { out: ChargedJson::new(memory), points: 0 };
        writer.write(opening.len(), |out| out.extend_from_slice(opening))?;
        Ok(writer)
    }

    fn write(&mut self, expected: usize, write: impl FnOnce(&mut Vec<u8>)) -> ApiResult<()> {
        Ok(self.out.write(expected, write).map_err(Error::from)?)
    }

    /// Appends the result of a query to a list.
    pub(super) fn push(&mut self, parsed: &ParsedQuery, result: &QueryResult) -> ApiResult<()> {
        if self.out.bytes().last() == Some(&b'}') {
            self.write(1, |out| out.push(b','))?;
        }
        self.add(parsed, result)
    }

    /// Finishes the list and returns it as JSON.
    pub(super) fn into_text(self) -> ApiResult<ChargedJson> {
        self.end(b"]}")
    }

    fn end(mut self, closing: &[u8]) -> ApiResult<ChargedJson> {
        self.write(closing.len(), |out| out.extend_from_slice(closing))?;
        Ok(self.out)
    }

    fn add(&mut self, parsed: &ParsedQuery, result: &QueryResult) -> ApiResult<()> {
        let points = points(parsed, result);
        self.points = self.points.saturating_add(points);
        if self.points > limits::RESPONSE_POINTS_MAX {
            return Err(InvalidQueryParams::TooManyPoints(self.points).into());
        }
        let per_point = POINT_BYTES + 24 * (parsed.query.aggregations.len() - 1);
        let bytes = usize::try_from(points).unwrap_or(usize::MAX).saturating_mul(per_point);
        let keys = result.groups.iter().flat_map(|group| &group.key);
        let keys: usize = keys.map(|value| value.len() + 4).sum();
        self.write(256 + bytes + keys, |out| write(out, parsed, result))
    }
}

fn write(out: &mut Vec<u8>, parsed: &ParsedQuery, result: &QueryResult) {
    out.extend_from_slice(br#"{"name":"#);
    json::string(out, parsed.query.metric.as_str());
    if let [aggregation] = parsed.query.aggregations.as_slice() {
        out.extend_from_slice(br#","aggregation":"#);
        json::string(out, aggregation.as_str());
    }
    out.extend_from_slice(br#","interval":"#);
    json::string(out, parsed.width.as_str());
    write_resolution(out, parsed, &result.coarse);
    let series = PointListWriter::new(parsed, result);
    if parsed.query.group_by.is_empty() {
        out.extend_from_slice(br#","series":"#);
        series.write(out, result.groups.first());
    } else {
        out.extend_from_slice(br#","groups":{"#);
        for (i, group) in result.groups.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            json::string(out, &label(&group.key));
            out.push(b':');
            series.write(out, Some(group));
        }
        out.push(b'}');
    }
    out.push(b'}');
}

/// Writes the parts of the range for which only cells wider than the interval remain; nothing if
/// there are none.
fn write_resolution(out: &mut Vec<u8>, parsed: &ParsedQuery, coarse: &[CoarseRange]) {
    let interval = parsed.width.interval();
    let mut wider = coarse.iter().filter(|part| part.width > interval).peekable();
    if wider.peek().is_none() {
        return;
    }
    out.extend_from_slice(br#","meta":{"resolution":["#);
    for (i, part) in wider.enumerate() {
        out.extend_from_slice(if i == 0 { br#"{"from":""# } else { br#",{"from":""# });
        time::write(out, part.range.start);
        out.extend_from_slice(br#"","to":""#);
        time::write(out, part.range.end);
        out.extend_from_slice(br#"","interval":"#);
        json::string(out, BucketWidth::of(part.width).map_or("", BucketWidth::as_str));
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

/// Returns the number of points over all groups.
fn points(parsed: &ParsedQuery, result: &QueryResult) -> u64 {
    match parsed.fill {
        Fill::None => result.groups.iter().map(|group| group.starts.len() as u64).sum(),
        Fill::Null | Fill::Zero | Fill::Previous => {
            let lists =
                if parsed.query.group_by.is_empty() { 1 } else { result.groups.len() as u64 };
            parsed.width.buckets(result.range).saturating_mul(lists)
        }
    }
}

/// The form of the point lists, common to all groups of a response.
struct PointListWriter<'r> {
    /// The bytes before each number: `,"value":` or `,"avg":`, …
    labels: Vec<Vec<u8>>,
    fill: Fill,
    range: TimeRange,
    /// The parts of the range in which a cell may span several buckets.
    coarse: &'r [CoarseRange],
    width: Interval,
}

impl<'r> PointListWriter<'r> {
    fn new(parsed: &ParsedQuery, result: &'r QueryResult) -> Self {
        let names: Vec<&str> = match parsed.query.aggregations.as_slice() {
            [_] => vec!["value"],
            several => several.iter().copied().map(Aggregation::as_str).collect(),
        };
        let width = parsed.width.interval();
        let labels = names.iter().map(|name| format!(",\"{name}\":").into_bytes()).collect();
        let QueryResult { range, coarse, .. } = result;
        Self { labels, fill: parsed.fill, range: *range, coarse, width }
    }

    fn write(&self, out: &mut Vec<u8>, group: Option<&Group>) {
        out.push(b'[');
        let list_start = out.len();
        let starts = group.map_or(&[] as &[TimestampMs], |group| &group.starts);
        let columns = group.map_or(&[] as &[Vec<f64>], |group| &group.columns);
        let number =
            |column: usize, row: usize| columns.get(column).and_then(|c| c.get(row)).copied();
        if self.fill == Fill::None {
            for (row, &start) in starts.iter().enumerate() {
                self.write_point(out, list_start, start, |column| number(column, row));
            }
        } else {
            let mut rows = starts.iter().enumerate().peekable();
            let mut previous = None;
            for start in self.bucket_starts() {
                let row = rows.next_if(|(_, at)| **at == start).map(|(row, _)| row);
                self.write_point(out, list_start, start, |column| match (row, self.fill) {
                    (Some(row), _) => number(column, row),
                    (None, Fill::Zero) => Some(0.0),
                    (None, Fill::Previous) => previous.and_then(|row| number(column, row)),
                    (None, Fill::None | Fill::Null) => None,
                });
                previous = row.or(previous);
            }
        }
        out.push(b']');
    }

    /// Writes a point. `number_of` returns its numbers by column; `list_start` is the position at
    /// which the list starts.
    fn write_point(
        &self,
        out: &mut Vec<u8>,
        list_start: usize,
        start: TimestampMs,
        number_of: impl Fn(usize) -> Option<f64>,
    ) {
        if out.len() > list_start {
            out.push(b',');
        }
        out.extend_from_slice(br#"{"timestamp":""#);
        time::write(out, start);
        out.push(b'"');
        for (column, label) in self.labels.iter().enumerate() {
            out.extend_from_slice(label);
            match number_of(column) {
                Some(number) => json::number(out, number),
                None => out.extend_from_slice(b"null"),
            }
        }
        out.push(b'}');
    }

    /// Returns the starts of all buckets in the range, except those within a cell that starts in an
    /// earlier bucket: they are not empty, but have no value of their own.
    fn bucket_starts(&self) -> impl Iterator<Item = TimestampMs> {
        let width_ms = self.width.ms();
        let first = self.range.start.0.div_euclid(width_ms);
        let end = self.range.end.0;
        let mut coarse = self.coarse.iter().peekable();
        let starts = (first..).map(move |n| n * width_ms).take_while(move |start| *start < end);
        starts.map(TimestampMs).filter(move |start| {
            while coarse.next_if(|part| part.range.end <= *start).is_some() {}
            coarse.peek().is_none_or(|part| {
                !part.range.contains(*start)
                    || part.width <= self.width
                    || start.floor_to(part.width) == *start
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use telltale_engine::{MetricName, MetricQuery, MetricType, QueryStats, ResultMemory};

    use super::*;
    use crate::http::ApiError;

    const MINUTE: i64 = 60_000;

    fn parsed(aggregations: &[Aggregation], group_by: &[&str], fill: Fill) -> ParsedQuery {
        let width = BucketWidth::Minute;
        let query = MetricQuery {
            metric: MetricName::new("a \"b\"").unwrap(),
            range: TimeRange::new(30_000, 5 * MINUTE),
            interval: width.interval(),
            aggregations: aggregations.to_vec(),
            filters: Vec::new(),
            group_by: group_by.iter().map(|&key| key.to_owned()).collect(),
        };
        ParsedQuery { query, width, fill }
    }

    fn group(key: &[&str], points: &[(i64, &[f64])], columns: usize) -> Group {
        Group {
            key: key.iter().map(|&value| value.to_owned()).collect(),
            starts: points.iter().map(|(minute, _)| TimestampMs(minute * MINUTE)).collect(),
            columns: (0..columns)
                .map(|c| points.iter().map(|(_, values)| values[c]).collect())
                .collect(),
        }
    }

    #[track_caller]
    fn check(parsed: &ParsedQuery, groups: Vec<Group>, expected: &str) {
        let result = QueryResult {
            kind: MetricType::Gauge,
            range: parsed.query.range,
            coarse: Vec::new(),
            groups,
            stats: QueryStats::default(),
            memory: ResultMemory::default(),
        };
        let written = response(parsed, &result, &Memory::unlimited()).unwrap().into_parts().0;
        // Timestamps would make long lines; the minute alone identifies them.
        let text = String::from_utf8(written).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        assert_eq!(text.replace("\"1970-01-01T00:0", "").replace(":00.000Z\"", "'"), expected);
    }

    #[test]
    fn one_aggregation_is_called_value() {
        check(
            &parsed(&[Aggregation::Avg], &[], Fill::None),
            vec![group(&[], &[(0, &[1.0]), (3, &[-0.25])], 1)],
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","series":[{"timestamp":0',"value":1},{"timestamp":3',"value":-0.25}]}}"#,
        );
        check(
            &parsed(&[Aggregation::Last], &[], Fill::None),
            Vec::new(),
            r#"{"data":{"name":"a \"b\"","aggregation":"last","interval":"1m","series":[]}}"#,
        );
    }

    #[test]
    fn several_aggregations_are_written_under_their_names() {
        check(
            &parsed(&[Aggregation::Max, Aggregation::Min], &[], Fill::None),
            vec![group(&[], &[(2, &[9_007_199_254_740_993.0, 1e300])], 2)],
            r#"{"data":{"name":"a \"b\"","interval":"1m","series":[{"timestamp":2',"max":9007199254740992.0,"min":1e300}]}}"#,
        );
    }

    #[test]
    fn groups_are_written_under_their_tag_values() {
        check(
            &parsed(&[Aggregation::Avg], &["k"], Fill::None),
            vec![group(&[""], &[(1, &[1.0])], 1), group(&["a,\"b\""], &[(2, &[2.0])], 1)],
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","groups":{"":[{"timestamp":1',"value":1}],"a,\"b\"":[{"timestamp":2',"value":2}]}}}"#,
        );
        check(
            &parsed(&[Aggregation::Avg], &["k", "l"], Fill::None),
            vec![
                group(&["a", "b"], &[(1, &[1.0])], 1),
                group(&["a", "b,\\"], &[(1, &[2.0])], 1),
                group(&["a,b", ""], &[(1, &[3.0])], 1),
            ],
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","groups":{"a,b":[{"timestamp":1',"value":1}],"a,b\\,\\\\":[{"timestamp":1',"value":2}],"a\\,b,":[{"timestamp":1',"value":3}]}}}"#,
        );
        check(
            &parsed(&[Aggregation::Avg], &["k"], Fill::Zero),
            Vec::new(),
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","groups":{}}}"#,
        );
    }

    #[test]
    fn empty_buckets_are_filled_as_requested() {
        let with = |fill, points: &[(i64, &[f64])], values: &str| {
            let points = group(&[], points, 2);
            let expected: Vec<String> = values
                .split(' ')
                .enumerate()
                .map(|(minute, value)| {
                    format!(r#"{{"timestamp":{minute}',"min":{value},"max":{value}}}"#)
                })
                .collect();
            let groups = if points.starts.is_empty() { Vec::new() } else { vec![points] };
            check(
                &parsed(&[Aggregation::Min, Aggregation::Max], &[], fill),
                groups,
                &format!(
                    r#"{{"data":{{"name":"a \"b\"","interval":"1m","series":[{}]}}}}"#,
                    expected.join(",")
                ),
            );
        };
        let points: &[(i64, &[f64])] = &[(1, &[7.0, 7.0]), (3, &[8.0, 8.0])];
        with(Fill::Null, points, "null 7 null 8 null");
        with(Fill::Zero, points, "0 7 0 8 0");
        with(Fill::Previous, points, "null 7 7 8 8");
        with(Fill::Null, &[], "null null null null null");
        with(Fill::Zero, &[], "0 0 0 0 0");
    }

    #[test]
    fn coarse_parts_are_reported_and_not_filled() {
        let parsed = parsed(&[Aggregation::Avg], &[], Fill::Null);
        let minutes = |from: i64, to: i64| TimeRange::new(from * MINUTE, to * MINUTE);
        let result = QueryResult {
            kind: MetricType::Gauge,
            range: minutes(0, 7),
            coarse: vec![CoarseRange { range: minutes(0, 5), width: Interval::FIVE_MINUTES }],
            groups: vec![group(&[], &[(0, &[1.0]), (6, &[2.0])], 1)],
            stats: QueryStats::default(),
            memory: ResultMemory::default(),
        };
        let written = response(&parsed, &result, &Memory::unlimited()).unwrap().into_parts().0;
        let text = String::from_utf8(written).unwrap();
        assert_eq!(
            text.replace("\"1970-01-01T00:0", "").replace(":00.000Z\"", "'"),
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","meta":{"resolution":[{"from":0',"to":5',"interval":"5m"}]},"series":[{"timestamp":0',"value":1},{"timestamp":5',"value":null},{"timestamp":6',"value":2}]}}"#
        );
    }

    #[test]
    fn a_response_over_the_limit_is_refused_before_it_is_written() {
        let mut parsed = parsed(&[Aggregation::Avg], &["k"], Fill::Zero);
        parsed.query.range = TimeRange::new(0, 50_000 * MINUTE);
        let groups = (0..100).map(|i| group(&[&i.to_string()], &[(0, &[1.0])], 1)).collect();
        let result = QueryResult {
            kind: MetricType::Gauge,
            range: parsed.query.range,
            coarse: Vec::new(),
            groups,
            stats: QueryStats::default(),
            memory: ResultMemory::default(),
        };
        let refused = response(&parsed, &result, &Memory::unlimited()).unwrap_err();
        let expected = ApiError::from(InvalidQueryParams::TooManyPoints(5_000_000));
        assert_eq!((refused.code(), refused.message()), (expected.code(), expected.message()));
    }

    proptest! {
        #[test]
        fn responses_can_be_parsed_back(
            values in prop::collection::vec((0_i64..100_000, prop::num::f64::NORMAL), 0..20), name in "\\PC{1,20}"
        ) {
            let mut parsed = parsed(&[Aggregation::Avg], &[], Fill::None);
            parsed.query.metric = MetricName::new(&name).unwrap();
            let points = Group {
                key: Vec::new(),
                starts: values.iter().map(|(minute, _)| TimestampMs(minute * MINUTE)).collect(),
                columns: vec![values.iter().map(|(_, value)| *value).collect()],
            };
            let result = QueryResult {
                kind: MetricType::Gauge,
                range: parsed.query.range,
                coarse: Vec::new(),
                groups: vec![points],
                stats: QueryStats::default(),
            memory: ResultMemory::default(),
            };
            let written = response(&parsed, &result, &Memory::unlimited()).unwrap().into_parts().0;
            let read: serde_json::Value = serde_json::from_slice(&written).unwrap();
            prop_assert_eq!(&read["data"]["name"], &name);
            let series = read["data"]["series"].as_array().unwrap();
            prop_assert_eq!(series.len(), values.len());
            for (point, (minute, value)) in series.iter().zip(&values) {
                let at = time::parse(point["timestamp"].as_str().unwrap()).unwrap();
                prop_assert_eq!(at, TimestampMs(minute * MINUTE));
                // serde_json may round the last bit differently.
                let back = point["value"].as_f64().unwrap();
                prop_assert!((back - value).abs() <= value.abs() * 1e-15);
            }
        }
    }
}
