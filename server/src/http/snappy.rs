//! Bodies packed by Snappy in its block format: the length stands in front, so that a bomb is known before it bursts.

use super::admission::Reservation;
use super::body::too_large;
use super::error::{ApiError, ApiResult, ErrorCode};
use crate::limits::SNAPPY_INLINE_BYTES_MAX;

/// Unpacks a body into at most `bytes_max` bytes, which are reserved beside the packed ones.
pub(super) async fn unpack(
    packed: Vec<u8>,
    bytes_max: usize,
    reservation: &Reservation,
) -> ApiResult<Vec<u8>> {
    let bytes = match snap::raw::decompress_len(&packed) {
        Ok(bytes) if bytes <= bytes_max => bytes,
        Ok(_) | Err(snap::Error::TooBig { .. }) => return Err(too_large(bytes_max)),
        Err(error) => return Err(damaged(error)),
    };
    reservation.add(bytes)?;
    if bytes <= SNAPPY_INLINE_BYTES_MAX {
        return decompress(&packed);
    }
    // The bytes stay reserved as long as the work lasts, also when the caller has gone.
    let reservation = reservation.clone();
    let unpacking = tokio::task::spawn_blocking(move || {
        let outcome = decompress(&packed);
        drop(reservation);
        outcome
    });
    unpacking.await.map_err(ApiError::internal)?
}

fn decompress(packed: &[u8]) -> ApiResult<Vec<u8>> {
    snap::raw::Decoder::new().decompress_vec(packed).map_err(damaged)
}

fn damaged(error: snap::Error) -> ApiError {
    let message = "the body must be compressed in the block format of Snappy";
    ApiError::new(ErrorCode::InvalidParameter, message).caused_by(error)
}
