//! The bodies of responses.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use telltale_engine::{Event, EventQueryResult};

use super::super::ledger::{GroupView, Ticket};
use super::super::model::{EVENT_ID_PREFIX, GroupId};
use super::super::ops::GroupPage;
use super::occurrences::SparklineView;
use crate::areas::repositories::{FramePlace, FrameSource};
use crate::platform::ids;
use crate::platform::telemetry::buckets::BucketWidth;
use crate::platform::time::IsoTime;

/// An error group as in lists.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorGroup")]
pub(in crate::areas::errors) struct GroupItem {
    id: String,
    /// The type and the first line of the message of the newest occurrence.
    title: String,
    /// unresolved, resolved or ignored
    status: &'static str,
    /// warning, error or fatal
    level: &'static str,
    occurrences: u64,
    /// Exact up to 1000, then estimated by HyperLogLog.
    users_affected: u64,
    first_seen: IsoTime,
    last_seen: IsoTime,
    /// Null if unassigned.
    assignee: Option<String>,
    /// Present in lists with the parameter `series`.
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<SparklineView>,
}

/// An error group with its state.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorGroupState")]
pub(in crate::areas::errors) struct GroupStateView {
    #[serde(flatten)]
    item: GroupItem,
    resolved_at: Option<IsoTime>,
    note: Option<String>,
    ignored_at: Option<IsoTime>,
    /// Null if the error is not ignored, or ignored indefinitely.
    ignored_until: Option<IsoTime>,
    reason: Option<String>,
    /// When the error occurred again after it was resolved or its ignore had expired.
    regressed_at: Option<IsoTime>,
}

/// An error group with its newest occurrence.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorGroupDetail")]
pub(in crate::areas::errors) struct Detail {
    #[serde(flatten)]
    group: GroupStateView,
    /// Where the error occurs.
    culprit: Option<String>,
    platform: Option<String>,
    /// Null if the newest occurrence has expired.
    exception: Option<ExceptionView>,
    /// Null if it has expired.
    latest_event: Option<EventView>,
    /// The lines of synced repositories that the frames of the newest occurrence are about, the
    /// newest frame first.
    source: Vec<SourceView>,
    /// Ids of errors that were merged into this one.
    merged: Vec<String>,
    /// The id of this error if the requested id is that of an error that was merged into it; null
    /// otherwise.
    merged_into: Option<String>,
}

/// Lines of a repository that a frame is about.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorSource")]
struct SourceView {
    /// The position of the frame in `exception.backtrace`.
    frame: usize,
    /// The id of the repository.
    repository: String,
    /// The commit that the lines are of.
    commit: String,
    file_path: String,
    /// The line of the frame.
    line: u32,
    line_start: u32,
    /// The lines around it, exactly as in the commit unless `truncated`.
    snippet: String,
    /// Whether lines are cut: those over 8 KiB, and all once the snippets have 512 KiB together.
    /// What is left of a line ends with `…`.
    truncated: bool,
}

/// The exception that was raised.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ErrorException")]
pub(in crate::areas::errors) struct ExceptionView {
    /// Null if only a message was sent.
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
    /// The level as sent: debug, info, warning, error or fatal.
    level: Option<String>,
    environment: Option<String>,
    release: Option<String>,
    /// `id`, and the other fields that were sent of the user.
    user: Option<Value>,
    tags: BTreeMap<String, Value>,
    exception: ExceptionView,
    /// All stored properties of the occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
}

/// The occurrences of an error over time.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorSeries")]
pub(in crate::areas::errors) struct SeriesView {
    id: String,
    interval: String,
    total: u64,
    series: Vec<BucketCount>,
}

/// The number of occurrences in one bucket.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorCount")]
pub(in crate::areas::errors) struct BucketCount {
    timestamp: IsoTime,
    count: u64,
}

/// The outcome of a bulk action.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorBulkAnswer")]
pub(in crate::areas::errors) struct BulkView {
    /// Errors that were selected and exist.
    pub(in crate::areas::errors) matched: usize,
    /// Errors that the action changed.
    pub(in crate::areas::errors) changed: usize,
}

/// The outcome of an error report.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReportedError")]
pub(in crate::areas::errors) struct Reported {
    /// The error that the occurrence belongs to.
    id: String,
    /// The id of the occurrence.
    event_id: String,
}

/// The response to Sentry SDKs.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::areas::errors) struct SentryAnswer {
    /// The id that the sender gave the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::areas::errors) id: Option<String>,
}

/// The stored properties of an occurrence that responses contain as fields of their own.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OccurrenceProperties {
    event_id: Option<String>,
    culprit: Option<String>,
    platform: Option<String>,
    message: Option<String>,
    exceptions: Vec<ExceptionProperties>,
    frames: Vec<FrameProperties>,
    user: Option<Value>,
    tags: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ExceptionProperties {
    r#type: Option<String>,
    value: Option<String>,
    frames: Vec<FrameProperties>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FrameProperties {
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
            series: None,
        }
    }
}

