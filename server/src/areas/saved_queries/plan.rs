//! Converts a saved query to a plan for the engine: its strings are parsed once, and queries that
//! cannot be answered are rejected here.

use telltale_engine::{
    Aggregation, EventAggregation, EventField, EventGroupBy, Interval, MetricName, MetricType,
    NameFilter, TagFilter,
};

use super::error::InvalidQuery;
use super::query::SavedQuery;
use crate::areas::{events, metrics};
use crate::platform::telemetry::buckets::BucketWidth;
use crate::platform::telemetry::query_params::{self, INTERVAL_RULE};

/// A parsed query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryPlan {
    pub source: QuerySource,
    pub filters: Vec<TagFilter>,
    /// The bucket width of a graph; derived from the range if absent.
    pub interval: Option<BucketWidth>,
    pub measure: Measure,
    /// The label of the only group of an ungrouped query: the name of the metric or events.
    pub label: String,
    /// The grouping keys, without `tags.`.
    pub group_names: Vec<String>,
}

/// The source of a query's data.
#[derive(Clone, Debug, PartialEq)]
pub enum QuerySource {
    /// A metric; `kind` is `None` if it does not exist.
    Metric { name: MetricName, kind: Option<MetricType>, group_by: Vec<String> },
    /// Events.
    Event { name: NameFilter, field: EventField, group_by: Vec<EventGroupBy> },
}

/// The number computed for each group and bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// An aggregation of a metric.
    Metric(Aggregation),
    /// An aggregation of events.
    Event(EventAggregation),
}

/// The aggregations of events by name; the first is the default.
const EVENT_AGGREGATIONS: [(&str, EventAggregation); 9] = [
    ("count", EventAggregation::Count),
    ("sum", EventAggregation::Sum),
    ("avg", EventAggregation::Avg),
    ("min", EventAggregation::Min),
    ("max", EventAggregation::Max),
    ("p50", EventAggregation::P50),
    ("p95", EventAggregation::P95),
    ("p99", EventAggregation::P99),
    ("unique_users", EventAggregation::UniqueUsers),
];

impl Measure {
    /// Returns whether the number is larger if there is more data, as counts and sums are.
    pub fn grows_with_data(self) -> bool {
        match self {
            Self::Metric(Aggregation::Sum | Aggregation::Count | Aggregation::Rate) => true,
            Self::Event(aggregation) => matches!(
                aggregation,
                EventAggregation::Count | EventAggregation::Sum | EventAggregation::UniqueUsers
            ),
            Self::Metric(_) => false,
        }
    }
}

impl QueryPlan {
    /// Parses `query`. `kind` is the type of its metric, if that exists.
    pub fn new(query: &SavedQuery, kind: Option<MetricType>) -> Result<Self, InvalidQuery> {
        let (source, label) = match (&query.metric, &query.event) {
            (Some(name), None) => (metric_source(query, name, kind)?, name),
            (None, Some(name)) => (event_source(query, name)?, name),
            _ => return Err(InvalidQuery::new("", "must have exactly one of metric and event")),
        };
        let measure = match query.aggregation.as_deref() {
            None => source.default_measure(),
            Some(text) => source.measure(text).ok_or_else(|| {
                InvalidQuery::new("aggregation", format!("must be one of {}", source.measures()))
            })?,
        };
        let interval = match query.interval.as_deref() {
            None => None,
            Some(text) => Some(
                BucketWidth::parse(text)
                    .ok_or_else(|| InvalidQuery::new("interval", INTERVAL_RULE))?,
            ),
        };
        let is_fine = |width: BucketWidth| !width.interval().is_multiple_of(Interval::MINUTE);
        if kind.is_some_and(|kind| !kind.keeps_points()) && interval.is_some_and(is_fine) {
            let expected = "must be a whole number of minutes for distributions and sets";
            return Err(InvalidQuery::new("interval", expected));
        }
        let filters = filters(query)?;
        let (group_names, label) = (source.group_names(), label.clone());
        Ok(Self { source, filters, interval, measure, label, group_names })
    }
}

impl QueryPlan {
    /// Groups by these tags too. Returns the position of each among the grouping keys.
    pub fn add_grouping(&mut self, tags: &[String]) -> Vec<usize> {
        let positions = tags.iter().map(|tag| match self.source.tag_position(tag) {
            Some(position) => position,
            None => {
                match &mut self.source {
                    QuerySource::Metric { group_by, .. } => group_by.push(tag.clone()),
                    QuerySource::Event { group_by, .. } => {
                        group_by.push(EventGroupBy::Tag(tag.clone()));
                    }
                }
                self.group_names.push(tag.clone());
                self.group_names.len() - 1
            }
        });
        positions.collect()
    }

