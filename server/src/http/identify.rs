//! Authentication, authorization and quotas.
//!
//! The key is sent in `Authorization`; on Sentry routes also as Sentry SDKs send it. Browsers with
//! a session of the console send a cookie instead, which counts only on requests of own pages. If
//! several keys are sent, they must be the same. If only the body contains the key, the body is
//! read before the caller is known, and nothing else is done with it until then.

use std::num::NonZeroU32;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::error::{ApiError, ApiResult, ErrorCode};
use super::pipeline::Origin;
use super::query::Query;
use super::route::{Access, LimitClass, Method, Route};
use super::same_origin;
use super::server::Server;
use crate::app::App;
use crate::platform::keys::{DsnKey, Identity};
use crate::platform::plural::count;
use crate::platform::signed_url::UrlRefusal;
use crate::platform::throttle::{Usage, Verdict};

/// Tells Sentry SDKs how long to pause: seconds, item categories (all if none is named), scope.
pub const SENTRY_LIMITS: HeaderName = HeaderName::from_static("x-sentry-rate-limits");

/// A caller has used up a quota.
#[derive(Debug)]
pub(super) struct OverQuota {
    pub(super) usage: Usage,
    class: LimitClass,
    seconds: u32,
    has_sentry_header: bool,
}

/// Identifies the caller from the head of the request, if possible.
pub(super) fn in_head(
    server: &Server,
    origin: Origin,
    route: &Route,
    parts: &Parts,
) -> ApiResult<Identity> {
    let dsn = match route.access {
        Access::Public => return Ok(Identity::Anonymous),
        Access::Scope(_) | Access::Signed(_) => None,
        Access::Dsn(_, in_body) => Some(in_body),
    };
    let app = server.opened()?;
    if origin == Origin::Control {
        return Ok(Identity::Local);
    }
    if matches!(route.access, Access::Signed(_)) && !parts.headers.contains_key(AUTHORIZATION) {
        return check_signature(app, parts).map(|()| Identity::Anonymous);
    }
    if let Some(in_body) = dsn {
        let query = Query::parse(parts.uri.query().unwrap_or(""))?;
        match DsnKey::in_head(&parts.headers, query.iter()).map_err(|_| unauthorized())? {
            Some(dsn) => return authenticate_dsn(app, &dsn),
            None if in_body.is_some() && !parts.headers.contains_key(AUTHORIZATION) => {
                return Ok(Identity::Anonymous);
            }
            None => {}
        }
    }
    if !parts.headers.contains_key(AUTHORIZATION)
        && let Some(identity) = in_cookie(app, route, &parts.headers)?
    {
        return Ok(identity);
    }
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let only = values.next().filter(|_| values.next().is_none());
    let header = only.and_then(|value| value.to_str().ok());
    let live = header.and_then(|header| app.keys().authenticate(header));
    live.map(Identity::Key).ok_or_else(unauthorized)
}

/// Returns the session of a request without a key. Fails with `forbidden` if the request may change
/// something and no page of this server sent it. Routes that other origins may call never read
/// cookies.
fn in_cookie(app: &App, route: &Route, headers: &HeaderMap) -> ApiResult<Option<Identity>> {
    let sessions = app.sessions();
    let reads_cookies = matches!(route.access, Access::Scope(_)) && !route.cors;
    if !reads_cookies || !sessions.has_cookie(headers) {
        return Ok(None);
    }
    let is_own = if route.method == Method::Get {
        same_origin::is_read_of_same_origin(headers)
    } else if same_origin::is_change_of_same_origin(headers, sessions.public_origin()) {
        true
    } else {
        return Err(same_origin::foreign_page());
    };
    Ok(sessions.authenticate(headers).filter(|_| is_own).map(Identity::Session))
}

/// Fails if the URL is not signed by this server, or no longer.
fn check_signature(app: &App, parts: &Parts) -> ApiResult<()> {
    let query = Query::parse(parts.uri.query().unwrap_or(""))?;
    let (expires, signature) = (query.one("expires")?, query.one("signature")?);
    let checked = app.url_signer().check(parts.uri.path(), expires, signature, app.now());
    checked.map_err(|refusal| match refusal {
        UrlRefusal::NotSigned => unauthorized(),
        UrlRefusal::Expired => ApiError::new(ErrorCode::Unauthorized, refusal.to_string()),
    })
}

