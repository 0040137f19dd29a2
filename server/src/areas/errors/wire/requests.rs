//! The bodies of requests, and their conversion to domain types.

use std::collections::{BTreeMap, HashSet};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use telltale_engine::TimestampMs;

use super::super::error::ErrorsError;
use super::super::model::{GroupId, StateChange};
use super::super::ops::{BulkAction, BulkSelection};
use super::super::query::{self, FilterParams, InvalidFilter};
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::patterns;
use crate::platform::telemetry::duration;
use crate::platform::telemetry::query_params::InvalidQueryParams;

/// Ids of errors.
type Ids = AtMost<String, { limits::ERRORS_NAMED_MAX }>;

/// An error report of a program. Parsed by hand; this type only describes it. Unknown fields are
/// ignored.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "describes a body that is parsed by hand")]
#[schemars(rename = "ErrorReportInput")]
pub(in crate::areas::errors) struct ReportInput {
    /// Required, unless there is a message.
    exception: Option<ReportException>,
    message: Option<String>,
    /// fatal, error, warning, info or debug; `error` by default.
    #[serde(default)]
    #[schemars(schema_with = "sent_level")]
    level: Option<String>,
    /// When the error occurred. Default: the time of receipt.
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time")]
    timestamp: Option<String>,
    user: Option<ReportUser>,
    /// String values by tag key.
    #[serde(default)]
    #[schemars(schema_with = "string_map")]
    tags: Option<BTreeMap<String, String>>,
    /// Determines the group instead of the exception. `{{ default }}` is replaced by the hash that
    /// the exception would have; `{{ transaction }}`, `{{ error.type }}`, `{{ tags.x }}` and
    /// Sentry's other variables are replaced by their values.
    fingerprint: Option<Vec<String>>,
    environment: Option<String>,
    release: Option<String>,
    transaction: Option<String>,
    server_name: Option<String>,
}

/// The exception that was raised.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "describes a body that is parsed by hand")]
#[schemars(rename = "ErrorReportException")]
pub(in crate::areas::errors) struct ReportException {
    /// Required, unless there is a message.
    r#type: Option<String>,
    message: Option<String>,
    module: Option<String>,
    /// `file:12 in function`, the newest frame first.
    backtrace: Option<Vec<String>>,
}

/// The user who was affected.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "describes a body that is parsed by hand")]
#[schemars(rename = "ErrorReportUser")]
pub(in crate::areas::errors) struct ReportUser {
    #[serde(default)]
    #[schemars(schema_with = "string_or_number")]
    id: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "string_or_number")]
    email: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "string_or_number")]
    username: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "string_or_number")]
    ip_address: Option<String>,
}

/// An empty body.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EmptyInput")]
pub(in crate::areas::errors) struct EmptyInput {}

/// A request to resolve an error.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorResolveInput")]
pub(in crate::areas::errors) struct ResolveInput {
    #[schemars(length(max = limits::ERROR_NOTE_CHARS_MAX))]
    note: Option<String>,
}

/// A request to ignore an error.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorIgnoreInput")]
pub(in crate::areas::errors) struct IgnoreInput {
    /// `forever`, or a duration such as 30m, 24h, 7d or 2w. Default: `forever`.
    #[schemars(regex(pattern = patterns::DURATION_OR_FOREVER))]
    duration: Option<String>,
    #[schemars(length(max = limits::ERROR_NOTE_CHARS_MAX))]
    reason: Option<String>,
}

/// A request to assign an error.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorAssignInput")]
#[schemars(extend("required" = ["user_id"]))]
pub(in crate::areas::errors) struct AssignInput {
    /// Null removes the assignee.
    #[serde(default, deserialize_with = "some_or_null")]
    #[schemars(schema_with = "assignee")]
    user_id: Option<Option<String>>,
}

/// Ids of errors to merge into another one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorMergeInput")]
pub(in crate::areas::errors) struct MergeInput {
    #[schemars(required, length(min = 1, max = limits::ERRORS_NAMED_MAX))]
    ids: Option<Ids>,
}

