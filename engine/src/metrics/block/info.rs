//! The metadata of a block: its key, its window, and the range of its series and times.
//!
//! ```text
//! key, 17 bytes:  tier: u8 │ day: u32 BE │ metric: u32 BE │ sequence: u64 BE
//! info:           kind: u8 │ unit: varint │ order: varint
//!                 window start: signed │ window length: varint
//!                 first series: varint │ last series less first: varint
//!                 series: varint │ rows: varint
//!                 first time: signed │ last time less first: varint │ bytes: varint
//! ```
//!
//! The key starts with tier and day, so that expired blocks are one key range.

use crate::codec::bytes::{Reader, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};
use crate::metrics::times::TimePageGroup;
use crate::model::{Interval, MetricId, MetricType, TimeRange, TimestampMs};
use crate::storage::{KeyOf, PrefixOf, ValueOf, keyspaces};

/// The version of catalog entries. Version 1 has the same fields and does not record coverage.
const ENTRY_VERSION: u8 = 2;

/// The resolution of the rows of a block. The numbers are on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Tier {
    /// Samples; only of gauges and counters.
    Raw = 0,
    /// One-minute cells; the finest tier of distributions and sets.
    Minute = 1,
    /// Five-minute cells.
    FiveMinutes = 2,
    /// One-hour cells.
    Hour = 3,
    /// One-day cells.
    Day = 4,
}

impl Tier {
    pub(crate) const ALL: [Self; 5] =
        [Self::Raw, Self::Minute, Self::FiveMinutes, Self::Hour, Self::Day];

    /// Returns the width of a cell; `None` for samples.
    pub(crate) fn width(self) -> Option<Interval> {
        match self {
            Self::Raw => None,
            Self::Minute => Some(Interval::MINUTE),
            Self::FiveMinutes => Some(Interval::FIVE_MINUTES),
            Self::Hour => Some(Interval::HOUR),
            Self::Day => Some(Interval::DAY),
        }
    }

    /// Returns the finest tier stored for a metric type.
    pub(crate) fn finest(kind: MetricType) -> Self {
        if kind.keeps_points() { Self::Raw } else { Self::Minute }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|t| *t as u8 == code)
    }
}

/// The compacted block set that a block belongs to, with its rollups. Blocks of the head belong to
/// none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CompactedSetId(pub(crate) u64);

/// The position in the log that a block extends to. Of two blocks, the higher one has the later
/// writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WriteOrder(pub(crate) u64);

/// Whether the blocks of a tier cover all samples of their compacted block set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// Every sample of the set.
    Whole,
    /// Possibly only the samples that arrived last: entries of version 1 and rebuilt catalogs do
    /// not record the coverage.
    Unknown,
}

/// The key of a block, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BlockKey {
    pub(crate) tier: Tier,
    /// Days since 1970-01-01.
    pub(crate) day: u32,
    pub(crate) metric: MetricId,
    pub(crate) sequence: u64,
}

impl BlockKey {
    pub(crate) const BYTES: usize = 17;

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        let (tier, rest) = out.split_at_mut(1);
        let (day, rest) = rest.split_at_mut(4);
        let (metric, sequence) = rest.split_at_mut(4);
        tier.copy_from_slice(&[self.tier as u8]);
        day.copy_from_slice(&self.day.to_be_bytes());
        metric.copy_from_slice(&self.metric.0.to_be_bytes());
        sequence.copy_from_slice(&self.sequence.to_be_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> CodecResult<Self> {
        let parts = (|| {
            let (tier, rest) = bytes.split_first()?;
            let (day, rest) = rest.split_first_chunk()?;
            let (metric, rest) = rest.split_first_chunk()?;
            Some(Self {
                tier: Tier::from_code(*tier)?,
                day: u32::from_be_bytes(*day),
                metric: MetricId(u32::from_be_bytes(*metric)),
                sequence: u64::from_be_bytes(rest.try_into().ok()?),
            })
        })();
        parts.ok_or_else(|| CodecError::new(format!("{bytes:02x?} is not a block key")))
    }
}

impl KeyOf<keyspaces::Catalog> for BlockKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.encode()
    }
}

