//! What is said of text that is not TOML, in the words of the reference of settings.

/// Returns what is wrong with a text, from the message of its parser.
pub(super) fn invalid_syntax(message: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    // What the parser expected instead comes behind a comma.
    let found = message.split_once(", expected ").map_or(&*message, |(found, _)| found);
    let reason = explained(found).unwrap_or(&message);
    format!("not valid TOML: {reason}")
}

/// The more frequent mistakes in plain words. Others are shown as the parser names them.
fn explained(found: &str) -> Option<&'static str> {
    Some(match found {
        "string values must be quoted" => "a text must be in quotes",
        "key with no value" | "missing value for key" | "missing value" => {
            "a setting must be written as name = value"
        }
        "duplicate key" => "this setting or section is given twice",
        "invalid unquoted key" => "the name of a setting may have only letters, digits, _ and -",
        "unclosed table" | "unclosed array table" => "the name of a section has no closing bracket",
        "unclosed array" => "a list has no closing bracket",
        "unclosed inline table" => "an inline table has no closing brace",
        "missing comma between array elements" | "missing comma between key-value pairs" => {
            "a comma is missing"
        }
        "extra comma in array" | "extra comma in inline table" => "there is a comma too many",
        "extra `=`" | "extra assignment between key-value pairs" => "there is an = too many",
        "unexpected key or value" => "there is more on the line than one setting",
        "unexpected leading zero" => "a number must not begin with 0",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_mistakes_are_said_in_plain_words_and_others_as_the_parser_names_them() {
        for (message, expected) in [
            ("key with no value, expected `=`", "a setting must be written as name = value"),
            ("string values must be quoted, expected literal string", "a text must be in quotes"),
            ("duplicate key", "this setting or section is given twice"),
            ("something\nnew, expected `x`\n", "something, new, expected `x`"),
        ] {
            assert_eq!(invalid_syntax(message), format!("not valid TOML: {expected}"), "{message}");
        }
    }
}
