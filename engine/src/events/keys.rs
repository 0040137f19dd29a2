//! Keys of [`keyspaces::EventCatalog`]: the kind of the entry (u8), then the block key. Keys of
//! [`keyspaces::EventBlocks`]: the block key.

use super::block::{EventBlockInfo, EventBlockKey};
use crate::codec::{CodecError, CodecResult};
use crate::storage::{KeyOf, PrefixOf, ValueOf, keyspaces};

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

impl CatalogEntry {
    pub(super) fn encode(&self) -> [u8; 1 + EventBlockKey::BYTES] {
        let (kind, block) = match self {
            Self::Block(block) => (BLOCK, block),
            Self::Garbage(block) => (GARBAGE, block),
            Self::Quarantine(block) => (QUARANTINE, block),
        };
        let mut out = [kind; 1 + EventBlockKey::BYTES];
        let (_, rest) = out.split_at_mut(1);
        rest.copy_from_slice(&block.encode());
        out
    }
}

impl KeyOf<keyspaces::EventCatalog> for CatalogEntry {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.encode()
    }
}

impl ValueOf<keyspaces::EventCatalog> for EventBlockInfo {
    fn into_bytes(self) -> Vec<u8> {
        self.to_catalog_entry()
    }
}

/// The value of garbage.
impl ValueOf<keyspaces::EventCatalog> for () {
    fn into_bytes(self) -> Vec<u8> {
        Vec::new()
    }
}

/// The reason of a quarantine.
impl ValueOf<keyspaces::EventCatalog> for &str {
    fn into_bytes(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }
}

impl KeyOf<keyspaces::EventBlocks> for EventBlockKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.encode()
    }
}

/// The blocks of a day, in days since the epoch.
pub(super) struct EventDay(pub(super) u32);

impl PrefixOf<keyspaces::EventBlocks> for EventDay {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.0.to_be_bytes()
    }
}

/// An encoded block.
impl ValueOf<keyspaces::EventBlocks> for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
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
        for (kind, entry) in [
            (0, CatalogEntry::Block(key)),
            (1, CatalogEntry::Garbage(key)),
            (2, CatalogEntry::Quarantine(key)),
        ] {
            assert_eq!(entry.encode(), bytes(kind));
            assert_eq!(read(&entry.encode()), Ok(entry));
        }
        assert!(key.encode().starts_with(EventDay(key.day).encoded().as_ref()));
        assert!(read(&bytes(3)).is_err() && read(&bytes(0)[..12]).is_err() && read(&[]).is_err());
    }
}
