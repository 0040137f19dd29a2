//! Reads a request body into memory, bounded in decompressed bytes and in time.
//!
//! A body that stalls or arrives too slowly is refused with `request_timeout`, one over its limit
//! with `payload_too_large` as soon as that is known; for a compressed body, during decompression.
//! For a route with a [`BodyFiltering`], unused parts are dropped on arrival: the kept bytes have
//! the limit of the route, and the received bytes a separate limit. Once a body uses the memory
//! reserve, the rest of it must arrive within [`limits::RESERVE_BODY_MS`]. The bytes are owned and
//! not shared, so that parsers can work in place.
//!
//! Supported encodings: gzip and zstd (decoded by the outer layer) and deflate (decoded here) for
//! every route, and a [`BodyEncoding`] (decoded here) for routes that declare one.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::admission::Reservation;
use super::error::{ApiError, ApiResult, ErrorCode};
use super::route::{BodyEncoding, BodyFilter, BodyFiltering, BodyKind, Route};
use super::settings::Settings;
use super::{decode, snappy};
use crate::limits;
use crate::platform::keys::Identity;
use crate::platform::plural::count;

/// Memory allocated in advance for a body of which less has arrived: a client may announce more
/// than it sends.
const AHEAD_BYTES_MIN: usize = 64 << 10;
/// Memory allocated in advance for a larger body, relative to the bytes that have arrived.
const AHEAD: usize = 4;

/// Marks requests that had a `Content-Encoding` header, which the decompression layer removes.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodingNamed;

/// The encoding that still has to be decoded after the body was received.
#[derive(Clone, Copy, Debug)]
enum PendingEncoding {
    Snappy,
    Deflate,
    Brotli,
}

/// The limits that apply to reading a body.
#[derive(Debug)]
pub(super) struct BodyLimits {
    bytes_max: usize,
    packing: Option<BodyEncoding>,
    sifting: Option<BodyFiltering>,
    idle: Duration,
    total: Duration,
}

/// A body that is being received.
struct Received<'r> {
    bytes: Vec<u8>,
    /// The `Content-Length` of the request, or 0.
    announced: usize,
    /// Bytes received, including dropped ones.
    received_bytes: usize,
    sieve: Option<Box<dyn BodyFilter>>,
    reservation: &'r Reservation,
}

impl BodyLimits {
    /// Returns the limits of the route. A caller of whom nothing is known before the body gets the
    /// smaller limits of a JSON body, and less time.
    pub(super) fn of(route: &Route, settings: &Settings, caller: &Identity) -> Self {
        let is_of_stranger = route.has_body_of_stranger(caller);
        let kind = if is_of_stranger { BodyKind::Json } else { route.body };
        let total = if is_of_stranger {
            settings.http.stranger_body_timeout.duration()
        } else {
            settings.http.body_timeout.duration()
        };
        Self {
            bytes_max: settings.bodies.bytes_max(kind),
            packing: route.packing,
            // The DSN is extracted from the whole body, so none of it may be dropped.
            sifting: route.sifting.filter(|_| !is_of_stranger),
            idle: settings.http.body_idle_timeout.duration().min(total),
            total,
        }
    }

