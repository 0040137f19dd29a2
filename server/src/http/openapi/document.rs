//! The document's top level.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::operation::operation;
use super::schemas::Schemas;
use crate::http::route::Route;
use crate::http::settings::Settings;

/// Conventions common to all routes.
const CONVENTIONS: &str = "Time values in query parameters are ISO 8601 date-times (`2026-01-02T03:04:05Z`, UTC without an offset), dates \
(`2026-01-02`: the start of the day for a start, its end for an end, in UTC), seconds (10 digits) or milliseconds (13 digits) since 1970, `now`, or \
`now-1h` with one of the units s, m, h, d and w. Starts (`from`) are inclusive and ends (`to`) exclusive; an end of `now`, or none where that means now, \
includes the current millisecond. A query parameter that a route does not list is refused with `invalid_parameter`; \
routes with `x-any-query` ignore unknown parameters.";

/// Generates the document of these routes as JSON.
pub(in crate::http) fn document(routes: &[&'static Route], settings: &Settings) -> Bytes {
    let mut schemas = Schemas::new();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for route in routes {
        let operation = operation(route, settings, &mut schemas);
        let method = route.method.as_str().to_ascii_lowercase();
        paths.entry(route.template()).or_default().insert(method, operation);
    }
    let mut paths = json!(paths);
    let schemas = schemas.finish(&mut paths);
    let document = json!({
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Telltale",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": concat!(env!("CARGO_PKG_DESCRIPTION"), "."),
            "description": CONVENTIONS,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "key": [] }],
        "tags": tags(routes),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "tt_<id>_<secret>",
                    "description": "An API key, created with `telltale keys create` or `POST /api/v1/keys`. Also accepted as `Token <key>`, and as the password of `Basic`.",
                }
            },
        },
    });
    match serde_json::to_vec(&document) {
        Ok(bytes) => bytes.into(),
        Err(error) => panic!("the OpenAPI document cannot be serialised: {error}"),
    }
}

/// Returns the areas, in the order of the tables.
fn tags(routes: &[&'static Route]) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    for route in routes {
        if !names.contains(&route.doc.tag) {
            names.push(route.doc.tag);
        }
    }
    names.into_iter().map(|name| json!({ "name": name })).collect()
}
