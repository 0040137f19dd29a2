//! Suggestions for mistyped names ("did you mean").

/// The least similarity for a suggestion; 1 is equal.
const SIMILARITY_MIN: f64 = 0.85;

/// Returns the candidate most similar to `text`, if it is similar enough.
pub fn nearest<C: AsRef<str>>(text: &str, candidates: impl IntoIterator<Item = C>) -> Option<C> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(text, candidate.as_ref()), candidate))
        .filter(|(similarity, _)| *similarity > SIMILARITY_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_found_if_any_is_similar() {
        let names = ["from", "to", "interval", "group_by"];
        for (text, expected) in [
            ("form", Some("from")),
            ("intervall", Some("interval")),
            ("groupby", Some("group_by")),
            ("environment", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, names), expected, "{text}");
        }
        assert_eq!(nearest("x", [""; 0]), None);
    }
}
