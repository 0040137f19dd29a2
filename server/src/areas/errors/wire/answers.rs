//! What the area answers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use telltale_engine::{Event, EventAnswer};

use super::super::ledger::{GroupView, Ticket};
use super::super::model::{EVENT_ID_PREFIX, GroupId};
use crate::platform::ids;
use crate::platform::telemetry::buckets::Width;
use crate::platform::time::IsoTime;

/// A group as it stands in lists.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorGroup")]
pub(in crate::areas::errors) struct GroupItem {
    id: String,
    /// The type and the first line of the message of its newest occurrence.
    title: String,
    /// unresolved, resolved or ignored
    status: &'static str,
    /// warning, error or fatal
    level: &'static str,
    occurrences: u64,
    /// Exact to 1000, then within the error of HyperLogLog.
    users_affected: u64,
    first_seen: IsoTime,
    last_seen: IsoTime,
    /// Null when it is nobody's.
    assignee: Option<String>,
}

/// A group with what became of it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorGroupState")]
pub(in crate::areas::errors) struct GroupStateView {
    #[serde(flatten)]
    item: GroupItem,
    resolved_at: Option<IsoTime>,
    note: Option<String>,
    ignored_at: Option<IsoTime>,
    /// Null when it is ignored for ever, or not.
    ignored_until: Option<IsoTime>,
    reason: Option<String>,
    /// When it came again after it was resolved or its ignore was over.
    regressed_at: Option<IsoTime>,
}

/// A group with its newest occurrence.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorGroupDetail")]
pub(in crate::areas::errors) struct Detail {
    #[serde(flatten)]
    group: GroupStateView,
    /// Where it happens.
    culprit: Option<String>,
    platform: Option<String>,
    /// Null when its newest occurrence is no longer kept.
    exception: Option<ExceptionView>,
    /// Null when it is no longer kept.
    latest_event: Option<EventView>,
    /// Errors that were merged into this one.
    merged: Vec<String>,
    /// This error, where another id was asked for: that one was merged into this one. Null otherwise.
    merged_into: Option<String>,
}

/// What was raised.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ErrorException")]
pub(in crate::areas::errors) struct ExceptionView {
    /// Null where there was only a message.
    r#type: Option<String>,
    message: Option<String>,
    /// `file:12 in function`, the newest frame first.
    backtrace: Vec<String>,
}

/// One occurrence.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorOccurrence")]
pub(in crate::areas::errors) struct EventView {
    id: String,
    /// The id that the sender gave it.
    event_id: Option<String>,
    timestamp: IsoTime,
    /// As it was sent: debug, info, warning, error or fatal.
    level: Option<String>,
    environment: Option<String>,
    release: Option<String>,
    /// `id`, and what else was sent of the user.
    user: Option<Value>,
    tags: BTreeMap<String, Value>,
    exception: ExceptionView,
    /// Everything that is kept of the occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
}

/// How often a group occurred.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorSeries")]
pub(in crate::areas::errors) struct SeriesView {
    id: String,
    interval: &'static str,
    total: u64,
    series: Vec<Point>,
}

/// Occurrences of one bucket.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorCount")]
pub(in crate::areas::errors) struct Point {
    timestamp: IsoTime,
    count: u64,
}

/// What became of many errors.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorBulkAnswer")]
pub(in crate::areas::errors) struct BulkView {
    /// Errors that were meant and are there.
    pub(in crate::areas::errors) matched: usize,
    /// Those of them that are not as they were.
    pub(in crate::areas::errors) changed: usize,
}

/// What became of an error that was told.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReportedError")]
pub(in crate::areas::errors) struct Reported {
    /// The error that it is an occurrence of.
    id: String,
    /// The occurrence.
    event_id: String,
}

/// What SDKs of Sentry read.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::areas::errors) struct SentryAnswer {
    /// The id that the sender gave the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::areas::errors) id: Option<String>,
}

