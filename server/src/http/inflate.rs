//! Bodies packed by deflate or Brotli, whose length nobody knows before they are unpacked: memory for them is taken as they grow.
//!
//! Of a body that is sifted, only what is kept takes memory.
//!
//! What HTTP calls deflate is deflate inside of zlib's frame; many senders leave the frame out. Both are read.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, ZlibDecoder};

use super::admission::Reservation;
use super::body::{broken, too_large};
use super::error::{ApiError, ApiResult};
use super::route::Sifting;
use crate::limits::INFLATE_INLINE_BYTES_MAX;

/// Bytes that are made room for at first.
const FIRST_CAPACITY: usize = 64 << 10;

/// Unpacks bytes into an output.
pub(super) type Unpack = fn(&[u8], &mut Output) -> Result<Vec<u8>, Failure>;

/// Where unpacked bytes go: their room is reserved before it is taken.
#[derive(Debug)]
pub(super) struct Output {
    bytes_max: usize,
    /// What drops that which is not read, and how many bytes there may be before.
    sifting: Option<Sifting>,
    /// What is reserved for them.
    reserved: usize,
    reservation: Reservation,
}

/// Why a body cannot be unpacked.
#[derive(Debug)]
pub(super) enum Failure {
    /// The packed bytes are damaged.
    Damaged(io::Error),
    /// There are more bytes than there may be.
    TooLong,
    /// There is no room for them.
    Refused(ApiError),
}

/// Unpacks a body into at most `bytes_max` bytes, which are reserved beside the packed ones.
pub(super) async fn unpack(
    packed: Vec<u8>,
    unpack: Unpack,
    bytes_max: usize,
    sifting: Option<Sifting>,
    reservation: &Reservation,
) -> ApiResult<Vec<u8>> {
    let inline_max = bytes_max.min(INFLATE_INLINE_BYTES_MAX);
    let mut output = Output::new(inline_max, reservation);
    output.sifting = sifting.map(|sifting| Sifting { bytes_max: inline_max, ..sifting });
    let outcome = match unpack(&packed, &mut output) {
        Err(Failure::TooLong) if inline_max < bytes_max || sifting.is_some() => {
            output.bytes_max = bytes_max;
            output.sifting = sifting;
            let unpacking = tokio::task::spawn_blocking(move || unpack(&packed, &mut output));
            unpacking.await.map_err(ApiError::internal)?
        }
        outcome => outcome,
    };
    outcome.map_err(|failure| match failure {
        Failure::Damaged(error) => broken(&error),
        Failure::TooLong => too_large(bytes_max),
        Failure::Refused(error) => error,
    })
}

impl Output {
    fn new(bytes_max: usize, reservation: &Reservation) -> Self {
        let reservation = reservation.clone();
        Self { bytes_max, sifting: None, reserved: 0, reservation }
    }

    /// Reads everything, at most as much as may be. May be called again for another attempt.
    fn read(&mut self, mut reader: impl Read) -> Result<Vec<u8>, Failure> {
        if let Some(sifting) = self.sifting {
            return self.sift(sifting, reader);
        }
        let mut bytes = Vec::new();
        loop {
            let room = self.make_room(&mut bytes)?;
            (&mut reader).take(room as u64).read_to_end(&mut bytes).map_err(Failure::Damaged)?;
            if bytes.len() > self.bytes_max {
                return Err(Failure::TooLong);
            }
            if bytes.len() < bytes.capacity() {
                bytes.shrink_to_fit();
                self.reservation.give_back(self.reserved.saturating_sub(bytes.capacity()));
                self.reserved = self.reserved.min(bytes.capacity());
                return Ok(bytes);
            }
        }
    }

