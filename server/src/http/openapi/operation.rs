//! One operation: its request, limits and access, with references to its responses.

use serde_json::{Value, json};

use super::parameters::parameters;
use super::responses::responses;
use super::schemas::Schemas;
use crate::http::route::{Access, LimitClass, Method, QueryRule, Route};
use crate::http::route_doc::BodyDoc;
use crate::http::settings::Settings;
use crate::platform::quota::Quota;

pub(super) fn operation(route: &Route, settings: &Settings, schemas: &mut Schemas) -> Value {
    let doc = &route.doc;
    let mut operation = json!({
        "tags": [doc.tag],
        "summary": doc.summary,
        "operationId": operation_id(route.method, route.path),
        "parameters": parameters(route),
        "responses": responses(route, schemas),
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
        Access::Signed(scope) => {
            operation["x-scope"] = scope.as_str().into();
            operation["x-signed-url"] = true.into();
        }
    }
    if let Some(body) = &doc.request {
        operation["requestBody"] = request_body(body, schemas);
        if let Some(twin) = &doc.twin {
            let schema = schemas.request(twin.request);
            operation["requestBody"]["content"][twin.media] = json!({ "schema": schema });
        }
    }
    operation
}

fn request_body(body: &BodyDoc, schemas: &mut Schemas) -> Value {
    let mut content = json!({ "schema": schemas.request(body.schema) });
    if !body.example.is_empty() {
        // An example that is not JSON is included as a string.
        let example = serde_json::from_str(body.example).unwrap_or_else(|_| body.example.into());
        content["example"] = example;
    }
    json!({ "required": body.required, "content": { body.media: content } })
}

/// Returns the operation id: `get_api_v1_metrics_name`.
pub(super) fn operation_id(method: Method, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = method.as_str().to_ascii_lowercase();
    for word in words {
        id.push('_');
        id.push_str(word);
    }
    if path.ends_with('/') {
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
