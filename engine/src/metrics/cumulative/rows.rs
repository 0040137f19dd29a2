//! The last cumulative values on disk: one row of the `last_values` keyspace per page, written by
//! each seal that finds the page changed and loaded when the engine is opened.
//!
//! ```text
//! 'c' page: u32 BE   frame(CounterLastValues), see `stored.rs`
//! 'h' page: u32 BE   frame(HistogramLastValues)
//! ```
//!
//! A row that cannot be read is reported, and its series lose their last value: their next sample
//! adds no increase, because it is unknown how much of it was counted already.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::counter::LastCounter;
use super::last_values::{LastHistogram, LastValues};
use super::pages::{Changed, PAGE_SERIES, Page, page_of};
use super::stored;
use crate::codec::integers::Effort;
use crate::codec::verified::{encode_verified, expect_same};
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::model::{SeriesId, TimestampMs};
use crate::reports::VerifyReport;
use crate::storage::{Batch, Caching, KeyOf, RangeOf, Store, ValueOf, keyspaces};

const COUNTERS: u8 = b'c';
const HISTOGRAMS: u8 = b'h';

/// The key of a row: its kind and the number of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LastValuesKey {
    kind: u8,
    number: u32,
}

/// The pages that a seal has to write.
#[derive(Debug)]
pub(crate) struct ChangedLastValues {
    pub(super) counters: Vec<Changed<LastCounter>>,
    pub(super) histograms: Vec<Changed<Arc<LastHistogram>>>,
}

impl ChangedLastValues {
    /// Iterates over the series of the changed pages, which include unchanged neighbours, with the
    /// times of their last values.
    pub(crate) fn times(&self) -> impl Iterator<Item = (SeriesId, TimestampMs)> {
        let counters = self.counters.iter().filter_map(|(n, page)| Some((*n, page.as_deref()?)));
        let counters =
            counters.flat_map(|(n, page)| page.iter(n).map(|(id, last)| (id, last.time)));
        let histograms = self.histograms.iter();
        let histograms = histograms.filter_map(|(n, page)| Some((*n, page.as_deref()?)));
        counters
            .chain(histograms.flat_map(|(n, page)| page.iter(n).map(|(id, last)| (id, last.time))))
    }

    /// Stages the rows in a batch.
    pub(crate) fn stage(&self, batch: &mut Batch) -> Result<()> {
        for (number, page) in &self.counters {
            let (encode, decode) = (stored::encode_counters, stored::decode_counters);
            let key = LastValuesKey { kind: COUNTERS, number: *number };
            stage_page(batch, key, page.as_deref(), encode, decode)?;
        }
        for (number, page) in &self.histograms {
            let (encode, decode) = (stored::encode_histograms, stored::decode_histograms);
            let key = LastValuesKey { kind: HISTOGRAMS, number: *number };
            stage_page(batch, key, page.as_deref(), encode, decode)?;
        }
        Ok(())
    }
}

/// Stages the row of a page in a batch, after checking that it decodes to the page.
fn stage_page<T: PartialEq>(
    batch: &mut Batch,
    key: LastValuesKey,
    page: Option<&Page<T>>,
    encode: impl Fn(u32, &Page<T>, Effort) -> CodecResult<Vec<u8>>,
    decode: impl Fn(u32, &[u8]) -> CodecResult<Page<T>>,
) -> Result<()> {
    let LastValuesKey { number, .. } = key;
    let encoded = |page| {
        encode_verified(
            Effort::Seal,
            |effort| encode(number, page, effort),
            |row| expect_same(decode(number, row)? == *page, "last cumulative values"),
            || series_of(key),
        )
    };
    put(batch, key, page.map(encoded).transpose()?);
    Ok(())
}

fn put(batch: &mut Batch, key: LastValuesKey, row: Option<Vec<u8>>) {
    match row {
        Some(row) => batch.put(keyspaces::LastValues, &key, row),
        None => batch.delete(keyspaces::LastValues, &key),
    }
}

