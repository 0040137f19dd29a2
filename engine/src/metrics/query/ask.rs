//! The question: checked, planned, and handed to those who add up.

use rayon::prelude::*;

use super::grain::Grains;
use super::slots::Slots;
use super::{answer, numbers, plan, sketches};
use crate::asking::{Asking, Waiting};
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::metrics::Metrics;
use crate::metrics::block::CellColumn;
use crate::metrics::catalog::Cluster;
use crate::metrics::registry::Selection;
use crate::metrics::view::MetricView;
use crate::model::{
    Aggregation, Interval, MetricId, MetricQuery, MetricType, QueryResult, TimeRange,
};
use crate::options::Options;

/// What the question needs of every bucket.
pub(super) fn columns_for(aggregations: &[Aggregation]) -> CellColumn {
    let mut wanted = CellColumn::default();
    for aggregation in aggregations {
        match aggregation {
            Aggregation::Last => wanted.last = true,
            Aggregation::Avg => (wanted.sum, wanted.count) = (true, true),
            Aggregation::Min => wanted.min = true,
            Aggregation::Max => wanted.max = true,
            Aggregation::Sum | Aggregation::Rate => wanted.sum = true,
            _ => {}
        }
    }
    wanted
}

/// Answers all of `queries`, on the threads that the tasks of each are done on. Of those at work at once each has the memory of
/// a query, so they are no more than there are threads, whoever steals from whom.
pub(crate) fn query_all<E: From<Error>>(
    metrics: &Metrics,
    queries: &[MetricQuery],
    mut take: impl FnMut(QueryResult) -> Result<(), E>,
) -> Result<(), E> {
    let waiting = Waiting::current();
    for some in queries.chunks(metrics.options().threads.max(1)) {
        let results: Vec<Result<QueryResult>> = match some {
            [only] => vec![query(metrics, waiting.clone(), only)],
            several => metrics.pool().install(|| {
                several.par_iter().map(|one| query(metrics, waiting.clone(), one)).collect()
            }),
        };
        results.into_iter().try_for_each(|result| take(result?))?;
    }
    Ok(())
}

/// Answers `query`, as long as it is waited for.
pub(crate) fn query(
    metrics: &Metrics,
    waiting: Option<Waiting>,
    query: &MetricQuery,
) -> Result<QueryResult> {
    check_groups(&query.group_by)?;
    let found = metrics.registry().select(query.metric.as_str(), &query.filters, &query.group_by);
    let Some((metric, kind, selection)) = found else {
        return Err(Refusal::MetricNotFound(query.metric.to_string()).into());
    };
    for aggregation in &query.aggregations {
        if !Aggregation::of(kind).contains(aggregation) {
            return Err(Refusal::Aggregation { kind, aggregation: *aggregation }.into());
        }
    }
    if query.aggregations.is_empty() {
        return Err(Refusal::Range("at least one aggregation is needed".into()).into());
    }
    let range =
        if kind.keeps_points() { query.range } else { query.range.widen_to(Interval::MINUTE) };
    if range.is_empty() {
        return Err(Refusal::Range("from must be before to".into()).into());
    }
    let options = metrics.options();
    let asking = Asking::of(waiting, &options.memory, options.query_bytes);
    asking.check()?;
    check_buckets(range, query.interval, options)?;
    let (view, clusters, grains) = read_view(metrics, (metric, kind), range, query.interval);
    check_buckets(grains.range, query.interval, options)?;
    let slots = Slots::new(grains.range, query.interval, selection.groups.len().max(1));
    let plan = plan::plan(&view, clusters, kind, &selection, &grains, metrics);
    if plan.rows > options.query_points {
        return Err(Refusal::Range(format!(
            "the range has about {} points to read; the limit for one query is {}",
            plan.rows, options.query_points
        ))
        .into());
    }
    let (grains, selection) = (&grains, &selection);
    let asked = answer::Asked { query, kind, grains, selection, slots, asking: &asking };
    let mut result = match kind {
        MetricType::Gauge | MetricType::Counter => numbers::answer(metrics, &plan, &asked),
        MetricType::Distribution => sketches::distributions(metrics, &plan, &asked),
        MetricType::Set => sketches::sets(metrics, &plan, &asked),
    }?;
    result.memory = asking.into_memory();
    Ok(result)
}

/// What the query reads: heads and blocks of the range, and the range widened to whole cells where only cells are left.
fn read_view(
    metrics: &Metrics,
    (metric, kind): (MetricId, MetricType),
    range: TimeRange,
    interval: Interval,
) -> (MetricView, Vec<Cluster>, Grains) {
    let mut read = range;
    loop {
        let view = metrics.view().metric(metric, read);
        let clusters = view.blocks.clusters(read);
        let grains = Grains::new(&clusters, kind, range, interval);
        // Cells end with their windows, so this is true the second time unless blocks change meanwhile.
        if grains.range.intersect(read) == grains.range {
            return (view, clusters, grains);
        }
        read = grains.range;
    }
}

fn check_buckets(range: TimeRange, interval: Interval, options: &Options) -> Result<()> {
    let buckets = range.widen_to(interval).len_ms() / interval.ms();
    if buckets.unsigned_abs() > options.query_buckets {
        return Err(Refusal::Range(format!(
            "the range has {buckets} buckets of this interval; the limit is {}",
            options.query_buckets
        ))
        .into());
    }
    Ok(())
}

fn check_groups(keys: &[String]) -> Result<()> {
    if keys.len() > limits::GROUP_KEYS_MAX {
        return Err(Error::Refused(Refusal::GroupBy(format!(
            "group_by must name at most {} tags",
            limits::GROUP_KEYS_MAX
        ))));
    }
    let twice = keys.iter().enumerate().any(|(i, key)| keys.iter().take(i).any(|k| k == key));
    if twice {
        return Err(Error::Refused(Refusal::GroupBy(
            "group_by must name each tag only once".into(),
        )));
    }
    Ok(())
}

/// The group of a selected series.
pub(super) fn group_of(selection: &Selection, series: u32) -> u32 {
    if selection.group_of.is_empty() {
        return 0;
    }
    let rank = selection.series.rank(series).saturating_sub(1);
    selection.group_of.get(rank as usize).copied().unwrap_or_default()
}
