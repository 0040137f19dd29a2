//! The ledger itself: what it is made of, and what is asked of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use telltale_engine::{
    Clock, Engine, EventFilter, NameFilter, Result, TagCondition, TagFilter, TimeRange,
};

use super::super::model::GroupId;
use super::super::scrub::Scrubber;
use super::super::store::LedgerStore;
use super::budget::Budgets;
use super::deferred::DeferredOccurrences;
use super::group::GroupView;
use super::groups::{GroupFilter, Groups, SeenWithin, SortBy};
use super::numbers::{Mark, Numbers};
use super::seen::Seen;
use super::users::Users;
use crate::http::ErrorSettings;
use crate::limits::ERROR_GROUP_BYTES;
use crate::platform::ids::Ids;

/// The name of events that are occurrences of errors.
pub const EVENT_NAME: &str = "telltale.error";
/// The tag that holds the id of the group that an event was counted in.
pub(in crate::areas::errors) const GROUP_TAG: &str = "error_id";
/// What the tags of an occurrence have before their keys as tags of its event.
pub(in crate::areas::errors) const OWN_TAG_PREFIX: &str = "tag.";
/// The tag that holds the hash of that group.
pub(in crate::areas::errors) const HASH_TAG: &str = "hash";

/// Everything that is known of groups of errors.
#[derive(Debug)]
pub struct Ledger {
    pub(super) engine: Engine,
    pub(super) clock: Clock,
    pub(super) ids: Arc<Ids>,
    pub(super) store: LedgerStore,
    pub(super) state: RwLock<State>,
    /// Held by who writes to disk, and taken before the state.
    pub(super) writing: Mutex<()>,
    pub(super) groups_max: usize,
    /// How long events are kept.
    pub(super) retention: Duration,
    scrubber: Scrubber,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) groups: Groups,
    pub(super) numbers: Numbers,
    /// The mark that the disk has; `None` where it cannot be read.
    pub(super) stored: Option<Mark>,
    pub(super) seen: Seen,
    pub(super) users: Users,
    /// Deleted groups, and those merged into them, whose events may still be there.
    pub(super) doomed: HashSet<GroupId>,
    pub(super) deferred: DeferredOccurrences,
    pub(super) budgets: Budgets,
    /// How many occurrences found no place for a group of theirs since room was made.
    pub(super) unplaced: usize,
}

impl State {
    fn new(settings: &ErrorSettings) -> Self {
        Self {
            groups: Groups::new(settings.groups_max),
            numbers: Numbers::default(),
            stored: None,
            seen: Seen::default(),
            users: Users::new(settings.users_bytes_max),
            doomed: HashSet::new(),
            deferred: DeferredOccurrences::default(),
            budgets: Budgets::new(settings.new_groups_per_hour),
            unplaced: 0,
        }
    }
}

impl Ledger {
    /// The ledger of what the disk and the events tell. Blocks, after a crash for as long as reading the events takes that
    /// are not counted yet.
    pub fn open(
        engine: Engine,
        clock: Clock,
        ids: Arc<Ids>,
        settings: &ErrorSettings,
    ) -> Result<Self> {
        let ledger = Self {
            store: LedgerStore::new(engine.clone()),
            engine,
            clock,
            ids,
            state: RwLock::new(State::new(settings)),
            writing: Mutex::new(()),
            groups_max: settings.groups_max,
            retention: settings.retention,
            scrubber: Scrubber::new(&settings.scrub_keys),
        };
        ledger.load()?;
        Ok(ledger)
    }

    /// What removes that which must not be stored.
    pub(in crate::areas::errors) fn scrubber(&self) -> &Scrubber {
        &self.scrubber
    }

    /// A group, or the one that it was merged into.
    pub(in crate::areas::errors) fn get(&self, id: GroupId) -> Option<GroupView> {
        let now = self.clock.now();
        let state = self.state.read();
        let id = state.groups.owner(id);
        state.groups.get(id).map(|group| group.view(id, now))
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.state.read().groups.len()
    }

    /// Bytes of memory that groups, the sets of their users and occurrences that wait for a change of their groups take, about.
    pub fn memory_bytes(&self) -> u64 {
        let state = self.state.read();
        let State { groups, users, deferred, .. } = &*state;
        let of_groups = groups.long_bytes() + groups.state_bytes();
        let more = of_groups + users.bytes() + deferred.bytes();
        groups.len() as u64 * ERROR_GROUP_BYTES + more as u64
    }

    /// A page of the groups that match, and how many match in all.
    pub(in crate::areas::errors) fn list(
        &self,
        filter: &GroupFilter,
        sort: SortBy,
        (offset, limit): (usize, usize),
    ) -> (Vec<GroupView>, usize) {
        let now = self.clock.now();
        self.state.read().groups.list(filter, sort, (offset, limit), now)
    }

    /// Of the groups that match, those that may have an occurrence in the range; `by_time` where nothing else is asked of it.
    pub(in crate::areas::errors) fn seen_within(
        &self,
        filter: &GroupFilter,
        range: TimeRange,
        by_time: bool,
    ) -> SeenWithin {
        self.state.read().groups.seen_within(filter, range, by_time, self.clock.now())
    }

    /// The ids of all groups that match.
    pub(in crate::areas::errors) fn matching(&self, filter: &GroupFilter) -> Vec<GroupId> {
        self.state.read().groups.matching(filter, self.clock.now())
    }
}

/// The events that were counted in any of these groups.
pub(in crate::areas::errors) fn events_of(groups: Vec<String>, range: TimeRange) -> EventFilter {
    let condition = TagCondition::AnyOf(groups.into());
    EventFilter { tags: vec![TagFilter { key: GROUP_TAG.to_owned(), condition }], ..named(range) }
}

/// The events of all errors.
pub(super) fn named(range: TimeRange) -> EventFilter {
    let name = NameFilter::Exactly(EVENT_NAME.to_owned());
    EventFilter { range, name, user: None, tags: Vec::new() }
}

/// All time.
pub(in crate::areas::errors) fn all_time() -> TimeRange {
    TimeRange::new(0, i64::MAX)
}
