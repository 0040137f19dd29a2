//! The order in which a request is processed: request id → route → key → quota → query string →
//! admission → body → idempotency → handler → response. If only the body contains the key,
//! authentication and quota follow the body.
//!
//! Every response passes through [`RequestRecord::finish`], which adds the request id, counts it
//! and logs it. Every failure on the way is an [`ApiError`], so error bodies are built in one
//! place; a panic in a handler is handled like any other failure. Handlers with side effects run to
//! completion even if the client disconnects, except those that only wait.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;

use super::activity::{Activity, HandlingGuard};
use super::admission::{Purpose, Reservation};
use super::body::BodyLimits;
use super::client_end::ClientEnd;
use super::error::{ApiError, ApiResult, ErrorCode};
use super::hosted_site::RoutedPath;
use super::idempotency::{Claim, Subject};
use super::identify::OverQuota;
use super::query::Query;
use super::request::Request;
use super::request_record::RequestRecord;
use super::response::Response;
use super::route::{
    Access, BodyKind, EarlyHandler, EarlyRequest, Handler, Method, OnDisconnect, Route,
};
use super::router::Found;
use super::server::Server;
use super::unauthenticated::AddressPermit;
use super::{cors, hosted_site, identify, known_parameters};
use crate::app::App;
use crate::platform::connection_thread;
use crate::platform::keys::Identity;
use crate::platform::panics;

/// The listener on which a request arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The network, from this address: a key is required.
    Network(IpAddr),
    /// The control socket, which only the operator of the machine can open: no key is required.
    Control,
}

/// Processes a request and returns its response; never fails.
pub(super) async fn answer<B>(
    server: &Arc<Server>,
    origin: Origin,
    request: http::Request<B>,
) -> http::Response<Bytes>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let (mut parts, body) = request.into_parts();
    hosted_site::adopt_authority(&mut parts);
    let mut record = RequestRecord::begin(server, &parts);
    let activity = parts.extensions.get::<Arc<Activity>>().cloned();
    let outcome = process(server, origin, parts, body, &mut record).await;
    let outcome =
        outcome.map_err(|refused| match activity.is_some_and(|activity| activity.is_known()) {
            true => refused,
            false => count_mistake(server, origin, &record, refused),
        });
    record.finish(server, outcome)
}

async fn process<B>(
    server: &Arc<Server>,
    origin: Origin,
    mut parts: Parts,
    body: B,
    record: &mut RequestRecord,
) -> ApiResult<Response>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let routed = route(server, origin, &parts, record)?;
    let (Found { route, params, .. }, is_of_hosted_site) = match routed {
        Routed::Preflight(method) => return Ok(cors::preflight(method)),
        Routed::Found(found, is_of_hosted_site) => (found, is_of_hosted_site),
    };
    let query = Query::parse(parts.uri.query().unwrap_or(""))?;
    known_parameters::check(route, &query)?;
    let _handled = begin_handling(route, &record.identity, &parts);
    let handler = match route.handler {
        Handler::Server(handler) => return run_early(server, handler, params, parts).await,
        Handler::App(handler) => handler,
    };
    let app = server.ready()?;
    if route.is_identified_by_body(&record.identity) {
        check_unauthenticated_rate(server, origin, &parts)?;
    }
    let permit = RequestPermit::take(server, origin, route, &record.identity)?;
    let body = match route.body {
        BodyKind::None => Vec::new(),
        BodyKind::Json | BodyKind::Batch | BodyKind::Bulk => {
            let limits = BodyLimits::of(route, &server.settings, &record.identity);
            limits.read(&parts, body, permit.reservation()).await?
        }
    };
    record.body_bytes = body.len();
    check_still_valid(&record.identity)?;
    let identified = identify::in_body(app, route, &record.identity, &body)?;
    if let Some(identity) = identified {
        adopt_identity(server, route, &parts, record, identity)?;
    }
    if let Some(charges) = route.charges {
        charge_calls(server, route, record, charges(&body))?;
    }
    let admitted = permit.into_reservation(server, &record.identity, body.len())?;
    let client = parts.extensions.remove::<Arc<ClientEnd>>();
    let request = Request {
        method: route.method,
        params,
        query,
        headers: parts.headers,
        identity: record.identity.clone(),
        id: record.request_id().to_owned(),
        body,
        ticket: None,
        admitted: admitted.clone(),
        client,
        address: match origin {
            Origin::Network(address) => Some(address),
            Origin::Control => None,
        },
        is_of_hosted_site,
    };
    let own = Arc::clone(app);
    // The permit is held while the handler runs, even if the client has disconnected.
    let work = move |request: Request| async move {
        check_still_valid(request.identity())?;
        let outcome = handler.handle(own, request).await;
        drop(admitted);
        outcome
    };
    match route.method {
        Method::Get => run(work(request)).await,
        Method::Post if route.cancel == OnDisconnect::Drops => run(work(request)).await,
        Method::Post => run_idempotent(server, app, work, request, &parts.uri).await,
        Method::Put | Method::Patch | Method::Delete => run_to_completion(work(request)).await,
    }
}

