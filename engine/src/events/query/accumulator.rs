//! Accumulation: the cells of one worker by group and bucket, and the memory and value budget that
//! all workers share.

use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use super::super::NO_CODE;
use super::cell::{Cell, Keep, Wanted};
use super::query_context::QueryContext;
use super::select::Segment;
use super::source_columns::{Distinct, SourceColumns};
use super::tally::Tally;
use crate::error::{Refusal, Result};
use crate::limits;
use crate::model::{StringId, StringInterner};
use crate::query_in_progress::TransientMemory;

/// Approximate bytes of a cell with its entry in the index.
const SLOT_BYTES: usize = size_of::<Slot>() + size_of::<((u32, i64), usize)>() * 2;

/// What all workers of a query have used together.
#[derive(Debug)]
pub(super) struct Budget<'c> {
    context: &'c QueryContext<'c>,
    numbers: AtomicU64,
}

/// A cell with its group and bucket.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) group: StringId,
    /// The start of the bucket, in milliseconds.
    pub(super) start: i64,
    pub(super) cell: Cell,
}

/// What one worker has accumulated.
#[derive(Debug)]
pub(super) struct Accumulator<'b> {
    budget: &'b Budget<'b>,
    wanted: Wanted,
    pub(super) groups: StringInterner,
    pub(super) slots: Vec<Slot>,
    index: HashMap<(u32, i64), usize>,
    pub(super) matched: u64,
}

impl<'c> Budget<'c> {
    pub(super) fn new(context: &'c QueryContext<'c>) -> Self {
        Self { context, numbers: AtomicU64::new(0) }
    }

    /// Returns whether there are too many numbers for exact percentiles.
    fn too_many_numbers(&self) -> bool {
        self.numbers.load(Ordering::Relaxed) > limits::EVENT_VALUES_EXACT_MAX as u64
    }

    fn take(&self, bytes: usize) -> Result<()> {
        self.context.in_progress.take(bytes)
    }
}

impl<'b> Accumulator<'b> {
    pub(super) fn new(budget: &'b Budget<'b>, wanted: Wanted) -> Self {
        Self {
            budget,
            wanted,
            groups: StringInterner::default(),
            slots: Vec::new(),
            index: HashMap::new(),
            matched: 0,
        }
    }

    /// Adds the rows of a source.
    pub(super) fn add(&mut self, source: &SourceColumns<'_>) -> Result<()> {
        self.matched += source.matched;
        self.budget.numbers.fetch_add(source.numbers.values.len() as u64, Ordering::Relaxed);
        self.settle_numbers()?;
        let before = self.bytes_of_groups();
        let (mut grown, mut taken) = (0, Vec::new());
        let mut tally = Tally::new(source);
        let mut numbers = (source.numbers.positions.as_slice(), source.numbers.values.as_slice());
        for segment in &source.segments {
            tally.count(segment);
            self.assign_slots(source, &mut tally, segment.start)?;
            grown -= self.bytes_of(&tally);
            if let Some(hashes) = &source.hashes {
                source.selected.each(segment.rows.clone(), |row| {
                    let slot = tally.codes[tally.code_of(row)].slot;
                    self.slots[slot].cell.add_user(hashes[row as usize]);
                });
            }
            if let Some(distinct) = &source.distinct {
                taken.push(self.add_strings(&tally, source, segment, distinct)?);
            }
            let here = numbers.0.partition_point(|row| *row < segment.rows.end);
            let (rows, rows_after) = numbers.0.split_at(here);
            let (values, values_after) = numbers.1.split_at(here);
            self.add_numbers(&tally, rows, values);
            numbers = (rows_after, values_after);
            grown += self.bytes_of(&tally);
        }
        let groups = self.bytes_of_groups().saturating_sub(before);
        drop(taken);
        // What has become smaller is not given back: queries end soon.
        self.budget.take(groups + usize::try_from(grown).unwrap_or(0))
    }

