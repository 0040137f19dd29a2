//! The response to a metric query, parsed from JSON with the fields of the HTTP contract.

use serde_json::{Map, Value};

/// Groups of data points; one group with an empty key if the query had no groups.
#[derive(Debug, PartialEq)]
pub(super) struct QueryResponse {
    /// The aggregations, one per value of each data point.
    pub(super) columns: Vec<String>,
    /// The groups, by key.
    pub(super) groups: Vec<ResponseGroup>,
}

#[derive(Debug, PartialEq)]
pub(super) struct ResponseGroup {
    pub(super) key: String,
    pub(super) points: Vec<DataPoint>,
}

#[derive(Debug, PartialEq)]
pub(super) struct DataPoint {
    pub(super) timestamp: String,
    /// One value per column; `None` if there is no data.
    pub(super) values: Vec<Option<f64>>,
}

impl QueryResponse {
    /// Parses `{"data": …}`. `aggregations` contains the aggregations of the request, and is empty
    /// for the default one.
    pub(super) fn read(body: &str, aggregations: &[&str]) -> Option<Self> {
        let body: Value = serde_json::from_str(body).ok()?;
        let data = body.get("data")?.as_object()?;
        let (columns, fields) = match aggregations {
            [] | [_] => {
                let name = data.get("aggregation").and_then(Value::as_str);
                let name = name.or(aggregations.first().copied()).unwrap_or("value");
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

fn group(key: &str, series: &Value, fields: &[String]) -> Option<ResponseGroup> {
    let points = series
        .as_array()?
        .iter()
        .map(|one| point(one.as_object()?, fields))
        .collect::<Option<Vec<_>>>()?;
    Some(ResponseGroup { key: key.to_owned(), points })
}

fn point(one: &Map<String, Value>, fields: &[String]) -> Option<DataPoint> {
    Some(DataPoint {
        timestamp: one.get("timestamp")?.as_str()?.to_owned(),
        values: fields.iter().map(|field| one.get(field).and_then(Value::as_f64)).collect(),
    })
}
