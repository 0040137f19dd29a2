//! New events as JSON: `{"data":[event…],"meta":{"cursor","missed"}}`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use telltale_engine::{Error, Memory};

use super::model::{Tail, TailCursor};
use crate::areas::events::error::EventsError;
use crate::areas::events::render::{event_bytes, write_events};
use crate::areas::events::wire::event_schema;
use crate::platform::json::{self, ChargedJson};

/// The schema of a response with new events.
pub(super) enum TailAnswer {}

/// Writes new events.
pub(super) fn response(
    tail: &Tail,
    cursor: TailCursor,
    memory: &Memory,
) -> Result<ChargedJson, EventsError> {
    let mut text = ChargedJson::new(memory);
    let written = text.write(128 + event_bytes(&tail.page.events), |out| {
        out.extend_from_slice(br#"{"data":"#);
        write_events(out, &tail.page.events);
        out.extend_from_slice(br#","meta":{"cursor":"#);
        json::string(out, &cursor.to_string());
        out.extend_from_slice(br#","missed":"#);
        if tail.is_restarted {
            out.extend_from_slice(b"null");
        } else {
            json::unsigned(out, tail.page.missed);
        }
        out.extend_from_slice(b"}}");
    });
    written.map_err(Error::from)?;
    Ok(text)
}

impl JsonSchema for TailAnswer {
    fn schema_name() -> Cow<'static, str> {
        "EventTail".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "required": ["data", "meta"],
            "properties": {
                "data": {
                    "type": "array",
                    "description": "In the order in which they were stored.",
                    "items": event_schema()
                },
                "meta": {
                    "type": "object",
                    "required": ["cursor", "missed"],
                    "properties": {
                        "cursor": { "type": "string", "description": "The value of `after` for the next request." },
                        "missed": {
                            "type": ["integer", "null"],
                            "description": "The number of events, matching or not, that were stored after the cursor but cannot be followed any more; lists contain them. null if the server has been restarted since."
                        }
                    }
                }
            }
        })
    }
}
