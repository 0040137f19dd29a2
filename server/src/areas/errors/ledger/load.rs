//! Loads the ledger at a start: the records on disk, then the events that they do not include.

use std::collections::HashMap;

use serde::Deserialize;
use telltale_engine::{Event, Result};

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
#[derive(Debug, Default, Deserialize)]
struct SummaryProperties {
    #[serde(default)]
    project: u64,
    #[serde(default)]
    event_id: String,
    #[serde(default)]
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
        let has_more = closed_at == 0 || next_number > closed_at.saturating_add(1);
        if has_more { self.count_missing(&mark) } else { Ok(()) }
    }

    /// Counts the events that the mark does not include.
    fn count_missing(&self, mark: &Mark) -> Result<()> {
        let filter = error_events(all_time());
        let mut counted = 0_u64;
        let left_out =
            self.engine.events_since(&filter, mark.through.saturating_add(1), |event| {
                if !mark.counts(event.id.number()) && self.count_event(&event) {
                    counted += 1;
                }
            })?;
        if counted > 0 || left_out > 0 {
            tracing::info!(
                counted,
                left_out,
                "counted error events that the stored mark did not include"
            );
        }
        Ok(())
    }

    /// Counts an event. Returns whether its tags identify its group, as those of all events written
    /// by this area do.
    fn count_event(&self, event: &Event) -> bool {
        let tag = |key: &str| event.tags.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        let group = tag(GROUP_TAG).and_then(GroupId::parse);
        let hash = tag(HASH_TAG).and_then(GroupHash::parse);
        let (Some(group), Some(hash)) = (group, hash) else { return false };
        let properties =
            event.properties.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let SummaryProperties { project, event_id, title, message, exceptions } =
            properties.unwrap_or_default();
        let message =
            exceptions.into_iter().next_back().and_then(|raised| raised.value).unwrap_or(message);
        let level = tag("level").and_then(SentLevel::parse).unwrap_or_default().level();
        let summary = GroupSummary { message: beyond_title(&message, &title), title, level };
        let latest = LatestOccurrence { time: event.time, event: event.id };
        let user = event.user.as_deref();
        let (mut state, mut read) =
            self.lock_with_users(|state| state.unread_users(group, user).into_iter().collect());
        let origin = OccurrenceOrigin { group, hash, sender: Sender::UNKNOWN };
        state.count(&mut read, origin, latest, &summary, user);
        state.numbers.count(event.id.number());
        if let Some(event_id) = parse_event_id(&event_id) {
            state.seen.finish(SeenKey::new(project, event_id), true);
        }
        true
    }
}
