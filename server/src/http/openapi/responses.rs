//! What a route answers: its success, and one response per status of refusal with the codes that it may carry.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::operation::operation_id;
use super::parameters::{is_conditional, knows_idempotency_keys};
use super::schemas::Schemas;
use crate::http::batch::BulkOutcome;
use crate::http::doc::Link;
use crate::http::error::ErrorCode;
use crate::http::route::{Access, BodyKind, Handler, Method, Route};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<ErrorDetails>,
}

/// Where in the request the error lies.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorDetails {
    /// The field or query parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// The index of the item in a batch, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    /// The id of the resource that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// What became of a bulk body whose good part was stored.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    bulk: Option<BulkOutcome>,
}

pub(super) fn responses(route: &Route, schemas: &mut Schemas) -> Map<String, Value> {
    let mut responses = Map::new();
    responses.insert(route.doc.answer.status.to_string(), success(route, schemas));
    if route.doc.versioned && route.method == Method::Get {
        let unchanged = json!({ "description": "The `ETag` of `If-None-Match` still holds." });
        responses.insert("304".to_owned(), unchanged);
    }
    let error = schemas.answer(SchemaGenerator::subschema_for::<ErrorBody>);
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

fn success(route: &Route, schemas: &mut Schemas) -> Value {
    let answer = &route.doc.answer;
    let mut success = json!({ "description": "Success" });
    if !answer.media.is_empty() {
        let schema = answer.schema.map(|schema| schemas.answer(schema));
        let content = schema.map_or_else(|| json!({}), |schema| json!({ "schema": schema }));
        success["content"] = json!({ answer.media: content });
    }
    if let Some(twin) = &route.doc.twin {
        success["content"][twin.media] = json!({ "schema": schemas.answer(twin.answer) });
    }
    if route.doc.versioned && route.method == Method::Get {
        success["headers"] = json!({
            "ETag": { "description": "For `If-None-Match` and `If-Match`.", "schema": { "type": "string" } },
        });
    }
    if !route.doc.links.is_empty() {
        success["links"] = route.doc.links.iter().map(link).collect::<Map<_, _>>().into();
    }
    success
}

/// What can be done with what was made.
fn link(link: &Link) -> (String, Value) {
    let id = operation_id(link.method, link.path);
    let from_body = format!("$response.body#{}", link.pointer);
    let mut parameters = json!({ link.parameter: from_body });
    if !link.outer.is_empty() {
        parameters[link.outer] = format!("$request.path.{}", link.outer).into();
    }
    (id.clone(), json!({ "operationId": id, "parameters": parameters }))
}

/// What the way to any handler of this form refuses.
fn every_route_refuses(route: &Route) -> impl Iterator<Item = ErrorCode> {
    use ErrorCode::*;
    // Headers that are too many, a query string that is not UTF-8, a parameter that is not declared.
    let every: &[ErrorCode] = &[InvalidParameter, Internal];
    let keyed: &[ErrorCode] = match route.access {
        // Whoever comes without a key is counted by address.
        Access::Public => &[RateLimited],
        Access::Scope(_) | Access::Dsn(..) => &[Unauthorized, Forbidden, RateLimited, Unavailable],
    };
    let served: &[ErrorCode] = match route.handler {
        Handler::Server(_) => &[],
        Handler::App(_) => &[Unavailable, Overloaded],
    };
    let bodied: &[ErrorCode] = match route.body {
        BodyKind::None => &[],
        BodyKind::Bulk => &[RequestTimeout, PayloadTooLarge, UnsupportedMediaType],
        BodyKind::Json | BodyKind::Batch => {
            &[InvalidJson, RequestTimeout, PayloadTooLarge, UnsupportedMediaType]
        }
    };
    let repeated: &[ErrorCode] = if knows_idempotency_keys(route) { &[Conflict] } else { &[] };
    let conditional: &[ErrorCode] = if is_conditional(route) { &[PreconditionFailed] } else { &[] };
    [every, keyed, served, bodied, repeated, conditional].into_iter().flatten().copied()
}
