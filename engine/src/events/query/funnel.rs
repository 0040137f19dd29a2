//! Funnels: how many users take several steps one after the other, within a time window.
//!
//! The events of all steps are read as fixed-size records (user, time, id, step), sorted by user
//! and time, and evaluated one user at a time. Users are distinguished by a fingerprint of 128
//! bits, so their names are never read.
//!
//! An *attempt* begins at any event of the first step; each further step is the earliest event
//! after the one before it, up to the end of the window. A user counts for as many steps as the
//! attempt that gets furthest takes, the first one of several.

use rayon::prelude::*;

use super::super::source::ClosedSource;
use super::super::{EventSource, NO_CODE};
use super::page::check_len;
use super::query_context::{QueryContext, RunningQuery, check_range, run_tasks};
use super::select::select;
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::model::{
    EventFilter, EventFunnelQuery, EventFunnelResult, EventFunnelStep, EventGroupBy,
    EventQueryStats,
};

/// An event that is part of a step. Ordered by user, time and id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Touch {
    user: u128,
    time: i64,
    id: u128,
    step: u8,
}

/// Evaluates a funnel.
pub(crate) fn funnel(
    sources: &[Box<dyn ClosedSource + '_>],
    query: &EventFunnelQuery,
    context: &QueryContext<'_>,
) -> Result<EventFunnelResult> {
    let Some(range) = query.steps.first().map(|step| step.range) else {
        return Err(Refusal::Range("a funnel has at least one step".into()).into());
    };
    if query.steps.len() > limits::EVENT_FUNNEL_STEPS_MAX {
        let max = limits::EVENT_FUNNEL_STEPS_MAX;
        return Err(Refusal::Range(format!("a funnel has at most {max} steps")).into());
    }
    check_range(range)?;
    let running = RunningQuery::new(sources, context);
    let overlapping = running.overlapping(range);
    let parts = run_tasks(context.pool, &overlapping, Vec::new, |index, touches| {
        let read = running.open(*index).and_then(|source| read(&*source, &query.steps, context));
        if let Some(mut read) = running.skip_if_corrupt(*index, read)? {
            touches.append(&mut read);
        }
        Ok::<(), Error>(())
    })?;
    let matched = parts.iter().map(Vec::len).sum::<usize>();
    // All parts and their concatenation exist at the same time.
    let _copied = context.in_progress.borrow(matched * size_of::<Touch>())?;
    let mut touches = parts.concat();
    drop(parts);
    context.pool.install(|| touches.par_sort_unstable());
    let mut tally = FunnelTally::new(query);
    for user in touches.chunk_by(|a, b| a.user == b.user) {
        context.in_progress.check()?;
        tally.add(user, context)?;
    }
    let stats = EventQueryStats {
        matched: matched as u64,
        sources: overlapping.len() as u64,
        quarantined: running.quarantined(),
    };
    Ok(tally.result(stats))
}

/// Reads the events of all steps from one source.
fn read(
    source: &dyn EventSource,
    steps: &[EventFilter],
    context: &QueryContext<'_>,
) -> Result<Vec<Touch>> {
    let mut touches = Vec::new();
    let mut columns = None;
    for (step, filter) in (0..).zip(steps) {
        let selected = select(source, filter)?;
        let mut rows = Vec::new();
        selected.each(selected.span.clone(), |row| rows.push(row));
        if rows.is_empty() {
            continue;
        }
        if columns.is_none() {
            let (users, times) = (source.string_hashes(&EventGroupBy::User)?, source.times()?);
            check_len(users.codes.len(), source.rows() as usize)?;
            check_len(times.len(), source.rows() as usize)?;
            columns = Some((users, times));
        }
        let Some((users, times)) = &columns else { continue };
        rows.retain(|row| users.codes.get(*row as usize).is_some_and(|code| *code != NO_CODE));
        context.in_progress.take(rows.len() * size_of::<Touch>())?;
        let ids = source.ids(&rows)?;
        check_len(ids.len(), rows.len())?;
        touches.reserve(rows.len());
        for (row, id) in rows.into_iter().zip(ids) {
            let row = row as usize;
            let user = users.codes.get(row).and_then(|code| users.hashes.get(*code as usize));
            let (Some(user), Some(time)) = (user, times.get(row)) else {
                return Err(Error::Corrupt("the columns of an event source do not fit".into()));
            };
            touches.push(Touch { user: *user, time: *time, id: id.0, step });
        }
    }
    Ok(touches)
}

/// The users and times of all steps.
struct FunnelTally {
    window_ms: i64,
    users: Vec<u64>,
    /// The milliseconds from the step before, for each user that took the step.
    from_previous: Vec<Vec<i64>>,
    /// The milliseconds from the first to the last step.
    whole: Vec<i64>,
    /// By step, the events of one user; kept to reuse the memory.
    of_user: Vec<Vec<(i64, u128)>>,
}

impl FunnelTally {
    fn new(query: &EventFunnelQuery) -> Self {
        let steps = query.steps.len();
        Self {
            window_ms: query.window_ms,
            users: vec![0; steps],
            from_previous: vec![Vec::new(); steps],
            whole: Vec::new(),
            of_user: vec![Vec::new(); steps],
        }
    }

    /// Adds the events of one user.
    fn add(&mut self, touches: &[Touch], context: &QueryContext<'_>) -> Result<()> {
        self.of_user.iter_mut().for_each(Vec::clear);
        for touch in touches {
            if let Some(events) = self.of_user.get_mut(usize::from(touch.step)) {
                events.push((touch.time, touch.id));
            }
        }
        let mut best: Vec<i64> = Vec::new();
        let starts = self.of_user.first().map_or(&[][..], Vec::as_slice);
        for (i, start) in starts.iter().enumerate() {
            if i % 4_096 == 0 {
                context.in_progress.check()?;
            }
            let times = attempt(&self.of_user, *start, self.window_ms);
            if times.len() > best.len() {
                best = times;
            }
            if best.len() == self.of_user.len() {
                break;
            }
        }
        context.in_progress.take(best.len() * size_of::<i64>())?;
        for (step, time) in best.iter().enumerate() {
            if let Some(users) = self.users.get_mut(step) {
                *users += 1;
            }
            let before = step.checked_sub(1).and_then(|before| best.get(before));
            if let (Some(before), Some(times)) = (before, self.from_previous.get_mut(step)) {
                times.push(time - before);
            }
        }
        if let (Some(first), Some(last)) = (best.first(), best.last())
            && best.len() == self.of_user.len()
        {
            self.whole.push(last - first);
        }
        Ok(())
    }

    fn result(self, stats: EventQueryStats) -> EventFunnelResult {
        let steps = self.users.into_iter().zip(self.from_previous);
        let step = |(users, times)| EventFunnelStep { users, median_ms: median(times) };
        let memory = crate::memory::ResultMemory::default();
        EventFunnelResult {
            steps: steps.map(step).collect(),
            median_ms: median(self.whole),
            stats,
            memory,
        }
    }
}

/// Returns the times of the steps that the attempt which begins at `start` takes.
fn attempt(steps: &[Vec<(i64, u128)>], start: (i64, u128), window_ms: i64) -> Vec<i64> {
    let end = start.0.saturating_add(window_ms);
    let mut times = vec![start.0];
    let mut last = start;
    for events in steps.iter().skip(1) {
        let next = events.get(events.partition_point(|event| *event <= last));
        let Some(next) = next.filter(|(time, _)| *time <= end) else { break };
        times.push(next.0);
        last = *next;
    }
    times
}

/// Returns the nearest-rank median.
fn median(mut times: Vec<i64>) -> Option<i64> {
    let middle = times.len().div_ceil(2).checked_sub(1)?;
    Some(*times.select_nth_unstable(middle).1)
}