    /// Reads everything and keeps what the sieve keeps.
    fn sift(&mut self, sifting: Sifting, mut reader: impl Read) -> Result<Vec<u8>, Failure> {
        let (mut sieve, mut kept, mut come) = ((sifting.make)(), Vec::new(), 0_usize);
        let mut buffer = vec![0; FIRST_CAPACITY];
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Damaged(error)),
            };
            come = come.saturating_add(read);
            if come > sifting.bytes_max.max(self.bytes_max) {
                return Err(Failure::TooLong);
            }
            let data = buffer.get(..read).unwrap_or_default();
            sieve.push(data, &mut kept).map_err(Failure::Refused)?;
            self.hold(&kept)?;
        }
        sieve.end(&mut kept).map_err(Failure::Refused)?;
        self.hold(&kept)?;
        Ok(kept)
    }

    /// Reserves what these bytes take beyond what is reserved.
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

    /// Makes room for as many bytes again, or for as many as may be, and returns for how many. One more than may be is room
    /// enough to see that there are more.
    fn make_room(&mut self, bytes: &mut Vec<u8>) -> Result<usize, Failure> {
        let wanted = (2 * bytes.len()).max(FIRST_CAPACITY).min(self.bytes_max.saturating_add(1));
        let possible = (self.reserved + self.reservation.left()).max(bytes.len() + 1);
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

/// Deflate, in zlib's frame or without.
pub(super) fn deflate(packed: &[u8], output: &mut Output) -> Result<Vec<u8>, Failure> {
    if has_zlib_frame(packed) {
        let mut decoder = ZlibDecoder::new(packed);
        match output.read(&mut decoder) {
            Ok(bytes) => return all_of(packed, decoder.total_in(), bytes),
            Err(Failure::Damaged(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    let mut decoder = DeflateDecoder::new(packed);
    let bytes = output.read(&mut decoder)?;
    all_of(packed, decoder.total_in(), bytes)
}

/// What was unpacked, unless something follows it: a second stream is not read, and must not be dropped without a word.
fn all_of(packed: &[u8], read: u64, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if read < packed.len() as u64 {
        let message = "something follows the compressed data";
        return Err(Failure::Damaged(io::Error::new(io::ErrorKind::InvalidData, message)));
    }
    Ok(bytes)
}

/// Brotli.
pub(super) fn brotli(packed: &[u8], output: &mut Output) -> Result<Vec<u8>, Failure> {
    const BUFFER_BYTES: usize = 16 << 10;
    output.read(brotli_decompressor::Decompressor::new(packed, BUFFER_BYTES))
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
    use telltale_engine::Memory;

    use super::super::admission::Admission;
    use super::super::error::ErrorCode;
    use super::*;

    fn plain() -> Vec<u8> {
        (0..50_000_u32).flat_map(|i| (i % 251).to_le_bytes()).collect()
    }

    fn framed(plain: &[u8]) -> Vec<u8> {
        let mut framed = ZlibEncoder::new(Vec::new(), Compression::default());
        framed.write_all(plain).unwrap();
        framed.finish().unwrap()
    }

    /// Unpacks into at most `bytes_max` bytes in a server where all bodies together have room.
    fn unpack_into(unpack: Unpack, packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let admission = Admission::of(1, 64 << 20, &Memory::unlimited());
        let reservation = admission.enter().unwrap();
        let mut output = Output::new(bytes_max, &reservation);
        let outcome = unpack(packed, &mut output);
        if let Ok(bytes) = &outcome {
            assert_eq!(admission.body_bytes(), bytes.capacity());
        }
        outcome
    }

    #[test]
    fn deflate_is_read_with_its_frame_and_without() {
        let plain = plain();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(&plain).unwrap();
        for packed in [framed(&plain), bare.finish().unwrap()] {
            let read = |bytes: &[u8], bytes_max| unpack_into(deflate, bytes, bytes_max);
            assert_eq!(read(&packed, plain.len()).unwrap(), plain);
            assert!(matches!(read(&packed, plain.len() - 1), Err(Failure::TooLong)));
            let followed = [&packed[..], &packed].concat();
            let outcome = read(&followed, 3 * plain.len());
            assert!(matches!(outcome, Err(Failure::Damaged(_))), "a second stream");
            assert!(read(&[&packed[..], b" "].concat(), plain.len()).is_err());
            for cut in [1, packed.len() / 2, packed.len() - 1] {
                let outcome = read(&packed[..cut], plain.len());
                assert!(matches!(outcome, Err(Failure::Damaged(_))), "cut at {cut}");
            }
        }
    }

    #[test]
    fn no_more_is_reserved_than_there_is_to_unpack() {
        let plain = plain();
        let packed = framed(&plain);
        let (bytes_max, unlimited) = (64 << 20, Memory::unlimited());
        // A body takes what it has, however large it might be, and is refused for good where it can never fit.
        for (spare, fits) in [(1, true), (0, false)] {
            let admission = Admission::of(1, plain.len() + spare, &unlimited);
            let reservation = admission.enter().unwrap();
            let outcome = deflate(&packed, &mut Output::new(bytes_max, &reservation));
            match outcome {
                Ok(bytes) => assert!(fits && bytes == plain),
                Err(Failure::Refused(error)) => {
                    assert!(!fits && error.code() == ErrorCode::PayloadTooLarge);
                }
                Err(failure) => panic!("{failure:?}"),
            }
        }
        // Where others have the room it is for now.
        let admission = Admission::of(2, 2 * plain.len(), &unlimited);
        let other = admission.enter().unwrap();
        other.add(plain.len() + 1).unwrap();
        let reservation = admission.enter().unwrap();
        let outcome = deflate(&packed, &mut Output::new(bytes_max, &reservation));
        let Err(Failure::Refused(error)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.code(), ErrorCode::Overloaded);
    }

    #[test]
    fn noise_is_refused() {
        for noise in [&b""[..], b"\x78", b"\xff\xff\xff\xff", b"plain text"] {
            assert!(unpack_into(deflate, noise, 1_000).is_err(), "{noise:?}");
        }
        assert!(unpack_into(brotli, b"\xff\xff\xff\xff plain text", 1_000).is_err());
    }
}
