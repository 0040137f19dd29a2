//! Encoding of a segment: series with their tags, a few bytes each, because every string is stored
//! once.
//!
//! ```text
//! frame(SeriesSegment) { strings: varint, each: string │ series: varint │ ids (differences)
//!                        │ metrics │ tags per series │ keys of all tags │ values of all tags }
//! keys and values are numbers of strings; all columns are integers
//! ```
//!
//! A seal writes segments of its new series. When some of them retire, the others are moved to a
//! new segment.

use hashbrown::HashMap;

use crate::codec::bytes::{Reader, put_bytes, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::verified::{encode_verified, expect_same};
use crate::codec::{CodecError, CodecResult};
use crate::limits;
use crate::log::SeriesDefined;
use crate::model::{MetricId, SeriesId, Tags, is_key, is_value};

const VERSION: u8 = 1;
const STRINGS_MAX: usize = limits::SEGMENT_SERIES_MAX * limits::TAGS_MAX * 2;

/// Encodes series as a row, after checking that it decodes to them.
pub(super) fn segment_row(series: &[SeriesDefined]) -> CodecResult<Vec<u8>> {
    let encode = |effort| {
        let mut row = Vec::new();
        let mark = frame::begin(&mut row, FrameKind::SeriesSegment, VERSION);
        encode_segment(series, effort, &mut row)?;
        frame::close(&mut row, mark);
        Ok(row)
    };
    let check = |row: &[u8]| expect_same(read_segment(row)? == series, "series");
    encode_verified(Effort::Seal, encode, check, || "a segment of the registry".to_owned())
}

fn encode_segment(series: &[SeriesDefined], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
    let mut numbers: HashMap<&str, i64> = HashMap::new();
    let mut strings: Vec<&str> = Vec::new();
    let mut tags = Vec::new();
    for string in series.iter().flat_map(|s| s.tags.iter()).flat_map(|(k, v)| [k, v]) {
        let number = *numbers.entry(string).or_insert_with(|| {
            strings.push(string);
            strings.len() as i64 - 1
        });
        tags.push(number);
    }
    put_varint(out, strings.len() as u64);
    strings.iter().for_each(|string| put_bytes(out, string.as_bytes()));
    put_varint(out, series.len() as u64);
    let mut before = 0;
    let ids = series.iter().map(|s| {
        let id = i64::from(s.id.0);
        id - std::mem::replace(&mut before, id)
    });
    let ids: Vec<i64> = ids.collect();
    let metrics: Vec<i64> = series.iter().map(|s| i64::from(s.metric.0)).collect();
    let counts: Vec<i64> = series.iter().map(|s| s.tags.len() as i64).collect();
    let keys: Vec<i64> = tags.iter().step_by(2).copied().collect();
    let values: Vec<i64> = tags.iter().skip(1).step_by(2).copied().collect();
    for column in [&ids, &metrics, &counts, &keys, &values] {
        integers::encode(column, effort, out)?;
    }
    Ok(())
}

/// The contents of a segment: series whose tags are numbers of strings, each of which occurs once.
#[derive(Debug)]
pub(super) struct Segment<'r> {
    strings: Vec<&'r str>,
    series: Vec<SegmentSeries>,
    /// The tags of all series, one series after the other.
    tags: Vec<NumberedTag>,
}

/// The key and the value of a tag, as numbers of strings of the segment.
pub(super) type NumberedTag = (u32, u32);

#[derive(Debug)]
struct SegmentSeries {
    id: SeriesId,
    metric: MetricId,
    /// The end of its tags; they start at the end of those of the series before it.
    end: usize,
}

/// Decodes the series of a row.
pub(super) fn read_segment(row: &[u8]) -> CodecResult<Vec<SeriesDefined>> {
    let segment = Segment::read(row)?;
    let string = |number: u32| {
        let found = segment.strings.get(number as usize);
        found.copied().ok_or_else(|| CodecError::new("string number out of range"))
    };
    let define = |(id, metric, tags): (SeriesId, MetricId, &[NumberedTag])| {
        let tags = tags.iter().map(|(k, v)| Ok((string(*k)?, string(*v)?)));
        let tags = Tags::new(&tags.collect::<CodecResult<Vec<_>>>()?);
        let tags = tags.map_err(|e| CodecError::new(e.to_string()))?;
        Ok(SeriesDefined { id, metric, tags })
    };
    segment.series().map(define).collect()
}