/// A bulk action: applies to the errors in `ids`, or to all that match `filter`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorBulkInput")]
pub(in crate::areas::errors) struct BulkInput {
    #[schemars(schema_with = "actions", required)]
    action: Option<String>,
    #[schemars(length(min = 1, max = limits::ERRORS_NAMED_MAX))]
    ids: Option<Ids>,
    filter: Option<FilterInput>,
    #[schemars(length(max = limits::ERROR_NOTE_CHARS_MAX))]
    note: Option<String>,
    #[schemars(regex(pattern = patterns::DURATION_OR_FOREVER))]
    duration: Option<String>,
    #[schemars(length(max = limits::ERROR_NOTE_CHARS_MAX))]
    reason: Option<String>,
    #[serde(default, deserialize_with = "some_or_null")]
    #[schemars(schema_with = "assignee")]
    user_id: Option<Option<String>>,
    /// Must be true to delete.
    confirm: Option<bool>,
}

/// A filter of errors; all errors when empty.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorFilter")]
pub(in crate::areas::errors) struct FilterInput {
    #[serde(default)]
    #[schemars(schema_with = "status")]
    status: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "level")]
    level: Option<String>,
    since: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time_or_date")]
    from: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time_or_date")]
    to: Option<String>,
    environment: Option<String>,
    release: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "string_map")]
    tags: Option<BTreeMap<String, String>>,
    #[schemars(length(max = limits::ERROR_SEARCH_CHARS_MAX))]
    search: Option<String>,
    assignee: Option<String>,
}

/// Returns the schema of one of these strings or null.
fn nullable_enum(values: &[&str]) -> Schema {
    let values: Vec<Option<&str>> = values.iter().map(|value| Some(*value)).chain([None]).collect();
    json_schema!({ "type": ["string", "null"], "enum": values })
}

fn string_map(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "propertyNames": { "minLength": 1 },
        "additionalProperties": { "type": "string" },
    })
}

/// Returns the schema of a string or number. A number is stored as its decimal string.
fn string_or_number(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number", "null"] })
}

fn sent_level(_: &mut SchemaGenerator) -> Schema {
    nullable_enum(&["fatal", "error", "warning", "info", "debug"])
}

fn level(_: &mut SchemaGenerator) -> Schema {
    nullable_enum(&["warning", "error", "fatal"])
}

fn status(_: &mut SchemaGenerator) -> Schema {
    nullable_enum(&["unresolved", "resolved", "ignored"])
}

fn actions(_: &mut SchemaGenerator) -> Schema {
    let actions = ["resolve", "ignore", "unresolve", "assign", "delete"];
    json_schema!({ "type": "string", "enum": actions })
}

fn assignee(_: &mut SchemaGenerator) -> Schema {
    let max = limits::ERROR_NOTE_CHARS_MAX;
    json_schema!({ "type": ["string", "null"], "minLength": 1, "maxLength": max })
}

/// Distinguishes null from an absent field.
fn some_or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl ResolveInput {
    pub(in crate::areas::errors) fn into_change(self) -> Result<StateChange, ErrorsError> {
        Ok(StateChange::Resolve { note: limited("note", self.note)? })
    }
}

impl IgnoreInput {
    pub(in crate::areas::errors) fn into_change(self) -> Result<StateChange, ErrorsError> {
        Ok(StateChange::Ignore {
            duration_ms: duration_ms(self.duration.as_deref())?,
            reason: limited("reason", self.reason)?,
        })
    }
}

impl AssignInput {
    pub(in crate::areas::errors) fn into_change(self) -> Result<StateChange, ErrorsError> {
        assign(self.user_id)
    }
}

impl MergeInput {
    pub(in crate::areas::errors) fn into_ids(self) -> Result<Vec<GroupId>, ErrorsError> {
        group_ids(self.ids.ok_or(ErrorsError::Missing("ids"))?)
    }
}

impl BulkInput {
    pub(in crate::areas::errors) fn into_parts(
        self,
        now: TimestampMs,
    ) -> Result<(BulkSelection, BulkAction), ErrorsError> {
        let action = match self.action.as_deref() {
            None => return Err(ErrorsError::Missing("action")),
            Some("resolve") => {
                BulkAction::StateChange(ResolveInput { note: self.note }.into_change()?)
            }
            Some("ignore") => {
                let input = IgnoreInput { duration: self.duration, reason: self.reason };
                BulkAction::StateChange(input.into_change()?)
            }
            Some("unresolve") => BulkAction::StateChange(StateChange::Unresolve),
            Some("assign") => BulkAction::StateChange(assign(self.user_id)?),
            Some("delete") if self.confirm == Some(true) => BulkAction::Delete,
            Some("delete") => {
                let expected = "confirm must be true: the errors are deleted for good";
                return Err(ErrorsError::MissingOneOf("confirm", expected));
            }
            Some(_) => {
                let expected = "must be one of resolve, ignore, unresolve, assign, delete";
                return Err(ErrorsError::field("action", expected));
            }
        };
        let selection = match (self.ids, self.filter) {
            (Some(ids), None) => BulkSelection::Named(group_ids(ids)?),
            (None, Some(filter)) => {
                BulkSelection::Matching(filter.params().read(now).map_err(invalid)?)
            }
            (Some(_), Some(_)) => {
                return Err(ErrorsError::field("filter", "must not be given together with ids"));
            }
            (None, None) => {
                return Err(ErrorsError::MissingOneOf("ids", "ids or filter is required"));
            }
        };
        Ok((selection, action))
    }
}

