//! Answers to queries as JSON, written straight from the engine's columns.
//!
//! One aggregation: `{"name","aggregation","interval","series":[{"timestamp","value"}]}`. Several: the
//! points carry one number under the name of each. Where only cells wider than the interval are left, `meta.resolution` lists these parts of
//! the range: `[{"from","to","interval"}]`. Grouped: `series` gives way to `groups`, an object of such
//! lists by the values of the tags. The values of several tags are joined with `,`; a `,` or `\` inside one of
//! them then gets a `\` before it, so that two groups never share a name.

use telltale_engine::{
    Aggregation, CoarseRange, Error, Group, Interval, Memory, QueryResult, TimeRange, TimestampMs,
};

use super::model::{Fill, Question};
use crate::http::ApiResult;
use crate::limits;
use crate::platform::json::{self, CountedText};
use crate::platform::telemetry::buckets::Width;
use crate::platform::telemetry::question::{InvalidQuestion, label};
use crate::platform::time;

/// Bytes of a point with one number, roughly: what to reserve for the answer.
const POINT_BYTES: usize = 64;

/// The answer to one question.
pub(super) fn answer(
    question: &Question,
    result: &QueryResult,
    memory: &Memory,
) -> ApiResult<CountedText> {
    let mut out = Answers::begin(memory, b"{\"data\":")?;
    out.add(question, result)?;
    out.end(b"}")
}

/// Answers that are written one after another, with at most so many points in all as one may have.
#[derive(Debug)]
pub(super) struct Answers {
    out: CountedText,
    points: u64,
}

impl Answers {
    /// A list of answers.
    pub(super) fn list(memory: &Memory) -> ApiResult<Self> {
        Self::begin(memory, b"{\"data\":[")
    }

    fn begin(memory: &Memory, opening: &[u8]) -> ApiResult<Self> {
        let mut answers = Self { out: CountedText::new(memory), points: 0 };
        answers.write(opening.len(), |out| out.extend_from_slice(opening))?;
        Ok(answers)
    }

    fn write(&mut self, expected: usize, write: impl FnOnce(&mut Vec<u8>)) -> ApiResult<()> {
        Ok(self.out.write(expected, write).map_err(Error::from)?)
    }

    /// Adds the answer to a question to a list.
    pub(super) fn push(&mut self, question: &Question, result: &QueryResult) -> ApiResult<()> {
        if self.out.bytes().last() == Some(&b'}') {
            self.write(1, |out| out.push(b','))?;
        }
        self.add(question, result)
    }

    /// The list as JSON.
    pub(super) fn into_text(self) -> ApiResult<CountedText> {
        self.end(b"]}")
    }

    fn end(mut self, closing: &[u8]) -> ApiResult<CountedText> {
        self.write(closing.len(), |out| out.extend_from_slice(closing))?;
        Ok(self.out)
    }

    fn add(&mut self, question: &Question, result: &QueryResult) -> ApiResult<()> {
        let points = points(question, result);
        self.points = self.points.saturating_add(points);
        if self.points > limits::ANSWER_POINTS_MAX {
            return Err(InvalidQuestion::AnswerTooLong(self.points).into());
        }
        let per_point = POINT_BYTES + 24 * (question.query.aggregations.len() - 1);
        let bytes = usize::try_from(points).unwrap_or(0).saturating_mul(per_point);
        let keys = result.groups.iter().flat_map(|group| &group.key);
        let keys: usize = keys.map(|value| value.len() + 4).sum();
        self.write(256 + bytes + keys, |out| write(out, question, result))
    }
}

