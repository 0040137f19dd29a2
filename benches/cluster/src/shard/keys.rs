//! The keys of a shard: one letter, then numbers in the order of the bytes.
//!
//! ```text
//! l <lsn>       a record of the log            d <number>   a document
//! p <first lsn> a pointer to a pack            r <lsn>      a record beside the log
//! s             the last record that is in packs
//! ```

/// The prefix of records of the log.
pub(crate) const LOG: u8 = b'l';
/// The prefix of documents.
pub(crate) const DOCUMENT: u8 = b'd';
/// The prefix of records beside the log, which are never changed.
pub(crate) const RECORD: u8 = b'r';
/// The prefix of pointers to packs.
pub(crate) const PACK: u8 = b'p';
/// The key of the last record that is in packs.
pub(crate) const SEALED: [u8; 1] = *b"s";

/// Returns a key of a prefix and a number.
pub(crate) fn numbered(prefix: u8, number: u64) -> [u8; 9] {
    let mut key = [prefix; 9];
    for (to, from) in key.iter_mut().skip(1).zip(number.to_be_bytes()) {
        *to = from;
    }
    key
}

/// Returns the number of such a key.
pub(crate) fn number_of(key: &[u8]) -> Option<u64> {
    let number = key.get(1..)?.try_into().ok()?;
    Some(u64::from_be_bytes(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_their_numbers() {
        assert_eq!(number_of(&numbered(LOG, 258)), Some(258));
        assert!(numbered(LOG, 255) < numbered(LOG, 256));
        assert_eq!(number_of(b"l12"), None);
    }
}
