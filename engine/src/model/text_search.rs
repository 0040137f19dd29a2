//! Search in names, as people type it: words in any order, whatever the case.

/// A search text.
///
/// A name matches if it contains the text or all of its words, regardless of case. Matches have a
/// rank: the whole name, its beginning, the beginning of a word in it, any part of it, all words at
/// beginnings of words, all words anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSearch {
    /// In lower case, with single spaces between words.
    text: String,
    words: Vec<String>,
}

/// How well a name matches, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SearchRank {
    /// The name is the text.
    Exact,
    /// The name begins with the text.
    Prefix,
    /// A word of the name begins with the text.
    WordStart,
    /// The name contains the text.
    Part,
    /// Words of the name begin with the words of the text.
    AllWordStarts,
    /// The name contains the words of the text.
    AllParts,
}

impl SearchRank {
    /// The number of ranks.
    pub(crate) const COUNT: usize = 6;
}

impl TextSearch {
    /// Returns the search for `text`, or `None` if it consists of white space: everything matches.
    pub fn new(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(fold_case).collect();
        (!words.is_empty()).then(|| Self { text: words.join(" "), words })
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Returns whether `name` matches.
    pub fn matches(&self, name: &str) -> bool {
        self.rank(name, &mut String::new()).is_some()
    }

    /// Returns how well `name` matches; `None` if it does not. `lower` is a buffer, kept by the
    /// caller so that a search in many names does not allocate for each.
    pub(crate) fn rank(&self, name: &str, lower: &mut String) -> Option<SearchRank> {
        fold_case_into(name, lower);
        match find(lower, &self.text) {
            Some(0) if lower.len() == self.text.len() => return Some(SearchRank::Exact),
            Some(0) => return Some(SearchRank::Prefix),
            Some(_) if has_word_start(lower, &self.text) => return Some(SearchRank::WordStart),
            Some(_) => return Some(SearchRank::Part),
            None => {}
        }
        let several = self.words.len() > 1;
        if !several || !self.words.iter().all(|word| find(lower, word).is_some()) {
            return None;
        }
        let all_start = self.words.iter().all(|word| has_word_start(lower, word));
        Some(if all_start { SearchRank::AllWordStarts } else { SearchRank::AllParts })
    }
}

/// Returns a text in the form in which searches compare texts regardless of case: each character in
/// lower case, whatever is around it. [`str::to_lowercase`] makes a capital sigma at the end of a
/// word another letter than elsewhere, so that a part of a word would not be found in the word.
pub fn fold_case(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_case_into(text, &mut folded);
    folded
}

/// Like [`fold_case`]; replaces the contents of `folded`.
fn fold_case_into(text: &str, folded: &mut String) {
    folded.clear();
    if text.is_ascii() {
        folded.push_str(text);
        folded.make_ascii_lowercase();
        return;
    }
    for character in text.chars() {
        match character {
            '\u{3c2}' => folded.push('\u{3c3}'),
            _ => folded.extend(character.to_lowercase()),
        }
    }
}

/// Returns the first position of `part`. Faster than [`str::find`] in strings as short as names.
fn find(text: &str, part: &str) -> Option<usize> {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let (first, rest) = part.split_first()?;
    let last_start = text.len().checked_sub(part.len())?;
    let mut from = 0;
    while let Some(at) = text.get(from..=last_start)?.iter().position(|byte| byte == first) {
        from += at + 1;
        if text.get(from..).is_some_and(|tail| tail.starts_with(rest)) {
            return Some(from - 1);
        }
    }
    None
}

/// Returns whether `part` occurs at the beginning of a word: after a character that is neither
/// letter nor digit, or at the beginning.
fn has_word_start(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|character| !character.is_alphanumeric())
    })
}

/// Keeps one page of the items that are ranked, in the order in which they come within a rank,
/// without sorting them.
#[derive(Debug)]
pub(crate) struct RankedPage<T> {
    by_rank: [Vec<T>; SearchRank::COUNT],
    end: usize,
    total: usize,
}

