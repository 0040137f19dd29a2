//! The fast parser of batches, for agents that send the same series repeatedly with identical
//! bytes.
//!
//! If an item's name and tags were seen before, byte for byte, its tags are not parsed: a hash of
//! the bytes identifies the series. Keys are expected in the order of the item before, and tags to
//! be those of that item, so most of an item is read by comparing it with the one before.
//!
//! Nothing is refused here. An item in any other form is [passed on](Item::Other) to the general
//! parser, and a body with any other structure is passed on as a whole.

use smallvec::SmallVec;
use telltale_engine::{
    BatchBuilder, KeyPartHash, Memory, MetricType, SeriesId, SeriesKeyHash, TimestampMs,
};

use super::super::model::Measured;
use super::input::{member, number};
use crate::platform::json::{Cursor, Scalar, set_once};
use crate::platform::telemetry::batch::plain_items;
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
    /// The timestamp parsed last, as it was sent, with its quotes: many items of a batch have the
    /// same timestamp.
    last_time: Option<(&'b str, TimestampMs)>,
    /// The tags read last: neighbouring items often differ only in name and value.
    last_tags: Option<Tags<'b>>,
    layout: Layout<'b>,
}

/// A field of an item.
#[derive(Clone, Copy, Debug)]
enum Field {
    Name,
    Kind,
    Value,
    Time,
    Tags,
}

/// Number of fields of an item.
const FIELDS: usize = 5;

/// The text of an item without the values of its fields.
#[derive(Debug, Default)]
struct Layout<'b> {
    /// The fields in their order, each with the text from the value before it to its own.
    fields: SmallVec<[(&'b str, Field); FIELDS]>,
    /// The text from the last value to the end of the item; `None` if there is no layout.
    end: Option<&'b str>,
}

/// The text of the tags of an item, including the braces, and its hash.
#[derive(Clone, Copy, Debug)]
struct Tags<'b> {
    text: &'b str,
    hash: KeyPartHash,
}

/// The fields of an item, without duplicates.
#[derive(Default)]
struct Fields<'b> {
    name: Option<&'b str>,
    kind: Option<MetricType>,
    value: Option<Scalar<'b>>,
    time: Option<TimestampMs>,
    tags: Option<Tags<'b>>,
}

impl<'b> Reader<'b> {
    /// Returns a reader. `now` is the timestamp of samples without one; `memory` is used while the
    /// general parser reads items.
    pub fn new(now: TimestampMs, memory: &'b Memory) -> Self {
        let (protocol, layout) = (SeriesKeyHash::of(PROTOCOL), Layout::default());
        Self { now, memory, protocol, last_time: None, last_tags: None, layout }
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
        let mut items = Vec::new();
        plain_items(body, "metrics", |cursor| {
            items.push(self.item(batch, cursor)?);
            Some(())
        })?;
        Some(items)
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
            let key_hash = match fields.tags {
                Some(tags) => key_hash.with_part(tags.hash),
                None => key_hash.with(b""),
            };
            match batch.known(key_hash) {
                Some((series, known)) if known == kind => {
                    *cursor = fast_cursor;
                    let time = fields.time.unwrap_or(self.now);
                    return Some(Item::Known { series, kind, time, value });
                }
                _ => assumed = Some((key_hash, fields.tags.map(|tags| tags.text))),
            }
        }
        let tags = skip_item(cursor)?;
        let key_hash =
            assumed.filter(|(_, assumed_tags)| *assumed_tags == tags).map(|(key_hash, _)| key_hash);
        Some(Item::Other { text: cursor.since(start)?, key_hash })
    }

    /// Parses the fields of an item.
    #[inline]
    fn fields(&mut self, cursor: &mut Cursor<'b>) -> Option<Fields<'b>> {
        cursor.at();
        let mut expecting = cursor.clone();
        if let Some(fields) = self.expected_fields(&mut expecting) {
            *cursor = expecting;
            return Some(fields);
        }
        self.any_fields(cursor)
    }

    /// Parses the fields of an item with the layout of the one before it.
    #[inline]
    fn expected_fields(&mut self, cursor: &mut Cursor<'b>) -> Option<Fields<'b>> {
        let end = self.layout.end?;
        let mut fields = Fields::default();
        for at in 0..self.layout.fields.len() {
            let (before, field) = *self.layout.fields.get(at)?;
            if !cursor.skipped(before) {
                return None;
            }
            self.field(&mut fields, field, cursor)?;
        }
        cursor.skipped(end).then_some(fields)
    }

    /// Parses the fields of an item with any layout, which is kept unless there are other fields.
    fn any_fields(&mut self, cursor: &mut Cursor<'b>) -> Option<Fields<'b>> {
        let mut fields = Fields::default();
        let mut layout = Layout::default();
        let (mut last_end, mut has_others) = (cursor.at(), false);
        self.layout.end = None;
        cursor.members(|cursor, key| {
            let field = match key {
                "name" => Field::Name,
                "type" => Field::Kind,
                "value" => Field::Value,
                "timestamp" => Field::Time,
                "tags" => Field::Tags,
                _ => {
                    has_others = true;
                    return cursor.scalar().map(drop);
                }
            };
            layout.fields.push((cursor.since(last_end)?, field));
            self.field(&mut fields, field, cursor)?;
            last_end = cursor.position();
            Some(())
        })?;
        layout.end = cursor.since(last_end).filter(|_| !has_others);
        self.layout = layout;
        Some(fields)
    }

    /// Parses the value of a field, which must not have one yet.
    #[inline]
    fn field(
        &mut self,
        fields: &mut Fields<'b>,
        field: Field,
        cursor: &mut Cursor<'b>,
    ) -> Option<()> {
        match field {
            Field::Name => set_once(&mut fields.name, cursor.string()?),
            Field::Kind => set_once(&mut fields.kind, MetricType::parse(cursor.string()?)?),
            Field::Value => set_once(&mut fields.value, cursor.scalar()?),
            Field::Time => set_once(&mut fields.time, self.time(cursor)?),
            Field::Tags => set_once(&mut fields.tags, self.tags(cursor)?),
        }
    }

    /// Reads tags, which are assumed to end at the first brace; if that brace is within a string,
    /// the bytes are not those of any tags seen before.
    #[inline]
    fn tags(&mut self, cursor: &mut Cursor<'b>) -> Option<Tags<'b>> {
        cursor.at();
        if let Some(last) = self.last_tags
            && cursor.skipped(last.text)
        {
            return Some(last);
        }
        let text = cursor.through(b'}')?;
        let tags = Tags { text, hash: KeyPartHash::of(text.as_bytes()) };
        self.last_tags = Some(tags);
        Some(tags)
    }

    #[inline]
    fn time(&mut self, cursor: &mut Cursor<'b>) -> Option<TimestampMs> {
        let start = cursor.at();
        if let Some((last, time)) = self.last_time
            && cursor.skipped(last)
        {
            return Some(time);
        }
        let text = match cursor.scalar()? {
            Scalar::Null => return Some(self.now),
            Scalar::Text(text) => text,
            Scalar::Boolean(_) | Scalar::Number(_) => return None,
        };
        let time = time::parse_recorded(text, self.now).ok()?;
        self.last_time = cursor.since(start).map(|quoted| (quoted, time));
        Some(time)
    }
}

#[inline]
fn measured(kind: MetricType, value: Scalar<'_>) -> Option<Measured<'_>> {
    match value {
        Scalar::Text(text) => member(kind, text),
        Scalar::Number(value) => number(kind, value),
        Scalar::Null | Scalar::Boolean(_) => None,
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