/// Makes the caller that the body names the one of the request, if it may use the route.
fn adopt_identity(
    server: &Arc<Server>,
    route: &Route,
    parts: &Parts,
    record: &mut RequestRecord,
    identity: Identity,
) -> ApiResult<()> {
    record.identity = identity;
    identify::check_allowed(route, &record.identity)?;
    mark_authenticated(parts, &record.identity);
    if route.charges.is_none() {
        charge(server, route, record)?;
    }
    Ok(())
}

/// Fails if the key was revoked, or the session has ended, since the head of the request arrived: a
/// body may take a minute, and an earlier request with the same `Idempotency-Key` may take longer.
fn check_still_valid(caller: &Identity) -> ApiResult<()> {
    if caller.is_revoked() { Err(identify::unauthorized()) } else { Ok(()) }
}

/// What the head of a request determines.
enum Routed {
    /// The browser asks whether a page of another origin may call the route, which has this method.
    Preflight(Method),
    /// The route, and whether the host of the request is that of a public site.
    Found(Found, bool),
}

/// Finds the route of a request by its host and path, and checks what its head determines.
fn route(
    server: &Server,
    origin: Origin,
    parts: &Parts,
    record: &mut RequestRecord,
) -> ApiResult<Routed> {
    let app = server.opened().ok().filter(|_| origin != Origin::Control);
    let app = app.map(AsRef::as_ref);
    let RoutedPath { path, is_of_hosted_site } =
        hosted_site::routed_path(app, &server.router, parts)?;
    if parts.method == http::Method::OPTIONS
        && let Some(route_entry) = server.router.cors_route(&path)
    {
        record.route = Some(route_entry);
        return Ok(Routed::Preflight(route_entry.1.method));
    }
    let found = check_head(server, origin, parts, &path, record)?;
    Ok(Routed::Found(found, is_of_hosted_site))
}

/// Marks the connection as authenticated. Done at once, since a request can take long and
/// connections of unauthenticated clients may be closed. A public key does not authenticate its
/// client: anyone may have seen it.
fn mark_authenticated(parts: &Parts, identity: &Identity) {
    if identity.is_known()
        && let Some(activity) = parts.extensions.get::<Arc<Activity>>()
    {
        activity.show_key();
    }
}

/// Checks everything that the request's head determines: finds the route, authenticates the caller
/// and counts the request.
fn check_head(
    server: &Server,
    origin: Origin,
    parts: &Parts,
    path: &str,
    record: &mut RequestRecord,
) -> ApiResult<Found> {
    let found = server.router.find(&parts.method, path)?;
    let route = found.route;
    record.route = Some((found.index, route));
    check_header_size(server, parts)?;
    let is_unsigned = matches!(route.access, Access::Signed(_))
        && !parts.headers.contains_key(http::header::AUTHORIZATION);
    if matches!(route.access, Access::Public) || is_unsigned {
        count_unauthenticated(server, origin, parts)?;
        record.counts_for_address = true;
    }
    record.identity = identify::in_head(server, origin, route, parts)?;
    identify::check_allowed(route, &record.identity)?;
    mark_authenticated(parts, &record.identity);
    if route.charges.is_none() {
        charge(server, route, record)?;
    } else {
        refuse_exhausted(server, route, record)?;
    }
    Ok(found)
}

