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
use crate::model::{MetricId, SeriesId, Tags};

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

/// Decodes the series of a row.
pub(super) fn read_segment(row: &[u8]) -> CodecResult<Vec<SeriesDefined>> {
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
    let small = |v: i64| u32::try_from(v).map_err(|_| CodecError::new("id exceeds 32 bits"));
    let string = |number: &i64| {
        let found = usize::try_from(*number).ok().and_then(|n| strings.get(n));
        found.copied().ok_or_else(|| CodecError::new("string number out of range"))
    };
    let mut pairs = keys.iter().zip(&values);
    let mut id = 0i64;
    let mut series = Vec::with_capacity(count);
    for ((delta, metric), tags) in ids.iter().zip(&metrics).zip(&counts) {
        id = id.wrapping_add(*delta);
        let count =
            usize::try_from(*tags).map_err(|_| CodecError::new("negative number of tags"))?;
        let tags = pairs
            .by_ref()
            .take(count)
            .map(|(k, v)| Ok((string(k)?, string(v)?)))
            .collect::<CodecResult<Vec<_>>>()?;
        if tags.len() < count {
            return Err(CodecError::new("a series has fewer tags than it claims"));
        }
        let tags = Tags::new(&tags).map_err(|e| CodecError::new(e.to_string()))?;
        series.push(SeriesDefined {
            id: SeriesId(small(id)?),
            metric: MetricId(small(*metric)?),
            tags,
        });
    }
    if pairs.next().is_some() {
        return Err(CodecError::new("tags that belong to no series"));
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
}