impl<'r> Segment<'r> {
    /// Decodes a row and checks what [`Tags`] checks: a check of each string and each distinct list
    /// of keys is much less work than one of each series.
    pub(super) fn read(row: &'r [u8]) -> CodecResult<Self> {
        let (_, payload) = frame::open(row, FrameKind::SeriesSegment, VERSION)?;
        let mut reader = Reader::new(payload);
        let strings = (0..reader.count("strings", STRINGS_MAX)?)
            .map(|_| reader.text())
            .collect::<CodecResult<Vec<_>>>()?;
        let count = reader.count("series", limits::SEGMENT_SERIES_MAX)?;
        let mut columns: [Vec<i64>; 5] = Default::default();
        for (i, column) in columns.iter_mut().enumerate() {
            let rows_max = if i < 3 { count } else { count * limits::TAGS_MAX };
            IntegerColumn::read(&mut reader, rows_max)?.all(column)?;
        }
        reader.finish()?;
        let [ids, metrics, counts, keys, values] = columns;
        let tags = numbered_tags(&strings, &keys, &values)?;
        let series = numbered_series(&ids, &metrics, &counts)?;
        let segment = Self { strings, series, tags };
        segment.check_tags()?;
        Ok(segment)
    }

    /// Returns the strings of all tags.
    pub(super) fn strings(&self) -> &[&'r str] {
        &self.strings
    }

    /// Iterates over the series and their tags, in the order of the row.
    pub(super) fn series(&self) -> impl Iterator<Item = (SeriesId, MetricId, &[NumberedTag])> {
        let mut start = 0;
        self.series.iter().map(move |series| {
            let tags = self.tags.get(start..series.end).unwrap_or_default();
            start = series.end;
            (series.id, series.metric, tags)
        })
    }

