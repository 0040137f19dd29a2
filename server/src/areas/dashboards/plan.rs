//! Converts the query of a widget to a plan for the engine: its strings are parsed once, and
//! queries that cannot be answered are rejected here.

use telltale_engine::{
    Aggregation, EventAggregation, EventField, EventGroupBy, MetricName, MetricType, NameFilter,
    TagFilter, TimeRange,
};

use super::definition::{WidgetQuery, WidgetType};
use super::error::Invalid;
use super::options::WidgetOptions;
use crate::areas::{events, metrics};
use crate::limits;
use crate::platform::telemetry::buckets::BucketWidth;
use crate::platform::telemetry::query_params;

/// The parsed query of a widget.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QueryPlan {
    pub(super) source: QuerySource,
    pub(super) filters: Vec<TagFilter>,
    /// The bucket width of a graph; derived from the range if absent.
    pub(super) interval: Option<BucketWidth>,
    pub(super) measure: Measure,
    /// The label of the only group of an ungrouped query: the name of the metric or events.
    pub(super) label: String,
    /// The grouping keys, without `tags.`.
    pub(super) group_names: Vec<String>,
}

/// The source of a query's data.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum QuerySource {
    /// A metric; `kind` is `None` if it does not exist.
    Metric { name: MetricName, kind: Option<MetricType>, group_by: Vec<String> },
    /// Events.
    Event { name: NameFilter, field: EventField, group_by: Vec<EventGroupBy> },
}

/// The number computed for each group and bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// An aggregation of a metric.
    Metric(Aggregation),
    /// An aggregation of events.
    Event(EventAggregation),
}

/// The content of a table column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// The value of the n-th grouping key.
    Key(usize),
    /// All grouping keys joined into one string.
    Label,
    /// A number.
    Measure(Measure),
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

impl QueryPlan {
    /// Parses `query`. `kind` is the type of its metric, if that exists.
    pub(super) fn new(query: &WidgetQuery, kind: Option<MetricType>) -> Result<Self, Invalid> {
        let (source, label) = match (&query.metric, &query.event) {
            (Some(name), None) => (metric_source(query, name, kind)?, name),
            (None, Some(name)) => (event_source(query, name)?, name),
            _ => return Err(Invalid::query("", "must have exactly one of metric and event")),
        };
        let measure = match query.aggregation.as_deref() {
            None => source.default_measure(),
            Some(text) => source.measure(text).ok_or_else(|| {
                Invalid::query("aggregation", format!("must be one of {}", source.measures()))
            })?,
        };
        let interval = match query.interval.as_deref() {
            None => None,
            Some(text) => Some(
                BucketWidth::parse(text)
                    .ok_or_else(|| Invalid::query("interval", "must be one of 1m, 5m, 1h, 1d"))?,
            ),
        };
        let filters = filters(query)?;
        let (group_names, label) = (source.group_names(), label.clone());
        Ok(Self { source, filters, interval, measure, label, group_names })
    }

