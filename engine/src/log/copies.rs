//! Second copies of definitions: where in the log they go.
//!
//! Much relies on the record that defines a series, so the log has it twice, and no damage of one [large
//! sector](LARGE_SECTOR_BYTES) takes both. A second copy behind padding would take a sector for every new series, so it waits instead:
//!
//! ```text
//! sector        │ definition │ write │ write │ write ... │ ... write │ second copy │
//!               └───────────── one sector ────────────┴── the next ──────────────┘
//! ```
//!
//! While a definition lies in one sector, and every write behind it begins in that sector, damage that takes the definition takes those
//! writes as well. The first write that begins in a later sector, or in another segment, brings the second copy with it, in one write to
//! the file and one sync: nobody is answered for a write that a single damage elsewhere can make unreadable. So
//!
//! - definitions that do not fit into what is left of a sector, and are short, begin in the next one;
//! - definitions that lie in several sectors have their copy behind the writes of their own group, with padding where these end in the
//!   last of those sectors;
//! - before a seal all copies are written, so both are on one side of its boundary; after a start, those that the end of the process
//!   kept from being written go with the first group.
//!
//! Where nothing is defined, nothing is added.

use super::record::{Definitions, encode_definitions, encode_padding};
use super::segment::{FRAME_HEADER_BYTES, LARGE_SECTOR_BYTES, frame_bytes};
use super::writer::LogPlace;

/// Definitions of at most so many bytes begin in the next sector where they would lie in two: padding is shorter than they are.
const SHORT_BYTES: u64 = LARGE_SECTOR_BYTES as u64 / 2;
/// Bytes of a frame with padding besides its zeros, where these are few.
const PADDING_FRAME_BYTES: u64 = FRAME_HEADER_BYTES as u64 + 3;

/// Definitions that the log has once.
#[derive(Debug, Default)]
pub(super) struct DefinitionCopies {
    pending: Definitions,
    /// Bytes of the names and tags of these.
    text_bytes: usize,
    /// Where they all are; none when that is a segment of an earlier process.
    sector: Option<Sector>,
}

/// A large sector of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sector {
    segment: u64,
    number: u64,
}

impl Sector {
    fn of(LogPlace { segment, offset }: LogPlace) -> Self {
        Self { segment, number: offset / LARGE_SECTOR_BYTES as u64 }
    }
}

/// What is written around the writes of a group.
#[derive(Debug)]
pub(super) struct GroupLayout {
    /// Keeps definitions from lying in two sectors.
    padding: Option<Vec<u8>>,
    definitions: Vec<Vec<u8>>,
    /// Keeps the second copy out of the sector in which the first one ends.
    padding_behind: Option<Vec<u8>>,
    /// Whether the definitions are written behind the group once more.
    again: bool,
    /// Definitions of groups before.
    pending: Vec<Vec<u8>>,
    /// Where the definitions are, if they wait for their copy.
    waiting: Option<Sector>,
}

impl GroupLayout {
    /// The records before the writes.
    pub(super) fn before(&self) -> Vec<&[u8]> {
        self.padding.iter().chain(&self.definitions).map(Vec::as_slice).collect()
    }

    /// The records behind the writes.
    pub(super) fn behind(&self) -> impl Iterator<Item = &[u8]> {
        let again = self.definitions.iter().filter(|_| self.again);
        self.padding_behind.iter().chain(again).chain(&self.pending).map(Vec::as_slice)
    }
}

impl DefinitionCopies {
    /// The log has only one copy of `defined_once`, in an earlier segment.
    pub(super) fn new(defined_once: Definitions) -> Self {
        Self { text_bytes: defined_once.text_bytes(), pending: defined_once, sector: None }
    }

    /// What goes around the `writes` of a group that is written at `place`, with `definitions` that these need.
    pub(super) fn lay_out<'w>(
        &self,
        place: LogPlace,
        definitions: &Definitions,
        writes: impl Iterator<Item = &'w [u8]>,
    ) -> GroupLayout {
        let definitions = encode_definitions(definitions);
        let mut at = place;
        let own_bytes = definitions.iter().map(|record| frame_bytes(record) as u64).sum();
        let padding = padding_before(at.offset, own_bytes);
        at.offset += padding.as_deref().map_or(0, frame_bytes) as u64;
        let first = Sector::of(at);
        at.offset += own_bytes;
        let last = Sector::of(LogPlace { offset: at.offset.saturating_sub(1), ..at });
        let mut last_write = Sector::of(at);
        for write in writes {
            last_write = Sector::of(at);
            at.offset += frame_bytes(write) as u64;
        }
        let defines = !definitions.is_empty();
        let waits = defines && first == last && last == last_write;
        let again = defines && !waits;
        let padding_behind = (again && Sector::of(at) == last).then(|| padding_to_next(at.offset));
        // Definitions that wait go on waiting as long as the writes begin in their sector: then the new ones are in it as well.
        let is_due = self.sector != Some(last_write);
        let pending = if is_due { encode_definitions(&self.pending) } else { Vec::new() };
        let waiting = waits.then_some(last);
        GroupLayout { padding, definitions, padding_behind, again, pending, waiting }
    }

    /// The group and what is around it are in the log.
    pub(super) fn written(&mut self, layout: &GroupLayout, definitions: Definitions) {
        if !layout.pending.is_empty() {
            self.clear();
        }
        if let Some(sector) = layout.waiting {
            self.text_bytes += definitions.text_bytes();
            self.pending.append(definitions);
            self.sector = Some(sector);
        }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.text_bytes + self.pending.table_bytes()
    }

    /// The records that bring all second copies into the log at `place`; none when they are there.
    pub(super) fn lay_out_rest(&self, place: LogPlace) -> Vec<Vec<u8>> {
        let mut records = encode_definitions(&self.pending);
        if !records.is_empty() && self.sector == Some(Sector::of(place)) {
            records.insert(0, padding_to_next(place.offset));
        }
        records
    }

    /// Nothing waits any more.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Padding that has short definitions of so many bytes begin in the next sector, where they would lie in two.
fn padding_before(offset: u64, bytes: u64) -> Option<Vec<u8>> {
    let left = to_next(offset);
    (left < bytes && bytes <= SHORT_BYTES).then(|| padding_to_next(offset))
}

/// Padding behind which a frame begins in the next sector.
fn padding_to_next(offset: u64) -> Vec<u8> {
    encode_padding(to_next(offset).saturating_sub(PADDING_FRAME_BYTES) as usize)
}

/// Bytes from `offset` to the next sector: those of a whole one at its beginning.
fn to_next(offset: u64) -> u64 {
    let sector = LARGE_SECTOR_BYTES as u64;
    sector - offset % sector
}
