//! The keys of [`crate::storage::Keyspace::EventCatalog`]: what an entry is, then the key of a block.

use super::block::EventBlockKey;
use crate::codec::{CodecError, CodecResult};

const BLOCK: u8 = 0;
const GARBAGE: u8 = 1;
const QUARANTINE: u8 = 2;

/// What an entry of the catalog says of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// There is one; the value is what is known of it.
    Block(EventBlockKey),
    /// Nothing refers to it any more: its bytes may go once no reader needs them.
    Garbage(EventBlockKey),
    /// It is damaged; the value is the reason.
    Quarantine(EventBlockKey),
}

fn key(kind: u8, block: &EventBlockKey) -> [u8; 1 + EventBlockKey::BYTES] {
    let mut out = [kind; 1 + EventBlockKey::BYTES];
    let (_, rest) = out.split_at_mut(1);
    rest.copy_from_slice(&block.encode());
    out
}

pub(super) fn block(block: &EventBlockKey) -> [u8; 13] {
    key(BLOCK, block)
}

pub(super) fn garbage(block: &EventBlockKey) -> [u8; 13] {
    key(GARBAGE, block)
}

pub(super) fn quarantine(block: &EventBlockKey) -> [u8; 13] {
    key(QUARANTINE, block)
}

pub(super) fn read(key: &[u8]) -> CodecResult<Entry> {
    match key.split_first() {
        Some((&BLOCK, block)) => EventBlockKey::decode(block).map(Entry::Block),
        Some((&GARBAGE, block)) => EventBlockKey::decode(block).map(Entry::Garbage),
        Some((&QUARANTINE, block)) => EventBlockKey::decode(block).map(Entry::Quarantine),
        _ => Err(CodecError::new(format!("{key:02x?} is no key of the catalog of events"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_entry_is_comes_before_the_key_of_its_block() {
        let key = EventBlockKey { day: 0x0102, sequence: 3 };
        let bytes = |kind| [kind, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3];
        for (kind, written, entry) in [
            (0, block(&key), Entry::Block(key)),
            (1, garbage(&key), Entry::Garbage(key)),
            (2, quarantine(&key), Entry::Quarantine(key)),
        ] {
            assert_eq!(written, bytes(kind));
            assert_eq!(read(&written), Ok(entry));
        }
        assert!(read(&bytes(3)).is_err() && read(&bytes(0)[..12]).is_err() && read(&[]).is_err());
    }
}
