//! The name of a file: the SHA-256 of its contents.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// Bytes that are read at a time to compute a digest.
const BUFFER_BYTES: usize = 64 << 10;
/// Hexadecimal digits of a digest.
const DIGITS: usize = 64;

/// The SHA-256 of the contents of a file. Written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileDigest([u8; 32]);

/// A string is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest consists of 64 lower-case hexadecimal digits")]
pub struct InvalidDigest;

impl FileDigest {
    /// Returns the digest of `contents`.
    pub fn of(contents: &[u8]) -> Self {
        Self(Sha256::digest(contents).into())
    }

    /// Returns the digest of everything that `reader` returns, and the number of its bytes.
    pub(super) fn of_reader(mut reader: impl Read) -> io::Result<(Self, u64)> {
        let mut hash = Sha256::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut bytes = 0;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok((Self(hash.finalize().into()), bytes)),
                Ok(read) => {
                    hash.update(buffer.get(..read).unwrap_or_default());
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the first byte, which determines the folder of the file.
    pub(super) fn first_byte(self) -> u8 {
        self.0[0]
    }
}

impl From<[u8; 32]> for FileDigest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl From<FileDigest> for [u8; 32] {
    fn from(digest: FileDigest) -> Self {
        digest.0
    }
}

impl fmt::Display for FileDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for FileDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileDigest({self})")
    }
}

impl FromStr for FileDigest {
    type Err = InvalidDigest;

    fn from_str(string: &str) -> Result<Self, InvalidDigest> {
        let digits = string.as_bytes();
        if digits.len() != DIGITS {
            return Err(InvalidDigest);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
            let [high, low] = pair.map(value_of_digit);
            *byte = high.ok_or(InvalidDigest)? << 4 | low.ok_or(InvalidDigest)?;
        }
        Ok(Self(bytes))
    }
}

fn value_of_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_as_hexadecimal_digits() {
        // The example of FIPS 180-2.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let digest = FileDigest::of(b"abc");
        assert_eq!(digest.to_string(), expected);
        assert_eq!(expected.parse(), Ok(digest));
        assert_eq!(FileDigest::from(<[u8; 32]>::from(digest)), digest);
        assert_eq!(FileDigest::of_reader(&b"abc"[..]).unwrap(), (digest, 3));
        assert_eq!(digest.first_byte(), 0xba);
        let upper = expected.to_uppercase();
        let long = format!("{expected}0");
        let not_hex = expected.replace('f', "g");
        for invalid in ["", expected.get(1..).unwrap(), &long, &upper, &not_hex] {
            assert_eq!(invalid.parse::<FileDigest>(), Err(InvalidDigest), "{invalid}");
        }
    }

    #[test]
    fn a_reader_and_a_slice_have_the_same_digest() {
        let contents: Vec<u8> = (0..3 * BUFFER_BYTES + 1).map(|at| at.to_le_bytes()[0]).collect();
        let expected = (FileDigest::of(&contents), contents.len() as u64);
        assert_eq!(FileDigest::of_reader(&contents[..]).unwrap(), expected);
    }
}
