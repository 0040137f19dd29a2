//! Parses what is searched for in names and values of metrics and events.

use telltale_engine::TextSearch;

use super::limits::{SEARCH_CHARS_MAX, SEARCH_WORDS_MAX};
use super::query_params::{InvalidQueryParams, parameter};

/// The messages for a text that is too long.
const CHARS_RULE: &str = "must have at most 500 characters";
const WORDS_RULE: &str = "must have at most 10 words";
const _: () = assert!(SEARCH_CHARS_MAX == 500, "the message names the limit");
const _: () = assert!(SEARCH_WORDS_MAX == 10, "the message names the limit");

/// Parses the parameter `search`; `None` if there is none, or only white space.
pub fn text_search(text: Option<&str>) -> Result<Option<TextSearch>, InvalidQueryParams> {
    let Some(text) = text else { return Ok(None) };
    if text.chars().nth(SEARCH_CHARS_MAX).is_some() {
        return Err(parameter("search", CHARS_RULE));
    }
    let search = TextSearch::new(text);
    if search.as_ref().is_some_and(|search| search.words() > SEARCH_WORDS_MAX) {
        return Err(parameter("search", WORDS_RULE));
    }
    Ok(search)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_bounded_in_characters_and_words() {
        let parsed = |text: &str| text_search(Some(text)).map(|search| search.is_some());
        assert_eq!(text_search(None), Ok(None));
        assert_eq!(parsed(" "), Ok(false));
        assert_eq!(parsed(&"\u{e9}".repeat(SEARCH_CHARS_MAX)), Ok(true));
        assert_eq!(parsed(&"a".repeat(SEARCH_CHARS_MAX + 1)), Err(parameter("search", CHARS_RULE)));
        assert_eq!(parsed("1 2 3 4 5 6 7 8 9 10"), Ok(true));
        assert_eq!(parsed("1 2 3 4 5 6 7 8 9 10 11"), Err(parameter("search", WORDS_RULE)));
    }
}
