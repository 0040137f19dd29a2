//! Bodies packed by deflate or Brotli, whose length nobody knows before they are unpacked: they are unpacked up to a bound.
//!
//! What HTTP calls deflate is deflate inside of zlib's frame; many senders leave the frame out. Both are read.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, ZlibDecoder};

use super::admission::Reservation;
use super::body::{broken, too_large};
use super::error::{ApiError, ApiResult};
use crate::limits::INFLATE_INLINE_BYTES_MAX;

/// Unpacks bytes into at most so many; `None` when there are more.
pub(super) type Unpack = fn(&[u8], usize) -> io::Result<Option<Vec<u8>>>;

/// Unpacks a body into at most `bytes_max` bytes, which are reserved beside the packed ones.
pub(super) async fn unpack(
    packed: Vec<u8>,
    unpack: Unpack,
    bytes_max: usize,
    reservation: &mut Reservation,
) -> ApiResult<Vec<u8>> {
    let inline_max = bytes_max.min(INFLATE_INLINE_BYTES_MAX);
    let small = unpack(&packed, inline_max).map_err(|error| broken(&error))?;
    let bytes = match small {
        Some(bytes) => bytes,
        None if bytes_max <= inline_max => return Err(too_large(bytes_max)),
        None => {
            // The bound is set aside before the work: nobody knows how much of it will be taken.
            reservation.add(bytes_max)?;
            let unpacking = tokio::task::spawn_blocking(move || unpack(&packed, bytes_max));
            let outcome = unpacking.await.map_err(ApiError::internal)?;
            let bytes = outcome.map_err(|error| broken(&error))?;
            return bytes.ok_or_else(|| too_large(bytes_max));
        }
    };
    reservation.add(bytes.len())?;
    Ok(bytes)
}

/// Deflate, in zlib's frame or without.
pub(super) fn deflate(packed: &[u8], bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    if has_zlib_frame(packed) {
        let mut decoder = ZlibDecoder::new(packed);
        if let Ok(outcome) = read_at_most(&mut decoder, bytes_max) {
            return all_of(packed, decoder.total_in(), outcome);
        }
    }
    let mut decoder = DeflateDecoder::new(packed);
    let outcome = read_at_most(&mut decoder, bytes_max)?;
    all_of(packed, decoder.total_in(), outcome)
}

/// What was unpacked, unless something follows it: a second stream is not read, and must not be dropped without a word.
fn all_of(packed: &[u8], read: u64, outcome: Option<Vec<u8>>) -> io::Result<Option<Vec<u8>>> {
    if outcome.is_some() && read < packed.len() as u64 {
        let message = "something follows the compressed data";
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(outcome)
}

/// Brotli.
pub(super) fn brotli(packed: &[u8], bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    const BUFFER_BYTES: usize = 16 << 10;
    read_at_most(brotli_decompressor::Decompressor::new(packed, BUFFER_BYTES), bytes_max)
}

fn read_at_most(reader: impl Read, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= bytes_max).then_some(bytes))
}

/// Whether the first two bytes are those of zlib: method 8, and a checksum over both.
fn has_zlib_frame(packed: &[u8]) -> bool {
    match packed {
        [method, flags, ..] => {
            method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, ZlibEncoder};

    use super::*;

    fn plain() -> Vec<u8> {
        (0..5_000_u32).flat_map(|i| (i % 251).to_le_bytes()).collect()
    }

    #[test]
    fn deflate_is_read_with_its_frame_and_without() {
        let plain = plain();
        let mut framed = ZlibEncoder::new(Vec::new(), Compression::default());
        framed.write_all(&plain).unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(&plain).unwrap();
        for packed in [framed.finish().unwrap(), bare.finish().unwrap()] {
            assert_eq!(deflate(&packed, plain.len()).unwrap().as_ref(), Some(&plain));
            assert_eq!(deflate(&packed, plain.len() - 1).unwrap(), None);
            let followed = [&packed[..], &packed].concat();
            assert!(deflate(&followed, 3 * plain.len()).is_err(), "a second stream");
            assert!(deflate(&[&packed[..], b" "].concat(), plain.len()).is_err());
            for cut in [1, packed.len() / 2, packed.len() - 1] {
                assert!(deflate(&packed[..cut], plain.len()).is_err(), "cut at {cut}");
            }
        }
    }

    #[test]
    fn noise_is_refused() {
        for noise in [&b""[..], b"\x78", b"\xff\xff\xff\xff", b"plain text"] {
            assert!(deflate(noise, 1_000).is_err(), "{noise:?}");
        }
        assert!(brotli(b"\xff\xff\xff\xff plain text", 1_000).is_err());
    }
}
