//! The bodies of requests and responses about the activity of an error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::activity::{Action, Activity, ActivityId};
use super::super::error::ErrorsError;
use super::super::ledger::GroupView;
use super::super::model::{GroupId, GroupStatus};
use crate::areas::errors::limits as own_limits;
use crate::platform::ids;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// The prefix of the ids of entries.
const ID_PREFIX: &str = "act_";

/// A comment to be added.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorCommentInput")]
pub(in crate::areas::errors) struct CommentInput {
    #[schemars(required, length(max = own_limits::ERROR_COMMENT_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    text: Option<String>,
}

/// Something that happened to an error.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorActivity")]
pub(in crate::areas::errors) struct ActivityView {
    /// Null for what the server knows of the error itself.
    id: Option<String>,
    at: IsoTime,
    /// The user of the key that the request was sent with; null if it is not known or nobody did
    /// it.
    by: Option<String>,
    /// `resolve`, `ignore`, `unresolve`, `assign`, `merge`, `comment`; `first_seen`, `regressed`
    action: &'static str,
    /// The note, the reason or the comment.
    text: Option<String>,
    /// Until when the error was ignored; null means indefinitely.
    until: Option<IsoTime>,
    /// The new assignee.
    assignee: Option<String>,
    /// The ids of the errors that were merged into it.
    merged: Vec<String>,
}

impl CommentInput {
    pub(in crate::areas::errors) fn into_text(self) -> Result<String, ErrorsError> {
        let text = self.text.ok_or(ErrorsError::Missing("text"))?;
        let max = own_limits::ERROR_COMMENT_CHARS_MAX;
        if text.chars().all(char::is_whitespace) {
            return Err(ErrorsError::field("text", "must not be blank"));
        }
        if text.chars().count() > max {
            return Err(ErrorsError::field("text", format!("must have at most {max} characters")));
        }
        Ok(text)
    }
}

impl ActivityView {
    /// Builds the activity of a group, newest first: what was recorded, and what is known from the
    /// group itself.
    pub(in crate::areas::errors) fn all(
        group: &GroupView,
        recorded: Vec<(ActivityId, Activity)>,
    ) -> Vec<Self> {
        let mut all: Vec<Self> = recorded.into_iter().map(Self::from).collect();
        let state = &group.state;
        // Changes of earlier versions of the server were not recorded.
        let is_recorded = |action: &str, at| {
            all.iter().any(|entry| entry.action == action && entry.at == IsoTime(at))
        };
        let resolved_at = state.resolved_at.filter(|at| !is_recorded("resolve", *at));
        let ignored_at = state.ignored_at.filter(|at| {
            state.stored_status == GroupStatus::Ignored && !is_recorded("ignore", *at)
        });
        if let Some(at) = resolved_at {
            all.push(Self { text: state.note.clone(), ..Self::known("resolve", IsoTime(at)) });
        }
        if let Some(at) = ignored_at
            && !all.iter().any(|entry| entry.action == "ignore" && entry.at.0 > at)
        {
            all.push(Self {
                text: state.reason.clone(),
                until: state.ignored_until.map(IsoTime),
                ..Self::known("ignore", IsoTime(at))
            });
        }
        all.extend(state.regressed_at.map(|at| Self::known("regressed", IsoTime(at))));
        all.push(Self::known("first_seen", IsoTime(group.first_seen)));
        // Stable: what happened in the same millisecond keeps its order.
        all.sort_by_key(|entry| std::cmp::Reverse(entry.at.0));
        all
    }

    fn known(action: &'static str, at: IsoTime) -> Self {
        Self {
            id: None,
            at,
            by: None,
            action,
            text: None,
            until: None,
            assignee: None,
            merged: Vec::new(),
        }
    }
}

impl From<(ActivityId, Activity)> for ActivityView {
    fn from((id, activity): (ActivityId, Activity)) -> Self {
        let mut view = Self {
            id: Some(ids::prefixed(ID_PREFIX, id.0)),
            by: Some(activity.by),
            ..Self::known("", IsoTime(activity.at))
        };
        match activity.action {
            Action::Resolve { note } => (view.action, view.text) = ("resolve", note),
            Action::Ignore { until, reason } => {
                (view.action, view.text) = ("ignore", reason);
                view.until = until.map(IsoTime);
            }
            Action::Unresolve => view.action = "unresolve",
            Action::Assign { user } => (view.action, view.assignee) = ("assign", user),
            Action::Merge { groups } => {
                view.action = "merge";
                view.merged = groups.into_iter().map(GroupId::format).collect();
            }
            Action::Comment { text } => (view.action, view.text) = ("comment", Some(text)),
        }
        view
    }
}
