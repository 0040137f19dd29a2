//! Numbers of the strings of a column, shared by all blocks and queries, for counting distinct
//! strings: once a block knows the numbers of its rows, a query sets a bit for each of them.
//!
//! The shared numbers of all columns take a bounded amount of memory. A string for which none is
//! left gets a number of the query alone, which the query pays for, and the block it is in is looked
//! up again by the next query. The shared numbers of a column are of one *generation*. Those that
//! were not used for longest make room for others, and those of a column that had too many strings
//! are given up after [`FULL_FOR`], since many may no longer occur; the next query then begins a new
//! generation, and what blocks have cached of the old one is replaced.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parking_lot::{Mutex, RwLock};

use super::{NO_CODE, RowSet, StringHashes};
use crate::clock::Clock;
use crate::model::EventGroupBy;

/// The most columns with shared numbers.
const COLUMNS_MAX: usize = 64;
/// How long the numbers of a column are used for which there was not enough memory.
const FULL_FOR: Duration = Duration::from_secs(3600);
/// One in so many rows of a source must be wanted for the strings of all of them to be numbered.
const ROWS_PER_SELECTED: u64 = 4;
/// Numbers of one query begin here: above those that are shared.
const FIRST_OWN: u32 = 1 << 31;

/// The shared numbers of all columns.
#[derive(Debug)]
pub(crate) struct StringNumbers {
    /// In the order of use, last used last.
    columns: Mutex<Vec<(EventGroupBy, Arc<ColumnNumbers>)>>,
    generations: AtomicU64,
    bytes: Arc<AtomicUsize>,
    bytes_max: usize,
    clock: Clock,
}

/// The shared numbers of a column, of one generation.
#[derive(Debug)]
struct ColumnNumbers {
    generation: u64,
    /// In steady time.
    begun: Duration,
    numbering: RwLock<Numbering>,
    /// An upper bound for all numbers.
    len: AtomicUsize,
    /// Whether a string found no room.
    is_full: AtomicBool,
    /// The bytes of all columns, of which this one gives back its own when it is dropped.
    bytes_of_all: Arc<AtomicUsize>,
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
    own: Mutex<OwnNumbers>,
}

/// The numbers of one query.
#[derive(Debug, Default)]
struct OwnNumbers {
    numbering: Numbering,
    /// Bytes that the query has paid for.
    paid: usize,
}

impl StringNumbers {
    /// Shares numbers in at most `bytes_max` bytes.
    pub(crate) fn new(bytes_max: usize, clock: Clock) -> Self {
        Self {
            columns: Mutex::default(),
            generations: AtomicU64::new(1),
            bytes: Arc::default(),
            bytes_max,
            clock,
        }
    }

    /// Returns the numbers of a column for a query.
    pub(crate) fn of(&self, column: &EventGroupBy) -> NumbersInUse<'_> {
        let mut columns = self.columns.lock();
        let known = columns.iter().position(|(of, _)| of == column);
        let known =
            known.map(|at| columns.remove(at)).filter(|(_, known)| !self.is_outdated(known));
        let (of, numbers) = known.unwrap_or_else(|| (column.clone(), Arc::new(self.new_column())));
        columns.push((of, Arc::clone(&numbers)));
        let too_many = columns.len().saturating_sub(COLUMNS_MAX);
        columns.drain(..too_many);
        NumbersInUse { all: self, column: numbers, own: Mutex::default() }
    }

    fn new_column(&self) -> ColumnNumbers {
        ColumnNumbers {
            generation: self.generations.fetch_add(1, Ordering::Relaxed),
            begun: self.clock.steady(),
            numbering: RwLock::default(),
            len: AtomicUsize::new(0),
            is_full: AtomicBool::new(false),
            bytes_of_all: Arc::clone(&self.bytes),
        }
    }

    fn is_outdated(&self, column: &ColumnNumbers) -> bool {
        let age = self.clock.steady().saturating_sub(column.begun);
        column.is_full.load(Ordering::Relaxed) && age >= FULL_FOR
    }

    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Takes `more` bytes, for which numbers that no query uses are given up if necessary, those
    /// first that were not used for longest. Returns whether there are as many.
    fn take(&self, more: usize) -> bool {
        if more > self.bytes_max {
            return false;
        }
        let with = |bytes: usize| bytes.checked_add(more).filter(|sum| *sum <= self.bytes_max);
        let try_take =
            || self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with).is_ok();
        loop {
            if try_take() {
                return true;
            }
            let mut columns = self.columns.lock();
            let unused = |(_, column): &(EventGroupBy, Arc<ColumnNumbers>)| {
                Arc::strong_count(column) == 1 && column.len.load(Ordering::Relaxed) > 0
            };
            let Some(at) = columns.iter().position(unused) else { return false };
            columns.remove(at);
        }
    }
}

impl Drop for ColumnNumbers {
    fn drop(&mut self) {
        self.bytes_of_all.fetch_sub(self.numbering.get_mut().bytes(), Ordering::Relaxed);
    }
}

