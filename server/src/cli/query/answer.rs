//! The answer of a metric query, read back from its JSON. A client's view: the shapes of the HTTP contract.

use serde_json::{Map, Value};

/// Groups of points; one group with an empty key when the query had no groups.
#[derive(Debug, PartialEq)]
pub(super) struct QueryAnswer {
    /// What the numbers of each point are, in order.
    pub(super) columns: Vec<String>,
    /// The groups, by key.
    pub(super) groups: Vec<AnswerGroup>,
}

#[derive(Debug, PartialEq)]
pub(super) struct AnswerGroup {
    pub(super) key: String,
    pub(super) points: Vec<AnswerPoint>,
}

#[derive(Debug, PartialEq)]
pub(super) struct AnswerPoint {
    pub(super) timestamp: String,
    /// One number per column; `None` where nothing was recorded.
    pub(super) values: Vec<Option<f64>>,
}

impl QueryAnswer {
    /// Reads `{"data": …}`. `asked` are the aggregations of the request, empty for the default one.
    pub(super) fn read(body: &str, asked: &[&str]) -> Option<Self> {
        let body: Value = serde_json::from_str(body).ok()?;
        let data = body.get("data")?.as_object()?;
        let (columns, fields) = match asked {
            [] | [_] => {
                let name = data.get("aggregation").and_then(Value::as_str);
                let name = name.or(asked.first().copied()).unwrap_or("value");
                (vec![name.to_owned()], vec!["value".to_owned()])
            }
            several => {
                let names: Vec<String> = several.iter().map(|name| (*name).to_owned()).collect();
                (names.clone(), names)
            }
        };
        let groups = match data.get("groups") {
            Some(groups) => groups
                .as_object()?
                .iter()
                .map(|(key, series)| group(key, series, &fields))
                .collect::<Option<Vec<_>>>()?,
            None => vec![group("", data.get("series")?, &fields)?],
        };
        Some(Self { columns, groups })
    }
}

fn group(key: &str, series: &Value, fields: &[String]) -> Option<AnswerGroup> {
    let points = series
        .as_array()?
        .iter()
        .map(|one| point(one.as_object()?, fields))
        .collect::<Option<Vec<_>>>()?;
    Some(AnswerGroup { key: key.to_owned(), points })
}

fn point(one: &Map<String, Value>, fields: &[String]) -> Option<AnswerPoint> {
    Some(AnswerPoint {
        timestamp: one.get("timestamp")?.as_str()?.to_owned(),
        values: fields.iter().map(|field| one.get(field).and_then(Value::as_f64)).collect(),
    })
}
