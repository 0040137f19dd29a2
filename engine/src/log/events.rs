//! The section of a log record that contains events.
//!
//! ```text
//! strings: varint, each: string
//! rows: varint, each:
//!   has: u8             1 user, 2 value, 4 properties
//!   received, number, time: signed, each less that of the previous row
//!   name: varint        index of a string
//!   user: varint        if present
//!   value: u64          the bits, if present
//!   tags: varint, each: key: varint │ value: varint
//!   properties: string  if present
//! ```

use crate::codec::bytes::{Reader, put_bytes, put_signed, put_varint};
use crate::codec::{CodecError, CodecResult};
use crate::limits;
use crate::model::{EventId, EventRow, EventRows, StringId, TimestampMs, event_day};

const HAS_USER: u8 = 1;
const HAS_VALUE: u8 = 2;
const HAS_PROPERTIES: u8 = 4;

/// Minimum bytes of a row, which has only a name.
const ROW_BYTES_MIN: usize = 6;

/// Appends the encoding of all rows to `out`.
pub(super) fn encode(rows: &EventRows, out: &mut Vec<u8>) {
    put_varint(out, rows.texts().len() as u64);
    rows.texts().iter().for_each(|string| put_bytes(out, string.as_bytes()));
    put_varint(out, rows.len() as u64);
    let (mut received, mut number, mut time) = (0i64, 0u64, 0i64);
    for index in 0..rows.len() {
        let Some(row) = rows.row(index) else {
            unreachable!("there are {} rows, and {index} is below", rows.len())
        };
        let has = row.user.map_or(0, |_| HAS_USER)
            | row.value.map_or(0, |_| HAS_VALUE)
            | if row.properties.is_empty() { 0 } else { HAS_PROPERTIES };
        out.push(has);
        put_signed(out, row.id.received().0.wrapping_sub(received));
        put_signed(out, row.id.number().wrapping_sub(number) as i64);
        put_signed(out, row.time.wrapping_sub(time));
        (received, number, time) = (row.id.received().0, row.id.number(), row.time);
        put_varint(out, u64::from(row.name.0));
        if let Some(user) = row.user {
            put_varint(out, u64::from(user.0));
        }
        if let Some(value) = row.value {
            out.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        put_varint(out, row.tags.len() as u64);
        for (key, value) in row.tags {
            put_varint(out, u64::from(key.0));
            put_varint(out, u64::from(value.0));
        }
        if !row.properties.is_empty() {
            put_bytes(out, row.properties.as_bytes());
        }
    }
}

/// Decodes what [`encode`] wrote.
pub(super) fn decode(reader: &mut Reader<'_>) -> CodecResult<EventRows> {
    let mut rows = EventRows::default();
    let strings = reader.count("strings", reader.rest().len())?;
    for expected in 0..strings {
        if rows.intern(reader.text()?).0 as usize != expected {
            return Err(CodecError::new("duplicate string"));
        }
    }
    let string_id = |reader: &mut Reader<'_>| match u32::try_from(reader.varint()?) {
        Ok(id) if (id as usize) < strings => Ok(StringId(id)),
        _ => Err(CodecError::new("an event refers to an unknown string")),
    };
    let (mut received, mut number, mut time) = (0i64, 0u64, 0i64);
    let mut tags = Vec::new();
    for _ in 0..reader.count("events", reader.rest().len() / ROW_BYTES_MIN)? {
        let has = reader.u8()?;
        if has > (HAS_USER | HAS_VALUE | HAS_PROPERTIES) {
            return Err(CodecError::new("unknown field of an event"));
        }
        received = received.wrapping_add(reader.signed()?);
        number = number.wrapping_add(reader.signed()? as u64);
        time = time.wrapping_add(reader.signed()?);
        if event_day(TimestampMs(time)).is_none() {
            return Err(CodecError::new("the time of an event is out of range"));
        }
        let name = string_id(reader)?;
        let user = if has & HAS_USER == 0 { None } else { Some(string_id(reader)?) };
        let value = if has & HAS_VALUE == 0 { None } else { Some(reader.f64()?) };
        if value.is_some_and(|value| !value.is_finite()) {
            return Err(CodecError::new("the value of an event is not finite"));
        }
        tags.clear();
        for _ in 0..reader.count("tags", limits::TAGS_MAX)? {
            let (key, value) = (string_id(reader)?, string_id(reader)?);
            // No block has two tags with one key, so it would be refused over and over.
            if tags.iter().any(|(other, _)| *other == key) {
                return Err(CodecError::new("an event has a tag twice"));
            }
            tags.push((key, value));
        }
        let properties = if has & HAS_PROPERTIES == 0 { "" } else { reader.text()? };
        rows.push_row(&EventRow {
            id: EventId::new(TimestampMs(received), number),
            time,
            name,
            user,
            value,
            tags: &tags,
            properties,
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Event, NewEvent, Properties};

    fn event() -> impl Strategy<Value = (Event, u64)> {
        let tags = proptest::collection::btree_map("[a-d]", "[a-c]{0,2}", 0..4);
        let value = proptest::option::of(-1e9f64..1e9);
        let user = proptest::option::of("u[0-9]{1,2}");
        (("[a-c.]{1,4}", 0i64..1 << 40, user, value), tags, any::<Option<i32>>(), any::<u64>())
            .prop_map(|((name, time, user, value), tags, property, number)| {
                let event = Event {
                    id: EventId::new(TimestampMs(time / 2), number),
                    name,
                    time: TimestampMs(time),
                    user,
                    value,
                    tags: tags.into_iter().collect(),
                    properties: property.map(|p| format!("{{\"p\":{p}}}")),
                };
                (event, number)
            })
    }

    fn rows_of(events: &[Event]) -> EventRows {
        let mut rows = EventRows::default();
        for event in events {
            let tags: Vec<(&str, &str)> =
                event.tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            let properties = event.properties.as_deref().map(|p| Properties::parse(p).unwrap());
            let new = NewEvent {
                name: &event.name,
                time: event.time,
                user: event.user.as_deref(),
                value: event.value,
                tags: &tags,
                properties: properties.as_ref(),
            };
            rows.push(event.id, &new);
        }
        rows
    }

    #[test]
    fn events_have_golden_bytes() {
        let plain = Event {
            id: EventId::new(TimestampMs(1_000), 7),
            name: "b".into(),
            time: TimestampMs(900),
            user: None,
            value: None,
            tags: vec![],
            properties: None,
        };
        let full = Event {
            id: EventId::new(TimestampMs(1_000), 8),
            time: TimestampMs(903),
            user: Some("u".into()),
            value: Some(1.0),
            tags: vec![("k".into(), "b".into())],
            properties: Some("{}".into()),
            ..plain.clone()
        };
        let mut bytes = Vec::new();
        encode(&rows_of(&[plain, full]), &mut bytes);
        let strings = [3, 1, b'b', 1, b'u', 1, b'k'];
        // Differences to the previous event: 1000, 7, 900, then 0, 1, 3; signed numbers are
        // doubled.
        let plain = [0, 0xd0, 0x0f, 14, 0x88, 0x0e, 0, 0];
        let full = [7, 0, 2, 6, 0, 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 1, 2, 0, 2, b'{', b'}'];
        assert_eq!(bytes, [&strings[..], &[2], &plain, &full].concat());
    }

    #[test]
    fn an_event_before_1970_is_refused() {
        let event = |time| Event {
            id: EventId::new(TimestampMs(5), 1),
            name: "a".into(),
            time: TimestampMs(time),
            user: None,
            value: None,
            tags: vec![],
            properties: None,
        };
        for (time, valid) in [(0, true), (-1, false), (i64::MAX, false)] {
            let mut bytes = Vec::new();
            encode(&rows_of(&[event(time)]), &mut bytes);
            assert_eq!(decode(&mut Reader::new(&bytes)).is_ok(), valid, "{time}");
        }
    }

    #[test]
    fn an_event_with_a_tag_twice_is_refused() {
        for (keys, valid) in [(["k", "l"], true), (["k", "k"], false)] {
            let mut rows = EventRows::default();
            let name = rows.intern("name");
            let tags = keys.map(|key| (rows.intern(key), name));
            rows.push_row(&EventRow {
                id: EventId::new(TimestampMs(5), 1),
                time: 5,
                name,
                user: None,
                value: None,
                tags: &tags,
                properties: "",
            });
            let mut bytes = Vec::new();
            encode(&rows, &mut bytes);
            assert_eq!(decode(&mut Reader::new(&bytes)).is_ok(), valid, "{keys:?}");
        }
    }

    #[test]
    fn the_largest_event_round_trips() {
        let string =
            |chars: usize, first: usize| format!("{first:03}") + &"\u{1f3d4}".repeat(chars - 3);
        let tags: Vec<(String, String)> = (0..limits::TAGS_MAX)
            .map(|tag| {
                (string(limits::TAG_KEY_CHARS_MAX, tag), string(limits::TAG_VALUE_CHARS_MAX, tag))
            })
            .collect();
        let property = "x".repeat(limits::PROPERTIES_BYTES_MAX - r#"{"a":""}"#.len());
        let event = Event {
            id: EventId::new(TimestampMs((1 << 48) - 1), u64::MAX),
            name: string(limits::NAME_CHARS_MAX, 0),
            time: TimestampMs((i64::from(u32::MAX) + 1) * 86_400_000 - 1),
            user: Some(string(limits::USER_CHARS_MAX, 0)),
            value: Some(f64::MAX),
            tags,
            properties: Some(format!(r#"{{"a":"{property}"}}"#)),
        };
        let mut bytes = Vec::new();
        encode(&rows_of(std::slice::from_ref(&event)), &mut bytes);
        assert_eq!(decode(&mut Reader::new(&bytes)).unwrap().event(0), Some(event));
    }

    proptest! {
        #[test]
        fn any_events_round_trip(events in proptest::collection::vec(event(), 0..30)) {
            let events: Vec<Event> = events.into_iter().map(|(event, _)| event).collect();
            let mut bytes = Vec::new();
            encode(&rows_of(&events), &mut bytes);
            let mut reader = Reader::new(&bytes);
            let rows = decode(&mut reader).unwrap();
            prop_assert!(reader.finish().is_ok());
            let read: Vec<Event> = (0..rows.len()).filter_map(|row| rows.event(row)).collect();
            prop_assert_eq!(read, events);
        }

        #[test]
        fn any_bytes_are_an_error_or_events(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _outcome = decode(&mut Reader::new(&bytes));
        }
    }
}
