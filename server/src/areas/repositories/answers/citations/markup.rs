//! Links, images, HTML tags and addresses in a model's text: a browser or a reader's program may
//! follow or run them, so they have to be those of a passage.

/// Parts of addresses, in lower case.
const ADDRESS_PARTS: &[&str] = &["://", "www.", "mailto:", "javascript:", "vbscript:", "data:"];

/// Returns the markup and the addresses in a text outside of code.
pub(super) fn markup(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = text.split_whitespace().filter_map(address).collect();
    for (at, _) in text.match_indices("](") {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        let start = before.rfind('[').unwrap_or(at);
        let end = after.find(')').map_or(text.len(), |end| at + end + 1);
        found.extend(text.get(start..end));
    }
    for (at, _) in text.match_indices('<') {
        let tag = text.get(at..).unwrap_or_default();
        let is_tag =
            tag.chars().nth(1).is_some_and(|char| char.is_alphabetic() || "/!?".contains(char));
        let end = tag.find('>').map_or(tag.len(), |end| end + 1);
        found.extend(tag.get(..end).filter(|_| is_tag));
    }
    found
}

/// Returns the address in a word, without the marks around it.
fn address(word: &str) -> Option<&str> {
    let lower = word.to_ascii_lowercase();
    let is_address = ADDRESS_PARTS.iter().any(|part| {
        lower.split_once(part).is_some_and(|(before, after)| {
            // `metadata:x` is no address.
            let begins = *part == "://" || !before.ends_with(char::is_alphanumeric);
            begins && after.contains(char::is_alphanumeric)
        })
    });
    is_address.then(|| {
        word.trim_start_matches(['(', '"', '\'', '“', '*', '_'])
            .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '”', '*', '_'])
    })
}
