//! Numbers of the strings of a column, shared by all blocks and queries, for counting distinct
//! strings: once a block knows the numbers of its rows, a query sets a bit for each of them.
//!
//! The shared numbers of all columns take a bounded amount of memory. A string for which none is
//! left gets a number of the query alone, which the query pays for, and the block it is in is
//! looked up again by the next query. No other string of the column is shared any more then.
//!
//! The shared numbers of a column are of one *generation*. Those that were not used for longest
//! make room for others, and those of a column that found no room are given up after [`FULL_FOR`],
//! once no query uses them; the next one then begins a new generation, and what blocks have cached
//! of the old one is replaced.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};

use super::numbering::Numbering;
use super::{NO_CODE, RowSet, StringHashes};
use crate::clock::Clock;
use crate::model::EventGroupBy;

/// The most columns with shared numbers.
const COLUMNS_MAX: usize = 64;
/// How long the numbers of a column are used for which there was not enough memory: after that it
/// may have fewer strings, or others more room.
const FULL_FOR: Duration = Duration::from_secs(60);
/// One in so many rows of a source must be wanted for the strings of all of them to be numbered.
const ROWS_PER_SELECTED: u64 = 4;
/// Numbers of one query begin here: above those that are shared.
const FIRST_OWN: u32 = 1 << 31;

/// No two generations of any column are the same.
static NEXT_GENERATION: AtomicU64 = AtomicU64::new(1);

/// The shared numbers of all columns.
#[derive(Debug)]
pub(crate) struct StringNumbers {
    /// In the order of use, last used last.
    columns: Mutex<Vec<(EventGroupBy, Arc<ColumnNumbers>)>>,
    bytes: Arc<AtomicUsize>,
    bytes_max: usize,
    clock: Clock,
}

/// The shared numbers of a column, of one generation.
#[derive(Debug)]
struct ColumnNumbers {
    generation: u64,
    numbering: RwLock<Numbering>,
    /// An upper bound for all numbers.
    len: AtomicUsize,
    /// The steady time at which a string found no room. Set with `numbering` locked, which does not
    /// change any more from then on.
    full_since: OnceLock<Duration>,
    /// The bytes of all columns, of which this one gives back its own when it is dropped.
    bytes_of_all: Arc<AtomicUsize>,
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
        Self { columns: Mutex::default(), bytes: Arc::default(), bytes_max, clock }
    }

    /// Returns the numbers of a column for a query.
    pub(crate) fn of(&self, column: &EventGroupBy) -> NumbersInUse<'_> {
        let mut columns = self.columns.lock();
        // Those of tags that no event has must not push out others.
        columns.retain(|(of, known)| {
            of == column || known.len.load(Ordering::Relaxed) > 0 || Arc::strong_count(known) > 1
        });
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
            generation: NEXT_GENERATION.fetch_add(1, Ordering::Relaxed),
            numbering: RwLock::default(),
            len: AtomicUsize::new(0),
            full_since: OnceLock::new(),
            bytes_of_all: Arc::clone(&self.bytes),
        }
    }

    /// Returns whether a column is full for long enough, and no query uses it: one that does would
    /// keep its memory.
    fn is_outdated(&self, column: &Arc<ColumnNumbers>) -> bool {
        let age = |since: &Duration| self.clock.steady().saturating_sub(*since);
        Arc::strong_count(column) == 1
            && column.full_since.get().is_some_and(|since| age(since) >= FULL_FOR)
    }

    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Takes `more` bytes, for which numbers that no query uses are given up if necessary, those
    /// first that were not used for longest. Returns whether there are as many.
    fn take(&self, more: usize) -> bool {
        if more == 0 || more > self.bytes_max {
            return more == 0;
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
        let mut resolved = Resolved { source, of_codes: vec![NO_CODE; source.hashes.len()] };
        let all = source.codes.len() as u32;
        let is_most = rows.len(all).saturating_mul(ROWS_PER_SELECTED) >= u64::from(all);
        let is_shared = is_most && {
            let codes: Vec<u32> = (0..source.hashes.len() as u32).collect();
            self.share(&mut resolved, &codes)
        };
        if is_shared {
            return (self.numbers(resolved, &RowSet::All), true);
        }
        let codes = resolved.codes_of(rows);
        if !self.share(&mut resolved, &codes) {
            let mut own = self.own.lock();
            for code in resolved.missing(&codes) {
                resolved.set(code, |hash| Some(FIRST_OWN | own.numbering.number(hash)));
            }
        }
        (self.numbers(resolved, rows), false)
    }

    /// Resolves codes to shared numbers, adding those that are missing. Returns whether all are
    /// resolved; if not, the column is full, and the others will not be shared in this generation.
    fn share(&self, resolved: &mut Resolved<'_>, codes: &[u32]) -> bool {
        let look_up = |resolved: &mut Resolved<'_>, known: &Numbering| {
            let missing = resolved.missing(codes);
            missing.iter().for_each(|code| resolved.set(*code, |hash| known.get(hash)));
            resolved.missing(codes)
        };
        let numbering = self.column.numbering.read();
        let missing = look_up(resolved, &numbering);
        if missing.is_empty() || self.column.is_full() {
            return missing.is_empty();
        }
        drop(numbering);
        let mut numbering = self.column.numbering.write();
        // Others may have added some since.
        let missing = look_up(resolved, &numbering);
        if missing.is_empty() {
            return true;
        }
        if let Some(taken) = self.take_for(&numbering, missing.len()) {
            let before = numbering.bytes();
            numbering.reserve(missing.len());
            missing
                .iter()
                .for_each(|code| resolved.set(*code, |hash| Some(numbering.number(hash))));
            // What was taken is an upper bound.
            let unused = taken.saturating_sub(numbering.bytes() - before);
            self.all.bytes.fetch_sub(unused, Ordering::Relaxed);
            self.column.len.store(numbering.len(), Ordering::Relaxed);
            return true;
        }
        false
    }

    /// Takes memory for so many more strings. `None` if there is not enough: the column is full
    /// from now on, and no string is added any more, so that none has a number of a query and then
    /// a shared one too.
    fn take_for(&self, numbering: &Numbering, strings: usize) -> Option<usize> {
        let more = numbering.growth(strings);
        let fits = !self.column.is_full()
            && numbering.len() + strings <= FIRST_OWN as usize
            && self.all.take(more);
        if !fits {
            self.column.full_since.get_or_init(|| self.all.clock.steady());
        }
        fits.then_some(more)
    }

    /// Returns the numbers of rows whose codes are resolved.
    fn numbers(&self, resolved: Resolved<'_>, rows: &RowSet) -> RowNumbers {
        let Resolved { source, of_codes } = resolved;
        // There is no number for `NO_CODE`.
        let number = |code: &u32| of_codes.get(*code as usize).copied().unwrap_or(NO_CODE);
        let numbers = match rows {
            RowSet::All => source.codes.iter().map(number).collect(),
            RowSet::Some(rows) => {
                let mut numbers = vec![NO_CODE; source.codes.len()];
                for row in rows {
                    let row = row as usize;
                    if let (Some(into), Some(code)) = (numbers.get_mut(row), source.codes.get(row))
                    {
                        *into = number(code);
                    }
                }
                numbers
            }
        };
        RowNumbers { generation: self.generation(), numbers }
    }

    /// Returns the bytes that the numbers of this query have grown by since the last call.
    pub(super) fn take_grown(&self) -> usize {
        let mut own = self.own.lock();
        let bytes = own.numbering.bytes();
        bytes.saturating_sub(std::mem::replace(&mut own.paid, bytes))
    }
}

