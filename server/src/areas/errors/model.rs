//! What the area speaks of: groups of errors, their states, and what of an occurrence makes its group.

use telltale_engine::{EventId, TimestampMs};

use crate::platform::ids;

/// The beginning of the ids of groups.
pub(super) const ID_PREFIX: &str = "err_";
/// The beginning of the ids of occurrences, which are events.
pub(super) const EVENT_ID_PREFIX: &str = "evt_";

/// The identity of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GroupId(pub(super) u128);

impl GroupId {
    /// When the id was made, as it says itself.
    pub(super) fn created_at(self) -> TimestampMs {
        // The upper 48 bits of a ULID.
        TimestampMs(i64::try_from(self.0 >> 80).unwrap_or(0))
    }

    /// The id as callers see it.
    pub(super) fn format(self) -> String {
        ids::prefixed(ID_PREFIX, self.0)
    }

    /// Reads what [`Self::text`] writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.strip_prefix(ID_PREFIX).and_then(ids::parse_ulid).map(Self)
    }
}

/// What makes the group of an occurrence: equal ones belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupHash(pub u128);

/// What an occurrence goes by: the hash that makes its group, and the one that the rules before made, by which groups are found that are
/// older than the rules of today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupHashes {
    pub(super) current: GroupHash,
    pub(super) earlier: GroupHash,
}

/// A key that errors were sent with, so far as one must be told from another: a hash of its id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Sender(pub(super) u64);

impl Sender {
    /// Nobody knows which key it was.
    pub(super) const UNKNOWN: Self = Self(0);

    /// The sender with this key.
    pub(super) fn of(key_id: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64(key_id.as_bytes()).max(1))
    }
}

impl GroupHash {
    /// Stands for all errors of a sender that may not begin a group. An ordinary hash begins with these bits once in 2⁶⁴.
    pub(super) fn overflow_of(sender: Sender) -> Self {
        Self(u128::from(u64::MAX) << 64 | u128::from(sender.0))
    }

    /// Whether it stands for such errors.
    pub(super) fn is_overflow(self) -> bool {
        self.0 >> 64 == u128::from(u64::MAX)
    }

    /// As it stands in a tag: 32 digits.
    pub fn format(self) -> String {
        format!("{:032x}", self.0)
    }

    /// Reads what [`Self::text`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        u128::from_str_radix(text, 16).ok().map(Self)
    }
}

/// How bad an error is. What SDKs call debug, info or log counts as a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Level {
    /// Something to look at.
    Warning,
    /// Something failed.
    Error,
    /// The program ended.
    Fatal,
}

impl Level {
    /// All levels.
    pub(super) const ALL: [Self; 3] = [Self::Warning, Self::Error, Self::Fatal];

    /// The name on the wire.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }

    /// The level called `text`, if there is one.
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
    /// `error`, which is also meant by none and by an unknown one.
    #[default]
    Error,
    /// `fatal`
    Fatal,
}

impl SentLevel {
    /// Reads a level of any SDK.
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

    /// The name as it is stored.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }

    /// What it counts as.
    pub(super) fn level(self) -> Level {
        match self {
            Self::Debug | Self::Info | Self::Warning => Level::Warning,
            Self::Error => Level::Error,
            Self::Fatal => Level::Fatal,
        }
    }
}

/// What is to be done about a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum GroupStatus {
    /// Somebody should look.
    #[default]
    Unresolved,
    /// Done, until it comes again.
    Resolved,
    /// Nobody needs to look, for a time or for ever.
    Ignored,
}

impl GroupStatus {
    /// All states.
    pub(super) const ALL: [Self; 3] = [Self::Unresolved, Self::Resolved, Self::Ignored];

    /// The name on the wire.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::Resolved => "resolved",
            Self::Ignored => "ignored",
        }
    }

    /// The state called `text`, if there is one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// What people and regressions did to a group. The default is a group that nobody has touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupState {
    /// The state, not counting that time may have ended an ignore: see [`Self::status`].
    pub(super) stored_status: GroupStatus,
    /// Events with a smaller number were numbered before the last move, and do not undo it.
    pub(super) changed_at_number: u64,
    pub(super) resolved_at: Option<TimestampMs>,
    pub(super) note: Option<String>,
    pub(super) ignored_at: Option<TimestampMs>,
    /// Without it an ignore is for ever.
    pub(super) ignored_until: Option<TimestampMs>,
    pub(super) reason: Option<String>,
    pub(super) regressed_at: Option<TimestampMs>,
    pub(super) assignee: Option<String>,
    /// Groups that were merged into this one: their events are this one's.
    pub(super) members: Vec<GroupId>,
}

