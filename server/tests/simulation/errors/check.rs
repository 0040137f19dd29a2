//! Compares groups and events with the model, and resolves from the events the outcome of
//! occurrences without a response.

use std::collections::BTreeMap;

use serde_json::Value;
use telltale_engine::{Event, EventFilter, EventListQuery, NameFilter, TimeRange};
use telltale_server::areas::errors::ERROR_EVENT_NAME;
use telltale_simulation::{Driver as _, Outcome, fail};

use super::model::{Fate, GroupView};
use crate::driver::Driver;

/// More than the events of all errors of a history.
const EVENTS_MAX: usize = 10_000;

/// A stored occurrence.
#[derive(Clone, Debug)]
struct Stored {
    group: String,
    user: Option<String>,
    time: i64,
}

impl Driver {
    /// Resolves the outcomes of failed calls after a start.
    pub(crate) fn settle_errors(&mut self) -> Outcome {
        let stored = self.stored()?;
        for at in 0..self.errors.occurrences.len() {
            if self.errors.occurrences[at].fate != Fate::Unknown {
                continue;
            }
            match stored.get(&self.errors.occurrences[at].id) {
                Some(found) => {
                    self.errors.occurrences[at].group.clone_from(&found.group);
                    self.errors.stored(at);
                }
                None => self.errors.occurrences[at].fate = Fate::NotStored,
            }
        }
        let Some(instead) = self.errors.alternative.take() else { return Ok(()) };
        let expected = instead.shown(&self.errors.occurrences, self.now().wall);
        if self.shown()? == expected {
            self.errors.book = instead;
        }
        Ok(())
    }

    pub(crate) fn check_errors(&mut self) -> Outcome {
        let expected = self.errors.book.shown(&self.errors.occurrences, self.now().wall);
        let shown = self.shown()?;
        if shown != expected {
            let only = |these: &[GroupView], those: &[GroupView]| -> Vec<GroupView> {
                these.iter().filter(|one| !those.contains(one)).cloned().collect()
            };
            let details = format!(
                "{:?} instead of {:?}; {:?}",
                only(&shown, &expected),
                only(&expected, &shown),
                self.errors.occurrences
            );
            return fail("groups do not match the model", details);
        }
        if self.has_failed_calls() {
            return Ok(());
        }
        let stored = self.stored()?;
        for occurrence in &self.errors.occurrences {
            let found = stored.get(&occurrence.id);
            let details = || format!("{found:?}; {occurrence:?}");
            match (found, occurrence.fate) {
                (None, Fate::Stored) if !self.errors.may_be_gone(occurrence) => {
                    return fail("an occurrence is lost", details());
                }
                (Some(found), Fate::Stored) => {
                    let is_same = found.group == occurrence.group
                        && found.time == occurrence.time
                        && found.user == Some(format!("u{}", occurrence.user));
                    if !is_same {
                        return fail("an occurrence was stored with other content", details());
                    }
                    if self.errors.cleared.contains(&found.group) {
                        return fail(
                            "an occurrence of a deleted group is present again",
                            details(),
                        );
                    }
                }
                (Some(_), _) => return fail("an unexpected occurrence is stored", details()),
                (None, _) => {}
            }
        }
        Ok(())
    }

    fn shown(&self) -> Outcome<Vec<GroupView>> {
        let (_, list) = self.list_groups()?;
        let mut shown: Vec<GroupView> = list.into_iter().map(|(shown, _)| shown).collect();
        shown.sort();
        Ok(shown)
    }

    /// Returns all stored occurrences by their id in the history.
    fn stored(&self) -> Outcome<BTreeMap<u64, Stored>> {
        let name = NameFilter::Exactly(ERROR_EVENT_NAME.to_owned());
        let range = TimeRange::new(0, i64::MAX);
        let filter = EventFilter { range, name, user: None, tags: Vec::new() };
        let query = EventListQuery { filter, after: None, offset: 0, limit: EVENTS_MAX };
        let page = match self.service().engine().list_events(&query) {
            Ok(page) => page,
            Err(error) => return fail("events could not be listed", error),
        };
        let mut stored = BTreeMap::new();
        for event in &page.events {
            let Some(id) = occurrence_of(event) else {
                return fail("an event belongs to no occurrence", format!("{event:?}"));
            };
            let tag = event.tags.iter().find(|(key, _)| key == "error_id");
            let group = tag.map(|(_, id)| id.clone()).unwrap_or_default();
            let one = Stored { group, user: event.user.clone(), time: event.time.0 };
            if stored.insert(id, one).is_some() {
                return fail("an occurrence is stored twice", id);
            }
        }
        Ok(stored)
    }
}

/// Returns the id of an occurrence in the history, which is a tag of the request.
fn occurrence_of(event: &Event) -> Option<u64> {
    let properties: Value = serde_json::from_str(event.properties.as_deref()?).ok()?;
    properties["tags"]["occurrence"].as_str()?.parse().ok()
}
