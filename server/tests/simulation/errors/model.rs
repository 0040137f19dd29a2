//! What must be known of errors, the slow way: all occurrences that were told, and what people did to groups.

use std::collections::BTreeSet;

/// What became of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Stored,
    /// Nobody knows before the next start.
    Unknown,
    NotStored,
}

#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    pub(crate) id: u64,
    pub(crate) kind: u8,
    pub(crate) user: u8,
    pub(crate) by_sdk: bool,
    /// When it happened, and when it was received.
    pub(crate) time: i64,
    pub(crate) received: i64,
    /// Which of all that happened in the history it is.
    pub(crate) number: u64,
    /// The group that it was stored in.
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

/// What people did to a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupState {
    set: Status,
    /// Which of all that happened was the last move.
    moved: u64,
    ignored_until: Option<i64>,
    assignee: Option<String>,
}

/// A group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) id: String,
    /// Its own id and those of groups that became a part of it.
    pub(crate) ids: BTreeSet<String>,
    pub(crate) kinds: BTreeSet<u8>,
    pub(crate) course: GroupState,
}

/// A move of a group.
#[derive(Clone, Debug)]
pub(crate) enum Move {
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
    pub(crate) doomed: BTreeSet<String>,
}

/// A group as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shown {
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
    /// What there is instead if the change that failed reached the disk.
    pub(crate) instead: Option<Book>,
    /// Deleted groups whose events are gone.
    pub(crate) cleared: BTreeSet<String>,
    /// Events of before this time may have expired.
    expired: i64,
    /// Things that happened.
    happened: u64,
}

impl GroupState {
    fn status(&self, now: i64) -> Status {
        match (self.set, self.ignored_until) {
            (Status::Ignored, Some(until)) if until <= now => Status::Unresolved,
            (set, _) => set,
        }
    }

    /// Carries out a move. One to where the group is already changes nothing, but for how long it is ignored.
    fn carry_out(&mut self, order: &Move, now: i64, number: u64) {
        let status = self.status(now);
        let assignee = self.assignee.take();
        let moved = Self { moved: number, ..Self::default() };
        match order {
            Move::Resolve if status != Status::Resolved => {
                *self = Self { set: Status::Resolved, ..moved };
            }
            Move::Ignore(ms) if status != Status::Ignored => {
                let ignored_until = ms.map(|ms| now + ms);
                *self = Self { set: Status::Ignored, ignored_until, ..moved };
            }
            Move::Ignore(ms) => {
                self.moved = number;
                self.ignored_until = ms.map(|ms| now + ms);
            }
            Move::Unresolve if self.set != Status::Unresolved => *self = moved,
            Move::Assign(user) => {
                self.assignee = Some(user.clone());
                return;
            }
            _ => {}
        }
        self.assignee = assignee;
    }

    /// An occurrence that came after the last move may undo it.
    fn meet(&mut self, occurrence: &Occurrence) {
        let undoes = occurrence.number > self.moved
            && match self.set {
                Status::Unresolved => false,
                // The order of what arrived says what came after, whatever any clock says.
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

    /// The group that counts what was stored under this id.
    fn owner(&mut self, id: &str) -> Option<&mut Group> {
        self.groups.iter_mut().find(|group| group.ids.contains(id))
    }

    /// An occurrence was stored: its group is there, if it was not before.
    fn meet(&mut self, occurrence: &Occurrence) {
        if self.doomed.contains(&occurrence.group) {
            return;
        }
        if self.owner(&occurrence.group).is_none() {
            let id = occurrence.group.clone();
            let (ids, kinds) = ([id.clone()].into(), [occurrence.kind].into());
            self.groups.push(Group { id, ids, kinds, course: GroupState::default() });
        }
        if let Some(group) = self.owner(&occurrence.group) {
            group.course.meet(occurrence);
        }
    }

    fn carry_out(&mut self, id: &str, order: &Move, now: i64, number: u64) {
        if let Some(group) = self.groups.iter_mut().find(|group| group.id == id) {
            group.course.carry_out(order, now, number);
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
        self.doomed.extend(self.groups.remove(at).ids);
    }

    /// How the groups must be shown.
    pub(crate) fn shown(&self, occurrences: &[Occurrence], now: i64) -> Vec<Shown> {
        let shown = |group: &Group| {
            let its = || {
                let stored = occurrences.iter().filter(|one| one.fate == Fate::Stored);
                stored.filter(|one| group.ids.contains(&one.group))
            };
            Shown {
                id: group.id.clone(),
                status: format!("{:?}", group.course.status(now)).to_lowercase(),
                occurrences: its().count() as u64,
                users: its().map(|one| one.user).collect::<BTreeSet<_>>().len() as u64,
                first_seen: its().map(|one| one.time).min().unwrap_or_default(),
                last_seen: its().map(|one| one.time).max().unwrap_or_default(),
                assignee: group.course.assignee.clone(),
            }
        };
        let mut all: Vec<Shown> = self.groups.iter().map(shown).collect();
        all.sort();
        all
    }
}

impl Model {
    /// The number of the next thing that happens.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.happened += 1;
        self.happened
    }

    /// An occurrence is stored in its group.
    pub(crate) fn stored(&mut self, at: usize) {
        let Self { occurrences, book, instead, .. } = self;
        occurrences[at].fate = Fate::Stored;
        book.meet(&occurrences[at]);
        if let Some(instead) = instead {
            instead.meet(&occurrences[at]);
        }
    }

    /// Changes the groups; after a call that failed they may have changed.
    pub(crate) fn change(&mut self, is_done: bool, change: impl Fn(&mut Book)) {
        if is_done {
            change(&mut self.book);
        } else {
            let mut instead = self.book.clone();
            change(&mut instead);
            self.instead = Some(instead);
        }
    }

    pub(crate) fn carry_out(&mut self, is_done: bool, id: &str, order: &Move, now: i64) {
        let number = self.next_number();
        self.change(is_done, |book| book.carry_out(id, order, now, number));
    }

    pub(crate) fn merge(&mut self, is_done: bool, into: &str, from: &str) {
        self.change(is_done, |book| book.merge(into, from));
    }

    pub(crate) fn delete(&mut self, is_done: bool, id: &str) {
        self.change(is_done, |book| book.delete(id));
    }

    /// What happened before this time may be deleted.
    pub(crate) fn expired(&mut self, before: i64) {
        self.expired = self.expired.max(before);
    }

    /// Whether there is an occurrence of which nobody knows whether it is stored.
    pub(crate) fn has_unknown(&self) -> bool {
        self.occurrences.iter().any(|one| one.fate == Fate::Unknown)
    }

    /// Whether the event of an occurrence that was stored may be gone.
    pub(crate) fn may_be_gone(&self, occurrence: &Occurrence) -> bool {
        occurrence.time < self.expired || self.may_be_deleted(&occurrence.group)
    }

    /// Whether the events that were stored under this id of a group may be gone.
    fn may_be_deleted(&self, group: &str) -> bool {
        let dooms = |book: &Book| book.doomed.contains(group);
        self.cleared.contains(group)
            || dooms(&self.book)
            || self.instead.as_ref().is_some_and(dooms)
    }
}
