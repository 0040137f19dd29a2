//! From slots to the answer: groups in the order of their keys, in each the buckets that hold anything.

use super::super::registry::Selection;
use super::grain::Grains;
use super::slots::Slots;
use crate::asking::Asking;
use crate::error::{Error, Refusal, Result};
use crate::memory::AnswerMemory;
use crate::model::{
    Group, MetricQuery, MetricType, QueryResult, QueryStats, TimeRange, TimestampMs,
};
use crate::options::Options;

/// The question, with what is known about it by now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) query: &'a MetricQuery,
    pub(super) kind: MetricType,
    pub(super) grains: &'a Grains,
    pub(super) selection: &'a Selection,
    pub(super) slots: Slots,
    pub(super) asking: &'a Asking,
}

impl Asked<'_> {
    /// How many workers may gather the answer at once, each with slots of its own that take `slot_bytes` each, and takes the
    /// memory of them and of the answer. Fails with [`Refusal::Range`] where a query may not take that of one worker.
    pub(super) fn workers(&self, slot_bytes: usize, options: &Options) -> Result<usize> {
        let Slots { buckets, groups, .. } = self.slots;
        let of_row = size_of::<TimestampMs>() + size_of::<f64>() * self.query.aggregations.len();
        let answer = of_row.saturating_mul(self.slots.len());
        let bytes = slot_bytes.saturating_mul(self.slots.len());
        let budget = options.query_bytes.saturating_sub(answer);
        if bytes > budget {
            return Err(Refusal::Range(format!(
                "the answer has {buckets} buckets in {groups} groups, which do not fit into {} bytes of memory; ask for less at once",
                options.query_bytes
            ))
            .into());
        }
        let workers = (budget / bytes.max(1)).min(options.threads).max(1);
        // Where others have the memory, one worker takes longer.
        match self.asking.take_and_keep(answer + workers * bytes, answer) {
            Err(Error::MemoryFull(_)) if workers > 1 => {
                self.asking.take_and_keep(answer + bytes, answer).map(|()| 1)
            }
            taken => taken.map(|()| workers),
        }
    }

    /// The seconds of the range that a bucket covers.
    pub(super) fn seconds(&self, bucket: usize) -> f64 {
        let end = self.slots.end_of(bucket);
        self.grains.covered_ms(TimeRange::new(end - self.slots.width, end)) as f64 / 1000.0
    }
}

/// Builds the answer from the values of every slot; `values` answers none for an empty one.
pub(super) fn assemble(
    asked: &Asked<'_>,
    stats: QueryStats,
    values: impl Fn(u32, usize) -> Option<Vec<f64>>,
) -> QueryResult {
    let mut order: Vec<(u32, &Vec<String>)> = (0..).zip(asked.selection.groups.iter()).collect();
    order.sort_by_key(|(_, key)| *key);
    let mut groups = Vec::new();
    for (index, key) in order {
        let mut group = Group {
            key: key.clone(),
            starts: Vec::new(),
            columns: vec![Vec::new(); asked.query.aggregations.len()],
        };
        for bucket in 0..asked.slots.buckets {
            let Some(values) = values(index, bucket) else { continue };
            group.starts.push(TimestampMs(asked.slots.end_of(bucket) - asked.slots.width));
            group.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        if !group.starts.is_empty() {
            groups.push(group);
        }
    }
    let stats = QueryStats { series: asked.selection.series.len(), ..stats };
    let Grains { range, coarse, .. } = asked.grains;
    QueryResult {
        kind: asked.kind,
        range: *range,
        coarse: coarse.clone(),
        groups,
        stats,
        memory: AnswerMemory::default(),
    }
}
