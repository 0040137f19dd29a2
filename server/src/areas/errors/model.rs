//! The domain types of the area: ids and hashes of error groups, levels, states and state changes.

use telltale_engine::{EventId, TimestampMs};

use crate::platform::ids;

/// Prefix of group ids.
pub(super) const ID_PREFIX: &str = "err_";
/// Prefix of occurrence ids; an occurrence is an event.
pub(super) const EVENT_ID_PREFIX: &str = "evt_";

/// The id of a group, a ULID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GroupId(pub(super) u128);

impl GroupId {
    /// Returns the time at which the id was created.
    pub(super) fn created_at(self) -> TimestampMs {
        // The upper 48 bits of a ULID are its time.
        TimestampMs(i64::try_from(self.0 >> 80).unwrap_or(0))
    }

    /// Returns the id in the form of the API.
    pub(super) fn format(self) -> String {
        ids::prefixed(ID_PREFIX, self.0)
    }

    /// Parses the form that [`Self::format`] returns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.strip_prefix(ID_PREFIX).and_then(ids::parse_ulid).map(Self)
    }
}

/// The id of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OccurrenceId(pub(super) EventId);

impl OccurrenceId {
    /// Returns the id in the form of the API.
    pub(super) fn format(self) -> String {
        ids::prefixed(EVENT_ID_PREFIX, self.0.0)
    }

    /// Parses the form that [`Self::format`] returns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let id = text.strip_prefix(EVENT_ID_PREFIX).and_then(ids::parse_ulid)?;
        Some(Self(EventId(id)))
    }
}

/// A grouping hash: occurrences with equal hashes belong to the same group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupHash(pub u128);

/// The hashes of an occurrence by the current grouping rules and by the previous version, which
/// finds groups that were created before the current rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupHashes {
    pub(super) current: GroupHash,
    pub(super) earlier: GroupHash,
}

/// The key that an occurrence was sent with, as a hash of the key's id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Sender(pub(super) u64);

impl Sender {
    /// The sender of a group whose key was not recorded.
    pub(super) const UNKNOWN: Self = Self(0);

    /// Returns the sender with this key.
    pub(super) fn of(key_id: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64(key_id.as_bytes()).max(1))
    }
}

impl GroupHash {
    /// Returns the hash of the overflow group of a sender. An ordinary hash begins with the same 64
    /// bits with a probability of 2⁻⁶⁴.
    pub(super) fn overflow_of(sender: Sender) -> Self {
        Self(u128::from(u64::MAX) << 64 | u128::from(sender.0))
    }

    /// Returns whether this is the hash of an overflow group.
    pub(super) fn is_overflow(self) -> bool {
        self.0 >> 64 == u128::from(u64::MAX)
    }

    /// Returns the hash as in the event's tag: 32 hexadecimal digits.
    pub fn format(self) -> String {
        format!("{:032x}", self.0)
    }

    /// Parses the form that [`Self::format`] returns.
    pub fn parse(text: &str) -> Option<Self> {
        u128::from_str_radix(text, 16).ok().map(Self)
    }
}

/// The severity of an error. The SDK levels debug, info and log count as warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Level {
    /// A condition that deserves attention.
    Warning,
    /// An operation failed.
    Error,
    /// The program terminated.
    Fatal,
}

impl Level {
    /// All levels, in the order of their stored numbers.
    pub(super) const ALL: [Self; 3] = [Self::Warning, Self::Error, Self::Fatal];

    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }

    /// Returns the level with this name, or `None` if there is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// The level that an occurrence was sent with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SentLevel {
    /// `debug`
    Debug,
    /// `info`
    Info,
    /// `warning`
    Warning,
    /// `error`; also the level where none or an unknown one was sent.
    #[default]
    Error,
    /// `fatal`
    Fatal,
}

impl SentLevel {
    /// Parses a level in the spelling of any SDK, in any case.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_lowercase().as_str() {
            "debug" | "trace" => Self::Debug,
            "info" | "log" | "sample" | "notice" => Self::Info,
            "warning" | "warn" => Self::Warning,
            "error" => Self::Error,
            "fatal" | "critical" => Self::Fatal,
            _ => return None,
        })
    }

    /// Returns the name as stored in the event's tag.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }

    /// Returns the level that it counts as.
    pub(super) fn level(self) -> Level {
        match self {
            Self::Debug | Self::Info | Self::Warning => Level::Warning,
            Self::Error => Level::Error,
            Self::Fatal => Level::Fatal,
        }
    }
}

/// The status of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum GroupStatus {
    /// Needs attention.
    #[default]
    Unresolved,
    /// Resolved, until the error occurs again.
    Resolved,
    /// Ignored, for a limited time or indefinitely.
    Ignored,
}

