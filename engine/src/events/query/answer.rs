//! Builds the answer from cells: groups ordered by key, each with its non-empty buckets.

use super::accumulator::{Accumulator, Slot};
use super::cell::Cell;
use super::group_keys::parts;
use crate::model::{EventQuery, EventSummary, StringId, TimestampMs};

/// Returns the summary of all matching events, and those of the groups.
pub(super) fn assemble(
    query: &EventQuery,
    accumulator: Accumulator<'_>,
) -> (EventSummary, Vec<(Vec<String>, EventSummary)>) {
    let Accumulator { groups: keys, mut slots, .. } = accumulator;
    slots.sort_unstable_by_key(|slot| (slot.start, slot.group));
    if query.group_by.is_empty() {
        return (summary(query, &mut slots), Vec::new());
    }
    let mut all: Vec<Slot> = slots.chunk_by(|a, b| a.start == b.start).map(merged).collect();
    slots.sort_unstable_by_key(|slot| (slot.group, slot.start));
    let groups = slots.chunk_by_mut(|a, b| a.group == b.group).map(|slots| {
        let key = slots.first().map_or("", |slot| keys.text(slot.group));
        (parts(key, query.group_by.len()), summary(query, slots))
    });
    let mut groups: Vec<(Vec<String>, EventSummary)> = groups.collect();
    groups.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    (summary(query, &mut all), groups)
}

/// Merges all slots into one.
fn merged(slots: &[Slot]) -> Slot {
    let mut cell = Cell::default();
    slots.iter().for_each(|slot| cell.merge(&slot.cell));
    Slot { group: StringId(0), start: slots.first().map_or(0, |slot| slot.start), cell }
}

/// Evaluates the buckets of a group, ascending, and all of them together.
fn summary(query: &EventQuery, slots: &mut [Slot]) -> EventSummary {
    let whole = match &mut *slots {
        [only] => only.cell.evaluate(&query.aggregations).collect(),
        slots => merged(slots).cell.evaluate(&query.aggregations).collect(),
    };
    let mut summary = EventSummary { whole, ..EventSummary::default() };
    if query.interval.is_none() {
        return summary;
    }
    summary.starts = slots.iter().map(|slot| TimestampMs(slot.start)).collect();
    summary.columns.resize_with(query.aggregations.len(), || Vec::with_capacity(slots.len()));
    for slot in slots {
        let values = slot.cell.evaluate(&query.aggregations);
        summary.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    summary
}