impl NumbersInUse<'_> {
    /// Returns the generation of the shared numbers.
    pub(super) fn generation(&self) -> u64 {
        self.column.generation
    }

    /// Returns an upper bound for the shared numbers.
    pub(super) fn bound(&self) -> usize {
        self.column.len.load(Ordering::Relaxed)
    }

    /// Returns the numbers of at least `rows` of a source, and whether they are those of all rows
    /// and all shared, so that later queries can use them.
    pub(super) fn of_rows(&self, source: &StringHashes, rows: &RowSet) -> (RowNumbers, bool) {
        let all = source.codes.len() as u32;
        let is_most = rows.len(all).saturating_mul(ROWS_PER_SELECTED) >= u64::from(all);
        // Once a string found no room, most sources have some that find none.
        let is_full = self.column.is_full.load(Ordering::Relaxed);
        match (is_most && !is_full).then(|| self.shared(source)).flatten() {
            Some(shared) => (shared, true),
            None => (self.of_some(source, |visit| rows.each(all, visit)), false),
        }
    }

    /// Returns the shared numbers of all rows of a source. `None` if there is not enough memory for
    /// all its strings.
    fn shared(&self, source: &StringHashes) -> Option<RowNumbers> {
        let mut of_codes = Vec::with_capacity(source.hashes.len());
        let known = self.column.numbering.read();
        of_codes.extend(source.hashes.iter().map(|hash| known.get(*hash).unwrap_or(NO_CODE)));
        drop(known);
        let missing = of_codes.iter().filter(|number| **number == NO_CODE).count();
        if missing > 0 {
            let mut numbering = self.column.numbering.write();
            let more = numbering.growth(missing);
            if numbering.strings.len() + missing > FIRST_OWN as usize || !self.all.take(more) {
                self.column.is_full.store(true, Ordering::Relaxed);
                return None;
            }
            let before = numbering.bytes();
            numbering.strings.reserve(missing, |text| text.low);
            for (number, hash) in of_codes.iter_mut().zip(&source.hashes) {
                if *number == NO_CODE {
                    *number = numbering.number(*hash);
                }
            }
            // What was taken is an estimate.
            let grown = numbering.bytes() - before;
            self.all.bytes.fetch_add(grown, Ordering::Relaxed);
            self.all.bytes.fetch_sub(more, Ordering::Relaxed);
            self.column.len.store(numbering.strings.len(), Ordering::Relaxed);
        }
        // There is no number for `NO_CODE`.
        let number = |code: &u32| of_codes.get(*code as usize).copied().unwrap_or(NO_CODE);
        let numbers = source.codes.iter().map(number).collect();
        Some(RowNumbers { generation: self.generation(), numbers })
    }

    /// Returns the numbers of the rows that `each` visits, shared ones and those of this query.
    fn of_some(&self, source: &StringHashes, each: impl FnOnce(&mut dyn FnMut(u32))) -> RowNumbers {
        let mut numbers = vec![NO_CODE; source.codes.len()];
        let mut of_codes = vec![NO_CODE; source.hashes.len()];
        let (shared, mut own) = (self.column.numbering.read(), self.own.lock());
        each(&mut |row| {
            let Some(code) = source.codes.get(row as usize) else { return };
            let Some(number) = of_codes.get_mut(*code as usize) else { return };
            if *number == NO_CODE
                && let Some(hash) = source.hashes.get(*code as usize)
            {
                let new = || FIRST_OWN | own.numbering.number(*hash);
                *number = shared.get(*hash).unwrap_or_else(new);
            }
            if let Some(of_row) = numbers.get_mut(row as usize) {
                *of_row = *number;
            }
        });
        RowNumbers { generation: self.generation(), numbers }
    }

    /// Returns the bytes that the numbers of this query have grown by since the last call.
    pub(super) fn take_grown(&self) -> usize {
        let mut own = self.own.lock();
        let bytes = own.numbering.bytes();
        bytes.saturating_sub(std::mem::replace(&mut own.paid, bytes))
    }
}

impl Numbering {
    fn get(&self, hash: u128) -> Option<u32> {
        let (low, high) = halves(hash);
        let matches = |text: &NumberedString| text.low == low && text.high == high;
        self.strings.find(low, matches).map(|text| text.number)
    }

