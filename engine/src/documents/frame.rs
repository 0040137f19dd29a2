//! The checksummed frame around every stored document and receipt.
//!
//! ```text
//! offset  bytes  field
//! 0       1      version = 1
//! 1       8      checksum: XXH3-64 of the key followed by the body, little-endian
//! 9       ...    body
//! ```
//!
//! The checksum covers the key, so a value stored under the wrong key is detected.

use xxhash_rust::xxh3::Xxh3;

const VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 8;
const HEADER_BYTES: usize = 1 + CHECKSUM_BYTES;

/// Why stored bytes cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameDamage {
    /// The bytes are shorter than the fixed part.
    #[error("{0} bytes are too short")]
    Short(usize),
    /// This program does not support the version.
    #[error("unknown frame version {0}")]
    Version(u8),
    /// The bytes or the key differ from what was written.
    #[error("the checksum does not match")]
    Checksum,
    /// The bytes are intact, but have the wrong content.
    #[error("{0}")]
    Content(String),
}

/// Encodes a frame around `body`, which is given in parts, for storage under `key`.
pub(super) fn seal(key: &[u8], body: &[&[u8]]) -> Vec<u8> {
    let body_bytes: usize = body.iter().map(|part| part.len()).sum();
    let mut frame = Vec::with_capacity(HEADER_BYTES + body_bytes);
    frame.push(VERSION);
    frame.extend_from_slice(&checksum(key, body).to_le_bytes());
    body.iter().for_each(|part| frame.extend_from_slice(part));
    frame
}

/// Checks the frame stored under `key` and returns its body.
pub(super) fn open<'a>(key: &[u8], frame: &'a [u8]) -> Result<&'a [u8], FrameDamage> {
    let (&version, rest) = frame.split_first().ok_or(FrameDamage::Short(0))?;
    if version != VERSION {
        return Err(FrameDamage::Version(version));
    }
    let (stored, body) =
        rest.split_first_chunk::<CHECKSUM_BYTES>().ok_or(FrameDamage::Short(frame.len()))?;
    if u64::from_le_bytes(*stored) != checksum(key, &[body]) {
        return Err(FrameDamage::Checksum);
    }
    Ok(body)
}

/// Splits the first eight bytes from `body` as a number.
pub(super) fn split_u64(body: &[u8]) -> Result<(u64, &[u8]), FrameDamage> {
    let (number, rest) = body.split_first_chunk().ok_or(FrameDamage::Short(body.len()))?;
    Ok((u64::from_le_bytes(*number), rest))
}

fn checksum(key: &[u8], body: &[&[u8]]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(key);
    body.iter().for_each(|part| hash.update(part));
    hash.digest()
}
