//! The quick way through a batch: agents send the same series again and again, in the same bytes.
//!
//! An item whose tags and name were seen before, byte for byte, needs no look at its tags: a hash tells which series it is
//! of. Nothing is refused here. An item with anything unusual is [handed on](Item::Other) to the general reader, and a
//! batch with anything unusual around its items is handed on as a whole.

use telltale_engine::{BatchBuilder, Memory, MetricType, SeriesId, SeriesKeyHash, TimestampMs};

use super::super::model::Measured;
use super::input::{member, number};
use crate::limits;
use crate::platform::json::{Cursor, Scalar, has_too_many_values};
use crate::platform::time;

/// What the hashes of this protocol begin with, so that they are of no other.
const PROTOCOL: &[u8] = b"json";

/// An item of a batch.
#[derive(Debug)]
pub(in crate::areas::metrics) enum Item<'b> {
    /// A good one, of a known series.
    Known { series: SeriesId, kind: MetricType, time: TimestampMs, value: Measured<'b> },
    /// Any other item, as it was sent, and the hash of its series key if that is valid.
    Other { text: &'b str, key_hash: Option<SeriesKeyHash> },
}

impl<'b> Item<'b> {
    /// The text of an item that is read as a document.
    pub(in crate::areas::metrics) fn document(&self) -> Option<&'b [u8]> {
        match self {
            Self::Known { .. } => None,
            Self::Other { text, .. } => Some(text.as_bytes()),
        }
    }
}

/// Reads items one after another.
#[derive(Debug)]
pub struct Reader<'b> {
    now: TimestampMs,
    memory: &'b Memory,
    protocol: SeriesKeyHash,
    /// The time read last, and its text: many items of a batch have the same.
    last_time: Option<(&'b str, TimestampMs)>,
}

/// The fields of an item, none of them twice.
#[derive(Default)]
struct Fields<'b> {
    name: Option<&'b str>,
    kind: Option<MetricType>,
    value: Option<Scalar<'b>>,
    time: Option<TimestampMs>,
    /// With their braces.
    tags: Option<&'b str>,
}

impl<'b> Reader<'b> {
    /// `now` is the time of points that have none; items that the general reader has to look at are in `memory` meanwhile.
    pub fn new(now: TimestampMs, memory: &'b Memory) -> Self {
        Self { now, memory, protocol: SeriesKeyHash::of(PROTOCOL), last_time: None }
    }

    /// The time of points that have none.
    pub(in crate::areas::metrics) fn now(&self) -> TimestampMs {
        self.now
    }

    /// The account of memory.
    pub(in crate::areas::metrics) fn memory(&self) -> &'b Memory {
        self.memory
    }

    /// The items of a body that is a batch; none when the general reader has to look at it. Adds nothing to the batch.
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

    /// The item that a text is; none when the general reader has to look at it. Adds nothing to the batch.
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
        let (start, mut quick) = (cursor.at(), cursor.clone());
        let mut guessed = None;
        if let Some(fields) = self.fields(&mut quick)
            && let (Some(name), Some(kind), Some(value)) = (fields.name, fields.kind, fields.value)
            && let Some(value) = measured(kind, value)
        {
            let key_hash = self.protocol.with(name.as_bytes());
            let key_hash = key_hash.with(fields.tags.unwrap_or_default().as_bytes());
            match batch.known(key_hash) {
                Some((series, known)) if known == kind => {
                    *cursor = quick;
                    let time = fields.time.unwrap_or(self.now);
                    return Some(Item::Known { series, kind, time, value });
                }
                _ => guessed = Some((key_hash, fields.tags)),
            }
        }
        let tags = pass_over(cursor)?;
        let key_hash = guessed.filter(|(_, guess)| *guess == tags).map(|(key_hash, _)| key_hash);
        Some(Item::Other { text: cursor.since(start)?, key_hash })
    }

    /// The fields of an item. The tags are guessed to end at the first brace: where that is in a text of theirs, they are
    /// no tags that were ever sent.
    #[inline]
    fn fields(&mut self, cursor: &mut Cursor<'b>) -> Option<Fields<'b>> {
        let mut fields = Fields::default();
        cursor.members(|cursor, key| match key {
            "name" => once(&mut fields.name, cursor.string()?),
            "type" => once(&mut fields.kind, MetricType::parse(cursor.string()?)?),
            "value" => once(&mut fields.value, cursor.scalar()?),
            "timestamp" => once(&mut fields.time, self.time(cursor.scalar()?)?),
            "tags" => once(&mut fields.tags, cursor.through(b'}')?),
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
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
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

/// Passes over an item of scalars and an object of scalars, its tags, if it has some.
fn pass_over<'b>(cursor: &mut Cursor<'b>) -> Option<Option<&'b str>> {
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
