//! Request and response bodies of the area.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::PeopleError;
use super::model::Preferences;
use crate::areas::people::limits as own_limits;
use crate::http::{ApiError, ApiResult, Paging, Query};
use crate::platform::people::Person;
use crate::platform::time::IsoTime;

/// A person that the server knows.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "User")]
pub(super) struct UserView {
    /// The user of keys, the member of schedules, the assignee of errors: mostly an email address.
    user: String,
    /// The number of valid keys.
    keys: usize,
    /// When a key was last used; null if none was.
    last_seen: Option<IsoTime>,
    /// Whether the user is a member of an on-call schedule.
    on_call_member: bool,
    /// Whether errors are assigned to the user.
    assignee: bool,
}

/// The preferences of the user of the key or session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Preferences")]
pub(super) struct PreferencesView {
    user: String,
    /// As sent; empty if none were.
    #[schemars(schema_with = "object")]
    preferences: Box<RawValue>,
    /// Null if none were stored.
    updated_at: Option<IsoTime>,
}

/// New preferences.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PreferencesInput")]
pub(super) struct PreferencesInput {
    /// An object of at most 16 KiB, nested at most 16 levels deep, which replaces all preferences.
    #[schemars(schema_with = "object", required)]
    preferences: Option<Box<RawValue>>,
}

/// Reads `search`.
pub(super) fn search(query: &Query) -> ApiResult<Option<String>> {
    let text = query.one("search")?.filter(|text| !text.is_empty());
    let max = own_limits::USER_SEARCH_CHARS_MAX;
    if text.is_some_and(|text| text.chars().count() > max) {
        return Err(ApiError::parameter(
            "search",
            format_args!("must have at most {max} characters"),
        ));
    }
    Ok(text.map(str::to_owned))
}

fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

impl UserView {
    /// Returns one page of the users.
    pub(super) fn page(all: Vec<(String, Person)>, paging: Paging) -> crate::http::Page<Self> {
        let meta = paging.meta(all.len());
        let view = |(user, person): (String, Person)| Self {
            user,
            keys: person.keys,
            last_seen: person.last_seen.map(IsoTime),
            on_call_member: person.is_on_call_member,
            assignee: person.is_assignee,
        };
        let page = all.into_iter().skip(paging.offset).take(paging.limit);
        crate::http::Page { data: page.map(view).collect(), meta }
    }
}

impl PreferencesView {
    pub(super) fn new(found: Preferences) -> ApiResult<Self> {
        Ok(Self {
            user: found.user,
            preferences: RawValue::from_string(found.json).map_err(ApiError::internal)?,
            updated_at: found.updated_at.map(IsoTime),
        })
    }
}

impl PreferencesInput {
    /// Validates the preferences and returns them as JSON without white space.
    pub(super) fn into_json(self) -> Result<String, PeopleError> {
        let sent = self.preferences.ok_or(PeopleError::Missing)?;
        let max = own_limits::PREFERENCES_BYTES_MAX;
        if sent.get().len() > max {
            return Err(PeopleError::Invalid(format!("must have at most {max} bytes")));
        }
        // Also rejects numbers that no program can represent.
        let value: serde_json::Value = serde_json::from_str(sent.get())
            .map_err(|error| PeopleError::Invalid(format!("cannot be read: {error}")))?;
        if !value.is_object() {
            return Err(PeopleError::Invalid("must be an object".to_owned()));
        }
        let max = own_limits::PREFERENCES_DEPTH_MAX;
        if depth(&value) > max {
            return Err(PeopleError::Invalid(format!("must be nested at most {max} levels deep")));
        }
        Ok(value.to_string())
    }
}

/// Returns the nesting depth of a value: 1 for a value without members.
fn depth(value: &serde_json::Value) -> usize {
    let (mut deepest, mut pending) = (0, vec![(value, 1)]);
    while let Some((value, level)) = pending.pop() {
        deepest = deepest.max(level);
        match value {
            serde_json::Value::Array(items) => {
                pending.extend(items.iter().map(|item| (item, level + 1)));
            }
            serde_json::Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, level + 1)));
            }
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<String, String> {
        let preferences = Some(RawValue::from_string(json.to_owned()).unwrap());
        PreferencesInput { preferences }.into_json().map_err(|error| error.to_string())
    }

    #[test]
    fn preferences_are_a_small_object() {
        let sent = r#"{"b": [1, null], "a": {"x": "\u202e/%2F"}}"#;
        let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(value(&read(sent).unwrap()), value(sent));
        assert_eq!(read("{}").unwrap(), "{}");
        for other in ["1", "[]", "null", "\"a\"", r#"{"a": 1e999}"#] {
            assert!(read(other).is_err(), "{other}");
        }
        let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        let max = own_limits::PREFERENCES_DEPTH_MAX;
        read(&nested(max - 1)).unwrap();
        read(&nested(max)).unwrap_err();
        let long = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
        read(&long(own_limits::PREFERENCES_BYTES_MAX)).unwrap();
        read(&long(own_limits::PREFERENCES_BYTES_MAX + 1)).unwrap_err();
    }
}
