//! The way of a request, in order: id → route → key → quota → query → admission → body → idempotency → handler → answer. Where only the
//! body names the key, key and quota come after it.
//!
//! Every answer passes [`Trail::finish`], so every one has its request id, is counted and is logged; every failure
//! on the way is an [`ApiError`], so there is one place that makes error bodies. A handler that panics is a
//! failure like another. Handlers that change something run to their end even when the caller hangs up, but
//! for those that only wait.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;

use super::activity::{Activity, Handled};
use super::admission::{Purpose, Reservation};
use super::body::BodyLimits;
use super::client_end::ClientEnd;
use super::error::{ApiError, ApiResult, ErrorCode};
use super::idempotency::{Claim, Subject};
use super::identify::OverQuota;
use super::query::Query;
use super::request::Request;
use super::response::Response;
use super::route::{Access, BodyKind, Handler, HangUp, Method, Route};
use super::router::Found;
use super::server::Server;
use super::strangers::StrangersPlace;
use super::trail::Trail;
use super::{cors, identify, known_parameters};
use crate::app::App;
use crate::platform::keys::Identity;

/// Where a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The network, from this address: a key is needed.
    Network(IpAddr),
    /// The control socket, which only the operator of the machine can open: no key is needed.
    Control,
}

/// Answers a request, whatever happens.
pub(super) async fn answer<B>(
    server: &Arc<Server>,
    origin: Origin,
    request: http::Request<B>,
) -> http::Response<Bytes>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let (parts, body) = request.into_parts();
    let mut trail = Trail::begin(server, &parts);
    let activity = parts.extensions.get::<Arc<Activity>>().cloned();
    let outcome = walk(server, origin, parts, body, &mut trail).await;
    let outcome = outcome.map_err(|refused| match activity.is_some_and(|it| it.is_known()) {
        true => refused,
        false => unless_too_many(server, origin, &trail, refused),
    });
    trail.finish(server, outcome)
}

async fn walk<B>(
    server: &Arc<Server>,
    origin: Origin,
    mut parts: Parts,
    body: B,
    trail: &mut Trail,
) -> ApiResult<Response>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    if parts.method == http::Method::OPTIONS
        && let Some(shared) = server.router.shared(parts.uri.path())
    {
        trail.route = Some(shared);
        return Ok(cors::preflight());
    }
    let Found { route, params, .. } = pass_head(server, origin, &parts, trail)?;
    let query = Query::parse(parts.uri.query().unwrap_or(""))?;
    known_parameters::check(route, &query)?;
    let _handled = begin_handling(route, &trail.identity, &parts);
    let handler = match route.handler {
        Handler::Server(handler) => return run(handler(Arc::clone(server))).await,
        Handler::App(handler) => handler,
    };
    let app = server.ready()?;
    if route.is_from_stranger(&trail.identity) {
        refuse_frequent_stranger(server, origin, &parts)?;
    }
    let place = Place::take(server, origin, route, &trail.identity)?;
    let body = match route.body {
        BodyKind::None => Vec::new(),
        BodyKind::Json | BodyKind::Batch | BodyKind::Bulk => {
            let limits = BodyLimits::of(route, &server.settings, &trail.identity);
            limits.read(&parts, body, place.reservation()).await?
        }
    };
    trail.body_bytes = body.len();
    let told = identify::in_body(app, route, &trail.identity, &body)?;
    if let Some(identity) = told {
        trail.identity = identity;
        identify::check_allowed(route, &trail.identity)?;
        introduce(&parts, &trail.identity);
        if route.charges.is_none() {
            charge(server, route, trail)?;
        }
    }
    if let Some(charges) = route.charges {
        charge_more(server, route, trail, charges(&body))?;
    }
    let admitted = place.of_sender(server, &trail.identity, body.len())?;
    let client = parts.extensions.remove::<Arc<ClientEnd>>();
    let request = Request {
        method: route.method,
        params,
        query,
        headers: parts.headers,
        identity: trail.identity.clone(),
        id: trail.request_id().to_owned(),
        body,
        ticket: None,
        admitted: admitted.clone(),
        client,
    };
    let own = Arc::clone(app);
    // The place in the server is kept as long as the work lasts, also when the caller has gone.
    let work = move |request| async move {
        let outcome = handler.handle(own, request).await;
        drop(admitted);
        outcome
    };
    match route.method {
        Method::Get => run(work(request)).await,
        Method::Post if route.hang_up == HangUp::Drops => run(work(request)).await,
        Method::Post => once(server, app, work, request, &parts.uri).await,
        Method::Put | Method::Patch | Method::Delete => to_the_end(work(request)).await,
    }
}

