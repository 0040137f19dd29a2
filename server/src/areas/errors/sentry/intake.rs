//! Turns the bytes that an SDK sends into occurrences that are ready to be stored.

use std::fmt;

use telltale_engine::{Memory, PropertiesWriter, TimestampMs};

use super::envelope::{Envelope, Item};
use super::repair::with_event;
use crate::areas::errors::error::ErrorsError;
use crate::areas::errors::event_id::parse_event_id;
use crate::areas::errors::model::{GroupHash, Sender};
use crate::areas::errors::prepare::{Arrival, PreparedOccurrence, prepare};
use crate::areas::errors::scrub::Scrubber;
use crate::limits;
use crate::platform::json::reserve_document;

/// The type of items that are errors.
pub(super) const EVENT: &str = "event";

/// The context for parsing what an SDK sends.
pub(in crate::areas::errors) struct Intake<'a> {
    scrubber: &'a Scrubber,
    memory: &'a Memory,
    sender: Sender,
    project: u64,
    now: TimestampMs,
    /// Returns an id for an event without one.
    new_id: &'a dyn Fn() -> u128,
    writer: PropertiesWriter,
}

impl<'a> Intake<'a> {
    pub(in crate::areas::errors) fn new(
        scrubber: &'a Scrubber,
        memory: &'a Memory,
        (sender, project): (Sender, u64),
        now: TimestampMs,
        new_id: &'a dyn Fn() -> u128,
    ) -> Self {
        Self { scrubber, memory, sender, project, now, new_id, writer: PropertiesWriter::default() }
    }

    /// Returns the events of an envelope, and the id for the response. Skips items of other types.
    /// Returns an error if any part of the envelope is invalid.
    pub(in crate::areas::errors) fn envelope(
        &mut self,
        body: &[u8],
    ) -> Result<(Vec<PreparedOccurrence>, Option<u128>), ErrorsError> {
        let envelope = Envelope::open(body)?;
        let envelope_id = envelope.event_id.as_deref().and_then(parse_event_id);
        let items: Vec<Item<'_>> = envelope.collect::<Result<_, _>>()?;
        let mut events = Vec::new();
        for item in items.iter().filter(|item| item.kind == EVENT) {
            events.push(self.event(item.payload, envelope_id)?);
        }
        let id = envelope_id.or_else(|| events.first().map(|event| event.event_id));
        Ok((events, id))
    }

    /// Returns one event. If it has no id, it gets the envelope's id, or a new one.
    pub(in crate::areas::errors) fn event(
        &mut self,
        body: &[u8],
        envelope_id: Option<u128>,
    ) -> Result<PreparedOccurrence, ErrorsError> {
        if body.len() > limits::ERROR_EVENT_BYTES_MAX {
            return Err(ErrorsError::EventTooLarge);
        }
        let event_id = envelope_id.unwrap_or_else(|| (self.new_id)());
        let arrival =
            Arrival { sender: self.sender, project: self.project, event_id, now: self.now };
        let Self { scrubber, writer, memory, .. } = self;
        let _reserved = reserve_document(body, memory)?;
        let prepared = with_event(body, |mut occurrence| {
            occurrence.time = occurrence.time.filter(|time| is_plausible_time(*time, arrival.now));
            prepare(&occurrence, arrival, scrubber, writer)
        })?;
        prepared.ok_or(ErrorsError::EventTooLarge)
    }
}

/// Returns how many requests an envelope counts as: one for each event, none for other items. An
/// invalid envelope counts as at least one, since it costs as much to parse.
pub(super) fn calls_of(body: &[u8]) -> u32 {
    let Ok(envelope) = Envelope::open(body) else { return 1 };
    let (mut events, mut is_damaged) = (0_u32, false);
    for item in envelope {
        match item {
            Ok(item) => events = events.saturating_add(u32::from(item.kind == EVENT)),
            Err(_) => is_damaged = true,
        }
    }
    if is_damaged { events.max(1) } else { events }
}

/// Returns whether an event time is plausible. Otherwise the sender's clock is wrong, and the time
/// of receipt is used.
fn is_plausible_time(time: TimestampMs, now: TimestampMs) -> bool {
    let oldest = now.0.saturating_sub(limits::ERROR_AGE_MS_MAX).max(0);
    let newest = now.0.saturating_add(limits::ERROR_AHEAD_MS_MAX);
    (oldest..=newest).contains(&time.0)
}

/// Returns the group hashes of the events in an envelope, parsed in the same way as for storage.
/// Used by fuzz targets and benchmarks.
pub fn examine(body: &[u8], scrub_keys: &[String]) -> Result<Vec<GroupHash>, ErrorsError> {
    let scrubber = Scrubber::new(scrub_keys);
    let (memory, origin) = (Memory::unlimited(), (Sender::UNKNOWN, 0));
    let mut intake = Intake::new(&scrubber, &memory, origin, TimestampMs(0), &|| 0);
    let (events, _) = intake.envelope(body)?;
    Ok(events.iter().map(|event| event.hashes.current).collect())
}

impl fmt::Debug for Intake<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intake").field("project", &self.project).finish_non_exhaustive()
    }
}