    /// Returns whether the number is that of events, or of users: without groups, that of none is
    /// zero.
    pub fn counts(&self) -> bool {
        matches!(
            self.measure,
            Measure::Event(EventAggregation::Count | EventAggregation::UniqueUsers)
        )
    }

    /// Returns whether the number is that of events.
    pub fn counts_events(&self) -> bool {
        self.measure == Measure::Event(EventAggregation::Count)
    }
}

impl QuerySource {
    /// Returns the position of a tag among the grouping keys.
    pub fn tag_position(&self, tag: &str) -> Option<usize> {
        match self {
            Self::Metric { group_by, .. } => group_by.iter().position(|by| by == tag),
            Self::Event { group_by, .. } => {
                group_by.iter().position(|by| matches!(by, EventGroupBy::Tag(key) if key == tag))
            }
        }
    }

    /// Parses the name of a measure.
    pub fn measure(&self, text: &str) -> Option<Measure> {
        match self {
            Self::Metric { kind, .. } => Aggregation::parse(text)
                .filter(|aggregation| {
                    kind.is_none_or(|kind| Aggregation::of(kind).contains(aggregation))
                })
                .map(Measure::Metric),
            Self::Event { .. } => {
                let found = EVENT_AGGREGATIONS.iter().find(|(name, _)| *name == text);
                found.map(|(_, aggregation)| Measure::Event(*aggregation))
            }
        }
    }

    /// Returns the names of all measures, separated by commas.
    pub fn measures(&self) -> String {
        let names: Vec<&str> = match self {
            Self::Metric { kind: None, .. } => Aggregation::ALL.map(Aggregation::as_str).into(),
            Self::Metric { kind: Some(kind), .. } => {
                Aggregation::of(*kind).iter().map(|aggregation| aggregation.as_str()).collect()
            }
            Self::Event { .. } => EVENT_AGGREGATIONS.map(|(name, _)| name).into(),
        };
        names.join(", ")
    }

    fn default_measure(&self) -> Measure {
        match self {
            Self::Metric { kind, .. } => {
                let first = kind.and_then(|kind| Aggregation::of(kind).first().copied());
                // The choice has no effect: a metric that does not exist has no values.
                Measure::Metric(first.unwrap_or(Aggregation::Avg))
            }
            Self::Event { .. } => Measure::Event(EventAggregation::Count),
        }
    }

    fn group_names(&self) -> Vec<String> {
        match self {
            Self::Metric { group_by, .. } => group_by.clone(),
            Self::Event { group_by, .. } => {
                let fields = |by: &EventGroupBy| match by {
                    EventGroupBy::Name => Some("name"),
                    EventGroupBy::User => Some("user_id"),
                    EventGroupBy::Tag(_) => None,
                };
                let is_field = |key: &str| group_by.iter().any(|by| fields(by) == Some(key));
                let name = |by: &EventGroupBy| match by {
                    EventGroupBy::Tag(key) if is_field(key) => format!("tags.{key}"),
                    EventGroupBy::Tag(key) => key.clone(),
                    EventGroupBy::Name | EventGroupBy::User => {
                        fields(by).unwrap_or_default().to_owned()
                    }
                };
                group_by.iter().map(name).collect()
            }
        }
    }
}

fn metric_source(
    query: &SavedQuery,
    name: &str,
    kind: Option<MetricType>,
) -> Result<QuerySource, InvalidQuery> {
    let name = MetricName::new(name)
        .map_err(|_| InvalidQuery::new("metric", "must be the name of a metric"))?;
    if query.field.is_some() {
        return Err(InvalidQuery::new("field", "is only allowed in event queries"));
    }
    let group_by = match query.group_by.as_deref() {
        None => Vec::new(),
        Some(list) => metrics::group_keys(list).map_err(|_| {
            InvalidQuery::new(
                "group_by",
                "must be tags.<key>, or up to 4 of these separated by commas",
            )
        })?,
    };
    Ok(QuerySource::Metric { name, kind, group_by })
}

