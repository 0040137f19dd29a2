//! The sweep: each case at powers of ten of its size, and the table of the costs.

use std::process::ExitCode;

use crate::case::Case;
use crate::cpu;
use crate::fit::{EXPONENT_MAX, Growth};
use crate::reference;

/// The minimum of the largest size.
pub(crate) const SIZE_MIN: usize = 1_000;
/// The number of sizes at which a case is measured: the largest, and this many powers of ten below
/// it.
const SIZES: usize = 4;
/// How often sizes this many powers of ten below the largest are measured, since other threads
/// affect them more; the lowest cost counts.
const ROUNDS_BELOW: usize = 2;
const ROUNDS: usize = 3;

/// All cases, run one after the other.
#[derive(Debug)]
pub(crate) struct Sweep {
    largest: usize,
    /// The dimensions to sweep; all if empty.
    wanted: Vec<String>,
    cases: usize,
    steep: Vec<String>,
}

/// The costs of one operation, each with its size.
#[derive(Clone, Debug)]
struct Row {
    operation: &'static str,
    times: Vec<(usize, f64)>,
}

impl Row {
    fn growth(&self) -> Growth {
        Growth::of(&self.times)
    }
}

impl Sweep {
    pub(crate) fn new(largest: usize, wanted: Vec<String>) -> Self {
        let reference = reference::growth(&sizes(largest));
        println!(
            "a map of as many entries, for comparison: exponent {reference}; above {EXPONENT_MAX} is too steep"
        );
        Self { largest, wanted, cases: 0, steep: Vec::new() }
    }

    /// Measures a case and prints its part of the table.
    pub(crate) fn run<C: Case>(&mut self, case: &C) {
        let dimension = case.dimension();
        if !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| wanted == dimension) {
            return;
        }
        self.cases += 1;
        let mut largest = self.largest;
        if let Some(limit) = case.limit().filter(|limit| limit.size < largest) {
            largest = limit.size;
            println!("{dimension}: no more than {largest}: {}", limit.reason);
        }
        let mut rows = measure(case, largest);
        if rows.iter().any(|row| row.growth().is_steep()) {
            // Another program may have evicted the CPU caches: an operation that grows too fast is
            // measured twice.
            for (row, again) in rows.iter_mut().zip(measure(case, largest)) {
                for ((_, seconds), (_, less)) in row.times.iter_mut().zip(again.times) {
                    *seconds = seconds.min(less);
                }
            }
        }
        rows.iter().for_each(|row| self.print(dimension, row));
    }

    fn print(&mut self, dimension: &str, row: &Row) {
        let (operation, growth) = (row.operation, row.growth());
        let time = |(size, seconds): &(usize, f64)| format!("{size:>8}: {seconds:>8.3} s ");
        let times: String = row.times.iter().map(time).collect();
        let end = Growth::at_the_end(&row.times);
        let verdict = if growth.is_steep() { "  TOO STEEP" } else { "" };
        println!(
            "{dimension:<15} {operation:<20} {times} exponent {growth}, at the end {end}{verdict}"
        );
        if growth.is_steep() {
            self.steep.push(format!("{dimension}: {operation}"));
        }
    }

    /// Prints the operations that grow too fast. Fails if there are any, or if nothing was swept.
    pub(crate) fn finish(self) -> ExitCode {
        if self.cases == 0 {
            println!("there is no dimension of these names: {}", self.wanted.join(", "));
            return ExitCode::from(2);
        }
        if self.steep.is_empty() {
            return ExitCode::SUCCESS;
        }
        println!("above {EXPONENT_MAX}: {}", self.steep.join(", "));
        ExitCode::FAILURE
    }
}

/// Measures the operations of a case at each size.
fn measure<C: Case>(case: &C, largest: usize) -> Vec<Row> {
    let operations = case.operations();
    let row = |operation| Row { operation, times: Vec::new() };
    let mut rows: Vec<Row> = operations.iter().map(|operation| row(operation.name)).collect();
    for (at, size) in sizes(largest).into_iter().enumerate() {
        rows.iter_mut().for_each(|row| row.times.push((size, f64::INFINITY)));
        for _ in 0..if at < SIZES - ROUNDS_BELOW { ROUNDS } else { 1 } {
            let dir = tempfile::tempdir().unwrap();
            let mut open = case.open(dir.path());
            for (operation, row) in operations.iter().zip(&mut rows) {
                let before = cpu::seconds();
                (operation.act)(case, &mut open, size);
                let seconds = cpu::seconds() - before;
                let Some((_, least)) = row.times.last_mut() else { continue };
                *least = least.min(seconds);
            }
        }
    }
    rows
}

/// Returns the sizes up to the largest, ascending.
fn sizes(largest: usize) -> Vec<usize> {
    let down = std::iter::successors(Some(largest), |size| Some(size / 10));
    let mut sizes: Vec<usize> = down.take(SIZES).take_while(|size| *size > 0).collect();
    sizes.reverse();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_ten_below_the_largest() {
        assert_eq!(sizes(1_000_000), [1_000, 10_000, 100_000, 1_000_000]);
        assert_eq!(sizes(1_000), [1, 10, 100, 1_000]);
    }
}
