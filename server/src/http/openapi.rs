//! The OpenAPI 3.1 document, made from the route tables: what is not in a table is not documented, and what is
//! in one cannot be left out.

use std::collections::BTreeMap;

use bytes::Bytes;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::batch::BulkOutcome;
use super::doc::{Form, Param, Place};
use super::error::ErrorCode;
use super::route::{Access, BodyKind, HangUp, LimitClass, Method, QueryRule, Route};
use super::settings::Settings;
use crate::platform::quota::Quota;

/// What holds for all routes.
const CONVENTIONS: &str = "Times in query parameters are date-times of ISO 8601 (`2026-01-02T03:04:05Z`, UTC without an offset), dates \
(`2026-01-02`: as a start its beginning, as an end its end, in UTC), seconds (10 digits) or milliseconds (13 digits) since 1970, `now`, or \
`now-1h` with one of the units s, m, h, d and w. A query parameter that a route does not list is refused with `invalid_parameter`; \
routes with `x-any-query` take any.";

/// One of each form that times in query parameters have.
const TIME_EXAMPLES: [&str; 5] =
    ["2026-01-02T03:04:05Z", "2026-01-02", "1767323045", "1767323045678", "now-1h"];

/// The body of every answer that is not a success.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
struct ErrorBody {
    /// What went wrong.
    error: ErrorInner,
}

/// What went wrong.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorInner")]
struct ErrorInner {
    /// The code, which does not change.
    code: String,
    /// What to do about it, for a person.
    message: String,
    /// Where in the request it lies.
    details: Option<ErrorDetails>,
}

/// Where in the request the error lies.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorDetails {
    /// The field or query parameter.
    field: Option<String>,
    /// The index of the item in a batch, from 0.
    index: Option<u64>,
    /// The id of the resource that is in the way.
    id: Option<String>,
    /// What became of a bulk body whose good part was stored.
    #[serde(flatten)]
    bulk: Option<BulkOutcome>,
}

/// The document of these routes, as JSON.
pub(super) fn document(routes: &[&'static Route], settings: &Settings) -> Bytes {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|s| s.definitions_path = "/components/schemas".into())
        .into_generator();
    let error = json!(generator.subschema_for::<ErrorBody>());
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in routes {
        let operation = operation(route, settings, &mut generator, &error);
        let method = route.method.as_str().to_ascii_lowercase();
        paths.entry(route.path).or_default().insert(method, operation);
    }
    let document = json!({
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Telltale",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "One program that watches and operates your systems.",
            "description": CONVENTIONS,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "key": [] }],
        "tags": tags(routes),
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "tt_<id>_<secret>",
                    "description": "An API key, made with `telltale keys create` or `POST /api/v1/keys`. Also taken as `Token <key>`, and as the password of `Basic`.",
                }
            },
        },
    });
    // A `Value` always serialises.
    serde_json::to_vec(&document).unwrap_or_default().into()
}

/// The areas, in the order of the tables.
fn tags(routes: &[&'static Route]) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    for route in routes {
        if !names.contains(&route.doc.tag) {
            names.push(route.doc.tag);
        }
    }
    names.into_iter().map(|name| json!({ "name": name })).collect()
}

fn operation(
    route: &Route,
    settings: &Settings,
    generator: &mut SchemaGenerator,
    error: &Value,
) -> Value {
    let doc = &route.doc;
    let mut operation = json!({
        "tags": [doc.tag],
        "summary": doc.summary,
        "operationId": operation_id(route),
        "parameters": parameters(route),
        "responses": responses(route, generator, error),
        "x-extension": doc.extension,
        "x-limit": limit(route.limit, settings),
    });
    if route.query == QueryRule::Any {
        operation["x-any-query"] = true.into();
    }
    if !doc.description.is_empty() {
        operation["description"] = doc.description.into();
    }
    match route.access {
        Access::Public => operation["security"] = json!([]),
        Access::Scope(scope) | Access::Dsn(scope, _) => {
            operation["x-scope"] = scope.as_str().into();
        }
    }
    if let Some(request) = doc.request {
        operation["requestBody"] = json!({
            "required": true,
            "content": { doc.request_media: { "schema": request(generator) } },
        });
    }
    operation
}

/// `get_api_v1_metrics_name`
fn operation_id(route: &Route) -> String {
    let words =
        route.path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = route.method.as_str().to_ascii_lowercase();
    for word in words {
        id.push('_');
        id.push_str(word);
    }
    if route.path.ends_with('/') {
        id.push_str("_slash");
    }
    id
}

fn limit(class: LimitClass, settings: &Settings) -> Value {
    match settings.quotas.of(class) {
        Quota::Unlimited => json!({ "class": class.as_str() }),
        Quota::PerMinute(n) => json!({ "class": class.as_str(), "per_minute": n }),
    }
}