/// Tells the connection that its client is known: at once, since a request may take long, and connections of strangers do not last.
/// A public key tells nobody from a stranger: anybody may have seen it.
fn introduce(parts: &Parts, identity: &Identity) {
    if identity.is_known()
        && let Some(activity) = parts.extensions.get::<Arc<Activity>>()
    {
        activity.show_key();
    }
}

/// Finds the route of a request, and who sends it as far as the head tells; counts it.
fn pass_head(
    server: &Server,
    origin: Origin,
    parts: &Parts,
    trail: &mut Trail,
) -> ApiResult<Found> {
    let found = server.router.find(&parts.method, parts.uri.path())?;
    let route = found.route;
    trail.route = Some((found.index, route));
    check_header_size(server, parts)?;
    if matches!(route.access, Access::Public) {
        count_stranger(server, origin, parts)?;
        trail.counts_for_address = true;
    }
    trail.identity = identify::in_head(server, origin, route, parts)?;
    identify::check_allowed(route, &trail.identity)?;
    introduce(parts, &trail.identity);
    if route.charges.is_none() {
        charge(server, route, trail)?;
    } else {
        refuse_known(server, route, trail)?;
    }
    Ok(found)
}

/// Counts a request without a key, unless its connection has shown one before.
fn count_stranger(server: &Server, origin: Origin, parts: &Parts) -> ApiResult<()> {
    let activity = parts.extensions.get::<Arc<Activity>>();
    match origin {
        Origin::Network(address) if !activity.is_some_and(|activity| activity.is_known()) => {
            server.strangers.count(address, server.ticks.elapsed())
        }
        Origin::Network(_) | Origin::Control => Ok(()),
    }
}

/// Refuses a request without a key whose address has sent too many, unless its connection has shown one before; counts nothing.
fn refuse_frequent_stranger(server: &Server, origin: Origin, parts: &Parts) -> ApiResult<()> {
    let activity = parts.extensions.get::<Arc<Activity>>();
    match origin {
        Origin::Network(address) if !activity.is_some_and(|activity| activity.is_known()) => {
            server.strangers.check(address, server.ticks.elapsed())
        }
        Origin::Network(_) | Origin::Control => Ok(()),
    }
}

/// Returns the refusal of a request. A mistake of a client whose key is not known, or is public, counts against the rate of its
/// address, and beyond that rate the refusal says so.
fn unless_too_many(server: &Server, origin: Origin, trail: &Trail, refused: ApiError) -> ApiError {
    let Origin::Network(address) = origin else { return refused };
    let is_mistake =
        refused.code().status().is_client_error() && refused.code() != ErrorCode::RateLimited;
    if trail.identity.is_known() || trail.counts_for_address || !is_mistake {
        return refused;
    }
    server.strangers.count(address, server.ticks.elapsed()).err().unwrap_or(refused)
}

/// Tells the connection that work begins, unless only the body will tell for whom.
fn begin_handling(route: &Route, identity: &Identity, parts: &Parts) -> Option<Handled> {
    let activity = parts.extensions.get::<Arc<Activity>>();
    activity.filter(|_| !route.is_from_stranger(identity)).map(Activity::handle)
}

/// The place of a request while its body is read.
#[derive(Debug)]
enum Place {
    Known(Reservation),
    /// Of a client with a public key.
    Public(StrangersPlace),
    /// Of a client that only the body will tell.
    Stranger(StrangersPlace),
}

