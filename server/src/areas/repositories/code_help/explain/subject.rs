//! What the lines that are to be explained are.

use crate::areas::repositories::source::{FileOutline, LineRange, Symbol, SymbolKind};

/// The part, in percent, of a symbol and of the lines that both have in common if the lines mean
/// the symbol.
const COMMON_PERCENT_MIN: u64 = 60;

/// What is to be explained.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'o> {
    /// The file.
    File,
    /// A symbol, all of it.
    Symbol(&'o Symbol),
    /// Some lines of a function.
    Part(&'o Symbol, LineRange),
    /// Lines that are not part of a single function.
    Lines(LineRange),
}

impl<'o> Subject<'o> {
    /// Finds what lines of a file are.
    pub(super) fn of(outline: &'o FileOutline, text: &str, lines: LineRange) -> Self {
        let lines = without_empty_lines(text, lines);
        let mut best: Option<(u64, &Symbol)> = None;
        for symbol in &outline.symbols {
            let Some(common) = common_lines(symbol.lines, lines) else { continue };
            let of_symbol = percent(common, symbol.lines).max(code_percent(symbol, lines));
            let of_lines = percent(common, lines);
            let is_meant = of_symbol >= COMMON_PERCENT_MIN && of_lines >= COMMON_PERCENT_MIN;
            let score = of_symbol * of_lines;
            if is_meant && best.is_none_or(|(other, _)| score > other) {
                best = Some((score, symbol));
            }
        }
        if let Some((_, symbol)) = best {
            return Self::Symbol(symbol);
        }
        let around = outline.symbols.iter().rev();
        let mut around = around.filter(|symbol| {
            symbol.lines.start() <= lines.start() && lines.end() <= symbol.lines.end()
        });
        match around.next() {
            // The line of a name means what it names.
            Some(inner) if lines.count() == 1 && inner.name_line == lines.start() => {
                Self::Symbol(inner)
            }
            Some(inner) if is_function(inner) => Self::Part(inner, lines),
            Some(_) => match around.find(|symbol| is_function(symbol)) {
                Some(function) => Self::Part(function, lines),
                None => Self::Lines(lines),
            },
            None => Self::Lines(lines),
        }
    }

    /// Returns the lines that it has; `None` of a file.
    pub(super) fn lines(self) -> Option<LineRange> {
        match self {
            Self::File => None,
            Self::Symbol(symbol) => Some(symbol.lines),
            Self::Part(_, lines) | Self::Lines(lines) => Some(lines),
        }
    }
}

/// Returns whether a symbol is executed.
pub(super) fn is_function(symbol: &Symbol) -> bool {
    matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method)
}

/// Returns whether a symbol is a type with members.
pub(super) fn is_type(symbol: &Symbol) -> bool {
    matches!(
        symbol.kind,
        SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Union
            | SymbolKind::Interface
            | SymbolKind::Trait
            | SymbolKind::Module
    )
}

fn common_lines(one: LineRange, other: LineRange) -> Option<LineRange> {
    LineRange::new(one.start().max(other.start()), one.end().min(other.end()))
}

/// Returns how much of a symbol lines have, its documentation and attributes left aside.
fn code_percent(symbol: &Symbol, lines: LineRange) -> u64 {
    let code = LineRange::new(symbol.name_line, symbol.lines.end());
    let common = code.and_then(|code| Some((common_lines(code, lines)?, code)));
    common.map_or(0, |(common, code)| percent(common, code))
}

fn percent(part: LineRange, of: LineRange) -> u64 {
    u64::from(part.count()) * 100 / u64::from(of.count())
}

/// Leaves out the empty lines at both ends.
fn without_empty_lines(text: &str, lines: LineRange) -> LineRange {
    let (Ok(start), Ok(count)) = (usize::try_from(lines.start()), usize::try_from(lines.count()))
    else {
        return lines;
    };
    let mut full = text
        .lines()
        .skip(start.saturating_sub(1))
        .take(count)
        .zip(lines.start()..)
        .filter(|(line, _)| !line.trim().is_empty())
        .map(|(_, number)| number);
    let Some(first) = full.next() else { return lines };
    LineRange::new(first, full.last().unwrap_or(first)).unwrap_or(lines)
}
