//! Reads a request body into memory: bounded in bytes, after decompression, and in time.
//!
//! A body that pauses or drips is `request_timeout`; one over its limit is `payload_too_large` as soon as that
//! is known, for a compressed one in the middle of decompression. Of a route with a [`Sifting`], what is not read is dropped as it
//! comes: what is kept has the limit of the route, and what comes has one of its own. Once a body takes memory beyond the limit, the rest of it must
//! come within [`limits::RESERVE_BODY_MS`]. The bytes are owned and unshared, so that
//! parsers may work in place.
//!
//! Which encodings there are is decided here: gzip and zstd are undone by the layer outside for every route, deflate here
//! for every route, a [`Packing`] here for the routes that read it.

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
use super::route::{BodyKind, Packing, Route, Sieve, Sifting};
use super::settings::Settings;
use super::{inflate, snappy};
use crate::limits;
use crate::platform::keys::Identity;
use crate::platform::plural::count;

/// Memory that is set aside before the first byte has come: a client may promise more than it sends.
const FIRST_CAPACITY_MAX: usize = 64 << 10;
/// How many times the memory of a body is set aside, at most, when more of what was promised comes.
const GROWTH: usize = 4;

/// A mark on requests that name an encoding, also when the layer that undoes it has taken the name away.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodingNamed;

/// How the bytes of a body that were read are still packed.
#[derive(Clone, Copy, Debug)]
enum Packed {
    Snappy,
    Deflate,
    Brotli,
}

/// What is read of a body.
#[derive(Debug)]
pub(super) struct BodyLimits {
    bytes_max: usize,
    packing: Option<Packing>,
    sifting: Option<Sifting>,
    idle: Duration,
    total: Duration,
}

/// A body that is being received.
struct Received<'r> {
    bytes: Vec<u8>,
    /// Bytes that the client says it sends.
    promised: usize,
    /// Bytes that have come, those included that were dropped.
    come: usize,
    sieve: Option<Box<dyn Sieve>>,
    reservation: &'r Reservation,
}

impl BodyLimits {
    /// What the route reads; of a caller whom only the body tells, no more than that needs.
    pub(super) fn of(route: &Route, settings: &Settings, caller: &Identity) -> Self {
        let is_stranger = route.is_from_stranger(caller);
        let kind = if is_stranger { BodyKind::Json } else { route.body };
        let total =
            if is_stranger { settings.stranger_body_timeout } else { settings.body_timeout };
        Self {
            bytes_max: settings.body_bytes_max(kind),
            packing: route.packing,
            // Whom only the body tells is found in what is read of it, which must be all.
            sifting: route.sifting.filter(|_| !is_stranger),
            idle: settings.body_idle_timeout.min(total),
            total,
        }
    }

