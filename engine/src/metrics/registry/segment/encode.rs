//! Encodes a segment.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::contents::Segment;
use crate::codec::CodecResult;
use crate::codec::bytes::{put_bytes, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::{self, Effort};
use crate::codec::verified::{encode_verified, expect_same};
use crate::log::SeriesDefined;
use crate::model::Tags;

/// The version that is written.
pub(super) const VERSION: u8 = 2;

/// Encodes series as a row, after checking that it decodes to them.
pub(in crate::metrics::registry) fn segment_row(series: &[SeriesDefined]) -> CodecResult<Vec<u8>> {
    let encode = |effort| {
        let mut row = Vec::new();
        let mark = frame::begin(&mut row, FrameKind::SeriesSegment, VERSION);
        encode_segment(series, effort, &mut row)?;
        frame::close(&mut row, mark);
        Ok(row)
    };
    let check = |row: &[u8]| expect_same(Segment::read(row)?.is_of(series), "series");
    encode_verified(Effort::Seal, encode, check, || "a segment of the registry".to_owned())
}

fn encode_segment(series: &[SeriesDefined], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
    let (lists, list_of_each) = distinct_lists(series);
    put_lists(&lists, effort, out)?;
    put_varint(out, series.len() as u64);
    let before = series.first().map_or(0, |first| i64::from(first.id.0) - 1);
    put_signed(out, before);
    let ids = differences(before, series.iter().map(|s| i64::from(s.id.0)));
    let metrics: Vec<i64> = series.iter().map(|s| i64::from(s.metric.0)).collect();
    for column in [&ids, &metrics, &list_of_each] {
        integers::encode(column, effort, out)?;
    }
    Ok(())
}

fn differences(mut before: i64, values: impl Iterator<Item = i64>) -> Vec<i64> {
    values.map(|value| value - std::mem::replace(&mut before, value)).collect()
}

/// Returns the distinct lists of tags, and that of each series less the one that follows the list
/// of the series before it.
fn distinct_lists(series: &[SeriesDefined]) -> (Vec<&Tags>, Vec<i64>) {
    let mut numbers: HashMap<&Tags, i64> = HashMap::new();
    let mut lists: Vec<&Tags> = Vec::new();
    let mut following = 0;
    let of_each = series.iter().map(|series| {
        let number = *numbers.entry(&series.tags).or_insert_with(|| {
            lists.push(&series.tags);
            lists.len() as i64 - 1
        });
        number - std::mem::replace(&mut following, number + 1)
    });
    let of_each = of_each.collect();
    (lists, of_each)
}

/// The values of a key in lists of tags.
#[derive(Default)]
struct KeyValues<'s> {
    /// For each list with the key: 0 for a value that no list before has, else 1 + its number.
    of_lists: Vec<i64>,
    /// In order of first use.
    distinct: Vec<&'s str>,
    numbers: HashMap<&'s str, i64>,
}

impl<'s> KeyValues<'s> {
    fn add(&mut self, value: &'s str) {
        let next = self.distinct.len() as i64;
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.distinct.push(value);
            self.of_lists.push(0);
        } else {
            self.of_lists.push(1 + number);
        }
    }
}

fn put_lists(lists: &[&Tags], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
    let mut keys: BTreeMap<&str, KeyValues<'_>> = BTreeMap::new();
    for (key, value) in lists.iter().flat_map(|tags| tags.iter()) {
        keys.entry(key).or_default().add(value);
    }
    put_varint(out, keys.len() as u64);
    keys.keys().for_each(|key| put_bytes(out, key.as_bytes()));
    let of_lists = put_key_lists(lists, &keys, out);
    put_varint(out, lists.len() as u64);
    integers::encode(&of_lists, effort, out)?;
    for values in keys.values() {
        integers::encode(&values.of_lists, effort, out)?;
    }
    for value in keys.values().flat_map(|values| &values.distinct) {
        put_bytes(out, value.as_bytes());
    }
    Ok(())
}

/// Appends the distinct lists of keys. Returns that of each list of tags.
fn put_key_lists(
    lists: &[&Tags],
    keys: &BTreeMap<&str, KeyValues<'_>>,
    out: &mut Vec<u8>,
) -> Vec<i64> {
    let numbers: HashMap<&str, u64> = keys.keys().copied().zip(0..).collect();
    let mut known: HashMap<Vec<&str>, i64> = HashMap::new();
    let mut rows = Vec::new();
    let of_lists = lists.iter().map(|tags| {
        let keys: Vec<&str> = tags.iter().map(|(key, _)| key).collect();
        let next = known.len() as i64;
        *known.entry(keys).or_insert_with_key(|keys| {
            put_varint(&mut rows, keys.len() as u64);
            let mut least = 0;
            for number in keys.iter().filter_map(|key| numbers.get(key)) {
                put_varint(&mut rows, number - least);
                least = number + 1;
            }
            next
        })
    });
    let of_lists = of_lists.collect();
    put_varint(out, known.len() as u64);
    out.extend_from_slice(&rows);
    of_lists
}
