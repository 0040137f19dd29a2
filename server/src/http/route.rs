//! Route definitions. One table entry per endpoint determines its routing, access control, limits
//! and OpenAPI documentation.
//!
//! ```text
//! const LIST: Doc = Doc::new("Metrics", "List metrics").ok::<Page<Metric>>();
//!
//! pub static ROUTES: &[Route] = &[
//!     Route::get("/api/v1/metrics", &list).scope(Scope::Read).doc(LIST),
//!     Route::post("/api/v1/metrics", &track).limit(LimitClass::Single).doc(TRACK),
//! ];
//!
//! async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> { … }
//! ```

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::HeaderMap;

use super::error::ApiResult;
use super::request::Request;
use super::response::Response;
use super::route_doc::Doc;
use super::server::Server;
use crate::app::App;
use crate::platform::keys::Identity;
pub use crate::platform::keys::Scope;
pub use crate::platform::quota::LimitClass;

/// One method of one path.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The HTTP method. A route for `GET` also serves `HEAD`.
    pub method: Method,
    /// The path in `matchit` syntax: `/api/v1/metrics/{name}/query`, or `/files/{*path}` for one
    /// whose last parameter contains slashes.
    pub path: &'static str,
    /// The credentials that a caller needs.
    pub access: Access,
    /// The quota that calls count against.
    pub limit: LimitClass,
    /// Determines from the body how many calls a request counts as; `None` counts one call per
    /// request.
    pub charges: Option<CallCount>,
    /// The query parameters that are accepted.
    pub query: QueryRule,
    /// How the body is read before the handler runs.
    pub body: BodyKind,
    /// A content encoding accepted in addition to those that every route accepts.
    pub packing: Option<BodyEncoding>,
    /// A filter that drops parts of the body while it is received; `None` keeps the whole body.
    pub sifting: Option<BodyFiltering>,
    /// Whether public keys are refused even if they have the scope.
    pub is_private: bool,
    /// Whether calls free memory of a store, and may therefore use the reserve beyond
    /// `memory.limit`.
    pub drains: bool,
    /// What happens to the handler when the client disconnects.
    pub cancel: OnDisconnect,
    /// Whether the route allows cross-origin requests (CORS), including preflight requests.
    pub cors: bool,
    /// The function that handles requests.
    pub handler: Handler,
    /// The OpenAPI documentation.
    pub doc: Doc,
}

impl Route {
    /// Returns whether the caller can be identified only from the body.
    pub(super) fn is_identified_by_body(&self, caller: &Identity) -> bool {
        matches!((self.access, caller), (Access::Dsn(_, Some(_)), Identity::Anonymous))
    }

    /// Returns whether the body is read before anything is known of the caller: the key is in it,
    /// or the route is for everybody.
    pub(super) fn has_body_of_stranger(&self, caller: &Identity) -> bool {
        let is_public = matches!(self.access, Access::Public) && self.body != BodyKind::None;
        is_public || self.is_identified_by_body(caller)
    }

    /// Returns the path as a template of OpenAPI, which has no syntax for slashes in a parameter.
    pub fn template(&self) -> String {
        self.path.replace("{*", "{")
    }