/// Counts a request without a key against its address, unless its connection is authenticated.
fn count_unauthenticated(server: &Server, origin: Origin, parts: &Parts) -> ApiResult<()> {
    let activity = parts.extensions.get::<Arc<Activity>>();
    match origin {
        Origin::Network(address) if !activity.is_some_and(|activity| activity.is_known()) => {
            server.unauthenticated.count(address, server.ticks.elapsed())
        }
        Origin::Network(_) | Origin::Control => Ok(()),
    }
}

/// Refuses a request whose address is over its rate, unless its connection is authenticated. Counts
/// nothing.
fn check_unauthenticated_rate(server: &Server, origin: Origin, parts: &Parts) -> ApiResult<()> {
    let activity = parts.extensions.get::<Arc<Activity>>();
    match origin {
        Origin::Network(address) if !activity.is_some_and(|activity| activity.is_known()) => {
            server.unauthenticated.check(address, server.ticks.elapsed())
        }
        Origin::Network(_) | Origin::Control => Ok(()),
    }
}

/// Returns the error to respond with. An error caused by an unauthenticated client counts against
/// the rate of its address; over that rate, `rate_limited` replaces the error.
fn count_mistake(
    server: &Server,
    origin: Origin,
    record: &RequestRecord,
    refused: ApiError,
) -> ApiError {
    let Origin::Network(address) = origin else { return refused };
    let is_mistake =
        refused.code().status().is_client_error() && refused.code() != ErrorCode::RateLimited;
    if record.identity.is_known() || record.counts_for_address || !is_mistake {
        return refused;
    }
    server.unauthenticated.count(address, server.ticks.elapsed()).err().unwrap_or(refused)
}

/// Reports to the connection that processing starts, unless nothing is known of the caller before
/// the body is read.
fn begin_handling(route: &Route, identity: &Identity, parts: &Parts) -> Option<HandlingGuard> {
    let activity = parts.extensions.get::<Arc<Activity>>();
    activity.filter(|_| !route.has_body_of_stranger(identity)).map(Activity::handle)
}

/// The admission permit of a request while its body is read.
#[derive(Debug)]
enum RequestPermit {
    Authenticated(Reservation),
    /// The client has sent a public key.
    PublicKey(AddressPermit),
    /// Nothing is known of the client before the body is read.
    Unidentified(AddressPermit),
}

impl RequestPermit {
    fn take(
        server: &Server,
        origin: Origin,
        route: &Route,
        identity: &Identity,
    ) -> ApiResult<Self> {
        let purpose = if route.drains { Purpose::Drain } else { Purpose::Any };
        match origin {
            Origin::Control => server.control.enter_for(purpose).map(Self::Authenticated),
            Origin::Network(address) if route.has_body_of_stranger(identity) => {
                server.unauthenticated.enter(address).map(Self::Unidentified)
            }
            Origin::Network(address) if !identity.is_known() => {
                server.unauthenticated.enter_with_public_key(address).map(Self::PublicKey)
            }
            Origin::Network(_) => server.admission.enter_for(purpose).map(Self::Authenticated),
        }
    }

    fn reservation(&self) -> &Reservation {
        match self {
            Self::Authenticated(reservation) => reservation,
            Self::PublicKey(permit) | Self::Unidentified(permit) => &permit.reservation,
        }
    }

    /// Returns the reservation of the handler, once the body is read and the sender is known. The
    /// permit of the client's address is released; a client identified by the body is admitted to
    /// the limits of its kind of key.
    fn into_reservation(
        self,
        server: &Server,
        sender: &Identity,
        bytes: usize,
    ) -> ApiResult<Reservation> {
        match self {
            Self::Authenticated(reservation) => Ok(reservation),
            Self::PublicKey(permit) => Ok(permit.reservation.clone()),
            Self::Unidentified(_) => {
                let reservation = if sender.is_known() {
                    server.admission.enter()?
                } else {
                    server.unauthenticated.enter_with_body()?
                };
                reservation.add(bytes)?;
                Ok(reservation)
            }
        }
    }
}

