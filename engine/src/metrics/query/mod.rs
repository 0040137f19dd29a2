//! Answering a question about one metric.
//!
//! ```text
//! registry ─▶ series and groups ─┐
//! catalog, head ─▶ [plan]: which blocks, in which tier, for which part of the range; what it will cost
//!                                └▶ [run]: tasks on the pool ─▶ one accumulator a worker ─▶ merged ─▶ [answer]
//! ```
//!
//! Whole buckets come from the coarsest tier that fits, ragged edges from finer ones, what is not rolled up yet from points. All
//! of them are the same numbers: a tier is the sum of its points, and sums do not depend on the order.

mod answer;
mod numbers;
mod plan;
mod run;
mod sketches;

use super::block::CellColumn;
use super::registry::Selection;
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::metrics::Metrics;
use crate::model::{Aggregation, Interval, MetricQuery, MetricType, QueryResult, TimeRange};

/// The slots of an accumulator: every group has one per bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// The start of the first bucket.
    first: i64,
    width: i64,
    buckets: usize,
    groups: usize,
}

impl Slots {
    fn new(range: TimeRange, interval: Interval, groups: usize) -> Self {
        let whole = range.widen_to(interval);
        let buckets = whole.len_ms() / interval.ms();
        Self {
            first: whole.start.0,
            width: interval.ms(),
            buckets: usize::try_from(buckets).unwrap_or(0),
            groups,
        }
    }

    fn len(&self) -> usize {
        self.buckets * self.groups
    }

    /// The bucket of an instant inside the range.
    #[inline]
    fn bucket(&self, time: i64) -> usize {
        ((time - self.first) / self.width) as usize
    }

    fn end_of(&self, bucket: usize) -> i64 {
        self.first + (bucket as i64 + 1) * self.width
    }

    #[inline]
    fn slot(&self, group: u32, bucket: usize) -> usize {
        group as usize * self.buckets + bucket
    }
}

/// What the question needs of every bucket.
fn columns_for(aggregations: &[Aggregation]) -> CellColumn {
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

/// Answers `query`.
pub(crate) fn query(metrics: &Metrics, query: &MetricQuery) -> Result<QueryResult> {
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
        return Err(Refusal::Range("the range is empty: `from` must be before `to`".into()).into());
    }
    let slots = Slots::new(range, query.interval, selection.groups.len().max(1));
    let options = metrics.options();
    if slots.buckets as u64 > options.query_buckets {
        return Err(Refusal::Range(format!(
            "the range has {} buckets of this interval, at most {} can be answered",
            slots.buckets, options.query_buckets
        ))
        .into());
    }
    let view = metrics.view().metric(metric, range);
    let plan = plan::plan(&view, kind, &selection, range, query.interval, metrics);
    if plan.rows > options.query_points {
        return Err(Refusal::Range(format!(
            "the range holds about {} points and cells, at most {} can be read for one answer",
            plan.rows, options.query_points
        ))
        .into());
    }
    let asked = answer::Asked { query, kind, range, selection: &selection, slots };
    match kind {
        MetricType::Gauge | MetricType::Counter => numbers::answer(metrics, &plan, &asked),
        MetricType::Distribution => sketches::distributions(metrics, &plan, &asked),
        MetricType::Set => sketches::sets(metrics, &plan, &asked),
    }
}

fn check_groups(keys: &[String]) -> Result<()> {
    if keys.len() > limits::GROUP_KEYS_MAX {
        return Err(Error::Refused(Refusal::GroupBy(format!(
            "at most {} keys make groups",
            limits::GROUP_KEYS_MAX
        ))));
    }
    let twice = keys.iter().enumerate().any(|(i, key)| keys.iter().take(i).any(|k| k == key));
    if twice {
        return Err(Error::Refused(Refusal::GroupBy("a key of the groups stands twice".into())));
    }
    Ok(())
}

/// The group of a selected series.
fn group_of(selection: &Selection, series: u32) -> u32 {
    if selection.group_of.is_empty() {
        return 0;
    }
    let rank = selection.series.rank(series).saturating_sub(1);
    selection.group_of.get(rank as usize).copied().unwrap_or_default()
}
