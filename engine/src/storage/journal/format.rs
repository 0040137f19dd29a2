//! The format of RocksDB's logs, which its manifests share.
//!
//! ```text
//! log        blocks of 32 KB; nothing begins in the last 6 bytes of one
//! fragment   masked CRC-32C of type and payload: u32 │ length of the payload: u16 │ type: u8 │ payload
//!            type: 1 a whole record, 2 the first fragment of one, 3 one in between, 4 the last one
//! record     the payloads of its fragments; a fragment never reaches over the end of its block
//! ```
//!
//! A header of zeros says that nothing follows in its block. That is what the end of a file looks like that was longer than what was
//! written to it. The writer leaves no such block before its last record, so zeros with a record behind them are damage.
//!
//! After a fragment that fails its checksum the reader goes on where the length says that the next one begins, if one does,
//! otherwise at the first place in the block where a fragment has its checksum, otherwise at the next block. In the last block a
//! fragment that reaches beyond the end of the file, with nothing readable behind it, is a write that was cut, not damage.

use std::borrow::Cow;

/// Bytes of a block.
const BLOCK_BYTES: usize = 32 << 10;
/// Bytes of the header of a fragment.
pub(super) const HEADER_BYTES: usize = 7;

pub(super) const WHOLE: u8 = 1;
pub(super) const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;
/// Types whose header is longer, by the number of the log: of logs that are used again. We have that switched off.
const RECYCLED: [u8; 6] = [5, 6, 7, 8, 11, 131];
const LOG_NUMBER_BYTES: usize = 4;

/// What is in a log, in order.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Item<'a> {
    /// A record, and where its first fragment begins.
    Record { at: usize, bytes: Cow<'a, [u8]> },
    /// Bytes that belong to no record: those of damaged ones, and the fragments that are left of them.
    Damaged { from: usize, to: usize },
}

/// A fragment that is whole, of a type that we do not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Foreign(pub(in super::super) u8);

/// Reads a log.
#[derive(Debug)]
pub(in super::super) struct Records<'a> {
    log: &'a [u8],
    at: usize,
    /// The record whose last fragment has not come yet: where it begins, and what there is of it.
    open: Option<(usize, Vec<u8>)>,
    /// Where zeros began that reached to the end of their block.
    zeros: Option<usize>,
    damage: Option<(usize, usize)>,
    /// A record that was read and comes after the damage before it.
    ready: Option<(usize, Cow<'a, [u8]>)>,
    done: bool,
}

/// What comes next in a log.
enum Next<'a> {
    Fragment {
        kind: u8,
        payload: &'a [u8],
        at: usize,
    },
    /// Nothing that can be read until `at`, where the reader goes on.
    Bad {
        from: usize,
    },
    /// Zeros to the end of the block.
    Zeros {
        from: usize,
    },
    Foreign(u8),
    End,
}

/// What the bytes at one place are.
enum Header<'a> {
    Good {
        kind: u8,
        payload: &'a [u8],
    },
    Foreign(u8),
    /// Its checksum differs, and this is where it says that it ends.
    Damaged {
        end: usize,
    },
    /// It reaches beyond the end of its block.
    Long,
}

impl<'a> Records<'a> {
    pub(in super::super) fn of(log: &'a [u8]) -> Self {
        let (open, zeros, damage, ready) = (None, None, None, None);
        Self { log, at: 0, open, zeros, damage, ready, done: false }
    }