/// Loads all last values. `end` is the lowest series id not in use and `pages` are the pages that
/// contain series. Descriptions of what cannot be read are added to `damaged`.
pub(crate) fn load(
    store: &Store,
    end: SeriesId,
    pages: &RoaringBitmap,
    damaged: &mut Vec<String>,
) -> Result<LastValues> {
    let mut last_values = LastValues::default();
    let mut seen: Vec<LastValuesKey> = Vec::new();
    let mut lost: Vec<LastValuesKey> = Vec::new();
    let gap = read_rows(store, |key, row| match decode_key(key) {
        Ok(key) => {
            seen.push(key);
            if let Err(error) = restore(&mut last_values, key, row) {
                damaged.push(describe(key, &error));
                lost.push(key);
            }
        }
        Err(error) => damaged.push(format!("last cumulative values {key:02x?}: {error}")),
    })?;
    if let Some((after, error)) = gap {
        damaged.push(format!("last cumulative values: {error}"));
        lost.extend(keys_between(after, &seen, pages));
    }
    for LastValuesKey { kind, number } in lost {
        match kind {
            COUNTERS => last_values.lose_counters(number, end),
            _ => last_values.lose_histograms(number, end),
        }
    }
    Ok(last_values)
}

/// Reads and checks all rows, for verification.
pub(crate) fn check(store: &Store, report: &mut VerifyReport) -> Result<()> {
    let VerifyReport { bytes, damaged, .. } = report;
    let gap = read_rows(store, |key, row| {
        *bytes += row.len() as u64;
        let checked =
            decode_key(key).map(|key| (key, restore(&mut LastValues::default(), key, row)));
        match checked {
            Ok((_, Ok(()))) => {}
            Ok((key, Err(error))) => damaged.push(describe(key, &error)),
            Err(error) => damaged.push(format!("last cumulative values {key:02x?}: {error}")),
        }
    })?;
    damaged.extend(gap.map(|(_, error)| format!("last cumulative values: {error}")));
    Ok(())
}

/// Visits all readable rows. If some are unreadable, returns the last key before them and the
/// error.
fn read_rows(
    store: &Store,
    mut visit: impl FnMut(&[u8], &[u8]),
) -> Result<Option<(Option<LastValuesKey>, String)>> {
    let visit = |key: Box<[u8]>, row: Box<[u8]>| visit(&key, &row);
    let all = RangeOf::all(keyspaces::LastValues);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    Ok(gap.map(|gap| {
        let after = gap.after.and_then(|key| decode_key(&key).ok());
        (after, gap.error.to_string())
    }))
}

fn restore(last_values: &mut LastValues, key: LastValuesKey, row: &[u8]) -> CodecResult<()> {
    let LastValuesKey { kind, number } = key;
    match kind {
        COUNTERS => last_values.restore_counters(number, stored::decode_counters(number, row)?),
        _ => last_values.restore_histograms(number, stored::decode_histograms(number, row)?),
    }
    Ok(())
}

/// Returns the keys of the rows of `pages` between `after` and the next key in `seen`.
fn keys_between(
    after: Option<LastValuesKey>,
    seen: &[LastValuesKey],
    pages: &RoaringBitmap,
) -> Vec<LastValuesKey> {
    let next = seen.iter().copied().filter(|key| after.is_none_or(|after| *key > after)).min();
    let pages_of = |kind| pages.iter().map(move |number| LastValuesKey { kind, number });
    let all = [COUNTERS, HISTOGRAMS].into_iter().flat_map(pages_of);
    all.filter(|key| after.is_none_or(|after| *key > after) && next.is_none_or(|next| *key < next))
        .collect()
}

fn describe(key: LastValuesKey, error: &CodecError) -> String {
    format!("{}: {error}", series_of(key))
}

/// Describes the contents of a row.
fn series_of(LastValuesKey { kind, number }: LastValuesKey) -> String {
    let of = if kind == COUNTERS { "counters" } else { "histograms" };
    let first = number.saturating_mul(PAGE_SERIES);
    let last = first.saturating_add(PAGE_SERIES - 1);
    format!("last cumulative values of {of}, series {first} to {last}")
}

impl KeyOf<keyspaces::LastValues> for LastValuesKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        let [a, b, c, d] = self.number.to_be_bytes();
        [self.kind, a, b, c, d]
    }
}

/// An encoded page.
impl ValueOf<keyspaces::LastValues> for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
}

fn decode_key(key: &[u8]) -> CodecResult<LastValuesKey> {
    match key {
        [kind @ (COUNTERS | HISTOGRAMS), number @ ..] => {
            let number = number.try_into().map(u32::from_be_bytes);
            let number = number.map_err(|_| CodecError::new("key has the wrong length"))?;
            if number > page_of(SeriesId(u32::MAX)) {
                return Err(CodecError::new("page number exceeds the series id range"));
            }
            Ok(LastValuesKey { kind: *kind, number })
        }
        _ => Err(CodecError::new("unknown row kind")),
    }
}
