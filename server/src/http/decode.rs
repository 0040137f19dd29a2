//! Decodes deflate and Brotli bodies, whose decoded length is unknown: their memory is reserved as
//! they grow.
//!
//! For a route that filters its bodies, only kept bytes take memory.
//!
//! HTTP defines `deflate` as deflate data in a zlib container, but many senders omit the container.
//! Both forms are accepted.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, ZlibDecoder};

use super::admission::Reservation;
use super::body::{broken, too_large};
use super::error::{ApiError, ApiResult};
use super::route::BodyFiltering;
use crate::limits::INFLATE_INLINE_BYTES_MAX;
use crate::platform::connection_thread;

/// Initial capacity of the output, and size of the read buffer while filtering, in bytes.
const FIRST_CAPACITY: usize = 64 << 10;

/// A decoder that writes into an output.
pub(super) type Decode = fn(&[u8], &mut Output) -> Result<Vec<u8>, Failure>;

/// The destination of decoded bytes: their memory is reserved before it is allocated.
#[derive(Debug)]
pub(super) struct Output {
    bytes_max: usize,
    /// The filter of the body, with the limit on the length before filtering.
    sifting: Option<BodyFiltering>,
    /// The bytes reserved so far.
    reserved: usize,
    reservation: Reservation,
}

/// The reason for which a body cannot be decoded.
#[derive(Debug)]
pub(super) enum Failure {
    /// The encoded data is corrupt.
    Corrupt(io::Error),
    /// The decoded body is over its limit.
    TooLong,
    /// Its memory could not be reserved, or the filter refused the body.
    Refused(ApiError),
}

/// Decodes a body into at most `bytes_max` bytes, which are reserved in addition to the encoded
/// ones. Short bodies are decoded on the caller's thread, others on a blocking thread.
pub(super) async fn decode(
    encoded: Vec<u8>,
    decode: Decode,
    bytes_max: usize,
    sifting: Option<BodyFiltering>,
    reservation: &Reservation,
) -> ApiResult<Vec<u8>> {
    let inline_max = bytes_max.min(INFLATE_INLINE_BYTES_MAX);
    let mut output = Output::new(inline_max, reservation);
    output.sifting = sifting.map(|sifting| BodyFiltering { bytes_max: inline_max, ..sifting });
    let outcome = match decode(&encoded, &mut output) {
        Err(Failure::TooLong) if inline_max < bytes_max || sifting.is_some() => {
            output.bytes_max = bytes_max;
            output.sifting = sifting;
            let decoding = connection_thread::spawn_blocking(move || decode(&encoded, &mut output));
            decoding.await.map_err(ApiError::internal)?
        }
        outcome => outcome,
    };
    outcome.map_err(|failure| match failure {
        Failure::Corrupt(error) => broken(&error),
        Failure::TooLong => too_large(bytes_max),
        Failure::Refused(error) => error,
    })
}

impl Output {
    fn new(bytes_max: usize, reservation: &Reservation) -> Self {
        let reservation = reservation.clone();
        Self { bytes_max, sifting: None, reserved: 0, reservation }
    }

    /// Reads everything, up to the limit. May be called again for another attempt.
    fn read(&mut self, mut reader: impl Read) -> Result<Vec<u8>, Failure> {
        if let Some(sifting) = self.sifting {
            return self.filter_into(sifting, reader);
        }
        let mut bytes = Vec::new();
        loop {
            let room = self.reserve_more(&mut bytes)?;
            (&mut reader).take(room as u64).read_to_end(&mut bytes).map_err(Failure::Corrupt)?;
            if bytes.len() > self.bytes_max {
                return Err(Failure::TooLong);
            }
            if bytes.len() < bytes.capacity() {
                bytes.shrink_to_fit();
                self.reservation.release_bytes(self.reserved.saturating_sub(bytes.capacity()));
                self.reserved = self.reserved.min(bytes.capacity());
                return Ok(bytes);
            }
        }
    }

    /// Reads everything and keeps what the filter keeps.
    fn filter_into(
        &mut self,
        sifting: BodyFiltering,
        mut reader: impl Read,
    ) -> Result<Vec<u8>, Failure> {
        let (mut sieve, mut kept, mut received) = ((sifting.make)(), Vec::new(), 0_usize);
        let mut buffer = vec![0; FIRST_CAPACITY];
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Corrupt(error)),
            };
            received = received.saturating_add(read);
            if received > sifting.bytes_max.max(self.bytes_max) {
                return Err(Failure::TooLong);
            }
            let data = &buffer[..read];
            sieve.push(data, &mut kept).map_err(Failure::Refused)?;
            self.hold(&kept)?;
        }
        sieve.end(&mut kept).map_err(Failure::Refused)?;
        self.hold(&kept)?;
        Ok(kept)
    }

    /// Reserves the capacity of the kept bytes beyond what is reserved already.
    fn hold(&mut self, kept: &Vec<u8>) -> Result<(), Failure> {
        if kept.len() > self.bytes_max {
            return Err(Failure::TooLong);
        }
        let missing = kept.capacity().saturating_sub(self.reserved);
        if missing > 0 {
            self.reservation.add(missing).map_err(Failure::Refused)?;
            self.reserved += missing;
        }
        Ok(())
    }

    /// Doubles the capacity, within the limit, and returns the free capacity. One byte over the
    /// limit suffices to detect a body that is too long.
    fn reserve_more(&mut self, bytes: &mut Vec<u8>) -> Result<usize, Failure> {
        let wanted = (2 * bytes.len()).max(FIRST_CAPACITY).min(self.bytes_max.saturating_add(1));
        let possible = (self.reserved + self.reservation.available()).max(bytes.len() + 1);
        let capacity = wanted.min(possible);
        let missing = capacity.saturating_sub(self.reserved);
        if missing > 0 {
            self.reservation.add(missing).map_err(Failure::Refused)?;
            self.reserved += missing;
        }
        bytes.reserve_exact(capacity - bytes.len());
        Ok(bytes.capacity() - bytes.len())
    }
}

