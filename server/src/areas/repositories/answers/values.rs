//! Questions for a value, such as a default or a limit: which sentences and constants give one.

use super::files::FoundSymbol;
use super::limits::CODE_CHARS_MAX;
use super::phrases::has_marker;
use super::question::Question;
use crate::areas::repositories::quotes::contains_secret;
use crate::areas::repositories::source::SymbolKind;

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
        let lower = question.text.to_lowercase();
        let words: Vec<&str> = lower.split(|char: char| !char.is_alphanumeric()).collect();
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
        let counts = ["how many", "how often", "how long", "how large", "how big", "how much"];
        let names_number = has(&[
            "limit", "maximum", "max", "minimum", "min", "capacity", "initial", "timeout", "size",
        ]);
        if counts.iter().any(|start| lower.starts_with(start)) {
            Some(Self::Number)
        } else if has(&["default", "defaults"]) {
            Some(Self::Default)
        } else if names_number && lower.starts_with("what") {
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
