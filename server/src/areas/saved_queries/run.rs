//! Runs a planned query, against the metrics area or the engine's events, and returns the groups in
//! one form.

use std::ops::Deref;

use telltale_engine::{
    Aggregation, Error, EventAggregation, EventFilter, EventQuery, EventSummary, Interval,
    MetricQuery, Refusal, ResultMemory, TimeRange, TimestampMs,
};

use super::error::SavedQueryError;
use super::plan::{Measure, QueryPlan, QuerySource};
use crate::app::App;
use crate::areas::metrics::{self, MetricsError};
use crate::platform::telemetry::buckets::BucketWidth;
use crate::platform::telemetry::query_params::label;

/// The values of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryGroup {
    /// The value of each grouping key; empty without grouping.
    pub keys: Vec<String>,
    /// The keys joined into one string.
    pub label: String,
    /// The start times of the buckets that contain data. With a single bucket, its start is
    /// meaningless.
    pub starts: Vec<TimestampMs>,
    /// One column per queried measure, each as long as `starts`.
    pub columns: Vec<Vec<Option<f64>>>,
}

/// The groups of a query, with the memory that they are charged for.
#[derive(Debug, Default)]
pub struct QueryGroups {
    groups: Vec<QueryGroup>,
    memory: ResultMemory,
}

impl QueryGroups {
    /// Returns the groups, and their memory, which the caller keeps as long as the groups.
    pub fn into_parts(self) -> (Vec<QueryGroup>, ResultMemory) {
        (self.groups, self.memory)
    }
}

impl Deref for QueryGroups {
    type Target = [QueryGroup];

    fn deref(&self) -> &Self::Target {
        &self.groups
    }
}

/// The buckets of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// One bucket for the whole range.
    One,
    /// Buckets of this width.
    Of(BucketWidth),
}

impl QueryGroup {
    /// Returns the values of a queried measure.
    ///
    /// # Panics
    /// If there are none: every queried measure has a column.
    pub fn column(&self, column: usize) -> &[Option<f64>] {
        match self.columns.get(column) {
            Some(values) => values,
            None => unreachable!("measure {column} was not queried"),
        }
    }

    /// Returns the value of a column in a query with a single bucket; `None` without data.
    pub fn whole(&self, column: usize) -> Option<f64> {
        self.column(column).first().copied().flatten()
    }
}

/// Queries `measures` of the planned source. A metric that does not exist has no groups.
pub fn run_query(
    app: &App,
    plan: &QueryPlan,
    range: TimeRange,
    buckets: Buckets,
    measures: &[Measure],
) -> Result<QueryGroups, SavedQueryError> {
    // No data is older than 1970, where the single bucket starts.
    let range = TimeRange { start: range.start.max(TimestampMs(0)), end: range.end };
    if range.is_empty() {
        return Ok(QueryGroups::default());
    }
    match &plan.source {
        QuerySource::Metric { kind: None, .. } => Ok(QueryGroups::default()),
        QuerySource::Metric { name, group_by, .. } => {
            let query = MetricQuery {
                metric: name.clone(),
                range,
                interval: match buckets {
                    Buckets::One => Interval::WHOLE,
                    Buckets::Of(width) => width.interval(),
                },
                aggregations: measures.iter().map(Measure::metric_aggregation).collect(),
                filters: plan.filters.clone(),
                group_by: group_by.clone(),
            };
            query_metric(app, plan, &query)
        }
        QuerySource::Event { name, field, group_by } => {
            let filter =
                EventFilter { range, name: name.clone(), user: None, tags: plan.filters.clone() };
            let query = EventQuery {
                filter,
                interval: match buckets {
                    Buckets::One => None,
                    Buckets::Of(width) => Some(width.interval()),
                },
                group_by: group_by.clone(),
                field: field.clone(),
                distinct: None,
                aggregations: measures.iter().map(Measure::event_aggregation).collect(),
            };
            query_events(app, plan, &query)
        }
    }
}

fn query_metric(
    app: &App,
    plan: &QueryPlan,
    query: &MetricQuery,
) -> Result<QueryGroups, SavedQueryError> {
    let found = match metrics::ask(app, query) {
        Ok(found) => found,
        // The metric was deleted after the plan was made.
        Err(MetricsError::Engine(Error::Refused(Refusal::MetricNotFound(_)))) => {
            return Ok(QueryGroups::default());
        }
        Err(error) => return Err(error.into()),
    };
    let group = |group: telltale_engine::Group| QueryGroup {
        label: if group.key.is_empty() { plan.label.clone() } else { label(&group.key) },
        keys: group.key,
        starts: group.starts,
        columns: group.columns.into_iter().map(|c| c.into_iter().map(Some).collect()).collect(),
    };
    let groups = found.groups.into_iter().map(group).collect();
    Ok(QueryGroups { groups, memory: found.memory })
}

fn query_events(
    app: &App,
    plan: &QueryPlan,
    query: &EventQuery,
) -> Result<QueryGroups, SavedQueryError> {
    let found = app.engine().query_events(query)?;
    let group = |keys: Vec<String>, label: String, summary: EventSummary| match query.interval {
        None => QueryGroup {
            keys,
            label,
            starts: vec![query.filter.range.start],
            columns: summary.whole.into_iter().map(|value| vec![value]).collect(),
        },
        Some(_) => QueryGroup { keys, label, starts: summary.starts, columns: summary.columns },
    };
    if query.group_by.is_empty() {
        let groups = vec![group(Vec::new(), plan.label.clone(), found.all)];
        return Ok(QueryGroups { groups, memory: found.memory });
    }
    let labelled = |(key, summary): (Vec<String>, EventSummary)| {
        let label = label(&key);
        group(key, label, summary)
    };
    let groups = found.groups.into_iter().map(labelled).collect();
    Ok(QueryGroups { groups, memory: found.memory })
}

impl Measure {
    fn metric_aggregation(&self) -> Aggregation {
        match self {
            Self::Metric(aggregation) => *aggregation,
            Self::Event(_) => unreachable!("the plan of a metric has measures of metrics"),
        }
    }

    fn event_aggregation(&self) -> EventAggregation {
        match self {
            Self::Event(aggregation) => *aggregation,
            Self::Metric(_) => unreachable!("the plan of events has measures of events"),
        }
    }
}
