//! A request as handlers receive it: routed, authenticated, its body read and decoded.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use telltale_engine::Receipt;

use super::admission::Reservation;
use super::body_parts::Parts;
use super::client_end::ClientEnd;
use super::error::ApiResult;
use super::idempotency::Ticket;
use super::query::Query;
use super::response::Response;
use super::route::Method;
use super::{etag, identify, json};
use crate::app::App;
use crate::platform::keys::Identity;

/// A request that passed routing, authentication and limits.
#[derive(Debug)]
pub struct Request {
    pub(super) method: Method,
    /// Names and percent-decoded values, in path order.
    pub(super) params: Vec<(String, String)>,
    pub(super) query: Query,
    pub(super) headers: HeaderMap,
    pub(super) identity: Identity,
    pub(super) id: String,
    pub(super) body: Vec<u8>,
    pub(super) ticket: Option<Ticket>,
    pub(super) admitted: Reservation,
    /// The state of the client's sending side; `None` without a connection.
    pub(super) client: Option<Arc<ClientEnd>>,
    /// The address of the client; `None` on the control socket.
    pub(super) address: Option<IpAddr>,
    /// Whether the host of the request is that of a public site.
    pub(super) is_of_hosted_site: bool,
}

impl Request {
    /// Returns the method; `GET` for a `HEAD`.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Returns the path parameter `name`, percent-decoded.
    ///
    /// # Panics
    /// If the route's path has no such parameter.
    pub fn param(&self, name: &str) -> &str {
        match self.params.iter().find(|(key, _)| key == name) {
            Some((_, value)) => value,
            None => {
                panic!("the route has no parameter {name:?}: its path and its handler disagree")
            }
        }
    }

    /// Returns the query string.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns whether the client has the version with this `ETag`: a response with it is sent
    /// without its body.
    pub fn has_version(&self, etag: &HeaderValue) -> bool {
        let known = etag::known_tags(&http::Method::GET, &self.headers);
        self.method == Method::Get && etag::is_known(&known, Some(etag))
    }

    /// Returns the identity of the caller.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the address that the request came from; `None` on the control socket.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Returns whether the host of the request is that of a public site, so that paths begin after
    /// that of the site.
    pub fn is_of_hosted_site(&self) -> bool {
        self.is_of_hosted_site
    }

    /// Returns the request id, which the response and the log contain.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Parses the body as a JSON object of this type. Fails with `invalid_json` if it is not a JSON
    /// object, and with `missing_field` or `invalid_parameter`, naming the field, if a field does
    /// not fit.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> ApiResult<T> {
        json::check_content_type(&self.headers)?;
        self.admitted.hold(self.body.len())?;
        json::object(&self.body, self.admitted.memory())
    }

    /// Like [`Self::json`], for routes whose body is optional.
    pub fn json_or_default<T: DeserializeOwned + Default>(&self) -> ApiResult<T> {
        if self.body.is_empty() { Ok(T::default()) } else { self.json() }
    }

    /// Takes the body, decompressed; empty if it was taken before. For parsers that work in place.
    pub fn take_body(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.body)
    }

    /// Like [`Self::take_body`]. Fails if the content type is given and is not JSON.
    pub fn take_json_body(&mut self) -> ApiResult<Vec<u8>> {
        json::check_content_type(&self.headers)?;
        Ok(self.take_body())
    }

    /// Waits for an event that may be long in coming. Meanwhile the request holds no admission
    /// permit and no body. Fails as soon as the caller's key is revoked; `waiting` is then dropped,
    /// even if it has just completed. A client that has closed its side of the connection counts as
    /// disconnected: the result of the wait would be lost with it.
    pub async fn wait<T>(&mut self, waiting: impl Future<Output = T>) -> ApiResult<T> {
        drop(self.take_body());
        if let Some(client) = &self.client {
            client.drop_at_end();
        }
        self.admitted.release();
        let outcome = tokio::select! {
            biased;
            () = self.identity.revoked() => None,
            outcome = waiting => Some(outcome),
        };
        self.admitted.reacquire();
        outcome.filter(|_| !self.identity.is_revoked()).ok_or_else(identify::unauthorized)
    }

    /// Fails with `precondition_failed` if `If-Match` is given and does not contain this revision.
    pub fn check_if_match(&self, revision: u64) -> ApiResult<()> {
        etag::check_if_match(&self.headers, revision)
    }

    /// Returns the receipt that an ingest handler stores in the same write as the samples, so that
    /// a repeated request returns `response` and stores nothing twice. `None` if the client sent no
    /// `Idempotency-Key`. Other handlers need not call it: their response is stored after they
    /// succeed.
    pub fn receipt(&self, response: &Response) -> Option<Receipt> {
        self.ticket.as_ref().map(|ticket| ticket.redeem(response))
    }

    /// Keeps the response from being stored for repeated requests, because it contains a secret. A
    /// repeated request runs again.
    pub fn forgo_receipt(&self) {
        if let Some(ticket) = &self.ticket {
            ticket.forgo();
        }
    }

    /// Returns the parts of the body that an earlier attempt of this request stored, for handlers
    /// that store a body in several writes. `None` if the client sent no `Idempotency-Key`. Fails
    /// if the key was used with another body.
    pub async fn parts(&self, app: &Arc<App>) -> ApiResult<Option<Parts>> {
        match &self.ticket {
            Some(ticket) => Parts::find(app, ticket).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Returns whether the `If-Match` of a request allows a change of this revision.
pub fn fits(request: &Request, revision: u64) -> bool {
    request.check_if_match(revision).is_ok()
}
