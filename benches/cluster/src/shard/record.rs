//! A record of the log: who wrote it, which request it stores, and bytes with a checksum.

use bytes::{Bytes, BytesMut};

use crate::outcome::{Failure, Outcome};

/// The bytes before the payload: five numbers and a checksum.
const HEADER_BYTES: usize = 5 * 8 + 4;
/// Marks a record without a document.
const NO_DOCUMENT: u64 = u64::MAX;

/// A document and how often it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DocumentRevision {
    pub(crate) number: u64,
    pub(crate) revision: u64,
}

/// What a record says, without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) lsn: u64,
    /// The number of the node process that wrote it.
    pub(crate) writer: u64,
    /// The number of the request among those of the writer.
    pub(crate) request: u64,
    /// The document that was changed in the same batch.
    pub(crate) document: Option<DocumentRevision>,
}

impl Row {
    /// Returns the bytes of a record.
    pub(crate) fn encode(&self, payload: &[u8]) -> Bytes {
        let (number, revision) = match self.document {
            Some(document) => (document.number, document.revision),
            None => (NO_DOCUMENT, 0),
        };
        let mut bytes = BytesMut::with_capacity(HEADER_BYTES + payload.len());
        for field in [self.lsn, self.writer, self.request, number, revision] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&bytes);
        checksum.update(payload);
        bytes.extend_from_slice(&checksum.finalize().to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes.freeze()
    }

    /// Reads a record and verifies its checksum.
    pub(crate) fn decode(bytes: &[u8]) -> Outcome<Self> {
        let damaged = |what: &str| Failure::Damaged(format!("record: {what}"));
        let mut fields = [0_u64; 5];
        for (field, chunk) in fields.iter_mut().zip(bytes.chunks_exact(8)) {
            *field = u64::from_le_bytes(chunk.try_into().map_err(|_| damaged("too short"))?);
        }
        let numbers = bytes.get(..40).ok_or_else(|| damaged("too short"))?;
        let stored = bytes.get(40..HEADER_BYTES).ok_or_else(|| damaged("too short"))?;
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(numbers);
        checksum.update(bytes.get(HEADER_BYTES..).unwrap_or_default());
        if stored != checksum.finalize().to_le_bytes() {
            return Err(damaged("wrong checksum"));
        }
        let [lsn, writer, request, number, revision] = fields;
        let document = (number != NO_DOCUMENT).then_some(DocumentRevision { number, revision });
        Ok(Self { lsn, writer, request, document })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_and_damage_is_noticed() {
        let document = Some(DocumentRevision { number: 4, revision: 9 });
        let row = Row { lsn: 7, writer: 1, request: 3, document };
        let bytes = row.encode(b"payload");
        assert_eq!(Row::decode(&bytes).unwrap(), row);
        for at in 0..bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1;
            assert!(Row::decode(&damaged).is_err(), "byte {at}");
        }
        assert!(Row::decode(&bytes[..20]).is_err());
    }
}
