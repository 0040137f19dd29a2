//! Numbers of the strings of a column, shared by all blocks and queries, for counting distinct
//! strings: once a block knows the numbers of its rows, a query sets a bit for each of them.
//!
//! The numbers of a column belong to a *generation*. When all numbers together take too much
//! memory, those of the columns that were not used for longest are dropped; the next query begins a
//! new generation, and what blocks have cached of the old one is replaced.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parking_lot::Mutex;

use super::NO_CODE;
use crate::model::EventGroupBy;

/// The most columns with numbers.
const COLUMNS_MAX: usize = 64;

/// The numbers of all columns.
#[derive(Debug)]
pub(crate) struct StringNumbers {
    /// In the order of use, last used last.
    columns: Mutex<Vec<(EventGroupBy, Arc<ColumnNumbers>)>>,
    generations: AtomicU64,
    /// The bytes that are kept between queries.
    bytes_max: usize,
}

/// The numbers of a column, of one generation.
#[derive(Debug)]
struct ColumnNumbers {
    generation: u64,
    numbering: Mutex<Numbering>,
}

/// Numbers of strings, from 0 in order of first occurrence.
#[derive(Debug, Default)]
struct Numbering {
    strings: HashTable<NumberedString>,
}

/// A 128-bit hash in two halves, which need an alignment of only 8 bytes.
#[derive(Debug)]
struct NumberedString {
    low: u64,
    high: u64,
    number: u32,
}

/// The numbers of the rows of a source.
#[derive(Debug)]
pub(crate) struct RowNumbers {
    /// The numbers of another generation mean other strings.
    pub(super) generation: u64,
    /// [`NO_CODE`] where the row has no string.
    pub(crate) numbers: Vec<u32>,
}

/// The numbers of a column while a query uses them.
#[derive(Debug)]
pub(crate) struct NumbersInUse<'n> {
    all: &'n StringNumbers,
    column: Arc<ColumnNumbers>,
    /// Bytes that this use has added and the query has not taken yet.
    grown: AtomicUsize,
}

impl StringNumbers {
    /// Keeps at most `bytes_max` bytes of numbers between queries.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { columns: Mutex::default(), generations: AtomicU64::new(1), bytes_max }
    }

    /// Returns the numbers of a column for a query.
    pub(crate) fn of(&self, column: &EventGroupBy) -> NumbersInUse<'_> {
        let mut columns = self.columns.lock();
        let known = columns.iter().position(|(of, _)| of == column);
        let (of, numbers) = known.map_or_else(
            || (column.clone(), Arc::new(self.new_column())),
            |known| columns.remove(known),
        );
        columns.push((of, Arc::clone(&numbers)));
        NumbersInUse { all: self, column: numbers, grown: AtomicUsize::new(0) }
    }

    fn new_column(&self) -> ColumnNumbers {
        let generation = self.generations.fetch_add(1, Ordering::Relaxed);
        ColumnNumbers { generation, numbering: Mutex::default() }
    }

    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.lock().iter().map(|(_, column)| column.numbering.lock().bytes()).sum()
    }

    /// Drops the numbers of the columns that were not used for longest, while all together take too
    /// much memory. Queries that use them now end with them.
    fn drop_unused(&self) {
        let mut columns = self.columns.lock();
        let mut rest = self.bytes_max;
        let fits = |(_, column): &&(EventGroupBy, Arc<ColumnNumbers>)| {
            let left = rest.checked_sub(column.numbering.lock().bytes());
            rest = left.unwrap_or(0);
            left.is_some()
        };
        let kept = columns.iter().rev().take(COLUMNS_MAX).take_while(fits).count();
        let dropped = columns.len() - kept;
        columns.drain(..dropped);
    }
}

