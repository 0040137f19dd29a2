//! The symbols of a request of version 2: each text stands once, and series name them by their place in the table.
//!
//! What a series is spelled by are the symbols that it names, one behind the other, each behind its length: the places
//! change from request to request, the texts do not.

use super::error::WriteError;
use super::labels::Label;
use crate::areas::bulk::protobuf::{Damaged, Value, varint};
use crate::limits::{
    REMOTE_WRITE_LABEL_BYTES_MAX, REMOTE_WRITE_LABELS_MAX, REMOTE_WRITE_RESOLVED_BYTES_MAX,
    REMOTE_WRITE_SYMBOLS_MAX,
};

/// Where the symbols of a body stand.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// The first byte of each, and the one behind its last.
    places: Vec<(u32, u32)>,
    /// The bytes of all series that were spelled.
    resolved_bytes: usize,
    /// The series that was spelled last.
    spelled: Vec<u8>,
}

impl Symbols {
    /// Adds a symbol of so many bytes, which ends at `end` of the body.
    pub(super) fn push(&mut self, end: usize, bytes: usize) -> Result<(), WriteError> {
        if self.places.len() >= REMOTE_WRITE_SYMBOLS_MAX {
            return Err(WriteError::TooManySymbols);
        }
        let place = (u32::try_from(end.saturating_sub(bytes)), u32::try_from(end));
        let (Ok(start), Ok(end)) = place else { return Err(Damaged.into()) };
        self.places.push((start, end));
        Ok(())
    }

    /// The bytes of all series that were spelled so far.
    pub(super) fn resolved_bytes(&self) -> usize {
        self.resolved_bytes
    }

    /// Counts on from so many bytes.
    pub(super) fn go_on(&mut self, resolved_bytes: usize) {
        self.resolved_bytes = resolved_bytes;
    }

    /// What a series is spelled by whose references are these.
    pub(super) fn spell(&mut self, body: &[u8], mut refs: &[u8]) -> Result<&[u8], WriteError> {
        if self.resolved_bytes > REMOTE_WRITE_RESOLVED_BYTES_MAX {
            return Err(WriteError::TooManyBytes);
        }
        self.spelled.clear();
        while !refs.is_empty() {
            let symbol = self.text(body, varint(&mut refs)?)?;
            if self.spelled.len() + symbol.len() > REMOTE_WRITE_LABEL_BYTES_MAX {
                return Err(WriteError::LabelsTooLong);
            }
            self.spelled.extend_from_slice(&(symbol.len() as u32).to_le_bytes());
            self.spelled.extend_from_slice(symbol);
        }
        self.resolved_bytes += self.spelled.len();
        Ok(&self.spelled)
    }

    #[inline]
    fn text<'b>(&self, body: &'b [u8], at: u64) -> Result<&'b [u8], WriteError> {
        let place = usize::try_from(at).ok().and_then(|at| self.places.get(at));
        let (start, end) = *place.ok_or(WriteError::NoSymbol(at))?;
        Ok(body.get(start as usize..end as usize).unwrap_or_default())
    }
}

/// References of one series, each label two of them: its name and its value.
#[derive(Debug, Default)]
pub(super) struct Refs(Vec<u64>);

impl Refs {
    /// Adds a list, or one of them. More than are looked at are not kept.
    pub(super) fn add(&mut self, refs: Value<'_>) -> Result<(), Damaged> {
        refs.varints(|symbol| {
            if self.0.len() <= 2 * REMOTE_WRITE_LABELS_MAX {
                self.0.push(symbol);
            }
        })
    }

    /// The labels that they name.
    pub(super) fn labels<'b>(
        &self,
        symbols: &Symbols,
        body: &'b [u8],
    ) -> impl Iterator<Item = Result<Label<'b>, WriteError>> {
        self.0.chunks(2).map(|pair| match pair {
            [name, value] => Ok((symbols.text(body, *name)?, symbols.text(body, *value)?)),
            _ => Err(WriteError::Unpaired),
        })
    }
}
