//! A test server for the tests of areas: all routes on a temporary engine, with a manual clock and
//! without a socket. Requests have the operator's identity, so no test needs a key.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use telltale_engine::{Clock, Engine, Maintenance, Memory, Options, TimestampMs};
use tokio::runtime::Runtime;

use crate::app::App;
use crate::config::Config;
use crate::http::{Origin, Route, Server};
use crate::platform::ticks::Ticks;

/// The time at which tests start: 2026-01-02T03:04:05.678Z.
pub(super) const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

/// A server, its engine and its runtime, used by one test.
pub(super) struct TestServer {
    pub(super) dir: tempfile::TempDir,
    app: Arc<App>,
    server: Arc<Server>,
    runtime: Runtime,
}

/// The response of a route.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The JSON body; null if the body is not JSON.
    pub(super) body: Value,
}

impl TestServer {
    pub(super) fn open() -> Self {
        Self::with(Options::default())
    }

    pub(super) fn with(options: Options) -> Self {
        Self::serving(options, &Config::default(), super::routes())
    }

    /// Opens a server with the given routes.
    pub(super) fn serving(
        options: Options,
        config: &Config,
        routes: impl Iterator<Item = &'static Route>,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(NOW);
        let options = Options { clock: clock.clone(), maintenance: Maintenance::Manual, ..options };
        let engine = Engine::open(&dir.path().join("data"), options).unwrap();
        let ticks = Ticks::following(clock.clone());
        let app = App::new(engine, clock.clone(), ticks.clone(), config).unwrap();
        let server =
            Server::new(config.http_settings(&Memory::unlimited()), clock, ticks, routes).unwrap();
        server.open(Arc::clone(&app)).unwrap();
        Self { dir, app, server, runtime: Runtime::new().unwrap() }
    }

    /// Returns the app that the handlers use.
    pub(super) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Runs what a handler would.
    pub(super) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Advances the clock.
    pub(super) fn pass(&self, ms: i64) {
        self.app.clock().set(TimestampMs(self.app.now().0 + ms));
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, &[], "")
    }

    pub(super) fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, &[], "")
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Answer {
        self.call(Method::POST, path, &[], &body.to_string())
    }

    /// Sends a POST with an idempotency key.
    pub(super) fn post_once(&self, path: &str, key: &str, body: &Value) -> Answer {
        self.call(Method::POST, path, &[("idempotency-key", key)], &body.to_string())
    }

    pub(super) fn call(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = http::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).unwrap();
        self.runtime.block_on(async {
            let (head, body) = self.server.handle(Origin::Control, request).await.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes();
            let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
            Answer { status: head.status, headers: head.headers, body }
        })
    }
}

impl Answer {
    /// Checks the status of a success response and returns its payload.
    #[track_caller]
    pub(super) fn data(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self.body.get("data").cloned().unwrap_or_default()
    }

    /// Checks the status of a success response and returns its body.
    #[track_caller]
    pub(super) fn whole(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self.body
    }

    /// Checks the status, code and field of a refusal; `field` is empty if the error names none.
    #[track_caller]
    pub(super) fn refused(self, status: u16, code: &str, field: &str) {
        let error = &self.body["error"];
        assert_eq!((self.status.as_u16(), &error["code"]), (status, &Value::from(code)), "{error}");
        assert_eq!(error["details"]["field"].as_str().unwrap_or_default(), field, "{error}");
    }
}
