//! Validates, plans and executes a query.

use roaring::RoaringBitmap;

use super::read_range::ReadRange;
use super::slots::Slots;
use super::{numbers, plan, result, sketches};
use crate::brief;
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
use crate::parallel::{Tasks, share};
use crate::query_in_progress::{Cancellation, QueryInProgress};

/// Units of work of a value of a result, see [`crate::brief`]: it is written as text too.
const VALUE_WORK: u64 = 16;

/// Small results of a request that wait until those before them are passed on, per thread, and the
/// buckets below which a result of one group is small: 100 kB.
const SMALL_RESULTS_PER_THREAD: usize = 8;
const SMALL_RESULT_BUCKETS: i64 = 1_000;

/// Returns the columns of cells that the aggregations need.
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

/// Executes all `queries`, on this thread and the thread pool, and passes the results to `take` in
/// order. At most as many run at once as there are threads, as each running query takes query
/// memory. Results that wait for those before them take memory too: only small ones may be more.
pub(crate) fn query_all<E: From<Error>>(
    metrics: &Metrics,
    queries: &[MetricQuery],
    mut take: impl FnMut(QueryResult) -> Result<(), E>,
) -> Result<(), E> {
    let waiting = Cancellation::current();
    let one = |next: &MetricQuery, alike: u64| execute(metrics, waiting.clone(), next, alike);
    if brief::is_brief() {
        let left = (1..=queries.len() as u64).rev();
        return queries.iter().zip(left).try_for_each(|(next, left)| take(one(next, left)?));
    }
    let threads = metrics.options().threads.max(1);
    let have_small_results = queries.iter().all(has_small_result);
    let results_max = threads * if have_small_results { SMALL_RESULTS_PER_THREAD } else { 1 };
    for batch in queries.chunks(results_max) {
        let work = |tasks: &Tasks| {
            let next = || tasks.take().and_then(|index| Some((index, batch.get(index)?)));
            let result = |next| one(next, 1).inspect_err(|_| tasks.end());
            std::iter::from_fn(next).map(|(index, next)| (index, result(next))).collect::<Vec<_>>()
        };
        let mut results = share(metrics.pool(), threads, batch.len(), work)
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        results.sort_unstable_by_key(|(index, _)| *index);
        results.into_iter().try_for_each(|(_, result)| take(result?))?;
    }
    Ok(())
}

/// Returns whether the result of a query is small, unless only cells are left that are much wider
/// than its range.
fn has_small_result(query: &MetricQuery) -> bool {
    let buckets = query.range.len_ms() / query.interval.ms();
    query.group_by.is_empty() && buckets < SMALL_RESULT_BUCKETS
}

/// Executes `query`. Fails early when its client no longer waits for the result.
pub(crate) fn query(
    metrics: &Metrics,
    waiting: Option<Cancellation>,
    query: &MetricQuery,
) -> Result<QueryResult> {
    execute(metrics, waiting, query, 1)
}

/// Executes `query`, which is followed by others of the same request: `alike` queries in all, each
/// expected to need as much. In a brief scope that is too small for all of them it fails before it
/// reads anything, since what it read would be read again elsewhere.
fn execute(
    metrics: &Metrics,
    waiting: Option<Cancellation>,
    query: &MetricQuery,
    alike: u64,
) -> Result<QueryResult> {
    check_groups(&query.group_by)?;
    if brief::is_brief() {
        brief::spend(metrics.registry().select_work(
            query.metric.as_str(),
            &query.filters,
            &query.group_by,
        ))?;
    }
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
    let in_progress = QueryInProgress::of(waiting, &options.memory, options.query_bytes);
    in_progress.check()?;
    check_buckets(range, query.interval, options)?;
    let (view, clusters, read_range) =
        read_view(metrics, (metric, kind), &selection.series, range, query.interval)?;
    check_buckets(read_range.range, query.interval, options)?;
    let slots = Slots::new(read_range.range, query.interval, selection.groups.len().max(1));
    let plan = plan::plan(&view, clusters, kind, &selection, &read_range, metrics);
    if plan.rows > options.query_points {
        return Err(Refusal::Range(format!(
            "the query has to read about {} samples; the limit for one query is {}",
            plan.rows, options.query_points
        ))
        .into());
    }
    let values = (slots.len() as u64).saturating_mul(query.aggregations.len() as u64);
    let before_rows = values.saturating_mul(VALUE_WORK).saturating_add(plan.opening_work());
    brief::check_left(before_rows.saturating_add(plan.row_work()).saturating_mul(alike))?;
    brief::spend(before_rows)?;
    let (read_range, selection) = (&read_range, &selection);
    let context = result::QueryContext {
        query,
        kind,
        read_range,
        selection,
        slots,
        in_progress: &in_progress,
    };
    let mut result = match kind {
        MetricType::Gauge | MetricType::Counter => numbers::execute(metrics, &plan, &context),
        MetricType::Distribution => sketches::distributions(metrics, &plan, &context),
        MetricType::Set => sketches::sets(metrics, &plan, &context),
    }?;
    result.memory = in_progress.into_memory();
    Ok(result)
}

/// Returns the heads and blocks of the range, and the range widened to whole cells where only cells
/// are left.
fn read_view(
    metrics: &Metrics,
    (metric, kind): (MetricId, MetricType),
    wanted: &RoaringBitmap,
    range: TimeRange,
    interval: Interval,
) -> Result<(MetricView, Vec<Cluster>, ReadRange)> {
    let mut covered = range;
    loop {
        let view = metrics.view().metric(metric, covered, Some(wanted));
        brief::spend(view.blocks.len_within(covered) as u64)?;
        let clusters = view.blocks.clusters(covered);
        let read_range = ReadRange::new(&clusters, kind, range, interval);
        // Cells end with their windows, so the second iteration succeeds unless blocks change in
        // the meantime.
        if read_range.range.intersect(covered) == read_range.range {
            return Ok((view, clusters, read_range));
        }
        covered = read_range.range;
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
    let has_duplicates =
        keys.iter().enumerate().any(|(i, key)| keys.iter().take(i).any(|k| k == key));
    if has_duplicates {
        return Err(Error::Refused(Refusal::GroupBy(
            "group_by must name each tag only once".into(),
        )));
    }
    Ok(())
}

/// Returns the group of a selected series.
pub(super) fn group_of(selection: &Selection, series: u32) -> u32 {
    if selection.group_of.is_empty() {
        return 0;
    }
    let before = selection.series.rank(series).saturating_sub(1);
    match selection.group_of.get(before as usize) {
        Some(group) if selection.series.contains(series) => *group,
        _ => panic!("series {series} is read and not selected: it has no group"),
    }
}