/// The numbers of the strings of a source, as far as they are known.
struct Resolved<'s> {
    source: &'s StringHashes,
    /// [`NO_CODE`] where the number is not known.
    of_codes: Vec<u32>,
}

impl Resolved<'_> {
    /// Returns the codes of some rows, each once.
    fn codes_of(&self, rows: &RowSet) -> Vec<u32> {
        let (mut codes, mut seen) = (Vec::new(), vec![false; self.of_codes.len()]);
        rows.each(self.source.codes.len() as u32, &mut |row| {
            if let Some(code) = self.source.codes.get(row as usize)
                && let Some(seen) = seen.get_mut(*code as usize)
                && !std::mem::replace(seen, true)
            {
                codes.push(*code);
            }
        });
        codes
    }

    /// Returns those of `codes` that have no number yet.
    fn missing(&self, codes: &[u32]) -> Vec<u32> {
        let is_missing = |code: &&u32| self.of_codes.get(**code as usize) == Some(&NO_CODE);
        codes.iter().filter(is_missing).copied().collect()
    }

    /// Sets the number of a code, given its hash.
    fn set(&mut self, code: u32, number: impl FnOnce(u128) -> Option<u32>) {
        let hash = self.source.hashes.get(code as usize);
        if let (Some(into), Some(hash)) = (self.of_codes.get_mut(code as usize), hash) {
            *into = number(*hash).unwrap_or(NO_CODE);
        }
    }
}