/// Counts calls against the caller's quota, all or none. Returns the quota's usage; `None` if it is
/// unlimited.
pub(super) fn charge(
    route: &Route,
    identity: &Identity,
    calls: NonZeroU32,
) -> Result<Option<Usage>, OverQuota> {
    match identity.throttle(route.limit, calls) {
        Verdict::Unlimited => Ok(None),
        Verdict::Allowed(usage) => Ok(Some(usage)),
        Verdict::Refused { usage, wait } => Err(over_quota(route, identity, usage, wait)),
    }
}

/// Fails if the caller was refused a single call and has not waited since. Counts nothing.
pub(super) fn refuse_exhausted(route: &Route, identity: &Identity) -> Result<(), OverQuota> {
    match identity.pending_refusal(route.limit) {
        Some((usage, wait)) => Err(over_quota(route, identity, usage, wait)),
        None => Ok(()),
    }
}

fn over_quota(route: &Route, identity: &Identity, usage: Usage, wait: Duration) -> OverQuota {
    let seconds = u32::try_from(wait.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX).max(1);
    let has_sentry_header = matches!(route.access, Access::Dsn(..));
    let class = identity.quota_class(route.limit);
    OverQuota { usage, class, seconds, has_sentry_header }
}

/// Identifies the caller from the body, if the head did not. If the caller is identified already
/// and the body contains a key, it must be the same; `None` is returned then.
pub(super) fn in_body(
    app: &App,
    route: &Route,
    known: &Identity,
    body: &[u8],
) -> ApiResult<Option<Identity>> {
    let Access::Dsn(_, Some(dsn_in)) = route.access else { return Ok(None) };
    let sent = dsn_in(body).as_deref().and_then(DsnKey::in_url);
    match (known, sent) {
        (Identity::Anonymous, None) => Err(unauthorized()),
        (Identity::Anonymous, Some(dsn)) => authenticate_dsn(app, &dsn).map(Some),
        (Identity::Key(live), Some(dsn)) if !app.keys().is_of(live, &dsn) => Err(unauthorized()),
        (Identity::Key(_) | Identity::Session(_) | Identity::Local, _) => Ok(None),
    }
}

fn authenticate_dsn(app: &App, dsn: &DsnKey) -> ApiResult<Identity> {
    app.keys().authenticate_dsn(dsn).map(Identity::Key).ok_or_else(unauthorized)
}

/// Fails if the caller's key does not permit the route.
pub(super) fn check_allowed(route: &Route, identity: &Identity) -> ApiResult<()> {
    let scope = match route.access {
        Access::Public => return Ok(()),
        // The signature of the URL was checked.
        Access::Signed(_) if matches!(identity, Identity::Anonymous) => return Ok(()),
        // The key is in the body, which has not been read yet.
        Access::Dsn(..) if route.is_identified_by_body(identity) => return Ok(()),
        Access::Scope(scope) | Access::Signed(scope) | Access::Dsn(scope, _) => scope,
    };
    if !identity.may(scope) {
        let message = format!("the key lacks the scope {:?}", scope.as_str());
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    if route.is_private && identity.key().is_some_and(|key| key.public_ingest) {
        let message = "a public key may only send telemetry and errors";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    Ok(())
}

/// Returns the one error of all callers without a valid key.
pub(super) fn unauthorized() -> ApiError {
    let message = "a valid API key is required: Authorization: Bearer tt_<id>_<secret>";
    ApiError::new(ErrorCode::Unauthorized, message)
}

impl From<OverQuota> for ApiError {
    fn from(over: OverQuota) -> Self {
        let OverQuota { usage, class, seconds, has_sentry_header } = over;
        let class = class.as_str();
        let requests = count(usage.limit, "request");
        let message = format!("the key may send at most {requests} of class {class:?} per minute");
        let error = Self::new(ErrorCode::RateLimited, message).retry_after(seconds);
        match HeaderValue::from_str(&format!("{seconds}::key")) {
            Ok(limits) if has_sentry_header => error.header(SENTRY_LIMITS, limits),
            _ => error,
        }
    }
}
