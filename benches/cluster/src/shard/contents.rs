//! Everything that a shard contains, as an owner that has just opened it reads it.

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use slatedb::{Db, IterationOrder};

use super::keys::{DOCUMENT, LOG, PACK, RECORD, number_of, numbered};
use super::pack::{Pointer, rows_of};
use super::record::Row;
use super::tuning::whole_scan;
use crate::outcome::{Failure, Outcome};

/// The state of a pack that the database names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackState {
    /// It is there and its checksum is right.
    Whole(Vec<Row>),
    /// There is no such object.
    Missing,
    /// It is not what was uploaded.
    Damaged(String),
}

/// A pack that the database names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPack {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) state: PackState,
}

/// A document: its number, its revision, and the record that was written with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) number: u64,
    pub(crate) revision: u64,
    pub(crate) lsn: u64,
}

/// The contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The records of the log, in the order of a scan, with the numbers of their keys.
    pub(crate) log: Vec<(u64, Row)>,
    /// The numbers of the keys, in the order of a scan backwards.
    pub(crate) backwards: Vec<u64>,
    pub(crate) packs: Vec<NamedPack>,
    pub(crate) documents: Vec<Document>,
    /// The numbers of the records beside the log.
    pub(crate) records: Vec<u64>,
}

impl Contents {
    /// Reads a shard.
    pub(crate) async fn read(db: &Db, store: &dyn ObjectStore, prefix: &Path) -> Outcome<Self> {
        let mut contents = Self::default();
        for (number, value) in scan(db, LOG, IterationOrder::Ascending).await? {
            contents.log.push((number, Row::decode(&value)?));
        }
        for (number, _) in scan(db, LOG, IterationOrder::Descending).await? {
            contents.backwards.push(number);
        }
        for (number, value) in scan(db, DOCUMENT, IterationOrder::Ascending).await? {
            let mut fields =
                value.chunks_exact(8).map(|chunk| chunk.try_into().map_or(0, u64::from_le_bytes));
            let (Some(revision), Some(lsn)) = (fields.next(), fields.next()) else {
                return Err(Failure::Damaged(format!("document {number}")));
            };
            contents.documents.push(Document { number, revision, lsn });
        }
        for (lsn, _) in scan(db, RECORD, IterationOrder::Ascending).await? {
            contents.records.push(lsn);
        }
        for (first, value) in scan(db, PACK, IterationOrder::Ascending).await? {
            let pointer = Pointer::decode(&value)?;
            let path = prefix.clone().join("packs").join(pointer.name.as_str());
            let state = read_pack(store, &path, &pointer).await?;
            contents.packs.push(NamedPack { first, last: pointer.last, state });
        }
        Ok(contents)
    }
}

async fn scan(db: &Db, prefix: u8, order: IterationOrder) -> Outcome<Vec<(u64, Bytes)>> {
    let range = numbered(prefix, 0).to_vec()..=numbered(prefix, u64::MAX).to_vec();
    let mut rows = Vec::new();
    let mut scanned = db.scan_with_options(range, &whole_scan(order)).await?;
    while let Some(row) = scanned.next().await? {
        let number = number_of(&row.key).ok_or_else(|| Failure::Damaged("key".to_owned()))?;
        rows.push((number, row.value));
    }
    Ok(rows)
}

async fn read_pack(store: &dyn ObjectStore, path: &Path, pointer: &Pointer) -> Outcome<PackState> {
    let pack = match store.get(path).await {
        Ok(found) => found.bytes().await?,
        Err(object_store::Error::NotFound { .. }) => return Ok(PackState::Missing),
        Err(error) => return Err(error.into()),
    };
    if pack.len() as u64 != pointer.bytes || crc32fast::hash(&pack) != pointer.checksum {
        return Ok(PackState::Damaged(format!("{} bytes, {} expected", pack.len(), pointer.bytes)));
    }
    Ok(match rows_of(&pack) {
        Ok(rows) => PackState::Whole(rows),
        Err(error) => PackState::Damaged(error.to_string()),
    })
}
