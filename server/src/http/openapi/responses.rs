//! The responses of a route: the success response, and one error response per status with its
//! possible codes.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::operation::operation_id;
use super::parameters::{is_conditional, is_idempotent};
use super::schemas::Schemas;
use crate::http::batch::BulkOutcome;
use crate::http::error::ErrorCode;
use crate::http::route::{Access, BodyKind, Handler, Method, Route};
use crate::http::route_doc::Link;

/// The body of every error response.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
struct ErrorBody {
    /// The error.
    error: ErrorInner,
}

/// The error.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorInner")]
struct ErrorInner {
    /// The error code, which is stable.
    code: String,
    /// A description for people.
    message: String,
    /// The location of the error in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<ErrorDetails>,
}

/// The location of the error in the request.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorDetails {
    /// The field or query parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// The index of the item in a batch, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    /// The id of the conflicting resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The current version of a dashboard that has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    /// The result of a bulk request whose valid items were stored.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    bulk: Option<BulkOutcome>,
}

pub(super) fn responses(route: &Route, schemas: &mut Schemas) -> Map<String, Value> {
    let mut responses = Map::new();
    responses.insert(route.doc.answer.status.to_string(), success(route, schemas));
    if route.doc.may_be_accepted {
        let mut accepted = success(route, schemas);
        accepted["description"] = "The work goes on.".into();
        responses.insert("202".to_owned(), accepted);
    }
    if route.doc.versioned && route.method == Method::Get {
        let unchanged = json!({ "description": "The resource has not changed: its `ETag` is in `If-None-Match`." });
        responses.insert("304".to_owned(), unchanged);
    }
    let error = schemas.response(SchemaGenerator::subschema_for::<ErrorBody>);
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in common_errors(route).chain(route.doc.errors.iter().copied()) {
        let codes = by_status.entry(code.status().as_u16()).or_default();
        if !codes.contains(&code.as_str()) {
            codes.push(code.as_str());
        }
    }
    for (status, codes) in by_status {
        let description =
            codes.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
        let mut body = json!({ "application/json": { "schema": error } });
        // Who asks for a page that does not exist gets a page that says so.
        if status == 404 && route.doc.answer.media == "text/html" {
            body["text/html"] = json!({ "schema": { "type": "string" } });
        }
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
        let schema = answer.schema.map(|schema| schemas.response(schema));
        let content = schema.map_or_else(|| json!({}), |schema| json!({ "schema": schema }));
        success["content"] = json!({ answer.media: content });
    }
    if let Some(twin) = &route.doc.twin {
        success["content"][twin.media] = json!({ "schema": schemas.response(twin.answer) });
    }
    if route.doc.versioned && route.method == Method::Get {
        success["headers"] = json!({
            "ETag": { "description": "The revision, for `If-None-Match` and `If-Match`.", "schema": { "type": "string" } },
        });
    }
    if !route.doc.links.is_empty() {
        success["links"] = route.doc.links.iter().map(link).collect::<Map<_, _>>().into();
    }
    success
}

/// Returns the OpenAPI link to an operation that can follow.
fn link(link: &Link) -> (String, Value) {
    let id = operation_id(link.method, link.path);
    let from_body = format!("$response.body#{}", link.pointer);
    let mut parameters = json!({ link.parameter: from_body });
    if !link.outer.is_empty() {
        parameters[link.outer] = format!("$request.path.{}", link.outer).into();
    }
    (id.clone(), json!({ "operationId": id, "parameters": parameters }))
}

/// Returns the error codes common to all routes with these properties.
fn common_errors(route: &Route) -> impl Iterator<Item = ErrorCode> {
    use ErrorCode::*;
    // Too many headers, a query string that is not UTF-8, or an undeclared parameter.
    let every: &[ErrorCode] = &[InvalidParameter, Internal];
    let keyed: &[ErrorCode] = match route.access {
        // Requests without a key are counted by address.
        Access::Public => &[RateLimited],
        Access::Scope(_) | Access::Signed(_) | Access::Dsn(..) => {
            &[Unauthorized, Forbidden, RateLimited, Unavailable]
        }
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
    let repeated: &[ErrorCode] = if is_idempotent(route) { &[Conflict] } else { &[] };
    let conditional: &[ErrorCode] = if is_conditional(route) { &[PreconditionFailed] } else { &[] };
    [every, keyed, served, bodied, repeated, conditional].into_iter().flatten().copied()
}
