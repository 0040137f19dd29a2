//! `Idempotency-Key`: a repeated POST receives the first response and has no further effect.
//!
//! The first request gets a [`Ticket`]; its response is stored as an engine receipt, for ingest
//! routes in the same write as the samples. A second request with the same key, method and path
//! finds the receipt: with the same body it receives the stored response, with a different body it
//! is a `conflict`. While the first request is in progress, the second is also a `conflict`, so a
//! handler never runs twice. Only success responses are stored, and those that a handler stores
//! itself, such as a partial failure of which some items were stored; after any other failure, a
//! repeated request runs again. A body stored in several writes has a receipt for each
//! ([`super::body_parts`]). Routes that wait for something only their caller can use, such as
//! fetching jobs, ignore the header ([`super::route::OnDisconnect::Drops`]) and do not document it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use telltale_engine::{Receipt, TimestampMs};
use xxhash_rust::xxh3::Xxh3Default;

use super::error::{ApiError, ApiResult, ErrorCode};
use super::response::{MemoryAccounting, Response};
use crate::app::App;
use crate::limits;
use crate::platform::keys::Identity;

// The engine detects duplicate log records by receipts, which must be kept long enough.
const _: () = assert!(limits::IDEMPOTENCY_KEPT_MS >= telltale_engine::limits::RECEIPT_KEPT_MS_MIN);

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The first byte of a stored response.
const ANSWER_VERSION: u8 = 1;

/// The requests in progress that have an idempotency key.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashSet<u128>>>);

/// The right to run a request for the first time, and the means to store its response.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    pub(super) id: u128,
    pub(super) fingerprint: u64,
    pub(super) expires_at: TimestampMs,
    /// Whether the handler stores the receipt itself, or wants none.
    redeemed: Arc<AtomicBool>,
}

/// Makes concurrent requests with the same key fail until it is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    in_flight: InFlight,
    id: u128,
}

/// The result of checking a request's idempotency key.
#[derive(Debug)]
pub(super) enum Claim {
    /// The request is the first and must be run.
    First(Ticket, Guard),
    /// The request was completed before, with this response.
    Replay(Response),
}

/// The parts of a request that identify it.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) identity: &'a Identity,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) body: &'a [u8],
}

impl InFlight {
    /// Checks the key in the headers of a POST; `None` if there is none. Fails with `conflict` if
    /// the key was used with another body or its request is in progress.
    pub(super) async fn claim(
        &self,
        app: &Arc<App>,
        headers: &HeaderMap,
        subject: &Subject<'_>,
    ) -> ApiResult<Option<Claim>> {
        let Some(key) = key_of(headers)? else { return Ok(None) };
        let id = subject.id(key);
        let guard = self.enter(id)?;
        let fingerprint = subject.fingerprint();
        match app.blocking(move |app| app.engine().receipt(id)).await? {
            None => {
                let time = app.engine().trusted_time();
                let expires_at = time.expires_after(limits::IDEMPOTENCY_KEPT_MS);
                let ticket = Ticket { id, fingerprint, expires_at, redeemed: Arc::default() };
                Ok(Some(Claim::First(ticket, guard)))
            }
            Some(receipt) if receipt.fingerprint == fingerprint => {
                Ok(Some(Claim::Replay(replay(&receipt)?)))
            }
            Some(_) => Err(conflict("the Idempotency-Key was used with another body")),
        }
    }

    fn enter(&self, id: u128) -> ApiResult<Guard> {
        if self.0.lock().insert(id) {
            Ok(Guard { in_flight: self.clone(), id })
        } else {
            Err(conflict("a request with this Idempotency-Key is still in progress"))
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.in_flight.0.lock().remove(&self.id);
    }
}

impl Ticket {
    /// Returns the receipt of `response`, for a handler that stores it in its own write.
    pub(super) fn redeem(&self, response: &Response) -> Receipt {
        self.redeemed.store(true, Ordering::Relaxed);
        self.receipt(response)
    }

    /// Lets no receipt be stored.
    pub(super) fn forgo(&self) {
        self.redeemed.store(true, Ordering::Relaxed);
    }

    /// Stores the receipt of a success response, unless the handler did. The work is done, so a
    /// failure to store the receipt does not fail the request; a repeated request would then run
    /// again.
    pub(super) async fn settle(self, app: &Arc<App>, response: &Response) {
        if self.redeemed.load(Ordering::Relaxed) || !response.status.is_success() {
            return;
        }
        let receipt = self.receipt(response);
        let stored = app.blocking(move |app| {
            let mut transaction = app.engine().documents().begin();
            transaction.receipt(receipt)?;
            transaction.commit()
        });
        if let Err(error) = stored.await {
            tracing::error!(
                cause = error.cause(),
                "the receipt of an idempotent request was not stored"
            );
        }
    }

    fn receipt(&self, response: &Response) -> Receipt {
        Receipt {
            id: self.id,
            fingerprint: self.fingerprint,
            answer: encode(response),
            expires_at: self.expires_at,
        }
    }
}

impl Subject<'_> {
    /// Returns the id of the receipt. A cryptographic hash, so that no caller can craft a request
    /// that finds another's receipt.
    fn id(&self, key: &str) -> u128 {
        let mut hash = Sha256::new();
        for part in [self.identity.key_id(), self.path, key] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        first_half(&hash.finalize().into())
    }

    fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3Default::new();
        hash.update(&(self.query.len() as u64).to_le_bytes());
        hash.update(self.query.as_bytes());
        hash.update(self.body);
        hash.digest()
    }
}

