//! Messages for invalid TOML, in the terms of the reference of settings.

/// Returns what is wrong, based on the message of the parser.
pub(super) fn invalid_syntax(message: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    // What the parser expected instead follows a comma.
    let found = message.split_once(", expected ").map_or(&*message, |(found, _)| found);
    let reason = explained(found).unwrap_or(&message);
    format!("not valid TOML: {reason}")
}

/// Returns an explanation of a frequent mistake. The parser's message is used for others.
fn explained(found: &str) -> Option<&'static str> {
    Some(match found {
        "string values must be quoted" => "a string must be in quotes",
        "key with no value" | "missing value for key" | "missing value" => {
            "a setting must be written as name = value"
        }
        "duplicate key" => "the setting or section is a duplicate",
        "invalid unquoted key" => "the name of a setting may have only letters, digits, _ and -",
        "unclosed table" | "unclosed array table" => "the name of a section has no closing bracket",
        "unclosed array" => "a list has no closing bracket",
        "unclosed inline table" => "an inline table has no closing brace",
        "missing comma between array elements" | "missing comma between key-value pairs" => {
            "a comma is missing"
        }
        "extra comma in array" | "extra comma in inline table" => "there is an extra comma",
        "extra `=`" | "extra assignment between key-value pairs" => "there is an extra =",
        "unexpected key or value" => "the line contains more than one setting",
        "unexpected leading zero" => "a number must not begin with 0",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_mistakes_are_explained_and_others_reported_as_by_the_parser() {
        for (message, expected) in [
            ("key with no value, expected `=`", "a setting must be written as name = value"),
            ("string values must be quoted, expected literal string", "a string must be in quotes"),
            ("duplicate key", "the setting or section is a duplicate"),
            ("something\nnew, expected `x`\n", "something, new, expected `x`"),
        ] {
            assert_eq!(invalid_syntax(message), format!("not valid TOML: {expected}"), "{message}");
        }
    }
}