impl GroupStatus {
    /// All statuses, in the order of their stored numbers.
    pub(super) const ALL: [Self; 3] = [Self::Unresolved, Self::Resolved, Self::Ignored];

    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::Resolved => "resolved",
            Self::Ignored => "ignored",
        }
    }

    /// Returns the status with this name, or `None` if there is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// What people and regressions changed about a group. The default is the state of a new group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupState {
    /// The status as of the last change; an ignore that has expired since is still
    /// [`GroupStatus::Ignored`] here. See [`Self::status`].
    pub(super) stored_status: GroupStatus,
    /// The event number taken by the last state change, 0 if there was none. Events with smaller
    /// numbers arrived before it and do not reopen the group.
    pub(super) changed_at_number: u64,
    pub(super) resolved_at: Option<TimestampMs>,
    pub(super) note: Option<String>,
    pub(super) ignored_at: Option<TimestampMs>,
    /// `None` while ignored means ignored indefinitely.
    pub(super) ignored_until: Option<TimestampMs>,
    pub(super) reason: Option<String>,
    pub(super) regressed_at: Option<TimestampMs>,
    pub(super) assignee: Option<String>,
    /// Groups that were merged into this one: their events count as its own.
    pub(super) members: Vec<GroupId>,
}

/// A change to the state of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StateChange {
    Resolve {
        note: Option<String>,
    },
    /// Ignores the group for `duration_ms` milliseconds, or indefinitely if it is `None`.
    Ignore {
        duration_ms: Option<i64>,
        reason: Option<String>,
    },
    Unresolve,
    Assign {
        user: Option<String>,
    },
}

impl GroupState {
    /// Returns the status at `now`, at which an ignore may have expired.
    pub(super) fn status(&self, now: TimestampMs) -> GroupStatus {
        match (self.stored_status, self.ignored_until) {
            (GroupStatus::Ignored, Some(until)) if until <= now => GroupStatus::Unresolved,
            (stored_status, _) => stored_status,
        }
    }

    /// Applies a state change. A change to the current status has no effect, except for an ignore,
    /// which replaces duration and reason.
    pub(super) fn apply_change(
        &mut self,
        change: &StateChange,
        now: TimestampMs,
        next_number: u64,
    ) {
        let status = self.status(now);
        match change {
            StateChange::Resolve { note } if status != GroupStatus::Resolved => {
                self.enter(GroupStatus::Resolved, next_number);
                self.resolved_at = Some(now);
                self.note.clone_from(note);
            }
            StateChange::Ignore { duration_ms, reason } if status != GroupStatus::Ignored => {
                self.enter(GroupStatus::Ignored, next_number);
                self.ignored_at = Some(now);
                self.ignored_until = duration_ms.map(|ms| TimestampMs(now.0.saturating_add(ms)));
                self.reason.clone_from(reason);
            }
            StateChange::Ignore { duration_ms, reason } => {
                // Earlier events are judged by the ignore that was in force when they arrived, also
                // when they are counted again after a crash.
                self.changed_at_number = next_number;
                self.ignored_until = duration_ms.map(|ms| TimestampMs(now.0.saturating_add(ms)));
                self.reason.clone_from(reason);
            }
            // This includes an expired ignore: its fields are cleared.
            StateChange::Unresolve if self.stored_status != GroupStatus::Unresolved => {
                self.enter(GroupStatus::Unresolved, next_number);
            }
            StateChange::Assign { user } => self.assignee.clone_from(user),
            StateChange::Resolve { .. } | StateChange::Unresolve => {}
        }
    }

    /// Records an occurrence. An occurrence that arrives after the last state change reopens a
    /// resolved group, or one whose ignore has expired. The order of arrival is that of event
    /// numbers, so neither the client's clock nor changes of the server's clock matter. Returns
    /// whether it reopened the group.
    pub(super) fn observe(&mut self, event: EventId) -> bool {
        let received = event.received();
        let reopens = event.number() >= self.changed_at_number
            && match self.stored_status {
                GroupStatus::Unresolved => false,
                GroupStatus::Resolved => true,
                GroupStatus::Ignored => self.ignored_until.is_some_and(|until| until <= received),
            };
        if reopens {
            self.enter(GroupStatus::Unresolved, self.changed_at_number);
            self.regressed_at = Some(received);
        }
        reopens
    }

    /// Returns whether the group must not be evicted: it has an assignee, a note, a reason or
    /// merged groups, or it was reopened.
    pub(super) fn is_protected(&self) -> bool {
        let has_notes = self.assignee.is_some() || self.note.is_some() || self.reason.is_some();
        let came_back =
            self.stored_status == GroupStatus::Unresolved && self.changed_at_number != 0;
        has_notes || came_back || !self.members.is_empty()
    }

