//! What comes of a function: what it returns and how it fails.

use super::super::docs::DocSections;
use super::super::excerpt::{code, ended, listed, prose, sentence};
use super::super::limits::{DESCRIPTION_CHARS_MAX, EXITS_MAX};
use super::super::model::Outputs;
use super::super::statements::{Exits, Failing};
use super::clauses::failing;
use super::subject::Subject;
use crate::areas::repositories::source::Symbol;

/// Describes the results of a function, or of some lines of it.
pub(super) fn of_function(
    symbol: &Symbol,
    subject: Subject<'_>,
    sections: &DocSections,
    exits: &Exits<'_>,
) -> Outputs {
    let is_part = matches!(subject, Subject::Part(..));
    Outputs {
        success: success(symbol, is_part, sections, exits),
        failure: failure(symbol, is_part, sections, exits),
    }
}

/// Returns the results of what is not executed.
pub(super) fn of_definitions(what: &str) -> Outputs {
    Outputs {
        success: format!("Nothing is returned: this is {what}, not a function."),
        failure: format!("Nothing fails by itself: this is {what}, not a function."),
    }
}

fn success(symbol: &Symbol, is_part: bool, sections: &DocSections, exits: &Exits<'_>) -> String {
    let mut sentences = Vec::new();
    if let Some(returns) = sections.returns.as_ref().filter(|_| !is_part) {
        let described = ended(&prose(&returns.description, DESCRIPTION_CHARS_MAX));
        let type_name = returns.type_name.as_deref().filter(|_| symbol.returns.is_none());
        let type_name = type_name.filter(|of| !of.contains('`')).map(code);
        sentences.push(match (type_name, described.is_empty()) {
            (Some(of), true) => sentence(&of),
            (Some(of), false) => format!("{of}: {described}"),
            (None, _) => sentence(&described),
        });
    }
    let values = |of: &[&str]| {
        let shown: Vec<String> = of.iter().map(|value| code(value)).collect();
        (!shown.is_empty()).then(|| listed(&shown, EXITS_MAX, "or"))
    };
    if let Some(yielded) = values(&exits.yielded) {
        sentences.push(sentence(&format!("yields {yielded}")));
    }
    let returns = symbol.returns.as_deref().filter(|of| !of.is_empty() && !is_part);
    // A generator returns an iterator, whatever its annotation says.
    let is_iterator = |of: &&str| {
        exits.yielded.is_empty()
            || ["Iter", "Generator", "Yield", "Enumer"].iter().any(|word| of.contains(word))
    };
    let is_misleading = returns.is_some_and(|of| !is_iterator(&of));
    if let Some(of) = returns.filter(|_| is_misleading) {
        sentences.push(sentence(&format!("it is declared to return {}", code(of))));
    }
    let returns = returns.filter(is_iterator);
    match (returns.map(code), values(&exits.returned)) {
        (Some(of), Some(values)) => sentences.push(sentence(&format!("returns {of}: {values}"))),
        (Some(one), None) | (None, Some(one)) => {
            sentences.push(sentence(&format!("returns {one}")));
        }
        (None, None) => {}
    }
    sentences.retain(|sentence| !sentence.is_empty());
    match (sentences.is_empty(), is_part) {
        (true, true) => "These lines do not return.".to_owned(),
        (true, false) => "Returns nothing.".to_owned(),
        (false, _) => sentences.join(" "),
    }
}

fn failure(symbol: &Symbol, is_part: bool, sections: &DocSections, exits: &Exits<'_>) -> String {
    let mut sentences = Vec::new();
    for error in sections.errors.iter().filter(|_| !is_part) {
        let described = ended(&prose(&error.description, DESCRIPTION_CHARS_MAX));
        sentences.push(match error.name.as_deref() {
            Some(name) if described.is_empty() => ended(&prose(name, DESCRIPTION_CHARS_MAX)),
            Some(name) => format!("{}: {described}", prose(name, DESCRIPTION_CHARS_MAX)),
            None => sentence(&described),
        });
    }
    // `?` of Rust is about errors or about missing values, as the type of the result says.
    let has_option = symbol.returns.as_deref().is_some_and(|of| of.starts_with("Option<"));
    let in_words = |how| match how {
        Failing::PassesOn if has_option => Failing::HasNone,
        how => how,
    };
    for how in [
        Failing::Returns,
        Failing::Raises,
        Failing::Throws,
        Failing::Rejects,
        Failing::PassesOn,
        Failing::HasNone,
        Failing::Asserts,
        Failing::Panics,
    ] {
        let all = exits.failures.iter().filter(|(kind, _)| in_words(*kind) == how);
        let (named, again): (Vec<_>, Vec<_>) = all.partition(|(_, what)| what.is_some());
        let names: Vec<String> = named.iter().filter_map(|(_, what)| what.map(code)).collect();
        if !names.is_empty() {
            sentences.push(sentence(&many(how, &names)));
        }
        if !again.is_empty() {
            sentences.push(sentence(&failing(how, None)));
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    match (sentences.is_empty(), is_part) {
        (true, true) => "These lines do not fail by themselves.".to_owned(),
        (true, false) => "Does not fail by itself.".to_owned(),
        (false, _) => sentences.join(" "),
    }
}

fn many(how: Failing, names: &[String]) -> String {
    let verb = match how {
        Failing::Returns => "returns",
        Failing::Raises => "raises",
        Failing::Throws => "throws",
        Failing::Rejects => "rejects with",
        Failing::PassesOn if names.len() == 1 => "passes on the error of",
        Failing::PassesOn => "passes on the errors of",
        Failing::HasNone => "returns no value if there is none of",
        Failing::Asserts => "fails unless this holds:",
        Failing::Panics => "panics if this fails or is reached:",
    };
    let conjunction = if how == Failing::HasNone { "or" } else { "and" };
    format!("{verb} {}", listed(names, EXITS_MAX, conjunction))
}
