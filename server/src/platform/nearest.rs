//! Suggestions for mistyped names ("did you mean").

/// The least similarity for a suggestion; 1 is equal.
const SIMILARITY_MIN: f64 = 0.85;

/// Returns the candidate that takes the fewest typing errors to become `text`, of those that are
/// similar enough; of several, the most similar one. Two swapped characters are one error.
pub fn nearest<C: AsRef<str>>(text: &str, candidates: impl IntoIterator<Item = C>) -> Option<C> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(text, candidate.as_ref()), candidate))
        .filter(|(similarity, _)| *similarity > SIMILARITY_MIN)
        .map(|(similarity, one)| (strsim::osa_distance(text, one.as_ref()), similarity, one))
        .min_by(|(a, of_a, _), (b, of_b, _)| a.cmp(b).then(of_b.total_cmp(of_a)))
        .map(|(_, _, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_found_if_any_is_similar() {
        let names = ["from", "format", "to", "interval", "group_by"];
        for (text, expected) in [
            ("form", Some("from")),
            ("formatt", Some("format")),
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
