//! The values in the properties of an event, each with its path.

use serde_json::Value;
use telltale_engine::Memory;

use crate::areas::events::error::EventsError;
use crate::platform::json::{InvalidJson, reserve_document};

/// Calls `visit` with the path and the value of everything in `properties` that is not an object.
/// Returns how many values have no path, because a key in it is empty or contains a dot.
pub(super) fn each_value(
    properties: &str,
    memory: &Memory,
    mut visit: impl FnMut(&str, &Value),
) -> Result<u64, EventsError> {
    let _reserved = reserve_document(properties.as_bytes(), memory)?;
    let document = parse(properties)?;
    let mut without_path = 0;
    let mut open: Vec<(String, &Value)> = vec![(String::new(), &document)];
    while let Some((path, value)) = open.pop() {
        let Value::Object(members) = value else {
            visit(&path, value);
            continue;
        };
        for (key, member) in members {
            if key.is_empty() || key.contains('.') {
                without_path += 1;
            } else if path.is_empty() {
                open.push((key.clone(), member));
            } else {
                open.push((format!("{path}.{key}"), member));
            }
        }
    }
    Ok(without_path)
}

/// Returns the value at a path in `properties`, if there is one that is not an object.
pub(super) fn value_at(
    properties: &str,
    path: &[String],
    memory: &Memory,
) -> Result<Option<Value>, EventsError> {
    let _reserved = reserve_document(properties.as_bytes(), memory)?;
    let mut value = parse(properties)?;
    for key in path {
        let Value::Object(mut members) = value else { return Ok(None) };
        let Some(member) = members.remove(key) else { return Ok(None) };
        value = member;
    }
    Ok(Some(value).filter(|value| !value.is_object()))
}

/// Parses stored properties, which were checked when they were received.
fn parse(properties: &str) -> Result<Value, InvalidJson> {
    serde_json::from_str(properties).map_err(|error| crate::platform::json::invalid_syntax(&error))
}

/// Returns a value as a person reads it: a string without its quotes, anything else as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a number as it is in JSON.
pub(super) fn number(value: f64) -> String {
    let mut out = Vec::new();
    crate::platform::json::number(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_the_path_to_it() {
        let properties =
            r#"{"a":{"b":1,"c":{"d":"x"}},"e":[1,{"f":2}],"g":null,"h.i":1,"":2,"j":{}}"#;
        let mut found = Vec::new();
        let visit = |path: &str, value: &Value| found.push(format!("{path}={}", shown(value)));
        let memory = Memory::unlimited();
        assert_eq!(each_value(properties, &memory, visit).unwrap(), 2);
        found.sort_unstable();
        assert_eq!(found, ["a.b=1", "a.c.d=x", r#"e=[1,{"f":2}]"#, "g=null"]);
        let at = |path: &str| {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            value_at(properties, &path, &memory).unwrap().map(|value| shown(&value))
        };
        assert_eq!(at("a.c.d").as_deref(), Some("x"));
        assert_eq!((at("a.c"), at("a.b.x"), at("z")), (None, None, None));
    }
}
