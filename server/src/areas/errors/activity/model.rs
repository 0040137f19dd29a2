//! The entries of the activity of a group.

use telltale_engine::TimestampMs;

use crate::areas::errors::model::{GroupId, StateChange};

/// The id of an entry: ascending in the order of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::areas::errors) struct ActivityId(pub(in crate::areas::errors) u128);

/// Something that somebody did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::errors) struct Activity {
    pub(in crate::areas::errors) at: TimestampMs,
    /// The user, as in the key that the request was sent with.
    pub(in crate::areas::errors) by: String,
    pub(in crate::areas::errors) action: Action,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::errors) enum Action {
    Resolve {
        note: Option<String>,
    },
    Ignore {
        /// `None` means indefinitely.
        until: Option<TimestampMs>,
        reason: Option<String>,
    },
    Unresolve,
    Assign {
        /// `None` removed the assignee.
        user: Option<String>,
    },
    /// Other groups were merged into it.
    Merge {
        groups: Vec<GroupId>,
    },
    Comment {
        text: String,
    },
}

impl Action {
    /// Returns the action of a state change at this time.
    pub(in crate::areas::errors) fn of(change: &StateChange, now: TimestampMs) -> Self {
        match change {
            StateChange::Resolve { note } => Self::Resolve { note: note.clone() },
            StateChange::Ignore { duration_ms, reason } => Self::Ignore {
                until: duration_ms.map(|ms| TimestampMs(now.0.saturating_add(ms))),
                reason: reason.clone(),
            },
            StateChange::Unresolve => Self::Unresolve,
            StateChange::Assign { user } => Self::Assign { user: user.clone() },
        }
    }
}
