//! Messages for invalid JSON, with line and column.

use super::InvalidJson;
use crate::limits;

/// Converts an error of the parser.
pub fn invalid_syntax(error: &serde_json::Error) -> InvalidJson {
    let text = error.to_string();
    let reason = without_position(&text);
    if reason == "recursion limit exceeded" {
        return InvalidJson::TooDeep(limits::JSON_OBJECT_DEPTH_MAX);
    }
    let (line, column) = (error.line(), error.column());
    let place = format!("line {line}, column {column}");
    InvalidJson::Malformed(match explained(reason) {
        Some(what) => format!("{what} at {place}"),
        None => format!("it breaks the grammar at {place}"),
    })
}

/// Returns a parser's message without line and column.
pub fn without_position(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(reason, _)| reason)
}

/// Returns a description that does not refer to the parser's internals.
fn explained(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "EOF while parsing a list" => "it ends inside an array",
        "EOF while parsing an object" => "it ends inside an object",
        "EOF while parsing a string" => "it ends inside a string",
        "EOF while parsing a value" => "it ends where a value is expected",
        "expected value" => "a value is expected",
        "expected ident" => "true, false or null is expected",
        "expected `:`" => "a colon is expected",
        "expected `,` or `]`" => "a comma or a closing bracket is expected",
        "expected `,` or `}`" => "a comma or a closing brace is expected",
        "trailing comma" => "there is an extra comma",
        "trailing characters" => "there is more text after the value",
        "key must be a string" => "a key in double quotes is expected",
        "invalid number" => "there is an invalid number",
        "number out of range" => "there is a number that is too large",
        "invalid escape" => "there is an invalid escape sequence",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a string contains a control character that is not escaped"
        }
        "invalid unicode code point"
        | "lone leading surrogate in hex escape"
        | "unexpected end of hex escape" => "a string contains an invalid Unicode character",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_described_in_plain_words() {
        for (text, expected) in [
            (" ", "it ends where a value is expected"),
            ("[1", "it ends inside an array"),
            ("{\"a\":1", "it ends inside an object"),
            ("\"a", "it ends inside a string"),
            ("{\n\"a\":}", "a value is expected"),
            ("nul1", "true, false or null is expected"),
            ("{\"a\" 1}", "a colon is expected"),
            ("[1 2]", "a comma or a closing bracket is expected"),
            ("{\"a\":1 2}", "a comma or a closing brace is expected"),
            ("[1,]", "there is an extra comma"),
            ("{} {}", "there is more text after the value"),
            ("{'a':1}", "a key in double quotes is expected"),
            ("01", "there is an invalid number"),
            ("1e999", "there is a number that is too large"),
            ("\"\\x\"", "there is an invalid escape sequence"),
            ("\"\n\"", "a string contains a control character that is not escaped"),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            let InvalidJson::Malformed(message) = invalid_syntax(&error) else { panic!("{text}") };
            let what = message.rsplit_once(" at line ").map(|(what, _)| what);
            assert_eq!(what, Some(expected), "{text}: {error}");
        }
    }

    #[test]
    fn the_place_is_the_line_and_the_column() {
        let error = serde_json::from_str::<serde_json::Value>("{\n\"a\":}").unwrap_err();
        let expected = InvalidJson::Malformed("a value is expected at line 2, column 5".to_owned());
        assert_eq!(invalid_syntax(&error), expected);
        let deep = serde_json::from_str::<serde_json::Value>(&"[".repeat(200)).unwrap_err();
        assert_eq!(invalid_syntax(&deep), InvalidJson::TooDeep(limits::JSON_OBJECT_DEPTH_MAX));
    }
}
