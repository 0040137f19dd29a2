//! Part of the head as an event source: rows stored in arrival order, presented ordered by time and
//! id.
//!
//! A filter resolves its strings to ids once and then scans the columns. A chunk has some thousands
//! of rows, so a scan is cheaper than building an index.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::path::PropertyPath;
use super::{CodedColumn, EventSource, NO_CODE, Numbers, RowSet, StringCounts, StringHashes};
use crate::error::Result;
use crate::fingerprint::fingerprint;
use crate::model::{
    Event, EventField, EventGroupBy, EventId, EventRows, NameFilter, StringId, TagCondition,
    TagFilter,
};
use crate::sketch::hash_member;

/// Immutable rows of the head.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    rows: Arc<EventRows>,
    /// Row numbers sorted by time, then id. A position of the source is an index into this.
    order: Arc<[u32]>,
    times: Arc<Vec<i64>>,
}

impl Chunk {
    /// Returns the chunk of `rows`, which may be in any order.
    pub(crate) fn new(rows: Arc<EventRows>) -> Self {
        let (times, ids) = (rows.times(), rows.ids());
        let key = |row: &u32| (times.get(*row as usize), ids.get(*row as usize));
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        if !order.is_sorted_by_key(key) {
            order.sort_unstable_by_key(key);
        }
        let times = order.iter().map(|row| times[*row as usize]).collect();
        Self { order: order.into(), times: Arc::new(times), rows }
    }

    /// Returns the rows in arrival order.
    pub(super) fn columns(&self) -> &EventRows {
        &self.rows
    }

    /// Returns the rows that satisfy `test`.
    fn rows_where(&self, mut test: impl FnMut(usize) -> bool) -> RowSet {
        let mut some = RoaringBitmap::new();
        for (position, row) in (0..).zip(self.order.iter()) {
            if test(*row as usize) {
                some.insert(position);
            }
        }
        if some.len() == self.order.len() as u64 { RowSet::All } else { RowSet::Some(some) }
    }

    /// Returns the rows whose string in `column` is wanted.
    fn rows_with(
        &self,
        column: impl Fn(usize) -> Option<StringId>,
        wanted: &mut StringMatcher<'_>,
    ) -> RowSet {
        self.rows_where(|row| column(row).is_some_and(|text| wanted.has(text)))
    }

    fn name(&self, row: usize) -> Option<StringId> {
        Some(self.rows.names()[row])
    }

    fn user(&self, row: usize) -> Option<StringId> {
        self.rows.users()[row]
    }

    /// Returns the row numbers at these positions.
    fn at<'a>(&'a self, positions: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        positions.iter().map(|at| self.order[*at as usize] as usize)
    }

    /// Returns the distinct strings of the grouping column, and the code of each row.
    fn strings_and_codes(&self, by: &EventGroupBy) -> (Vec<&str>, Vec<u32>) {
        match by {
            EventGroupBy::Name => self.coded(|row| self.name(row)),
            EventGroupBy::User => self.coded(|row| self.user(row)),
            EventGroupBy::Tag(key) => {
                let key = self.rows.texts().get(key);
                self.coded(|row| self.rows.tag(row, key?))
            }
        }
    }

    fn coded(&self, column: impl Fn(usize) -> Option<StringId>) -> (Vec<&str>, Vec<u32>) {
        let (mut strings, mut codes) = (Vec::new(), Vec::with_capacity(self.order.len()));
        let mut code_of = vec![NO_CODE; self.rows.texts().len()];
        for row in self.order.iter() {
            let text = column(*row as usize);
            codes.push(text.map_or(NO_CODE, |text| {
                let code = &mut code_of[text.0 as usize];
                if *code == NO_CODE {
                    *code = strings.len() as u32;
                    strings.push(self.rows.texts().text(text));
                }
                *code
            }));
        }
        (strings, codes)
    }

    fn collect_numbers(&self, rows: &RowSet, number: impl Fn(usize) -> Option<f64>) -> Numbers {
        let mut numbers = Numbers::default();
        let mut take = |position: u32| {
            if let Some(value) = number(self.order[position as usize] as usize) {
                numbers.positions.push(position);
                numbers.values.push(value);
            }
        };
        match rows {
            RowSet::All => (0..self.order.len() as u32).for_each(&mut take),
            RowSet::Some(some) => some.iter().for_each(&mut take),
        }
        numbers
    }
}

/// Evaluates a string predicate at most once for each distinct string of the rows.
struct StringMatcher<'a> {
    rows: &'a EventRows,
    known: Vec<Option<bool>>,
    wanted: &'a dyn Fn(&str) -> bool,
}