impl ColumnNumbers {
    fn is_full(&self) -> bool {
        self.full_since.get().is_some()
    }
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
        numbers.of_rows(source, &RowSet::Some(rows.iter().copied().collect())).0.numbers
    }

    fn shared(numbers: &NumbersInUse<'_>, source: &StringHashes) -> Option<Vec<u32>> {
        let (rows, is_shared) = numbers.of_rows(source, &RowSet::All);
        is_shared.then_some(rows.numbers)
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
        assert_eq!(shared(&first, &rows).unwrap(), [1, NO_CODE, 0, 1]);
        drop(first);
        let second = all.of(&EventGroupBy::User);
        assert_eq!(shared(&second, &each(1..4)).unwrap(), [1, 2, 3]);
        assert_eq!((second.bound(), second.take_grown()), (4, 0));
        // Of few rows only their strings are numbered.
        let few = some(&second, &each(4..24), &[3, 9]);
        assert_eq!((few[3], few[9], few[4], second.bound()), (4, 5, NO_CODE, 6));
        let other = all.of(&EventGroupBy::Name);
        assert_eq!(shared(&other, &each(3..4)).unwrap(), [0]);
        assert_ne!(other.generation(), second.generation());
    }

    #[test]
    fn strings_without_room_have_numbers_of_the_query_which_pays_for_them() {
        let (all, _clock) = with(20_000);
        let numbers = all.of(&EventGroupBy::User);
        assert!(shared(&numbers, &each(0..100)).is_some());
        assert!(shared(&numbers, &each(98..10_000)).is_none());
        assert!(all.bytes() > 0 && all.bytes() <= 20_000);
        let first = some(&numbers, &each(99..101), &[0, 1]);
        assert_eq!((first[0], first[1] >= FIRST_OWN), (99, true));
        assert!(numbers.take_grown() > 100_000 && numbers.take_grown() == 0);
        // Another query does not know them, and few rows take little.
        let other = all.of(&EventGroupBy::User);
        let rows = some(&other, &each(98..10_000), &[0, 2, 3, 9_000]);
        assert_eq!(rows[..5], [98, NO_CODE, FIRST_OWN, FIRST_OWN + 1, NO_CODE]);
        assert_eq!(rows[9_000], FIRST_OWN + 2);
        assert_eq!(some(&other, &each(101..102), &[0]), [FIRST_OWN + 1]);
        assert!((1..1_000).contains(&other.take_grown()));
    }

    #[test]
    fn a_string_has_one_number_in_a_query_whatever_others_add() {
        let (all, _clock) = with(20_000);
        let (query, other) = (all.of(&EventGroupBy::User), all.of(&EventGroupBy::User));
        assert!(shared(&query, &each(0..10_000)).is_none());
        let before = some(&query, &each(0..20), &[0, 1]);
        // There is room for some strings, but the query has numbered them.
        assert!(shared(&other, &each(0..20)).is_none());
        assert_eq!(some(&query, &each(0..20), &[0, 1]), before);
        assert_eq!(shared(&query, &each(0..20)), None);
        assert_eq!(query.of_rows(&each(0..2), &RowSet::All).0.numbers, before[..2]);
    }

    #[test]
    fn unused_numbers_make_room_and_used_ones_do_not() {
        let (all, clock) = with(20_000);
        let names = all.of(&EventGroupBy::Name);
        assert!(shared(&names, &each(0..400)).is_some());
        let users = all.of(&EventGroupBy::User);
        assert!(shared(&users, &each(0..400)).is_none());
        drop((names, users));
        clock.pass(FULL_FOR);
        let users = all.of(&EventGroupBy::User);
        assert!(shared(&users, &each(0..400)).is_some());
        assert!(all.bytes() > 0 && all.bytes() <= 20_000);
        assert_eq!(all.columns.lock().len(), 1);
    }

    #[test]
    fn a_full_column_begins_again_after_a_while() {
        let (all, clock) = with(20_000);
        let generation = || all.of(&EventGroupBy::User).generation();
        assert!(shared(&all.of(&EventGroupBy::User), &each(0..10)).is_some());
        let first = generation();
        clock.pass(FULL_FOR);
        let query = all.of(&EventGroupBy::User);
        assert!(shared(&query, &each(0..10_000)).is_none());
        // Sources whose strings are all known are still shared.
        assert!(shared(&query, &each(0..10)).is_some());
        assert_eq!(generation(), first);
        clock.pass(FULL_FOR);
        assert_eq!(generation(), first, "a query uses the numbers");
        drop(query);
        let next = all.of(&EventGroupBy::User);
        assert_ne!(next.generation(), first);
        assert_eq!(all.bytes(), 0);
    }

    #[test]
    fn the_number_of_columns_is_limited() {
        let (all, _clock) = with(1 << 20);
        for n in 0..3 * COLUMNS_MAX {
            let column = EventGroupBy::Tag(n.to_string());
            assert!(shared(&all.of(&column), &each(0..1)).is_some());
        }
        assert_eq!(all.columns.lock().len(), COLUMNS_MAX);
    }
}
