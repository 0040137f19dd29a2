//! A server for tests, and its routes.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use bytes::Bytes;
use http::header::ETAG;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use telltale_engine::{Clock, Collection, Engine, Expect, Options, TimestampMs, Write};
use tempfile::TempDir;

use crate::app::App;
use crate::config::Config;
use crate::http::*;
use crate::platform::keys::NewKey;
use crate::platform::quota::KeyLimits;
use crate::platform::ticks::Ticks;

const COLLECTION: Collection = Collection("tests");

static ROUTES: &[Route] = &[
    Route::get("/t/echo/{name}", &echo).any_query(),
    Route::get("/t/open", &open).public(),
    Route::get("/t/large", &large),
    Route::get("/t/tagged", &tagged),
    Route::get("/t/fail", &fail),
    Route::get("/t/panic", &panics),
    Route::post("/t/panic", &panics),
    Route::post("/t/body", &body),
    Route::post("/t/drain", &body).drains(),
    Route::post("/t/count", &count).any_query(),
    Route::get("/t/later", &later),
    Route::get("/t/never", &never),
    Route::post("/t/wait", &wait).waits(),
    Route::post("/t/batch", &batch)
        .scope(Scope::Ingest)
        .limit(LimitClass::Batch)
        .body(BodyKind::Batch),
    Route::post("/t/snappy", &text).body(BodyKind::Bulk).packing(BodyEncoding::Snappy),
    Route::patch("/t/tagged", &change),
];

async fn echo(_: Arc<App>, req: Request) -> ApiResult<Response> {
    let query: Vec<_> = req.query().iter().collect();
    Response::ok(&json!({
        "name": req.param("name"), "query": query, "user": req.identity().user(), "id": req.id(),
    }))
}

async fn open(_: Arc<App>, req: Request) -> ApiResult<Response> {
    Response::ok(&json!({ "user": req.identity().user() }))
}

async fn large(_: Arc<App>, _: Request) -> ApiResult<Response> {
    Response::ok(&"spam ".repeat(1_000))
}

async fn tagged(_: Arc<App>, _: Request) -> ApiResult<Response> {
    Ok(Response::ok(&"seven")?.header(ETAG, etag_of(7)))
}

async fn change(_: Arc<App>, req: Request) -> ApiResult<Response> {
    req.check_if_match(7)?;
    Response::ok(&"changed")
}

async fn fail(_: Arc<App>, _: Request) -> ApiResult<Response> {
    Err(ApiError::internal("the inner secret"))
}

async fn panics(_: Arc<App>, req: Request) -> ApiResult<Response> {
    Response::ok(&req.param("the inner secret"))
}

async fn body(_: Arc<App>, req: Request) -> ApiResult<Response> {
    Response::ok(&req.json::<Value>()?)
}

/// Responds after the connection has been polled many times.
async fn later(_: Arc<App>, _: Request) -> ApiResult<Response> {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    Response::ok(&"later")
}

async fn never(_: Arc<App>, _: Request) -> ApiResult<Response> {
    std::future::pending().await
}

/// Waits for an event that never occurs.
async fn wait(_: Arc<App>, mut req: Request) -> ApiResult<Response> {
    req.wait(std::future::pending()).await?
}

/// Stores a document each time that it runs, and returns the number of documents.
async fn count(app: Arc<App>, _: Request) -> ApiResult<Response> {
    let runs = app.blocking(|app| {
        let mut transaction = app.engine().documents().begin();
        transaction.put(COLLECTION, &app.new_id(""), &(), Expect::Absent)?;
        transaction.commit()?;
        app.engine().documents().list::<()>(COLLECTION, "")
    });
    Response::created(&json!({ "runs": runs.await?.len() }))
}

async fn batch(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let bytes = req.take_json_body()?.len();
    let response = Response::ok(&json!({ "bytes": bytes, "at": app.now().0 }))?;
    app.write(Write { receipt: req.receipt(&response), ..Write::default() }).await?;
    Ok(response)
}

