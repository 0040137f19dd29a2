//! The numbers of languages and kinds in an index. They never change their meaning.

use super::super::super::source::{Language, ReferenceKind, SymbolKind};

/// The kinds of symbols, by their numbers.
const SYMBOL_KINDS: [SymbolKind; 15] = [
    SymbolKind::Function,
    SymbolKind::Method,
    SymbolKind::Class,
    SymbolKind::Struct,
    SymbolKind::Enum,
    SymbolKind::Variant,
    SymbolKind::Union,
    SymbolKind::Interface,
    SymbolKind::Trait,
    SymbolKind::TypeAlias,
    SymbolKind::Module,
    SymbolKind::Macro,
    SymbolKind::Constant,
    SymbolKind::Variable,
    SymbolKind::Field,
];

pub(in super::super) fn language_code(language: Option<Language>) -> u8 {
    match language {
        None => 0,
        Some(Language::Rust) => 1,
        Some(Language::Python) => 2,
        Some(Language::JavaScript) => 3,
        Some(Language::TypeScript) => 4,
        Some(Language::Tsx) => 5,
        Some(Language::Go) => 6,
        Some(Language::Ruby) => 7,
        Some(Language::Java) => 8,
        Some(Language::C) => 9,
        Some(Language::Cpp) => 10,
    }
}

/// Returns `None` if no language has this number.
pub(in super::super) fn language(code: u8) -> Option<Option<Language>> {
    if code == 0 {
        return Some(None);
    }
    let mut all = Language::ALL.into_iter();
    all.find(|language| language_code(Some(*language)) == code).map(Some)
}

pub(in super::super) fn symbol_kind_code(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::Function => 0,
        SymbolKind::Method => 1,
        SymbolKind::Class => 2,
        SymbolKind::Struct => 3,
        SymbolKind::Enum => 4,
        SymbolKind::Variant => 5,
        SymbolKind::Union => 6,
        SymbolKind::Interface => 7,
        SymbolKind::Trait => 8,
        SymbolKind::TypeAlias => 9,
        SymbolKind::Module => 10,
        SymbolKind::Macro => 11,
        SymbolKind::Constant => 12,
        SymbolKind::Variable => 13,
        SymbolKind::Field => 14,
    }
}

pub(in super::super) fn symbol_kind(code: u8) -> Option<SymbolKind> {
    SYMBOL_KINDS.get(usize::from(code)).copied()
}

pub(in super::super) fn reference_kind_code(kind: ReferenceKind) -> u8 {
    match kind {
        ReferenceKind::Call => 0,
        ReferenceKind::Type => 1,
        ReferenceKind::Implementation => 2,
    }
}

pub(in super::super) fn reference_kind(code: u8) -> Option<ReferenceKind> {
    match code {
        0 => Some(ReferenceKind::Call),
        1 => Some(ReferenceKind::Type),
        2 => Some(ReferenceKind::Implementation),
        _ => None,
    }
}

/// Kinds of references, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct ReferenceKinds(pub(in super::super) u8);

impl ReferenceKinds {
    pub(in super::super) fn insert(&mut self, kind: ReferenceKind) {
        self.0 |= 1 << reference_kind_code(kind);
    }

    pub(in super::super) fn contains(self, kind: ReferenceKind) -> bool {
        self.0 & 1 << reference_kind_code(kind) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_means_what_was_written() {
        for (code, kind) in SYMBOL_KINDS.into_iter().enumerate() {
            assert_eq!(usize::from(symbol_kind_code(kind)), code);
        }
        for language_written in Language::ALL.into_iter().map(Some).chain([None]) {
            assert_eq!(language(language_code(language_written)), Some(language_written));
        }
        assert_eq!((language(11), symbol_kind(15), reference_kind(3)), (None, None, None));
    }
}
