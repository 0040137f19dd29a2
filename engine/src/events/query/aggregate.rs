//! Counts and statistics: checked, read source by source, and added up.

use super::super::source::Unopened;
use super::answer::assemble;
use super::ask::{Asked, QueryContext, check_range, each};
use super::cell::Wanted;
use super::gather::{Budget, Gathered};
use super::read::read;
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::memory::AnswerMemory;
use crate::model::{
    EventAnswer, EventGroupBy, EventQuery, EventQueryStats, EventSummary, Interval, TimeRange,
};

/// Bytes of a bucket of a group in an answer, about, where it is the only one of its group: of the group and its vectors.
const SLOT_ANSWER_BYTES: usize = size_of::<(Vec<String>, EventSummary)>() + 64;
/// The same of one aggregation of it.
const COLUMN_ANSWER_BYTES: usize = 64;

/// Answers a question about the events of all sources, blocks and chunks in any order.
pub(crate) fn aggregate(
    sources: &[Box<dyn Unopened + '_>],
    query: &EventQuery,
    context: &QueryContext<'_>,
) -> Result<EventAnswer> {
    check(query, context)?;
    let asked = Asked::new(sources, context);
    let touched = asked.touched(query.filter.range);
    let wanted = Wanted::of(&query.aggregations);
    let budget = Budget::new(context);
    let new = || Gathered::new(&budget, wanted);
    let workers = each(context.pool, &touched, new, |index, gathered| {
        let read = asked.open(*index).and_then(|source| read(&*source, query, wanted, context));
        match asked.settle(*index, read)?.flatten() {
            Some(read) => gathered.add(&read),
            None => Ok::<(), Error>(()),
        }
    })?;
    let gathered = Gathered::merge(workers)?.unwrap_or_else(new);
    let stats = EventQueryStats {
        matched: gathered.matched,
        sources: touched.len() as u64,
        quarantined: asked.quarantined(),
    };
    let (slots, texts) = gathered.size();
    let of_slot = SLOT_ANSWER_BYTES + COLUMN_ANSWER_BYTES * query.aggregations.len();
    context.asking.take_for_answer(slots * of_slot + texts)?;
    let (all, groups) = assemble(query, gathered);
    Ok(EventAnswer { all, groups, stats, memory: AnswerMemory::default() })
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

/// How many buckets a range touches.
fn buckets(range: TimeRange, interval: Interval) -> i128 {
    let bucket_of = |time: i64| i128::from(time).div_euclid(i128::from(interval.ms()));
    bucket_of(range.end.0 - 1) - bucket_of(range.start.0) + 1
}