    /// Reads `body`, whose decompression the layer outside has arranged; an encoding that is still named
    /// in the headers is one that it does not know.
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
        let packed = self.packed_as(parts)?;
        let promised = content_length(&parts.headers);
        if promised > self.come_max() {
            return Err(too_large(self.come_max()));
        }
        let mut received = Received {
            bytes: Vec::with_capacity(promised.min(FIRST_CAPACITY_MAX)),
            promised,
            come: 0,
            // What is still packed is sifted when it is unpacked.
            sieve: self.sifting.filter(|_| packed.is_none()).map(|sifting| (sifting.make)()),
            reservation,
        };
        let reading = self.collect(body, &mut received);
        timeout(self.total, reading).await.map_err(|_| too_slow())??;
        let bytes = received.whole()?;
        let unpack = match packed {
            None => return Ok(bytes),
            Some(Packed::Snappy) => {
                return snappy::unpack(bytes, self.bytes_max, reservation).await;
            }
            Some(Packed::Deflate) => inflate::deflate,
            Some(Packed::Brotli) => inflate::brotli,
        };
        inflate::unpack(bytes, unpack, self.bytes_max, self.sifting, reservation).await
    }

    /// Bytes that may come, before what is not read is dropped.
    fn come_max(&self) -> usize {
        self.sifting.map_or(self.bytes_max, |sifting| sifting.bytes_max.max(self.bytes_max))
    }

    /// How the body is still packed.
    fn packed_as(&self, parts: &Parts) -> ApiResult<Option<Packed>> {
        let named = parts.extensions.get::<EncodingNamed>().is_some();
        let encoding = parts.headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
        match (encoding, self.packing) {
            (None, Some(Packing::Snappy)) if !named => Ok(Some(Packed::Snappy)),
            (None | Some(b"identity"), _) => Ok(None),
            (Some(b"deflate"), _) => Ok(Some(Packed::Deflate)),
            (Some(b"snappy"), Some(Packing::Snappy)) => Ok(Some(Packed::Snappy)),
            (Some(b"br"), Some(Packing::Brotli)) => Ok(Some(Packed::Brotli)),
            (Some(_), packing) => {
                let message = match packing {
                    None => "Content-Encoding must be gzip, zstd, deflate or identity",
                    Some(Packing::Snappy) => {
                        "Content-Encoding must be snappy, gzip, zstd, deflate or identity"
                    }
                    Some(Packing::Brotli) => {
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
        while !received.reservation.is_of_reserve() {
            let Some(data) = self.next_data(body.as_mut()).await? else { return Ok(()) };
            self.append(&data, received)?;
        }
        // Others need the reserve too: a slow client must not keep it.
        let rest = async {
            while let Some(data) = self.next_data(body.as_mut()).await? {
                self.append(&data, received)?;
            }
            Ok(())
        };
        let patience = Duration::from_millis(limits::RESERVE_BODY_MS);
        timeout(patience, rest).await.map_err(|_| too_slow())?
    }

    /// The next bytes of the body; none at its end.
    async fn next_data<B>(&self, mut body: Pin<&mut B>) -> ApiResult<Option<Bytes>>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        loop {
            let frame = timeout(self.idle, body.frame()).await.map_err(|_| too_slow())?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| broken(&error))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }

    fn append(&self, data: &Bytes, received: &mut Received<'_>) -> ApiResult<()> {
        let Received { bytes, promised, come, sieve, reservation } = received;
        *come = come.saturating_add(data.len());
        let Some(sieve) = sieve else {
            if data.len() > self.bytes_max - bytes.len() {
                return Err(too_large(self.bytes_max));
            }
            reservation.add(data.len())?;
            make_room(bytes, data.len(), *promised);
            bytes.extend_from_slice(data);
            return Ok(());
        };
        if *come > self.come_max() {
            return Err(too_large(self.come_max()));
        }
        reservation.add(data.len())?;
        let before = bytes.len();
        sieve.push(data, bytes)?;
        let kept = bytes.len() - before;
        // A line that was held back until its end was reserved for when it came, and given back then.
        match kept.checked_sub(data.len()) {
            Some(more) => reservation.add(more)?,
            None => reservation.give_back(data.len() - kept),
        }
        if bytes.len() > self.bytes_max { Err(too_large(self.bytes_max)) } else { Ok(()) }
    }
}

impl Received<'_> {
    /// What is kept of a body that has come to its end.
    fn whole(mut self) -> ApiResult<Vec<u8>> {
        if let Some(sieve) = &mut self.sieve {
            let before = self.bytes.len();
            sieve.end(&mut self.bytes)?;
            self.reservation.add(self.bytes.len() - before)?;
        }
        Ok(self.bytes)
    }
}

/// Makes room for `more` bytes, in few steps where the length is known: each step moves what is there.
fn make_room(bytes: &mut Vec<u8>, more: usize, promised: usize) {
    if bytes.capacity() - bytes.len() < more {
        let left = promised.saturating_sub(bytes.len());
        bytes.reserve(more.max(left.min(GROWTH * bytes.capacity())));
    }
}

/// A body of more bytes than there may be.
pub(super) fn too_large(bytes_max: usize) -> ApiError {
    let message = format!("the body must have at most {}", count(bytes_max, "byte"));
    ApiError::new(ErrorCode::PayloadTooLarge, message)
}

/// Bytes that the client says it sends; 0 when it does not say.
fn content_length(headers: &HeaderMap) -> usize {
    let value = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    value.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn too_slow() -> ApiError {
    ApiError::new(ErrorCode::RequestTimeout, "the body did not arrive in time")
}

/// The connection ended early, or the compressed bytes are damaged. Only in the second case does anybody read
/// the answer.
pub(super) fn broken(error: &impl std::fmt::Display) -> ApiError {
    ApiError::new(ErrorCode::InvalidJson, "the body ended early or cannot be decompressed")
        .caused_by(error)
}
