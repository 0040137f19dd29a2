//! Decodes bodies in Snappy's block format. The decoded length comes first, so a decompression bomb
//! is detected before decoding.

use super::admission::Reservation;
use super::body::too_large;
use super::error::{ApiError, ApiResult, ErrorCode};
use crate::limits::SNAPPY_INLINE_BYTES_MAX;
use crate::platform::connection_thread;

/// Decodes a body into at most `bytes_max` bytes, which are reserved in addition to the encoded
/// ones.
pub(super) async fn decode(
    encoded: Vec<u8>,
    bytes_max: usize,
    reservation: &Reservation,
) -> ApiResult<Vec<u8>> {
    let bytes = match snap::raw::decompress_len(&encoded) {
        Ok(bytes) if bytes <= bytes_max => bytes,
        Ok(_) | Err(snap::Error::TooBig { .. }) => return Err(too_large(bytes_max)),
        Err(error) => return Err(corrupt(error)),
    };
    reservation.add(bytes)?;
    if bytes <= SNAPPY_INLINE_BYTES_MAX {
        return decode_bytes(&encoded, bytes);
    }
    // The bytes stay reserved until the task ends, even if the client has disconnected.
    let reservation = reservation.clone();
    let decoding = connection_thread::spawn_blocking(move || {
        let outcome = decode_bytes(&encoded, bytes);
        drop(reservation);
        outcome
    });
    decoding.await.map_err(ApiError::internal)?
}

/// Decodes `bytes` bytes.
#[expect(
    clippy::slow_vector_initialization,
    reason = "for large zeroed buffers jemalloc fetches new pages from the system each time, which \
              takes longer than zeroing those that it has"
)]
fn decode_bytes(encoded: &[u8], bytes: usize) -> ApiResult<Vec<u8>> {
    let mut decoded = Vec::with_capacity(bytes);
    decoded.resize(bytes, 0);
    let written = snap::raw::Decoder::new().decompress(encoded, &mut decoded).map_err(corrupt)?;
    decoded.truncate(written);
    Ok(decoded)
}

fn corrupt(error: snap::Error) -> ApiError {
    let message = "the body must be compressed in Snappy block format";
    ApiError::new(ErrorCode::InvalidParameter, message).caused_by(error)
}
