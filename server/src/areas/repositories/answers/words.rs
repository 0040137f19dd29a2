//! The words of questions: which carry a topic, and when a word of a question and a word of the
//! code are the same one.

/// Words that carry no topic, in lower case.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "actually",
    "after",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "anything",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "being",
    "between",
    "both",
    "but",
    "by",
    "can",
    "come",
    "comes",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "done",
    "each",
    "else",
    "ever",
    "exactly",
    "explain",
    "describe",
    "find",
    "for",
    "from",
    "get",
    "gets",
    "give",
    "go",
    "goes",
    "had",
    "happen",
    "happens",
    "has",
    "have",
    "here",
    "how",
    "i",
    "if",
    "in",
    "inside",
    "instead",
    "into",
    "is",
    "it",
    "its",
    "just",
    "kind",
    "know",
    "let",
    "like",
    "list",
    "locate",
    "look",
    "looks",
    "made",
    "make",
    "makes",
    "many",
    "may",
    "me",
    "mean",
    "means",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "need",
    "needs",
    "no",
    "not",
    "of",
    "on",
    "one",
    "ones",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "please",
    "reason",
    "same",
    "shall",
    "should",
    "show",
    "so",
    "some",
    "something",
    "such",
    "take",
    "takes",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "this",
    "those",
    "to",
    "too",
    "under",
    "up",
    "us",
    "used",
    "via",
    "was",
    "way",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "work",
    "works",
    "working",
    "would",
    "you",
    "your",
    "exist",
    "exists",
    "several",
    "first",
    "main",
    "purpose",
    "used",
    "use",
    "uses",
    "using",
    "implemented",
    "implementation",
    "handled",
    "handle",
    "handles",
    "located",
    "code",
    "codebase",
    "repository",
    "repo",
    "project",
    "place",
    "responsible",
    "support",
    "supported",
    "supports",
    "what's",
    "whats",
    "how's",
    "where's",
    "who's",
    "it's",
    "isn't",
    "doesn't",
    "don't",
    "can't",
    "performed",
    "defined",
    "file",
    "files",
    "function",
    "functions",
    "method",
    "methods",
    "class",
    "classes",
    "module",
    "modules",
    "part",
    "parts",
    "people",
    "someone",
    "everything",
    "anyone",
];

/// Groups of words for the same thing, in lower case: names in code are often short.
const SYNONYMS: &[&[&str]] = &[
    &["auth", "authenticate", "authentication", "authorize", "authorization", "login"],
    &["config", "configuration", "configure", "settings", "setting", "conf", "options"],
    &["db", "database"],
    &["err", "error", "errors"],
    &["msg", "message"],
    &["req", "request"],
    &["res", "resp", "response"],
    &["param", "parameter", "params"],
    &["arg", "argument", "args"],
    &["dir", "directory", "folder"],
    &["init", "initialize", "initialise", "initialization", "setup"],
    &["del", "delete", "remove"],
    &["doc", "documentation", "docs"],
    &["fn", "func", "function"],
    &["str", "string"],
    &["int", "integer"],
    &["num", "number"],
    &["len", "length"],
    &["max", "maximum"],
    &["min", "minimum"],
    &["env", "environment"],
    &["id", "identifier"],
    &["ctx", "context"],
    &["conn", "connection"],
    &["async", "asynchronous"],
    &["sync", "synchronize", "synchronise", "synchronization"],
    &["regex", "regexp"],
    &["serialize", "serialise", "serialization", "encode"],
    &["deserialize", "deserialise", "deserialization", "decode"],
    &["color", "colour"],
    &["retry", "retries", "retried"],
    &["lib", "library"],
    &["spec", "specification"],
    &["temp", "temporary", "tmp"],
    &["cmd", "command"],
    &["cli", "command-line"],
    &["iter", "iterator", "iterate"],
];

/// Endings that are no part of a word's stem, longest first.
const ENDINGS: &[&str] = &[
    "izations", "isations", "ization", "isation", "ations", "ation", "ators", "ating", "ator",
    "ments", "ated", "ates", "ment", "ings", "ions", "able", "ate", "ing", "ion", "ers", "ies",
    "ors", "er", "or", "ed", "es", "ly", "s", "e", "y",
];

