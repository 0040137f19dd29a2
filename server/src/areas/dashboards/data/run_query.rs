//! Runs the query of a widget, against the metrics area or the engine's events, and returns the
//! groups in one form.

use telltale_engine::{
    Aggregation, Error, EventAggregation, EventFilter, EventQuery, EventSummary, Interval,
    MetricQuery, Refusal, TimeRange, TimestampMs,
};

use crate::app::App;
use crate::areas::dashboards::error::DashboardsError;
use crate::areas::dashboards::plan::{Measure, QueryPlan, QuerySource};
use crate::areas::metrics::{self, MetricsError};
use crate::platform::telemetry::buckets::BucketWidth;
use crate::platform::telemetry::query_params::label;

/// The values of one group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// The value of each grouping key; empty without grouping.
    pub(super) keys: Vec<String>,
    /// The keys joined into one string.
    pub(super) label: String,
    /// The start times of the buckets that contain data. With a single bucket, its start is
    /// meaningless.
    pub(super) starts: Vec<TimestampMs>,
    /// One column per queried measure, each as long as `starts`.
    pub(super) columns: Vec<Vec<Option<f64>>>,
}

/// The buckets of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buckets {
    /// One bucket for the whole range.
    One,
    /// Buckets of this width.
    Of(BucketWidth),
}

impl Group {
    /// Returns the value of a column in a query with a single bucket.
    pub(super) fn whole(&self, column: usize) -> Option<f64> {
        self.columns.get(column)?.first().copied().flatten()
    }
}

/// Queries `measures` of the planned source. A metric that does not exist has no groups.
pub(super) fn run_query(
    app: &App,
    plan: &QueryPlan,
    range: TimeRange,
    buckets: Buckets,
    measures: &[Measure],
) -> Result<Vec<Group>, DashboardsError> {
    // No data is older than 1970, where the single bucket starts.
    let range = TimeRange { start: range.start.max(TimestampMs(0)), end: range.end };
    if range.is_empty() {
        return Ok(Vec::new());
    }
    match plan.source {
        QuerySource::Metric { kind: None, .. } => Ok(Vec::new()),
        QuerySource::Metric { .. } => query_metric(app, plan, range, buckets, measures),
        QuerySource::Event { .. } => query_events(app, plan, range, buckets, measures),
    }
}

fn query_metric(
    app: &App,
    plan: &QueryPlan,
    range: TimeRange,
    buckets: Buckets,
    measures: &[Measure],
) -> Result<Vec<Group>, DashboardsError> {
    let QuerySource::Metric { name, group_by, .. } = &plan.source else { return Ok(Vec::new()) };
    let interval = match buckets {
        Buckets::One => Interval::WHOLE,
        Buckets::Of(width) => width.interval(),
    };
    let query = MetricQuery {
        metric: name.clone(),
        range,
        interval,
        aggregations: measures.iter().filter_map(|measure| measure.metric_aggregation()).collect(),
        filters: plan.filters.clone(),
        group_by: group_by.clone(),
    };
    let found = match metrics::ask(app, &query) {
        Ok(found) => found,
        // The metric was deleted after the plan was made.
        Err(MetricsError::Engine(Error::Refused(Refusal::MetricNotFound(_)))) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    let group = |group: telltale_engine::Group| Group {
        label: if group.key.is_empty() { plan.label.clone() } else { label(&group.key) },
        keys: group.key,
        starts: group.starts,
        columns: group.columns.into_iter().map(|c| c.into_iter().map(Some).collect()).collect(),
    };
    Ok(found.groups.into_iter().map(group).collect())
}

fn query_events(
    app: &App,
    plan: &QueryPlan,
    range: TimeRange,
    buckets: Buckets,
    measures: &[Measure],
) -> Result<Vec<Group>, DashboardsError> {
    let QuerySource::Event { name, field, group_by } = &plan.source else { return Ok(Vec::new()) };
    let filter = EventFilter { range, name: name.clone(), user: None, tags: plan.filters.clone() };
    let query = EventQuery {
        filter,
        interval: match buckets {
            Buckets::One => None,
            Buckets::Of(width) => Some(width.interval()),
        },
        group_by: group_by.clone(),
        field: field.clone(),
        distinct: None,
        aggregations: measures.iter().filter_map(|measure| measure.event_aggregation()).collect(),
    };
    let found = app.engine().query_events(&query)?;
    let group = |keys: Vec<String>, label: String, summary: EventSummary| match buckets {
        Buckets::One => Group {
            keys,
            label,
            starts: vec![range.start],
            columns: summary.whole.into_iter().map(|value| vec![value]).collect(),
        },
        Buckets::Of(_) => Group { keys, label, starts: summary.starts, columns: summary.columns },
    };
    if group_by.is_empty() {
        return Ok(vec![group(Vec::new(), plan.label.clone(), found.all)]);
    }
    let labelled = |(key, summary): (Vec<String>, EventSummary)| {
        let label = label(&key);
        group(key, label, summary)
    };
    Ok(found.groups.into_iter().map(labelled).collect())
}

impl Measure {
    fn metric_aggregation(self) -> Option<Aggregation> {
        match self {
            Self::Metric(aggregation) => Some(aggregation),
            Self::Event(_) => None,
        }
    }

    fn event_aggregation(self) -> Option<EventAggregation> {
        match self {
            Self::Event(aggregation) => Some(aggregation),
            Self::Metric(_) => None,
        }
    }
}