/// What is kept of an occurrence, as far as it is answered in a form of ours.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Kept {
    event_id: Option<String>,
    culprit: Option<String>,
    platform: Option<String>,
    message: Option<String>,
    exceptions: Vec<KeptException>,
    frames: Vec<KeptFrame>,
    user: Option<Value>,
    tags: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KeptException {
    r#type: Option<String>,
    value: Option<String>,
    frames: Vec<KeptFrame>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KeptFrame {
    file: Option<String>,
    line: Option<u64>,
    function: Option<String>,
    module: Option<String>,
}

impl From<GroupView> for GroupItem {
    fn from(group: GroupView) -> Self {
        Self {
            id: group.id.format(),
            title: group.title,
            status: group.status.as_str(),
            level: group.level.as_str(),
            occurrences: group.occurrences,
            users_affected: group.users,
            first_seen: IsoTime(group.first_seen),
            last_seen: IsoTime(group.last_seen),
            assignee: group.state.assignee,
        }
    }
}

impl From<GroupView> for GroupStateView {
    fn from(group: GroupView) -> Self {
        let group_state = group.state.clone();
        let is_ignored = group.status == super::super::model::GroupStatus::Ignored;
        Self {
            item: group.into(),
            resolved_at: group_state.resolved_at.map(IsoTime),
            note: group_state.note,
            ignored_at: group_state.ignored_at.filter(|_| is_ignored).map(IsoTime),
            ignored_until: group_state.ignored_until.filter(|_| is_ignored).map(IsoTime),
            reason: group_state.reason.filter(|_| is_ignored),
            regressed_at: group_state.regressed_at.map(IsoTime),
        }
    }
}

impl Detail {
    /// The detail of the group that `asked_for` is, or was merged into.
    pub(in crate::areas::errors) fn new(
        asked_for: &str,
        group: GroupView,
        latest: Option<Event>,
    ) -> Self {
        let id = group.id.format();
        let merged_into = GroupId::parse(asked_for).filter(|asked| *asked != group.id).map(|_| id);
        let merged = group.state.members.iter().map(|id| id.format()).collect();
        let mut detail = Self {
            group: group.into(),
            culprit: None,
            platform: None,
            exception: None,
            latest_event: None,
            merged,
            merged_into,
        };
        if let Some(event) = latest {
            let kept = Kept::of(&event);
            detail.culprit.clone_from(&kept.culprit);
            detail.platform.clone_from(&kept.platform);
            detail.exception = Some(kept.exception());
            detail.latest_event = Some(EventView::new(event, kept, None));
        }
        detail
    }
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        let details = event.properties.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let kept = Kept::of(&event);
        Self::new(event, kept, details)
    }
}

impl EventView {
    fn new(event: Event, kept: Kept, details: Option<Value>) -> Self {
        let user = with_id(kept.user.clone(), event.user.as_deref());
        let tag = |key: &str| event.tags.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
        let exception = kept.exception();
        Self {
            id: ids::prefixed(EVENT_ID_PREFIX, event.id.0),
            event_id: kept.event_id,
            timestamp: IsoTime(event.time),
            level: tag("level"),
            environment: tag("environment"),
            release: tag("release"),
            user,
            tags: kept.tags,
            exception,
            details,
        }
    }
}

/// What was sent of the user; whatever tells users apart is the id where none was sent.
fn with_id(user: Option<Value>, key: Option<&str>) -> Option<Value> {
    let key = key?;
    let mut user = user.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    if let Value::Object(fields) = &mut user {
        fields.entry("id").or_insert_with(|| key.into());
    }
    Some(user)
}

impl Kept {
    fn of(event: &Event) -> Self {
        let kept = event.properties.as_deref().and_then(|text| serde_json::from_str(text).ok());
        kept.unwrap_or_default()
    }

    fn exception(&self) -> ExceptionView {
        let backtrace = |frames: &[KeptFrame]| frames.iter().rev().map(KeptFrame::line).collect();
        match self.exceptions.last() {
            Some(raised) => ExceptionView {
                r#type: raised.r#type.clone(),
                message: raised.value.clone(),
                backtrace: backtrace(&raised.frames),
            },
            None => ExceptionView {
                r#type: None,
                message: self.message.clone(),
                backtrace: backtrace(&self.frames),
            },
        }
    }
}

impl KeptFrame {
    fn line(&self) -> String {
        let place = self.file.as_deref().or(self.module.as_deref()).unwrap_or("?");
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let function = self.function.as_deref().map(|f| format!(" in {f}")).unwrap_or_default();
        format!("{place}{line}{function}")
    }
}

impl SeriesView {
    pub(in crate::areas::errors) fn new(id: String, width: Width, answer: &EventAnswer) -> Self {
        // Counts are whole numbers.
        let count = |number: Option<&Option<f64>>| number.copied().flatten().unwrap_or(0.0) as u64;
        let counts = answer.all.columns.first().into_iter().flatten();
        let points = answer.all.starts.iter().zip(counts);
        Self {
            id,
            interval: width.as_str(),
            total: count(answer.all.whole.first()),
            series: points
                .map(|(start, number)| Point {
                    timestamp: IsoTime(*start),
                    count: count(Some(number)),
                })
                .collect(),
        }
    }
}

impl From<&Ticket> for Reported {
    fn from(ticket: &Ticket) -> Self {
        Self {
            id: ticket.group().format(),
            event_id: ids::prefixed(EVENT_ID_PREFIX, ticket.event().0),
        }
    }
}
