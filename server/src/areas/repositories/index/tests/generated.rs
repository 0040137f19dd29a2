//! Repositories that proptest makes, of few words, so that these repeat.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::super::super::ObjectId;
use super::super::super::source::{
    FileOutline, Import, Language, LineRange, Parameter, Reference, ReferenceKind, Symbol,
    SymbolKind,
};
use super::super::SourceFile;

const KINDS: [SymbolKind; 8] = [
    SymbolKind::Function,
    SymbolKind::Method,
    SymbolKind::Class,
    SymbolKind::Struct,
    SymbolKind::Module,
    SymbolKind::Constant,
    SymbolKind::Field,
    SymbolKind::TypeAlias,
];

const REFERENCE_KINDS: [ReferenceKind; 3] =
    [ReferenceKind::Call, ReferenceKind::Type, ReferenceKind::Implementation];

pub(super) fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec![
            "parse", "Parser", "parse_args", "argsParse", "cache", "Cache", "utf8", "HTTPServer",
            "x", "größe", "PARSE", "get_cache", "evict", "42", "the", "test",
        ]).prop_map(str::to_owned),
        1 => "[a-zA-Z_0-9é]{1,12}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    let words = vec(word(), 0..6).prop_map(|words| words.join(" "));
    prop_oneof![6 => words, 1 => Just(String::new()), 1 => "[ -~äλ\t\r]{0,30}"]
}

pub(super) fn text() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["\n", "\n", "\r\n"]);
    (vec((line(), end), 0..40), any::<bool>()).prop_map(|(lines, ends)| {
        let text: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
        if ends { text } else { text.trim_end_matches(['\n', '\r']).to_owned() }
    })
}

fn a_symbol(lines: u32) -> impl Strategy<Value = Symbol> {
    (
        (word(), prop::sample::select(KINDS.to_vec()), 1..=lines, 0..12_u32),
        (option::of(word()), option::of(line()), option::of(word()), line()),
        (any::<bool>(), any::<bool>(), vec((word(), option::of(word()), option::of(word())), 0..3)),
    )
        .prop_map(
            move |((name, kind, start, more), (container, doc, returns, signature), flags)| {
                let (is_public, is_test, parameters) = flags;
                let parameters = parameters
                    .into_iter()
                    .map(|(name, type_name, default)| Parameter { name, type_name, default })
                    .collect();
                Symbol {
                    name,
                    kind,
                    parent: None,
                    container,
                    lines: LineRange::new(start, (start + more).min(lines)).unwrap(),
                    name_line: start,
                    signature,
                    doc,
                    is_public,
                    is_test,
                    parameters,
                    returns,
                }
            },
        )
}

fn outline(lines: u32) -> impl Strategy<Value = FileOutline> {
    let symbols = vec((a_symbol(lines.max(1)), any::<prop::sample::Index>()), 0..8);
    let references = (word(), prop::sample::select(REFERENCE_KINDS.to_vec()), 0..=lines);
    let references = vec((references, option::of(any::<prop::sample::Index>())), 0..12);
    let imports = vec((word(), vec(word(), 0..3), 1..9_u32), 0..3);
    let language = option::of(prop::sample::select(Language::ALL.to_vec()));
    (language, option::of(line()), symbols, imports, references, any::<bool>()).prop_map(
        move |(language, doc, symbols, imports, references, is_complete)| {
            let mut symbols = if lines == 0 { Vec::new() } else { symbols };
            symbols.sort_by_key(|(symbol, _)| symbol.lines.start());
            let symbols: Vec<Symbol> = symbols
                .into_iter()
                .enumerate()
                .map(|(position, (symbol, parent))| {
                    // Any symbol before it, or none.
                    let parent = parent.index(position + 1);
                    Symbol { parent: (parent > 0).then(|| parent as u32 - 1), ..symbol }
                })
                .collect();
            let count = symbols.len();
            let references = references.into_iter().map(|((name, kind, line), within)| {
                let within = within.filter(|_| count > 0).map(|at| at.index(count) as u32);
                Reference { name, kind, line, within }
            });
            let imports = imports.into_iter();
            let imports = imports.map(|(path, names, line)| Import { path, names, line });
            FileOutline {
                language,
                doc,
                references: references.collect(),
                imports: imports.collect(),
                symbols,
                is_complete,
            }
        },
    )
}

pub(super) fn file() -> impl Strategy<Value = SourceFile> {
    text().prop_flat_map(|text| {
        let lines = super::super::lines::line_count(&text);
        (outline(lines), any::<[u8; 20]>()).prop_map(move |(outline, blob)| SourceFile {
            path: String::new(),
            blob: ObjectId::from_bytes(&blob).unwrap(),
            text: text.clone(),
            outline,
        })
    })
}

/// Returns files of different paths.
pub(super) fn files() -> impl Strategy<Value = Vec<SourceFile>> {
    let directory = prop::sample::select(vec!["", "src/", "tests/", "src/parse/"]);
    vec((file(), directory, word()), 0..7).prop_map(|files| {
        let numbered = files.into_iter().enumerate();
        numbered
            .map(|(number, (file, directory, name))| SourceFile {
                path: format!("{directory}{name}{number}.rs"),
                ..file
            })
            .collect()
    })
}