    /// Adds the strings of a segment whose slots are assigned. Returns the memory that was taken
    /// for it, until the source has been added.
    fn add_strings(
        &mut self,
        tally: &Tally<'_>,
        source: &SourceColumns<'_>,
        segment: &Segment,
        Distinct { rows, bound }: &Distinct,
    ) -> Result<TransientMemory<'b>> {
        let touched = || tally.touched.iter().map(|at| tally.codes[*at]);
        let growths = touched()
            .map(|code| self.slots[code.slot].cell.strings().growth(code.count, *bound))
            .sum();
        let memory = self.budget.context.in_progress.borrow(growths)?;
        for code in touched() {
            self.slots[code.slot].cell.strings().expect(code.count, *bound);
        }
        let number = |row: u32| Some(rows.numbers[row as usize]).filter(|n| *n != NO_CODE);
        if let [only] = tally.touched[..] {
            let strings = self.slots[tally.codes[only].slot].cell.strings();
            let add = |row| number(row).into_iter().for_each(|number| strings.insert(number));
            source.selected.each(segment.rows.clone(), add);
            return Ok(memory);
        }
        source.selected.each(segment.rows.clone(), |row| {
            if let Some(number) = number(row) {
                let slot = tally.codes[tally.code_of(row)].slot;
                self.slots[slot].cell.strings().insert(number);
            }
        });
        Ok(memory)
    }

    /// Adds the numbers of a segment whose slots are assigned.
    fn add_numbers(&mut self, tally: &Tally<'_>, rows: &[u32], values: &[f64]) {
        let keep = self.wanted.numbers;
        for (row, value) in rows.iter().zip(values) {
            let slot = tally.codes[tally.code_of(*row)].slot;
            self.slots[slot].cell.add_number(*value, keep);
        }
    }

    /// Assigns a slot to every code of a segment and adds its row count there.
    fn assign_slots(
        &mut self,
        source: &SourceColumns<'_>,
        tally: &mut Tally<'_>,
        start: i64,
    ) -> Result<()> {
        for at in &tally.touched {
            let code = &mut tally.codes[*at];
            let group = match code.group {
                Some(group) => group,
                None => {
                    let strings = source.codes.as_deref().map(|codes| &codes.strings);
                    // The entry after the last string is that of rows without one.
                    let text = strings.and_then(|strings| strings.get(*at));
                    *code.group.insert(self.group(text.map_or("", AsRef::as_ref))?)
                }
            };
            code.slot = self.slot(group, start);
            self.slots[code.slot].cell.events += code.count;
        }
        Ok(())
    }

    /// Returns the bytes of the keys of groups, and of the slots without their cells.
    fn bytes_of_groups(&self) -> usize {
        self.groups.bytes() + self.slots.len() * SLOT_BYTES
    }

    /// Returns the bytes of the cells of a segment.
    fn bytes_of(&self, tally: &Tally<'_>) -> isize {
        if self.wanted == Wanted::default() {
            return 0;
        }
        let slots = tally.touched.iter().map(|at| &self.slots[tally.codes[*at].slot]);
        slots.map(|slot| slot.cell.bytes() as isize).sum()
    }

    /// Returns the group with this key. Fails if there are too many groups.
    fn group(&mut self, key: &str) -> Result<StringId> {
        let group = self.groups.intern(key);
        let max = self.budget.context.limits.groups_max;
        if self.groups.len() > max {
            return Err(Refusal::Range(format!("the answer has more than {max} groups")).into());
        }
        Ok(group)
    }

    fn slot(&mut self, group: StringId, start: i64) -> usize {
        let Self { slots, index, .. } = self;
        *index.entry((group.0, start)).or_insert_with(|| {
            slots.push(Slot { group, start, cell: Cell::default() });
            slots.len() - 1
        })
    }

    /// Switches to sketches once all workers together have too many numbers.
    fn settle_numbers(&mut self) -> Result<()> {
        if self.wanted.numbers != Keep::Values || !self.budget.too_many_numbers() {
            return Ok(());
        }
        self.wanted.numbers = Keep::Sketches;
        let mut grown = 0;
        for slot in &mut self.slots {
            grown -= slot.cell.bytes() as isize;
            slot.cell.sketch();
            grown += slot.cell.bytes() as isize;
        }
        // Sketches of many numbers are smaller, and then nothing is taken.
        self.budget.take(usize::try_from(grown).unwrap_or(0))
    }

    /// Returns the number of slots, and the bytes of the group keys.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.slots.len(), self.groups.bytes())
    }

    /// Merges the accumulators of all workers. Returns `None` if there are no workers.
    pub(super) fn merge(workers: Vec<Self>) -> Result<Option<Self>> {
        let mut workers = workers.into_iter();
        let Some(mut merged) = workers.next() else { return Ok(None) };
        merged.settle_numbers()?;
        for mut worker in workers {
            worker.settle_numbers()?;
            merged.matched += worker.matched;
            let before_groups = merged.bytes_of_groups();
            let groups: Vec<StringId> =
                worker.groups.iter().map(|key| merged.group(key)).collect::<Result<_>>()?;
            for slot in worker.slots {
                let at = merged.slot(groups[slot.group.0 as usize], slot.start);
                let cell = &mut merged.slots[at].cell;
                let before = cell.bytes() + slot.cell.bytes();
                cell.merge(&slot.cell);
                let grown = cell.bytes().saturating_sub(before);
                if merged.wanted.strings {
                    merged.budget.take(grown)?;
                }
            }
            let grown = merged.bytes_of_groups().saturating_sub(before_groups);
            merged.budget.take(grown)?;
        }
        Ok(Some(merged))
    }
}