    /// Returns the number of the string with this hash, assigning a new one if it has none.
    #[inline]
    fn number(&mut self, hash: u128) -> u32 {
        let (low, high) = halves(hash);
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

    /// Returns the bytes by which the table grows for so many more strings, at most.
    fn growth(&self, more: usize) -> usize {
        let strings = self.strings.len() + more;
        if strings <= self.strings.capacity() {
            return 0;
        }
        // Seven of eight places are filled; each has a byte beside it.
        let places = (strings * 8 / 7 + 16).next_power_of_two();
        (places * (size_of::<NumberedString>() + 1) + 64).saturating_sub(self.bytes())
    }

    /// Returns the bytes in memory.
    fn bytes(&self) -> usize {
        self.strings.allocation_size()
    }
}

fn halves(hash: u128) -> (u64, u64) {
    (hash as u64, (hash >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimestampMs;

    fn source(strings: std::ops::Range<u128>, codes: Vec<u32>) -> StringHashes {
        let hash = |n: u128| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        StringHashes { hashes: strings.map(hash).collect(), codes }
    }

    /// A source with a row of each string.
    fn each(strings: std::ops::Range<u128>) -> StringHashes {
        let rows = strings.end - strings.start;
        source(strings, (0..rows as u32).collect())
    }

    fn some(numbers: &NumbersInUse<'_>, source: &StringHashes, rows: &[u32]) -> Vec<u32> {
        numbers.of_some(source, |visit| rows.iter().for_each(|row| visit(*row))).numbers
    }

    fn with(bytes_max: usize) -> (StringNumbers, Clock) {
        let clock = Clock::manual(TimestampMs(0));
        (StringNumbers::new(bytes_max, clock.clone()), clock)
    }

    #[test]
    fn a_string_keeps_its_number_and_rows_without_one_have_none() {
        let (all, _clock) = with(1 << 20);
        let first = all.of(&EventGroupBy::User);
        let rows = source(0..2, vec![1, NO_CODE, 0, 1]);
        assert_eq!(first.shared(&rows).unwrap().numbers, [1, NO_CODE, 0, 1]);
        drop(first);
        let second = all.of(&EventGroupBy::User);
        assert_eq!(second.shared(&each(1..4)).unwrap().numbers, [1, 2, 3]);
        assert_eq!((second.bound(), second.take_grown()), (4, 0));
        let other = all.of(&EventGroupBy::Name);
        assert_eq!(other.shared(&each(3..4)).unwrap().numbers, [0]);
        assert_ne!(other.generation(), second.generation());
    }

    #[test]
    fn strings_without_room_have_numbers_of_the_query_which_pays_for_them() {
        let (all, _clock) = with(20_000);
        let numbers = all.of(&EventGroupBy::User);
        assert!(numbers.shared(&each(0..100)).is_some());
        assert!(numbers.shared(&each(0..10_000)).is_none());
        assert!(all.bytes() > 0 && all.bytes() <= 20_000);
        // Known strings keep their numbers, and only selected rows get one.
        let rows = some(&numbers, &each(98..10_000), &[0, 2, 3, 9_000]);
        assert_eq!(rows[..5], [98, NO_CODE, FIRST_OWN, FIRST_OWN + 1, NO_CODE]);
        assert_eq!(rows[9_000], FIRST_OWN + 2);
        assert_eq!(some(&numbers, &each(101..102), &[0]), [FIRST_OWN + 1]);
        let grown = numbers.take_grown();
        assert!(grown > 0 && grown < 1_000 && numbers.take_grown() == 0);
        // Another query does not know them.
        assert_eq!(some(&all.of(&EventGroupBy::User), &each(101..102), &[0]), [FIRST_OWN]);
    }

    #[test]
    fn unused_numbers_make_room_and_used_ones_do_not() {
        let (all, _clock) = with(20_000);
        let names = all.of(&EventGroupBy::Name);
        assert!(names.shared(&each(0..400)).is_some());
        let users = all.of(&EventGroupBy::User);
        assert!(users.shared(&each(0..400)).is_none());
        drop(names);
        assert!(users.shared(&each(0..400)).is_some());
        assert!(all.bytes() <= 20_000);
        drop((users, all.of(&EventGroupBy::Name)));
        assert_eq!(all.columns.lock().len(), 2);
    }

    #[test]
    fn a_full_column_begins_again_after_a_while() {
        let (all, clock) = with(20_000);
        let generation = || all.of(&EventGroupBy::User).generation();
        assert!(all.of(&EventGroupBy::User).shared(&each(0..10)).is_some());
        let first = generation();
        clock.pass(FULL_FOR);
        assert_eq!(generation(), first);
        assert!(all.of(&EventGroupBy::User).shared(&each(0..10_000)).is_none());
        assert_ne!(generation(), first);
        assert_eq!(all.bytes(), 0);
    }

    #[test]
    fn what_is_taken_is_no_less_than_the_table_grows() {
        let mut numbering = Numbering::default();
        for strings in 0..3_000 {
            let (before, growth) = (numbering.bytes(), numbering.growth(1));
            numbering.strings.reserve(1, |text| text.low);
            numbering.number(strings * 0x9e37_79b9_7f4a_7c15);
            assert!(numbering.bytes() - before <= growth, "{strings} strings");
        }
    }

    #[test]
    fn the_number_of_columns_is_limited() {
        let (all, _clock) = with(1 << 20);
        for n in 0..3 * COLUMNS_MAX {
            assert!(all.of(&EventGroupBy::Tag(n.to_string())).shared(&each(0..1)).is_some());
        }
        assert_eq!(all.columns.lock().len(), COLUMNS_MAX);
    }
}
