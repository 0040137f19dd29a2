//! Blocks as a whole: decodes all rows, and checks the integrity of a block.

use super::all_rows::all_rows;
use super::header::Header;
use super::info::{EventBlockInfo, EventBlockKey};
use super::parts::{BorrowedBytes, Parts};
use super::rows::StringReader;
use crate::cast::to_u32;
use crate::codec::{CodecError, CodecResult};
use crate::error::{Error, Result};
use crate::model::EventRows;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Decodes all rows, in order, of a block that no catalog describes.
#[cfg(test)]
pub(crate) fn decode(bytes: &[u8]) -> CodecResult<EventRows> {
    let key = EventBlockKey { day: 0, sequence: 0 };
    rows_of(key, bytes).map_err(|error| CodecError::new(reason(error)))
}

#[cfg(test)]
fn rows_of(key: EventBlockKey, bytes: &[u8]) -> Result<EventRows> {
    let parts = Parts::open(key, Box::new(BorrowedBytes(bytes)), None)?;
    all_rows(&parts)
}

/// Returns the catalog entry that follows from the header of a block. Fails if its rows are not of
/// the day of `key`.
pub(crate) fn describe(key: EventBlockKey, bytes: &[u8]) -> CodecResult<EventBlockInfo> {
    let info = Header::read(bytes)?.info(key);
    let day = |time: i64| time.div_euclid(DAY_MS);
    if day(info.first_time) != i64::from(key.day) || day(info.last_time) != i64::from(key.day) {
        return Err(CodecError::new(format!("a block with rows outside of day {}", key.day)));
    }
    Ok(info)
}

/// Decodes all rows of the block that `info` describes, in order, and checks all of its parts.
pub(crate) fn read_checked(info: &EventBlockInfo, bytes: &[u8]) -> CodecResult<EventRows> {
    if describe(info.key, bytes)? != *info {
        return Err(CodecError::new("it is not the block that the catalog describes"));
    }
    checked_rows(info.key, bytes).map_err(|error| CodecError::new(reason(error)))
}

fn checked_rows(key: EventBlockKey, bytes: &[u8]) -> Result<EventRows> {
    let parts = Parts::open(key, Box::new(BorrowedBytes(bytes)), None)?;
    for section in parts.header().sections() {
        parts.section(section.kind, section.number)?;
    }
    for number in 0..to_u32(parts.header().columns.len()) {
        StringReader::open_all(&parts, number)?.check(number)?;
    }
    let rows = all_rows(&parts)?;
    if !rows.times().iter().zip(rows.ids()).is_sorted() {
        return Err(parts.damaged("its rows are not sorted"));
    }
    Ok(rows)
}

pub(super) fn reason(error: Error) -> String {
    match error {
        Error::Corrupt(reason) => reason,
        other => other.to_string(),
    }
}

/// Reads all of a block in every way, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn read_all(bytes: &[u8]) {
    use super::{EventBlock, PartsCache};
    use crate::events::{EventSource, RowSet};
    use crate::model::{EventField, EventGroupBy, NameFilter};
    let key = EventBlockKey { day: 0, sequence: 0 };
    let Ok(header) = Header::read(bytes) else { return };
    let _outcome = checked_rows(key, bytes);
    let cache = PartsCache::new(1 << 20);
    let Ok(block) = EventBlock::open(&header.info(key), &cache, || Ok(bytes)) else { return };
    let path = EventField::Property(vec!["a".to_owned()]);
    let _outcome = (block.with_user("u"), block.with_name(&NameFilter::Prefix("a".to_owned())));
    let _outcome =
        (block.numbers(&path, &RowSet::All), block.numbers(&EventField::Value, &RowSet::All));
    let _outcome = (block.groups(&EventGroupBy::User), block.groups(&EventGroupBy::Name));
    let _outcome = (block.user_hashes(), block.events(&[0]), block.times());
    let keys: Vec<String> = header.columns.iter().map(|column| column.key.to_string()).collect();
    for key in keys {
        let _outcome = block.groups(&EventGroupBy::Tag(key));
    }
}
