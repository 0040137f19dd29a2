//! The known name that looks most like a mistyped one: for "did you mean" in refusals.

/// How alike two names must be for one to be suggested for the other: 1 is equal.
const LIKENESS_MIN: f64 = 0.85;

/// Returns the candidate that looks most like `text`, if one is alike enough.
pub fn nearest<C: AsRef<str>>(text: &str, candidates: impl IntoIterator<Item = C>) -> Option<C> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(text, candidate.as_ref()), candidate))
        .filter(|(likeness, _)| *likeness > LIKENESS_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_is_found_and_nothing_where_nothing_is_alike() {
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
