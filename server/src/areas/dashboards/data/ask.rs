//! One question, put to whoever knows: the metrics area or the events of the engine. The answers look alike.

use telltale_engine::{
    Aggregation, Error, EventAggregation, EventFilter, EventQuery, EventSummary, Interval,
    MetricQuery, Refusal, TimeRange, TimestampMs,
};

use crate::app::App;
use crate::areas::dashboards::error::DashboardsError;
use crate::areas::dashboards::plan::{Measure, Plan, Source};
use crate::areas::metrics::{self, MetricsError};
use crate::platform::telemetry::buckets::Width;
use crate::platform::telemetry::question::label;

/// What was found of one group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// The value of every key of the groups; none without.
    pub(super) keys: Vec<String>,
    /// The keys as one text.
    pub(super) label: String,
    /// The starts of the buckets that hold anything; with one bucket for all its start means nothing.
    pub(super) starts: Vec<TimestampMs>,
    /// One column per measure asked for, each as long as `starts`.
    pub(super) columns: Vec<Vec<Option<f64>>>,
}

/// Which buckets are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buckets {
    /// One for the whole range.
    One,
    /// Many of this width.
    Of(Width),
}

/// A bucket that holds every time that can be written, and whole buckets of every rollup.
const WHOLE_MS: i64 = 4_000_000 * 86_400_000;

impl Group {
    /// The number of the only bucket in a column.
    pub(super) fn whole(&self, column: usize) -> Option<f64> {
        self.columns.get(column)?.first().copied().flatten()
    }
}

/// Asks for `measures` of what is planned. A metric that does not exist has no groups.
pub(super) fn ask(
    app: &App,
    plan: &Plan,
    range: TimeRange,
    buckets: Buckets,
    measures: &[Measure],
) -> Result<Vec<Group>, DashboardsError> {
    // Nothing is older than 1970, and the one bucket begins there.
    let range = TimeRange { start: range.start.max(TimestampMs(0)), end: range.end };
    if range.is_empty() {
        return Ok(Vec::new());
    }
    match plan.source {
        Source::Metric { kind: None, .. } => Ok(Vec::new()),
        Source::Metric { .. } => ask_metric(app, plan, range, buckets, measures),
        Source::Event { .. } => ask_events(app, plan, range, buckets, measures),
    }
}

fn ask_metric(
    app: &App,
    plan: &Plan,
    range: TimeRange,
    buckets: Buckets,
    measures: &[Measure],
) -> Result<Vec<Group>, DashboardsError> {
    let Source::Metric { name, group_by, .. } = &plan.source else { return Ok(Vec::new()) };
    let interval = match buckets {
        Buckets::One => Interval::from_ms(WHOLE_MS).unwrap_or(Interval::DAY),
        Buckets::Of(width) => width.interval(),
    };
    let query = MetricQuery {
        metric: name.clone(),
        range,
        interval,
        aggregations: measures.iter().filter_map(|measure| measure.of_metric()).collect(),
        filters: plan.filters.clone(),
        group_by: group_by.clone(),
    };
    let found = match metrics::ask(app, &query) {
        Ok(found) => found,
        // Deleted since the plan was made.
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

fn ask_events(
    app: &App,
    plan: &Plan,
    range: TimeRange,
    buckets: Buckets,
    measures: &[Measure],
) -> Result<Vec<Group>, DashboardsError> {
    let Source::Event { name, field, group_by } = &plan.source else { return Ok(Vec::new()) };
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
        aggregations: measures.iter().filter_map(|measure| measure.of_events()).collect(),
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
    fn of_metric(self) -> Option<Aggregation> {
        match self {
            Self::Metric(aggregation) => Some(aggregation),
            Self::Event(_) => None,
        }
    }

    fn of_events(self) -> Option<EventAggregation> {
        match self {
            Self::Event(aggregation) => Some(aggregation),
            Self::Metric(_) => None,
        }
    }
}
