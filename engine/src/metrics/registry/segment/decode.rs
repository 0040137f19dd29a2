//! Decodes a segment and checks what [`Tags`] checks: a check of each string and each distinct list
//! of keys is much less work than one of each series.
//!
//! [`Tags`]: crate::model::Tags

use super::contents::{Segment, SegmentSeries, TagLists, ids_and_metrics};
use super::{encode, version_1};
use crate::codec::bytes::Reader;
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::IntegerColumn;
use crate::codec::{CodecError, CodecResult};
use crate::limits;
use crate::model::{is_key, is_value};

/// Distinct keys of a segment: as many as all of its tags.
const KEYS_MAX: usize = limits::SEGMENT_SERIES_MAX * limits::TAGS_MAX;

impl<'r> Segment<'r> {
    /// Decodes a row of any version.
    pub(in crate::metrics::registry) fn read(row: &'r [u8]) -> CodecResult<Self> {
        let (version, payload) = frame::open(row, FrameKind::SeriesSegment, encode::VERSION)?;
        let mut reader = Reader::new(payload);
        let segment = match version {
            1 => version_1::read(&mut reader)?,
            _ => read(&mut reader)?,
        };
        reader.finish()?;
        Ok(segment)
    }
}

fn read<'r>(reader: &mut Reader<'r>) -> CodecResult<Segment<'r>> {
    let mut strings = read_keys(reader)?;
    let key_lists = KeyLists::read(reader, strings.len())?;
    let lists = reader.count("lists of tags", limits::SEGMENT_SERIES_MAX)?;
    let mut of_lists = Vec::new();
    IntegerColumn::read_exactly(reader, lists)?.all(&mut of_lists)?;
    let of_lists: Vec<&[u32]> =
        of_lists.iter().map(|number| key_lists.get(*number)).collect::<CodecResult<_>>()?;
    let values = Values::read(reader, &of_lists, strings.len())?;
    values.read_strings(reader, &mut strings)?;
    let lists = values.into_lists(&of_lists)?;
    let series = read_series(reader, lists.len())?;
    Ok(Segment::of_checked(strings, lists, series))
}

fn read_keys<'r>(reader: &mut Reader<'r>) -> CodecResult<Vec<&'r str>> {
    let count = reader.count("keys", KEYS_MAX)?;
    let keys = (0..count).map(|_| reader.text()).collect::<CodecResult<Vec<_>>>()?;
    if !keys.iter().all(|key| is_key(key)) {
        return Err(CodecError::new("a string cannot be the key of a tag"));
    }
    if !keys.is_sorted_by(|a, b| a < b) {
        return Err(CodecError::new("the tag keys of a segment are not sorted"));
    }
    Ok(keys)
}

/// Distinct lists of keys, each of which ascends.
struct KeyLists {
    keys: Vec<u32>,
    /// The end of each list; it starts at the end of the one before it.
    ends: Vec<usize>,
}

impl KeyLists {
    /// Reads lists of keys whose numbers are below `keys_end`.
    fn read(reader: &mut Reader<'_>, keys_end: usize) -> CodecResult<Self> {
        let mut lists = Self { keys: Vec::new(), ends: Vec::new() };
        for _ in 0..reader.count("lists of keys", limits::SEGMENT_SERIES_MAX)? {
            let mut least = 0;
            for _ in 0..reader.count("tags of a series", limits::TAGS_MAX)? {
                let more = reader.count("keys", KEYS_MAX)?;
                let number = least + more;
                if number >= keys_end {
                    return Err(CodecError::new("key number out of range"));
                }
                lists.keys.push(checked_number(number)?);
                least = number + 1;
            }
            lists.ends.push(lists.keys.len());
        }
        Ok(lists)
    }

    fn get(&self, list: i64) -> CodecResult<&[u32]> {
        let list = usize::try_from(list).ok();
        let keys = list.and_then(|list| {
            let start = match list.checked_sub(1) {
                Some(before) => *self.ends.get(before)?,
                None => 0,
            };
            self.keys.get(start..*self.ends.get(list)?)
        });
        keys.ok_or_else(|| CodecError::new("no list of keys has this number"))
    }
}