impl GroupItem {
    /// Builds the groups of a page.
    pub(in crate::areas::errors) fn all(page: GroupPage) -> Vec<Self> {
        let mut series = page.series.into_iter().map(SparklineView::from);
        let item = |group| Self { series: series.next(), ..Self::from(group) };
        page.groups.into_iter().map(item).collect()
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
    /// Builds the detail of a group; `requested` may be a group that was merged into it.
    pub(in crate::areas::errors) fn new(
        requested: GroupId,
        group: GroupView,
        latest: Option<Event>,
        source: Vec<FrameSource>,
    ) -> Self {
        let merged_into = (requested != group.id).then(|| group.id.format());
        let merged = group.state.members.iter().map(|id| id.format()).collect();
        let mut detail = Self {
            group: group.into(),
            culprit: None,
            platform: None,
            exception: None,
            latest_event: None,
            source: source.into_iter().map(SourceView::new).collect(),
            merged,
            merged_into,
        };
        if let Some(event) = latest {
            let (properties, _) = read_properties(&event);
            detail.culprit.clone_from(&properties.culprit);
            detail.platform.clone_from(&properties.platform);
            detail.exception = Some(properties.exception());
            detail.latest_event = Some(EventView::new(event, properties, None));
        }
        detail
    }
}

/// Returns the places in the program that an occurrence names, the newest frame first, and its
/// release.
pub(in crate::areas::errors) fn frame_places(event: &Event) -> (Vec<FramePlace>, Option<String>) {
    let (properties, _) = read_properties(event);
    let raised = properties.exceptions.last();
    let frames = raised.map_or(&properties.frames, |raised| &raised.frames);
    let places = frames.iter().rev().map(FrameProperties::place).collect();
    let release = event.tags.iter().find(|(key, _)| key == "release");
    (places, release.map(|(_, release)| release.clone()))
}

impl SourceView {
    fn new(source: FrameSource) -> Self {
        Self {
            frame: source.frame,
            repository: source.repository,
            commit: source.commit,
            file_path: source.path,
            line: source.line,
            line_start: source.first_line,
            truncated: source.snippet.is_cut,
            snippet: source.snippet.text,
        }
    }
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        let (properties, details) = read_properties(&event);
        Self::new(event, properties, details)
    }
}

impl EventView {
    fn new(event: Event, properties: OccurrenceProperties, details: Option<Value>) -> Self {
        let user = with_id(properties.user.clone(), event.user.as_deref());
        let tag = |key: &str| event.tags.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
        let exception = properties.exception();
        Self {
            id: ids::prefixed(EVENT_ID_PREFIX, event.id.0),
            event_id: properties.event_id,
            timestamp: IsoTime(event.time),
            level: tag("level"),
            environment: tag("environment"),
            release: tag("release"),
            user,
            tags: properties.tags,
            exception,
            details,
        }
    }
}

/// Returns the user as sent. Where no id was sent, the field that identifies the user becomes the
/// id.
fn with_id(user: Option<Value>, key: Option<&str>) -> Option<Value> {
    let key = key?;
    let mut user = user.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    if let Value::Object(fields) = &mut user {
        fields.entry("id").or_insert_with(|| key.into());
    }
    Some(user)
}

/// Returns the stored properties of an occurrence, and all of them as JSON. If they cannot be read,
/// this is logged, and the response contains only the fields and tags of the event.
fn read_properties(event: &Event) -> (OccurrenceProperties, Option<Value>) {
    let log_unreadable = |why: &dyn std::fmt::Display| {
        let id = ids::prefixed(EVENT_ID_PREFIX, event.id.0);
        tracing::error!(event = id, %why, "the properties of an error event cannot be read");
    };
    let Some(text) = event.properties.as_deref() else {
        log_unreadable(&"there are none");
        return (OccurrenceProperties::default(), None);
    };
    let details: Option<Value> =
        serde_json::from_str(text).inspect_err(|error| log_unreadable(error)).ok();
    let properties = details.as_ref().map(OccurrenceProperties::deserialize).transpose();
    let properties = properties.inspect_err(|error| log_unreadable(error)).ok().flatten();
    (properties.unwrap_or_default(), details)
}

impl OccurrenceProperties {
    fn exception(&self) -> ExceptionView {
        let backtrace =
            |frames: &[FrameProperties]| frames.iter().rev().map(FrameProperties::line).collect();
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

impl FrameProperties {
    /// Returns the place; one that is nowhere if the frame has no file or no line.
    fn place(&self) -> FramePlace {
        let line = self.line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        FramePlace { file: self.file.clone().unwrap_or_default(), line }
    }

    fn line(&self) -> String {
        let location = self.file.as_deref().or(self.module.as_deref()).unwrap_or("?");
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let function = self.function.as_deref().map(|f| format!(" in {f}")).unwrap_or_default();
        format!("{location}{line}{function}")
    }
}

impl SeriesView {
    pub(in crate::areas::errors) fn new(
        id: GroupId,
        width: BucketWidth,
        answer: &EventQueryResult,
    ) -> Self {
        let count = |number: Option<&Option<f64>>| match number {
            // Counts are integers.
            Some(Some(count)) => *count as u64,
            other => unreachable!("events were counted, but the result is {other:?}"),
        };
        let Some(counts) = answer.all.columns.first() else {
            unreachable!("one aggregation was queried, but there is no column")
        };
        let points = answer.all.starts.iter().zip(counts);
        Self {
            id: id.format(),
            interval: width.to_string(),
            total: count(answer.all.whole.first()),
            series: points
                .map(|(start, number)| BucketCount {
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