fn event_source(query: &SavedQuery, name: &str) -> Result<QuerySource, InvalidQuery> {
    let max = telltale_engine::limits::NAME_CHARS_MAX;
    let expected = || {
        format!("must be an event name of 1 to {max} characters, or a prefix of one followed by *")
    };
    let name = events::name(name).map_err(|_| InvalidQuery::new("event", expected()))?;
    let fits = match &name {
        NameFilter::Any => true,
        NameFilter::Prefix(text) | NameFilter::PrefixExcept { prefix: text, .. } => {
            text.chars().count() <= max
        }
        NameFilter::Exactly(text) => MetricName::check(text).is_ok(),
    };
    if !fits {
        return Err(InvalidQuery::new("event", expected()));
    }
    let group_by = query.group_by.as_deref().map_or_else(|| Ok(Vec::new()), events::group_by);
    let group_by = group_by.map_err(|_| {
        let expected =
            "must be tags.<key>, user_id or name, or up to 4 of these separated by commas";
        InvalidQuery::new("group_by", expected)
    })?;
    let field = query.field.as_deref().map(events::field).transpose();
    let field = field.map_err(|_| {
        InvalidQuery::new("field", "must be value, or a path in the properties such as cart.total")
    })?;
    Ok(QuerySource::Event { name, field: field.unwrap_or_default(), group_by })
}

fn filters(query: &SavedQuery) -> Result<Vec<TagFilter>, InvalidQuery> {
    let tags = query.tags.iter().flatten();
    tags.map(|(key, text)| {
        let condition = query_params::tag_condition(text)
            .ok_or_else(|| InvalidQuery::new(&format!("tags.{key}"), query_params::STAR_RULE))?;
        Ok(TagFilter { key: key.clone(), condition })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(json: serde_json::Value) -> SavedQuery {
        serde_json::from_value(json).unwrap()
    }

    #[track_caller]
    fn refused(json: serde_json::Value, kind: Option<MetricType>, field: &str) {
        let sent = json.to_string();
        let invalid = QueryPlan::new(&query(json), kind).unwrap_err();
        assert_eq!(invalid.field, field, "{sent}: {invalid}");
    }

    #[test]
    fn invalid_queries_are_rejected_by_field() {
        use serde_json::json;
        let gauge = Some(MetricType::Gauge);
        refused(json!({}), None, "query");
        refused(json!({"metric": "a", "event": "b"}), None, "query");
        refused(json!({"metric": ""}), None, "query.metric");
        refused(json!({"event": ""}), None, "query.event");
        refused(json!({"event": "a\n"}), None, "query.event");
        refused(json!({"metric": "a", "aggregation": "sum"}), gauge, "query.aggregation");
        refused(json!({"metric": "a", "aggregation": "avg,max"}), gauge, "query.aggregation");
        refused(json!({"metric": "a", "aggregation": "mean"}), None, "query.aggregation");
        refused(json!({"event": "a", "aggregation": "p90"}), None, "query.aggregation");
        refused(json!({"metric": "a", "interval": "2w"}), None, "query.interval");
        refused(json!({"metric": "a", "field": "value"}), None, "query.field");
        refused(json!({"event": "a", "field": "cart..total"}), None, "query.field");
        refused(json!({"metric": "a", "group_by": "user_id"}), None, "query.group_by");
        refused(json!({"event": "a", "group_by": "host"}), None, "query.group_by");
        refused(json!({"event": "a", "group_by": "tags."}), None, "query.group_by");
        refused(json!({"event": "a", "tags": {"k": "a*,b"}}), None, "query.tags.k");
        QueryPlan::new(&query(json!({"metric": "a", "aggregation": "sum"})), None).unwrap();
    }

    #[test]
    fn the_default_measure_depends_on_the_source() {
        use serde_json::json;
        for (saved, kind, expected) in [
            (json!({"metric": "a"}), Some(MetricType::Counter), Measure::Metric(Aggregation::Sum)),
            (json!({"metric": "a"}), Some(MetricType::Set), Measure::Metric(Aggregation::Count)),
            (json!({"event": "a"}), None, Measure::Event(EventAggregation::Count)),
        ] {
            assert_eq!(QueryPlan::new(&query(saved), kind).unwrap().measure, expected);
        }
    }

    #[test]
    fn events_are_selected_by_name_or_prefix() {
        use serde_json::json;
        let name = |text: &str| match QueryPlan::new(&query(json!({"event": text})), None) {
            Ok(QueryPlan { source: QuerySource::Event { name, .. }, .. }) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(name("order.paid"), NameFilter::Exactly("order.paid".to_owned()));
        assert_eq!(name("order.*"), NameFilter::Prefix("order.".to_owned()));
        let (prefix, but) = (String::new(), "telltale.".to_owned());
        assert_eq!(name("*"), NameFilter::PrefixExcept { prefix, but });
        assert_eq!(name("telltale.error"), NameFilter::Exactly("telltale.error".to_owned()));
    }
}
