//! Reads all logs that will be replayed, and finds damage and missing sequence numbers.
//!
//! Consecutive entries have consecutive sequence numbers, across batches and logs. So a batch that
//! does not start where the one before it ended shows that something between them is missing, even
//! where the file looks undamaged: a record that was zeroed together with everything after it, or a
//! log that was removed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;

use super::format::{HEADER_BYTES, LogItem, LogReader};
use super::logged_batch::{LoggedBatch, hint};
use super::needed_logs::LogFile;

/// A position in the logs: the index of the log, and the offset in it.
pub(super) type LogPosition = (usize, usize);

/// Sequence numbers that no batch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// The first position after the last batch before the hole.
    pub(super) at: LogPosition,
    /// The first missing number, or `None` if it is only known to belong to the first log.
    pub(super) first: Option<u64>,
    /// The last missing number, or `None` at the end of the logs.
    pub(super) last: Option<u64>,
}

/// The findings in the logs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// The damaged bytes of each damaged log, by the index of the log.
    pub(super) damaged: BTreeMap<usize, Vec<Range<usize>>>,
    /// In order.
    pub(super) holes: Vec<Hole>,
    /// The sequence number after the last kept batch, if there is one.
    pub(super) next: Option<u64>,
    /// The largest stamp.
    pub(super) stamp: u64,
    /// Whether some batch has no stamp: a program wrote it that does not store what it
    /// acknowledged.
    pub(super) unstamped: bool,
    /// The position of the first batch that was never published, if [`Self::up_to`] got a number.
    /// All batches from there on are of failed writes.
    pub(super) unpublished: Option<LogPosition>,
    /// The largest published sequence number, or `None` if it is unknown, as after a crash.
    published: Option<u64>,
    /// The position of damage that no batch has followed yet, and the numbers read from its first
    /// record.
    open: Option<(LogPosition, Option<(u64, u64)>)>,
}

/// Why logs are left unchanged.
#[derive(Debug)]
pub(super) enum SurveyError {
    Io(io::Error),
    /// They contain record types that Telltale does not write, or batches that are not in order.
    UnknownRecords,
}

impl Survey {
    /// Returns an empty survey of logs in which batches above `published` are of failed writes.
    pub(super) fn up_to(published: Option<u64>) -> Self {
        Self { published, ..Self::default() }
    }

    /// Surveys all logs; `lacks_first` says whether an earlier one is missing.
    pub(super) fn of(
        logs: &[LogFile],
        lacks_first: bool,
        published: Option<u64>,
    ) -> Result<Self, SurveyError> {
        let mut survey = Self::up_to(published);
        if lacks_first {
            survey.open = Some(((0, 0), None));
        }
        for (index, log) in logs.iter().enumerate() {
            let bytes = fs::read(&log.path).map_err(SurveyError::Io)?;
            let before = survey.next;
            survey.read(index, &bytes)?;
            if survey.unpublished.is_some() {
                break;
            }
            let is_blank = survey.next == before && survey.open.is_none() && !bytes.is_empty();
            if is_blank && index + 1 < logs.len() {
                // Nothing in it is readable: a new log would be empty.
                survey.open = Some(((index, 0), None));
            }
        }
        survey.close();
        Ok(survey)
    }

    /// Ends the survey after the last log.
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
    pub(super) fn read(&mut self, index: usize, log: &[u8]) -> Result<(), SurveyError> {
        for item in LogReader::of(log) {
            if self.unpublished.is_some() {
                break;
            }
            match item.map_err(|_| SurveyError::UnknownRecords)? {
                LogItem::Damaged { from, to } => self.note_damage(index, from..to, log),
                LogItem::Record { at, bytes } => match LoggedBatch::read(&bytes) {
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

    fn add(&mut self, batch: LoggedBatch, at: LogPosition) -> Result<(), SurveyError> {
        let damage = self.open.take();
        let expected = match self.next {
            Some(next) if next > batch.sequence => return Err(SurveyError::UnknownRecords),
            Some(next) => Some(next),
            // The numbers read from a damaged record may be wrong themselves.
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
        // A batch without entries has no number of its own and changes nothing.
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
