//! Finds symbols by name.

use std::cmp::Reverse;
use std::ops::Range;

use hashbrown::HashSet;

use super::super::super::source::SymbolKind;
use super::super::error::IndexError;
use super::super::format::SymbolRecord;
use super::super::limits::HITS_MAX;
use super::super::model::{SymbolEntry, SymbolHit, SymbolMatch};
use super::super::open::Index;
use super::super::words::{parts, stem};
use super::symbol_name::SymbolName;

impl Index {
    /// Finds symbols by name, at most `limit`: the same name, then ignoring case, then names that
    /// begin with it, then names that contain its words. `Container::name` and `Container.name`
    /// find only what belongs to that type, module or file. Symbols of tests come last among
    /// equals, types before functions before values, and what many files use first.
    pub fn symbols(&self, name: &str, limit: usize) -> Result<Vec<SymbolHit>, IndexError> {
        let wanted = SymbolName::parse(name);
        let limit = limit.min(HITS_MAX);
        let mut found: Vec<(SymbolMatch, &SymbolRecord)> = Vec::new();
        if wanted.name.is_empty() {
            return Ok(Vec::new());
        }
        let lower = wanted.name.to_lowercase();
        let prefixed = self.names_that_begin_with(&lower);
        for number in prefixed.clone() {
            let Some(name) = self.names.get(number) else { continue };
            let matched = if name == wanted.name {
                SymbolMatch::Exact
            } else if name.to_lowercase() == lower {
                SymbolMatch::IgnoringCase
            } else {
                SymbolMatch::Prefix
            };
            let symbols = self.symbols.of_names(number..number + 1);
            found.extend(symbols.iter().map(|symbol| (matched, symbol)));
        }
        found.retain(|(_, symbol)| self.is_in(symbol, wanted.container));
        if found.len() < limit {
            let others = self.names_of_words(wanted.name).filter(|name| !prefixed.contains(name));
            let others = others.flat_map(|name| self.symbols.of_names(name..name + 1));
            let others = others.filter(|symbol| self.is_in(symbol, wanted.container));
            found.extend(others.map(|symbol| (SymbolMatch::Words, symbol)));
        }
        found.sort_by_cached_key(|(matched, symbol)| (*matched, self.symbol_order(symbol)));
        found.truncate(limit);
        Ok(found.into_iter().filter_map(|(matched, symbol)| self.hit(matched, symbol)).collect())
    }

    /// Returns the symbols of exactly this name, at most `limit`, in the order of
    /// [`Self::symbols`]. Takes no look at other names, so that it costs little.
    pub fn symbols_of_name(&self, name: &str, limit: usize) -> Vec<SymbolHit> {
        let Some(number) = self.name_number(name) else { return Vec::new() };
        let mut found: Vec<&SymbolRecord> =
            self.symbols.of_names(number..number + 1).iter().collect();
        found.sort_by_cached_key(|symbol| self.symbol_order(symbol));
        found.truncate(limit.min(HITS_MAX));
        found.into_iter().filter_map(|symbol| self.hit(SymbolMatch::Exact, symbol)).collect()
    }

    /// Returns all symbols, sorted by their names without regard to case. Reads no file.
    pub fn all_symbols(&self) -> impl Iterator<Item = SymbolEntry<'_>> {
        let symbols = self.symbols.of_names(0..self.names.len()).iter();
        symbols.filter_map(|symbol| {
            Some(SymbolEntry {
                symbol: symbol.symbol,
                name: self.names.get(symbol.name as usize)?,
                container: symbol.container.and_then(|name| self.names.get(name as usize)),
                kind: symbol.kind,
                is_public: symbol.is_public,
                is_test: symbol.is_test,
                is_test_case: symbol.is_test_case,
            })
        })
    }

    fn hit(&self, matched: SymbolMatch, symbol: &SymbolRecord) -> Option<SymbolHit> {
        let container = symbol.container.and_then(|name| self.names.get(name as usize));
        Some(SymbolHit {
            symbol: symbol.symbol,
            name: self.names.get(symbol.name as usize)?.to_owned(),
            container: container.map(str::to_owned),
            kind: symbol.kind,
            lines: symbol.lines,
            is_public: symbol.is_public,
            is_test: symbol.is_test,
            matched,
        })
    }

    /// Returns what is less for symbols that come first.
    fn symbol_order(&self, symbol: &SymbolRecord) -> impl Ord + use<> {
        let kind = match symbol.kind {
            SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Union
            | SymbolKind::Interface
            | SymbolKind::Trait => 0,
            SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro => 1,
            SymbolKind::TypeAlias | SymbolKind::Module => 2,
            SymbolKind::Constant | SymbolKind::Variant => 3,
            SymbolKind::Variable | SymbolKind::Field => 4,
        };
        // Ranks are finite and not negative, so that their bits are in their order.
        let rank = self.graph.ranks.get(symbol.symbol.file.0 as usize).map_or(0, |r| r.to_bits());
        (symbol.is_test, kind, !symbol.is_public, Reverse(rank), symbol.symbol, symbol.name)
    }

    /// Returns whether a symbol belongs to a type, module or file of this name.
    fn is_in(&self, symbol: &SymbolRecord, container: Option<&str>) -> bool {
        let Some(wanted) = container else { return true };
        let own = symbol.container.and_then(|name| self.names.get(name as usize));
        let is_own = own.is_some_and(|own| {
            own.rsplit([':', '.']).any(|part| part.eq_ignore_ascii_case(wanted))
        });
        let path = self.files.paths.get(symbol.symbol.file.0 as usize).unwrap_or_default();
        is_own
            || path.split('/').any(|component| {
                component.split('.').next().is_some_and(|stem| stem.eq_ignore_ascii_case(wanted))
            })
    }

    /// Returns the names that begin with this, which is in lower case. They are sorted without
    /// regard to case.
    fn names_that_begin_with(&self, lower: &str) -> Range<usize> {
        let start = self.names.first(|name| name.to_lowercase().as_str().cmp(lower));
        let mut end = start;
        while self.names.get(end).is_some_and(|name| name.to_lowercase().starts_with(lower)) {
            end += 1;
        }
        start..end
    }

    /// Returns the names of symbols that contain all words of a name.
    fn names_of_words(&self, name: &str) -> impl Iterator<Item = usize> {
        let words = |name: &str| -> HashSet<String> {
            parts(name).map(|part| stem(&part.to_lowercase()).into_owned()).collect()
        };
        let wanted = words(name);
        // Most names are refused by a letter that they do not contain.
        let letters = wanted.iter().fold(0, |letters, word| letters | first_letter(word));
        self.names.iter().enumerate().filter_map(move |(number, name)| {
            let is_possible = letters & !letters_of(name) == 0
                && !wanted.is_empty()
                && !self.symbols.of_names(number..number + 1).is_empty();
            (is_possible && words(name).is_superset(&wanted)).then_some(number)
        })
    }
}

fn first_letter(word: &str) -> u32 {
    word.bytes().next().map_or(0, letter)
}

fn letters_of(name: &str) -> u32 {
    name.bytes().fold(0, |letters, byte| letters | letter(byte))
}

/// Returns a bit for a letter without regard to case; none for others.
fn letter(byte: u8) -> u32 {
    match byte.to_ascii_lowercase() {
        lower @ b'a'..=b'z' => 1 << (lower - b'a'),
        _ => 0,
    }
}
