//! Aggregation queries: validates the query, reads source by source, and merges the results.

use super::super::source::ClosedSource;
use super::accumulator::{Accumulator, Budget};
use super::answer::assemble;
use super::cell::Wanted;
use super::query_context::{QueryContext, RunningQuery, check_range, run_tasks};
use super::source_columns::read;
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::memory::ResultMemory;
use crate::model::{
    EventGroupBy, EventQuery, EventQueryResult, EventQueryStats, EventSummary, Interval, TimeRange,
};

/// Approximate bytes of one bucket of a group in an answer, where it is the only bucket of its
/// group: the group and its vectors.
const SLOT_ANSWER_BYTES: usize = size_of::<(Vec<String>, EventSummary)>() + 64;
/// Approximate bytes of one aggregation of such a bucket.
const COLUMN_ANSWER_BYTES: usize = 64;

/// Evaluates an aggregation query over the events of all sources, blocks and chunks in any order.
pub(crate) fn aggregate(
    sources: &[Box<dyn ClosedSource + '_>],
    query: &EventQuery,
    context: &QueryContext<'_>,
) -> Result<EventQueryResult> {
    check(query, context)?;
    let running = RunningQuery::new(sources, context);
    let overlapping = running.overlapping(query.filter.range);
    let wanted = Wanted::of(&query.aggregations);
    let budget = Budget::new(context);
    let new = || Accumulator::new(&budget, wanted);
    let distinct = query.distinct.as_ref().filter(|_| wanted.strings);
    let distinct = distinct.map(|of| context.string_numbers.of(of));
    let workers = run_tasks(context.pool, &overlapping, new, |index, accumulator| {
        let read = running
            .open(*index)
            .and_then(|source| read(&*source, query, (wanted, distinct.as_ref()), context));
        match running.skip_if_corrupt(*index, read)?.flatten() {
            Some(read) => accumulator.add(&read),
            None => Ok::<(), Error>(()),
        }
    })?;
    let accumulator = Accumulator::merge(workers)?.unwrap_or_else(new);
    let stats = EventQueryStats {
        matched: accumulator.matched,
        sources: overlapping.len() as u64,
        quarantined: running.quarantined(),
    };
    let (slots, strings) = accumulator.size();
    let of_slot = SLOT_ANSWER_BYTES + COLUMN_ANSWER_BYTES * query.aggregations.len();
    context.in_progress.take_for_result(slots * of_slot + strings)?;
    let (all, groups) = assemble(query, accumulator);
    Ok(EventQueryResult { all, groups, stats, memory: ResultMemory::default() })
}

fn check(query: &EventQuery, context: &QueryContext<'_>) -> Result<()> {
    check_range(query.filter.range)?;
    if query.aggregations.is_empty() {
        return Err(Refusal::Range("at least one aggregation is needed".into()).into());
    }
    check_groups(&query.group_by)?;
    let buckets = query.interval.map_or(0, |interval| buckets(query.filter.range, interval));
    let max = context.limits.buckets_max;
    if buckets > i128::from(max) {
        return Err(Refusal::Range(format!(
            "the range has {buckets} buckets of this interval; the limit is {max}"
        ))
        .into());
    }
    Ok(())
}

/// Refuses grouping keys that are too many or occur more than once.
fn check_groups(by: &[EventGroupBy]) -> Result<()> {
    if by.len() > limits::GROUP_KEYS_MAX {
        let max = limits::GROUP_KEYS_MAX;
        return Err(
            Refusal::GroupBy(format!("group_by must name at most {max} tags or fields")).into()
        );
    }
    if by.iter().enumerate().any(|(i, one)| by.iter().take(i).any(|other| other == one)) {
        return Err(
            Refusal::GroupBy("group_by must name each tag or field only once".into()).into()
        );
    }
    Ok(())
}

/// Returns the number of buckets that overlap a range.
fn buckets(range: TimeRange, interval: Interval) -> i128 {
    let bucket_of = |time: i64| i128::from(time).div_euclid(i128::from(interval.ms()));
    bucket_of(range.end.0 - 1) - bucket_of(range.start.0) + 1
}
