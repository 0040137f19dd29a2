//! The state of a request while it is in progress, and the steps common to all responses: request
//! id, quota headers, conditional requests, log line and counts.

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::error::{ApiError, ApiResult, ErrorCode};
use super::response::{MemoryAccounting, Response};
use super::response_compression::UncompressedBody;
use super::route::{Handler, Route};
use super::server::Server;
use super::{cors, etag};
use crate::limits;
use crate::platform::keys::Identity;
use crate::platform::throttle::Usage;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// The state of a request in progress.
#[derive(Debug)]
pub(super) struct RequestRecord {
    /// The route and its index in the router, once it is known.
    pub(super) route: Option<(usize, &'static Route)>,
    pub(super) identity: Identity,
    /// The usage of the quota that the request counted against.
    pub(super) usage: Option<Usage>,
    pub(super) body_bytes: usize,
    /// Whether the request was counted against the rate of its address.
    pub(super) counts_for_address: bool,
    request_id: String,
    started_at: Duration,
    /// The tags in `If-None-Match`.
    known_tags: Vec<String>,
    method: http::Method,
    uri: http::Uri,
}

impl RequestRecord {
    pub(super) fn begin(server: &Server, parts: &Parts) -> Self {
        let given = parts.headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
        let request_id = given.filter(|text| is_request_id(text)).map(str::to_owned);
        Self {
            route: None,
            identity: Identity::Anonymous,
            usage: None,
            body_bytes: 0,
            counts_for_address: false,
            request_id: request_id.unwrap_or_else(|| server.ids.next("")),
            started_at: server.ticks.elapsed(),
            known_tags: etag::known_tags(&parts.method, &parts.headers),
            method: parts.method.clone(),
            uri: parts.uri.clone(),
        }
    }

    pub(super) fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Builds the response of an outcome, counts it and logs it.
    pub(super) fn finish(
        self,
        server: &Server,
        outcome: ApiResult<Response>,
    ) -> http::Response<Bytes> {
        let outcome = outcome.and_then(|response| {
            let response = self.unless_not_modified(response);
            let response =
                if self.method.is_safe() { response } else { response.exempt_from_memory_limit() };
            response.held(&server.settings.memory)
        });
        let (mut response, error) = match outcome {
            Ok(response) => (response, None),
            Err(error) => (Response::from(&error), Some(error)),
        };
        if error.as_ref().is_some_and(|e| e.code() == ErrorCode::Overloaded) {
            server.telemetry.refused_load();
        }
        self.add_headers(&mut response.headers);
        let elapsed = server.ticks.elapsed().saturating_sub(self.started_at);
        let index = self.route.map(|(index, _)| index);
        server.telemetry.answered(index, response.status, elapsed, self.body_bytes);
        let now = self.started_at.saturating_add(elapsed);
        server.refusal_log_limit.report_suppressed(now);
        if !self.is_rate_limited(error.as_ref()) || server.refusal_log_limit.admits(now) {
            self.log(response.status, elapsed, error.as_ref());
        }
        self.into_http(response)
    }

    /// Replaces a response that the client has already by 304.
    fn unless_not_modified(&self, mut response: Response) -> Response {
        let known = etag::is_known(&self.known_tags, response.headers.get(ETAG));
        if known && response.status == StatusCode::OK {
            response.status = StatusCode::NOT_MODIFIED;
            response.headers.remove(CONTENT_TYPE);
            response.headers.remove(CONTENT_ENCODING);
            response.body = Bytes::new();
        }
        response
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        if let Ok(id) = HeaderValue::from_str(&self.request_id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.route.is_some_and(|(_, route)| route.cors) {
            cors::allow(headers);
        }
        // Unlike answers to `Authorization`, caches may share answers to cookies, and a browser
        // shows its own after the session has ended.
        if self.identity.session().is_some() && !headers.contains_key(CACHE_CONTROL) {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        }
        if let Some(usage) = self.usage {
            headers.insert(LIMIT, usage.limit.into());
            headers.insert(REMAINING, usage.remaining.into());
            headers.insert(RESET, usage.reset_seconds.into());
        }
    }

    fn log(&self, status: StatusCode, elapsed: Duration, error: Option<&ApiError>) {
        let method = self.method.as_str();
        let route = self.route.map_or("-", |(_, route)| route.path);
        // A token in a path is a secret.
        let path = if route.contains("{token}") { route } else { self.uri.path() };
        let status = status.as_u16();
        let micros = elapsed.as_micros() as u64;
        let key = self.identity.key_id();
        let request_id = self.request_id.as_str();
        let code = error.map(|e| e.code().as_str());
        let cause = error.and_then(ApiError::cause);
        // tracing requires the level to be constant, so a macro repeats the fields for the four
        // levels.
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    method, path, route, status, micros, request_id, key, code, cause, "request"
                )
            };
        }
        if error.is_some_and(|e| e.code() == ErrorCode::Internal) {
            line!(error);
        } else if error.is_none() || self.is_probe() {
            // Successful requests are counted; a log line for each would outweigh the data.
            line!(debug);
        } else if status >= 500 {
            line!(warn);
        } else {
            line!(info);
        }
    }

    /// Returns whether unauthenticated clients can cause the log line at any rate.
    fn is_rate_limited(&self, error: Option<&ApiError>) -> bool {
        // Internal errors are always logged.
        let is_refusal = error.is_some_and(|error| error.code() != ErrorCode::Internal);
        is_refusal && !self.identity.is_known() && !self.is_probe()
    }

    /// Returns whether the route is one of the process itself, which monitors call every few
    /// seconds.
    fn is_probe(&self) -> bool {
        self.route.is_some_and(|(_, route)| matches!(route.handler, Handler::Server(_)))
    }

    /// Converts the response. For `HEAD`, removes the body and sets the length that `GET` would
    /// have.
    fn into_http(self, response: Response) -> http::Response<Bytes> {
        let Response { status, mut headers, mut body, accounting } = response;
        let has_body = !matches!(status, StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT);
        if self.method == http::Method::HEAD && has_body {
            headers.insert(CONTENT_LENGTH, body.len().into());
            body = Bytes::new();
        }
        let plain = UncompressedBody {
            encoded: headers.contains_key(CONTENT_ENCODING).then_some(status),
            bytes: Bytes::clone(&body),
            is_static: accounting == MemoryAccounting::Static,
        };
        let mut answer = http::Response::new(body);
        answer.extensions_mut().insert(plain);
        *answer.status_mut() = status;
        *answer.headers_mut() = headers;
        answer
    }
}

fn is_request_id(text: &str) -> bool {
    (1..=limits::REQUEST_ID_CHARS_MAX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}
