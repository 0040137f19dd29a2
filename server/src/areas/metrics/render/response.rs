//! One response with the results of one or several queries, limited in size.
//!
//! As points, with one aggregation:
//! `{"name","aggregation","interval","series":[{"timestamp","value"}]}`. With several, points
//! contain one number under the name of each. If only cells wider than the interval remain,
//! `meta.resolution` lists these parts of the range: `[{"from","to","interval"}]`. With
//! groups, `series` is replaced by `groups`, an object of such lists by tag value. The values of
//! several tags are joined with `,`; a `,` or `\` within a value is escaped with `\`, so that group
//! names are unique. With `top`, `meta` contains the number of groups and of those that are shown.
//! The form as columns is described in [`super::columns`].

use telltale_engine::{CoarseRange, Error, Memory, QueryResult};

use super::super::model::{Fill, Form, GroupCounts, ParsedQuery};
use super::bucket_starts::BucketStarts;
use super::columns::{self, VALUE_BYTES};
use super::points::PointListWriter;
use crate::http::ApiResult;
use crate::limits;
use crate::platform::json::{self, ChargedJson};
use crate::platform::telemetry::buckets::BucketWidth;
use crate::platform::telemetry::query_params::{InvalidQueryParams, label};
use crate::platform::time;

/// Approximate bytes of a point with one number, for reserving memory.
const POINT_BYTES: usize = 64;

/// Returns the response to one query.
pub(in crate::areas::metrics) fn response(
    parsed: &ParsedQuery,
    counts: GroupCounts,
    result: &QueryResult,
    memory: &Memory,
) -> ApiResult<ChargedJson> {
    let mut out = ResponseWriter::begin(memory, b"{\"data\":")?;
    out.add(parsed, counts, result)?;
    out.end(b"}")
}

/// Writes one or several results, limited in total to the points that one result may have.
#[derive(Debug)]
pub(in crate::areas::metrics) struct ResponseWriter {
    out: ChargedJson,
    points: u64,
}

