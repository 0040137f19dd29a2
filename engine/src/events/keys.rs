//! Keys of [`crate::storage::Keyspace::EventCatalog`]: the kind of the entry (u8), then the block
//! key.

use super::block::EventBlockKey;
use crate::codec::{CodecError, CodecResult};

const BLOCK: u8 = 0;
const GARBAGE: u8 = 1;
const QUARANTINE: u8 = 2;

/// The kind of a catalog entry, with the key of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CatalogEntry {
    /// A live block; the value is its [`super::block::EventBlockInfo`].
    Block(EventBlockKey),
    /// A block that is no longer live. Its bytes are deleted once no reader holds it.
    Garbage(EventBlockKey),
    /// A corrupt block; the value is the reason.
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

/// Decodes a catalog key.
pub(super) fn read(key: &[u8]) -> CodecResult<CatalogEntry> {
    match key.split_first() {
        Some((&BLOCK, block)) => EventBlockKey::decode(block).map(CatalogEntry::Block),
        Some((&GARBAGE, block)) => EventBlockKey::decode(block).map(CatalogEntry::Garbage),
        Some((&QUARANTINE, block)) => EventBlockKey::decode(block).map(CatalogEntry::Quarantine),
        _ => Err(CodecError::new(format!("{key:02x?} is not a key of the event catalog"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_key_is_the_kind_of_the_entry_and_the_key_of_its_block() {
        let key = EventBlockKey { day: 0x0102, sequence: 3 };
        let bytes = |kind| [kind, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3];
        for (kind, encoded, entry) in [
            (0, block(&key), CatalogEntry::Block(key)),
            (1, garbage(&key), CatalogEntry::Garbage(key)),
            (2, quarantine(&key), CatalogEntry::Quarantine(key)),
        ] {
            assert_eq!(encoded, bytes(kind));
            assert_eq!(read(&encoded), Ok(entry));
        }
        assert!(read(&bytes(3)).is_err() && read(&bytes(0)[..12]).is_err() && read(&[]).is_err());
    }
}
