//! Reads segments of version 1, in which each series has all of its tags. Nothing writes them any
//! more.
//!
//! ```text
//! frame(SeriesSegment, 1) { strings: varint, each: string │ series: varint │ ids (differences)
//!                           │ metrics │ tags per series │ keys of all tags │ values of all tags }
//! keys and values are numbers of strings; all columns are integers
//! ```

use super::contents::{NumberedTag, Segment, SegmentSeries, TagLists, ids_and_metrics};
use crate::codec::bytes::Reader;
use crate::codec::integers::IntegerColumn;
use crate::codec::{CodecError, CodecResult};
use crate::limits;
use crate::model::{is_key, is_value};

const STRINGS_MAX: usize = limits::SEGMENT_SERIES_MAX * limits::TAGS_MAX * 2;

/// Decodes a segment and checks what [`Tags`](crate::model::Tags) checks.
pub(super) fn read<'r>(reader: &mut Reader<'r>) -> CodecResult<Segment<'r>> {
    let strings = (0..reader.count("strings", STRINGS_MAX)?)
        .map(|_| reader.text())
        .collect::<CodecResult<Vec<_>>>()?;
    let count = reader.count("series", limits::SEGMENT_SERIES_MAX)?;
    let mut columns: [Vec<i64>; 5] = Default::default();
    for (i, column) in columns.iter_mut().enumerate() {
        let read = match i {
            0..3 => IntegerColumn::read_exactly(reader, count)?,
            _ => IntegerColumn::read(reader, count * limits::TAGS_MAX)?,
        };
        read.all(column)?;
    }
    let [ids, metrics, counts, keys, values] = columns;
    let mut tags = numbered_tags(&strings, &keys, &values)?.into_iter();
    let mut lists = Lists { strings: &strings, lists: TagLists::default() };
    let mut series = Vec::with_capacity(count);
    for ((id, metric), count) in ids_and_metrics(0, &ids, &metrics)?.into_iter().zip(counts) {
        let list = lists.add(&take(&mut tags, count)?)?;
        series.push(SegmentSeries { id, metric, list });
    }
    if tags.next().is_some() {
        return Err(CodecError::new("tags that belong to no series"));
    }
    let Lists { lists, .. } = lists;
    Ok(Segment::of_checked(strings, lists, series))
}

/// Returns the tags of all series, after checking that their strings can be keys and values.
fn numbered_tags(strings: &[&str], keys: &[i64], values: &[i64]) -> CodecResult<Vec<NumberedTag>> {
    let are_keys: Vec<bool> = strings.iter().map(|string| is_key(string)).collect();
    let are_values: Vec<bool> = strings.iter().map(|string| is_value(string)).collect();
    let number = |number: i64, allowed: &[bool]| {
        let found = usize::try_from(number).ok().and_then(|at| allowed.get(at));
        match found {
            Some(true) => Ok(number as u32),
            Some(false) => Err(CodecError::new("a string cannot be part of a tag")),
            None => Err(CodecError::new("string number out of range")),
        }
    };
    if keys.len() != values.len() {
        return Err(CodecError::new("keys and values of tags differ in number"));
    }
    let pairs = keys.iter().zip(values);
    pairs.map(|(k, v)| Ok((number(*k, &are_keys)?, number(*v, &are_values)?))).collect()
}

/// Takes the tags of the next series.
fn take(
    tags: &mut impl ExactSizeIterator<Item = NumberedTag>,
    count: i64,
) -> CodecResult<Vec<NumberedTag>> {
    let count = usize::try_from(count).map_err(|_| CodecError::new("negative number of tags"))?;
    if count > tags.len() {
        return Err(CodecError::new("a series has fewer tags than it claims"));
    }
    if count > limits::TAGS_MAX {
        return Err(CodecError::new("a series has too many tags"));
    }
    Ok(tags.take(count).collect())
}

/// The lists of tags found so far.
struct Lists<'s, 'r> {
    strings: &'s [&'r str],
    lists: TagLists,
}

impl Lists<'_, '_> {
    /// Returns the number of a list: that of the one before if it is equal, else a new one.
    fn add(&mut self, tags: &[NumberedTag]) -> CodecResult<usize> {
        let last = self.lists.len().checked_sub(1);
        let before = last.map_or(&[][..], |last| self.lists.get(last));
        if let Some(last) = last
            && tags == before
        {
            return Ok(last);
        }
        let same_keys = tags.len() == before.len()
            && tags.iter().zip(before).all(|((key, _), (other, _))| key == other);
        let string = |number: u32| self.strings.get(number as usize);
        if !same_keys && !tags.is_sorted_by(|(a, _), (b, _)| string(*a) < string(*b)) {
            return Err(CodecError::new("the tag keys of a series are not sorted"));
        }
        self.lists.push(tags.iter().copied().map(Ok))?;
        Ok(self.lists.len() - 1)
    }
}