    /// Returns a route that reads: no body, scope `read`.
    pub const fn get(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Get, path, Handler::App(handler), BodyKind::None, Scope::Read)
    }

    /// Returns a route that creates a resource or performs an action: JSON body, scope `write`.
    pub const fn post(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Post, path, Handler::App(handler), BodyKind::Json, Scope::Write)
    }

    /// Returns a route that replaces a resource: JSON body, scope `write`.
    pub const fn put(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Put, path, Handler::App(handler), BodyKind::Json, Scope::Write)
    }

    /// Returns a route that updates a resource: JSON body, scope `write`.
    pub const fn patch(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Patch, path, Handler::App(handler), BodyKind::Json, Scope::Write)
    }

    /// Returns a route that deletes a resource: no body, scope `write`, marked as draining
    /// ([`Self::drains`]).
    pub const fn delete(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Delete, path, Handler::App(handler), BodyKind::None, Scope::Write)
            .drains()
    }

    /// Returns a `GET` route that is served before the engine is open and while the server shuts
    /// down.
    pub const fn early(path: &'static str, handler: EarlyHandler) -> Self {
        Self::new(Method::Get, path, Handler::Server(handler), BodyKind::None, Scope::Read)
            .limit(LimitClass::Unlimited)
    }

    const fn new(
        method: Method,
        path: &'static str,
        handler: Handler,
        body: BodyKind,
        scope: Scope,
    ) -> Self {
        Self {
            method,
            path,
            access: Access::Scope(scope),
            limit: LimitClass::Other,
            charges: None,
            query: QueryRule::Declared,
            body,
            packing: None,
            sifting: None,
            is_private: false,
            drains: false,
            cancel: OnDisconnect::GoesOn,
            cors: false,
            handler,
            doc: Doc::EMPTY,
        }
    }

    /// Sets the scope that a key needs.
    #[must_use]
    pub const fn scope(mut self, scope: Scope) -> Self {
        self.access = Access::Scope(scope);
        self
    }

    /// Refuses public keys, which anyone may have seen.
    #[must_use]
    pub const fn private(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// Marks calls that free memory of a store, or that must precede such calls, for example the
    /// registration of a worker. They are served even if the memory limit is reached, as long as
    /// they need little memory. Deleting routes have the mark by default.
    #[must_use]
    pub const fn drains(mut self) -> Self {
        self.drains = true;
        self
    }

    /// Also accepts keys in the way that Sentry SDKs send them, with this scope. `dsn_in` extracts
    /// the DSN from a body, for protocols whose bodies contain one.
    #[must_use]
    pub const fn dsn(mut self, scope: Scope, dsn_in: Option<DsnIn>) -> Self {
        self.access = Access::Dsn(scope, dsn_in);
        self
    }

    /// Also allows calls without a key whose URL is signed by this server.
    #[must_use]
    pub const fn signed(mut self, scope: Scope) -> Self {
        self.access = Access::Signed(scope);
        self
    }

    /// Allows calls without a key.
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.access = Access::Public;
        self
    }

    /// Sets the quota that calls count against. Default: [`LimitClass::Other`].
    #[must_use]
    pub const fn limit(mut self, class: LimitClass) -> Self {
        self.limit = class;
        self
    }

    /// Sets the function that determines from the body how many calls a request counts as, possibly
    /// none.
    #[must_use]
    pub const fn charges(mut self, charges: CallCount) -> Self {
        self.charges = Some(charges);
        self
    }

    /// Ignores unknown query parameters, for protocols whose clients cannot be changed.
    #[must_use]
    pub const fn any_query(mut self) -> Self {
        self.query = QueryRule::Any;
        self
    }

    /// Sets how the body is read.
    #[must_use]
    pub const fn body(mut self, body: BodyKind) -> Self {
        self.body = body;
        self
    }

    /// Accepts a content encoding in addition to those that every route accepts.
    #[must_use]
    pub const fn packing(mut self, packing: BodyEncoding) -> Self {
        self.packing = Some(packing);
        self
    }

    /// Sets a filter that drops unused parts of the body while it is received.
    #[must_use]
    pub const fn sifting(mut self, sifting: BodyFiltering) -> Self {
        self.sifting = Some(sifting);
        self
    }

    /// Declares that the handler of a POST waits for a result that only its caller can use: the
    /// handler is dropped when the client disconnects. Such a route ignores idempotency keys.
    #[must_use]
    pub const fn waits(mut self) -> Self {
        self.cancel = OnDisconnect::Drops;
        self
    }

    /// Allows cross-origin requests (CORS).
    #[must_use]
    pub const fn cors(mut self) -> Self {
        self.cors = true;
        self
    }

    /// Sets the OpenAPI documentation.
    #[must_use]
    pub const fn doc(mut self, doc: Doc) -> Self {
        self.doc = doc;
        self
    }
}

/// The methods that routes can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Reads a resource.
    Get,
    /// Creates a resource or performs an action.
    Post,
    /// Replaces a resource.
    Put,
    /// Updates a resource partially.
    Patch,
    /// Deletes a resource.
    Delete,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Returns the method's name in HTTP.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns the method of a request, with `HEAD` as `GET`; `None` for a method that no route can
    /// have.
    pub fn of(method: &http::Method) -> Option<Self> {
        match *method {
            http::Method::GET | http::Method::HEAD => Some(Self::Get),
            http::Method::POST => Some(Self::Post),
            http::Method::PUT => Some(Self::Put),
            http::Method::PATCH => Some(Self::Patch),
            http::Method::DELETE => Some(Self::Delete),
            _ => None,
        }
    }
}