    /// Checks that a widget of this type with these options can display the result.
    pub(super) fn check_for(
        &self,
        kind: WidgetType,
        options: &WidgetOptions,
    ) -> Result<(), Invalid> {
        match kind {
            WidgetType::Number | WidgetType::Heatmap if !self.group_names.is_empty() => {
                let expected = format!("is not supported by widgets of type {}", kind.as_str());
                Err(Invalid::query("group_by", expected))
            }
            WidgetType::Graph => {
                self.width(TimeRange::new(0, options.range_ms()?))?;
                Ok(())
            }
            WidgetType::Table => {
                self.columns(options)?;
                self.order(options)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns the bucket width of a graph over `range`.
    pub(super) fn width(&self, range: TimeRange) -> Result<BucketWidth, Invalid> {
        let width = self.interval.unwrap_or_else(|| BucketWidth::automatic(range));
        let max = limits::QUERY_BUCKETS_MAX;
        if width.buckets(range) > max {
            let expected = format!("must give at most {max} buckets over the range");
            return Err(Invalid::query("interval", expected));
        }
        Ok(width)
    }

    /// Returns the columns of a table, with their names.
    pub(super) fn columns(
        &self,
        options: &WidgetOptions,
    ) -> Result<Vec<(String, Column)>, Invalid> {
        let Some(columns) = &options.columns else {
            let keys = self.group_names.iter().enumerate();
            let mut columns: Vec<(String, Column)> =
                keys.map(|(i, name)| (name.clone(), Column::Key(i))).collect();
            if columns.is_empty() {
                columns.push(("label".to_owned(), Column::Label));
            }
            columns.push(("value".to_owned(), Column::Measure(self.measure)));
            return Ok(columns);
        };
        let mut named: Vec<(String, Column)> = Vec::with_capacity(columns.len());
        for (i, name) in columns.iter().enumerate() {
            let field = format!("options.columns[{i}]");
            if named.iter().any(|(known, _)| known == name) {
                return Err(Invalid::field(field, "must not be the same as another column"));
            }
            let column = self.column(name).ok_or_else(|| self.unknown_column(field))?;
            named.push((name.clone(), column));
        }
        Ok(named)
    }

    /// Returns the column by which a table is sorted; the value by default.
    pub(super) fn order(&self, options: &WidgetOptions) -> Result<Column, Invalid> {
        let Some(sort) = &options.sort else { return Ok(Column::Measure(self.measure)) };
        let field = || self.unknown_column("options.sort.field".to_owned());
        self.column(&sort.field).ok_or_else(field)
    }

    /// Returns the column with this name; grouping keys take precedence over aggregations of the
    /// same name.
    fn column(&self, name: &str) -> Option<Column> {
        let is_key = |key: &str| name == key || name.strip_prefix("tags.") == Some(key);
        if let Some(i) = self.group_names.iter().position(|key| is_key(key)) {
            return Some(Column::Key(i));
        }
        match name {
            "label" => Some(Column::Label),
            "value" => Some(Column::Measure(self.measure)),
            other => self.source.measure(other).map(Column::Measure),
        }
    }

    fn unknown_column(&self, field: String) -> Invalid {
        let keys: String = self.group_names.iter().map(|name| format!("{name}, ")).collect();
        let expected = format!("must be one of {keys}label, value, {}", self.source.measures());
        Invalid::field(field, expected)
    }
}

impl QuerySource {
    /// Parses the name of a measure.
    fn measure(&self, text: &str) -> Option<Measure> {
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
    fn measures(&self) -> String {
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
                let name = |by: &EventGroupBy| match by {
                    EventGroupBy::Name => "name".to_owned(),
                    EventGroupBy::User => "user_id".to_owned(),
                    EventGroupBy::Tag(key) => key.clone(),
                };
                group_by.iter().map(name).collect()
            }
        }
    }
}

fn metric_source(
    query: &WidgetQuery,
    name: &str,
    kind: Option<MetricType>,
) -> Result<QuerySource, Invalid> {
    let name = MetricName::new(name)
        .map_err(|_| Invalid::query("metric", "must be the name of a metric"))?;
    if query.field.is_some() {
        return Err(Invalid::query("field", "is only allowed in event queries"));
    }
    let group_by = match query.group_by.as_deref() {
        None => Vec::new(),
        Some(list) => metrics::group_keys(list).map_err(|_| {
            Invalid::query(
                "group_by",
                "must be tags.<key>, or up to 4 of these separated by commas",
            )
        })?,
    };
    Ok(QuerySource::Metric { name, kind, group_by })
}

fn event_source(query: &WidgetQuery, name: &str) -> Result<QuerySource, Invalid> {
    let max = telltale_engine::limits::NAME_CHARS_MAX;
    let expected = || {
        format!("must be an event name of 1 to {max} characters, or a prefix of one followed by *")
    };
    let name = events::name(name).map_err(|_| Invalid::query("event", expected()))?;
    let fits = match &name {
        NameFilter::Any => true,
        NameFilter::Prefix(text) | NameFilter::PrefixExcept { prefix: text, .. } => {
            text.chars().count() <= max
        }
        NameFilter::Exactly(text) => MetricName::check(text).is_ok(),
    };
    if !fits {
        return Err(Invalid::query("event", expected()));
    }
    let group_by = query.group_by.as_deref().map_or_else(|| Ok(Vec::new()), events::group_by);
    let group_by = group_by.map_err(|_| {
        let expected =
            "must be tags.<key>, user_id or name, or up to 4 of these separated by commas";
        Invalid::query("group_by", expected)
    })?;
    let field = query.field.as_deref().map(events::field).transpose();
    let field = field.map_err(|_| {
        Invalid::query("field", "must be value, or a path in the properties such as cart.total")
    })?;
    Ok(QuerySource::Event { name, field: field.unwrap_or_default(), group_by })
}

fn filters(query: &WidgetQuery) -> Result<Vec<TagFilter>, Invalid> {
    let tags = query.tags.iter().flatten();
    tags.map(|(key, text)| {
        let condition = query_params::tag_condition(text)
            .ok_or_else(|| Invalid::query(&format!("tags.{key}"), query_params::STAR_RULE))?;
        Ok(TagFilter { key: key.clone(), condition })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(json: serde_json::Value) -> WidgetQuery {
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
        refused(json!({"metric": "a", "interval": "2m"}), None, "query.interval");
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
        for (widget_query, kind, expected) in [
            (json!({"metric": "a"}), Some(MetricType::Counter), Measure::Metric(Aggregation::Sum)),
            (json!({"metric": "a"}), Some(MetricType::Set), Measure::Metric(Aggregation::Count)),
            (json!({"event": "a"}), None, Measure::Event(EventAggregation::Count)),
        ] {
            assert_eq!(QueryPlan::new(&query(widget_query), kind).unwrap().measure, expected);
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

    #[test]
    fn column_names_refer_to_keys_before_aggregations() {
        use serde_json::json;
        let widget_query = query(json!({"metric": "a", "group_by": "tags.count,tags.host"}));
        let plan = QueryPlan::new(&widget_query, Some(MetricType::Distribution)).unwrap();
        assert_eq!(plan.column("count"), Some(Column::Key(0)));
        assert_eq!(plan.column("tags.host"), Some(Column::Key(1)));
        assert_eq!(plan.column("p99"), Some(Column::Measure(Measure::Metric(Aggregation::P99))));
        assert_eq!(plan.column("rate"), None);
    }
}
