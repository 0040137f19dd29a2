//! The model of errors: all reported occurrences, and the changes of groups.

use std::collections::BTreeSet;

/// The outcome of sending an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Stored,
    /// Unknown until the next start.
    Unknown,
    NotStored,
}

#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    pub(crate) id: u64,
    pub(crate) kind: u8,
    pub(crate) user: u8,
    pub(crate) by_sdk: bool,
    /// When it occurred, and when it was received.
    pub(crate) time: i64,
    pub(crate) received: i64,
    /// Its position among all events of the history.
    pub(crate) number: u64,
    /// The group it was stored in.
    pub(crate) group: String,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Status {
    #[default]
    Unresolved,
    Resolved,
    Ignored,
}

/// The state of a group that users can change.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupState {
    set: Status,
    /// The position of the last change among all events of the history.
    moved: u64,
    ignored_until: Option<i64>,
    assignee: Option<String>,
}

/// A group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) id: String,
    /// Its own id and those of groups merged into it.
    pub(crate) ids: BTreeSet<String>,
    pub(crate) kinds: BTreeSet<u8>,
    pub(crate) state: GroupState,
}

/// A change of a group's state.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Resolve,
    Ignore(Option<i64>),
    Unresolve,
    Assign(String),
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    pub(crate) groups: Vec<Group>,
    /// Deleted groups.
    pub(crate) deleted: BTreeSet<String>,
}

/// A group as listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupView {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) occurrences: u64,
    pub(crate) users: u64,
    pub(crate) first_seen: i64,
    pub(crate) last_seen: i64,
    pub(crate) assignee: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) occurrences: Vec<Occurrence>,
    pub(crate) book: Book,
    /// The state if the failed change reached the disk.
    pub(crate) alternative: Option<Book>,
    /// Deleted groups whose events are deleted, too.
    pub(crate) cleared: BTreeSet<String>,
    /// Events before this time may have expired.
    expired: i64,
    /// The number of events of the history.
    events: u64,
}

impl GroupState {
    fn status(&self, now: i64) -> Status {
        match (self.set, self.ignored_until) {
            (Status::Ignored, Some(until)) if until <= now => Status::Unresolved,
            (set, _) => set,
        }
    }

    /// Applies a change. If the group is already in that state, only the end of ignoring may
    /// change.
    fn change_group(&mut self, change: &Change, now: i64, number: u64) {
        let status = self.status(now);
        let assignee = self.assignee.take();
        let moved = Self { moved: number, ..Self::default() };
        match change {
            Change::Resolve if status != Status::Resolved => {
                *self = Self { set: Status::Resolved, ..moved };
            }
            Change::Ignore(ms) if status != Status::Ignored => {
                let ignored_until = ms.map(|ms| now + ms);
                *self = Self { set: Status::Ignored, ignored_until, ..moved };
            }
            Change::Ignore(ms) => {
                self.moved = number;
                self.ignored_until = ms.map(|ms| now + ms);
            }
            Change::Unresolve if self.set != Status::Unresolved => *self = moved,
            Change::Assign(user) => {
                self.assignee = Some(user.clone());
                return;
            }
            _ => {}
        }
        self.assignee = assignee;
    }

    /// Applies an occurrence; one after the last change may undo it.
    fn apply(&mut self, occurrence: &Occurrence) {
        let undoes = occurrence.number > self.moved
            && match self.set {
                Status::Unresolved => false,
                // The order of arrival decides, regardless of clocks.
                Status::Resolved => true,
                Status::Ignored => {
                    self.ignored_until.is_some_and(|until| until <= occurrence.received)
                }
            };
        if undoes {
            let assignee = self.assignee.take();
            *self = Self { moved: self.moved, assignee, ..Self::default() };
        }
    }
}

impl Book {
    pub(crate) fn of_kind(&self, kind: u8) -> Option<&Group> {
        self.groups.iter().find(|group| group.kinds.contains(&kind))
    }

    /// Returns the group that counts what was stored under this id.
    fn owner(&mut self, id: &str) -> Option<&mut Group> {
        self.groups.iter_mut().find(|group| group.ids.contains(id))
    }

