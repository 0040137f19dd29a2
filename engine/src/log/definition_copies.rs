//! Second copies of definitions: their positions in the log.
//!
//! All records of a series depend on the record that defines it, so the log contains that one
//! twice, and no damage of one [large sector](LARGE_SECTOR_BYTES) hits both copies. A second copy
//! after padding would take a sector for every new series, so it is deferred instead:
//!
//! ```text
//! sector        │ definition │ write │ write │ write ... │ ... write │ second copy │
//!               └───────────── one sector ────────────┴── the next ──────────────┘
//! ```
//!
//! As long as a definition lies in one sector, and every write after it starts in that sector,
//! damage that hits the definition hits those writes as well. The first write that starts in a
//! later sector, or in another segment, is written together with the second copy, in one write to
//! the file and one sync: no write is acknowledged that a single damage elsewhere can make
//! unreadable. So
//!
//! - short definitions that do not fit into the rest of a sector start in the next one;
//! - definitions that span several sectors have their copy after the writes of their own group,
//!   with padding if these end in the last of those sectors;
//! - before a seal all pending copies are written, so both copies are on the same side of its
//!   boundary; after a start, copies that the end of the process prevented are written with the
//!   first group.
//!
//! Writes without definitions add nothing.

use super::record::{Definitions, encode_definitions, encode_padding};
use super::segment::{FRAME_HEADER_BYTES, LARGE_SECTOR_BYTES, frame_bytes};
use super::writer::LogPosition;

/// Definitions of at most this many bytes start in the next sector if they would span two: the
/// padding is shorter than they are.
const SHORT_BYTES: u64 = LARGE_SECTOR_BYTES as u64 / 2;
/// Bytes of a frame with padding besides its zeros, if these are few.
const PADDING_FRAME_BYTES: u64 = FRAME_HEADER_BYTES as u64 + 3;

/// Definitions of which the log has only one copy.
#[derive(Debug, Default)]
pub(super) struct DefinitionCopies {
    pending: Definitions,
    /// Bytes of their names and tags.
    string_bytes: usize,
    /// The sector that contains all of them, or `None` if that is in a segment of an earlier
    /// process.
    sector: Option<Sector>,
}

/// A large sector of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sector {
    segment: u64,
    number: u64,
}

impl Sector {
    fn of(LogPosition { segment, offset }: LogPosition) -> Self {
        Self { segment, number: offset / LARGE_SECTOR_BYTES as u64 }
    }
}

/// The records written before and after the writes of a group.
#[derive(Debug)]
pub(super) struct GroupLayout {
    /// Keeps definitions from spanning two sectors.
    padding: Option<Vec<u8>>,
    definitions: Vec<Vec<u8>>,
    /// Keeps the second copy out of the sector in which the first one ends.
    padding_after: Option<Vec<u8>>,
    /// Whether the second copy of the definitions is written after the group.
    copy_follows: bool,
    /// Pending definitions of earlier groups.
    pending: Vec<Vec<u8>>,
    /// The sector of the definitions, if their copy is deferred.
    deferred_in: Option<Sector>,
}

impl GroupLayout {
    /// Returns the records before the writes.
    pub(super) fn before(&self) -> Vec<&[u8]> {
        self.padding.iter().chain(&self.definitions).map(Vec::as_slice).collect()
    }

    /// Returns the records after the writes.
    pub(super) fn after(&self) -> impl Iterator<Item = &[u8]> {
        let copies = self.definitions.iter().filter(|_| self.copy_follows);
        self.padding_after.iter().chain(copies).chain(&self.pending).map(Vec::as_slice)
    }
}

impl DefinitionCopies {
    /// Starts with `defined_once`, of which the log has only one copy, in an earlier segment.
    pub(super) fn new(defined_once: Definitions) -> Self {
        Self { string_bytes: defined_once.string_bytes(), pending: defined_once, sector: None }
    }

    /// Returns the records around the `writes` of a group at `position`, which need `definitions`.
    pub(super) fn lay_out<'w>(
        &self,
        position: LogPosition,
        definitions: &Definitions,
        writes: impl Iterator<Item = &'w [u8]>,
    ) -> GroupLayout {
        let definitions = encode_definitions(definitions);
        let mut at = position;
        let definition_bytes = definitions.iter().map(|record| frame_bytes(record) as u64).sum();
        let padding = padding_before(at.offset, definition_bytes);
        at.offset += padding.as_deref().map_or(0, frame_bytes) as u64;
        let first = Sector::of(at);
        at.offset += definition_bytes;
        let last = Sector::of(LogPosition { offset: at.offset.saturating_sub(1), ..at });
        let mut last_write = Sector::of(at);
        for write in writes {
            last_write = Sector::of(at);
            at.offset += frame_bytes(write) as u64;
        }
        let defines = !definitions.is_empty();
        let is_deferred = defines && first == last && last == last_write;
        let copy_follows = defines && !is_deferred;
        let padding_after =
            (copy_follows && Sector::of(at) == last).then(|| padding_to_next(at.offset));
        // Pending definitions stay pending as long as the writes start in their sector: then the
        // new ones are in it as well.
        let is_due = self.sector != Some(last_write);
        let pending = if is_due { encode_definitions(&self.pending) } else { Vec::new() };
        let deferred_in = is_deferred.then_some(last);
        GroupLayout { padding, definitions, padding_after, copy_follows, pending, deferred_in }
    }

    /// Records that the group and its layout are in the log.
    pub(super) fn written(&mut self, layout: &GroupLayout, definitions: Definitions) {
        if !layout.pending.is_empty() {
            self.clear();
        }
        if let Some(sector) = layout.deferred_in {
            self.string_bytes += definitions.string_bytes();
            self.pending.append(definitions);
            self.sector = Some(sector);
        }
    }

    /// Returns the memory used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.string_bytes + self.pending.table_bytes()
    }

    /// Returns the records that write all pending second copies at `position`; none if nothing is
    /// pending.
    pub(super) fn lay_out_rest(&self, position: LogPosition) -> Vec<Vec<u8>> {
        let mut records = encode_definitions(&self.pending);
        if !records.is_empty() && self.sector == Some(Sector::of(position)) {
            records.insert(0, padding_to_next(position.offset));
        }
        records
    }

    /// Forgets all pending definitions.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Returns padding that makes short definitions of this many bytes start in the next sector, if
/// they would span two.
fn padding_before(offset: u64, bytes: u64) -> Option<Vec<u8>> {
    let left = to_next(offset);
    (left < bytes && bytes <= SHORT_BYTES).then(|| padding_to_next(offset))
}

/// Returns padding after which a frame starts in the next sector.
fn padding_to_next(offset: u64) -> Vec<u8> {
    // Where less than a frame is left, an empty one ends in the next sector.
    encode_padding(to_next(offset).saturating_sub(PADDING_FRAME_BYTES) as usize)
}

/// Returns the bytes from `offset` to the next sector: a whole sector if it is at the start of one.
fn to_next(offset: u64) -> u64 {
    let sector = LARGE_SECTOR_BYTES as u64;
    sector - offset % sector
}
