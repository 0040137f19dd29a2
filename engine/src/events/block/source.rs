//! A block as an event source.

use std::ops::Range;
use std::sync::Arc;

use roaring::{MultiOps, RoaringBitmap};

use super::cache::Part;
use super::codes::sorted_bitmap;
use super::header::{ColumnStrings, NAME, SectionKind, USER};
use super::memory::InMemory;
use super::open::EventBlock;
use super::page_readers::StringPages;
use super::properties::PropertyReader;
use super::rows::{RowReader, ValueReader};
use crate::cast::to_u32;
use crate::error::Result;
use crate::events::{
    CodedColumn, EventSource, NO_CODE, Numbers, NumbersInUse, RowNumbers, RowSet, StringCounts,
    StringHashes,
};
use crate::fingerprint::fingerprint;
use crate::model::{
    Event, EventField, EventGroupBy, EventId, NameFilter, TagCondition, TagFilter, TagValues,
};

/// If fewer than one row in this many is selected, their codes are checked one by one, which is
/// faster than combining bitmaps.
const ROWS_AMONG: u64 = 16;
/// Looking up one string in the pages of a column costs at least as much as scanning this many.
const STRINGS_PER_LOOKUP: usize = 64;

impl EventSource for EventBlock<'_> {
    fn rows(&self) -> u32 {
        self.parts.header().extent.rows
    }

    fn time_bounds(&self) -> (i64, i64) {
        (self.parts.header().extent.first_time, self.parts.header().extent.last_time)
    }

    fn times(&self) -> Result<Arc<Vec<i64>>> {
        self.parts.times()
    }

    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>> {
        let ids = self.parts.ids()?;
        let id = |row: &u32| ids.get(*row as usize).ok_or_else(|| self.no_row());
        positions.iter().map(id).collect()
    }

    fn with_name(&self, filter: &NameFilter) -> Result<RowSet> {
        match filter {
            NameFilter::Any => Ok(RowSet::All),
            NameFilter::Exactly(name) => self.with_strings(NAME, std::slice::from_ref(name)),
            NameFilter::Prefix(prefix) => self.with_prefix(NAME, prefix),
            NameFilter::PrefixExcept { prefix, but } => {
                let codes = self.codes_of_prefix_but(NAME, prefix, but)?;
                let all = prefix.is_empty() && codes.len() == 1;
                if all { Ok(RowSet::All) } else { self.with_codes(NAME, codes) }
            }
        }
    }

    fn named_among(&self, filter: &NameFilter, rows: RowSet) -> Result<RowSet> {
        let few = |rows: &RoaringBitmap| rows.len() * ROWS_AMONG < u64::from(self.rows());
        let RowSet::Some(some) = &rows else { return self.with_name(filter) };
        if !few(some) {
            return Ok(rows.and(self.with_name(filter)?));
        }
        let wanted = match filter {
            NameFilter::Any => return Ok(rows),
            NameFilter::Exactly(name) => self.codes_of(NAME, &[name])?,
            NameFilter::Prefix(prefix) => vec![self.codes_of_prefix(NAME, prefix)?],
            NameFilter::PrefixExcept { prefix, but } => {
                self.codes_of_prefix_but(NAME, prefix, but)?
            }
        };
        let codes = self.parts.codes(NAME)?;
        let is_wanted = |code: u32| match wanted.as_slice() {
            [only] => only.contains(&code),
            several => several.iter().any(|range| range.contains(&code)),
        };
        let named = some.iter().filter(|row| is_wanted(codes.code(*row as usize)));
        Ok(RowSet::Some(sorted_bitmap(named)))
    }

    fn with_user(&self, user: &str) -> Result<RowSet> {
        self.with_strings(USER, &[user])
    }

    fn with_tag(&self, filter: &TagFilter) -> Result<RowSet> {
        let Some(column) = self.parts.header().tag(&filter.key) else {
            let absent_matches = filter.condition.matches_absent();
            return Ok(if absent_matches { RowSet::All } else { RowSet::none() });
        };
        match &filter.condition {
            TagCondition::AnyOf(values) => self.with_values(column, values),
            TagCondition::NoneOf(values) => {
                Ok(self.with_values(column, values)?.complement(self.rows()))
            }
            TagCondition::Prefix(prefix) => self.with_prefix(column, prefix),
        }
    }

    fn counts(&self, by: &EventGroupBy) -> Result<Option<StringCounts>> {
        let Some(column) = self.column_of(by) else { return Ok(Some(Vec::new())) };
        Ok(match &self.parts.column(column)?.strings {
            ColumnStrings::Few(strings) => Some(strings.clone()),
            ColumnStrings::Many { .. } => None,
        })
    }

    fn groups(&self, by: &EventGroupBy) -> Result<Arc<CodedColumn>> {
        match self.column_of(by) {
            Some(column) => self.codes(column),
            None => {
                let codes = vec![NO_CODE; self.rows() as usize];
                Ok(Arc::new(CodedColumn { strings: Vec::new(), codes, rows: Some(Vec::new()) }))
            }
        }
    }

    fn string_hashes(&self, of: &EventGroupBy) -> Result<Arc<StringHashes>> {
        let Some(column) = self.column_of(of) else {
            let codes = vec![NO_CODE; self.rows() as usize];
            return Ok(Arc::new(StringHashes { hashes: Vec::new(), codes }));
        };
        self.parts.get_or_compute(Part::StringHashes(column), || {
            let mut hashes = Vec::with_capacity(self.parts.column(column)?.strings());
            self.parts.each_string(column, |text| hashes.push(fingerprint(text.as_bytes())))?;
            let codes = self.parts.codes(column)?.to_dense(self.parts.rows(), NO_CODE);
            Ok(StringHashes { hashes, codes })
        })
    }

    fn string_numbers(
        &self,
        of: &EventGroupBy,
        numbers: &NumbersInUse<'_>,
        rows: &RowSet,
    ) -> Result<Option<Arc<RowNumbers>>> {
        let Some(column) = self.column_of(of) else { return Ok(None) };
        let part = Part::StringNumbers(column);
        let is_current = |cached: &RowNumbers| cached.generation == numbers.generation();
        if let Some(cached) = self.parts.cached(part).filter(|cached| is_current(cached)) {
            return Ok(Some(cached));
        }
        let (numbers, is_shared) = numbers.of_rows(&*self.string_hashes(of)?, rows);
        let numbers = Arc::new(numbers);
        if is_shared {
            self.parts.cache(part, &numbers);
        }
        Ok(Some(numbers))
    }

    fn user_hashes(&self) -> Result<Arc<Vec<u64>>> {
        self.parts.user_hashes()
    }

    fn numbers(&self, field: &EventField, rows: &RowSet) -> Result<Numbers> {
        match rows {
            RowSet::All => self.numbers_of(field, self.rows() as usize, 0..self.rows()),
            RowSet::Some(some) => {
                // A capacity: at most all rows of the block.
                let count = usize::try_from(some.len()).unwrap_or(self.parts.rows());
                self.numbers_of(field, count, some.iter())
            }
        }
    }

    fn events(&self, positions: &[u32]) -> Result<Vec<Event>> {
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let mut reader = RowReader::open(&self.parts)?;
        positions.iter().map(|row| reader.event(*row as usize)).collect()
    }
}

