//! Routes of the process itself, which are served while it starts and drains: health, metrics, the
//! OpenAPI document, and the page that renders it.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, VARY};
use schemars::JsonSchema;
use serde::Serialize;

use super::error::{ApiError, ApiResult, ErrorCode};
use super::exposition;
use super::response::Response;
use super::route::{EarlyRequest, HandlerFuture, Route};
use super::route_doc::Doc;
use super::server::Server;
use crate::limits;
use crate::platform::connection_thread;

const TAG: &str = "Operation";

/// Content security policy: everything on the page comes from this server; nothing else is loaded
/// or executed.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                           img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The request header that the response to `/` depends on.
const ACCEPT_NAME: HeaderValue = HeaderValue::from_static("Accept");

/// Maximum number of lines about corrupt data in a response of `/readyz`; `telltale verify` prints
/// all.
const DAMAGE_LINES_MAX: usize = 20;

pub(super) static ROUTES: &[Route] = &[
    Route::early("/", index).public().doc(
        Doc::new(TAG, "Return the server's name, version and entry points")
            .about("Clients that accept `text/html` are sent to the console instead.")
            .ok::<Index>()
            .ext(),
    ),
    Route::early("/healthz", healthz)
        .public()
        .doc(Doc::new(TAG, "Check that the process is running").ok::<Status>().ext()),
    Route::early("/readyz", readyz).public().doc(
        Doc::new(
            TAG,
            "Check that the server accepts requests; fails while it starts or shuts down",
        )
        .ok::<Ready>()
        .errors(&[ErrorCode::Unavailable])
        .ext(),
    ),
    Route::early("/metrics", metrics).any_query().doc(
        Doc::new(TAG, "Return the server's own metrics in Prometheus exposition format")
            .media("application/openmetrics-text")
            .ext(),
    ),
    Route::early("/api/v1/openapi.json", openapi).public().doc(
        Doc::new(TAG, "Return this document")
            .ok::<serde_json::Map<String, serde_json::Value>>()
            .ext(),
    ),
    Route::early("/docs", page)
        .public()
        .doc(Doc::new(TAG, "Show this document as a page").media("text/html").ext()),
    Route::early("/docs/page.css", style)
        .public()
        .doc(Doc::new(TAG, "Return the page's style sheet").media("text/css").ext()),
    Route::early("/docs/page.js", script)
        .public()
        .doc(Doc::new(TAG, "Return the page's script").media("text/javascript").ext()),
];

/// The server's name, version and entry points.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ServerIndex")]
struct Index {
    /// `telltale`
    name: &'static str,
    version: &'static str,
    /// The page that documents all routes.
    docs: &'static str,
    /// The OpenAPI document of all routes.
    openapi: &'static str,
    health: &'static str,
    readiness: &'static str,
    /// The server's own metrics, in Prometheus exposition format; requires a key.
    metrics: &'static str,
    /// The pages of this server for people.
    console: &'static str,
}

/// The state of the process.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ServerHealth")]
struct Status {
    /// `ok`
    status: &'static str,
}

/// The state of the server.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ServerReadiness")]
struct Ready {
    /// `ok`
    status: &'static str,
    /// Conditions that an operator should know, one line each: why writes are refused, or why
    /// compaction or expiry is suspended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
    /// The number of lost or corrupt items found, if any. The rest of the data is served.
    #[serde(skip_serializing_if = "is_zero")]
    damage_found: usize,
    /// The first descriptions of data that was lost or repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damage: Vec<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Sends browsers to the console, and programs what they have always got.
fn index(_: Arc<Server>, request: EarlyRequest) -> HandlerFuture {
    if accepts_pages(&request) {
        return now(Ok(Response::see_other("/console").header(VARY, ACCEPT_NAME)));
    }
    let answer = Response::ok(&Index {
        name: "telltale",
        version: env!("CARGO_PKG_VERSION"),
        docs: "/docs",
        openapi: "/api/v1/openapi.json",
        health: "/healthz",
        readiness: "/readyz",
        metrics: "/metrics",
        console: "/console",
    });
    now(answer.map(|response| response.header(VARY, ACCEPT_NAME)))
}

/// Returns whether the client asks for a page by name, as browsers do when they open one.
fn accepts_pages(request: &EarlyRequest) -> bool {
    let mut values = request.headers().get_all(ACCEPT).iter().filter_map(|v| v.to_str().ok());
    values.any(|value| value.split([',', ';']).any(|media| media.trim() == "text/html"))
}

fn healthz(_: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    now(Response::ok(&Status { status: "ok" }))
}

/// Reports ready even if data is corrupt: the rest is served, and the response describes the
/// corruption.
fn readyz(server: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    Box::pin(async move {
        let app = server.ready()?;
        if let Some(failure) = app.engine().failure() {
            let message = "the storage has failed and the process is exiting";
            return Err(ApiError::new(ErrorCode::Unavailable, message)
                .retry_after(limits::UNAVAILABLE_RETRY_SECONDS)
                .caused_by(failure));
        }
        let clock = app.engine().trusted_time().deviation.map(|deviation| deviation.to_string());
        let notices = app.engine().trouble().into_iter().chain(clock).collect();
        let damage = server.opened()?.blocking(|app| ApiResult::Ok(app.engine().damage())).await?;
        let damage_found = damage.len();
        let damage = damage.into_iter().take(DAMAGE_LINES_MAX).collect();
        Response::ok(&Ready { status: "ok", notices, damage_found, damage })
    })
}

fn metrics(server: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    Box::pin(async move {
        let engine = server.opened()?.blocking(|app| ApiResult::Ok(app.engine().stats())).await?;
        let text = exposition::render(&server, engine)?;
        let media = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        // The metrics that show what uses the memory must be available when it is full.
        Ok(Response::bytes(media, text).exempt_from_memory_limit())
    })
}

fn openapi(server: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    Box::pin(async move {
        let generated = connection_thread::spawn_blocking(move || server.openapi()).await;
        let document = generated.map_err(ApiError::internal)?;
        Ok(Response::bytes("application/json", document).of_static_bytes())
    })
}

fn page(_: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    now(Ok(asset("text/html; charset=utf-8", include_str!("docs/page.html"))))
}

fn style(_: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    now(Ok(asset("text/css; charset=utf-8", include_str!("docs/page.css"))))
}

fn script(_: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    now(Ok(asset("text/javascript; charset=utf-8", include_str!("docs/page.js"))))
}

/// Returns a response that is available at once.
fn now(answer: ApiResult<Response>) -> HandlerFuture {
    Box::pin(std::future::ready(answer))
}

fn asset(media: &'static str, text: &'static str) -> Response {
    Response::bytes(media, Bytes::from_static(text.as_bytes()))
        .of_static_bytes()
        .header(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
}