impl KeyOf<keyspaces::Blocks> for BlockKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.encode()
    }
}

impl KeyOf<keyspaces::Garbage> for BlockKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.encode()
    }
}

impl KeyOf<keyspaces::Quarantine> for BlockKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.encode()
    }
}

/// The blocks of one day of a tier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockDay {
    pub(crate) tier: Tier,
    /// Days since 1970-01-01.
    pub(crate) day: u32,
}

impl PrefixOf<keyspaces::Blocks> for BlockDay {
    fn encoded(&self) -> impl AsRef<[u8]> {
        let [a, b, c, d] = self.day.to_be_bytes();
        [self.tier as u8, a, b, c, d]
    }
}

impl ValueOf<keyspaces::Catalog> for BlockInfo {
    fn into_bytes(self) -> Vec<u8> {
        self.to_catalog_entry()
    }
}

/// An encoded block.
impl ValueOf<keyspaces::Blocks> for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
}

impl ValueOf<keyspaces::Garbage> for () {
    fn into_bytes(self) -> Vec<u8> {
        Vec::new()
    }
}

/// The reason.
impl ValueOf<keyspaces::Quarantine> for &str {
    fn into_bytes(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }
}

/// The description of a block without its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockInfo {
    pub(crate) key: BlockKey,
    pub(crate) kind: MetricType,
    /// The compacted block set that it belongs to, if any.
    pub(crate) unit: Option<CompactedSetId>,
    pub(crate) order: WriteOrder,
    /// The window that the block was cut to; it contains `first_time` and `last_time`.
    pub(crate) window: TimeRange,
    pub(crate) first_series: u32,
    pub(crate) last_series: u32,
    pub(crate) series: u32,
    pub(crate) rows: u32,
    pub(crate) first_time: TimestampMs,
    pub(crate) last_time: TimestampMs,
    /// The length of the whole frame in bytes; 0 in the copy inside the block.
    pub(crate) bytes: u32,
    /// Stored in the catalog entry only.
    pub(crate) coverage: Coverage,
}

impl BlockInfo {
    /// Returns the group of the time pages that the block refers to.
    pub(crate) fn page_group(&self) -> TimePageGroup {
        TimePageGroup { window: self.window, of_compacted_set: self.unit.is_some() }
    }

    /// Returns the time range that the rows cover, including the width of the last cell.
    pub(crate) fn extent(&self) -> TimeRange {
        let width = self.key.tier.width().map_or(1, Interval::ms);
        TimeRange::new(self.first_time.0, self.last_time.0.saturating_add(width))
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.kind.code());
        put_varint(out, self.unit.map_or(0, |u| u.0));
        put_varint(out, self.order.0);
        put_signed(out, self.window.start.0);
        put_varint(out, self.window.len_ms().cast_unsigned());
        put_varint(out, u64::from(self.first_series));
        put_varint(out, u64::from(self.last_series - self.first_series));
        put_varint(out, u64::from(self.series));
        put_varint(out, u64::from(self.rows));
        put_signed(out, self.first_time.0);
        put_varint(out, (self.last_time.0 - self.first_time.0).cast_unsigned());
        put_varint(out, u64::from(self.bytes));
    }

    pub(crate) fn decode(key: BlockKey, reader: &mut Reader<'_>) -> CodecResult<Self> {
        let small =
            |v: u64| u32::try_from(v).map_err(|_| CodecError::new("number exceeds 32 bits"));
        let length =
            |v: u64| i64::try_from(v).map_err(|_| CodecError::new("duration exceeds 63 bits"));
        let kind = MetricType::from_code(reader.u8()?)
            .ok_or_else(|| CodecError::new("unknown metric type"))?;
        let unit = Some(reader.varint()?).filter(|u| *u != 0).map(CompactedSetId);
        let order = WriteOrder(reader.varint()?);
        let start = reader.signed()?;
        let window = TimeRange::new(start, start.saturating_add(length(reader.varint()?)?));
        let first_series = small(reader.varint()?)?;
        let last_series = first_series.saturating_add(small(reader.varint()?)?);
        let (series, rows) = (small(reader.varint()?)?, small(reader.varint()?)?);
        let first = reader.signed()?;
        let last = first.saturating_add(length(reader.varint()?)?);
        Ok(Self {
            key,
            kind,
            unit,
            order,
            window,
            first_series,
            last_series,
            series,
            rows,
            first_time: TimestampMs(first),
            last_time: TimestampMs(last),
            bytes: small(reader.varint()?)?,
            coverage: Coverage::Whole,
        })
    }

    /// Encodes the catalog entry, to be stored under the block's key.
    pub(crate) fn to_catalog_entry(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        let version = match self.coverage {
            Coverage::Whole => ENTRY_VERSION,
            Coverage::Unknown => 1,
        };
        let mark = frame::begin(&mut out, FrameKind::CatalogEntry, version);
        self.encode(&mut out);
        frame::close(&mut out, mark);
        out
    }

    pub(crate) fn from_catalog_entry(key: &[u8], entry: &[u8]) -> CodecResult<Self> {
        let (version, payload) = frame::open(entry, FrameKind::CatalogEntry, ENTRY_VERSION)?;
        let mut reader = Reader::new(payload);
        let mut info = Self::decode(BlockKey::decode(key)?, &mut reader)?;
        if version == 1 {
            info.coverage = Coverage::Unknown;
        }
        reader.finish()?;
        Ok(info)
    }
}

