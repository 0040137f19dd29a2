//! The operations of the area. Functions that are not async block: they read the disk or run engine
//! queries.

use std::collections::HashSet;
use std::sync::Arc;

use telltale_engine::{
    Event, EventAggregation, EventBatch, EventField, EventGroupBy, EventId, EventListQuery,
    EventPage, EventQuery, EventQueryResult, Receipt, TimeRange, Write,
};
use tokio::sync::oneshot;

use super::activity::{Activity, ActivityId};
use super::error::ErrorsError;
use super::ledger::{Admission, GROUP_TAG, GroupFilter, GroupView, SeenWithin, Ticket, events_of};
use super::model::{GroupId, StateChange};
use super::occurrences::{self, BucketCounts};
use super::prepare::PreparedOccurrence;
use super::query::{ErrorFilter, Listing, OccurrenceFilter};
use crate::app::{App, AppResult};
use crate::limits;
use crate::platform::telemetry::buckets::BucketWidth;

/// Occurrences that have been admitted and are to be stored in one batch.
#[derive(Debug)]
pub(super) struct Admitted {
    batch: EventBatch,
    /// One for each occurrence that is new, in the order of the request.
    pub(super) tickets: Vec<Ticket>,
    /// Receivers of the outcome of occurrences that concurrent requests are storing.
    in_flight: Vec<oneshot::Receiver<bool>>,
}

/// The groups that a bulk action applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BulkSelection {
    Named(Vec<GroupId>),
    Matching(ErrorFilter),
}

/// What a bulk action does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BulkAction {
    StateChange(StateChange),
    Delete,
}

/// Assigns occurrences to groups and adds an event for each new one to a batch. Blocks: event ids
/// are looked up on disk.
pub(super) fn admit(
    app: &App,
    occurrences: &[PreparedOccurrence],
) -> Result<Admitted, ErrorsError> {
    let batch = app.engine().event_batch();
    let mut admitted = Admitted { batch, tickets: Vec::new(), in_flight: Vec::new() };
    for occurrence in occurrences {
        match app.errors().admit(occurrence, &mut admitted.batch) {
            Ok(Admission::New(ticket)) => admitted.tickets.push(ticket),
            Ok(Admission::Known) => {}
            Ok(Admission::InFlight(stored)) => admitted.in_flight.push(stored),
            Err(error) => {
                app.errors().discard(&admitted.tickets);
                return Err(error);
            }
        }
    }
    Ok(admitted)
}

/// Stores the admitted occurrences and counts them. Returns when all of them are durable, including
/// those that concurrent requests are storing.
pub(super) async fn store(
    app: &Arc<App>,
    admitted: Admitted,
    receipt: Option<Receipt>,
) -> AppResult<()> {
    let Admitted { batch, tickets, in_flight } = admitted;
    if !tickets.is_empty() || receipt.is_some() {
        let write = Write { events: Some(batch), receipt, ..Write::default() };
        match app.write(write).await {
            Ok(_) if app.errors().count_in_memory(&tickets) => {}
            // The user sets of idle groups are on disk.
            Ok(_) => {
                let count = move |app: &App| {
                    app.errors().count(&tickets);
                    Ok::<_, ErrorsError>(())
                };
                app.blocking(count).await?;
            }
            Err(error) => {
                app.errors().discard(&tickets);
                return Err(error);
            }
        }
    }
    for stored in in_flight {
        // A request that ended without an outcome has not stored it either.
        if !stored.await.unwrap_or(false) {
            return Err(ErrorsError::NotStored.into());
        }
    }
    Ok(())
}

/// A page of groups.
#[derive(Debug)]
pub(super) struct GroupPage {
    pub(super) groups: Vec<GroupView>,
    /// The number of all groups that match.
    pub(super) total: usize,
    /// The counts of each group of the page; empty unless requested.
    pub(super) series: Vec<BucketCounts>,
}

/// Returns a page of groups.
pub(super) async fn list(
    app: &Arc<App>,
    listing: Listing,
    page: (usize, usize),
) -> AppResult<GroupPage> {
    let Listing { filter, sort, series } = listing;
    let filter = resolve_filter(app, filter).await?;
    let list = move |app: &App| Ok::<_, ErrorsError>(app.errors().list(&filter, sort, page));
    let (groups, total) = app.blocking(list).await?;
    let Some(sparkline) = series else {
        return Ok(GroupPage { groups, total, series: Vec::new() });
    };
    app.query(move |app| {
        let series = occurrences::sparklines(app, &groups, sparkline)?;
        Ok::<_, ErrorsError>(GroupPage { groups, total, series })
    })
    .await
}

/// Restricts the group filter to groups with a matching occurrence. Takes a query permit, as other
/// queries do.
async fn resolve_filter(app: &Arc<App>, filter: ErrorFilter) -> AppResult<GroupFilter> {
    let ErrorFilter { mut groups, occurrences } = filter;
    let Some(occurrences) = occurrences else { return Ok(groups) };
    let narrow = move |app: &App| {
        groups.only = Some(groups_with_occurrence(app, &groups, &occurrences)?);
        Ok::<_, ErrorsError>(groups)
    };
    app.query(narrow).await
}