impl EventBlock<'_> {
    /// Returns the column of a grouping key, or `None` if no row has it.
    fn column_of(&self, text: &EventGroupBy) -> Option<u32> {
        match text {
            EventGroupBy::Name => Some(NAME),
            EventGroupBy::User => Some(USER),
            EventGroupBy::Tag(key) => self.parts.header().tag(key),
        }
    }

    fn no_row(&self) -> crate::error::Error {
        self.parts.damaged("no such row")
    }

    /// Returns the rows with one of these strings, which must be sorted.
    fn with_strings<T: AsRef<str>>(&self, column: u32, wanted: &[T]) -> Result<RowSet> {
        self.with_codes(column, self.codes_of(column, wanted)?)
    }

    /// Returns the rows with one of these values of a tag. Rows without the tag have the empty
    /// value.
    fn with_values(&self, column: u32, values: &TagValues) -> Result<RowSet> {
        let rows = self.with_strings(column, values)?;
        if !values.contains("") {
            return Ok(rows);
        }
        let absent = self.with_prefix(column, "")?.complement(self.rows());
        Ok(rows.or(absent, self.rows()))
    }

    /// Returns the rows whose string starts with `prefix`.
    fn with_prefix(&self, column: u32, prefix: &str) -> Result<RowSet> {
        self.with_codes(column, vec![self.codes_of_prefix(column, prefix)?])
    }

    /// Returns the codes of strings, which must be sorted, as ranges. Strings that do not occur
    /// give an empty range or none.
    fn codes_of<T: AsRef<str>>(&self, column: u32, wanted: &[T]) -> Result<Vec<Range<u32>>> {
        debug_assert!(wanted.is_sorted_by(|a, b| a.as_ref() <= b.as_ref()), "sorted strings");
        let of_column = self.parts.column(column)?;
        let lookups_max = match of_column.strings {
            ColumnStrings::Few(_) => of_column.strings(),
            ColumnStrings::Many { .. } => of_column.strings() / STRINGS_PER_LOOKUP,
        };
        if wanted.len() > lookups_max {
            return self.codes_among(column, wanted);
        }
        let mut codes = Vec::new();
        match &of_column.strings {
            ColumnStrings::Few(strings) => {
                for wanted in wanted {
                    let rank = strings.binary_search_by(|(text, _)| (**text).cmp(wanted.as_ref()));
                    codes.extend(rank.ok().map(|rank| code_range(rank, rank + 1)));
                }
            }
            ColumnStrings::Many { .. } => {
                let mut strings = StringPages::open(&self.parts, SectionKind::Strings, column)?;
                for wanted in wanted.iter().map(AsRef::as_ref) {
                    let from = strings.partition_point(|text| text < wanted)?;
                    let to = strings.partition_point(|text| text <= wanted)?;
                    codes.push(code_range(from, to));
                }
            }
        }
        Ok(codes)
    }

    /// Like [`Self::codes_of`] for many wanted strings: scans the strings of the column and looks
    /// each up in `wanted`, so that the cost depends on the size of the block. Deletions may name
    /// more strings than all blocks have rows.
    fn codes_among<T: AsRef<str>>(&self, column: u32, wanted: &[T]) -> Result<Vec<Range<u32>>> {
        let (mut rank, mut codes) = (0, Vec::new());
        self.parts.each_string(column, |text| {
            if wanted.binary_search_by(|wanted| wanted.as_ref().cmp(text)).is_ok() {
                codes.push(code_range(rank, rank + 1));
            }
            rank += 1;
        })?;
        Ok(codes)
    }

    /// Returns the codes of the strings that start with `prefix`.
    fn codes_of_prefix(&self, column: u32, prefix: &str) -> Result<Range<u32>> {
        if prefix.is_empty() {
            return Ok(code_range(0, self.parts.column(column)?.strings()));
        }
        let before = |text: &str| text < prefix;
        let until = |text: &str| text < prefix || text.starts_with(prefix);
        Ok(match &self.parts.column(column)?.strings {
            ColumnStrings::Few(strings) => {
                let from = strings.partition_point(|(text, _)| before(text));
                code_range(from, strings.partition_point(|(text, _)| until(text)))
            }
            ColumnStrings::Many { .. } => {
                let mut strings = StringPages::open(&self.parts, SectionKind::Strings, column)?;
                let from = strings.partition_point(before)?;
                code_range(from, strings.partition_point(until)?)
            }
        })
    }

    /// Returns the codes of strings that start with `prefix` but not with `but`: the ranges before
    /// and after those of `but`, or a single range.
    fn codes_of_prefix_but(&self, column: u32, prefix: &str, but: &str) -> Result<Vec<Range<u32>>> {
        let all = self.codes_of_prefix(column, prefix)?;
        let out = self.codes_of_prefix(column, but)?;
        let (start, end) = (out.start.max(all.start), out.end.min(all.end));
        if start >= end {
            return Ok(vec![all]);
        }
        Ok(vec![all.start..start, end..all.end])
    }

    fn with_codes(&self, column: u32, mut codes: Vec<Range<u32>>) -> Result<RowSet> {
        codes.retain(|range| !range.is_empty());
        if codes.is_empty() {
            return Ok(RowSet::none());
        }
        let of_column = self.parts.column(column)?;
        let all = of_column.rows() == self.rows();
        if all && codes.iter().any(|range| range.len() == of_column.strings()) {
            return Ok(RowSet::All);
        }
        let rows = match of_column.strings {
            ColumnStrings::Many { .. } => {
                codes.sort_unstable_by_key(|range| range.start);
                self.parts.codes(column)?.rows_in(&codes)
            }
            ColumnStrings::Few(_) => {
                let bitmaps = self.parts.bitmaps(column)?;
                let wanted: Vec<&RoaringBitmap> = codes
                    .into_iter()
                    .flat_map(|range| &bitmaps.0[range.start as usize - 1..range.end as usize - 1])
                    .collect();
                match wanted.as_slice() {
                    [only] => (*only).clone(),
                    _ => wanted.union(),
                }
            }
        };
        Ok(if rows.len() == u64::from(self.rows()) { RowSet::All } else { RowSet::Some(rows) })
    }

    fn codes(&self, column: u32) -> Result<Arc<CodedColumn>> {
        self.parts.get_or_compute(Part::Groups(column), || {
            let mut strings = Vec::with_capacity(self.parts.column(column)?.strings());
            self.parts.each_string(column, |text| strings.push(text.into()))?;
            let rows = match self.parts.column(column)?.strings {
                ColumnStrings::Few(_) => Some(self.parts.bitmaps(column)?.0.clone()),
                ColumnStrings::Many { .. } => None,
            };
            let codes = self.parts.codes(column)?.to_dense(self.parts.rows(), NO_CODE);
            Ok(CodedColumn { strings, codes, rows })
        })
    }

    fn numbers_of(
        &self,
        field: &EventField,
        count: usize,
        rows: impl Iterator<Item = u32>,
    ) -> Result<Numbers> {
        let mut numbers =
            Numbers { positions: Vec::with_capacity(count), values: Vec::with_capacity(count) };
        let mut push = |row, number| {
            numbers.positions.push(row);
            numbers.values.push(number);
        };
        let clusters = self.parts.clusters()?;
        match field {
            EventField::Value => {
                let mut values = ValueReader::open(&self.parts)?;
                for row in rows {
                    if let Some(value) = values.get(clusters.position(row as usize))? {
                        push(row, value);
                    }
                }
            }
            EventField::Property(path) => {
                if let Some(mut reader) = PropertyReader::open(&self.parts)? {
                    reader.numbers(path, &clusters, rows, push)?;
                }
            }
        }
        Ok(numbers)
    }
}

/// Returns the codes of the strings with these ranks.
fn code_range(from: usize, to: usize) -> Range<u32> {
    to_u32(from) + 1..to_u32(to) + 1
}

impl InMemory for StringHashes {
    fn bytes(&self) -> usize {
        self.hashes.capacity() * size_of::<u128>() + self.codes.capacity() * size_of::<u32>()
    }
}

impl InMemory for RowNumbers {
    fn bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<u32>()
    }
}

impl InMemory for CodedColumn {
    fn bytes(&self) -> usize {
        let bitmaps = self.rows.iter().flatten().map(|rows| rows.serialized_size() + 64);
        let strings = self.strings.iter().map(|text| text.len() + 32);
        self.codes.capacity() * 4 + strings.sum::<usize>() + bitmaps.sum::<usize>()
    }
}
