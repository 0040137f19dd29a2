//! The checksummed frame around every stored document and receipt.
//!
//! ```text
//! offset  bytes  field
//! 0       1      version = 1
//! 1       8      checksum: XXH3-64 of the key followed by the body, little-endian
//! 9       ...    body
//! ```
//!
//! The key is part of the checksum, so a value that came under a key that is not its own is found too.

use xxhash_rust::xxh3::Xxh3;

const VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 8;
const HEADER_BYTES: usize = 1 + CHECKSUM_BYTES;

/// What is wrong with stored bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Damage {
    /// There is less than the fixed part.
    #[error("{0} bytes are too few")]
    Short(usize),
    /// The version is not one that this program reads.
    #[error("frame version {0} is not known")]
    Version(u8),
    /// The bytes, or the key, are not those that were written.
    #[error("the checksum does not match")]
    Checksum,
    /// The bytes are those that were written, but not what the reader wants.
    #[error("{0}")]
    Content(String),
}

/// The frame around `body`, which is given in parts, for storing under `key`.
pub(super) fn seal(key: &[u8], body: &[&[u8]]) -> Vec<u8> {
    let body_bytes: usize = body.iter().map(|part| part.len()).sum();
    let mut frame = Vec::with_capacity(HEADER_BYTES + body_bytes);
    frame.push(VERSION);
    frame.extend_from_slice(&checksum(key, body).to_le_bytes());
    body.iter().for_each(|part| frame.extend_from_slice(part));
    frame
}

/// The body of the frame that is stored under `key`.
pub(super) fn open<'a>(key: &[u8], frame: &'a [u8]) -> Result<&'a [u8], Damage> {
    let (&version, rest) = frame.split_first().ok_or(Damage::Short(0))?;
    if version != VERSION {
        return Err(Damage::Version(version));
    }
    let (stored, body) =
        rest.split_first_chunk::<CHECKSUM_BYTES>().ok_or(Damage::Short(frame.len()))?;
    if u64::from_le_bytes(*stored) != checksum(key, &[body]) {
        return Err(Damage::Checksum);
    }
    Ok(body)
}

/// The first eight bytes of `body`, and the rest.
pub(super) fn split_u64(body: &[u8]) -> Result<(u64, &[u8]), Damage> {
    let (number, rest) = body.split_first_chunk().ok_or(Damage::Short(body.len()))?;
    Ok((u64::from_le_bytes(*number), rest))
}

fn checksum(key: &[u8], body: &[&[u8]]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(key);
    body.iter().for_each(|part| hash.update(part));
    hash.digest()
}
