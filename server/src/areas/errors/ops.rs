//! The verbs of the area. Those that look at the disk or ask the engine block.

use std::collections::HashSet;
use std::sync::Arc;

use telltale_engine::{
    Event, EventAggregation, EventAnswer, EventBatch, EventField, EventGroupBy, EventId,
    EventListQuery, EventPage, EventQuery, Receipt, TimeRange, Write,
};
use tokio::sync::oneshot;

use super::error::ErrorsError;
use super::ledger::{Admission, GROUP_TAG, GroupFilter, GroupView, SeenWithin, Ticket, events_of};
use super::model::{GroupId, StateChange};
use super::prepare::PreparedOccurrence;
use super::query::{self, ErrorFilter, Listing, OccurrenceFilter};
use crate::app::App;
use crate::http::{ApiResult, Paging};
use crate::limits;
use crate::platform::telemetry::buckets::Width;

/// Occurrences that are to be stored together.
#[derive(Debug)]
pub(super) struct Admitted {
    batch: EventBatch,
    /// In the order of the occurrences that are new.
    pub(super) tickets: Vec<Ticket>,
    /// Tell whether occurrences were stored that came with another request.
    elsewhere: Vec<oneshot::Receiver<bool>>,
}

/// Which groups a bulk action is about.
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

/// Finds the groups of occurrences, and makes events of those that are new. Blocks: ids of occurrences are looked up on disk.
pub(super) fn admit(
    app: &App,
    occurrences: &[PreparedOccurrence],
) -> Result<Admitted, ErrorsError> {
    let batch = app.engine().event_batch();
    let mut admitted = Admitted { batch, tickets: Vec::new(), elsewhere: Vec::new() };
    for occurrence in occurrences {
        match app.errors().admit(occurrence, &mut admitted.batch) {
            Ok(Admission::New(ticket)) => admitted.tickets.push(ticket),
            Ok(Admission::Known) => {}
            Ok(Admission::InFlight(told)) => admitted.elsewhere.push(told),
            Err(error) => {
                app.errors().discard(&admitted.tickets);
                return Err(error);
            }
        }
    }
    Ok(admitted)
}

