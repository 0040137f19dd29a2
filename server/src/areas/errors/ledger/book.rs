//! The ledger: its parts, its lock order, and the queries on it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use telltale_engine::{
    Clock, Engine, EventFilter, NameFilter, Result, TagCondition, TagFilter, TimeRange,
};

use super::super::activity::ActivityStore;
use super::super::model::GroupId;
use super::super::scrub::Scrubber;
use super::super::settings::ErrorSettings;
use super::super::store::LedgerStore;
use super::budget::Budgets;
use super::deferred::DeferredOccurrences;
use super::group::GroupView;
use super::groups::{GroupFilter, Groups, SeenWithin, SortBy};
use super::numbers::{EventNumbers, Mark};
use super::seen::SeenIds;
use super::users::UserSets;
use crate::limits::ERROR_GROUP_BYTES;
use crate::platform::ids::Ids;

/// The name of events that are occurrences of errors.
pub const EVENT_NAME: &str = "telltale.error";
/// The tag with the id of the group that an event was counted in.
pub(in crate::areas::errors) const GROUP_TAG: &str = "error_id";
/// The prefix of an occurrence's tag keys in the tags of its event.
pub(in crate::areas::errors) const OWN_TAG_PREFIX: &str = "tag.";
/// The tag with the hash of that group.
pub(in crate::areas::errors) const HASH_TAG: &str = "hash";

/// All error groups.
#[derive(Debug)]
pub struct Ledger {
    pub(super) engine: Engine,
    pub(super) clock: Clock,
    pub(super) ids: Arc<Ids>,
    pub(super) store: LedgerStore,
    pub(super) activity: ActivityStore,
    pub(super) state: RwLock<LedgerState>,
    /// Serialises writers to disk; taken before `state`.
    pub(super) write_lock: Mutex<()>,
    pub(super) groups_max: usize,
    /// How long events are kept.
    pub(super) retention: Duration,
    scrubber: Scrubber,
}

#[derive(Debug)]
pub(super) struct LedgerState {
    pub(super) groups: Groups,
    pub(super) numbers: EventNumbers,
    /// The mark on disk; `None` if it cannot be read.
    pub(super) stored: Option<Mark>,
    pub(super) seen: SeenIds,
    pub(super) users: UserSets,
    /// Deleted groups, and those merged into them, whose events are not deleted yet.
    pub(super) doomed: HashSet<GroupId>,
    pub(super) deferred: DeferredOccurrences,
    pub(super) budgets: Budgets,
    /// Occurrences that went to an overflow group because the table was full, since the last
    /// eviction.
    pub(super) overflowed: usize,
}

/// Limits of the ledger that follow from settings of other sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerLimits {
    /// Bytes of user sets kept in memory; others are read from disk.
    pub users_bytes_max: usize,
    /// How long events are kept.
    pub retention: Duration,
}

impl LedgerState {
    fn new(settings: &ErrorSettings, limits: LedgerLimits) -> Self {
        Self {
            groups: Groups::new(settings.groups_max()),
            numbers: EventNumbers::default(),
            stored: None,
            seen: SeenIds::default(),
            users: UserSets::new(limits.users_bytes_max),
            doomed: HashSet::new(),
            deferred: DeferredOccurrences::default(),
            budgets: Budgets::new(settings.new_groups_per_hour),
            overflowed: 0,
        }
    }
}

impl Ledger {
    /// Returns how often a group was reopened by an occurrence since the start.
    pub(in crate::areas::errors) fn regressions(&self) -> u64 {
        self.state.read().groups.regressions()
    }

    /// Opens the ledger from disk and from the events. Blocks; after a crash for as long as it
    /// takes to read the events that are not counted yet.
    pub fn open(
        engine: Engine,
        clock: Clock,
        ids: Arc<Ids>,
        settings: &ErrorSettings,
        limits: LedgerLimits,
    ) -> Result<Self> {
        let ledger = Self {
            store: LedgerStore::new(engine.clone()),
            activity: ActivityStore::new(engine.clone()),
            engine,
            clock,
            ids,
            state: RwLock::new(LedgerState::new(settings, limits)),
            write_lock: Mutex::new(()),
            groups_max: settings.groups_max(),
            retention: limits.retention,
            scrubber: Scrubber::new(&settings.scrub_keys),
        };
        ledger.load()?;
        Ok(ledger)
    }

    /// Returns the scrubber of what must not be stored.
    pub(in crate::areas::errors) fn scrubber(&self) -> &Scrubber {
        &self.scrubber
    }

    /// Returns a group, or the one that it was merged into.
    pub(in crate::areas::errors) fn get(&self, id: GroupId) -> Option<GroupView> {
        let now = self.clock.now();
        let state = self.state.read();
        let id = state.groups.owner(id);
        state.groups.get(id).map(|group| group.view(id, now))
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.state.read().groups.len()
    }

    /// Returns the approximate memory, in bytes, of groups, user sets and deferred occurrences.
    pub fn memory_bytes(&self) -> u64 {
        let state = self.state.read();
        let LedgerState { groups, users, deferred, .. } = &*state;
        let of_groups = groups.long_bytes() + groups.state_bytes();
        let more = of_groups + users.bytes() + deferred.bytes();
        groups.len() as u64 * ERROR_GROUP_BYTES + more as u64
    }

    /// Returns a page of the groups that match, and the total number that match.
    pub(in crate::areas::errors) fn list(
        &self,
        filter: &GroupFilter,
        sort: SortBy,
        (offset, limit): (usize, usize),
    ) -> (Vec<GroupView>, usize) {
        let now = self.clock.now();
        self.state.read().groups.list(filter, sort, (offset, limit), now)
    }

    /// Returns the matching groups that may have an occurrence in the range. `by_time` means that
    /// occurrences are filtered by time only.
    pub(in crate::areas::errors) fn seen_within(
        &self,
        filter: &GroupFilter,
        range: TimeRange,
        by_time: bool,
    ) -> SeenWithin {
        self.state.read().groups.seen_within(filter, range, by_time, self.clock.now())
    }

    /// Returns everybody that a group is assigned to.
    pub(in crate::areas::errors) fn assignees(&self) -> BTreeSet<String> {
        let state = self.state.read();
        let states = state.groups.iter().filter_map(|(_, group)| group.state.as_ref());
        states.filter_map(|group_state| group_state.assignee.clone()).collect()
    }

    /// Returns the ids of all groups that match.
    pub(in crate::areas::errors) fn matching(&self, filter: &GroupFilter) -> Vec<GroupId> {
        self.state.read().groups.matching(filter, self.clock.now())
    }
}

/// Returns a filter of the events that were counted in any of these groups.
pub(in crate::areas::errors) fn events_of(groups: Vec<String>, range: TimeRange) -> EventFilter {
    let condition = TagCondition::AnyOf(groups.into());
    EventFilter {
        tags: vec![TagFilter { key: GROUP_TAG.to_owned(), condition }],
        ..error_events(range)
    }
}

/// Returns a filter of the events of all errors.
pub(super) fn error_events(range: TimeRange) -> EventFilter {
    let name = NameFilter::Exactly(EVENT_NAME.to_owned());
    EventFilter { range, name, user: None, tags: Vec::new() }
}

/// Returns the range of all times.
pub(in crate::areas::errors) fn all_time() -> TimeRange {
    TimeRange::new(0, i64::MAX)
}
