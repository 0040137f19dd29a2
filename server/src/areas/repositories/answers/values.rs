//! Questions for a value, such as a default or a limit: which sentences and constants give one.

use super::draft::{Draft, Marker};
use super::files::FoundSymbol;
use super::limits::CODE_CHARS_MAX;
use super::phrases::{cite_symbol, code, has_marker, place};
use super::question::Question;
use crate::areas::repositories::quotes::contains_secret;
use crate::areas::repositories::source::SymbolKind;

/// Other values of definitions of one name that an answer gives.
const OTHER_VALUES_MAX: usize = 3;

/// What a question asks the value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedValue {
    /// A default.
    Default,
    /// A limit, or another number.
    Number,
}

impl AskedValue {
    /// Returns what a question asks the value of, if it asks for one.
    pub(super) fn of(question: &Question) -> Option<Self> {
        let first = question.words.iter().take(2).map(String::as_str).collect::<Vec<_>>();
        let names_number = question.has(&[
            "limit", "maximum", "max", "minimum", "min", "capacity", "initial", "timeout", "size",
        ]);
        let counts = ["many", "often", "long", "large", "big", "much"];
        if matches!(first.as_slice(), ["how", count] if counts.contains(count)) {
            Some(Self::Number)
        } else if question.has(&["default", "defaults"]) {
            Some(Self::Default)
        } else if names_number && first.first().is_some_and(|first| first.starts_with("what")) {
            Some(Self::Number)
        } else {
            None
        }
    }

    /// Returns how clearly a sentence gives such a value, from 0 to 1.
    pub(super) fn clarity(self, sentence: &str) -> f64 {
        let lower = sentence.to_lowercase();
        let has = |wanted: &[&str]| wanted.iter().any(|word| lower.contains(word));
        let has_number = lower.chars().any(|char| char.is_ascii_digit());
        // The history of a function has numbers of versions.
        if has(&["versionchanged", "versionadded", "deprecated", "since version"]) {
            return 0.0;
        }
        let says_default = has(&["default value", "default is", "defaults to", "default:"])
            || has(&["by default"]) && has(&[" is ", " are ", "set to"]);
        let has_value =
            has_number || has(&["`", "none", "true", "false", "number of", "enabled", "disabled"]);
        let says_limit =
            has(&["at most", "maximum", "max ", "up to", "limit", "at least", "holds"]);
        match self {
            Self::Default if says_default && has_value => 1.0,
            Self::Default if has(&["default"]) && has_value => 0.3,
            Self::Number if says_default && has_number => 1.0,
            Self::Number if says_limit && has_number => 0.8,
            Self::Default | Self::Number => 0.0,
        }
    }
}

/// Returns a sentence with the value of a constant, or the first one of a variable.
pub(super) fn value_sentence(found: &FoundSymbol, marker: Marker) -> Option<String> {
    let value = code(&value(found)?);
    Some(match found.symbol.kind {
        SymbolKind::Constant => format!("Its value is {value} {marker}."),
        _ => format!("It is first set to {value} {marker}."),
    })
}

/// Writes the values of other definitions of a name that differ from that of the first.
pub(super) fn say_other_values(draft: &mut Draft, found: &[FoundSymbol]) {
    let Some((first, others)) = found.split_first() else { return };
    let Some(own) = value(first) else { return };
    let mut known = vec![own];
    for other in others {
        let Some(other_value) = value(other).filter(|value| !known.contains(value)) else {
            continue;
        };
        if known.len() > OTHER_VALUES_MAX {
            break;
        }
        if let Some(marker) = cite_symbol(draft, other) {
            let (place, value) = (place(other), code(&other_value));
            draft.say(format!("At {place} it is set to {value} {marker}."));
            known.push(other_value);
        }
    }
}

/// Returns the value that a constant or variable is defined as, if it is short and no secret.
pub(super) fn value(found: &FoundSymbol) -> Option<String> {
    let is_value = matches!(found.symbol.kind, SymbolKind::Constant | SymbolKind::Variable);
    let signature = found.symbol.signature.trim();
    let (_, value) = signature.split_once(" = ").filter(|_| is_value)?;
    let value = value.trim_end_matches(';').trim();
    let is_quotable = !value.is_empty()
        && value.chars().count() <= CODE_CHARS_MAX
        && !value.contains('`')
        && !has_marker(value)
        && !contains_secret(signature);
    is_quotable.then(|| value.to_owned())
}