/// Stores what was admitted, and counts it. Returns when all of it is durable, also what came with other requests.
pub(super) async fn store(
    app: &Arc<App>,
    admitted: Admitted,
    receipt: Option<Receipt>,
) -> ApiResult<()> {
    let Admitted { batch, tickets, elsewhere } = admitted;
    if !tickets.is_empty() || receipt.is_some() {
        let write = Write { events: Some(batch), receipt, ..Write::default() };
        match app.write(write).await {
            Ok(_) if app.errors().count_in_memory(&tickets) => {}
            // Users of groups that have been quiet are on disk.
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
    for told in elsewhere {
        if !told.await.unwrap_or(false) {
            return Err(ErrorsError::NotStored.into());
        }
    }
    Ok(())
}

/// A page of errors, and how many match in all.
pub(super) async fn list(
    app: &Arc<App>,
    listing: Listing,
    page: (usize, usize),
) -> ApiResult<(Vec<GroupView>, usize)> {
    let Listing { wanted, sort } = listing;
    let filter = narrowed(app, wanted).await?;
    app.blocking(move |app| Ok::<_, ErrorsError>(app.errors().list(&filter, sort, page))).await
}

/// The filter of groups, narrowed to those that have an occurrence as wanted: a query, of which only so many run at once.
async fn narrowed(app: &Arc<App>, wanted: ErrorFilter) -> ApiResult<GroupFilter> {
    let ErrorFilter { mut groups, occurrences } = wanted;
    let Some(occurrences) = occurrences else { return Ok(groups) };
    let narrow = move |app: &App| {
        groups.only = Some(occurring(app, &groups, &occurrences)?);
        Ok::<_, ErrorsError>(groups)
    };
    app.query(narrow).await
}

/// The groups that have an occurrence as wanted, asked for a number of groups at a time.
fn occurring(
    app: &App,
    groups: &GroupFilter,
    wanted: &OccurrenceFilter,
) -> Result<HashSet<GroupId>, ErrorsError> {
    let by_time = wanted.tags.is_empty();
    let SeenWithin { certain: mut found, mut possible } =
        app.errors().seen_within(groups, wanted.range, by_time);
    // In order they are looked up quickly in each block.
    possible.sort_unstable();
    for asked in possible.chunks(limits::ERRORS_ASKED_TOGETHER) {
        let names = asked.iter().map(|(id, _)| id.format()).collect();
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
        for id in answer.groups.iter().filter_map(|(names, _)| GroupId::parse(names.first()?)) {
            let owner = asked.binary_search_by_key(&id, |(of, _)| *of);
            found.extend(owner.ok().and_then(|at| asked.get(at)).map(|(_, group)| *group));
        }
    }
    Ok(found)
}

/// A group, and its newest occurrence while that is kept.
pub(super) fn detail(app: &App, id: &str) -> Result<(GroupView, Option<Event>), ErrorsError> {
    let group = get(app, id)?;
    let latest = group.latest;
    let moment = TimeRange::new(latest.time.0, latest.time.0.saturating_add(1));
    let page = app.engine().list_events(&EventListQuery {
        filter: events_of(group.event_groups(), moment),
        // Just before it in the order of the list.
        after: Some((latest.time, EventId(latest.event.0.saturating_add(1)))),
        offset: 0,
        limit: 1,
    })?;
    let event = page.events.into_iter().find(|event| event.id == latest.event);
    Ok((group, event))
}

/// A page of the occurrences of a group, the newest first.
pub(super) fn events(app: &App, id: &str, paging: Paging) -> Result<EventPage, ErrorsError> {
    let group = get(app, id)?;
    Ok(app.engine().list_events(&EventListQuery {
        filter: events_of(group.event_groups(), TimeRange::new(0, i64::MAX)),
        after: None,
        offset: paging.offset as u64,
        limit: paging.limit,
    })?)
}

/// How often a group occurred, by time.
pub(super) fn series(
    app: &App,
    id: &str,
    range: TimeRange,
    width: Width,
) -> Result<EventAnswer, ErrorsError> {
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

/// Moves one group, or the one that it was merged into.
pub(super) fn apply_change(
    app: &App,
    id: &str,
    order: &StateChange,
) -> Result<GroupView, ErrorsError> {
    let (moved, _) = app.errors().apply_change(&[query::group(id)?], order)?;
    moved.into_iter().next().ok_or_else(|| ErrorsError::NotFound(id.to_owned()))
}

/// Makes other groups part of one.
pub(super) fn merge(app: &App, id: &str, others: &[GroupId]) -> Result<GroupView, ErrorsError> {
    app.errors().merge(query::group(id)?, others)
}

/// Deletes a group.
pub(super) fn delete(app: &App, id: &str) -> Result<(), ErrorsError> {
    let gone = app.errors().delete(&[query::group(id)?])?;
    if gone.is_empty() { Err(ErrorsError::NotFound(id.to_owned())) } else { Ok(()) }
}

/// Does something to many groups, and answers how many there were and how many changed.
pub(super) async fn in_bulk(
    app: &Arc<App>,
    chosen: BulkSelection,
    action: BulkAction,
) -> ApiResult<(usize, usize)> {
    let ids = match chosen {
        BulkSelection::Named(ids) => ids,
        BulkSelection::Matching(wanted) => {
            let filter = narrowed(app, wanted).await?;
            let find = move |app: &App| Ok::<_, ErrorsError>(app.errors().matching(&filter));
            app.blocking(find).await?
        }
    };
    let act = move |app: &App| match action {
        BulkAction::StateChange(order) => {
            let (there, changed) = app.errors().apply_change(&ids, &order)?;
            Ok::<_, ErrorsError>((there.len(), changed))
        }
        BulkAction::Delete => {
            let gone = app.errors().delete(&ids)?;
            Ok((gone.len(), gone.len()))
        }
    };
    app.blocking(act).await
}

fn get(app: &App, id: &str) -> Result<GroupView, ErrorsError> {
    let found = GroupId::parse(id).and_then(|group| app.errors().get(group));
    found.ok_or_else(|| ErrorsError::NotFound(id.to_owned()))
}
