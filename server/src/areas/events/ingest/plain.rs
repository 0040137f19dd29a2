//! The fast parser of batches, for bodies whose strings have no escapes: reads items in place,
//! without building a tree.
//!
//! Nothing is refused here. A body with anything else, such as an invalid item or a user that was
//! sent as a number, is passed on as a whole to the general parser.

use smallvec::SmallVec;
use telltale_engine::limits::{PROPERTIES_NESTING_MAX, RESERVED_PREFIX};
use telltale_engine::{InvalidEvent, NewEvent, PropertiesWriter, TimestampMs};

use super::input::TAGS_INLINE;
use crate::platform::json::{Cursor, Number, Scalar, set_once};
use crate::platform::telemetry::batch::plain_items;
use crate::platform::time;

/// Parses a body with a batch of valid items and passes them to `take`, in order. Returns their
/// number; `None` if the body needs the general parser: what was taken until then is to be dropped.
pub(in crate::areas::events) fn read_plain_batch(
    body: &[u8],
    now: TimestampMs,
    mut take: impl FnMut(&NewEvent<'_>) -> Result<(), InvalidEvent>,
) -> Option<usize> {
    let mut reader = Reader::new(now);
    plain_items(body, "events", |cursor| reader.item(cursor, &mut take))
}

/// Parses consecutive items.
struct Reader<'b> {
    now: TimestampMs,
    /// The properties of the item, in canonical form.
    properties: PropertiesWriter,
    /// The tags of the item, in the order sent.
    tags: SmallVec<[(&'b str, &'b str); TAGS_INLINE]>,
}

/// The fields of an item, without duplicates.
#[derive(Default)]
struct Fields<'b> {
    name: Option<&'b str>,
    time: Option<TimestampMs>,
    user: Option<Option<&'b str>>,
    value: Option<Option<f64>>,
    /// Whether there are tags, which may be null.
    tags: Option<()>,
    /// Whether the properties are an object and not null.
    properties: Option<bool>,
}

impl<'b> Reader<'b> {
    fn new(now: TimestampMs) -> Self {
        Self { now, properties: PropertiesWriter::default(), tags: SmallVec::new() }
    }

    fn item(
        &mut self,
        cursor: &mut Cursor<'b>,
        take: impl FnOnce(&NewEvent<'_>) -> Result<(), InvalidEvent>,
    ) -> Option<()> {
        self.tags.clear();
        let fields = self.fields(cursor)?;
        let name = fields.name.filter(|name| !name.starts_with(RESERVED_PREFIX))?;
        let properties = match fields.properties {
            Some(true) => Some(self.properties.written().ok()?),
            Some(false) | None => None,
        };
        take(&NewEvent {
            name,
            time: fields.time.unwrap_or(self.now),
            user: fields.user.flatten(),
            value: fields.value.flatten(),
            tags: &self.tags,
            properties,
        })
        .ok()
    }

    fn fields(&mut self, cursor: &mut Cursor<'b>) -> Option<Fields<'b>> {
        let mut fields = Fields::default();
        cursor.members(|cursor, key| match key {
            "name" => set_once(&mut fields.name, cursor.string()?),
            "timestamp" => set_once(&mut fields.time, self.time(cursor.scalar()?)?),
            "user_id" => set_once(&mut fields.user, user(cursor.scalar()?)?),
            "value" => set_once(&mut fields.value, value(cursor.scalar()?)?),
            "tags" => set_once(&mut fields.tags, self.tags(cursor)?),
            "properties" => set_once(&mut fields.properties, self.properties(cursor)?),
            _ => cursor.scalar().map(drop),
        })?;
        Some(fields)
    }

    fn time(&self, value: Scalar<'_>) -> Option<TimestampMs> {
        match value {
            Scalar::Null => Some(self.now),
            Scalar::Text(text) => time::parse_recorded(text, self.now).ok(),
            Scalar::Boolean(_) | Scalar::Number(_) => None,
        }
    }

    fn tags(&mut self, cursor: &mut Cursor<'b>) -> Option<()> {
        if !cursor.is_at(b'{') {
            return is_null(cursor.scalar()?).then_some(());
        }
        cursor.members(|cursor, key| {
            self.tags.push((key, cursor.string()?));
            Some(())
        })
    }

    fn properties(&mut self, cursor: &mut Cursor<'b>) -> Option<bool> {
        if !cursor.is_at(b'{') {
            return is_null(cursor.scalar()?).then_some(false);
        }
        self.properties.clear();
        copy_object(&mut self.properties, cursor, 1)?;
        Some(true)
    }
}

fn user(value: Scalar<'_>) -> Option<Option<&str>> {
    match value {
        Scalar::Null => Some(None),
        Scalar::Text(text) => Some(Some(text)),
        Scalar::Boolean(_) | Scalar::Number(_) => None,
    }
}

fn value(value: Scalar<'_>) -> Option<Option<f64>> {
    match value {
        Scalar::Null => Some(None),
        // JSON writers disagree about negative zero; adding zero makes it positive.
        Scalar::Number(value) => Some(Some(value + 0.0)),
        Scalar::Boolean(_) | Scalar::Text(_) => None,
    }
}

fn is_null(value: Scalar<'_>) -> bool {
    matches!(value, Scalar::Null)
}

/// Copies an object with `level` levels of objects and arrays around its members.
fn copy_object(writer: &mut PropertiesWriter, cursor: &mut Cursor<'_>, level: usize) -> Option<()> {
    writer.begin_object();
    cursor.members(|cursor, key| {
        writer.key(key);
        copy_value(writer, cursor, level)
    })?;
    writer.end_object();
    Some(())
}

fn copy_value(writer: &mut PropertiesWriter, cursor: &mut Cursor<'_>, level: usize) -> Option<()> {
    match cursor.peek()? {
        b'"' => writer.string(cursor.string()?),
        b'-' | b'0'..=b'9' => match cursor.exact_number()? {
            Number::Unsigned(value) => writer.unsigned(value),
            Number::Signed(value) => writer.integer(value),
            Number::Float(value) => writer.float(value),
        },
        b'{' | b'[' if level == PROPERTIES_NESTING_MAX => return None,
        b'{' => copy_object(writer, cursor, level + 1)?,
        b'[' => {
            writer.begin_array();
            cursor.elements(|cursor| copy_value(writer, cursor, level + 1))?;
            writer.end_array();
        }
        _ => match cursor.scalar()? {
            Scalar::Null => writer.null(),
            Scalar::Boolean(value) => writer.boolean(value),
            Scalar::Number(_) | Scalar::Text(_) => return None,
        },
    }
    Some(())
}