impl NumbersInUse<'_> {
    /// Returns the generation of the numbers.
    pub(super) fn generation(&self) -> u64 {
        self.column.generation
    }

    /// Returns the number of each string, given by its [`crate::fingerprint::fingerprint`].
    pub(super) fn number(&self, hashes: &[u128]) -> Vec<u32> {
        let mut numbering = self.column.numbering.lock();
        let before = numbering.bytes();
        let numbers = hashes.iter().map(|hash| numbering.number(*hash)).collect();
        self.grown.fetch_add(numbering.bytes().saturating_sub(before), Ordering::Relaxed);
        numbers
    }

    /// Returns the numbers of rows, given the code of each and the hashes of the codes.
    pub(super) fn of_rows(&self, mut codes: Vec<u32>, hashes: &[u128]) -> RowNumbers {
        let of_codes = self.number(hashes);
        for code in &mut codes {
            // There is no number for `NO_CODE`.
            *code = of_codes.get(*code as usize).copied().unwrap_or(NO_CODE);
        }
        RowNumbers { generation: self.generation(), numbers: codes }
    }

    /// Returns an upper bound for all numbers that are known.
    pub(super) fn bound(&self) -> usize {
        self.column.numbering.lock().strings.len()
    }

    /// Returns the bytes that were added since the last call.
    pub(super) fn take_grown(&self) -> usize {
        self.grown.swap(0, Ordering::Relaxed)
    }
}

impl Drop for NumbersInUse<'_> {
    fn drop(&mut self) {
        self.all.drop_unused();
    }
}

impl Numbering {
    /// Returns the number of the string with this hash, assigning a new one if it has none.
    #[inline]
    fn number(&mut self, hash: u128) -> u32 {
        let (low, high) = (hash as u64, (hash >> 64) as u64);
        let next = self.strings.len() as u32;
        let matches = |text: &NumberedString| text.low == low && text.high == high;
        match self.strings.entry(low, matches, |text| text.low) {
            Entry::Occupied(text) => text.get().number,
            Entry::Vacant(place) => {
                place.insert(NumberedString { low, high, number: next });
                next
            }
        }
    }

    /// Returns the bytes in memory.
    fn bytes(&self) -> usize {
        self.strings.allocation_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(range: std::ops::Range<u128>) -> Vec<u128> {
        range.map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).collect()
    }

    #[test]
    fn a_string_keeps_its_number_and_rows_without_one_have_none() {
        let all = StringNumbers::new(1 << 20);
        let first = all.of(&EventGroupBy::User);
        assert_eq!(
            first.of_rows(vec![1, NO_CODE, 0, 1], &hashes(0..2)).numbers,
            [1, NO_CODE, 0, 1]
        );
        assert!(first.take_grown() > 0 && first.take_grown() == 0);
        drop(first);
        let second = all.of(&EventGroupBy::User);
        assert_eq!(second.number(&hashes(1..4)), [1, 2, 3]);
        assert_eq!(second.bound(), 4);
        let other = all.of(&EventGroupBy::Name);
        assert_eq!(other.number(&hashes(3..4)), [0]);
        assert_ne!(other.generation(), second.generation());
    }

    #[test]
    fn numbers_that_take_too_much_are_dropped_after_use_oldest_first() {
        let all = StringNumbers::new(20_000);
        let large = all.of(&EventGroupBy::User);
        let small = all.of(&EventGroupBy::Name);
        large.number(&hashes(0..10_000));
        small.number(&hashes(0..10));
        let generations = (large.generation(), small.generation());
        drop(all.of(&EventGroupBy::Name));
        assert!(all.bytes() <= 20_000);
        // A query in progress keeps its numbers.
        assert_eq!(large.number(&hashes(9_999..10_000)), [9_999]);
        assert_ne!(all.of(&EventGroupBy::User).generation(), generations.0);
        assert_eq!(all.of(&EventGroupBy::Name).generation(), generations.1);
    }

    #[test]
    fn the_number_of_columns_is_limited() {
        let all = StringNumbers::new(1 << 20);
        for n in 0..3 * COLUMNS_MAX {
            all.of(&EventGroupBy::Tag(n.to_string())).number(&hashes(0..1));
        }
        assert_eq!(all.columns.lock().len(), COLUMNS_MAX);
    }
}
