//! The names of git objects.

use std::fmt;

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Bytes of the longest name.
const BYTES_MAX: usize = 32;

/// The name of a git object: its SHA-1, or in a repository of that format its SHA-256. Written as
/// 40 or 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    bytes: [u8; BYTES_MAX],
    length: Length,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Length {
    Sha1,
    Sha256,
}

/// A string or a sequence of bytes is not the name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a git object consists of 40 or 64 lower-case hexadecimal digits")]
pub struct InvalidObjectId;

impl ObjectId {
    /// Returns the id of 20 or 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidObjectId> {
        let length = match bytes.len() {
            20 => Length::Sha1,
            BYTES_MAX => Length::Sha256,
            _ => return Err(InvalidObjectId),
        };
        let mut id = Self { bytes: [0; BYTES_MAX], length };
        for (to, from) in id.bytes.iter_mut().zip(bytes) {
            *to = *from;
        }
        Ok(id)
    }

    /// Parses the text of an id.
    pub fn parse(text: &str) -> Result<Self, InvalidObjectId> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(InvalidObjectId) };
        if pairs.len() > BYTES_MAX {
            return Err(InvalidObjectId);
        }
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        Self::from_bytes(&bytes.ok_or(InvalidObjectId)?)
    }

    /// Returns the 20 or 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self.length {
            Length::Sha1 => self.bytes.first_chunk::<20>().map_or(&self.bytes[..], |sha1| sha1),
            Length::Sha256 => &self.bytes,
        }
    }

    /// Returns whether this is the name of a blob with these contents.
    pub fn is_of_blob(&self, contents: &[u8]) -> bool {
        match self.length {
            Length::Sha1 => hash_of_blob::<Sha1>(contents).as_ref() == self.as_bytes(),
            Length::Sha256 => hash_of_blob::<Sha256>(contents).as_ref() == self.as_bytes(),
        }
    }
}

/// Returns the hash that names an object: that of its type, its length and its contents.
fn hash_of_blob<D: Digest>(contents: &[u8]) -> impl AsRef<[u8]> {
    let header = format!("blob {}\0", contents.len());
    D::new().chain_update(header).chain_update(contents).finalize()
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_has_the_name_that_git_gives_it() {
        // printf 'hello\n' | git hash-object --stdin
        let sha1 = ObjectId::parse("ce013625030ba8dba906f756967f9e9ca394464a").unwrap();
        assert!(sha1.is_of_blob(b"hello\n"));
        assert!(!sha1.is_of_blob(b"hello"));
        // The same in a repository of SHA-256.
        let sha256 = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
        assert!(ObjectId::parse(sha256).unwrap().is_of_blob(b"hello\n"));
    }

    #[test]
    fn an_id_is_40_or_64_digits() {
        for text in ["0f".repeat(20), "0f".repeat(32)] {
            let id = ObjectId::parse(&text).unwrap();
            assert_eq!((id.to_string(), id.as_bytes().len() * 2), (text.clone(), text.len()));
            assert_eq!(ObjectId::from_bytes(id.as_bytes()), Ok(id));
        }
        for wrong in
            ["", "0f", &"0F".repeat(20), &"0g".repeat(20), &"0f".repeat(33), &"é".repeat(20)]
        {
            assert_eq!(ObjectId::parse(wrong), Err(InvalidObjectId), "{wrong}");
        }
    }
}