/// Returns the length of the body, and the body itself if it is UTF-8.
async fn text(_: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_body();
    Response::ok(&json!({ "bytes": body.len(), "text": String::from_utf8(body).ok() }))
}

/// A ready server with an admin key.
pub(super) struct Bench {
    pub(super) server: Arc<Server>,
    pub(super) app: Arc<App>,
    pub(super) clock: Clock,
    pub(super) key: String,
    _dir: TempDir,
}

/// A complete response.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: http::HeaderMap,
    pub(super) body: Bytes,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(super) fn with(settings: Settings) -> Self {
        let clock = Clock::manual(TimestampMs(1_700_000_000_000));
        let ticks = Ticks::following(clock.clone());
        Self::of(settings, clock, ticks)
    }

    /// Uses the system's clock and ticks, for tests of connections.
    pub(super) fn with_system_ticks(settings: Settings) -> Self {
        Self::of(settings, Clock::system(), Ticks::system())
    }

    fn of(settings: Settings, clock: Clock, ticks: Ticks) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { clock: clock.clone(), ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let config = Config {
            http: settings.http,
            bodies: settings.bodies,
            limits: settings.quotas,
            ..Config::default()
        };
        let server = Server::new(settings, clock.clone(), ticks.clone(), ROUTES).unwrap();
        let app = App::new(engine, clock.clone(), ticks, &config).unwrap();
        server.open(Arc::clone(&app)).unwrap();
        let mut bench = Self { server, app, clock, key: String::new(), _dir: dir };
        bench.key = bench.new_key(&[Scope::Admin], KeyLimits::default());
        bench
    }

    /// Creates a key and returns its string form.
    pub(super) fn new_key(&self, scopes: &[Scope], limits: KeyLimits) -> String {
        let new = NewKey {
            name: "test".to_owned(),
            user: "tester@example.com".to_owned(),
            scopes: scopes.iter().copied().collect(),
            limits,
            public_ingest: false,
        };
        self.app.keys().create(new).unwrap().text.reveal()
    }

    /// Returns how often `/t/count` ran to completion.
    pub(super) fn runs(&self) -> usize {
        self.app.engine().documents().list::<()>(COLLECTION, "").unwrap().len()
    }

    /// Advances the clock.
    pub(super) fn pass_ms(&self, ms: i64) {
        self.clock.set(TimestampMs(self.clock.now().0 + ms));
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &[], "").await
    }

    pub(super) async fn post(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        self.send(&format!("POST {path}"), &[], body).await
    }

    /// Sends `METHOD path` with the admin key, unless the headers contain another.
    pub(super) async fn send(
        &self,
        line: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let keyed = headers.iter().any(|(name, _)| *name == "authorization");
        let authorization = format!("Bearer {}", self.key);
        let own = [("authorization", authorization.as_str())];
        let headers: Vec<_> = own.iter().filter(|_| !keyed).chain(headers).copied().collect();
        send(&self.server, line, &headers, body).await
    }
}

/// The origin of test requests.
pub(super) const HERE: Origin = Origin::Network(IpAddr::V4(Ipv4Addr::LOCALHOST));

/// Returns a server that has no app yet.
pub(super) fn starting(settings: Settings, clock: &Clock) -> Arc<Server> {
    Server::new(settings, clock.clone(), Ticks::following(clock.clone()), ROUTES).unwrap()
}

pub(super) async fn send(
    server: &Arc<Server>,
    line: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Answer {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = http::Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body.into())).unwrap();
    Answer::of(server.handle(HERE, request).await).await
}

impl Answer {
    pub(super) async fn of(response: http::Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the body of a success response.
    #[track_caller]
    pub(super) fn ok(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.json()
    }

    /// Checks the form of the error body and returns its content.
    #[track_caller]
    pub(super) fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!((self.status, body["error"]["code"].as_str()), (status, Some(code)), "{body}");
        assert_eq!(body.as_object().map(|fields| fields.len()), Some(1), "{body}");
        assert!(body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert!(self.header("x-request-id").is_some());
        body["error"].clone()
    }
}
