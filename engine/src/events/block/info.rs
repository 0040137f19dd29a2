//! What the catalog stores of an event block: its key, time bounds and sizes.
//!
//! ```text
//! key, 12 bytes   day since 1970: u32 BE │ sequence: u64 BE
//! catalog entry   frame(EventCatalogEntry) {
//!                   rows: varint │ first time: signed │ last less first: varint
//!                   bytes of strings: varint │ bytes: varint
//!                 }
//! ```
//!
//! The day comes first in the key, so that expired days are one range of the keyspace.

use crate::cast::to_u32;
use crate::codec::bytes::{Reader, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};
use crate::limits::EVENT_BLOCK_ROWS_MAX;

/// The current version of the format.
pub(super) const VERSION: u8 = 1;

/// The key of a block, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EventBlockKey {
    /// Days since the epoch.
    pub(crate) day: u32,
    pub(crate) sequence: u64,
}

impl EventBlockKey {
    pub(crate) const BYTES: usize = 12;

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        let (day, sequence) = out.split_at_mut(4);
        day.copy_from_slice(&self.day.to_be_bytes());
        sequence.copy_from_slice(&self.sequence.to_be_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> CodecResult<Self> {
        let parts = bytes.split_first_chunk().and_then(|(day, rest)| {
            let sequence = u64::from_be_bytes(rest.try_into().ok()?);
            Some(Self { day: u32::from_be_bytes(*day), sequence })
        });
        parts.ok_or_else(|| CodecError::new(format!("{bytes:02x?} is not a key of an event block")))
    }
}

/// What the catalog stores of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventBlockInfo {
    pub(crate) key: EventBlockKey,
    pub(crate) rows: u32,
    /// The time of the first row, in milliseconds.
    pub(crate) first_time: i64,
    /// The time of the last row, in milliseconds.
    pub(crate) last_time: i64,
    /// Total bytes of the strings of all rows, counting every occurrence.
    pub(crate) string_bytes: u32,
    /// The length of the block.
    pub(crate) bytes: u32,
}

impl EventBlockInfo {
    /// Encodes the catalog entry, to be stored under the key of the block.
    pub(crate) fn to_catalog_entry(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        let mark = frame::begin(&mut out, FrameKind::EventCatalogEntry, VERSION);
        self.extent().write(&mut out);
        put_varint(&mut out, u64::from(self.bytes));
        frame::close(&mut out, mark);
        out
    }

    pub(crate) fn from_catalog_entry(key: &[u8], entry: &[u8]) -> CodecResult<Self> {
        let (_, payload) = frame::open(entry, FrameKind::EventCatalogEntry, VERSION)?;
        let mut reader = Reader::new(payload);
        let key = EventBlockKey::decode(key)?;
        let extent = Extent::read(&mut reader)?;
        let bytes = to_u32(reader.count("bytes", u32::MAX as usize)?);
        reader.finish()?;
        Ok(extent.info(key, bytes))
    }

    fn extent(&self) -> Extent {
        let Self { rows, first_time, last_time, string_bytes, .. } = *self;
        Extent { rows, first_time, last_time, string_bytes }
    }
}

/// Rows, time bounds and string bytes of a block, as both its catalog entry and its header store
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) rows: u32,
    pub(super) first_time: i64,
    pub(super) last_time: i64,
    pub(super) string_bytes: u32,
}

impl Extent {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_varint(out, u64::from(self.rows));
        put_signed(out, self.first_time);
        put_varint(out, self.last_time.wrapping_sub(self.first_time).cast_unsigned());
        put_varint(out, u64::from(self.string_bytes));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> CodecResult<Self> {
        let rows = to_u32(reader.count("rows", EVENT_BLOCK_ROWS_MAX)?);
        let first_time = reader.signed()?;
        let length = i64::try_from(reader.varint()?).ok();
        let last_time = length.and_then(|length| first_time.checked_add(length));
        let last_time =
            last_time.ok_or_else(|| CodecError::new("the last time of a block overflows"))?;
        let string_bytes = to_u32(reader.count("bytes of strings", u32::MAX as usize)?);
        if rows == 0 {
            return Err(CodecError::new("a block has no rows"));
        }
        Ok(Self { rows, first_time, last_time, string_bytes })
    }

    pub(super) fn info(&self, key: EventBlockKey, bytes: u32) -> EventBlockInfo {
        let Self { rows, first_time, last_time, string_bytes } = *self;
        EventBlockInfo { key, rows, first_time, last_time, string_bytes, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_by_day_then_sequence() {
        let key = |day, sequence| EventBlockKey { day, sequence };
        assert!(key(255, 9).encode() < key(256, 0).encode());
        assert!(key(1, 255).encode() < key(1, 256).encode());
        assert_eq!(EventBlockKey::decode(&key(7, 8).encode()), Ok(key(7, 8)));
        assert!(EventBlockKey::decode(&[0; 13]).is_err());
    }

    #[test]
    fn a_catalog_entry_round_trips() {
        let key = EventBlockKey { day: 20_000, sequence: 5 };
        let info = EventBlockInfo {
            key,
            rows: 9,
            first_time: -4,
            last_time: 1 << 41,
            string_bytes: 80,
            bytes: 700,
        };
        let entry = info.to_catalog_entry();
        assert_eq!(EventBlockInfo::from_catalog_entry(&key.encode(), &entry), Ok(info));
        assert_eq!(
            entry[crate::codec::frame::HEADER_BYTES..],
            [9, 7, 132, 128, 128, 128, 128, 64, 80, 188, 5]
        );
    }

    #[test]
    fn a_block_has_rows_up_to_the_limit_and_ends_within_time() {
        let read = |rows: u32, first_time: i64| {
            let extent = Extent { rows, first_time, last_time: i64::MAX, string_bytes: u32::MAX };
            let mut bytes = Vec::new();
            extent.write(&mut bytes);
            Extent::read(&mut Reader::new(&bytes)).is_ok_and(|read| read == extent)
        };
        let most = EVENT_BLOCK_ROWS_MAX as u32;
        let rows = [0, 1, most, most + 1].map(|rows| read(rows, 5));
        assert_eq!(rows, [false, true, true, false]);
        assert!(read(1, 0));
        assert!(!read(1, -1), "the last time overflows");
        // A block that starts at 2 and is as long as one from 1 to the end of time.
        let mut bytes = vec![1, 4];
        put_varint(&mut bytes, i64::MAX as u64 - 1);
        bytes.push(0);
        assert!(Extent::read(&mut Reader::new(&bytes)).is_err());
    }
}
