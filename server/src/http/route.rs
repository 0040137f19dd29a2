//! What a route is: one line of a table from which routing, access, limits and the OpenAPI document follow.
//!
//! ```ignore
//! pub static ROUTES: &[Route] = &[
//!     Route::get("/api/v1/metrics", &list).scope(Scope::Read).doc(Doc::new("Metrics", "List metrics").ok::<Page<Metric>>()),
//!     Route::post("/api/v1/metrics", &track).scope(Scope::Ingest).limit(LimitClass::Single).doc(TRACK),
//! ];
//!
//! async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> { … }
//! ```

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::doc::Doc;
use super::error::ApiResult;
use super::request::Request;
use super::response::Response;
use super::server::Server;
use crate::app::App;
use crate::platform::keys::Identity;
pub use crate::platform::keys::Scope;
pub use crate::platform::quota::LimitClass;

/// One method of one path.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method. A `HEAD` is answered wherever there is a `GET`.
    pub method: Method,
    /// The path as `matchit` reads it: `/api/v1/metrics/{name}/query`.
    pub path: &'static str,
    /// Who may call.
    pub access: Access,
    /// Which quota the call counts against.
    pub limit: LimitClass,
    /// How many calls a request counts as against its quota, where the body tells; one without.
    pub charges: Option<Charges>,
    /// Which parameters the query string may have.
    pub query: QueryRule,
    /// What is read of the body before the handler runs.
    pub body: BodyKind,
    /// How bodies may be packed, besides the encodings that every route reads.
    pub packing: Option<Packing>,
    /// What drops parts of a body as it comes; everything is kept without.
    pub sifting: Option<Sifting>,
    /// Whether public keys are refused, although they have the scope.
    pub is_private: bool,
    /// Whether calls make a store smaller, and may take memory beyond `memory.limit` for that.
    pub drains: bool,
    /// What becomes of the handler when its caller hangs up.
    pub hang_up: HangUp,
    /// Whether pages of other sites may call: browsers are told so, and ask beforehand with `OPTIONS`.
    pub cors: bool,
    /// What answers.
    pub handler: Handler,
    /// What the OpenAPI document says.
    pub doc: Doc,
}

impl Route {
    /// Whether only the body can tell who sends it.
    pub(super) fn is_from_stranger(&self, caller: &Identity) -> bool {
        matches!((self.access, caller), (Access::Dsn(_, Some(_)), Identity::Anonymous))
    }

    /// A reading route: no body, any key with the scope `read`.
    pub const fn get(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Get, path, Handler::App(handler), BodyKind::None, Scope::Read)
    }

    /// A creating or acting route with a JSON body, for keys with the scope `write`.
    pub const fn post(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Post, path, Handler::App(handler), BodyKind::Json, Scope::Write)
    }

    /// A replacing route with a JSON body, for keys with the scope `write`.
    pub const fn put(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Put, path, Handler::App(handler), BodyKind::Json, Scope::Write)
    }

    /// A changing route with a JSON body, for keys with the scope `write`.
    pub const fn patch(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Patch, path, Handler::App(handler), BodyKind::Json, Scope::Write)
    }

    /// A deleting route without a body, for keys with the scope `write`.
    pub const fn delete(path: &'static str, handler: &'static dyn Handle) -> Self {
        Self::new(Method::Delete, path, Handler::App(handler), BodyKind::None, Scope::Write)
            .drains()
    }

    /// A reading route that answers before the engine is open and while the server drains.
    pub(super) const fn early(
        path: &'static str,
        handler: fn(Arc<Server>) -> HandlerFuture,
    ) -> Self {
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
            hang_up: HangUp::GoesOn,
            cors: false,
            handler,
            doc: Doc::EMPTY,
        }
    }

    /// The scope that a key needs.
    #[must_use]
    pub const fn scope(mut self, scope: Scope) -> Self {
        self.access = Access::Scope(scope);
        self
    }

    /// Public keys are refused: they may be read by everybody, and this is not for everybody.
    #[must_use]
    pub const fn private(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// Calls make a store smaller, or come before those that do, as the registration of a worker: they are answered also where memory
    /// is full, as long as they take little. Deleting routes do so unless said.
    #[must_use]
    pub const fn drains(mut self) -> Self {
        self.drains = true;
        self
    }

    /// Keys are taken as agents of Sentry send them, with this scope; `dsn_in` finds the DSN in a body, where bodies have one.
    #[must_use]
    pub const fn dsn(mut self, scope: Scope, dsn_in: Option<DsnIn>) -> Self {
        self.access = Access::Dsn(scope, dsn_in);
        self
    }

    /// No key is needed.
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.access = Access::Public;
        self
    }

    /// The quota that calls count against; [`LimitClass::Other`] unless said.
    #[must_use]
    pub const fn limit(mut self, class: LimitClass) -> Self {
        self.limit = class;
        self
    }

    /// A request counts as many calls against its quota as this finds in its body, which may be none.
    #[must_use]
    pub const fn charges(mut self, charges: Charges) -> Self {
        self.charges = Some(charges);
        self
    }

    /// Query parameters that the route does not know are passed over: programs of others send what they are made to send.
    #[must_use]
    pub const fn any_query(mut self) -> Self {
        self.query = QueryRule::Any;
        self
    }

    /// The body that is read.
    #[must_use]
    pub const fn body(mut self, body: BodyKind) -> Self {
        self.body = body;
        self
    }

    /// How bodies may be packed, besides the encodings that every route reads.
    #[must_use]
    pub const fn packing(mut self, packing: Packing) -> Self {
        self.packing = Some(packing);
        self
    }

    /// What the route does not read of a body is dropped as it comes.
    #[must_use]
    pub const fn sifting(mut self, sifting: Sifting) -> Self {
        self.sifting = Some(sifting);
        self
    }

    /// The handler of a POST waits for something that only its caller can use: it is dropped when the caller hangs up. Such a
    /// route knows no idempotency keys.
    #[must_use]
    pub const fn waits(mut self) -> Self {
        self.hang_up = HangUp::Drops;
        self
    }

    /// Pages of other sites may call.
    #[must_use]
    pub const fn cors(mut self) -> Self {
        self.cors = true;
        self
    }

    /// What the OpenAPI document says.
    #[must_use]
    pub const fn doc(mut self, doc: Doc) -> Self {
        self.doc = doc;
        self
    }
}

