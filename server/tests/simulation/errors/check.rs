//! Compares groups and events with what must be known, and learns from the events what became of occurrences that got no answer.

use std::collections::BTreeMap;

use serde_json::Value;
use telltale_engine::{Event, EventFilter, EventListQuery, NameFilter, TimeRange};
use telltale_server::areas::errors::ERROR_EVENT_NAME;
use telltale_simulation::{Driver as _, Outcome, fail};

use super::model::{Fate, Shown};
use crate::driver::Driver;

/// Events of all errors of a history are fewer.
const EVENTS_MAX: usize = 10_000;

/// An occurrence as it is stored.
#[derive(Clone, Debug)]
struct Stored {
    group: String,
    user: Option<String>,
    time: i64,
}

impl Driver {
    /// What became of calls that failed, after a start.
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
        let Some(instead) = self.errors.instead.take() else { return Ok(()) };
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
            let only = |these: &[Shown], those: &[Shown]| -> Vec<Shown> {
                these.iter().filter(|one| !those.contains(one)).cloned().collect()
            };
            let details = format!(
                "{:?} instead of {:?}; {:?}",
                only(&shown, &expected),
                only(&expected, &shown),
                self.errors.occurrences
            );
            return fail("groups are not what was told and done", details);
        }
        if self.is_troubled() {
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
                        return fail("an occurrence is not what was told", details());
                    }
                    if self.errors.cleared.contains(&found.group) {
                        return fail("an occurrence of a deleted group is back", details());
                    }
                }
                (Some(_), _) => return fail("an occurrence is there that was not", details()),
                (None, _) => {}
            }
        }
        Ok(())
    }

    fn shown(&self) -> Outcome<Vec<Shown>> {
        let (_, list) = self.list_groups()?;
        let mut shown: Vec<Shown> = list.into_iter().map(|(shown, _)| shown).collect();
        shown.sort();
        Ok(shown)
    }

    /// All occurrences that are events, by the names that the history gives them.
    fn stored(&self) -> Outcome<BTreeMap<u64, Stored>> {
        let name = NameFilter::Exactly(ERROR_EVENT_NAME.to_owned());
        let range = TimeRange::new(0, i64::MAX);
        let filter = EventFilter { range, name, user: None, tags: Vec::new() };
        let query = EventListQuery { filter, after: None, offset: 0, limit: EVENTS_MAX };
        let page = match self.house().engine().list_events(&query) {
            Ok(page) => page,
            Err(error) => return fail("events cannot be listed", error),
        };
        let mut stored = BTreeMap::new();
        for event in &page.events {
            let Some(id) = occurrence_of(event) else {
                return fail("an event is of no occurrence", format!("{event:?}"));
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

/// The name of an occurrence, which stands in a tag of what was sent.
fn occurrence_of(event: &Event) -> Option<u64> {
    let properties: Value = serde_json::from_str(event.properties.as_deref()?).ok()?;
    properties["tags"]["occurrence"].as_str()?.parse().ok()
}