impl FilterInput {
    fn params(&self) -> FilterParams<'_> {
        let tags = self.tags.iter().flatten();
        FilterParams {
            status: self.status.as_deref(),
            level: self.level.as_deref(),
            since: self.since.as_deref(),
            from: self.from.as_deref(),
            to: self.to.as_deref(),
            environment: self.environment.as_deref(),
            release: self.release.as_deref(),
            tags: tags.map(|(key, value)| (key.as_str(), value.as_str())).collect(),
            search: self.search.as_deref(),
            assignee: self.assignee.as_deref(),
        }
    }
}

/// Converts an invalid filter to an error that names the fields as in the body.
fn invalid(filter: InvalidFilter) -> ErrorsError {
    let invalid = match filter {
        InvalidFilter::Wrong(field, expected) => {
            return ErrorsError::field(in_filter(field), expected);
        }
        InvalidFilter::QueryParams(invalid) => invalid,
    };
    match invalid {
        InvalidQueryParams::Parameter { field, expected } => {
            ErrorsError::field(in_filter(&field), expected)
        }
        InvalidQueryParams::Time(field) => ErrorsError::FilterTime(in_filter(field)),
        InvalidQueryParams::RangeEmpty => ErrorsError::FilterRange,
        other => ErrorsError::QueryParams(other),
    }
}

/// Returns the path in a body of what is a parameter in a query string: `tags[key]` becomes
/// `filter.tags.key`.
fn in_filter(parameter: &str) -> String {
    let tag = parameter.strip_prefix("tags[").and_then(|rest| rest.strip_suffix(']'));
    match tag {
        None => format!("filter.{parameter}"),
        Some("") => "filter.tags".to_owned(),
        Some(key) => format!("filter.tags.{key}"),
    }
}

fn assign(user_id: Option<Option<String>>) -> Result<StateChange, ErrorsError> {
    let user = user_id.ok_or(ErrorsError::Missing("user_id"))?;
    if user.as_deref() == Some("") {
        return Err(ErrorsError::field("user_id", "must not be empty; null removes the assignee"));
    }
    Ok(StateChange::Assign { user: limited("user_id", user)? })
}

fn limited(field: &'static str, text: Option<String>) -> Result<Option<String>, ErrorsError> {
    let max = limits::ERROR_NOTE_CHARS_MAX;
    match text {
        Some(text) if text.chars().count() > max => {
            Err(ErrorsError::field(field, format!("must have at most {max} characters")))
        }
        text => Ok(text),
    }
}

fn duration_ms(text: Option<&str>) -> Result<Option<i64>, ErrorsError> {
    match text {
        None | Some("forever") => Ok(None),
        Some(text) => match duration::parse(text, limits::ERROR_IGNORE_MS_MAX) {
            Some(ms) => Ok(Some(ms)),
            None => Err(ErrorsError::field(
                "duration",
                "must be forever, or a duration such as 30m, 24h, 7d or 2w",
            )),
        },
    }
}

/// Parses the ids and drops duplicates.
fn group_ids(ids: Ids) -> Result<Vec<GroupId>, ErrorsError> {
    let ids = ids.all().ok().filter(|ids| !ids.is_empty());
    let ids = ids.ok_or_else(|| {
        let max = limits::ERRORS_NAMED_MAX;
        ErrorsError::field("ids", format!("must contain 1 to {max} error ids"))
    })?;
    let mut seen = HashSet::new();
    let mut groups = ids.iter().map(|id| query::group(id)).collect::<Result<Vec<_>, _>>()?;
    groups.retain(|id| seen.insert(*id));
    Ok(groups)
}