/// The values of all keys.
struct Values {
    /// For each key, the number of its value in each list with the key, one key after the other.
    numbers: Vec<u32>,
    /// For each key, where its numbers start.
    starts: Vec<usize>,
    /// The number of distinct values.
    distinct: u32,
}

impl Values {
    /// Reads which value each key has in lists of tags, of which `of_lists` are the keys. Strings
    /// are numbered across all keys, which have the numbers below `keys`.
    fn read(reader: &mut Reader<'_>, of_lists: &[&[u32]], keys: usize) -> CodecResult<Self> {
        let mut rows = vec![0usize; keys];
        for key in of_lists.iter().copied().flatten() {
            if let Some(rows) = rows.get_mut(*key as usize) {
                *rows += 1;
            }
        }
        let (mut numbers, mut starts) = (Vec::new(), Vec::with_capacity(keys));
        let first = checked_number(keys)?;
        let mut next = first;
        let mut column = Vec::new();
        for rows in rows {
            starts.push(numbers.len());
            IntegerColumn::read_exactly(reader, rows)?.all(&mut column)?;
            let first_of_key = next;
            for value in &column {
                let number = match *value {
                    0 => {
                        next += 1;
                        next - 1
                    }
                    known => known
                        .checked_sub(1)
                        .and_then(|known| u32::try_from(known).ok())
                        .and_then(|known| first_of_key.checked_add(known))
                        .filter(|number| *number < next)
                        .ok_or_else(|| CodecError::new("value number out of range"))?,
                };
                numbers.push(number);
            }
        }
        Ok(Self { numbers, starts, distinct: next - first })
    }

    /// Reads the strings of all values and appends them to those of the keys.
    fn read_strings<'r>(
        &self,
        reader: &mut Reader<'r>,
        strings: &mut Vec<&'r str>,
    ) -> CodecResult<()> {
        for _ in 0..self.distinct {
            let value = reader.text()?;
            if !is_value(value) {
                return Err(CodecError::new("a string cannot be the value of a tag"));
            }
            strings.push(value);
        }
        Ok(())
    }

    /// Combines the values with the keys of each list.
    fn into_lists(mut self, of_lists: &[&[u32]]) -> CodecResult<TagLists> {
        let mut lists = TagLists::default();
        for keys in of_lists {
            lists.push(keys.iter().map(|key| Ok((*key, self.next_of(*key)?))))?;
        }
        Ok(lists)
    }

    /// Returns the number of the next value of a key.
    fn next_of(&mut self, key: u32) -> CodecResult<u32> {
        let at = self.starts.get_mut(key as usize);
        let value = at.and_then(|at| {
            let value = self.numbers.get(*at);
            *at += 1;
            value
        });
        value.copied().ok_or_else(|| CodecError::new("a key has fewer values than lists"))
    }
}

fn read_series(reader: &mut Reader<'_>, lists: usize) -> CodecResult<Vec<SegmentSeries>> {
    let count = reader.count("series", limits::SEGMENT_SERIES_MAX)?;
    let before = reader.signed()?;
    let [mut ids, mut metrics, mut of_series] = [Vec::new(), Vec::new(), Vec::new()];
    for column in [&mut ids, &mut metrics, &mut of_series] {
        IntegerColumn::read_exactly(reader, count)?.all(column)?;
    }
    let (mut used, mut following) = (0, 0i64);
    let mut series = Vec::with_capacity(count);
    for ((id, metric), list) in ids_and_metrics(before, &ids, &metrics)?.into_iter().zip(of_series)
    {
        let number = following.wrapping_add(list);
        let list = usize::try_from(number).ok().filter(|list| *list <= used && *list < lists);
        let list = list.ok_or_else(|| CodecError::new("no list of tags has this number"))?;
        used = used.max(list + 1);
        following = number + 1;
        series.push(SegmentSeries { id, metric, list });
    }
    if used < lists {
        return Err(CodecError::new("tags that belong to no series"));
    }
    Ok(series)
}

fn checked_number(number: usize) -> CodecResult<u32> {
    u32::try_from(number).map_err(|_| CodecError::new("number exceeds 32 bits"))
}