/// Decodes deflate, with or without zlib container.
pub(super) fn deflate(encoded: &[u8], output: &mut Output) -> Result<Vec<u8>, Failure> {
    if has_zlib_header(encoded) {
        let mut decoder = ZlibDecoder::new(encoded);
        match output.read(&mut decoder) {
            Ok(bytes) => return check_consumed(encoded, decoder.total_in(), bytes),
            Err(Failure::Corrupt(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    let mut decoder = DeflateDecoder::new(encoded);
    let bytes = output.read(&mut decoder)?;
    check_consumed(encoded, decoder.total_in(), bytes)
}

/// Returns the decoded bytes, unless data follows them: a second stream would not be decoded, and
/// must not be dropped silently.
fn check_consumed(encoded: &[u8], read: u64, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if read < encoded.len() as u64 {
        let message = "data follows the compressed stream";
        return Err(Failure::Corrupt(io::Error::new(io::ErrorKind::InvalidData, message)));
    }
    Ok(bytes)
}

/// Decodes Brotli.
pub(super) fn brotli(encoded: &[u8], output: &mut Output) -> Result<Vec<u8>, Failure> {
    const BUFFER_BYTES: usize = 16 << 10;
    output.read(brotli_decompressor::Decompressor::new(encoded, BUFFER_BYTES))
}

/// Returns whether the first two bytes are a zlib header: method 8 and a valid check value.
fn has_zlib_header(encoded: &[u8]) -> bool {
    match encoded {
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
    use telltale_engine::Memory;

    use super::super::admission::Admission;
    use super::super::error::ErrorCode;
    use super::*;

    fn plain() -> Vec<u8> {
        (0..50_000_u32).flat_map(|i| (i % 251).to_le_bytes()).collect()
    }

    fn zlib(plain: &[u8]) -> Vec<u8> {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(plain).unwrap();
        zlib.finish().unwrap()
    }

    /// Decodes into at most `bytes_max` bytes, on a server with sufficient limits.
    fn decode_into(decode: Decode, encoded: &[u8], bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let admission = Admission::of(1, 64 << 20, &Memory::unlimited());
        let reservation = admission.enter().unwrap();
        let mut output = Output::new(bytes_max, &reservation);
        let outcome = decode(encoded, &mut output);
        if let Ok(bytes) = &outcome {
            assert_eq!(admission.body_bytes(), bytes.capacity());
        }
        outcome
    }

    #[test]
    fn deflate_is_decoded_with_and_without_zlib_container() {
        let plain = plain();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(&plain).unwrap();
        for encoded in [zlib(&plain), bare.finish().unwrap()] {
            let read = |bytes: &[u8], bytes_max| decode_into(deflate, bytes, bytes_max);
            assert_eq!(read(&encoded, plain.len()).unwrap(), plain);
            assert!(matches!(read(&encoded, plain.len() - 1), Err(Failure::TooLong)));
            let followed = [&encoded[..], &encoded].concat();
            let outcome = read(&followed, 3 * plain.len());
            assert!(matches!(outcome, Err(Failure::Corrupt(_))), "a second stream");
            assert!(read(&[&encoded[..], b" "].concat(), plain.len()).is_err());
            for cut in [1, encoded.len() / 2, encoded.len() - 1] {
                let outcome = read(&encoded[..cut], plain.len());
                assert!(matches!(outcome, Err(Failure::Corrupt(_))), "cut at {cut}");
            }
        }
    }

    #[test]
    fn only_the_decoded_size_is_reserved() {
        let plain = plain();
        let encoded = zlib(&plain);
        let (bytes_max, unlimited) = (64 << 20, Memory::unlimited());
        // A body takes only its actual size, whatever its limit, and is refused permanently if it
        // can never fit.
        for (spare, fits) in [(1, true), (0, false)] {
            let admission = Admission::of(1, plain.len() + spare, &unlimited);
            let reservation = admission.enter().unwrap();
            let outcome = deflate(&encoded, &mut Output::new(bytes_max, &reservation));
            match outcome {
                Ok(bytes) => assert!(fits && bytes == plain),
                Err(Failure::Refused(error)) => {
                    assert!(!fits && error.code() == ErrorCode::PayloadTooLarge);
                }
                Err(failure) => panic!("{failure:?}"),
            }
        }
        // If others use the capacity, the refusal is temporary.
        let admission = Admission::of(2, 2 * plain.len(), &unlimited);
        let other = admission.enter().unwrap();
        other.add(plain.len() + 1).unwrap();
        let reservation = admission.enter().unwrap();
        let outcome = deflate(&encoded, &mut Output::new(bytes_max, &reservation));
        let Err(Failure::Refused(error)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.code(), ErrorCode::Overloaded);
    }

    #[test]
    fn random_bytes_are_refused() {
        for noise in [&b""[..], b"\x78", b"\xff\xff\xff\xff", b"plain text"] {
            assert!(decode_into(deflate, noise, 1_000).is_err(), "{noise:?}");
        }
        assert!(decode_into(brotli, b"\xff\xff\xff\xff plain text", 1_000).is_err());
    }
}
