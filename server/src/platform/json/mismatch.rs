//! Mismatches between JSON and the type it is read into: the field, and the broken rule in plain
//! words.
//!
//! The only module that knows how `serde` words its errors. None of that wording is passed on:
//! names of types become descriptions for users, and an error of an unknown form becomes a plain
//! sentence without its reason.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_path_to_error::{Path, Segment};

use super::syntax::without_position;
use crate::limits;
use crate::platform::nearest::nearest;

/// A mismatch: where, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMismatch {
    /// The field, as in `points[3].value`; empty for the value as a whole.
    pub field: String,
    /// The broken rule.
    pub rule: BrokenRule,
}

/// A rule that a field breaks. Its display form follows the name of the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokenRule {
    /// The field is absent.
    Required,
    /// The object has no such field; the known fields.
    Unknown(Vec<String>),
    /// The string is not one of these words.
    Word(String),
    /// The value has the wrong form; the right one.
    Form(Cow<'static, str>),
}

/// Reads a JSON value as a `T`. Fails with the first mismatch.
pub fn read_typed<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, TypeMismatch> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| TypeMismatch::of(&error))
}

impl TypeMismatch {
    fn of(error: &serde_path_to_error::Error<serde_json::Error>) -> Self {
        let text = error.inner().to_string();
        let reason = without_position(&text);
        let path = error.path();
        if let Some(name) = reason.strip_prefix("missing field `").and_then(|r| r.strip_suffix('`'))
        {
            return Self { field: inside(shown(path), name), rule: BrokenRule::Required };
        }
        if let Some(rest) = reason.strip_prefix("unknown field `") {
            let (name, known) = match rest.strip_suffix("`, there are no fields") {
                Some(name) => (name, ""),
                None => rest.rsplit_once("`, expected ").unwrap_or((rest, "")),
            };
            // The path of an unknown field ends with it.
            let is_named =
                matches!(path.iter().next_back(), Some(Segment::Map { key }) if key == name);
            let field = if is_named { shown(path) } else { inside(shown(path), name) };
            return Self { field, rule: BrokenRule::Unknown(quoted(known)) };
        }
        let rule = match reason.strip_prefix("unknown variant `") {
            Some(rest) => {
                let words = rest.rsplit_once("`, expected ").map_or("", |(_, words)| words);
                BrokenRule::Word(words.replace('`', ""))
            }
            None => BrokenRule::Form(form(reason)),
        };
        Self { field: shown(path), rule }
    }

    /// Returns the field and the rule as one sentence; `whole` is the subject if the value as a
    /// whole is wrong.
    pub fn sentence(&self, whole: &str) -> String {
        let field = if self.field.is_empty() { whole } else { &self.field };
        format!("{field} {}", self.rule_message())
    }

    /// Returns the rule as it follows the name of the field.
    pub fn rule_message(&self) -> String {
        let BrokenRule::Unknown(known) = &self.rule else { return self.rule.to_string() };
        let name = self.field.rsplit('.').next().unwrap_or_default().to_lowercase();
        match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("is not a known field (did you mean {near}?)"),
            None => self.rule.to_string(),
        }
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("is required"),
            Self::Unknown(known) if known.is_empty() => {
                f.write_str("is not a known field (there are none)")
            }
            Self::Unknown(known) => {
                write!(f, "is not a known field (known fields: {})", known.join(", "))
            }
            Self::Word(words) => write!(f, "must be {words}"),
            Self::Form(form) => f.write_str(form),
        }
    }
}

/// Converts a reason of `serde` to a description of valid values.
fn form(reason: &str) -> Cow<'static, str> {
    // Our own types with manual parsers state their rule themselves.
    if reason.starts_with("must be ") {
        return reason.to_owned().into();
    }
    let Some((_, expected)) = reason.rsplit_once(", expected ") else {
        // A string was expected where another token is: the parser reports no more.
        let form = if reason == "expected value" { "must be a string" } else { WRONG_FORM };
        return form.into();
    };
    if expected == "an integer" || expected.starts_with("an integer ") {
        return format!("must be {expected}").into();
    }
    let form = match expected {
        "a string" | "a borrowed string" | "string" | "path string" => "must be a string",
        "a boolean" => "must be true or false",
        "a sequence" => "must be an array",
        "a map" | "an object" => "must be an object",
        "unit" => "must be null",
        "f32" | "f64" => "must be a number",
        "i64" | "i32" | "i16" | "i8" => "must be an integer",
        "u64" | "usize" => "must be an integer from 0 to 18446744073709551615",
        "u32" => "must be an integer from 0 to 4294967295",
        "u16" => "must be an integer from 0 to 65535",
        "u8" => "must be an integer from 0 to 255",
        other if other.starts_with("struct ") => "must be an object",
        _ => WRONG_FORM,
    };
    form.into()
}

/// The rule for a value about which nothing better is known.
const WRONG_FORM: &str = "has the wrong form";

/// Returns the words between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Formats a path as fields are named in messages. Keys come from the client, so long ones are
/// truncated.
fn shown(path: &Path) -> String {
    path.iter().fold(String::new(), |outer, segment| match segment {
        Segment::Seq { index } => format!("{outer}[{index}]"),
        Segment::Map { key } => inside(outer, key),
        Segment::Enum { variant } => inside(outer, variant),
        Segment::Unknown => outer,
    })
}

