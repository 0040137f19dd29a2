//! Path, query and header parameters.

use serde_json::{Value, json};

use crate::http::known_parameters::family;
use crate::http::route::{Method, OnDisconnect, Route};
use crate::http::route_doc::{Form, Param, Place};
use crate::limits;

/// An example of each form of time values in query parameters.
const TIME_EXAMPLES: [&str; 5] =
    ["2026-01-02T03:04:05Z", "2026-01-02", "1767323045", "1767323045678", "now-1h"];
/// Time values that are neither a date nor a date-time.
const TIME_PATTERN: &str = "^([0-9]{10}|[0-9]{13}|now|now-[0-9]{1,4}[smhdw])$";

/// Time values and durations.
const SINCE_PATTERN: &str =
    "^([0-9]{10}|[0-9]{13}|now|now-[0-9]{1,4}[smhdw]|[1-9][0-9]{0,3}[mhdw])$";

/// Returns all path parameters, then the query and header parameters.
pub(super) fn parameters(route: &Route) -> Vec<Value> {
    let explained = route.doc.parameters;
    let in_path = path_parameters(route.path).map(|name| {
        let known = explained.iter().find(|param| param.place == Place::Path && param.name == name);
        known.map_or_else(|| parameter(&Param::path(name, "")), parameter)
    });
    let in_query = explained.iter().filter(|param| param.place == Place::Query).map(parameter);
    let mut all: Vec<Value> = in_path.chain(in_query).collect();
    if is_idempotent(route) {
        let about = "A repeated request with the same value returns the first response and has no further effect.";
        let schema = json!({
            "type": "string",
            "minLength": 1,
            "maxLength": limits::IDEMPOTENCY_KEY_CHARS_MAX,
            "pattern": "^[!-~]+$",
        });
        all.push(header("Idempotency-Key", about, schema));
    }
    if route.doc.versioned {
        let (name, about) = match route.method {
            Method::Get => (
                "If-None-Match",
                "The ETag of the client's copy; 304 if the resource has not changed.",
            ),
            _ => (
                "If-Match",
                "The ETag that the resource must have; otherwise the request is refused.",
            ),
        };
        all.push(header(name, about, json!({ "type": "string" })));
    }
    all
}

/// Returns whether the route honours `Idempotency-Key`.
pub(super) fn is_idempotent(route: &Route) -> bool {
    route.method == Method::Post && route.cancel == OnDisconnect::GoesOn
}

/// Returns whether the route honours `If-Match`.
pub(super) fn is_conditional(route: &Route) -> bool {
    route.doc.versioned && route.method != Method::Get
}

fn path_parameters(path: &'static str) -> impl Iterator<Item = &'static str> {
    let name = |part: &'static str| part.strip_prefix('{')?.strip_suffix('}');
    path.split('/').filter_map(name).map(|name| name.trim_start_matches('*'))
}

fn parameter(param: &Param) -> Value {
    let mut value = match (param.place, family(param.name)) {
        (Place::Path, _) => json!({ "name": param.name, "in": "path" }),
        (Place::Query, None) => json!({ "name": param.name, "in": "query" }),
        (Place::Query, Some(family)) => {
            json!({ "name": family, "in": "query", "style": "deepObject", "explode": true })
        }
    };
    value["required"] = param.required.into();
    value["schema"] = match (param.place, param.form) {
        // An empty path parameter would be a different path.
        (Place::Path, Form::Text) => json!({ "type": "string", "minLength": 1 }),
        (_, form) => schema(form),
    };
    if !param.about.is_empty() {
        value["description"] = param.about.into();
    }
    if !param.example.is_empty() {
        value["example"] = match param.form {
            Form::Tags => json!({ "key": param.example }),
            _ => param.example.into(),
        };
    }
    value
}

fn header(name: &str, about: &str, schema: Value) -> Value {
    json!({ "name": name, "in": "header", "required": false, "description": about, "schema": schema })
}

fn times(pattern: &str) -> Value {
    json!([
        { "type": "string", "format": "date-time" },
        { "type": "string", "format": "date" },
        { "type": "string", "pattern": pattern },
    ])
}

fn schema(form: Form) -> Value {
    match form {
        Form::Text => json!({ "type": "string" }),
        Form::Filled => json!({ "type": "string", "minLength": 1 }),
        Form::Pattern(pattern) => json!({ "type": "string", "pattern": pattern }),
        Form::TextTo(chars_max) => json!({ "type": "string", "maxLength": chars_max }),
        Form::Texts(items_max) => json!({
            "type": "array",
            "items": { "type": "string", "minLength": 1 },
            "minItems": 1,
            "maxItems": items_max,
        }),
        Form::Tags => json!({
            "type": "object",
            "propertyNames": { "minLength": 1 },
            "additionalProperties": { "type": "string" },
        }),
        Form::Time => json!({ "anyOf": times(TIME_PATTERN), "examples": TIME_EXAMPLES }),
        Form::Since => json!({ "anyOf": times(SINCE_PATTERN), "examples": ["24h"] }),
        Form::Flag => json!({ "type": "boolean" }),
        Form::Integer(min) => json!({ "type": "integer", "minimum": min }),
        Form::OneOf(words) => json!({ "type": "string", "enum": words }),
    }
}
