//! Packs: immutable objects with the records that a seal takes out of the log.
//!
//! A pack is uploaded, under a name that was never used, before the batch that names it. A crash
//! between the two leaves an object that nothing names. The PUT has no condition: a 409 to a
//! condition reads as "already exists", and an upload that takes this for an earlier attempt of its
//! own loses the pack (`cluster simulate` finds it within some ten seeds).

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload};

use super::record::Row;
use crate::outcome::{Failure, Outcome};

/// Attempts before a pack is given up: about a minute.
const ATTEMPTS: u32 = 30;
/// Packs above this size are uploaded in parts.
const PART_BYTES: usize = 8 << 20;

/// The value of a key `p <first lsn>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub(crate) last: u64,
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
    pub(crate) name: String,
}

impl Pointer {
    /// Returns the bytes of the value.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut value = self.last.to_le_bytes().to_vec();
        value.extend_from_slice(&self.bytes.to_le_bytes());
        value.extend_from_slice(&self.checksum.to_le_bytes());
        value.extend_from_slice(self.name.as_bytes());
        value
    }

    /// Reads a value.
    pub(crate) fn decode(value: &[u8]) -> Outcome<Self> {
        let parse = || {
            Some(Self {
                last: u64::from_le_bytes(value.get(..8)?.try_into().ok()?),
                bytes: u64::from_le_bytes(value.get(8..16)?.try_into().ok()?),
                checksum: u32::from_le_bytes(value.get(16..20)?.try_into().ok()?),
                name: String::from_utf8(value.get(20..)?.to_vec()).ok()?,
            })
        };
        parse().ok_or_else(|| Failure::Damaged("pointer to a pack".to_owned()))
    }
}

/// Returns records as the bytes of a pack: each behind its length.
pub(crate) fn pack_of<'a>(records: impl Iterator<Item = &'a Bytes>) -> Bytes {
    let mut pack = BytesMut::new();
    for record in records {
        pack.extend_from_slice(&(record.len() as u64).to_le_bytes());
        pack.extend_from_slice(record);
    }
    pack.freeze()
}

/// Reads the rows of a pack.
pub(crate) fn rows_of(pack: &[u8]) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    let mut rest = pack;
    while let Some((length, behind)) = rest.split_first_chunk::<8>() {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let record = behind.get(..length);
        rows.push(Row::decode(record.ok_or_else(|| Failure::Damaged("cut pack".to_owned()))?)?);
        rest = behind.get(length..).unwrap_or_default();
    }
    Ok(rows)
}

/// Uploads a pack and returns when the store has it; repeats what fails for the moment.
pub(crate) async fn write_pack(store: &dyn ObjectStore, path: &Path, pack: Bytes) -> Outcome<()> {
    let mut pause = Duration::from_millis(50);
    for _ in 0..ATTEMPTS {
        match upload(store, path, pack.clone()).await {
            Err(Failure::Store(object_store::Error::Generic { .. })) => {}
            result => return result,
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
    upload(store, path, pack).await
}

async fn upload(store: &dyn ObjectStore, path: &Path, pack: Bytes) -> Outcome<()> {
    if pack.len() <= PART_BYTES {
        store.put(path, PutPayload::from_bytes(pack)).await?;
        return Ok(());
    }
    let mut upload = store.put_multipart(path).await?;
    let mut at = 0;
    while at < pack.len() {
        let end = (at + PART_BYTES).min(pack.len());
        upload.put_part(PutPayload::from_bytes(pack.slice(at..end))).await?;
        at = end;
    }
    upload.complete().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    #[test]
    fn packs_and_pointers_are_read_back() {
        let row = |lsn| Row { lsn, writer: 1, request: lsn, document: None };
        let records = [row(1).encode(b"a"), row(2).encode(b"")];
        let pack = pack_of(records.iter());
        assert_eq!(rows_of(&pack).unwrap(), [row(1), row(2)]);
        assert!(rows_of(&pack[..pack.len() - 1]).is_err());
        let pointer = Pointer { last: 2, bytes: 5, checksum: 6, name: "n".to_owned() };
        assert_eq!(Pointer::decode(&pointer.encode()).unwrap(), pointer);
        assert!(Pointer::decode(b"short").is_err());
    }

    #[tokio::test]
    async fn large_packs_are_uploaded_in_parts() {
        let store = InMemory::new();
        let pack = Bytes::from(vec![7; PART_BYTES + 5]);
        let path = Path::from("packs/a");
        write_pack(&store, &path, pack.clone()).await.unwrap();
        assert_eq!(store.get(&path).await.unwrap().bytes().await.unwrap(), pack);
    }
}