    /// Checks that every tag belongs to a series, and that no series has more tags than allowed, or
    /// keys that are not sorted and distinct.
    fn check_tags(&self) -> CodecResult<()> {
        let ends = self.series.last().map_or(0, |series| series.end);
        if ends < self.tags.len() {
            return Err(CodecError::new("tags that belong to no series"));
        }
        if ends > self.tags.len() {
            return Err(CodecError::new("a series has fewer tags than it claims"));
        }
        let string = |number: u32| self.strings.get(number as usize);
        let mut before: &[NumberedTag] = &[];
        for (.., tags) in self.series() {
            let same = tags.len() == before.len()
                && tags.iter().zip(before).all(|((key, _), (other, _))| key == other);
            if !same {
                if tags.len() > limits::TAGS_MAX {
                    return Err(CodecError::new("a series has too many tags"));
                }
                if !tags.is_sorted_by(|(a, _), (b, _)| string(*a) < string(*b)) {
                    return Err(CodecError::new("the tag keys of a series are not sorted"));
                }
            }
            before = tags;
        }
        Ok(())
    }
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

fn numbered_series(
    ids: &[i64],
    metrics: &[i64],
    counts: &[i64],
) -> CodecResult<Vec<SegmentSeries>> {
    let small = |v: i64| u32::try_from(v).map_err(|_| CodecError::new("id exceeds 32 bits"));
    let (mut id, mut end) = (0i64, 0usize);
    let mut series = Vec::with_capacity(ids.len());
    for ((delta, metric), tags) in ids.iter().zip(metrics).zip(counts) {
        id = id.wrapping_add(*delta);
        let tags =
            usize::try_from(*tags).map_err(|_| CodecError::new("negative number of tags"))?;
        end = end.saturating_add(tags);
        series.push(SegmentSeries {
            id: SeriesId(small(id)?),
            metric: MetricId(small(*metric)?),
            end,
        });
    }
    Ok(series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_round_trips_and_is_small() {
        let series: Vec<SeriesDefined> = (0..1000u32)
            .map(|i| {
                let (host, zone) = (format!("host-{}", i / 10), format!("zone-{}", i % 3));
                let tags = [("host", host.as_str()), ("zone", &zone), ("team", "core")];
                let tags = Tags::new(&tags).unwrap();
                SeriesDefined { id: SeriesId(5000 + i), metric: MetricId(i % 10), tags }
            })
            .collect();
        let row = segment_row(&series).unwrap();
        assert!(row.len() < 1000 * 8, "{} bytes", row.len());
        assert_eq!(read_segment(&row).unwrap(), series);
    }

    #[test]
    fn a_segment_with_one_series_over_the_limit_is_refused() {
        let tags = Tags::new(&[("host", "a")]).unwrap();
        let series =
            |id| SeriesDefined { id: SeriesId(id), metric: MetricId(1), tags: tags.clone() };
        let read = |count: usize| {
            let series: Vec<SeriesDefined> = (0..count as u32).map(series).collect();
            let row = segment_row(&series).and_then(|row| read_segment(&row));
            row.map(|read| read.len()).ok()
        };
        assert_eq!(read(limits::SEGMENT_SERIES_MAX), Some(limits::SEGMENT_SERIES_MAX));
        assert_eq!(read(limits::SEGMENT_SERIES_MAX + 1), None);
    }

    /// Encodes one series without a check.
    fn row_of(tags: &[(&str, &str)], count: i64) -> Vec<u8> {
        let mut row = Vec::new();
        let mark = frame::begin(&mut row, FrameKind::SeriesSegment, VERSION);
        put_varint(&mut row, 2 * tags.len() as u64);
        for (key, value) in tags {
            put_bytes(&mut row, key.as_bytes());
            put_bytes(&mut row, value.as_bytes());
        }
        put_varint(&mut row, 1);
        let keys: Vec<i64> = (0..tags.len() as i64).map(|tag| 2 * tag).collect();
        let values: Vec<i64> = keys.iter().map(|key| key + 1).collect();
        for column in [&vec![7], &vec![1], &vec![count], &keys, &values] {
            integers::encode(column, Effort::Seal, &mut row).unwrap();
        }
        frame::close(&mut row, mark);
        row
    }

    #[test]
    fn tags_that_no_series_can_have_are_refused() {
        let error = |tags: &[(&str, &str)], count| match read_segment(&row_of(tags, count)) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        let long_key = "k".repeat(limits::TAG_KEY_CHARS_MAX);
        let long_value = "é".repeat(limits::TAG_VALUE_CHARS_MAX);
        assert_eq!(error(&[("a", "x"), ("b", "")], 2), "");
        assert_eq!(error(&[(&long_key, &long_value)], 1), "");
        assert!(error(&[("b", "x"), ("a", "y")], 2).contains("not sorted"));
        assert!(error(&[("a", "x"), ("a", "y")], 2).contains("not sorted"));
        assert!(error(&[("", "x")], 1).contains("cannot be part of a tag"));
        assert!(error(&[(&format!("{long_key}k"), "x")], 1).contains("cannot be part of a tag"));
        assert!(error(&[("a", &format!("{long_value}v"))], 1).contains("cannot be part of a tag"));
        assert!(error(&[("a\n", "x")], 1).contains("cannot be part of a tag"));
        assert!(error(&[("a", "x")], 2).contains("fewer tags"));
        assert!(error(&[("a", "x")], 0).contains("belong to no series"));
        assert!(error(&[("a", "x")], -1).contains("negative"));
        assert!(error(&[("a", "x")], i64::MAX).contains("fewer tags"));
        let many: Vec<String> = (0..=limits::TAGS_MAX).map(|n| format!("k{n:02}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|key| (key.as_str(), "v")).collect();
        assert_eq!(error(&many[1..], limits::TAGS_MAX as i64), "");
        assert_ne!(error(&many, many.len() as i64), "");
    }
}
