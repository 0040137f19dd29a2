//! A part of the head as a source: rows in the order they came, seen in the order of time and id.
//!
//! What is asked for by text is looked up once; then columns are read from end to end. A chunk has some thousand rows, so
//! that is quicker than any index is built.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::path::PropertyPath;
use super::{Codes, Counts, NO_CODE, Numbers, Rows, Source, TextHashes};
use crate::error::Result;
use crate::fingerprint::fingerprint;
use crate::model::{
    Event, EventField, EventGroupBy, EventId, EventRows, NameFilter, TagCondition, TagFilter,
    TextId,
};
use crate::sketch::hash_member;

/// Rows of the head that do not change any more.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    rows: Arc<EventRows>,
    /// The rows, sorted by time and id: a position is an index in here.
    order: Arc<[u32]>,
    times: Arc<Vec<i64>>,
}

impl Chunk {
    /// The chunk of these rows, which come in any order.
    pub(crate) fn new(rows: Arc<EventRows>) -> Self {
        let (times, ids) = (rows.times(), rows.ids());
        let key = |row: &u32| (times.get(*row as usize), ids.get(*row as usize));
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        if !order.is_sorted_by_key(key) {
            order.sort_unstable_by_key(key);
        }
        let times = order.iter().filter_map(|row| times.get(*row as usize).copied()).collect();
        Self { order: order.into(), times: Arc::new(times), rows }
    }

    /// The rows in the order they came.
    pub(super) fn columns(&self) -> &EventRows {
        &self.rows
    }

    /// The rows of which the test holds.
    fn rows_where(&self, mut test: impl FnMut(usize) -> bool) -> Rows {
        let mut some = RoaringBitmap::new();
        for (position, row) in (0..).zip(self.order.iter()) {
            if test(*row as usize) {
                some.insert(position);
            }
        }
        if some.len() == self.order.len() as u64 { Rows::All } else { Rows::Some(some) }
    }

    /// The rows that name one of the texts in a column.
    fn rows_with(&self, column: impl Fn(usize) -> Option<TextId>, wanted: &mut Texts<'_>) -> Rows {
        self.rows_where(|row| column(row).is_some_and(|text| wanted.has(text)))
    }

    fn name(&self, row: usize) -> Option<TextId> {
        self.rows.names().get(row).copied()
    }

    fn user(&self, row: usize) -> Option<TextId> {
        self.rows.users().get(row).copied().flatten()
    }

    /// The rows at these positions.
    fn at<'a>(&'a self, positions: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        positions.iter().filter_map(|at| self.order.get(*at as usize)).map(|row| *row as usize)
    }

    /// The texts of the column that makes the groups, and which of them each row has.
    fn texts_and_codes(&self, by: &EventGroupBy) -> (Vec<&str>, Vec<u32>) {
        match by {
            EventGroupBy::Name => self.coded(|row| self.name(row)),
            EventGroupBy::User => self.coded(|row| self.user(row)),
            EventGroupBy::Tag(key) => {
                let key = self.rows.texts().get(key);
                self.coded(|row| self.rows.tag(row, key?))
            }
        }
    }

    fn coded(&self, column: impl Fn(usize) -> Option<TextId>) -> (Vec<&str>, Vec<u32>) {
        let (mut texts, mut codes) = (Vec::new(), Vec::with_capacity(self.order.len()));
        let mut code_of = vec![NO_CODE; self.rows.texts().len()];
        for row in self.order.iter() {
            let text = column(*row as usize);
            let code = text.and_then(|text| Some((text, code_of.get_mut(text.0 as usize)?)));
            codes.push(code.map_or(NO_CODE, |(text, code)| {
                if *code == NO_CODE {
                    *code = texts.len() as u32;
                    texts.push(self.rows.texts().text(text));
                }
                *code
            }));
        }
        (texts, codes)
    }

    fn collect_numbers(&self, rows: &Rows, number: impl Fn(usize) -> Option<f64>) -> Numbers {
        let mut numbers = Numbers::default();
        let mut take = |position: u32| {
            let row = self.order.get(position as usize);
            if let Some(value) = row.and_then(|row| number(*row as usize)) {
                numbers.positions.push(position);
                numbers.values.push(value);
            }
        };
        match rows {
            Rows::All => (0..self.order.len() as u32).for_each(&mut take),
            Rows::Some(some) => some.iter().for_each(&mut take),
        }
        numbers
    }
}