impl<T> RankedPage<T> {
    /// Returns an empty page that ends after `end` items.
    pub(crate) fn new(end: usize) -> Self {
        Self { by_rank: Default::default(), end, total: 0 }
    }

    /// Adds an item; `item` is called only if it may be on the page or before it.
    pub(crate) fn add(&mut self, rank: SearchRank, item: impl FnOnce() -> T) {
        self.total += 1;
        if let Some(items) = self.by_rank.get_mut(rank as usize)
            && items.len() < self.end
        {
            items.push(item());
        }
    }

    /// Returns the number of all items, and those of the page, which starts after `offset` items.
    pub(crate) fn finish(self, offset: usize) -> (usize, Vec<T>) {
        let limit = self.end.saturating_sub(offset);
        let page = self.by_rank.into_iter().flatten().skip(offset).take(limit).collect();
        (self.total, page)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rank(text: &str, name: &str) -> Option<SearchRank> {
        TextSearch::new(text).and_then(|search| search.rank(name, &mut String::new()))
    }

    #[test]
    fn matches_are_ranked() {
        use SearchRank::*;
        for (text, name, expected) in [
            ("cpu", "cpu", Some(Exact)),
            ("CPU", "cpu", Some(Exact)),
            (" cpu ", "CPU", Some(Exact)),
            ("cpu", "cpu.usage", Some(Prefix)),
            ("cpu", "host.cpu", Some(WordStart)),
            ("cpu", "xcpu.cpu", Some(WordStart)),
            ("cpu", "xcpu", Some(Part)),
            ("cpu", "cp.u", None),
            ("usage", "cpu_usage_total", Some(WordStart)),
            ("cpu usage", "cpu usage", Some(Exact)),
            ("cpu usage", "cpu_usage", Some(AllWordStarts)),
            ("usage cpu", "cpu_usage", Some(AllWordStarts)),
            ("age cpu", "cpu_usage", Some(AllParts)),
            ("cpu disk", "cpu_usage", None),
            ("größe", "Dateien.GRÖSSE", None),
            ("größe", "Dateien.GRÖßE", Some(WordStart)),
            ("ç", "Ça", Some(Prefix)),
            // A sigma is the same letter at the end of a word.
            ("ΟΔΟΣ", "οδος", Some(Exact)),
            ("ΟΔΟΣ", "ΟΔΟΣΤΡΩΜΑ", Some(Prefix)),
            ("οδοσ", "ΟΔΟΣ", Some(Exact)),
            ("a", "", None),
        ] {
            assert_eq!(rank(text, name), expected, "{text:?} in {name:?}");
        }
        assert_eq!(TextSearch::new(" \t"), None);
    }

    #[test]
    fn a_page_is_the_part_of_all_items_by_rank() {
        let ranks = [SearchRank::Part, SearchRank::Exact, SearchRank::Prefix, SearchRank::Part];
        for end in 0..6 {
            let mut page = RankedPage::new(end);
            ranks.iter().enumerate().for_each(|(i, rank)| page.add(*rank, || i));
            let expected: Vec<usize> = [1, 2, 0, 3].into_iter().take(end).skip(1).collect();
            assert_eq!(page.finish(1), (4, expected));
        }
    }

    proptest! {
        #[test]
        fn a_position_is_that_of_the_standard_library(text in "[abé]{0,12}", part in "[abé]{1,3}") {
            prop_assert_eq!(find(&text, &part), text.find(&part));
        }

        #[test]
        fn a_name_matches_if_it_contains_all_words(text in "\\PC{0,6}", name in "\\PC{0,12}") {
            let lower = fold_case(&name);
            let whole = fold_case(&text.split_whitespace().collect::<Vec<_>>().join(" "));
            let mut words = text.split_whitespace();
            let expected = !whole.is_empty()
                && (lower.contains(&whole) || words.all(|word| lower.contains(&fold_case(word))));
            prop_assert_eq!(rank(&text, &name).is_some(), expected);
        }
    }
}