    fn physical(&mut self) -> Next<'a> {
        loop {
            let from = self.at;
            let block_end = block_end(from).min(self.log.len());
            let rest = self.log.get(from..block_end).unwrap_or_default();
            if rest.is_empty() {
                return Next::End;
            }
            if rest.len() < HEADER_BYTES {
                self.at = block_end;
                continue;
            }
            match header(rest) {
                Header::Good { kind, payload } => {
                    self.at = from + HEADER_BYTES + payload.len();
                    return Next::Fragment { kind, payload, at: from };
                }
                Header::Foreign(kind) => return Next::Foreign(kind),
                _ if rest.iter().all(|byte| *byte == 0) => {
                    self.at = block_end;
                    return Next::Zeros { from };
                }
                Header::Damaged { end } if follows_well(rest, end) => self.at = from + end,
                Header::Damaged { .. } => self.at = from + next_good(rest).unwrap_or(rest.len()),
                Header::Long => match next_good(rest) {
                    Some(found) => self.at = from + found,
                    None => {
                        self.at = block_end;
                        if rest.len() + from % BLOCK_BYTES < BLOCK_BYTES {
                            return Next::End;
                        }
                    }
                },
            }
            return Next::Bad { from };
        }
    }

    /// Notes that the bytes between belong to no record. What was open ends with them.
    fn spoil(&mut self, from: usize, to: usize) {
        let from = self.open.take().map_or(from, |(begin, _)| begin);
        let (first, last) = self.damage.unwrap_or((from, to));
        self.damage = Some((first.min(from), last.max(to)));
    }

    fn take_fragment(&mut self, kind: u8, payload: &'a [u8], at: usize) {
        if let Some(zeros) = self.zeros.take() {
            self.spoil(zeros, at);
        }
        if matches!(kind, WHOLE | FIRST) && self.open.as_ref().is_some_and(|(_, b)| b.is_empty()) {
            // An empty first fragment is left behind by a writer that found the block full.
            self.open = None;
        }
        match (kind, &mut self.open) {
            (WHOLE | FIRST, Some(_)) => {
                self.spoil(at, at);
                self.take_fragment(kind, payload, at);
            }
            (WHOLE, None) => self.ready = Some((at, Cow::Borrowed(payload))),
            (FIRST, None) => self.open = Some((at, payload.to_vec())),
            (_, Some((_, bytes))) => {
                bytes.extend_from_slice(payload);
                if kind == LAST {
                    self.ready = self.open.take().map(|(begin, bytes)| (begin, bytes.into()));
                }
            }
            (_, None) => self.spoil(at, at + HEADER_BYTES + payload.len()),
        }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Item<'a>, Foreign>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.done || self.ready.is_some() {
                if let Some((from, to)) = self.damage.take() {
                    return Some(Ok(Item::Damaged { from, to }));
                }
                let (at, bytes) = self.ready.take()?;
                return Some(Ok(Item::Record { at, bytes }));
            }
            match self.physical() {
                Next::Fragment { kind, payload, at } => self.take_fragment(kind, payload, at),
                Next::Bad { from } => {
                    let from = self.zeros.take().unwrap_or(from);
                    self.spoil(from, self.at);
                }
                Next::Zeros { from } if self.open.is_some() => self.spoil(from, self.at),
                Next::Zeros { from } => {
                    self.zeros.get_or_insert(from);
                }
                Next::Foreign(kind) => {
                    self.done = true;
                    self.damage = None;
                    return Some(Err(Foreign(kind)));
                }
                // What is open now was cut, and what is zeros was never written.
                Next::End => self.done = true,
            }
        }
    }
}

/// Appends a record to a log.
pub(in super::super) fn put_record(log: &mut Vec<u8>, record: &[u8]) {
    let mut rest = record;
    let mut first = true;
    loop {
        let mut room = block_end(log.len()) - log.len();
        if room < HEADER_BYTES {
            log.resize(log.len() + room, 0);
            room = BLOCK_BYTES;
        }
        let (payload, left) = rest.split_at(rest.len().min(room - HEADER_BYTES));
        let kind = match (first, left.is_empty()) {
            (true, true) => WHOLE,
            (true, false) => FIRST,
            (false, false) => MIDDLE,
            (false, true) => LAST,
        };
        log.extend_from_slice(&checksum(kind, payload).to_le_bytes());
        log.extend_from_slice(&(payload.len() as u16).to_le_bytes());
        log.push(kind);
        log.extend_from_slice(payload);
        (rest, first) = (left, false);
        if rest.is_empty() {
            return;
        }
    }
}

/// The checksum of a fragment. Masked, since a log may hold bytes with checksums of their own.
pub(crate) fn checksum(kind: u8, payload: &[u8]) -> u32 {
    masked(crc32c::crc32c_append(crc32c::crc32c(&[kind]), payload))
}

fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Where the block ends that the place is in.
fn block_end(at: usize) -> usize {
    (at / BLOCK_BYTES + 1) * BLOCK_BYTES
}

/// Reads the header at the beginning of `rest`, which is the rest of a block.
fn header(rest: &[u8]) -> Header<'_> {
    let Some(([c0, c1, c2, c3, low, high, kind], body)) = rest.split_first_chunk() else {
        return Header::Long;
    };
    let stored = u32::from_le_bytes([*c0, *c1, *c2, *c3]);
    let length = usize::from(u16::from_le_bytes([*low, *high]));
    if RECYCLED.contains(kind)
        && body.get(..length + LOG_NUMBER_BYTES).is_some_and(|b| checksum(*kind, b) == stored)
    {
        return Header::Foreign(*kind);
    }
    match body.get(..length) {
        None => Header::Long,
        Some(payload) if checksum(*kind, payload) != stored => {
            Header::Damaged { end: HEADER_BYTES + length }
        }
        Some(payload) if (WHOLE..=LAST).contains(kind) => Header::Good { kind: *kind, payload },
        Some(_) => Header::Foreign(*kind),
    }
}

fn is_good(rest: &[u8]) -> bool {
    matches!(header(rest), Header::Good { .. } | Header::Foreign(_))
}

/// Whether something follows at `end` that can follow a fragment: another one, or the end of the block.
fn follows_well(rest: &[u8], end: usize) -> bool {
    let behind = rest.get(end..).unwrap_or_default();
    behind.len() < HEADER_BYTES || is_good(behind) || behind.iter().all(|byte| *byte == 0)
}

/// Where in the rest of a block the first fragment is that has its checksum.
fn next_good(rest: &[u8]) -> Option<usize> {
    let last = rest.len().checked_sub(HEADER_BYTES)?;
    (1..=last).find(|at| {
        let rest = rest.get(*at..).unwrap_or_default();
        // Only our own types, and quickly: any four bytes may be a checksum, few are followed by such a type.
        rest.get(HEADER_BYTES - 1).is_some_and(|kind| (WHOLE..=LAST).contains(kind))
            && is_good(rest)
    })
}