impl Place {
    fn take(
        server: &Server,
        origin: Origin,
        route: &Route,
        identity: &Identity,
    ) -> ApiResult<Self> {
        let purpose = if route.drains { Purpose::Drain } else { Purpose::Any };
        match origin {
            Origin::Control => server.control.enter_for(purpose).map(Self::Known),
            Origin::Network(address) if route.is_from_stranger(identity) => {
                server.strangers.enter(address).map(Self::Stranger)
            }
            Origin::Network(address) if !identity.is_known() => {
                server.strangers.enter_with_public_key(address).map(Self::Public)
            }
            Origin::Network(_) => server.admission.enter_for(purpose).map(Self::Known),
        }
    }

    fn reservation(&self) -> &Reservation {
        match self {
            Self::Known(reservation) => reservation,
            Self::Public(place) | Self::Stranger(place) => &place.reservation,
        }
    }

    /// The body is there, and has said who sent it where nothing else did: its bytes count among those of such clients now. The
    /// address of a client with a public key has its place back.
    fn of_sender(self, server: &Server, sender: &Identity, bytes: usize) -> ApiResult<Reservation> {
        match self {
            Self::Known(reservation) => Ok(reservation),
            Self::Public(place) => Ok(place.reservation.clone()),
            Self::Stranger(_) => {
                let reservation = if sender.is_known() {
                    server.admission.enter()?
                } else {
                    server.strangers.enter_with_body()?
                };
                reservation.add(bytes)?;
                Ok(reservation)
            }
        }
    }
}

/// Counts the request against the quota of its caller.
fn charge(server: &Server, route: &Route, trail: &mut Trail) -> Result<(), OverQuota> {
    charge_more(server, route, trail, 1)
}

/// Refuses a caller whose next call cannot fit yet, before its body is read; counts nothing.
fn refuse_known(server: &Server, route: &Route, trail: &mut Trail) -> Result<(), OverQuota> {
    identify::refuse_known(route, &trail.identity).inspect_err(|refused| {
        trail.usage = Some(refused.usage);
        server.telemetry.refused_quota();
    })
}

/// Counts so many calls.
fn charge_more(
    server: &Server,
    route: &Route,
    trail: &mut Trail,
    calls: u32,
) -> Result<(), OverQuota> {
    let Some(calls) = NonZeroU32::new(calls) else { return Ok(()) };
    let charged = identify::charge(route, &trail.identity, calls);
    trail.usage = charged.inspect_err(|refused| {
        trail.usage = Some(refused.usage);
        server.telemetry.refused_quota();
    })?;
    Ok(())
}

/// The limits of hyper stand higher, so that it is we who answer, in our own form.
fn check_header_size(server: &Server, parts: &Parts) -> ApiResult<()> {
    let settings = &server.settings;
    let target = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    let headers = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    if parts.headers.len() > settings.headers_max {
        let max = settings.headers_max;
        return Err(too_many_headers(format!("a request may have at most {max} headers")));
    }
    if headers.sum::<usize>() + target > settings.header_bytes_max {
        let max = settings.header_bytes_max;
        let message =
            format!("the path, query string and headers may have at most {max} bytes in all");
        return Err(too_many_headers(message));
    }
    Ok(())
}

fn too_many_headers(message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidParameter, message).field("headers")
}

/// Runs a POST: with an idempotency key at most once.
async fn once<Work>(
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
        None => return to_the_end(work(request)).await,
        Some(Claim::Again(response)) => return Ok(response),
        Some(Claim::First(ticket, guard)) => (ticket, guard),
    };
    request.ticket = Some(ticket.clone());
    let app = Arc::clone(app);
    to_the_end(async move {
        let response = work(request).await?;
        ticket.settle(&app, &response).await;
        drop(guard);
        Ok(response)
    })
    .await
}

/// Runs a handler that changes something. A caller who hangs up does not cut it in half.
async fn to_the_end(
    handler: impl Future<Output = ApiResult<Response>> + Send + 'static,
) -> ApiResult<Response> {
    match tokio::spawn(run(handler)).await {
        Ok(outcome) => outcome,
        Err(ended) => Err(ApiError::internal(ended)),
    }
}

async fn run(handler: impl Future<Output = ApiResult<Response>>) -> ApiResult<Response> {
    match AssertUnwindSafe(handler).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(ApiError::internal(format_args!(
                "a handler panicked: {}",
                text.unwrap_or_default()
            )))
        }
    }
}