/// Every part of the path, explained or not; then the query and the headers that the method reads.
fn parameters(route: &Route) -> Vec<Value> {
    let explained = route.doc.parameters;
    let in_path = path_parameters(route.path).map(|name| {
        let known = explained.iter().find(|param| param.place == Place::Path && param.name == name);
        known.map_or_else(|| parameter(&Param::path(name, "")), parameter)
    });
    let in_query = explained.iter().filter(|param| param.place == Place::Query).map(parameter);
    let mut all: Vec<Value> = in_path.chain(in_query).collect();
    match route.method {
        Method::Get if route.doc.versioned => {
            all.push(header(
                "If-None-Match",
                "The ETag that the caller has already: 304 when it still holds.",
            ));
        }
        Method::Post if route.hang_up == HangUp::GoesOn => {
            all.push(header(
                "Idempotency-Key",
                "Repeating the request with the same value does nothing twice.",
            ));
        }
        Method::Put | Method::Patch | Method::Delete if route.doc.versioned => {
            all.push(header("If-Match", "The ETag that the resource must still have."));
        }
        _ => {}
    }
    all
}

fn path_parameters(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameter(param: &Param) -> Value {
    let place = match param.place {
        Place::Path => "path",
        Place::Query => "query",
    };
    let mut value = json!({
        "name": param.name,
        "in": place,
        "required": param.required,
        "schema": form(param.form),
    });
    if !param.about.is_empty() {
        value["description"] = param.about.into();
    }
    if !param.example.is_empty() {
        value["example"] = param.example.into();
    }
    value
}

fn header(name: &str, about: &str) -> Value {
    json!({ "name": name, "in": "header", "required": false, "description": about, "schema": { "type": "string" } })
}

fn form(form: Form) -> Value {
    match form {
        Form::Text => json!({ "type": "string" }),
        Form::Time => json!({ "type": "string", "examples": TIME_EXAMPLES }),
        Form::Flag => json!({ "type": "boolean" }),
        Form::Integer(min, u64::MAX) => json!({ "type": "integer", "minimum": min }),
        Form::Integer(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Form::OneOf(words) => json!({ "type": "string", "enum": words }),
    }
}

/// The success, and one response per status of refusal with the codes that it may carry.
fn responses(route: &Route, generator: &mut SchemaGenerator, error: &Value) -> Map<String, Value> {
    let answer = &route.doc.answer;
    let mut success = json!({ "description": "Success" });
    if !answer.media.is_empty() {
        let schema = answer.schema.map(|schema| schema(generator));
        let content = schema.map_or_else(|| json!({}), |schema| json!({ "schema": schema }));
        success["content"] = json!({ answer.media: content });
    }
    let mut responses = Map::new();
    responses.insert(answer.status.to_string(), success);
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in every_route_refuses(route).chain(route.doc.errors.iter().copied()) {
        let codes = by_status.entry(code.status().as_u16()).or_default();
        if !codes.contains(&code.as_str()) {
            codes.push(code.as_str());
        }
    }
    for (status, codes) in by_status {
        let description =
            codes.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
        let body = json!({ "application/json": { "schema": error } });
        responses.insert(
            status.to_string(),
            json!({ "description": description, "content": body, "x-codes": codes }),
        );
    }
    responses
}

/// What the way to any handler of this form refuses.
fn every_route_refuses(route: &Route) -> impl Iterator<Item = ErrorCode> {
    use ErrorCode::*;
    let keyed: &[ErrorCode] = match route.access {
        // Whoever comes without a key is counted by address.
        Access::Public => &[RateLimited],
        Access::Scope(_) | Access::Dsn(..) => {
            &[Unauthorized, Forbidden, RateLimited, Internal, Unavailable, Overloaded]
        }
    };
    let bodied: &[ErrorCode] = match route.body {
        BodyKind::None => &[],
        BodyKind::Json | BodyKind::Batch | BodyKind::Bulk => {
            &[InvalidJson, InvalidParameter, RequestTimeout, PayloadTooLarge, UnsupportedMediaType]
        }
    };
    let asked: &[ErrorCode] = match route.query {
        QueryRule::Declared => &[InvalidParameter],
        QueryRule::Any => &[],
    };
    let conditional: &[ErrorCode] = match route.method {
        Method::Post if route.hang_up == HangUp::GoesOn => &[Conflict],
        Method::Put | Method::Patch | Method::Delete if route.doc.versioned => {
            &[PreconditionFailed]
        }
        _ => &[],
    };
    [keyed, asked, bodied, conditional].into_iter().flatten().copied()
}