impl<'a> StringMatcher<'a> {
    fn new(rows: &'a EventRows, wanted: &'a dyn Fn(&str) -> bool) -> Self {
        Self { rows, known: vec![None; rows.texts().len()], wanted }
    }

    fn has(&mut self, text: StringId) -> bool {
        let Self { rows, known, wanted } = self;
        let evaluate = || wanted(rows.texts().text(text));
        *known[text.0 as usize].get_or_insert_with(evaluate)
    }
}

impl EventSource for Chunk {
    fn rows(&self) -> u32 {
        self.order.len() as u32
    }

    fn time_bounds(&self) -> (i64, i64) {
        // The bounds of an empty chunk mean nothing.
        let (first, last) = (self.times.first(), self.times.last());
        (first.copied().unwrap_or_default(), last.copied().unwrap_or_default())
    }

    fn times(&self) -> Result<Arc<Vec<i64>>> {
        Ok(Arc::clone(&self.times))
    }

    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>> {
        Ok(self.at(positions).map(|row| self.rows.ids()[row]).collect())
    }

    fn with_name(&self, filter: &NameFilter) -> Result<RowSet> {
        Ok(match filter {
            NameFilter::Any => RowSet::All,
            NameFilter::Exactly(name) => match self.rows.texts().get(name) {
                Some(name) => self.rows_where(|row| self.name(row) == Some(name)),
                None => RowSet::none(),
            },
            NameFilter::Prefix(prefix) => {
                let wanted = |name: &str| name.starts_with(prefix.as_str());
                self.rows_with(|row| self.name(row), &mut StringMatcher::new(&self.rows, &wanted))
            }
            NameFilter::PrefixExcept { prefix, but } => {
                let starts = |name: &str, text: &String| name.starts_with(text.as_str());
                let wanted = |name: &str| starts(name, prefix) && !starts(name, but);
                self.rows_with(|row| self.name(row), &mut StringMatcher::new(&self.rows, &wanted))
            }
        })
    }

    fn with_user(&self, user: &str) -> Result<RowSet> {
        Ok(match self.rows.texts().get(user) {
            Some(user) => self.rows_where(|row| self.user(row) == Some(user)),
            None => RowSet::none(),
        })
    }

    fn with_tag(&self, filter: &TagFilter) -> Result<RowSet> {
        let none_of = matches!(filter.condition, TagCondition::NoneOf(_));
        let absent_matches = filter.condition.matches_absent();
        let Some(key) = self.rows.texts().get(&filter.key) else {
            return Ok(if absent_matches { RowSet::All } else { RowSet::none() });
        };
        let wanted = |value: &str| match &filter.condition {
            TagCondition::AnyOf(values) | TagCondition::NoneOf(values) => values.contains(value),
            TagCondition::Prefix(prefix) => value.starts_with(prefix.as_str()),
        };
        let mut strings = StringMatcher::new(&self.rows, &wanted);
        Ok(self.rows_where(|row| match self.rows.tag(row, key) {
            Some(value) => strings.has(value) != none_of,
            None => absent_matches,
        }))
    }

    fn counts(&self, _: &EventGroupBy) -> Result<Option<StringCounts>> {
        Ok(None)
    }

    fn groups(&self, by: &EventGroupBy) -> Result<Arc<CodedColumn>> {
        let (strings, codes) = self.strings_and_codes(by);
        let strings = strings.into_iter().map(Box::from).collect();
        Ok(Arc::new(CodedColumn { strings, codes, rows: None }))
    }

    fn string_hashes(&self, of: &EventGroupBy) -> Result<Arc<StringHashes>> {
        let (strings, codes) = self.strings_and_codes(of);
        let hashes = strings.iter().map(|text| fingerprint(text.as_bytes())).collect();
        Ok(Arc::new(StringHashes { hashes, codes }))
    }

    fn user_hashes(&self) -> Result<Arc<Vec<u64>>> {
        let strings = self.rows.texts();
        let hash =
            |row: &u32| self.user(*row as usize).map_or(0, |user| hash_member(strings.text(user)));
        Ok(Arc::new(self.order.iter().map(hash).collect()))
    }

    fn numbers(&self, field: &EventField, rows: &RowSet) -> Result<Numbers> {
        Ok(match field {
            EventField::Value => self.collect_numbers(rows, |row| {
                Some(self.rows.values()[row]).filter(|value| !value.is_nan())
            }),
            EventField::Property(keys) => match PropertyPath::new(keys) {
                Some(path) => {
                    self.collect_numbers(rows, |row| path.number(self.rows.properties(row)))
                }
                None => Numbers::default(),
            },
        })
    }

    fn events(&self, positions: &[u32]) -> Result<Vec<Event>> {
        Ok(self.at(positions).filter_map(|row| self.rows.event(row)).collect())
    }
}