    /// Applies a stored occurrence: creates its group if it does not exist.
    fn apply(&mut self, occurrence: &Occurrence) {
        if self.deleted.contains(&occurrence.group) {
            return;
        }
        if self.owner(&occurrence.group).is_none() {
            let id = occurrence.group.clone();
            let (ids, kinds) = ([id.clone()].into(), [occurrence.kind].into());
            self.groups.push(Group { id, ids, kinds, state: GroupState::default() });
        }
        if let Some(group) = self.owner(&occurrence.group) {
            group.state.apply(occurrence);
        }
    }

    fn change_group(&mut self, id: &str, change: &Change, now: i64, number: u64) {
        if let Some(group) = self.groups.iter_mut().find(|group| group.id == id) {
            group.state.change_group(change, now, number);
        }
    }

    fn merge(&mut self, into: &str, from: &str) {
        let Some(at) = self.groups.iter().position(|group| group.id == from) else { return };
        let gone = self.groups.remove(at);
        if let Some(group) = self.groups.iter_mut().find(|group| group.id == into) {
            group.ids.extend(gone.ids);
            group.kinds.extend(gone.kinds);
        }
    }

    fn delete(&mut self, id: &str) {
        let Some(at) = self.groups.iter().position(|group| group.id == id) else { return };
        self.deleted.extend(self.groups.remove(at).ids);
    }

    /// Returns the groups as they must be listed.
    pub(crate) fn shown(&self, occurrences: &[Occurrence], now: i64) -> Vec<GroupView> {
        let shown = |group: &Group| {
            let its = || {
                let stored = occurrences.iter().filter(|one| one.fate == Fate::Stored);
                stored.filter(|one| group.ids.contains(&one.group))
            };
            GroupView {
                id: group.id.clone(),
                status: format!("{:?}", group.state.status(now)).to_lowercase(),
                occurrences: its().count() as u64,
                users: its().map(|one| one.user).collect::<BTreeSet<_>>().len() as u64,
                first_seen: its().map(|one| one.time).min().unwrap_or_default(),
                last_seen: its().map(|one| one.time).max().unwrap_or_default(),
                assignee: group.state.assignee.clone(),
            }
        };
        let mut all: Vec<GroupView> = self.groups.iter().map(shown).collect();
        all.sort();
        all
    }
}

impl Model {
    /// Returns the position of the next event.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    /// Records that an occurrence is stored in its group.
    pub(crate) fn stored(&mut self, at: usize) {
        let Self { occurrences, book, alternative, .. } = self;
        occurrences[at].fate = Fate::Stored;
        book.apply(&occurrences[at]);
        if let Some(alternative) = alternative {
            alternative.apply(&occurrences[at]);
        }
    }

    /// Changes the groups; a failed call may have changed them.
    pub(crate) fn change(&mut self, is_done: bool, change: impl Fn(&mut Book)) {
        if is_done {
            change(&mut self.book);
        } else {
            let mut alternative = self.book.clone();
            change(&mut alternative);
            self.alternative = Some(alternative);
        }
    }

    pub(crate) fn change_group(&mut self, is_done: bool, id: &str, change: &Change, now: i64) {
        let number = self.next_number();
        self.change(is_done, |book| book.change_group(id, change, now, number));
    }

    pub(crate) fn merge(&mut self, is_done: bool, into: &str, from: &str) {
        self.change(is_done, |book| book.merge(into, from));
    }

    pub(crate) fn delete(&mut self, is_done: bool, id: &str) {
        self.change(is_done, |book| book.delete(id));
    }

    /// Records that data before this time may have expired.
    pub(crate) fn expired(&mut self, before: i64) {
        self.expired = self.expired.max(before);
    }

    /// Returns whether the outcome of any occurrence is unknown.
    pub(crate) fn has_unknown(&self) -> bool {
        self.occurrences.iter().any(|one| one.fate == Fate::Unknown)
    }

    /// Returns whether the event of a stored occurrence may be deleted.
    pub(crate) fn may_be_gone(&self, occurrence: &Occurrence) -> bool {
        occurrence.time < self.expired || self.may_be_deleted(&occurrence.group)
    }

    /// Returns whether the events stored under this group id may be deleted.
    fn may_be_deleted(&self, group: &str) -> bool {
        let is_deleted = |book: &Book| book.deleted.contains(group);
        self.cleared.contains(group)
            || is_deleted(&self.book)
            || self.alternative.as_ref().is_some_and(is_deleted)
    }
}
