//! Loads the ledger at a start: the records on disk, then the events that they do not include.

use std::collections::HashMap;

use serde::Deserialize;
use telltale_engine::{Event, EventId, Result};

use super::super::event_id::parse_event_id;
use super::super::model::{GroupHash, GroupId, Sender, SentLevel};
use super::super::prepare::{GroupSummary, beyond_title};
use super::super::store::StoredLedger;
use super::admit::OccurrenceOrigin;
use super::book::{GROUP_TAG, HASH_TAG, Ledger, all_time, error_events};
use super::group::LatestOccurrence;
use super::numbers::{EventNumbers, Mark};
use super::seen::SeenKey;

/// The properties of an occurrence that its group is rebuilt from.
#[derive(Debug, Deserialize)]
struct SummaryProperties {
    project: u64,
    event_id: String,
    title: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    exceptions: Vec<SummaryException>,
}

#[derive(Debug, Deserialize)]
struct SummaryException {
    value: Option<String>,
}

/// What came of counting the events that the mark did not include.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Recount {
    /// Events that were counted.
    pub(super) counted: u64,
    /// Counted events of which only the group is known.
    pub(super) unreadable: u64,
    /// Events whose group is unknown, which were not counted.
    pub(super) ungrouped: u64,
    /// Corrupt blocks, whose events were not counted.
    pub(super) corrupt_blocks: u64,
    /// The first unreadable or ungrouped event, and the reason.
    pub(super) example: Option<(EventId, String)>,
}

impl Recount {
    fn log(&self) {
        let Self { counted, unreadable, ungrouped, corrupt_blocks, example } = self;
        if *counted > 0 {
            tracing::info!(counted, "counted error events that the stored mark did not include");
        }
        if unreadable + ungrouped + corrupt_blocks > 0 {
            tracing::error!(
                unreadable,
                ungrouped,
                corrupt_blocks,
                ?example,
                "error events that the stored mark did not include are damaged"
            );
        }
    }
}

impl Ledger {
    pub(super) fn load(&self) -> Result<()> {
        let StoredLedger { mark: stored, closed_at, groups, group_states, doomed, damaged } =
            self.store.read()?;
        for reason in damaged {
            tracing::error!(reason, "a record of error groups is corrupt and was skipped");
        }
        let next_number = self.engine.take_event_number();
        // Without a mark it is unknown which events are counted. Counting too few is better than
        // counting all of them twice.
        let mark = stored.clone().unwrap_or_else(|| Mark::through(next_number.saturating_sub(1)));
        // Numbers of events that never became durable are assigned again. Here they define an
        // order, so they must not be.
        let last_change =
            group_states.iter().map(|(_, group_state)| group_state.changed_at_number).max();
        self.engine
            .skip_event_numbers(mark.greatest().max(last_change.unwrap_or(0)).max(closed_at));
        {
            let mut state = self.state.write();
            let mut group_states: HashMap<_, _> = group_states.into_iter().collect();
            for (id, mut group) in groups {
                group.state = group_states.remove(&id).map(Box::new);
                state.groups.insert(id, group);
            }
            state.groups.set_pending_states(group_states);
            state.doomed = doomed.into_iter().collect();
            state.numbers = EventNumbers::new(&mark);
            state.stored = stored;
        }
        // `take_event_number` above took one.
        if closed_at == 0 || next_number > closed_at.saturating_add(1) {
            self.count_missing(&mark)?.log();
        }
        let count = self.state.write().groups.drop_pending_states();
        if count > 0 {
            tracing::warn!(count, "ignored the states of error groups that cannot be rebuilt");
        }
        Ok(())
    }

    /// Counts the events that the mark does not include.
    pub(super) fn count_missing(&self, mark: &Mark) -> Result<Recount> {
        let filter = error_events(all_time());
        let mut recount = Recount::default();
        let corrupt_blocks =
            self.engine.events_since(&filter, mark.through.saturating_add(1), |event| {
                if !mark.counts(event.id.number()) {
                    self.count_event(&event, &mut recount);
                }
            })?;
        Ok(Recount { corrupt_blocks, ..recount })
    }

    /// Counts an event. Its tags and properties were written by this area; one that cannot be read
    /// is counted if its group is known.
    fn count_event(&self, event: &Event, recount: &mut Recount) {
        let group = tag(event, GROUP_TAG).and_then(GroupId::parse);
        let hash = tag(event, HASH_TAG).and_then(GroupHash::parse);
        let (Some(group), Some(hash)) = (group, hash) else {
            recount.ungrouped += 1;
            recount.example.get_or_insert_with(|| (event.id, "its group is unknown".to_owned()));
            return;
        };
        let (seen, summary) = match read_occurrence(event) {
            Ok((seen, summary)) => (Some(seen), summary),
            Err(why) => {
                recount.unreadable += 1;
                recount.example.get_or_insert((event.id, why));
                (None, GroupSummary::unreadable())
            }
        };
        recount.counted += 1;
        let latest = LatestOccurrence { time: event.time, event: event.id };
        let user = event.user.as_deref();
        let (mut state, mut read) =
            self.lock_with_users(|state| state.unread_users(group, user).into_iter().collect());
        let origin = OccurrenceOrigin { group, hash, sender: Sender::UNKNOWN };
        state.count(&mut read, origin, latest, &summary, user);
        state.numbers.count(event.id.number());
        if let Some(seen) = seen {
            state.seen.finish(seen, true);
        }
    }
}

fn tag<'e>(event: &'e Event, key: &str) -> Option<&'e str> {
    event.tags.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
}

/// Returns the event id and the summary of an occurrence as it was admitted, or why its event
/// cannot be read.
fn read_occurrence(event: &Event) -> std::result::Result<(SeenKey, GroupSummary), String> {
    let properties = event.properties.as_deref().ok_or("it has no properties")?;
    let SummaryProperties { project, event_id, title, message, exceptions } =
        serde_json::from_str(properties).map_err(|error| error.to_string())?;
    let event_id = parse_event_id(&event_id).ok_or("its event id is unreadable")?;
    let level = tag(event, "level").and_then(SentLevel::parse).ok_or("its level is unreadable")?;
    let message =
        exceptions.into_iter().next_back().and_then(|raised| raised.value).unwrap_or(message);
    let message = beyond_title(&message, &title);
    Ok((SeenKey::new(project, event_id), GroupSummary { title, message, level: level.level() }))
}
