//! Builds the query result from the slots: groups ordered by key, each with its buckets that are
//! not empty.

use super::super::registry::Selection;
use super::read_range::ReadRange;
use super::slots::Slots;
use crate::error::{Error, Refusal, Result};
use crate::memory::ResultMemory;
use crate::model::{
    Group, MetricQuery, MetricType, QueryResult, QueryStats, TimeRange, TimestampMs,
};
use crate::options::Options;
use crate::query_in_progress::QueryInProgress;

/// A query in progress: its validated input and the resources it uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryContext<'a> {
    pub(super) query: &'a MetricQuery,
    pub(super) kind: MetricType,
    pub(super) read_range: &'a ReadRange,
    pub(super) selection: &'a Selection,
    pub(super) slots: Slots,
    pub(super) in_progress: &'a QueryInProgress,
}

impl QueryContext<'_> {
    /// Returns the number of workers that may run at once, each with `slot_bytes` per slot, and
    /// takes the memory of these workers and of the result. Fails with [`Refusal::Range`] when the
    /// query memory limit does not suffice for one worker.
    pub(super) fn workers(&self, slot_bytes: usize, options: &Options) -> Result<usize> {
        let Slots { buckets, groups, .. } = self.slots;
        let of_row = size_of::<TimestampMs>() + size_of::<f64>() * self.query.aggregations.len();
        let result_bytes = of_row.saturating_mul(self.slots.len());
        let bytes = slot_bytes.saturating_mul(self.slots.len());
        let budget = options.query_bytes.saturating_sub(result_bytes);
        if bytes > budget {
            return Err(Refusal::Range(format!(
                "the result has {buckets} buckets in {groups} groups, more than fit into the query memory limit of {} bytes; use a shorter range, a longer interval or fewer groups",
                options.query_bytes
            ))
            .into());
        }
        let workers = (budget / bytes.max(1)).min(options.threads).max(1);
        // With little memory left in the account, a single worker takes longer but may still
        // succeed.
        match self.in_progress.take_and_keep(result_bytes + workers * bytes, result_bytes) {
            Err(Error::MemoryFull(_)) if workers > 1 => {
                self.in_progress.take_and_keep(result_bytes + bytes, result_bytes).map(|()| 1)
            }
            taken => taken.map(|()| workers),
        }
    }

    /// Returns how many seconds of the range a bucket covers.
    pub(super) fn seconds(&self, bucket: usize) -> f64 {
        let end = self.slots.end_of(bucket);
        self.read_range.covered_ms(TimeRange::new(end - self.slots.width, end)) as f64 / 1000.0
    }
}

/// Builds the result. `values` returns the values of a slot, `None` for an empty one.
pub(super) fn assemble(
    context: &QueryContext<'_>,
    stats: QueryStats,
    values: impl Fn(u32, usize) -> Option<Vec<f64>>,
) -> QueryResult {
    let mut order: Vec<(u32, &Vec<String>)> = (0..).zip(context.selection.groups.iter()).collect();
    order.sort_by_key(|(_, key)| *key);
    let mut groups = Vec::new();
    for (index, key) in order {
        let mut group = Group {
            key: key.clone(),
            starts: Vec::new(),
            columns: vec![Vec::new(); context.query.aggregations.len()],
        };
        for bucket in 0..context.slots.buckets {
            let Some(values) = values(index, bucket) else { continue };
            group.starts.push(TimestampMs(context.slots.end_of(bucket) - context.slots.width));
            group.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        if !group.starts.is_empty() {
            groups.push(group);
        }
    }
    let stats = QueryStats { series: context.selection.series.len(), ..stats };
    let ReadRange { range, coarse, .. } = context.read_range;
    QueryResult {
        kind: context.kind,
        range: *range,
        coarse: coarse.clone(),
        groups,
        stats,
        memory: ResultMemory::default(),
    }
}
