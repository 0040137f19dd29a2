//! Reads a request body into memory: bounded in bytes, after decompression, and in time.
//!
//! A body that pauses or drips is `request_timeout`; one over its limit is `payload_too_large` as soon as that
//! is known, for a compressed one in the middle of decompression. The bytes are owned and unshared, so that
//! parsers may work in place.

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::admission::Reservation;
use super::error::{ApiError, ApiResult, ErrorCode};
use super::route::BodyKind;
use super::settings::Settings;

/// Memory that is set aside before the first byte has come: a client may promise more than it sends.
const FIRST_CAPACITY_MAX: usize = 64 << 10;
/// How many times the memory of a body is set aside, at most, when more of what was promised comes.
const GROWTH: usize = 4;

/// What is read of a body.
#[derive(Debug)]
pub(super) struct BodyLimits {
    bytes_max: usize,
    idle: std::time::Duration,
    total: std::time::Duration,
}

impl BodyLimits {
    pub(super) fn of(kind: BodyKind, settings: &Settings) -> Self {
        Self {
            bytes_max: settings.body_bytes_max(kind),
            idle: settings.body_idle_timeout,
            total: settings.body_timeout,
        }
    }

    /// Reads `body`, whose decompression the layer outside has arranged; an encoding that is still named
    /// in the headers is one that it does not know.
    pub(super) async fn read<B>(
        &self,
        headers: &HeaderMap,
        body: B,
        reservation: &mut Reservation,
    ) -> ApiResult<Vec<u8>>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        check_encoding(headers)?;
        let promised = content_length(headers);
        if promised > self.bytes_max {
            return Err(self.too_large());
        }
        let mut bytes = Vec::with_capacity(promised.min(FIRST_CAPACITY_MAX));
        let reading = self.collect(body, promised, &mut bytes, reservation);
        match timeout(self.total, reading).await {
            Ok(outcome) => outcome.map(|()| bytes),
            Err(_) => Err(too_slow()),
        }
    }

    async fn collect<B>(
        &self,
        body: B,
        promised: usize,
        bytes: &mut Vec<u8>,
        reservation: &mut Reservation,
    ) -> ApiResult<()>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let mut body = std::pin::pin!(body);
        loop {
            let frame = timeout(self.idle, body.frame()).await.map_err(|_| too_slow())?;
            let Some(frame) = frame else { return Ok(()) };
            let frame = frame.map_err(|error| broken(&error))?;
            let Ok(data) = frame.into_data() else { continue };
            if data.remaining() > self.bytes_max - bytes.len() {
                return Err(self.too_large());
            }
            reservation.add(data.remaining())?;
            make_room(bytes, data.remaining(), promised);
            bytes.extend_from_slice(&data);
        }
    }

    fn too_large(&self) -> ApiError {
        let message = format!("the body is larger than {} bytes", self.bytes_max);
        ApiError::new(ErrorCode::PayloadTooLarge, message)
    }
}

/// Makes room for `more` bytes, in few steps where the length is known: each step moves what is there.
fn make_room(bytes: &mut Vec<u8>, more: usize, promised: usize) {
    if bytes.capacity() - bytes.len() < more {
        let left = promised.saturating_sub(bytes.len());
        bytes.reserve(more.max(left.min(GROWTH * bytes.capacity())));
    }
}

fn check_encoding(headers: &HeaderMap) -> ApiResult<()> {
    match headers.get(CONTENT_ENCODING) {
        None => Ok(()),
        Some(encoding) if encoding == "identity" => Ok(()),
        Some(_) => {
            let message = "Content-Encoding must be gzip, zstd, deflate or identity";
            Err(ApiError::new(ErrorCode::UnsupportedMediaType, message))
        }
    }
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
fn broken(error: &impl std::fmt::Display) -> ApiError {
    ApiError::new(ErrorCode::InvalidJson, "the body ended early or cannot be decompressed")
        .caused_by(error)
}
