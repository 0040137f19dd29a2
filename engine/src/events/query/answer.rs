//! From cells to the answer: groups in the order of their keys, in each the buckets that hold any event.

use std::collections::BTreeMap;

use super::cell::Cell;
use super::gather::{Gathered, Slot};
use crate::model::{EventAggregation, EventQuery, EventSummary, TimestampMs};

/// What there is to say of everything, and of the groups.
pub(super) fn assemble(
    query: &EventQuery,
    gathered: Gathered<'_>,
) -> (EventSummary, Vec<(String, EventSummary)>) {
    let Gathered { groups: keys, slots, .. } = gathered;
    let mut of_groups: Vec<BTreeMap<i64, Cell>> = Vec::new();
    of_groups.resize_with(keys.len(), BTreeMap::new);
    for Slot { group, start, cell } in slots {
        if let Some(cells) = of_groups.get_mut(group.0 as usize) {
            cells.insert(start, cell);
        }
    }
    let summary = |cells| summary(cells, &query.aggregations, query.interval.is_some());
    if query.group_by.is_none() {
        return (summary(of_groups.pop().unwrap_or_default()), Vec::new());
    }
    let mut all: BTreeMap<i64, Cell> = BTreeMap::new();
    for (start, cell) in of_groups.iter().flatten() {
        all.entry(*start).or_default().merge(cell);
    }
    let groups = keys.iter().map(str::to_owned).zip(of_groups.into_iter().map(summary));
    let mut groups: Vec<(String, EventSummary)> = groups.collect();
    groups.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    (summary(all), groups)
}

/// Evaluates the buckets of a group, and all of them together.
fn summary(
    cells: BTreeMap<i64, Cell>,
    aggregations: &[EventAggregation],
    buckets: bool,
) -> EventSummary {
    let mut summary = EventSummary::default();
    if buckets {
        summary.columns.resize_with(aggregations.len(), Vec::new);
    }
    let mut whole = Cell::default();
    for (start, mut cell) in cells {
        whole.merge(&cell);
        if buckets {
            summary.starts.push(TimestampMs(start));
            let values = cell.evaluate(aggregations);
            summary.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
    }
    summary.whole = whole.evaluate(aggregations);
    summary
}
