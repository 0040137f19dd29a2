//! From the bytes of an SDK to occurrences that are ready to be stored.

use std::fmt;

use telltale_engine::{Memory, PropertiesWriter, TimestampMs};

use super::envelope::{Envelope, Item};
use super::event::parse_event_id;
use super::repair::with_event;
use crate::areas::errors::error::ErrorsError;
use crate::areas::errors::model::{GroupHash, Sender};
use crate::areas::errors::prepare::{Arrival, PreparedOccurrence, prepare};
use crate::areas::errors::scrub::Scrubber;
use crate::limits;
use crate::platform::json::reserve_document;

/// The kind of items that are errors.
pub(super) const EVENT: &str = "event";

/// What is needed to read what SDKs send.
pub(in crate::areas::errors) struct Intake<'a> {
    scrubber: &'a Scrubber,
    memory: &'a Memory,
    sender: Sender,
    project: u64,
    now: TimestampMs,
    /// Makes ids for events without one.
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

    /// The events of an envelope, and the id that it is answered with. Items of other kinds are passed over. An envelope that
    /// is damaged anywhere is refused as a whole.
    pub(in crate::areas::errors) fn envelope(
        &mut self,
        body: &[u8],
    ) -> Result<(Vec<PreparedOccurrence>, Option<u128>), ErrorsError> {
        let envelope = Envelope::open(body)?;
        let own_id = envelope.event_id.as_deref().and_then(parse_event_id);
        let items: Vec<Item<'_>> = envelope.collect::<Result<_, _>>()?;
        let mut events = Vec::new();
        for item in items.iter().filter(|item| item.kind == EVENT) {
            events.push(self.event(item.payload, own_id)?);
        }
        let id = own_id.or_else(|| events.first().map(|event| event.event_id));
        Ok((events, id))
    }

    /// One event, which has the id of its envelope where it has none itself.
    pub(in crate::areas::errors) fn event(
        &mut self,
        body: &[u8],
        own_id: Option<u128>,
    ) -> Result<PreparedOccurrence, ErrorsError> {
        if body.len() > limits::ERROR_EVENT_BYTES_MAX {
            return Err(ErrorsError::EventTooLarge);
        }
        let event_id = own_id.unwrap_or_else(|| (self.new_id)());
        let arrival =
            Arrival { sender: self.sender, project: self.project, event_id, now: self.now };
        let Self { scrubber, writer, memory, .. } = self;
        let _reserved = reserve_document(body, memory)?;
        let prepared = with_event(body, |mut occurrence| {
            occurrence.time = occurrence.time.filter(|time| is_within_reach(*time, arrival.now));
            prepare(&occurrence, arrival, scrubber, writer)
        })?;
        prepared.ok_or(ErrorsError::EventTooLarge)
    }
}

/// How many calls an envelope counts as: one for each event, none for items of other kinds. One that is damaged counts as one at
/// least, since it costs as much to read.
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

/// Whether an SDK can have told this time. Where its clock must be wrong, that of receipt is as good as any.
fn is_within_reach(time: TimestampMs, now: TimestampMs) -> bool {
    let oldest = now.0.saturating_sub(limits::ERROR_AGE_MS_MAX).max(0);
    let newest = now.0.saturating_add(limits::ERROR_AHEAD_MS_MAX);
    (oldest..=newest).contains(&time.0)
}

/// The hashes of the groups that the events of an envelope belong to, found as for an envelope that is stored: for those who
/// try what can be sent, or measure it.
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
