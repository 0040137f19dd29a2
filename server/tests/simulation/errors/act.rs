//! Executes steps over the routes, and updates the model with the responses.

use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use telltale_engine::TimestampMs;
use telltale_server::limits;
use telltale_server::platform::time;
use telltale_simulation::{Driver as _, Outcome, fail};

use super::model::{Change, Fate, GroupView, Occurrence};
use super::steps::{NewOccurrence, Step, title};
use crate::driver::Driver;
use crate::service::Service;

impl Driver {
    pub(crate) fn act_on_errors(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Report(told) => self.report(told),
            Step::Again(pick) => self.report_again(*pick),
            Step::Resolve(kind) => {
                self.change_group(*kind, "resolve", &json!({}), &Change::Resolve)
            }
            Step::Ignore(kind, ms) => {
                // Durations are whole minutes.
                let minutes = ms.map(|ms| 1 + ms / crate::MINUTE);
                let body = minutes.map_or(json!({}), |m| json!({"duration": format!("{m}m")}));
                let change = Change::Ignore(minutes.map(|minutes| minutes * crate::MINUTE));
                self.change_group(*kind, "ignore", &body, &change)
            }
            Step::Unresolve(kind) => {
                self.change_group(*kind, "unresolve", &json!({}), &Change::Unresolve)
            }
            Step::Assign(kind, user) => {
                let user = format!("user{user}");
                self.change_group(*kind, "assign", &json!({"user_id": user}), &Change::Assign(user))
            }
            Step::Merge(into, from) => self.merge(*into, *from),
            Step::Delete(kind) => self.delete_group(*kind),
            Step::Store => {
                let stored = self.service().errors().store();
                self.tolerate("errors could not be stored", stored).map(|_| ())
            }
            Step::DeleteEvents => self.delete_events(),
            Step::Trim => {
                let trimmed = self.service().errors().trim();
                self.tolerate("errors could not be trimmed", trimmed).map(|_| ())
            }
        }
    }

    /// Returns whether a request succeeded. Fails if it was refused, or failed without a fault.
    fn is_done(&self, kind: &'static str, (status, data): &(u16, Value)) -> Outcome<bool> {
        match status {
            200..300 => Ok(true),
            500.. if self.has_failed_calls() => Ok(false),
            _ => fail(kind, format!("{status} {data}")),
        }
    }

    fn report(&mut self, told: &[NewOccurrence]) -> Outcome {
        let now = self.now().wall;
        let new = told.iter().map(|told| Occurrence {
            id: told.id,
            kind: told.kind,
            user: told.user,
            by_sdk: told.by_sdk,
            time: now - told.age,
            received: now,
            number: 0,
            group: String::new(),
            fate: Fate::NotStored,
        });
        let first = self.errors.occurrences.len();
        self.errors.occurrences.extend(new);
        self.send(first..first + told.len())
    }

    /// Sends an occurrence again, sometimes twice at once.
    fn report_again(&mut self, pick: u64) -> Outcome {
        let now = self.now().wall;
        // A new one too far from the current time would get another time.
        let reach = now - limits::ERROR_AGE_MS_MAX..=now + limits::ERROR_AHEAD_MS_MAX;
        let may_be_sent = |one: &Occurrence| one.fate == Fate::Stored || reach.contains(&one.time);
        let all = self.errors.occurrences.iter().enumerate();
        let told = all.filter(|(_, one)| one.by_sdk && may_be_sent(one));
        // Those without a response are sent again with priority.
        let (unknown, other): (Vec<_>, Vec<_>) =
            told.partition(|(_, one)| one.fate == Fate::Unknown);
        let from = if unknown.is_empty() { other } else { unknown };
        let Some(choice) = pick.checked_rem(from.len() as u64) else { return Ok(()) };
        let at = from[choice as usize].0;
        self.send(if pick.is_multiple_of(3) { vec![at, at] } else { vec![at] })
    }

    /// Sends occurrences at the same time, and records the responses.
    fn send(&mut self, which: impl IntoIterator<Item = usize>) -> Outcome {
        let which: Vec<usize> = which.into_iter().collect();
        let (now, number) = (self.now().wall, self.errors.next_number());
        for at in &which {
            let occurrence = &mut self.errors.occurrences[*at];
            if occurrence.fate != Fate::Stored {
                (occurrence.received, occurrence.number) = (now, number);
            }
        }
        let sent = which.iter().map(|at| report(self.service(), &self.errors.occurrences[*at]));
        let answers = self.runtime.block_on(join_all(sent));
        let mut stored = Vec::new();
        for (at, answer) in which.into_iter().zip(&answers) {
            if self.is_done("an error could not be reported", answer)? {
                stored.push((at, answer.1["id"].as_str().unwrap_or_default().to_owned()));
            } else if self.errors.occurrences[at].fate == Fate::NotStored {
                self.errors.occurrences[at].fate = Fate::Unknown;
            }
        }
        for (at, answered) in stored {
            self.was_stored(at, &answered)?;
        }
        Ok(())
    }

    fn was_stored(&mut self, at: usize, answered: &str) -> Outcome {
        let occurrence = &self.errors.occurrences[at];
        if occurrence.fate == Fate::Stored {
            return Ok(());
        }
        let group = match self.errors.book.of_kind(occurrence.kind) {
            Some(group) => group.id.clone(),
            None => self.new_group(occurrence.kind)?,
        };
        if !occurrence.by_sdk && answered != group {
            return fail("an occurrence was added to another group", format!("{answered} {group}"));
        }
        self.errors.occurrences[at].group = group;
        self.errors.stored(at);
        Ok(())
    }

    /// Returns the id of the new group of a kind.
    fn new_group(&self, kind: u8) -> Outcome<String> {
        let known = |id: &str| self.errors.book.groups.iter().any(|group| group.id == id);
        let (_, list) = self.list_groups()?;
        let new = list.into_iter().find(|(shown, name)| *name == title(kind) && !known(&shown.id));
        match new {
            Some((shown, _)) => Ok(shown.id),
            None => fail("a stored occurrence has no group", title(kind)),
        }
    }

    /// Returns the number of groups, and all groups with their titles.
    pub(super) fn list_groups(&self) -> Outcome<(usize, Vec<(GroupView, String)>)> {
        let path = "/api/v1/errors?limit=1000";
        let (status, data) = self.runtime.block_on(self.service().call(Method::GET, path, ""));
        let Some(items) = data.as_array().filter(|_| status == 200) else {
            return fail("groups could not be listed", format!("{status} {data}"));
        };
        let shown = items.iter().map(|item| {
            let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
            let time = |key: &str| time::parse(&text(key)).unwrap_or_default().0;
            let shown = GroupView {
                id: text("id"),
                status: text("status"),
                occurrences: item["occurrences"].as_u64().unwrap_or_default(),
                users: item["users_affected"].as_u64().unwrap_or_default(),
                first_seen: time("first_seen"),
                last_seen: time("last_seen"),
                assignee: item["assignee"].as_str().map(str::to_owned),
            };
            (shown, text("title"))
        });
        Ok((items.len(), shown.collect()))
    }

    /// Returns the group to change; `None` while the outcome of the last change is unknown.
    fn to_change(&self, kind: u8) -> Option<String> {
        let group = self.errors.book.of_kind(kind)?;
        self.errors.alternative.is_none().then(|| group.id.clone())
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.runtime.block_on(self.service().call(Method::POST, path, &body.to_string()))
    }

    fn change_group(&mut self, kind: u8, verb: &str, body: &Value, change: &Change) -> Outcome {
        let Some(id) = self.to_change(kind) else { return Ok(()) };
        let answer = self.post(&format!("/api/v1/errors/{id}/{verb}"), body);
        let is_done = self.is_done("a group could not be changed", &answer)?;
        let now = self.now().wall;
        self.errors.change_group(is_done, &id, change, now);
        Ok(())
    }

    fn merge(&mut self, into: u8, from: u8) -> Outcome {
        let (Some(into), Some(from)) = (self.to_change(into), self.to_change(from)) else {
            return Ok(());
        };
        if into == from {
            return Ok(());
        }
        let answer = self.post(&format!("/api/v1/errors/{into}/merge"), &json!({"ids": [from]}));
        let is_done = self.is_done("groups could not be merged", &answer)?;
        self.errors.merge(is_done, &into, &from);
        Ok(())
    }

    fn delete_group(&mut self, kind: u8) -> Outcome {
        let Some(id) = self.to_change(kind) else { return Ok(()) };
        let path = format!("/api/v1/errors/{id}");
        let answer = self.runtime.block_on(self.service().call(Method::DELETE, &path, ""));
        let is_done = self.is_done("a group could not be deleted", &answer)?;
        self.errors.delete(is_done, &id);
        Ok(())
    }

    fn delete_events(&mut self) -> Outcome {
        let deleted = self.service().errors().delete_events();
        if self.tolerate("events of errors could not be deleted", deleted)?.is_some() {
            let doomed = self.errors.book.deleted.clone();
            self.errors.cleared.extend(doomed);
        }
        Ok(())
    }
}

/// Sends an occurrence.
async fn report(service: &Service, occurrence: &Occurrence) -> (u16, Value) {
    let Occurrence { id, kind, user, time, .. } = occurrence;
    let (kind, time) = (title(*kind), time::format(TimestampMs(*time)));
    let (user, tags) = (json!({"id": format!("u{user}")}), json!({"occurrence": id.to_string()}));
    if !occurrence.by_sdk {
        let body =
            json!({"exception": {"type": kind}, "timestamp": time, "user": user, "tags": tags});
        return service.call(Method::POST, "/api/v1/errors", &body.to_string()).await;
    }
    let header = json!({"event_id": format!("{id:032x}")});
    let event = json!({"exception": {"values": [{"type": kind}]}, "timestamp": time, "user": user, "tags": tags});
    let body = format!("{header}\n{{\"type\":\"event\"}}\n{event}\n");
    service.call(Method::POST, "/api/1/envelope/", &body).await
}