/// Returns the number of calls that a body counts as.
pub(super) type CallCount = fn(&[u8]) -> u32;

/// Filters a body while it is received and keeps the parts that its route reads. A trait because
/// bodies are read here, whereas the protocols are defined in the areas.
pub trait BodyFilter: Send {
    /// Consumes the next bytes. Appends to `kept` those that are kept, including bytes held back by
    /// earlier calls.
    fn push(&mut self, data: &[u8], kept: &mut Vec<u8>) -> ApiResult<()>;

    /// Signals the end of the body. Appends to `kept` the bytes that were held back.
    fn end(&mut self, kept: &mut Vec<u8>) -> ApiResult<()>;
}

/// How a body is filtered while it is received.
#[derive(Clone, Copy, Debug)]
pub struct BodyFiltering {
    /// Creates the filter of one body.
    pub make: fn() -> Box<dyn BodyFilter>,
    /// Maximum length of the decompressed body in bytes, dropped parts included.
    pub bytes_max: usize,
}

/// Extracts the DSN from a body.
pub type DsnIn = fn(&[u8]) -> Option<String>;

/// The credentials that a route requires.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// None.
    Public,
    /// A key with this scope, or an admin key.
    Scope(Scope),
    /// A key with this scope, or a URL that this server has signed, which
    /// [`UrlSigner`](crate::platform::signed_url::UrlSigner) checks before the handler runs.
    Signed(Scope),
    /// A key with this scope, which may also be sent as the key of a Sentry DSN: in
    /// `X-Sentry-Auth`, in the query string or, if the function is present, in the body.
    Dsn(Scope, Option<DsnIn>),
}

/// The query parameters that a route accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryRule {
    /// Those declared in the route's documentation; any other is refused.
    Declared,
    /// Any; unknown ones are ignored.
    Any,
}

/// How the body is read before the handler runs, and the limit on its decompressed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Not at all; a body that is sent is ignored.
    None,
    /// One JSON document; 1 MiB by default.
    Json,
    /// A batch in JSON; 8 MiB by default.
    Batch,
    /// A bulk protocol with any content type; 32 MiB by default.
    Bulk,
}

/// What happens to a handler with side effects when its client disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisconnect {
    /// It runs to completion.
    GoesOn,
    /// It is dropped and undoes what it has started.
    Drops,
}

/// A content encoding that only some routes accept, because a protocol of agents requires it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEncoding {
    /// Snappy block format. Also assumed if a request names no encoding, as early Prometheus agents
    /// do.
    Snappy,
    /// Brotli, which Sentry SDKs prefer if available.
    Brotli,
}

/// The function that handles requests of a route.
#[derive(Clone, Copy)]
pub enum Handler {
    /// A handler of an area, which runs only while the engine is open.
    App(&'static dyn Handle),
    /// A handler of the process itself, which runs in every state of the server.
    Server(EarlyHandler),
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::App(_) => f.write_str("Handler::App"),
            Self::Server(_) => f.write_str("Handler::Server"),
        }
    }
}

/// A handler that runs in every state of the server.
pub type EarlyHandler = fn(Arc<Server>, EarlyRequest) -> HandlerFuture;

/// A request for a handler that runs in every state of the server.
#[derive(Debug)]
pub struct EarlyRequest {
    /// Names and percent-decoded values.
    pub(super) params: Vec<(String, String)>,
    pub(super) headers: HeaderMap,
}

impl EarlyRequest {
    /// Returns the path parameter `name`, percent-decoded; empty if the route has none.
    pub fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// The future of a running handler.
pub type HandlerFuture = Pin<Box<dyn Future<Output = ApiResult<Response>> + Send>>;

/// An `async fn(Arc<App>, Request) -> ApiResult<Response>`. Implemented for every such function;
/// the trait exists so that functions with different future types fit into one table.
pub trait Handle: Send + Sync {
    /// Calls the handler.
    fn handle(&self, app: Arc<App>, request: Request) -> HandlerFuture;
}

impl<F, Fut> Handle for F
where
    F: Fn(Arc<App>, Request) -> Fut + Send + Sync,
    Fut: Future<Output = ApiResult<Response>> + Send + 'static,
{
    fn handle(&self, app: Arc<App>, request: Request) -> HandlerFuture {
        Box::pin(self(app, request))
    }
}
