//! The symbol table of a request of version 2: it contains each string once, and series refer to strings by index.
//!
//! The key of a series is the list of the strings it refers to, each after its length: indices change from request to request,
//! strings do not.

use super::error::WriteError;
use super::labels::Label;
use crate::areas::bulk::protobuf::{Damaged, Value, varint};
use crate::limits::{
    REMOTE_WRITE_LABEL_BYTES_MAX, REMOTE_WRITE_LABELS_MAX, REMOTE_WRITE_RESOLVED_BYTES_MAX,
    REMOTE_WRITE_SYMBOLS_MAX,
};

/// The offsets of the symbols in a body.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// The first byte of each, and the one behind its last.
    places: Vec<(u32, u32)>,
    /// The bytes of all keys so far.
    resolved_bytes: usize,
    /// The last key.
    encoded: Vec<u8>,
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

    /// Returns the bytes of all keys so far.
    pub(super) fn resolved_bytes(&self) -> usize {
        self.resolved_bytes
    }

    /// Counts on from so many bytes.
    pub(super) fn go_on(&mut self, resolved_bytes: usize) {
        self.resolved_bytes = resolved_bytes;
    }

    /// Returns the key of the series with these references.
    pub(super) fn encode(&mut self, body: &[u8], mut refs: &[u8]) -> Result<&[u8], WriteError> {
        if self.resolved_bytes > REMOTE_WRITE_RESOLVED_BYTES_MAX {
            return Err(WriteError::TooManyBytes);
        }
        self.encoded.clear();
        while !refs.is_empty() {
            let symbol = self.text(body, varint(&mut refs)?)?;
            if self.encoded.len() + symbol.len() > REMOTE_WRITE_LABEL_BYTES_MAX {
                return Err(WriteError::LabelsTooLong);
            }
            self.encoded.extend_from_slice(&(symbol.len() as u32).to_le_bytes());
            self.encoded.extend_from_slice(symbol);
        }
        self.resolved_bytes += self.encoded.len();
        Ok(&self.encoded)
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