/// Letters that a stem has at least.
const STEM_CHARS_MIN: usize = 3;

/// Returns whether a word carries no topic. The word is in lower case.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Returns what a word has in common with its other forms: `hashed`, `hashing` and `hash` are one
/// word. The word is in lower case.
pub(super) fn stem(word: &str) -> String {
    // Twice: `ordering` is `order` with an ending, and that is `ord` with another.
    let mut stem = without_ending(without_ending(word)).to_owned();
    let mut last = stem.chars().rev();
    // `stopping` and `stop` are one word.
    if let (Some(one), Some(two)) = (last.next(), last.next())
        && one == two
        && one.is_ascii_alphabetic()
        && stem.chars().count() > STEM_CHARS_MIN
    {
        stem.pop();
    }
    stem
}

fn without_ending(word: &str) -> &str {
    ENDINGS
        .iter()
        .filter_map(|ending| Some((ending, word.strip_suffix(ending)?)))
        .find(|(ending, shorter)| {
            shorter.chars().count() >= STEM_CHARS_MIN
                && !(**ending == "s" && shorter.ends_with('s'))
        })
        .map_or(word, |(_, shorter)| shorter)
}

/// Returns the stems under which a word of a question can occur in code: its own, and those of the
/// words for the same thing.
pub(super) fn stems(word: &str) -> Vec<String> {
    let own = stem(word);
    let mut stems = vec![own.clone()];
    for group in SYNONYMS.iter().filter(|group| group.iter().any(|other| stem(other) == own)) {
        stems.extend(group.iter().map(|other| stem(other)));
    }
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// A word, prepared to be compared with many others.
#[derive(Clone, Debug)]
pub(super) struct Word {
    text: String,
    inflected: Vec<String>,
    stem: String,
    /// The stems of the words for the same thing; none if there are no others.
    synonyms: Vec<String>,
}

impl Word {
    /// Prepares a word in lower case.
    pub(super) fn new(text: &str) -> Self {
        let synonyms = stems(text);
        Self {
            inflected: inflected(text),
            stem: stem(text),
            synonyms: if synonyms.len() > 1 { synonyms } else { Vec::new() },
            text: text.to_owned(),
        }
    }

    /// Returns whether there are other words for the same thing.
    pub(super) fn has_synonyms(&self) -> bool {
        !self.synonyms.is_empty()
    }

    /// Returns whether another word, in lower case, is a form of this one, or a word for the same
    /// thing.
    pub(super) fn means(&self, other: &str) -> bool {
        self.is_form_of(other)
            || self.has_synonyms() && self.synonyms.iter().any(|known| *known == stem(other))
    }

    /// Returns whether two words are forms of one: `retry` and `retries`, `parser` and `parse`, but
    /// not `provider` and `provided`, nor `wine` and `win`.
    fn is_form_of(&self, other: &str) -> bool {
        if self.text == other {
            return true;
        }
        let common = self.text.chars().zip(other.chars());
        let common = common.take_while(|(left, right)| left == right).count();
        // Most words differ at once.
        if common + 1 < STEM_CHARS_MIN {
            return false;
        }
        if inflected(other).iter().any(|base| self.inflected.contains(base)) {
            return true;
        }
        let is_doer = |word: &str| ["er", "ers", "or", "ors"].iter().any(|end| word.ends_with(end));
        let is_done = |word: &str| word.ends_with("ed");
        common > STEM_CHARS_MIN
            && self.stem == stem(other)
            && !(is_doer(&self.text) && is_done(other) || is_done(&self.text) && is_doer(other))
    }
}

/// Returns the American spelling of a British one, or the other way round, if a word has both.
pub(super) fn other_spelling(word: &str) -> Option<String> {
    const SPELLINGS: &[(&str, &str)] = &[
        ("lled", "led"),
        ("lling", "ling"),
        ("ise", "ize"),
        ("ised", "ized"),
        ("ises", "izes"),
        ("iser", "izer"),
        ("ising", "izing"),
        ("isation", "ization"),
        ("our", "or"),
        ("ours", "ors"),
        ("iour", "ior"),
    ];
    SPELLINGS.iter().rev().find_map(|(british, american)| {
        let (from, to) = match word.ends_with(british) {
            true => (british, american),
            false => (american, british),
        };
        let start = word.strip_suffix(from).filter(|start| start.len() > STEM_CHARS_MIN)?;
        Some(format!("{start}{to}"))
    })
}

/// Returns whether a word, in lower case, has the form of a verb: `retried`, `parsing`.
pub(super) fn is_verb(word: &str) -> bool {
    word.len() > VERB_CHARS_MIN && (word.ends_with("ed") || word.ends_with("ing"))
}

/// Characters of words such as `seed` and `ring`, which only end like a verb.
const VERB_CHARS_MIN: usize = 4;

/// Returns what a word can be an inflected form of, with the word itself.
fn inflected(word: &str) -> Vec<String> {
    let mut bases = vec![word.to_owned()];
    for (ending, instead) in [
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ied", "y"),
        ("d", ""),
        ("ed", ""),
        ("ing", ""),
        ("ing", "e"),
    ] {
        let shorter = word.strip_suffix(ending).filter(|shorter| shorter.len() >= STEM_CHARS_MIN);
        let is_inflected = ending != "d" || word.ends_with("ed");
        if let Some(shorter) = shorter.filter(|_| is_inflected) {
            bases.push(format!("{shorter}{instead}"));
            let mut chars = shorter.chars().rev();
            if let (Some(last), Some(before)) = (chars.next(), chars.next())
                && last == before
                && instead.is_empty()
            {
                bases.push(shorter.chars().take(shorter.chars().count() - 1).collect());
            }
        }
    }
    bases
}

/// Calls a function with each word of a text, in lower case: the runs of letters and digits, and
/// the parts of names in camel case.
pub(super) fn each_word(text: &str, mut call: impl FnMut(&str)) {
    for run in text.split(|char: char| !char.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let parts = camel_parts(run);
        if parts.len() > 1 {
            call(&run.to_lowercase());
        }
        for part in parts {
            call(&part.to_lowercase());
        }
    }
}

/// Returns the parts of a name in camel case: `HTTPServerError2` are `HTTP`, `Server`, `Error2`.
pub(super) fn camel_parts(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut parts = Vec::new();
    let mut part = String::new();
    for (position, char) in chars.iter().enumerate() {
        let before = position.checked_sub(1).and_then(|before| chars.get(before));
        let after = chars.get(position + 1);
        let begins = char.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
            });
        if begins && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        part.push(*char);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for words in [
            &["hash", "hashed", "hashes", "hashing"][..],
            &["retry", "retries"],
            &["stop", "stopped", "stopping", "stops"],
            &["parse", "parser", "parsers", "parsing", "parsed"],
            &["validate", "validation", "validator", "validates"],
            &["connect", "connection", "connections", "connecting"],
        ] {
            let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
        assert_ne!(stem("class"), stem("clas"));
        assert!(stems("database").contains(&stem("db")));
    }

    #[test]
    fn words_have_two_spellings() {
        for (word, other) in [
            ("cancelled", Some("canceled")),
            ("canceled", Some("cancelled")),
            ("serialised", Some("serialized")),
            ("serialization", Some("serialisation")),
            ("behaviour", Some("behavior")),
            ("parsed", None),
        ] {
            assert_eq!(other_spelling(word).as_deref(), other, "{word}");
        }
    }

    #[test]
    fn words_are_forms_of_one() {
        for (word, other, expected) in [
            ("retry", "retries", true),
            ("rated", "rate", true),
            ("stopped", "stop", true),
            ("parser", "parse", true),
            ("connection", "connect", true),
            ("keys", "key", true),
            ("provider", "provided", false),
            ("wine", "win", false),
            ("concrete", "concurrent", false),
        ] {
            assert_eq!(Word::new(word).means(other), expected, "{word} {other}");
            assert_eq!(Word::new(other).means(word), expected, "{other} {word}");
        }
    }

    #[test]
    fn names_are_split_into_words() {
        let mut words = Vec::new();
        each_word("parseHTTPHeader snake_case x.y", |word| words.push(word.to_owned()));
        let expected = ["parsehttpheader", "parse", "http", "header", "snake", "case", "x", "y"];
        assert_eq!(words, expected);
    }
}