/// What shall become of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StateChange {
    Resolve {
        note: Option<String>,
    },
    /// For this many milliseconds, or for ever.
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
    /// The state at `now`: an ignore that is over is none.
    pub(super) fn status(&self, now: TimestampMs) -> GroupStatus {
        match (self.stored_status, self.ignored_until) {
            (GroupStatus::Ignored, Some(until)) if until <= now => GroupStatus::Unresolved,
            (stored_status, _) => stored_status,
        }
    }

    /// Carries out a move. A move to the state that the group is in changes nothing, but for an ignore, which takes the new duration and
    /// reason.
    pub(super) fn apply_change(&mut self, order: &StateChange, now: TimestampMs, next_number: u64) {
        let status = self.status(now);
        match order {
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
                // What came before goes by the ignore that was in force then, also when it is read again after a crash.
                self.changed_at_number = next_number;
                self.ignored_until = duration_ms.map(|ms| TimestampMs(now.0.saturating_add(ms)));
                self.reason.clone_from(reason);
            }
            // Also where an ignore is over: what is left of it goes.
            StateChange::Unresolve if self.stored_status != GroupStatus::Unresolved => {
                self.enter(GroupStatus::Unresolved, next_number);
            }
            StateChange::Assign { user } => self.assignee.clone_from(user),
            StateChange::Resolve { .. } | StateChange::Unresolve => {}
        }
    }

    /// Takes note of an occurrence. A resolved group, or one whose ignore was over, is unresolved again by what arrives after the
    /// move: the numbers say what does, whatever the clock of the client says and however the clock here was set.
    pub(super) fn observe(&mut self, event: EventId) {
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
    }

    /// Whether a person did more to the group than resolve or ignore it, or it came back since: it must not be dropped unasked.
    pub(super) fn is_protected(&self) -> bool {
        let has_words = self.assignee.is_some() || self.note.is_some() || self.reason.is_some();
        let came_back =
            self.stored_status == GroupStatus::Unresolved && self.changed_at_number != 0;
        has_words || came_back || !self.members.is_empty()
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

    fn moved(order: StateChange) -> GroupState {
        let mut group_state = GroupState::default();
        group_state.apply_change(&order, T, 10);
        group_state
    }

    #[test]
    fn an_error_that_comes_again_is_unresolved_and_says_so() {
        for (number, expected) in [
            (10, GroupStatus::Unresolved),
            (11, GroupStatus::Unresolved),
            // It arrived before it was resolved.
            (9, GroupStatus::Resolved),
        ] {
            let mut group_state = moved(StateChange::Resolve { note: Some("done".into()) });
            group_state.observe(EventId::new(after(7), number));
            assert_eq!(group_state.status(after(9)), expected, "{number}");
            let regressed = (expected == GroupStatus::Unresolved).then_some(after(7));
            assert_eq!(group_state.regressed_at, regressed);
        }
    }

    #[test]
    fn a_clock_that_is_set_back_hides_no_regression() {
        let mut group_state = moved(StateChange::Resolve { note: None });
        group_state.observe(EventId::new(after(-5_000), 9));
        assert_eq!(
            group_state.stored_status,
            GroupStatus::Resolved,
            "it was numbered before the move"
        );
        group_state.observe(EventId::new(after(-5_000), 10));
        assert_eq!(
            (group_state.stored_status, group_state.regressed_at),
            (GroupStatus::Unresolved, Some(after(-5_000)))
        );
    }

    #[test]
    fn an_ignore_ends_by_itself_and_only_an_occurrence_makes_it_a_regression() {
        let mut group_state = moved(StateChange::Ignore { duration_ms: Some(100), reason: None });
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
        let mut forever = moved(StateChange::Ignore { duration_ms: None, reason: None });
        forever.observe(EventId::new(after(1 << 40), 13));
        assert_eq!(forever.status(after(1 << 40)), GroupStatus::Ignored);
    }

    #[test]
    fn a_move_to_the_state_it_is_in_changes_nothing() {
        let orders = [
            StateChange::Resolve { note: None },
            StateChange::Ignore { duration_ms: None, reason: Some("noise".into()) },
            StateChange::Unresolve,
        ];
        for order in orders {
            let once = moved(order.clone());
            let mut twice = once.clone();
            twice.apply_change(&order, after(50), 20);
            // What came before a repeated ignore does not count for its end.
            twice.changed_at_number = once.changed_at_number;
            assert_eq!(twice, once, "{order:?}");
        }
        // A repeated ignore lasts as long as it says now, and is the same ignore.
        let mut group_state = moved(StateChange::Ignore { duration_ms: Some(5_000), reason: None });
        let order = StateChange::Ignore { duration_ms: Some(10), reason: Some("noise".into()) };
        group_state.apply_change(&order, after(50), 20);
        assert_eq!((group_state.ignored_at, group_state.ignored_until), (Some(T), Some(after(60))));
        assert_eq!(
            (group_state.reason.as_deref(), group_state.changed_at_number),
            (Some("noise"), 20)
        );
        // An ignore that is over may begin again.
        let mut group_state = moved(StateChange::Ignore { duration_ms: Some(10), reason: None });
        group_state.apply_change(
            &StateChange::Ignore { duration_ms: Some(10), reason: None },
            after(10),
            20,
        );
        assert_eq!(group_state.ignored_until, Some(after(20)));
    }

    #[test]
    fn levels_of_all_sdks_count_as_one_of_three() {
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