impl ResponseWriter {
    /// Starts a list of results.
    pub(in crate::areas::metrics) fn list(memory: &Memory) -> ApiResult<Self> {
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
    pub(in crate::areas::metrics) fn push(
        &mut self,
        parsed: &ParsedQuery,
        counts: GroupCounts,
        result: &QueryResult,
    ) -> ApiResult<()> {
        if self.out.bytes().last() == Some(&b'}') {
            self.write(1, |out| out.push(b','))?;
        }
        self.add(parsed, counts, result)
    }

    /// Finishes the list and returns it as JSON.
    pub(in crate::areas::metrics) fn into_text(self) -> ApiResult<ChargedJson> {
        self.end(b"]}")
    }

    fn end(mut self, closing: &[u8]) -> ApiResult<ChargedJson> {
        self.write(closing.len(), |out| out.extend_from_slice(closing))?;
        Ok(self.out)
    }

    fn add(
        &mut self,
        parsed: &ParsedQuery,
        counts: GroupCounts,
        result: &QueryResult,
    ) -> ApiResult<()> {
        let points = points(parsed, result);
        self.points = self.points.saturating_add(points);
        if self.points > limits::RESPONSE_POINTS_MAX {
            return Err(InvalidQueryParams::TooManyPoints(self.points).into());
        }
        let numbers = parsed.query.aggregations.len();
        let (per_point, bytes_else) = match parsed.form {
            Form::Points => (POINT_BYTES + 24 * (numbers - 1), 0),
            Form::Columns => {
                let names: usize = parsed.query.group_by.iter().map(|key| key.len() + 4).sum();
                let of_group = names + 32 + 16 * numbers;
                let times = BucketStarts::new(parsed, result).iter().count();
                (VALUE_BYTES * numbers, times * 16 + result.groups.len() * of_group)
            }
        };
        let bytes = usize::try_from(points).unwrap_or(usize::MAX).saturating_mul(per_point);
        let keys = result.groups.iter().flat_map(|group| &group.key);
        let keys: usize = keys.map(|value| value.len() + 4).sum();
        self.write(256 + bytes + bytes_else + keys, |out| match parsed.form {
            Form::Points => write_points(out, parsed, counts, result),
            Form::Columns => columns::write(out, parsed, counts, result),
        })
    }
}

fn write_points(
    out: &mut Vec<u8>,
    parsed: &ParsedQuery,
    counts: GroupCounts,
    result: &QueryResult,
) {
    out.extend_from_slice(br#"{"name":"#);
    json::string(out, parsed.query.metric.as_str());
    if let [aggregation] = parsed.query.aggregations.as_slice() {
        out.extend_from_slice(br#","aggregation":"#);
        json::string(out, aggregation.as_str());
    }
    out.extend_from_slice(br#","interval":"#);
    json::string(out, &parsed.width.to_string());
    write_meta(out, parsed, parsed.top.map(|_| counts), &result.coarse);
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

/// Writes the numbers of groups, and the parts of the range for which only cells wider than the
/// interval remain; nothing if there is neither.
pub(super) fn write_meta(
    out: &mut Vec<u8>,
    parsed: &ParsedQuery,
    counts: Option<GroupCounts>,
    coarse: &[CoarseRange],
) {
    let interval = parsed.width.interval();
    let mut wider = coarse.iter().filter(|part| part.width > interval).peekable();
    if counts.is_none() && wider.peek().is_none() {
        return;
    }
    out.extend_from_slice(br#","meta":{"#);
    if let Some(GroupCounts { groups, shown }) = counts {
        out.extend_from_slice(br#""groups":"#);
        json::unsigned(out, groups as u64);
        out.extend_from_slice(br#","shown":"#);
        json::unsigned(out, shown as u64);
    }
    if wider.peek().is_some() {
        out.extend_from_slice(if counts.is_some() {
            b",\"resolution\":["
        } else {
            b"\"resolution\":["
        });
        for (i, part) in wider.enumerate() {
            out.extend_from_slice(if i == 0 { br#"{"from":""# } else { br#",{"from":""# });
            time::write(out, part.range.start);
            out.extend_from_slice(br#"","to":""#);
            time::write(out, part.range.end);
            out.extend_from_slice(br#"","interval":"#);
            let width = BucketWidth::of(part.width);
            json::string(out, &width.map(|width| width.to_string()).unwrap_or_default());
            out.push(b'}');
        }
        out.push(b']');
    }
    out.push(b'}');
}

/// Returns the number of points over all groups.
fn points(parsed: &ParsedQuery, result: &QueryResult) -> u64 {
    let has_gaps = parsed.form == Form::Points && parsed.fill == Fill::None;
    if has_gaps {
        return result.groups.iter().map(|group| group.starts.len() as u64).sum();
    }
    let lists = if parsed.query.group_by.is_empty() { 1 } else { result.groups.len() as u64 };
    parsed.width.buckets(result.range).saturating_mul(lists)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use telltale_engine::{
        Aggregation, Group, Interval, MetricName, MetricQuery, MetricType, QueryStats,
        ResultMemory, TimeRange, TimestampMs,
    };

    use super::*;
    use crate::http::ApiError;

    const MINUTE: i64 = 60_000;

    fn parsed(aggregations: &[Aggregation], group_by: &[&str], fill: Fill) -> ParsedQuery {
        let width = BucketWidth::MINUTE;
        let query = MetricQuery {
            metric: MetricName::new("a \"b\"").unwrap(),
            range: TimeRange::new(30_000, 5 * MINUTE),
            interval: width.interval(),
            aggregations: aggregations.to_vec(),
            filters: Vec::new(),
            group_by: group_by.iter().map(|&key| key.to_owned()).collect(),
        };
        ParsedQuery { query, width, fill, form: Form::Points, top: None }
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
        let written = response(parsed, GroupCounts::of(&result), &result, &Memory::unlimited())
            .unwrap()
            .into_parts()
            .0;
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
        let written = response(&parsed, GroupCounts::of(&result), &result, &Memory::unlimited())
            .unwrap()
            .into_parts()
            .0;
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
        let refused =
            response(&parsed, GroupCounts::of(&result), &result, &Memory::unlimited()).unwrap_err();
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
            let written = response(&parsed, GroupCounts::of(&result), &result, &Memory::unlimited()).unwrap().into_parts().0;
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