fn write(out: &mut Vec<u8>, question: &Question, result: &QueryResult) {
    out.extend_from_slice(br#"{"name":"#);
    json::string(out, question.query.metric.as_str());
    if let [aggregation] = question.query.aggregations.as_slice() {
        out.extend_from_slice(br#","aggregation":"#);
        json::string(out, aggregation.as_str());
    }
    out.extend_from_slice(br#","interval":"#);
    json::string(out, question.width.as_str());
    write_resolution(out, question, &result.coarse);
    let series = Series::new(question, result);
    if question.query.group_by.is_empty() {
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

/// Says which parts of the range are known by cells only that are wider than the interval; nothing when there are none.
fn write_resolution(out: &mut Vec<u8>, question: &Question, coarse: &[CoarseRange]) {
    let interval = question.width.interval();
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
        json::string(out, Width::of(part.width).map_or("", Width::as_str));
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

/// How many points the answer has over all its groups.
fn points(question: &Question, result: &QueryResult) -> u64 {
    match question.fill {
        Fill::None => result.groups.iter().map(|group| group.starts.len() as u64).sum(),
        Fill::Null | Fill::Zero | Fill::Previous => {
            let lists =
                if question.query.group_by.is_empty() { 1 } else { result.groups.len() as u64 };
            question.width.buckets(result.range).saturating_mul(lists)
        }
    }
}

/// How one list of points is written: the same for every group of an answer.
struct Series<'r> {
    /// What stands before each number: `,"value":` or `,"avg":`, …
    labels: Vec<Vec<u8>>,
    fill: Fill,
    range: TimeRange,
    /// Where a bucket may be within a cell that is in another bucket.
    coarse: &'r [CoarseRange],
    width: Interval,
}

impl<'r> Series<'r> {
    fn new(question: &Question, result: &'r QueryResult) -> Self {
        let names: Vec<&str> = match question.query.aggregations.as_slice() {
            [_] => vec!["value"],
            several => several.iter().copied().map(Aggregation::as_str).collect(),
        };
        let width = question.width.interval();
        let labels = names.iter().map(|name| format!(",\"{name}\":").into_bytes()).collect();
        let QueryResult { range, coarse, .. } = result;
        Self { labels, fill: question.fill, range: *range, coarse, width }
    }

    fn write(&self, out: &mut Vec<u8>, group: Option<&Group>) {
        out.push(b'[');
        let begin = out.len();
        let starts = group.map_or(&[] as &[TimestampMs], |group| &group.starts);
        let columns = group.map_or(&[] as &[Vec<f64>], |group| &group.columns);
        let number =
            |column: usize, row: usize| columns.get(column).and_then(|c| c.get(row)).copied();
        if self.fill == Fill::None {
            for (row, &start) in starts.iter().enumerate() {
                self.write_point(out, begin, start, |column| number(column, row));
            }
        } else {
            let mut rows = starts.iter().enumerate().peekable();
            let mut previous = None;
            for start in self.every_start() {
                let row = rows.next_if(|(_, at)| **at == start).map(|(row, _)| row);
                self.write_point(out, begin, start, |column| match (row, self.fill) {
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

    /// Writes a point whose numbers, by column, are given by `number_of`; `begin` is where the list begins.
    fn write_point(
        &self,
        out: &mut Vec<u8>,
        begin: usize,
        start: TimestampMs,
        number_of: impl Fn(usize) -> Option<f64>,
    ) {
        if out.len() > begin {
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

    /// The starts of all buckets that the range touches, but those within a cell that is in an earlier bucket: they are
    /// not empty, only not known by themselves.
    fn every_start(&self) -> impl Iterator<Item = TimestampMs> {
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
    use telltale_engine::{AnswerMemory, MetricName, MetricQuery, MetricType, QueryStats};

    use super::*;
    use crate::http::ApiError;

    const MINUTE: i64 = 60_000;

    fn question(aggregations: &[Aggregation], group_by: &[&str], fill: Fill) -> Question {
        let width = Width::Minute;
        let query = MetricQuery {
            metric: MetricName::new("a \"b\"").unwrap(),
            range: TimeRange::new(30_000, 5 * MINUTE),
            interval: width.interval(),
            aggregations: aggregations.to_vec(),
            filters: Vec::new(),
            group_by: group_by.iter().map(|&key| key.to_owned()).collect(),
        };
        Question { query, width, fill }
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
    fn check(question: &Question, groups: Vec<Group>, expected: &str) {
        let result = QueryResult {
            kind: MetricType::Gauge,
            range: question.query.range,
            coarse: Vec::new(),
            groups,
            stats: QueryStats::default(),
            memory: AnswerMemory::default(),
        };
        let written = answer(question, &result, &Memory::unlimited()).unwrap().into_parts().0;
        // Times make long lines: the minute alone tells them apart.
        let text = String::from_utf8(written).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        assert_eq!(text.replace("\"1970-01-01T00:0", "").replace(":00.000Z\"", "'"), expected);
    }

    #[test]
    fn one_aggregation_is_called_value() {
        check(
            &question(&[Aggregation::Avg], &[], Fill::None),
            vec![group(&[], &[(0, &[1.0]), (3, &[-0.25])], 1)],
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","series":[{"timestamp":0',"value":1},{"timestamp":3',"value":-0.25}]}}"#,
        );
        check(
            &question(&[Aggregation::Last], &[], Fill::None),
            Vec::new(),
            r#"{"data":{"name":"a \"b\"","aggregation":"last","interval":"1m","series":[]}}"#,
        );
    }

    #[test]
    fn several_aggregations_go_by_their_names() {
        check(
            &question(&[Aggregation::Max, Aggregation::Min], &[], Fill::None),
            vec![group(&[], &[(2, &[9_007_199_254_740_993.0, 1e300])], 2)],
            r#"{"data":{"name":"a \"b\"","interval":"1m","series":[{"timestamp":2',"max":9007199254740992.0,"min":1e300}]}}"#,
        );
    }

    #[test]
    fn groups_go_by_the_values_of_their_tags() {
        check(
            &question(&[Aggregation::Avg], &["k"], Fill::None),
            vec![group(&[""], &[(1, &[1.0])], 1), group(&["a,\"b\""], &[(2, &[2.0])], 1)],
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","groups":{"":[{"timestamp":1',"value":1}],"a,\"b\"":[{"timestamp":2',"value":2}]}}}"#,
        );
        check(
            &question(&[Aggregation::Avg], &["k", "l"], Fill::None),
            vec![
                group(&["a", "b"], &[(1, &[1.0])], 1),
                group(&["a", "b,\\"], &[(1, &[2.0])], 1),
                group(&["a,b", ""], &[(1, &[3.0])], 1),
            ],
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","groups":{"a,b":[{"timestamp":1',"value":1}],"a,b\\,\\\\":[{"timestamp":1',"value":2}],"a\\,b,":[{"timestamp":1',"value":3}]}}}"#,
        );
        check(
            &question(&[Aggregation::Avg], &["k"], Fill::Zero),
            Vec::new(),
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","groups":{}}}"#,
        );
    }

    #[test]
    fn empty_buckets_are_filled_as_asked() {
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
                &question(&[Aggregation::Min, Aggregation::Max], &[], fill),
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
    fn coarse_parts_are_named_and_not_filled() {
        let question = question(&[Aggregation::Avg], &[], Fill::Null);
        let minutes = |from: i64, to: i64| TimeRange::new(from * MINUTE, to * MINUTE);
        let result = QueryResult {
            kind: MetricType::Gauge,
            range: minutes(0, 7),
            coarse: vec![CoarseRange { range: minutes(0, 5), width: Interval::FIVE_MINUTES }],
            groups: vec![group(&[], &[(0, &[1.0]), (6, &[2.0])], 1)],
            stats: QueryStats::default(),
            memory: AnswerMemory::default(),
        };
        let written = answer(&question, &result, &Memory::unlimited()).unwrap().into_parts().0;
        let text = String::from_utf8(written).unwrap();
        assert_eq!(
            text.replace("\"1970-01-01T00:0", "").replace(":00.000Z\"", "'"),
            r#"{"data":{"name":"a \"b\"","aggregation":"avg","interval":"1m","meta":{"resolution":[{"from":0',"to":5',"interval":"5m"}]},"series":[{"timestamp":0',"value":1},{"timestamp":5',"value":null},{"timestamp":6',"value":2}]}}"#
        );
    }

    #[test]
    fn an_answer_has_a_limit_before_it_is_written() {
        let mut question = question(&[Aggregation::Avg], &["k"], Fill::Zero);
        question.query.range = TimeRange::new(0, 50_000 * MINUTE);
        let groups = (0..100).map(|i| group(&[&i.to_string()], &[(0, &[1.0])], 1)).collect();
        let result = QueryResult {
            kind: MetricType::Gauge,
            range: question.query.range,
            coarse: Vec::new(),
            groups,
            stats: QueryStats::default(),
            memory: AnswerMemory::default(),
        };
        let refused = answer(&question, &result, &Memory::unlimited()).unwrap_err();
        let expected = ApiError::from(InvalidQuestion::AnswerTooLong(5_000_000));
        assert_eq!((refused.code(), refused.message()), (expected.code(), expected.message()));
    }

    proptest! {
        #[test]
        fn answers_read_back_as_what_was_asked(
            values in prop::collection::vec((0_i64..100_000, prop::num::f64::NORMAL), 0..20), name in "\\PC{1,20}"
        ) {
            let mut question = question(&[Aggregation::Avg], &[], Fill::None);
            question.query.metric = MetricName::new(&name).unwrap();
            let points = Group {
                key: Vec::new(),
                starts: values.iter().map(|(minute, _)| TimestampMs(minute * MINUTE)).collect(),
                columns: vec![values.iter().map(|(_, value)| *value).collect()],
            };
            let result = QueryResult {
                kind: MetricType::Gauge,
                range: question.query.range,
                coarse: Vec::new(),
                groups: vec![points],
                stats: QueryStats::default(),
            memory: AnswerMemory::default(),
            };
            let written = answer(&question, &result, &Memory::unlimited()).unwrap().into_parts().0;
            let read: serde_json::Value = serde_json::from_slice(&written).unwrap();
            prop_assert_eq!(&read["data"]["name"], &name);
            let series = read["data"]["series"].as_array().unwrap();
            prop_assert_eq!(series.len(), values.len());
            for (point, (minute, value)) in series.iter().zip(&values) {
                let at = time::parse(point["timestamp"].as_str().unwrap()).unwrap();
                prop_assert_eq!(at, TimestampMs(minute * MINUTE));
                // serde_json may round the last bit its own way.
                let back = point["value"].as_f64().unwrap();
                prop_assert!((back - value).abs() <= value.abs() * 1e-15);
            }
        }
    }
}