    fn enter(&mut self, status: GroupStatus, number: u64) {
        self.stored_status = status;
        self.changed_at_number = number;
        self.resolved_at = None;
        self.note = None;
        self.ignored_at = None;
        self.ignored_until = None;
        self.reason = None;
        if status != GroupStatus::Unresolved {
            self.regressed_at = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: TimestampMs = TimestampMs(1_000_000);

    fn after(ms: i64) -> TimestampMs {
        TimestampMs(T.0 + ms)
    }

    fn changed(change: StateChange) -> GroupState {
        let mut group_state = GroupState::default();
        group_state.apply_change(&change, T, 10);
        group_state
    }

    #[test]
    fn a_resolved_error_that_recurs_is_unresolved_and_marked_as_a_regression() {
        for (number, expected) in [
            (10, GroupStatus::Unresolved),
            (11, GroupStatus::Unresolved),
            // It arrived before the group was resolved.
            (9, GroupStatus::Resolved),
        ] {
            let mut group_state = changed(StateChange::Resolve { note: Some("done".into()) });
            group_state.observe(EventId::new(after(7), number));
            assert_eq!(group_state.status(after(9)), expected, "{number}");
            let regressed = (expected == GroupStatus::Unresolved).then_some(after(7));
            assert_eq!(group_state.regressed_at, regressed);
        }
    }

    #[test]
    fn a_clock_set_back_does_not_hide_a_regression() {
        let mut group_state = changed(StateChange::Resolve { note: None });
        group_state.observe(EventId::new(after(-5_000), 9));
        assert_eq!(
            group_state.stored_status,
            GroupStatus::Resolved,
            "it was numbered before the change"
        );
        group_state.observe(EventId::new(after(-5_000), 10));
        assert_eq!(
            (group_state.stored_status, group_state.regressed_at),
            (GroupStatus::Unresolved, Some(after(-5_000)))
        );
    }

    #[test]
    fn an_ignore_expires_and_only_a_later_occurrence_is_a_regression() {
        let mut group_state = changed(StateChange::Ignore { duration_ms: Some(100), reason: None });
        assert_eq!(group_state.status(after(99)), GroupStatus::Ignored);
        assert_eq!(group_state.status(after(100)), GroupStatus::Unresolved);
        group_state.observe(EventId::new(after(99), 11));
        assert_eq!(
            (group_state.stored_status, group_state.regressed_at),
            (GroupStatus::Ignored, None)
        );
        group_state.observe(EventId::new(after(100), 12));
        assert_eq!(
            (group_state.stored_status, group_state.regressed_at),
            (GroupStatus::Unresolved, Some(after(100)))
        );
        let mut forever = changed(StateChange::Ignore { duration_ms: None, reason: None });
        forever.observe(EventId::new(after(1 << 40), 13));
        assert_eq!(forever.status(after(1 << 40)), GroupStatus::Ignored);
    }

    #[test]
    fn a_change_to_the_current_state_changes_nothing() {
        let changes = [
            StateChange::Resolve { note: None },
            StateChange::Ignore { duration_ms: None, reason: Some("noise".into()) },
            StateChange::Unresolve,
        ];
        for change in changes {
            let once = changed(change.clone());
            let mut twice = once.clone();
            twice.apply_change(&change, after(50), 20);
            // A repeated ignore takes a new event number; nothing else may differ.
            twice.changed_at_number = once.changed_at_number;
            assert_eq!(twice, once, "{change:?}");
        }
        // A repeated ignore takes the new duration, but keeps its start.
        let mut group_state =
            changed(StateChange::Ignore { duration_ms: Some(5_000), reason: None });
        let change = StateChange::Ignore { duration_ms: Some(10), reason: Some("noise".into()) };
        group_state.apply_change(&change, after(50), 20);
        assert_eq!((group_state.ignored_at, group_state.ignored_until), (Some(T), Some(after(60))));
        assert_eq!(
            (group_state.reason.as_deref(), group_state.changed_at_number),
            (Some("noise"), 20)
        );
        // After an ignore has expired, a new one starts.
        let mut group_state = changed(StateChange::Ignore { duration_ms: Some(10), reason: None });
        group_state.apply_change(
            &StateChange::Ignore { duration_ms: Some(10), reason: None },
            after(10),
            20,
        );
        assert_eq!(group_state.ignored_until, Some(after(20)));
    }

    #[test]
    fn levels_of_all_sdks_map_to_warning_error_or_fatal() {
        for (sent, level) in [
            ("debug", "warning"),
            ("log", "warning"),
            ("Warning", "warning"),
            ("error", "error"),
            ("critical", "fatal"),
            ("FATAL", "fatal"),
        ] {
            assert_eq!(SentLevel::parse(sent).unwrap().level().as_str(), level, "{sent}");
        }
        assert_eq!(SentLevel::parse("loud"), None);
    }

    #[test]
    fn ids_and_hashes_round_trip() {
        let id = GroupId(7 << 64 | 5);
        assert_eq!(GroupId::parse(&id.format()), Some(id));
        assert_eq!(GroupId::parse("evt_00000000000000000000000000"), None);
        let hash = GroupHash(u128::MAX - 1);
        assert_eq!(GroupHash::parse(&hash.format()), Some(hash));
    }
}