#[cfg(test)]
pub(crate) fn sample_info(kind: MetricType, tier: Tier) -> BlockInfo {
    BlockInfo {
        key: BlockKey { tier, day: 20_000, metric: MetricId(7), sequence: 99 },
        kind,
        unit: Some(CompactedSetId(5)),
        order: WriteOrder(1234),
        window: TimeRange::new(1_728_000_000_000, 1_728_007_200_000),
        first_series: 3,
        last_series: 90,
        series: 40,
        rows: 4000,
        first_time: TimestampMs(1_728_000_000_001),
        last_time: TimestampMs(1_728_007_199_999),
        bytes: 123_456,
        coverage: Coverage::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_entry_round_trips() {
        let info = sample_info(MetricType::Gauge, Tier::Hour);
        let (key, entry) = (info.key.encode(), info.to_catalog_entry());
        assert_eq!(BlockInfo::from_catalog_entry(&key, &entry), Ok(info));
        assert!(BlockInfo::from_catalog_entry(&key[1..], &entry).is_err());
    }

    #[test]
    fn a_catalog_entry_of_version_1_has_unknown_coverage() {
        let info = sample_info(MetricType::Gauge, Tier::Hour);
        // As written before coverage was recorded.
        let entry =
            "0501b3defe6891a95b650005d20980809ccdca6480bab703035728a01f82809ccdca64feb9b703c0c407";
        let entry = hex(entry);
        let old = BlockInfo { coverage: Coverage::Unknown, ..info };
        assert_eq!(BlockInfo::from_catalog_entry(&info.key.encode(), &entry), Ok(old));
        assert_eq!(old.to_catalog_entry(), entry, "a copy keeps the unknown coverage");
        let new = info.to_catalog_entry();
        assert_eq!((new[1], &new[10..]), (2, &entry[10..]));
    }

    fn hex(digits: &str) -> Vec<u8> {
        digits
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn keys_are_ordered_by_tier_then_day_then_metric() {
        let key = |tier, day, metric, sequence| {
            BlockKey { tier, day, metric: MetricId(metric), sequence }.encode()
        };
        assert!(key(Tier::Raw, 9, 9, 9) < key(Tier::Minute, 0, 0, 0));
        let prefix = BlockDay { tier: Tier::Minute, day: 256 };
        assert!(key(Tier::Minute, 256, 7, 9).starts_with(prefix.encoded().as_ref()));
        assert!(key(Tier::Raw, 255, 0, 0) < key(Tier::Raw, 256, 0, 0));
        assert!(key(Tier::Raw, 1, 255, 9) < key(Tier::Raw, 1, 256, 0));
    }
}
