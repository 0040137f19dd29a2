//! What readers of a dashboard choose, and the events that are drawn over its graphs. Requests,
//! responses, exports and stored documents all use this same JSON.
//!
//! A tag filter of a widget or an overlay that is `$name` stands for the value of the variable
//! `name`; where the dashboard has no such variable, it is a filter like any other.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::error::{Invalid, Rule};
use crate::areas::dashboards::limits as own_limits;
use crate::areas::saved_queries::{QueryPlan, SavedQuery};
use crate::limits;
use crate::platform::bounded::{AtMost, FirstMembers};
use crate::platform::telemetry::query_params;

/// The value that stands for all values.
const ALL: &str = "*";

/// A variable, for which readers choose a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardVariable")]
pub(super) struct Variable {
    /// Letters, digits and `_`; not a digit first. Unique.
    #[schemars(length(max = own_limits::VARIABLE_NAME_CHARS_MAX), regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub(super) name: String,
    /// What readers see instead of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::DASHBOARD_NAME_CHARS_MAX))]
    label: Option<String>,
    /// The tag whose values readers choose from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<VariableSource>,
    /// The values that readers choose from, instead of `source`. Without either, any value.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "values")]
    #[schemars(length(max = own_limits::VARIABLE_VALUES_MAX))]
    values: Option<Vec<String>>,
    /// The value of readers who have not chosen one, a tag filter. `*`, or its absence, selects
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WIDGET_TEXT_CHARS_MAX))]
    default: Option<String>,
    /// Whether readers may choose several values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    multiple: Option<bool>,
}

/// A tag of exactly one of `metric` and `event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardVariableSource")]
struct VariableSource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metric: Option<String>,
    /// The name of the events, or a prefix of it followed by `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    /// The key of the tag.
    #[schemars(length(min = 1, max = limits::WIDGET_TEXT_CHARS_MAX))]
    tag: String,
}

/// Events that are drawn over the graphs of a dashboard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardOverlay")]
pub(super) struct Overlay {
    /// The name of the events, or a prefix of it followed by `*`.
    event: String,
    /// Filters by tag key, as in the query of a widget.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tags")]
    tags: Option<BTreeMap<String, String>>,
    /// What readers see instead of the name of the events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::DASHBOARD_NAME_CHARS_MAX))]
    title: Option<String>,
    /// `#rrggbb`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^#[0-9A-Fa-f]{6}$"))]
    color: Option<String>,
}

/// The tag filters that the variables of a dashboard stand for; `None` for no filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChosenValues(BTreeMap<String, Option<String>>);

/// Reads values, but no more than one beyond the limit, which is enough to reject them.
fn values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    type Values = AtMost<String, { own_limits::VARIABLE_VALUES_MAX + 1 }>;
    Ok(Option::<Values>::deserialize(deserializer)?.map(AtMost::first))
}

/// The same for tags.
fn tags<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    type Tags = FirstMembers<String, { limits::QUERY_FILTERS_MAX + 1 }>;
    Ok(Option::<Tags>::deserialize(deserializer)?.map(|FirstMembers(tags)| tags))
}

impl Variable {
    fn check(&self) -> Result<(), Invalid> {
        let mut characters = self.name.chars();
        let is_name = characters.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
            && characters.all(|c| c == '_' || c.is_ascii_alphanumeric());
        let max = own_limits::VARIABLE_NAME_CHARS_MAX;
        if !is_name || self.name.len() > max {
            let expected =
                format!("must be 1 to {max} letters, digits and _, and not begin with a digit");
            return Err(Invalid::field("name", expected));
        }
        check_length("label", self.label.as_deref(), limits::DASHBOARD_NAME_CHARS_MAX)?;
        check_length("default", self.default.as_deref(), limits::WIDGET_TEXT_CHARS_MAX)?;
        if self.default.as_deref().is_some_and(|text| query_params::tag_condition(text).is_none()) {
            return Err(Invalid::field("default", query_params::STAR_RULE));
        }
        if self.source.is_some() && self.values.is_some() {
            return Err(Invalid::field("values", "must not be given together with source"));
        }
        if let Some(source) = &self.source {
            source.check().map_err(|invalid| invalid.within("source"))?;
        }
        let values = self.values.as_deref().unwrap_or_default();
        let max = own_limits::VARIABLE_VALUES_MAX;
        if values.len() > max {
            return Err(Invalid::field("values", format!("must have at most {max} values")));
        }
        for value in values {
            check_length("values", Some(value), limits::WIDGET_TEXT_CHARS_MAX)?;
        }
        Ok(())
    }
}

