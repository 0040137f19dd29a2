//! The format of RocksDB's logs, which its manifests share.
//!
//! ```text
//! log        blocks of 32 KB; nothing starts in the last 6 bytes of one
//! fragment   masked CRC-32C of type and payload: u32 │ payload length: u16 │ type: u8 │ payload
//!            type: 1 whole record, 2 first fragment, 3 middle fragment, 4 last fragment
//! record     the payloads of its fragments; a fragment never crosses the end of its block
//! ```
//!
//! A header of zeros means that the rest of its block is empty. That is how the end of a file looks
//! that was preallocated beyond what was written. The writer leaves no such block before its last
//! record, so zeros followed by a record are damage.
//!
//! After a fragment with a wrong checksum the reader continues where its length says that the next
//! one starts, if a fragment starts there; otherwise at the first position in the block where a
//! fragment has a correct checksum; otherwise at the next block. In the last block, a fragment that
//! extends beyond the end of the file with nothing readable after it is a write that was cut off,
//! not damage.

use std::borrow::Cow;

/// Bytes of a block.
const BLOCK_BYTES: usize = 32 << 10;
/// Bytes of the header of a fragment.
pub(super) const HEADER_BYTES: usize = 7;

pub(super) const WHOLE: u8 = 1;
pub(super) const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;
/// Types with a longer header, which includes the number of the log: those of recycled logs, which
/// Telltale disables.
const RECYCLED: [u8; 6] = [5, 6, 7, 8, 11, 131];
const LOG_NUMBER_BYTES: usize = 4;

/// One part of a log. The parts are read in order.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum LogItem<'a> {
    /// A record, and the offset of its first fragment.
    Record { at: usize, bytes: Cow<'a, [u8]> },
    /// Bytes that belong to no record: damaged fragments, and the remaining fragments of damaged
    /// records.
    Damaged { from: usize, to: usize },
}

/// The type of an undamaged fragment that Telltale does not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Foreign(pub(in super::super) u8);

/// Reads a log record by record.
#[derive(Debug)]
pub(in super::super) struct LogReader<'a> {
    log: &'a [u8],
    at: usize,
    /// The record whose last fragment has not been read yet: its offset, and its bytes so far.
    open: Option<(usize, Vec<u8>)>,
    /// The start of zeros that extend to the end of their block.
    zeros: Option<usize>,
    damage: Option<(usize, usize)>,
    /// A record that was read and is returned after the damage before it.
    ready: Option<(usize, Cow<'a, [u8]>)>,
    done: bool,
}

/// The next part of a log.
enum Next<'a> {
    Fragment {
        kind: u8,
        payload: &'a [u8],
        at: usize,
    },
    /// Unreadable bytes up to `at`, where the reader continues.
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

/// What the bytes at one position are.
enum Header<'a> {
    Good {
        kind: u8,
        payload: &'a [u8],
    },
    Foreign(u8),
    /// Its checksum is wrong; `end` is where it ends according to its length.
    Damaged {
        end: usize,
    },
    /// It extends beyond the end of its block.
    Long,
}

impl<'a> LogReader<'a> {
    pub(in super::super) fn of(log: &'a [u8]) -> Self {
        let (open, zeros, damage, ready) = (None, None, None, None);
        Self { log, at: 0, open, zeros, damage, ready, done: false }
    }

    fn next_fragment(&mut self) -> Next<'a> {
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
                Header::Damaged { end } if can_follow(rest, end) => self.at = from + end,
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

    /// Records that the bytes between belong to no record. This ends the record being read.
    fn add_damage(&mut self, from: usize, to: usize) {
        let from = self.open.take().map_or(from, |(start, _)| start);
        let (first, last) = self.damage.unwrap_or((from, to));
        self.damage = Some((first.min(from), last.max(to)));
    }

    fn take_fragment(&mut self, kind: u8, payload: &'a [u8], at: usize) {
        if let Some(zeros) = self.zeros.take() {
            self.add_damage(zeros, at);
        }
        if matches!(kind, WHOLE | FIRST) && self.open.as_ref().is_some_and(|(_, b)| b.is_empty()) {
            // A writer that finds the block full leaves an empty first fragment.
            self.open = None;
        }
        match (kind, &mut self.open) {
            (WHOLE | FIRST, Some(_)) => {
                self.add_damage(at, at);
                self.take_fragment(kind, payload, at);
            }
            (WHOLE, None) => self.ready = Some((at, Cow::Borrowed(payload))),
            (FIRST, None) => self.open = Some((at, payload.to_vec())),
            (_, Some((_, bytes))) => {
                bytes.extend_from_slice(payload);
                if kind == LAST {
                    self.ready = self.open.take().map(|(start, bytes)| (start, bytes.into()));
                }
            }
            (_, None) => self.add_damage(at, at + HEADER_BYTES + payload.len()),
        }
    }
}

impl<'a> Iterator for LogReader<'a> {
    type Item = Result<LogItem<'a>, Foreign>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.done || self.ready.is_some() {
                if let Some((from, to)) = self.damage.take() {
                    return Some(Ok(LogItem::Damaged { from, to }));
                }
                let (at, bytes) = self.ready.take()?;
                return Some(Ok(LogItem::Record { at, bytes }));
            }
            match self.next_fragment() {
                Next::Fragment { kind, payload, at } => self.take_fragment(kind, payload, at),
                Next::Bad { from } => {
                    let from = self.zeros.take().unwrap_or(from);
                    self.add_damage(from, self.at);
                }
                Next::Zeros { from } if self.open.is_some() => self.add_damage(from, self.at),
                Next::Zeros { from } => {
                    self.zeros.get_or_insert(from);
                }
                Next::Foreign(kind) => {
                    self.done = true;
                    self.damage = None;
                    return Some(Err(Foreign(kind)));
                }
                // The record being read was cut off, and the zeros were never written.
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
        let mut space = block_end(log.len()) - log.len();
        if space < HEADER_BYTES {
            log.resize(log.len() + space, 0);
            space = BLOCK_BYTES;
        }
        let (payload, left) = rest.split_at(rest.len().min(space - HEADER_BYTES));
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

/// Returns the checksum of a fragment. It is masked, since a log may contain data with checksums of
/// its own.
pub(crate) fn checksum(kind: u8, payload: &[u8]) -> u32 {
    masked(crc32c::crc32c_append(crc32c::crc32c(&[kind]), payload))
}

fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Returns the end of the block that contains the offset `at`.
fn block_end(at: usize) -> usize {
    (at / BLOCK_BYTES + 1) * BLOCK_BYTES
}

/// Reads the header at the start of `rest`, which is the rest of a block.
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

/// Returns whether the bytes at `end` can follow a fragment: another fragment, or the end of the
/// block.
fn can_follow(rest: &[u8], end: usize) -> bool {
    let behind = rest.get(end..).unwrap_or_default();
    behind.len() < HEADER_BYTES || is_good(behind) || behind.iter().all(|byte| *byte == 0)
}

/// Returns the offset of the first fragment with a correct checksum in the rest of a block.
fn next_good(rest: &[u8]) -> Option<usize> {
    let last = rest.len().checked_sub(HEADER_BYTES)?;
    (1..=last).find(|at| {
        let rest = rest.get(*at..).unwrap_or_default();
        // Only types that Telltale writes, and checked first: any four bytes may be a checksum, but
        // few are followed by such a type.
        rest.get(HEADER_BYTES - 1).is_some_and(|kind| (WHOLE..=LAST).contains(kind))
            && is_good(rest)
    })
}