    /// Reads `body`, which the outer layer decompresses. An encoding that is still named in the
    /// headers is one that the layer does not support.
    pub(super) async fn read<B>(
        &self,
        parts: &Parts,
        body: B,
        reservation: &Reservation,
    ) -> ApiResult<Vec<u8>>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let encoding = self.pending_encoding(parts)?;
        let announced = content_length(&parts.headers);
        if announced > self.received_bytes_max() {
            return Err(too_large(self.received_bytes_max()));
        }
        let mut received = Received {
            bytes: Vec::new(),
            announced,
            received_bytes: 0,
            // An encoded body is filtered when it is decoded.
            sieve: self.sifting.filter(|_| encoding.is_none()).map(|sifting| (sifting.make)()),
            reservation,
        };
        let reading = self.collect(body, &mut received);
        timeout(self.total, reading).await.map_err(|_| too_late())??;
        let bytes = received.finish()?;
        let decode = match encoding {
            None => return Ok(bytes),
            Some(PendingEncoding::Snappy) => {
                return snappy::decode(bytes, self.bytes_max, reservation).await;
            }
            Some(PendingEncoding::Deflate) => decode::deflate,
            Some(PendingEncoding::Brotli) => decode::brotli,
        };
        decode::decode(bytes, decode, self.bytes_max, self.sifting, reservation).await
    }

    /// Returns the maximum number of received bytes, before filtering.
    fn received_bytes_max(&self) -> usize {
        self.sifting.map_or(self.bytes_max, |sifting| sifting.bytes_max.max(self.bytes_max))
    }

    /// Returns the encoding that still has to be decoded.
    fn pending_encoding(&self, parts: &Parts) -> ApiResult<Option<PendingEncoding>> {
        let named = parts.extensions.get::<EncodingNamed>().is_some();
        let encoding = parts.headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
        match (encoding, self.packing) {
            (None, Some(BodyEncoding::Snappy)) if !named => Ok(Some(PendingEncoding::Snappy)),
            (None | Some(b"identity"), _) => Ok(None),
            (Some(b"deflate"), _) => Ok(Some(PendingEncoding::Deflate)),
            (Some(b"snappy"), Some(BodyEncoding::Snappy)) => Ok(Some(PendingEncoding::Snappy)),
            (Some(b"br"), Some(BodyEncoding::Brotli)) => Ok(Some(PendingEncoding::Brotli)),
            (Some(_), packing) => {
                let message = match packing {
                    None => "Content-Encoding must be gzip, zstd, deflate or identity",
                    Some(BodyEncoding::Snappy) => {
                        "Content-Encoding must be snappy, gzip, zstd, deflate or identity"
                    }
                    Some(BodyEncoding::Brotli) => {
                        "Content-Encoding must be br, gzip, zstd, deflate or identity"
                    }
                };
                Err(ApiError::new(ErrorCode::UnsupportedMediaType, message))
            }
        }
    }

    async fn collect<B>(&self, body: B, received: &mut Received<'_>) -> ApiResult<()>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let mut body = std::pin::pin!(body);
        while !received.reservation.uses_reserve() {
            let Some(data) = self.next_data(body.as_mut()).await? else { return Ok(()) };
            self.append(&data, received)?;
        }
        // The reserve is shared: a slow client must not occupy it.
        let rest = async {
            while let Some(data) = self.next_data(body.as_mut()).await? {
                self.append(&data, received)?;
            }
            Ok(())
        };
        let limit = Duration::from_millis(limits::RESERVE_BODY_MS);
        timeout(limit, rest).await.map_err(|_| too_late())?
    }

    /// Returns the next bytes of the body; `None` at its end.
    async fn next_data<B>(&self, mut body: Pin<&mut B>) -> ApiResult<Option<Bytes>>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        loop {
            let frame = timeout(self.idle, body.frame()).await.map_err(|_| too_late())?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| broken(&error))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }

    fn append(&self, data: &Bytes, received: &mut Received<'_>) -> ApiResult<()> {
        let Received { bytes, announced, received_bytes, sieve, reservation } = received;
        *received_bytes = received_bytes.saturating_add(data.len());
        let Some(sieve) = sieve else {
            if data.len() > self.bytes_max - bytes.len() {
                return Err(too_large(self.bytes_max));
            }
            reservation.add(data.len())?;
            reserve_capacity(bytes, data.len(), *announced);
            bytes.extend_from_slice(data);
            return Ok(());
        };
        if *received_bytes > self.received_bytes_max() {
            return Err(too_large(self.received_bytes_max()));
        }
        reservation.add(data.len())?;
        let before = bytes.len();
        sieve.push(data, bytes)?;
        let kept = bytes.len() - before;
        // A line held back until its end was reserved when it arrived and released then.
        match kept.checked_sub(data.len()) {
            Some(more) => reservation.add(more)?,
            None => reservation.release_bytes(data.len() - kept),
        }
        if bytes.len() > self.bytes_max { Err(too_large(self.bytes_max)) } else { Ok(()) }
    }
}

impl Received<'_> {
    /// Returns the kept bytes of a body that was received completely.
    fn finish(mut self) -> ApiResult<Vec<u8>> {
        if let Some(sieve) = &mut self.sieve {
            let before = self.bytes.len();
            sieve.end(&mut self.bytes)?;
            self.reservation.add(self.bytes.len() - before)?;
        }
        Ok(self.bytes)
    }
}

/// Reserves capacity for `more` bytes. Uses large steps if the length is known, since each step
/// copies the buffer.
fn reserve_capacity(bytes: &mut Vec<u8>, more: usize, announced: usize) {
    if bytes.capacity() - bytes.len() < more {
        let arrived = bytes.len() + more;
        let left = announced.saturating_sub(bytes.len());
        bytes.reserve(more.max(left.min((AHEAD * arrived).max(AHEAD_BYTES_MIN))));
    }
}

/// Returns the error of a body longer than `bytes_max`.
pub(super) fn too_large(bytes_max: usize) -> ApiError {
    let message = format!("the body must have at most {}", count(bytes_max, "byte"));
    ApiError::new(ErrorCode::PayloadTooLarge, message)
}

/// Returns the `Content-Length`; 0 if absent.
fn content_length(headers: &HeaderMap) -> usize {
    let value = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    value.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn too_late() -> ApiError {
    ApiError::new(ErrorCode::RequestTimeout, "the body did not arrive in time")
}

/// Returns the error of a body that ended early or whose compressed data is corrupt. In the first
/// case the connection is closed and no client reads the response.
pub(super) fn broken(error: &impl std::fmt::Display) -> ApiError {
    ApiError::new(ErrorCode::InvalidJson, "the body ended early or cannot be decompressed")
        .caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_in_advance_depends_on_what_has_arrived() {
        let mut bytes = Vec::new();
        for part in [1, 8 << 10, 60 << 10, 1 << 20] {
            reserve_capacity(&mut bytes, part, 1 << 30);
            bytes.resize(bytes.len() + part, 0);
            let at_most = AHEAD_BYTES_MIN + (1 + AHEAD) * bytes.len();
            assert!(bytes.capacity() <= at_most, "{} bytes of {}", bytes.capacity(), bytes.len());
        }
        let mut announced = Vec::<u8>::new();
        reserve_capacity(&mut announced, 40_000, 100_000);
        assert!((100_000..200_000).contains(&announced.capacity()), "it is not copied again");
    }
}