impl VariableSource {
    fn check(&self) -> Result<(), Invalid> {
        let (metric, event) = (self.metric.clone(), self.event.clone());
        let query = SavedQuery { metric, event, ..SavedQuery::default() };
        query.check()?;
        QueryPlan::new(&query, None)?;
        if self.tag.is_empty() {
            return Err(Invalid::missing("tag"));
        }
        check_length("tag", Some(&self.tag), limits::WIDGET_TEXT_CHARS_MAX)
    }
}

impl Overlay {
    /// Returns the query of its events, with these values in place of variables.
    pub(super) fn query(&self, chosen: &ChosenValues) -> SavedQuery {
        let (event, tags) = (Some(self.event.clone()), self.tags.clone());
        let mut query = SavedQuery { event, tags, ..SavedQuery::default() };
        chosen.apply(&mut query);
        query
    }

    fn check(&self) -> Result<(), Invalid> {
        let query = self.query(&ChosenValues::default());
        query.check()?;
        QueryPlan::new(&query, None)?;
        check_length("title", self.title.as_deref(), limits::DASHBOARD_NAME_CHARS_MAX)?;
        let is_color = |text: &str| {
            text.strip_prefix('#').is_some_and(|digits| {
                digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        if self.color.as_deref().is_some_and(|text| !is_color(text)) {
            return Err(Invalid::field("color", "must be # and six hexadecimal digits"));
        }
        Ok(())
    }
}

impl ChosenValues {
    /// Returns the values of variables: those that the reader sent by name, or the defaults.
    pub(super) fn new(variables: &[Variable], sent: &[(String, String)]) -> Result<Self, Invalid> {
        let mut chosen = Self::default();
        for variable in variables {
            let filter = variable.default.clone().filter(|text| text != ALL);
            chosen.0.insert(variable.name.clone(), filter);
        }
        let mut seen = HashSet::new();
        for (name, text) in sent {
            let refused = |expected: &str| Invalid {
                rule: Rule::Parameter,
                field: format!("var[{name}]"),
                expected: expected.to_owned(),
            };
            let Some(value) = chosen.0.get_mut(name) else {
                return Err(refused("is not a variable of the dashboard"));
            };
            if !seen.insert(name) {
                return Err(refused("must be given only once"));
            }
            if text != ALL && query_params::tag_condition(text).is_none() {
                return Err(refused(query_params::STAR_RULE));
            }
            *value = Some(text.clone()).filter(|text| text != ALL);
        }
        Ok(chosen)
    }

    /// Replaces the variables in the tag filters of a query by their values; a filter of all values
    /// is removed.
    pub(super) fn apply(&self, query: &mut SavedQuery) {
        if self.0.is_empty() {
            return;
        }
        let Some(tags) = &mut query.tags else { return };
        tags.retain(|_, text| {
            let value = text.strip_prefix('$').and_then(|name| self.0.get(name));
            match value {
                None => true,
                Some(None) => false,
                Some(Some(value)) => {
                    text.clone_from(value);
                    true
                }
            }
        });
    }
}

/// Checks the variables of a dashboard.
pub(super) fn check_variables(variables: &[Variable]) -> Result<(), Invalid> {
    let mut names = HashSet::new();
    for (i, variable) in variables.iter().enumerate() {
        let outer = format!("variables[{i}]");
        variable.check().map_err(|invalid| invalid.within(&outer))?;
        if !names.insert(&variable.name) {
            return Err(Invalid::field("name", "must be unique").within(&outer));
        }
    }
    Ok(())
}

/// Checks the overlays of a dashboard.
pub(super) fn check_overlays(overlays: &[Overlay]) -> Result<(), Invalid> {
    for (i, overlay) in overlays.iter().enumerate() {
        overlay.check().map_err(|invalid| invalid.within(&format!("overlays[{i}]")))?;
    }
    Ok(())
}

fn check_length(field: &str, text: Option<&str>, max: usize) -> Result<(), Invalid> {
    if text.is_some_and(|text| text.chars().count() > max) {
        return Err(Invalid::field(field, format!("must have at most {max} characters")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn variables(json: Value) -> Vec<Variable> {
        serde_json::from_value(json).unwrap()
    }

    fn applied(sent: &[(&str, &str)], tags: Value) -> Result<Value, String> {
        let declared = variables(json!([
            {"name": "host", "default": "a,b"}, {"name": "zone"}, {"name": "all", "default": "*"},
        ]));
        let sent: Vec<(String, String)> =
            sent.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let chosen = ChosenValues::new(&declared, &sent).map_err(|invalid| invalid.to_string())?;
        let mut query: SavedQuery =
            serde_json::from_value(json!({"metric": "m", "tags": tags})).unwrap();
        chosen.apply(&mut query);
        Ok(json!(query.tags))
    }

    #[test]
    fn a_variable_in_a_filter_is_replaced_by_its_value() {
        let tags = json!({"h": "$host", "z": "$zone", "a": "$all", "x": "$other", "y": "x$host"});
        let rest = |more: Value| {
            let mut all = json!({"x": "$other", "y": "x$host"});
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            Ok(all)
        };
        assert_eq!(applied(&[], tags.clone()), rest(json!({"h": "a,b"})));
        assert_eq!(applied(&[("host", "*")], tags.clone()), rest(json!({})));
        assert_eq!(
            applied(&[("host", ""), ("zone", "!eu"), ("all", "c*")], tags.clone()),
            rest(json!({"h": "", "z": "!eu", "a": "c*"}))
        );
        // A value is never a variable itself.
        assert_eq!(applied(&[("host", "$zone")], tags.clone()), rest(json!({"h": "$zone"})));
        for (sent, expected) in [
            (vec![("nobody", "a")], "var[nobody] is not a variable of the dashboard"),
            (vec![("zone", "a"), ("zone", "a")], "var[zone] must be given only once"),
        ] {
            assert_eq!(applied(&sent, tags.clone()), Err(expected.to_owned()));
        }
        applied(&[("zone", "a*,b")], tags).unwrap_err();
    }

    #[test]
    fn variables_and_overlays_are_validated() {
        let check = |variable: Value| match serde_json::from_value::<Variable>(variable) {
            Ok(variable) => check_variables(&[variable]).map_err(|invalid| invalid.field),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(check(json!({"name": "_a9"})), Ok(()));
        let source = json!({"metric": "m", "tag": "host"});
        let full = json!({"name": "h", "label": "Host", "source": source, "default": "a", "multiple": true});
        assert_eq!(check(full), Ok(()));
        assert_eq!(check(json!({"name": "h", "values": ["a", "b"]})), Ok(()));
        for (variable, field) in [
            (json!({"name": ""}), "name"),
            (json!({"name": "9"}), "name"),
            (json!({"name": "a-b"}), "name"),
            (json!({"name": "\u{e9}"}), "name"),
            (json!({"name": "x".repeat(51)}), "name"),
            (json!({"name": "x", "label": "x".repeat(201)}), "label"),
            (json!({"name": "x", "default": "x".repeat(501)}), "default"),
            (json!({"name": "x", "default": "a*,b"}), "default"),
            (json!({"name": "x", "values": ["x"], "source": source}), "values"),
            (json!({"name": "x", "values": vec!["x"; 300]}), "values"),
            (json!({"name": "x", "values": ["x".repeat(501)]}), "values"),
            (json!({"name": "x", "source": {"tag": "a"}}), "source.query"),
            (
                json!({"name": "x", "source": {"metric": "m", "event": "e", "tag": "a"}}),
                "source.query",
            ),
            (json!({"name": "x", "source": {"metric": "m", "tag": ""}}), "source.tag"),
        ] {
            assert_eq!(check(variable.clone()), Err(format!("variables[0].{field}")), "{variable}");
        }
        let twice = variables(json!([{"name": "a"}, {"name": "a"}]));
        assert_eq!(check_variables(&twice).unwrap_err().field, "variables[1].name");

        let overlay = |json: Value| {
            let overlay: Overlay = serde_json::from_value(json).unwrap();
            check_overlays(&[overlay]).map_err(|invalid| invalid.field)
        };
        let full =
            json!({"event": "deploy.*", "tags": {"env": "$env"}, "title": "t", "color": "#0aF9b1"});
        assert_eq!(overlay(full), Ok(()));
        for (json, field) in [
            (json!({"event": ""}), "query.event"),
            (json!({"event": "x", "color": "red"}), "color"),
            (json!({"event": "x", "color": "#12345\u{e9}"}), "color"),
            (json!({"event": "x", "title": "x".repeat(201)}), "title"),
            (json!({"event": "x", "tags": {"a": "b*,c"}}), "query.tags.a"),
        ] {
            assert_eq!(overlay(json.clone()), Err(format!("overlays[0].{field}")), "{json}");
        }
    }
}