/// Counts the request against its caller's quota.
fn charge(server: &Server, route: &Route, record: &mut RequestRecord) -> Result<(), OverQuota> {
    charge_calls(server, route, record, 1)
}

/// Refuses a caller whose quota is known to be exhausted, before the body is read. Counts nothing.
fn refuse_exhausted(
    server: &Server,
    route: &Route,
    record: &mut RequestRecord,
) -> Result<(), OverQuota> {
    identify::refuse_exhausted(route, &record.identity).inspect_err(|refused| {
        record.usage = Some(refused.usage);
        server.telemetry.refused_quota();
    })
}

/// Counts this many calls against the caller's quota.
fn charge_calls(
    server: &Server,
    route: &Route,
    record: &mut RequestRecord,
    calls: u32,
) -> Result<(), OverQuota> {
    let Some(calls) = NonZeroU32::new(calls) else { return Ok(()) };
    let charged = identify::charge(route, &record.identity, calls);
    record.usage = charged.inspect_err(|refused| {
        record.usage = Some(refused.usage);
        server.telemetry.refused_quota();
    })?;
    Ok(())
}

/// Checks the number and size of headers. hyper's own limits are higher, so that the refusal has
/// the service's error body.
fn check_header_size(server: &Server, parts: &Parts) -> ApiResult<()> {
    let settings = &server.settings.http;
    let target = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    let headers = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    if parts.headers.len() > settings.headers {
        let max = settings.headers;
        return Err(too_many_headers(format!("a request may have at most {max} headers")));
    }
    if headers.sum::<usize>() + target > settings.header_bytes.bytes_usize() {
        let max = settings.header_bytes.bytes_usize();
        let message =
            format!("the path, query string and headers may have at most {max} bytes in all");
        return Err(too_many_headers(message));
    }
    Ok(())
}

fn too_many_headers(message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidParameter, message).field("headers")
}

/// Runs a POST; with an idempotency key, at most once.
async fn run_idempotent<Work>(
    server: &Arc<Server>,
    app: &Arc<App>,
    work: impl FnOnce(Request) -> Work + Send + 'static,
    mut request: Request,
    uri: &http::Uri,
) -> ApiResult<Response>
where
    Work: Future<Output = ApiResult<Response>> + Send + 'static,
{
    let subject = Subject {
        identity: &request.identity,
        path: uri.path(),
        query: uri.query().unwrap_or(""),
        body: &request.body,
    };
    let (ticket, guard) = match server.in_flight.claim(app, &request.headers, &subject).await? {
        None => return run_to_completion(work(request)).await,
        Some(Claim::Replay(response)) => return Ok(response),
        Some(Claim::First(ticket, guard)) => (ticket, guard),
    };
    request.ticket = Some(ticket.clone());
    let app = Arc::clone(app);
    run_to_completion(async move {
        let response = work(request).await?;
        ticket.settle(&app, &response).await;
        drop(guard);
        Ok(response)
    })
    .await
}

/// Runs a handler with side effects to completion, even if the client disconnects. The task begins
/// after the others that are ready on this thread: each of them is counted before the first one
/// asks whether it is alone.
async fn run_to_completion(
    handler: impl Future<Output = ApiResult<Response>> + Send + 'static,
) -> ApiResult<Response> {
    let here = connection_thread::handler();
    let task = async move {
        let outcome = run(handler).await;
        drop(here);
        outcome
    };
    match tokio::spawn(task).await {
        Ok(outcome) => outcome,
        Err(ended) => Err(ApiError::internal(ended)),
    }
}

/// Runs a handler of the process itself.
async fn run_early(
    server: &Arc<Server>,
    handler: EarlyHandler,
    params: Vec<(String, String)>,
    parts: Parts,
) -> ApiResult<Response> {
    let request = EarlyRequest { params, headers: parts.headers };
    run(handler(Arc::clone(server), request)).await
}

async fn run(handler: impl Future<Output = ApiResult<Response>>) -> ApiResult<Response> {
    match AssertUnwindSafe(handler).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(panic) => {
            let message = panics::message(panic.as_ref());
            Err(ApiError::internal(format_args!("a handler panicked: {message}")))
        }
    }
}
