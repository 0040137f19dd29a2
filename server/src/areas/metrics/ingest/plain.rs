//! The fast parser of batches, for agents that send the same series repeatedly with identical
//! bytes.
//!
//! If an item's name and tags were seen before, byte for byte, its tags are not parsed: a hash of
//! the bytes identifies the series. Nothing is refused here. An item in any other form is [passed
//! on](Item::Other) to the general parser, and a body with any other structure is passed on as a
//! whole.

use telltale_engine::{BatchBuilder, Memory, MetricType, SeriesId, SeriesKeyHash, TimestampMs};

use super::super::model::Measured;
use super::input::{member, number};
use crate::limits;
use crate::platform::json::{Cursor, Scalar, has_too_many_values};
use crate::platform::time;

/// Prefix of this protocol's hashes, which separates them from those of other protocols.
const PROTOCOL: &[u8] = b"json";

/// An item of a batch.
#[derive(Debug)]
pub(in crate::areas::metrics) enum Item<'b> {
    /// A valid item of a known series.
    Known { series: SeriesId, kind: MetricType, time: TimestampMs, value: Measured<'b> },
    /// Any other item, as it was sent, with the hash of its series key if that is valid.
    Other { text: &'b str, key_hash: Option<SeriesKeyHash> },
}

impl<'b> Item<'b> {
    /// Returns the JSON string of an item that the general parser reads.
    pub(in crate::areas::metrics) fn document(&self) -> Option<&'b [u8]> {
        match self {
            Self::Known { .. } => None,
            Self::Other { text, .. } => Some(text.as_bytes()),
        }
    }
}

/// Parses consecutive items.
#[derive(Debug)]
pub struct Reader<'b> {
    now: TimestampMs,
    memory: &'b Memory,
    protocol: SeriesKeyHash,
    /// The timestamp parsed last, with its string: many items of a batch have the same timestamp.
    last_time: Option<(&'b str, TimestampMs)>,
}

/// The fields of an item, without duplicates.
#[derive(Default)]
struct Fields<'b> {
    name: Option<&'b str>,
    kind: Option<MetricType>,
    value: Option<Scalar<'b>>,
    time: Option<TimestampMs>,
    /// Including the braces.
    tags: Option<&'b str>,
}

impl<'b> Reader<'b> {
    /// Returns a reader. `now` is the timestamp of samples without one; `memory` is used while the
    /// general parser reads items.
    pub fn new(now: TimestampMs, memory: &'b Memory) -> Self {
        Self { now, memory, protocol: SeriesKeyHash::of(PROTOCOL), last_time: None }
    }

    /// Returns the timestamp of samples without one.
    pub(in crate::areas::metrics) fn now(&self) -> TimestampMs {
        self.now
    }

    /// Returns the memory account.
    pub(in crate::areas::metrics) fn memory(&self) -> &'b Memory {
        self.memory
    }

    /// Parses a body with a batch; `None` if it needs the general parser. Adds nothing to the batch
    /// builder.
    pub(in crate::areas::metrics) fn batch(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        body: &'b [u8],
    ) -> Option<Vec<Item<'b>>> {
        if has_too_many_values(body) {
            return None;
        }
        let (mut cursor, mut items) = (Cursor::new(body)?, Vec::new());
        cursor.eat(b'{')?;
        if cursor.string()? != "metrics" {
            return None;
        }
        cursor.eat(b':')?;
        cursor.elements(|cursor| {
            items.push(self.item(batch, cursor)?);
            (items.len() <= limits::BATCH_ITEMS_MAX).then_some(())
        })?;
        cursor.eat(b'}')?;
        cursor.ended().then_some(items)
    }

    /// Parses one item; `None` if it needs the general parser. Adds nothing to the batch builder.
    pub(in crate::areas::metrics) fn one(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        text: &'b [u8],
    ) -> Option<Item<'b>> {
        let mut cursor = Cursor::new(text)?;
        let item = self.item(batch, &mut cursor)?;
        cursor.ended().then_some(item)
    }

    fn item(&mut self, batch: &mut BatchBuilder<'_>, cursor: &mut Cursor<'b>) -> Option<Item<'b>> {
        let (start, mut fast_cursor) = (cursor.at(), cursor.clone());
        let mut assumed = None;
        if let Some(fields) = self.fields(&mut fast_cursor)
            && let (Some(name), Some(kind), Some(value)) = (fields.name, fields.kind, fields.value)
            && let Some(value) = measured(kind, value)
        {
            let key_hash = self.protocol.with(name.as_bytes());
            let key_hash = key_hash.with(fields.tags.unwrap_or_default().as_bytes());
            match batch.known(key_hash) {
                Some((series, known)) if known == kind => {
                    *cursor = fast_cursor;
                    let time = fields.time.unwrap_or(self.now);
                    return Some(Item::Known { series, kind, time, value });
                }
                _ => assumed = Some((key_hash, fields.tags)),
            }
        }
        let tags = skip_item(cursor)?;
        let key_hash =
            assumed.filter(|(_, assumed_tags)| *assumed_tags == tags).map(|(key_hash, _)| key_hash);
        Some(Item::Other { text: cursor.since(start)?, key_hash })
    }

    /// Parses the fields of an item. The tags are assumed to end at the first brace; if that brace
    /// is within a string, the bytes are not those of any tags seen before.
    #[inline]
    fn fields(&mut self, cursor: &mut Cursor<'b>) -> Option<Fields<'b>> {
        let mut fields = Fields::default();
        cursor.members(|cursor, key| match key {
            "name" => set_once(&mut fields.name, cursor.string()?),
            "type" => set_once(&mut fields.kind, MetricType::parse(cursor.string()?)?),
            "value" => set_once(&mut fields.value, cursor.scalar()?),
            "timestamp" => set_once(&mut fields.time, self.time(cursor.scalar()?)?),
            "tags" => set_once(&mut fields.tags, cursor.through(b'}')?),
            _ => cursor.scalar().map(drop),
        })?;
        Some(fields)
    }

    #[inline]
    fn time(&mut self, value: Scalar<'b>) -> Option<TimestampMs> {
        let text = match value {
            Scalar::Null => return Some(self.now),
            Scalar::Text(text) => text,
            Scalar::Bool | Scalar::Number(_) => return None,
        };
        if let Some((last, time)) = self.last_time
            && last == text
        {
            return Some(time);
        }
        let time = time::parse_recorded(text, self.now).ok()?;
        self.last_time = Some((text, time));
        Some(time)
    }
}

#[inline]
fn set_once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

#[inline]
fn measured(kind: MetricType, value: Scalar<'_>) -> Option<Measured<'_>> {
    match value {
        Scalar::Text(text) => member(kind, text),
        Scalar::Number(value) => number(kind, value),
        Scalar::Null | Scalar::Bool => None,
    }
}

/// Skips an item whose members are scalars, except for its tags, an object of scalars. Returns the
/// bytes of the tags, if present.
fn skip_item<'b>(cursor: &mut Cursor<'b>) -> Option<Option<&'b str>> {
    let mut tags = None;
    cursor.members(|cursor, key| {
        if key != "tags" || !cursor.clone().ate(b'{') {
            return cursor.scalar().map(drop);
        }
        let start = cursor.at();
        cursor.members(|cursor, _| cursor.scalar().map(drop))?;
        tags = cursor.since(start);
        Some(())
    })?;
    Some(tags)
}