/// The methods that routes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates or acts.
    Post,
    /// Replaces.
    Put,
    /// Changes in part.
    Patch,
    /// Deletes.
    Delete,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// The method of a request; `HEAD` is a `GET` here. `None` where no route can have it.
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

/// Finds in a body how many calls it stands for.
pub(super) type Charges = fn(&[u8]) -> u32;

/// Keeps of a body what its route reads, as it comes. A trait because bodies are read here and their protocols are known in the
/// areas.
pub trait Sieve: Send {
    /// Looks at the next bytes, and appends what is kept of them, and of bytes that were held back before, to `kept`.
    fn push(&mut self, data: &[u8], kept: &mut Vec<u8>) -> ApiResult<()>;

    /// The body has ended: appends what was held back.
    fn end(&mut self, kept: &mut Vec<u8>) -> ApiResult<()>;
}

/// How parts of a body are dropped as it comes.
#[derive(Clone, Copy, Debug)]
pub struct Sifting {
    /// Makes the sieve of a body.
    pub make: fn() -> Box<dyn Sieve>,
    /// Bytes that a body may have, after decompression, with what is dropped.
    pub bytes_max: usize,
}

/// Finds the DSN in a body.
pub type DsnIn = fn(&[u8]) -> Option<String>;

/// Who may call a route.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// Everybody, without a key.
    Public,
    /// Keys with this scope, and admin keys.
    Scope(Scope),
    /// The same, where a key may also come as the one of a DSN: in `X-Sentry-Auth`, in the query string, or, where there is a
    /// function that finds it there, in the body.
    Dsn(Scope, Option<DsnIn>),
}

/// Which parameters the query string of a route may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryRule {
    /// Those that the documentation of the route declares; others are refused.
    Declared,
    /// Any; those that are not known are passed over.
    Any,
}

/// What is read of the body before the handler runs, and the limit of its bytes after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Nothing; what is sent is ignored.
    None,
    /// One JSON document; 1 MiB by default.
    Json,
    /// A batch in JSON; 8 MiB by default.
    Batch,
    /// A bulk protocol; 32 MiB by default. Any content type.
    Bulk,
}

/// What becomes of a handler that changes something when its caller hangs up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangUp {
    /// It runs to its end.
    GoesOn,
    /// It is dropped, and takes back what it had begun.
    Drops,
}

/// An encoding of bodies that some routes read: a protocol of agents asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Snappy in its block format. It is what a body is packed in that names no encoding, as old agents of Prometheus do.
    Snappy,
    /// Brotli, which agents of Sentry choose where they can.
    Brotli,
}

/// What answers a route.
#[derive(Clone, Copy)]
pub enum Handler {
    /// A handler of an area, which runs only while the engine is open.
    App(&'static dyn Handle),
    /// A handler about the process itself, which always runs.
    Server(fn(Arc<Server>) -> HandlerFuture),
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::App(_) => f.write_str("Handler::App"),
            Self::Server(_) => f.write_str("Handler::Server"),
        }
    }
}

/// A handler at work.
pub type HandlerFuture = Pin<Box<dyn Future<Output = ApiResult<Response>> + Send>>;

/// An `async fn(Arc<App>, Request) -> ApiResult<Response>`. Every such function implements it; the trait
/// exists so that functions with different futures fit into one table.
pub trait Handle: Send + Sync {
    /// Starts answering.
    fn handle(&self, app: Arc<App>, request: Request) -> HandlerFuture;
}

impl<F, Answer> Handle for F
where
    F: Fn(Arc<App>, Request) -> Answer + Send + Sync,
    Answer: Future<Output = ApiResult<Response>> + Send + 'static,
{
    fn handle(&self, app: Arc<App>, request: Request) -> HandlerFuture {
        Box::pin(self(app, request))
    }
}
