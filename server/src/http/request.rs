//! A request as handlers see it: routed, authenticated, its body read and decompressed.

use std::sync::Arc;

use http::HeaderMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use telltale_engine::Receipt;

use super::admission::Reservation;
use super::client_end::ClientEnd;
use super::error::ApiResult;
use super::idempotency::Ticket;
use super::parts::Parts;
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
    /// Names and percent-decoded values, in the order of the path.
    pub(super) params: Vec<(String, String)>,
    pub(super) query: Query,
    pub(super) headers: HeaderMap,
    pub(super) identity: Identity,
    pub(super) id: String,
    pub(super) body: Vec<u8>,
    pub(super) ticket: Option<Ticket>,
    pub(super) admitted: Reservation,
    /// The end of what the client of the connection sends, where there is a connection.
    pub(super) client: Option<Arc<ClientEnd>>,
}

impl Request {
    /// The method; `GET` for a `HEAD`.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The part of the path called `name` in the route, percent-decoded.
    ///
    /// # Panics
    /// When the route has no such part: the handler and its line in the table disagree.
    pub fn param(&self, name: &str) -> &str {
        match self.params.iter().find(|(key, _)| key == name) {
            Some((_, value)) => value,
            None => {
                panic!("the route has no parameter {name:?}: its path and its handler disagree")
            }
        }
    }

    /// The query string.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Who calls.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The id that the response and the log carry.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The body as a JSON object of this type. Fails with `invalid_json` when it is no JSON object, with
    /// `missing_field` or `invalid_parameter` naming the field when the object does not fit.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> ApiResult<T> {
        json::check_content_type(&self.headers)?;
        self.admitted.hold(self.body.len())?;
        json::object(&self.body, self.admitted.memory())
    }

    /// Like [`Self::json`], for routes where the body may be left out.
    pub fn json_or_default<T: DeserializeOwned + Default>(&self) -> ApiResult<T> {
        if self.body.is_empty() { Ok(T::default()) } else { self.json() }
    }

    /// The body, decompressed; empty when it is taken a second time. For parsers that work in place.
    pub fn take_body(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.body)
    }

    /// Like [`Self::take_body`], refused when the content type is given and not JSON.
    pub fn take_json_body(&mut self) -> ApiResult<Vec<u8>> {
        json::check_content_type(&self.headers)?;
        Ok(self.take_body())
    }

    /// Waits for something that may take long. Meanwhile the request holds no place in the server, and no body. Refused as soon as
    /// the caller's key is revoked: `waiting` is dropped then, also when it has just ended. A client that has ended its side of the
    /// connection is taken for gone: what is waited for would be lost with it.
    pub async fn wait<T>(&mut self, waiting: impl Future<Output = T>) -> ApiResult<T> {
        drop(self.take_body());
        if let Some(client) = &self.client {
            client.unshare();
        }
        self.admitted.leave();
        let outcome = tokio::select! {
            biased;
            () = self.identity.revoked() => None,
            outcome = waiting => Some(outcome),
        };
        self.admitted.enter_again();
        outcome.filter(|_| !self.identity.is_revoked()).ok_or_else(identify::unauthorized)
    }

    /// Refuses with `precondition_failed` when `If-Match` is given and does not name this revision.
    pub fn check_if_match(&self, revision: u64) -> ApiResult<()> {
        etag::check_if_match(&self.headers, revision)
    }

    /// What an ingest handler stores in the same write as the points, so that a repeated request is answered
    /// with `response` and stores nothing twice. `None` when the caller sent no `Idempotency-Key`. Other
    /// handlers need not care: their answer is stored after they succeed.
    pub fn receipt(&self, response: &Response) -> Option<Receipt> {
        self.ticket.as_ref().map(|ticket| ticket.redeem(response))
    }

    /// The parts of the body that an earlier attempt of this request stored, for handlers that store a body in several
    /// writes. `None` when the caller sent no `Idempotency-Key`; refused when the key came with another body.
    pub async fn parts(&self, app: &Arc<App>) -> ApiResult<Option<Parts>> {
        match &self.ticket {
            Some(ticket) => Parts::find(app, ticket).await.map(Some),
            None => Ok(None),
        }
    }
}