/// Texts that are looked for; each text of the rows is judged once.
struct Texts<'a> {
    rows: &'a EventRows,
    judged: Vec<Option<bool>>,
    wanted: &'a dyn Fn(&str) -> bool,
}

impl<'a> Texts<'a> {
    fn new(rows: &'a EventRows, wanted: &'a dyn Fn(&str) -> bool) -> Self {
        Self { rows, judged: vec![None; rows.texts().len()], wanted }
    }

    fn has(&mut self, text: TextId) -> bool {
        let Self { rows, judged, wanted } = self;
        let judge = || wanted(rows.texts().text(text));
        judged.get_mut(text.0 as usize).is_some_and(|judged| *judged.get_or_insert_with(judge))
    }
}

impl Source for Chunk {
    fn rows(&self) -> u32 {
        self.order.len() as u32
    }

    fn time_bounds(&self) -> (i64, i64) {
        let (first, last) = (self.times.first(), self.times.last());
        (first.copied().unwrap_or_default(), last.copied().unwrap_or_default())
    }

    fn times(&self) -> Result<Arc<Vec<i64>>> {
        Ok(Arc::clone(&self.times))
    }

    fn ids(&self, positions: &[u32]) -> Result<Vec<EventId>> {
        Ok(self.at(positions).filter_map(|row| self.rows.ids().get(row).copied()).collect())
    }

    fn with_name(&self, filter: &NameFilter) -> Result<Rows> {
        Ok(match filter {
            NameFilter::Any => Rows::All,
            NameFilter::Exactly(name) => match self.rows.texts().get(name) {
                Some(name) => self.rows_where(|row| self.name(row) == Some(name)),
                None => Rows::none(),
            },
            NameFilter::Prefix(prefix) => {
                let wanted = |name: &str| name.starts_with(prefix.as_str());
                self.rows_with(|row| self.name(row), &mut Texts::new(&self.rows, &wanted))
            }
            NameFilter::PrefixBut { prefix, but } => {
                let begins = |name: &str, text: &String| name.starts_with(text.as_str());
                let wanted = |name: &str| begins(name, prefix) && !begins(name, but);
                self.rows_with(|row| self.name(row), &mut Texts::new(&self.rows, &wanted))
            }
        })
    }

    fn with_user(&self, user: &str) -> Result<Rows> {
        Ok(match self.rows.texts().get(user) {
            Some(user) => self.rows_where(|row| self.user(row) == Some(user)),
            None => Rows::none(),
        })
    }

    fn with_tag(&self, filter: &TagFilter) -> Result<Rows> {
        let none_of = matches!(filter.condition, TagCondition::NoneOf(_));
        let absent_matches = filter.condition.matches_absent();
        let Some(key) = self.rows.texts().get(&filter.key) else {
            return Ok(if absent_matches { Rows::All } else { Rows::none() });
        };
        let wanted = |value: &str| match &filter.condition {
            TagCondition::AnyOf(values) | TagCondition::NoneOf(values) => values.contains(value),
            TagCondition::Prefix(prefix) => value.starts_with(prefix.as_str()),
        };
        let mut texts = Texts::new(&self.rows, &wanted);
        Ok(self.rows_where(|row| match self.rows.tag(row, key) {
            Some(value) => texts.has(value) != none_of,
            None => absent_matches,
        }))
    }

    fn counts(&self, _: &EventGroupBy) -> Result<Option<Counts>> {
        Ok(None)
    }

    fn groups(&self, by: &EventGroupBy) -> Result<Arc<Codes>> {
        let (texts, codes) = self.texts_and_codes(by);
        let texts = texts.into_iter().map(Box::from).collect();
        Ok(Arc::new(Codes { texts, codes, rows: None }))
    }

    fn text_hashes(&self, of: &EventGroupBy) -> Result<Arc<TextHashes>> {
        let (texts, codes) = self.texts_and_codes(of);
        let hashes = texts.iter().map(|text| fingerprint(text.as_bytes())).collect();
        Ok(Arc::new(TextHashes { hashes, codes }))
    }

    fn user_hashes(&self) -> Result<Arc<Vec<u64>>> {
        let texts = self.rows.texts();
        let hash =
            |row: &u32| self.user(*row as usize).map_or(0, |user| hash_member(texts.text(user)));
        Ok(Arc::new(self.order.iter().map(hash).collect()))
    }

    fn numbers(&self, field: &EventField, rows: &Rows) -> Result<Numbers> {
        Ok(match field {
            EventField::Value => self.collect_numbers(rows, |row| {
                self.rows.values().get(row).copied().filter(|value| !value.is_nan())
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