fn inside(outer: String, name: &str) -> String {
    let name: String = name.chars().take(limits::PARAMETER_NAME_SHOWN_CHARS_MAX).collect();
    if outer.is_empty() { name } else { format!("{outer}.{name}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;
    use crate::platform::bounded::AtMost;
    use crate::platform::json::integer_u32;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed, never used")]
    struct Thing {
        name: String,
        flag: Option<bool>,
        byte: Option<u8>,
        short: Option<u16>,
        count: Option<u32>,
        large: Option<u64>,
        signed: Option<i64>,
        size: Option<f64>,
        path: Option<PathBuf>,
        list: Option<AtMost<String, 2>>,
        texts: Option<BTreeMap<String, String>>,
        side: Option<Side>,
        order: Option<Order>,
        parts: Option<Vec<Part>>,
        nothing: Option<Nothing>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed, never used")]
    struct Part {
        #[serde(deserialize_with = "integer_u32")]
        width: u32,
        part: Option<Box<Self>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Side {
        Left,
        Right,
        Middle,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        Asc,
        Desc,
    }

    #[test]
    fn mismatches_name_the_field_and_its_rule() {
        for (rest, expected) in [
            (r#""name":7"#, "name must be a string"),
            (r#""name":null"#, "name must be a string"),
            (r#""name":"a, expected u32","flag":1"#, "flag must be true or false"),
            (r#""name":"a","flag":"b, expected u32""#, "flag must be true or false"),
            (r#""name":"a","byte":256"#, "byte must be an integer from 0 to 255"),
            (r#""name":"a","short":-1"#, "short must be an integer from 0 to 65535"),
            (r#""name":"a","count":1.5"#, "count must be an integer from 0 to 4294967295"),
            (r#""name":"a","count":"1""#, "count must be an integer from 0 to 4294967295"),
            (r#""name":"a","large":-1"#, "large must be an integer from 0 to 18446744073709551615"),
            (r#""name":"a","signed":0.5"#, "signed must be an integer"),
            (r#""name":"a","size":"1""#, "size must be a number"),
            (r#""name":"a","path":[]"#, "path must be a string"),
            (r#""name":"a","list":{}"#, "list must be an array"),
            (r#""name":"a","list":["b",1]"#, "list[1] must be a string"),
            (r#""name":"a","texts":[]"#, "texts must be an object"),
            (r#""name":"a","texts":{"k":1}"#, "texts.k must be a string"),
            (r#""name":"a","side":"top""#, "side must be one of left, right, middle"),
            (r#""name":"a","side":"a`, expected `b""#, "side must be one of left, right, middle"),
            (r#""name":"a","order":"up""#, "order must be asc or desc"),
            (r#""name":"a","side":7"#, "side must be a string"),
            (r#""name":"a","parts":7"#, "parts must be an array"),
            (r#""name":"a","parts":[7]"#, "parts[0] must be an object"),
            (r#""name":"a","parts":[{}]"#, "parts[0].width is required"),
            (
                r#""name":"a","parts":[{"width":-1}]"#,
                "parts[0].width must be an integer from 0 to 4294967295",
            ),
            (
                r#""name":"a","parts":[{"width":1,"part":{"width":"x"}}]"#,
                "parts[0].part.width must be an integer from 0 to 4294967295",
            ),
            (
                r#""name":"a","parts":[{"width":1,"wdith":1}]"#,
                "parts[0].wdith is not a known field (did you mean width?)",
            ),
            (
                r#""name":"a","parts":[{"width":1,"colour":1}]"#,
                "parts[0].colour is not a known field (known fields: width, part)",
            ),
            (r#""name":"a","nothing":{"x":1}"#, "nothing.x is not a known field (there are none)"),
            (
                r#""name":"a","nothing":{"x`, expected `y":1}"#,
                "nothing.x`, expected `y is not a known field (there are none)",
            ),
            (r#""flag":true"#, "name is required"),
        ] {
            let body = format!("{{{rest}}}");
            let Err(misfit) = read_typed::<Thing>(body.as_bytes()) else {
                panic!("{body} fits");
            };
            assert_eq!(misfit.sentence("the body"), expected, "{body}");
        }
    }

    #[test]
    fn a_mismatch_of_the_whole_value_has_the_subject_of_the_caller() {
        for text in ["7", "\"a\"", "null", "true"] {
            let misfit = read_typed::<Thing>(text.as_bytes()).unwrap_err();
            assert_eq!(misfit.sentence("a thing"), "a thing must be an object", "{text}");
        }
    }

    #[test]
    fn messages_of_the_parser_are_never_repeated() {
        for reason in ["invalid length 3, expected fewer elements", "anything else", ""] {
            assert_eq!(form(reason), WRONG_FORM, "{reason}");
        }
        assert_eq!(form("must be 1 or \"unlimited\""), "must be 1 or \"unlimited\"");
    }

    #[test]
    fn long_names_are_truncated() {
        let body = format!("{{\"name\":\"a\",\"{}\":1}}", "x".repeat(5_000));
        let misfit = read_typed::<Thing>(body.as_bytes()).unwrap_err();
        assert_eq!(misfit.field, "x".repeat(limits::PARAMETER_NAME_SHOWN_CHARS_MAX));
    }
}
