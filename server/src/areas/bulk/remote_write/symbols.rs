//! The symbol table of a request of version 2: it contains each string once, and series refer to
//! strings by index.
//!
//! The key of a series is the list of the strings it refers to, each after its length: indices
//! change from request to request, strings do not.

use super::error::WriteError;
use super::labels::Label;
use crate::areas::bulk::protobuf::{Malformed, Value, varint};
use crate::limits::{
    REMOTE_WRITE_LABEL_BYTES_MAX, REMOTE_WRITE_LABELS_MAX, REMOTE_WRITE_RESOLVED_BYTES_MAX,
    REMOTE_WRITE_SYMBOLS_MAX,
};

/// The offsets of the symbols in a body.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// The half-open byte range of each.
    ranges: Vec<(u32, u32)>,
    /// The total length of all keys so far, in bytes.
    resolved_bytes: usize,
    /// The last key.
    encoded: Vec<u8>,
}

impl Symbols {
    /// Adds a symbol of `bytes` bytes that ends at offset `end` of the body.
    pub(super) fn push(&mut self, end: usize, bytes: usize) -> Result<(), WriteError> {
        if self.ranges.len() >= REMOTE_WRITE_SYMBOLS_MAX {
            return Err(WriteError::TooManySymbols);
        }
        let range = (u32::try_from(end.saturating_sub(bytes)), u32::try_from(end));
        let (Ok(start), Ok(end)) = range else { return Err(Malformed.into()) };
        self.ranges.push((start, end));
        Ok(())
    }

    /// Returns the total length of all keys so far, in bytes.
    pub(super) fn resolved_bytes(&self) -> usize {
        self.resolved_bytes
    }

    /// Continues counting from this total length.
    pub(super) fn resume(&mut self, resolved_bytes: usize) {
        self.resolved_bytes = resolved_bytes;
    }

    /// Returns the key of the series with these references.
    pub(super) fn encode(&mut self, body: &[u8], mut refs: &[u8]) -> Result<&[u8], WriteError> {
        if self.resolved_bytes > REMOTE_WRITE_RESOLVED_BYTES_MAX {
            return Err(WriteError::TooManyBytes);
        }
        self.encoded.clear();
        while !refs.is_empty() {
            let symbol = self.symbol_bytes(body, varint(&mut refs)?)?;
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
    fn symbol_bytes<'b>(&self, body: &'b [u8], at: u64) -> Result<&'b [u8], WriteError> {
        let range = usize::try_from(at).ok().and_then(|at| self.ranges.get(at));
        let (start, end) = *range.ok_or(WriteError::NoSymbol(at))?;
        Ok(body.get(start as usize..end as usize).ok_or(Malformed)?)
    }
}

/// The references of one series; each label has two, to its name and to its value.
#[derive(Debug, Default)]
pub(super) struct Refs(Vec<u64>);

impl Refs {
    /// Adds one reference or a packed list. References beyond the limit are dropped.
    pub(super) fn add(&mut self, refs: Value<'_>) -> Result<(), Malformed> {
        refs.varints(|symbol| {
            if self.0.len() <= 2 * REMOTE_WRITE_LABELS_MAX {
                self.0.push(symbol);
            }
        })
    }

    /// Returns the labels that they refer to.
    pub(super) fn labels<'b>(
        &self,
        symbols: &Symbols,
        body: &'b [u8],
    ) -> impl Iterator<Item = Result<Label<'b>, WriteError>> {
        self.0.chunks(2).map(|pair| match pair {
            [name, value] => {
                Ok((symbols.symbol_bytes(body, *name)?, symbols.symbol_bytes(body, *value)?))
            }
            _ => Err(WriteError::Unpaired),
        })
    }
}