/// Returns the value of `Idempotency-Key`; `None` if absent.
fn key_of(headers: &HeaderMap) -> ApiResult<Option<&str>> {
    let mut values = headers.get_all(KEY).iter();
    let (first, second) = (values.next(), values.next());
    let Some(value) = first else { return Ok(None) };
    let visible = value.as_bytes().iter().all(u8::is_ascii_graphic);
    let fits = (1..=limits::IDEMPOTENCY_KEY_CHARS_MAX).contains(&value.len());
    match value.to_str() {
        Ok(text) if visible && fits && second.is_none() => Ok(Some(text)),
        _ => {
            let max = limits::IDEMPOTENCY_KEY_CHARS_MAX;
            let message =
                format!("must be given only once and have 1 to {max} visible ASCII characters");
            Err(ApiError::parameter("Idempotency-Key", message))
        }
    }
}

/// Returns the first 16 bytes of a hash, used as a receipt id.
pub(super) fn first_half(digest: &[u8; 32]) -> u128 {
    digest.iter().take(16).fold(0, |id, byte| id << 8 | u128::from(*byte))
}

pub(super) fn conflict(message: &'static str) -> ApiError {
    ApiError::new(ErrorCode::Conflict, message)
}

/// Encodes a response: version, status, number of headers, headers, body. Lengths are 16 bits,
/// little-endian; the service's headers are shorter than that.
fn encode(response: &Response) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + response.body.len());
    out.push(ANSWER_VERSION);
    out.extend_from_slice(&response.status.as_u16().to_le_bytes());
    out.extend_from_slice(&short(response.headers.len()));
    for (name, value) in &response.headers {
        for part in [name.as_str().as_bytes(), value.as_bytes()] {
            out.extend_from_slice(&short(part.len()));
            out.extend_from_slice(part);
        }
    }
    out.extend_from_slice(&response.body);
    out
}

fn short(length: usize) -> [u8; 2] {
    match u16::try_from(length) {
        Ok(length) => length.to_le_bytes(),
        Err(_) => panic!(
            "a handler set {length} headers, or one of {length} bytes: they are few and short"
        ),
    }
}

fn replay(receipt: &Receipt) -> ApiResult<Response> {
    let mut response = decode(&receipt.answer).ok_or_else(|| {
        ApiError::internal(format_args!("the receipt {:032x} is unreadable", receipt.id))
    })?;
    response.headers.insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

fn decode(answer: &[u8]) -> Option<Response> {
    let (version, mut rest) = answer.split_first()?;
    if *version != ANSWER_VERSION {
        return None;
    }
    let status = StatusCode::from_u16(take_short(&mut rest)?).ok()?;
    let mut headers = HeaderMap::new();
    for _ in 0..take_short(&mut rest)? {
        let name = HeaderName::from_bytes(take_part(&mut rest)?).ok()?;
        headers.append(name, HeaderValue::from_bytes(take_part(&mut rest)?).ok()?);
    }
    let accounting = MemoryAccounting::Force;
    Some(Response { status, headers, body: rest.to_vec().into(), accounting })
}

fn take_short(rest: &mut &[u8]) -> Option<u16> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u16::from_le_bytes(*bytes))
}

fn take_part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::from(take_short(rest)?);
    let (part, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Success;

    #[test]
    fn a_response_is_stored_completely() {
        let response = Response::json(Success::Created, &serde_json::json!({"id": 1}))
            .unwrap()
            .header(http::header::ETAG, HeaderValue::from_static("\"7\""));
        let stored = encode(&response);
        let read = decode(&stored).unwrap();
        assert_eq!(
            (read.status, &read.headers, &read.body),
            (response.status, &response.headers, &response.body)
        );
        let headers_end = stored.len() - response.body.len();
        for cut in 0..headers_end {
            assert!(decode(&stored[..cut]).is_none(), "{cut}");
        }
    }

    #[test]
    fn requests_are_identified_by_caller_key_and_path_and_bodies_by_every_byte() {
        let subject = |path, query, body| Subject { identity: &Identity::Local, path, query, body };
        let one = subject("/a", "", b"x");
        assert_ne!(one.id("k"), one.id("l"));
        assert_ne!(one.id("k"), subject("/b", "", b"x").id("k"));
        assert_ne!(subject("/a", "", b"").id("bk"), subject("/ab", "", b"").id("k"));
        assert_eq!(one.id("k"), subject("/a", "y", b"z").id("k"));
        assert_ne!(one.fingerprint(), subject("/a", "", b"y").fingerprint());
        assert_ne!(one.fingerprint(), subject("/a", "x", b"").fingerprint());
    }

    #[test]
    fn malformed_keys_are_refused() {
        let check = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(KEY, HeaderValue::from_bytes(value).unwrap());
            }
            key_of(&headers).map(|key| key.map(str::to_owned)).map_err(|error| error.code())
        };
        assert_eq!(check(&[]), Ok(None));
        assert_eq!(check(&[b"8f6c-\"x\""]), Ok(Some("8f6c-\"x\"".to_owned())));
        assert!(check(&[&[b'k'; 255]]).is_ok());
        for wrong in [&[&b""[..]][..], &[&[b'k'; 256]], &[b"a b"], &[b"\xc3\xa9"], &[b"a", b"a"]] {
            assert_eq!(check(wrong), Err(ErrorCode::InvalidParameter), "{wrong:?}");
        }
    }

    #[test]
    fn concurrent_requests_with_one_key_run_once() {
        let in_flight = InFlight::default();
        let first = in_flight.enter(7).unwrap();
        assert_eq!(in_flight.enter(7).unwrap_err().code(), ErrorCode::Conflict);
        let _other = in_flight.enter(8).unwrap();
        drop(first);
        in_flight.enter(7).unwrap();
    }
}
