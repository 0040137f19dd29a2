//! Divides a file into chunks along its symbols.
//!
//! A function, method or type is a chunk with its documentation; what is nested in it and large
//! enough to be looked for is a chunk of its own. What lies between them, such as imports and
//! constants, is joined. Long chunks are divided into windows that overlap.

use super::super::super::source::{FileOutline, LineRange, Symbol, SymbolKind};
use super::super::limits::{CHUNK_LINES_MAX, WINDOW_LINES, WINDOW_OVERLAP_LINES};

/// Lines of a constant or variable from which it is a chunk of its own.
const TABLE_LINES_MIN: u32 = 10;

/// A part of a file to be indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkPlan {
    pub(super) lines: LineRange,
    /// The position of the symbol that it is a part of.
    pub(super) symbol: Option<u32>,
    pub(super) is_later_piece: bool,
}

/// Returns the chunks of a file of so many lines, in the order of their lines.
pub(super) fn plan_chunks(outline: &FileOutline, lines: u32) -> Vec<ChunkPlan> {
    let mut seen = vec![false; outline.symbols.len()];
    let mut plans = Vec::new();
    for (run, symbol) in runs(&outline.symbols, lines) {
        let seen = symbol.and_then(|symbol| seen.get_mut(symbol as usize));
        let is_later = seen.is_some_and(|seen| std::mem::replace(seen, true));
        let is_long = run.count() > CHUNK_LINES_MAX || outline.language.is_none();
        let pieces = if is_long { windows(run) } else { vec![run] };
        for (number, lines) in pieces.into_iter().enumerate() {
            plans.push(ChunkPlan { lines, symbol, is_later_piece: is_later || number > 0 });
        }
    }
    plans
}

/// Returns the longest runs of lines that belong to the same symbol.
fn runs(symbols: &[Symbol], lines: u32) -> Vec<(LineRange, Option<u32>)> {
    let mut runs: Vec<(LineRange, Option<u32>)> = Vec::new();
    let mut open: Vec<(u32, &Symbol)> = Vec::new();
    let mut next = (0..).zip(symbols).peekable();
    for line in 1..=lines {
        while open.pop_if(|(_, symbol)| symbol.lines.end() < line).is_some() {}
        while let Some((position, symbol)) =
            next.next_if(|(_, symbol)| symbol.lines.start() <= line)
        {
            let ended = symbol.lines.end() < line;
            if !ended && is_chunk(symbol, open.last().map(|(_, symbol)| *symbol)) {
                open.push((position, symbol));
            }
        }
        let owner = open.last().map(|(position, _)| *position);
        match runs.last_mut() {
            Some((run, same)) if *same == owner => {
                *run = LineRange::new(run.start(), line).unwrap_or(*run);
            }
            _ => runs.extend(LineRange::new(line, line).map(|run| (run, owner))),
        }
    }
    runs
}

/// Returns whether a symbol inside of another one is a chunk of its own.
fn is_chunk(symbol: &Symbol, outer: Option<&Symbol>) -> bool {
    let is_inner = outer.is_some_and(|outer| {
        matches!(outer.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro)
            && outer.lines.count() <= CHUNK_LINES_MAX
    });
    let is_large = match symbol.kind {
        SymbolKind::Field | SymbolKind::Variant => false,
        SymbolKind::Constant | SymbolKind::Variable => symbol.lines.count() >= TABLE_LINES_MIN,
        _ => true,
    };
    is_large && !is_inner
}

/// Divides lines into windows. The last one takes what is too little for another one.
fn windows(lines: LineRange) -> Vec<LineRange> {
    let mut windows = Vec::new();
    let mut start = lines.start();
    loop {
        let end = start.saturating_add(WINDOW_LINES - 1);
        if end.saturating_add(WINDOW_OVERLAP_LINES) >= lines.end() {
            windows.extend(LineRange::new(start, lines.end()));
            return windows;
        }
        windows.extend(LineRange::new(start, end));
        start = end + 1 - WINDOW_OVERLAP_LINES;
    }
}
