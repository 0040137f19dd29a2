//! Reading all logs that will be replayed: what is damaged, and which sequence numbers are missing.
//!
//! Every entry that is written has the sequence number after the one before it, over batches and logs. So a batch that does not
//! begin where the one before it ended says that something between them is missing, also where the file looks whole: a
//! record that was zeroed together with all behind it, or a log that is gone.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;

use super::alive::LogFile;
use super::batch::{Batch, hint};
use super::format::{HEADER_BYTES, Item, Records};

/// A place in the logs: which of them, and where in it.
pub(super) type Place = (usize, usize);

/// Sequence numbers that no batch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// The first place that is of no batch before the hole.
    pub(super) at: Place,
    /// The first number that is missing. Nothing when all that is known is that it is in the first of the logs.
    pub(super) first: Option<u64>,
    /// The last one. Nothing at the end of the logs.
    pub(super) last: Option<u64>,
}

/// What was found in the logs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// The damaged bytes of each log that has some, by its place in the order.
    pub(super) damaged: BTreeMap<usize, Vec<Range<usize>>>,
    /// In order.
    pub(super) holes: Vec<Hole>,
    /// The sequence number after the last batch that stays, or before which batches are missing, if there is a batch.
    pub(super) next: Option<u64>,
    /// The largest stamp.
    pub(super) stamp: u64,
    /// Whether some batch has no stamp: it was written by a program that did not mark what it acknowledged.
    pub(super) unstamped: bool,
    /// Where batches begin that were never published, if a number was given up to which they were. All that follows is of failed writes.
    pub(super) unpublished: Option<Place>,
    /// The largest sequence number that was published. Nothing when nobody knows, as after a crash.
    published: Option<u64>,
    /// Where damage began that no batch has followed yet, and what is read of its first record.
    open: Option<(Place, Option<(u64, u64)>)>,
}

/// Why logs are left as they are.
#[derive(Debug)]
pub(super) enum Unread {
    Io(io::Error),
    /// There are records in them that we do not write, or batches that are not in order.
    Strange,
}

impl Survey {
    /// Of logs in which what is above `published` is of writes that failed.
    pub(super) fn up_to(published: Option<u64>) -> Self {
        Self { published, ..Self::default() }
    }

    /// Of all logs; `lacks_first` says whether one that comes before them is gone.
    pub(super) fn of(
        logs: &[LogFile],
        lacks_first: bool,
        published: Option<u64>,
    ) -> Result<Self, Unread> {
        let mut survey = Self::up_to(published);
        if lacks_first {
            survey.open = Some(((0, 0), None));
        }
        for (index, log) in logs.iter().enumerate() {
            let bytes = fs::read(&log.path).map_err(Unread::Io)?;
            let before = survey.next;
            survey.read(index, &bytes)?;
            if survey.unpublished.is_some() {
                break;
            }
            let is_blank = survey.next == before && survey.open.is_none() && !bytes.is_empty();
            if is_blank && index + 1 < logs.len() {
                // Nothing was left of it: a log that was only begun is empty.
                survey.open = Some(((index, 0), None));
            }
        }
        survey.close();
        Ok(survey)
    }

    /// There are no more logs.
    pub(super) fn close(&mut self) {
        if let Some((at, hint)) = self.open.take() {
            let first = self.next.or(hint.map(|(first, _)| first));
            if let (Some(first), Some(published)) = (first, self.published)
                && first > published
            {
                self.unpublished = Some(at);
                return;
            }
            self.holes.push(Hole { at, first, last: None });
        }
    }

    /// Reads the next log, up to the first batch that was never published.
    pub(super) fn read(&mut self, index: usize, log: &[u8]) -> Result<(), Unread> {
        for item in Records::of(log) {
            if self.unpublished.is_some() {
                break;
            }
            match item.map_err(|_| Unread::Strange)? {
                Item::Damaged { from, to } => self.note_damage(index, from..to, log),
                Item::Record { at, bytes } => match Batch::read(&bytes) {
                    Some(batch) => self.add(batch, (index, at))?,
                    None => self.note_damage(index, at..at + HEADER_BYTES + bytes.len(), log),
                },
            }
        }
        Ok(())
    }

    fn note_damage(&mut self, index: usize, bytes: Range<usize>, log: &[u8]) {
        let from = bytes.start;
        self.damaged.entry(index).or_default().push(bytes);
        let hint = || log.get(from + HEADER_BYTES..).and_then(hint);
        self.open.get_or_insert_with(|| ((index, from), hint()));
    }

    fn add(&mut self, batch: Batch, at: Place) -> Result<(), Unread> {
        let damage = self.open.take();
        let expected = match self.next {
            Some(next) if next > batch.sequence => return Err(Unread::Strange),
            Some(next) => Some(next),
            // What is read of a damaged record may be what is damaged of it.
            None => damage
                .and_then(|(_, hint)| hint)
                .filter(|(_, next)| *next <= batch.sequence)
                .map(|(first, _)| first),
        };
        let missing = match expected {
            Some(expected) => expected < batch.sequence,
            None => damage.is_some(),
        };
        if missing {
            let at = damage.map_or(at, |(at, _)| at);
            let last = batch.sequence.checked_sub(1);
            self.holes.push(Hole { at, first: expected, last });
        }
        // A batch without entries has no number of its own, and changes nothing.
        if self.published.is_some_and(|published| batch.next > published + 1) {
            self.unpublished = Some(damage.map_or(at, |(at, _)| at));
            self.next = Some(batch.sequence);
            return Ok(());
        }
        self.next = Some(batch.next);
        match batch.acknowledged {
            Some(stamp) => self.stamp = self.stamp.max(stamp),
            None => self.unstamped = true,
        }
        Ok(())
    }
}