/// Returns the groups that have a matching occurrence. Queries the engine for a limited number of
/// groups at a time.
fn groups_with_occurrence(
    app: &App,
    groups: &GroupFilter,
    wanted: &OccurrenceFilter,
) -> Result<HashSet<GroupId>, ErrorsError> {
    let by_time = wanted.tags.is_empty();
    let SeenWithin { certain: mut found, mut possible } =
        app.errors().seen_within(groups, wanted.range, by_time);
    // Each block resolves sorted ids faster.
    possible.sort_unstable();
    for chunk in possible.chunks(limits::ERROR_GROUPS_PER_QUERY) {
        let names = chunk.iter().map(|(id, _)| id.format()).collect();
        let mut filter = events_of(names, wanted.range);
        filter.tags.extend(wanted.tags.iter().cloned());
        let answer = app.engine().query_events(&EventQuery {
            filter,
            interval: None,
            group_by: vec![EventGroupBy::Tag(GROUP_TAG.to_owned())],
            field: EventField::Value,
            distinct: None,
            aggregations: vec![EventAggregation::Count],
        })?;
        for (names, _) in &answer.groups {
            let id = names.first().and_then(|name| GroupId::parse(name));
            let owner = id.and_then(|id| chunk.binary_search_by_key(&id, |(of, _)| *of).ok());
            let Some((_, group)) = owner.and_then(|at| chunk.get(at)) else {
                unreachable!("the query returned {names:?}, which its filter excludes")
            };
            found.insert(*group);
        }
    }
    Ok(found)
}

/// Returns a group, and its newest occurrence if it has not expired.
pub(super) fn detail(app: &App, id: GroupId) -> Result<(GroupView, Option<Event>), ErrorsError> {
    let group = get(app, id)?;
    let latest = group.latest;
    let moment = TimeRange::new(latest.time.0, latest.time.0.saturating_add(1));
    let page = app.engine().list_events(&EventListQuery {
        filter: events_of(group.event_groups(), moment),
        // The position just before it in the order of the list.
        after: Some((latest.time, EventId(latest.event.0.saturating_add(1)))),
        offset: 0,
        limit: 1,
    })?;
    let event = page.events.into_iter().find(|event| event.id == latest.event);
    Ok((group, event))
}

/// Returns a page of the occurrences of a group, newest first.
pub(super) fn events(
    app: &App,
    id: GroupId,
    (offset, limit): (usize, usize),
) -> Result<EventPage, ErrorsError> {
    let group = get(app, id)?;
    Ok(app.engine().list_events(&EventListQuery {
        filter: events_of(group.event_groups(), TimeRange::new(0, i64::MAX)),
        after: None,
        offset: offset as u64,
        limit,
    })?)
}

/// Returns the number of occurrences of a group in each bucket.
pub(super) fn series(
    app: &App,
    id: GroupId,
    range: TimeRange,
    width: BucketWidth,
) -> Result<EventQueryResult, ErrorsError> {
    let group = get(app, id)?;
    Ok(app.engine().query_events(&EventQuery {
        filter: events_of(group.event_groups(), range),
        interval: Some(width.interval()),
        group_by: Vec::new(),
        field: EventField::Value,
        distinct: None,
        aggregations: vec![EventAggregation::Count],
    })?)
}

/// Applies a state change to a group, or to the group that it was merged into.
pub(super) fn apply_change(
    app: &App,
    id: GroupId,
    change: &StateChange,
    by: &str,
) -> Result<GroupView, ErrorsError> {
    let (changed, _) = app.errors().apply_change(&[id], change, by)?;
    changed.into_iter().next().ok_or_else(|| ErrorsError::NotFound(id.format()))
}

/// Merges other groups into one.
pub(super) fn merge(
    app: &App,
    id: GroupId,
    others: &[GroupId],
    by: &str,
) -> Result<GroupView, ErrorsError> {
    app.errors().merge(id, others, by)
}

/// Adds a comment to a group, or to the group that it was merged into.
pub(super) fn comment(
    app: &App,
    id: GroupId,
    text: String,
    by: &str,
) -> Result<(ActivityId, Activity), ErrorsError> {
    app.errors().comment(id, text, by)
}

/// Returns a group and the newest entries of its activity.
pub(super) fn activity(
    app: &App,
    id: GroupId,
) -> Result<(GroupView, Vec<(ActivityId, Activity)>), ErrorsError> {
    let group = get(app, id)?;
    let entries = app.errors().activity(&group)?;
    Ok((group, entries))
}

/// Deletes a group.
pub(super) fn delete(app: &App, id: GroupId) -> Result<(), ErrorsError> {
    let deleted = app.errors().delete(&[id])?;
    if deleted.is_empty() { Err(ErrorsError::NotFound(id.format())) } else { Ok(()) }
}

/// Applies a bulk action; returns how many groups matched and how many of them changed.
pub(super) async fn apply_bulk(
    app: &Arc<App>,
    selection: BulkSelection,
    action: BulkAction,
    by: String,
) -> AppResult<(usize, usize)> {
    let ids = match selection {
        BulkSelection::Named(ids) => ids,
        BulkSelection::Matching(filter) => {
            let filter = resolve_filter(app, filter).await?;
            let find = move |app: &App| Ok::<_, ErrorsError>(app.errors().matching(&filter));
            app.blocking(find).await?
        }
    };
    let act = move |app: &App| match action {
        BulkAction::StateChange(change) => {
            let (found, changed) = app.errors().apply_change(&ids, &change, &by)?;
            Ok::<_, ErrorsError>((found.len(), changed))
        }
        BulkAction::Delete => {
            let deleted = app.errors().delete(&ids)?;
            Ok((deleted.len(), deleted.len()))
        }
    };
    app.blocking(act).await
}

/// Returns a group, or the one that it was merged into.
pub(super) fn get(app: &App, id: GroupId) -> Result<GroupView, ErrorsError> {
    app.errors().get(id).ok_or_else(|| ErrorsError::NotFound(id.format()))
}
