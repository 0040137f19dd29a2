//! Matchers of labels: `severity="page"`, `env!=dev`, `job=~"a|b"`, `job!~"a.*"`.
//!
//! The rules are those of Alertmanager's classic parser. White space around name, operator and
//! value is ignored. Quotes around the value are optional; in it, `\"`, `\\` and `\n` are escapes,
//! and another backslash stands for itself. Names beyond the classic ones, which Prometheus 3
//! allows, may be written bare if they contain neither white space nor any of ``{}!=~,\"'` ``, or
//! in quotes. A label that is absent has the value "".
//!
//! Expressions match whole values. They are compiled by an engine that takes linear time, and their
//! size is limited.

use std::collections::BTreeMap;
use std::fmt;

use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;

/// Characters of a matcher: those of the longest name and value, all escaped.
const MATCHER_CHARS_MAX: usize = 5_000;
/// Characters of a matcher that an error message repeats.
const SHOWN_CHARS: usize = 100;
/// Levels of nesting in an expression.
const NESTING_MAX: u32 = 50;
/// Bytes of a compiled expression: several classes of Unicode.
const COMPILED_BYTES_MAX: usize = 512 << 10;
/// Bytes of the states that are cached while an expression is matched.
const CACHE_BYTES: usize = 256 << 10;

/// A condition on one label.
#[derive(Clone, Debug)]
pub struct LabelMatcher {
    name: String,
    operator: MatcherOperator,
    value: String,
    /// The compiled value, if the operator has an expression.
    pattern: Option<LabelPattern>,
}

/// How a matcher compares the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatcherOperator {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `=~`
    Matches,
    /// `!~`
    NotMatches,
}

/// A regular expression that matches whole strings.
#[derive(Clone, Debug)]
pub struct LabelPattern(Regex);

/// Why a matcher is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatcherError {
    /// There is no valid name or operator.
    #[error("bad matcher format: {0}")]
    Format(String),
    /// A quote in the value is not escaped, or the last one is missing.
    #[error("matcher value contains unescaped double quote: {0}")]
    Quote(String),
    /// The expression is invalid or too large.
    #[error("error parsing regexp: {0}")]
    Pattern(String),
    /// The matcher is too long.
    #[error("matcher has more than {MATCHER_CHARS_MAX} characters")]
    TooLong,
}

impl LabelMatcher {
    /// Returns the matcher of these parts. Fails if the expression is invalid or the name empty.
    pub fn new(
        name: String,
        operator: MatcherOperator,
        value: String,
    ) -> Result<Self, MatcherError> {
        if name.is_empty() {
            return Err(MatcherError::Format("the name is empty".to_owned()));
        }
        let pattern = match operator {
            MatcherOperator::Equal | MatcherOperator::NotEqual => None,
            MatcherOperator::Matches | MatcherOperator::NotMatches => {
                Some(LabelPattern::parse(&value)?)
            }
        };
        Ok(Self { name, operator, value, pattern })
    }

    /// Parses a matcher.
    pub fn parse(text: &str) -> Result<Self, MatcherError> {
        if text.chars().nth(MATCHER_CHARS_MAX).is_some() {
            return Err(MatcherError::TooLong);
        }
        let malformed = || MatcherError::Format(shown(text));
        let (name, rest) = name(text.trim_start_matches(is_space)).ok_or_else(malformed)?;
        let rest = rest.trim_start_matches(is_space);
        let (operator, rest) = MatcherOperator::split(rest).ok_or_else(malformed)?;
        let value = unquote(rest.trim_matches(is_space))?;
        Self::new(name, operator, value)
    }

    /// Returns the name of the label.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether a label set fulfils the condition.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.name).map_or("", String::as_str);
        let is_match = match &self.pattern {
            None => value == self.value,
            Some(pattern) => pattern.matches(value),
        };
        match self.operator {
            MatcherOperator::Equal | MatcherOperator::Matches => is_match,
            MatcherOperator::NotEqual | MatcherOperator::NotMatches => !is_match,
        }
    }
}

impl MatcherOperator {
    /// All operators. Longer ones precede those that they begin with.
    const ALL: [(Self, &'static str); 4] = [
        (Self::Matches, "=~"),
        (Self::NotMatches, "!~"),
        (Self::NotEqual, "!="),
        (Self::Equal, "="),
    ];

    fn split(text: &str) -> Option<(Self, &str)> {
        let split = |(operator, sign)| Some((operator, text.strip_prefix(sign)?));
        Self::ALL.into_iter().find_map(split)
    }

    fn sign(self) -> &'static str {
        Self::ALL.into_iter().find(|(operator, _)| *operator == self).map_or("", |(_, sign)| sign)
    }
}

impl LabelPattern {
    /// Compiles an expression.
    pub fn parse(pattern: &str) -> Result<Self, MatcherError> {
        let syntax = syntax::Config::new().nest_limit(NESTING_MAX);
        // On its own first, so that it cannot close the group around it.
        let alone = syntax::parse_with(pattern, &syntax);
        alone.map_err(|error| MatcherError::Pattern(reason(&error)))?;
        let limits = Regex::config()
            .nfa_size_limit(Some(COMPILED_BYTES_MAX))
            .onepass_size_limit(Some(COMPILED_BYTES_MAX))
            .hybrid_cache_capacity(CACHE_BYTES)
            // Takes longer to build than these expressions take to match.
            .dfa(false);
        let built = Regex::builder().syntax(syntax).configure(limits).build(&whole(pattern));
        built.map(Self).map_err(|error| refusal(&error))
    }

    /// Returns whether the expression matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Equality of what was written: the compiled expression follows from it.
impl PartialEq for LabelMatcher {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.operator, &self.value) == (&other.name, other.operator, &other.value)
    }
}

impl Eq for LabelMatcher {}

/// Writes a form that [`LabelMatcher::parse`] reads as the same matcher.
impl fmt::Display for LabelMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(|c| is_space(c) || is_reserved(c)) {
            write_quoted(f, &self.name)?;
        } else {
            f.write_str(&self.name)?;
        }
        f.write_str(self.operator.sign())?;
        write_quoted(f, &self.value)
    }
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

/// Parses a name, bare or in quotes, and returns it with the rest of the text.
fn name(text: &str) -> Option<(String, &str)> {
    if let Some(inside) = text.strip_prefix('"') {
        let mut is_escaped = false;
        let closes = |c: char| {
            let is_end = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        };
        let (quoted, rest) = inside.split_at_checked(inside.find(closes)?)?;
        let name = unescape(quoted)?;
        return (!name.is_empty()).then_some((name, rest.strip_prefix('"')?));
    }
    let end = text.find(|c| is_space(c) || is_reserved(c))?;
    let (name, rest) = text.split_at_checked(end)?;
    (!name.is_empty()).then(|| (name.to_owned(), rest))
}

/// Removes the quotes and the escapes of a value.
fn unquote(raw: &str) -> Result<String, MatcherError> {
    let unescaped = || MatcherError::Quote(shown(raw));
    let Some(inside) = raw.strip_prefix('"') else { return unescape(raw).ok_or_else(unescaped) };
    // A final quote that is escaped belongs to the value, so it does not end it.
    let backslashes = |text: &str| text.chars().rev().take_while(|c| *c == '\\').count();
    let value = inside.strip_suffix('"').filter(|value| backslashes(value) % 2 == 0);
    value.and_then(unescape).ok_or_else(unescaped)
}

/// Replaces escapes. Returns `None` if there is a quote that is not escaped.
fn unescape(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => return None,
            '\\' => match characters.next() {
                Some('n') => value.push('\n'),
                Some(c @ ('"' | '\\')) => value.push(c),
                other => {
                    value.push('\\');
                    value.extend(other);
                }
            },
            _ => value.push(c),
        }
    }
    Some(value)
}

/// Returns whether the classic parser skips this character between the parts of a matcher.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

fn is_reserved(c: char) -> bool {
    "{}!=~,\\\"'`".contains(c)
}

/// Returns the expression that matches whole strings only.
fn whole(pattern: &str) -> String {
    format!("^(?:{pattern})$")
}

fn refusal(error: &BuildError) -> MatcherError {
    let reason = match (error.size_limit(), error.syntax_error()) {
        (Some(bytes), _) => format!("it takes more than {bytes} bytes"),
        (None, Some(error)) => reason(error),
        (None, None) => "it is too complex".to_owned(),
    };
    MatcherError::Pattern(reason)
}

/// Returns the last line of an error of the parser: those before it show the position.
fn reason(error: &impl ToString) -> String {
    let text = error.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    shown(last.strip_prefix("error: ").unwrap_or(last))
}

/// Returns the beginning of a text, for messages.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns what was parsed as name, sign and value, or the error.
    fn parsed(text: &str) -> Result<(String, &'static str, String), String> {
        let matcher = LabelMatcher::parse(text).map_err(|error| error.to_string())?;
        Ok((matcher.name, matcher.operator.sign(), matcher.value))
    }

    #[test]
    fn the_classic_forms_are_parsed() {
        for (text, name, sign, value) in [
            (r#"foo="bar""#, "foo", "=", "bar"),
            (r#"foo=~"bar.*""#, "foo", "=~", "bar.*"),
            (r#"foo!="bar""#, "foo", "!=", "bar"),
            (r#"foo!~"bar.*""#, "foo", "!~", "bar.*"),
            ("foo=bar", "foo", "=", "bar"),
            ("dings!=bums", "dings", "!=", "bums"),
            (" foo \t=\n bar baz ", "foo", "=", "bar baz"),
            (r#"foo = " bar ""#, "foo", "=", " bar "),
            (r#"foo="""#, "foo", "=", ""),
            ("job=", "job", "=", ""),
            (r#"foo="bar,quux""#, "foo", "=", "bar,quux"),
            (r#"quote="She said: \"Hi!\"""#, "quote", "=", "She said: \"Hi!\""),
            (r#"statuscode=~"5..""#, "statuscode", "=~", "5.."),
            ("tricky=~~~", "tricky", "=~", "~~"),
            (r#"trickier==\\=\=\""#, "trickier", "=", r#"=\=\=""#),
            (r#"contains_quote != "\"""#, "contains_quote", "!=", "\""),
            (r"foo=\n", "foo", "=", "\n"),
            (r"foo=bar\t", "foo", "=", r"bar\t"),
            (r"foo=bar\", "foo", "=", r"bar\"),
            (r"foo=bar\\", "foo", "=", r"bar\"),
            ("foo='", "foo", "=", "'"),
            ("foo=bar}", "foo", "=", "bar}"),
            ("foo=a\nb", "foo", "=", "a\nb"),
            ("foo=\u{a0}b", "foo", "=", "\u{a0}b"),
            ("a:b_1=c", "a:b_1", "=", "c"),
        ] {
            let expected = (name.to_owned(), sign, value.to_owned());
            assert_eq!(parsed(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn names_beyond_the_classic_ones_are_parsed() {
        for (text, name, value) in [
            ("name-with-dashes=bar", "name-with-dashes", "bar"),
            ("Σ=c", "Σ", "c"),
            ("00=b", "00", "b"),
            (r#""service.name" = "a""#, "service.name", "a"),
            (r#""a \"b\\\nc"=d"#, "a \"b\\\nc", "d"),
            (r#"" "=d"#, " ", "d"),
        ] {
            let expected = (name.to_owned(), "=", value.to_owned());
            assert_eq!(parsed(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_forms_are_refused_in_the_words_of_alertmanager() {
        for (text, expected) in [
            ("", "bad matcher format: "),
            ("foo", "bad matcher format: foo"),
            ("=bar", "bad matcher format: =bar"),
            ("{foo=bar}", "bad matcher format: {foo=bar}"),
            ("foo!bar", "bad matcher format: foo!bar"),
            ("foo~bar", "bad matcher format: foo~bar"),
            ("foo bar=baz", "bad matcher format: foo bar=baz"),
            (r#""foo=bar"#, r#"bad matcher format: "foo=bar"#),
            (r#"""=bar"#, r#"bad matcher format: ""=bar"#),
            (r#""foo\"=bar"#, r#"bad matcher format: "foo\"=bar"#),
            (r#"job="value"#, r#"matcher value contains unescaped double quote: "value"#),
            (r#"job=value""#, r#"matcher value contains unescaped double quote: value""#),
            (r#"job="a\""#, r#"matcher value contains unescaped double quote: "a\""#),
            (r#"job=""#, r#"matcher value contains unescaped double quote: ""#),
            (r#"a==\\=\=\"""#, r#"matcher value contains unescaped double quote: =\\=\=\"""#),
            (r#"a = foo"bar"#, r#"matcher value contains unescaped double quote: foo"bar"#),
            (r#"foo=~"invalid[regexp""#, "error parsing regexp: unclosed character class"),
            ("foo=~a)|(?:b", "error parsing regexp: unopened group"),
            ("foo=~(a", "error parsing regexp: unclosed group"),
            (r"foo!~\p{Nope}", "error parsing regexp: Unicode property not found"),
        ] {
            assert_eq!(parsed(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn sizes_are_limited() {
        let value = |chars: usize| parsed(&format!("a={}", "ä".repeat(chars)));
        assert!(value(MATCHER_CHARS_MAX - 2).is_ok());
        let too_long = "matcher has more than 5000 characters".to_owned();
        assert_eq!(value(MATCHER_CHARS_MAX - 1), Err(too_long));
        let shown = parsed(&"ä".repeat(101)).unwrap_err();
        assert_eq!(shown, format!("bad matcher format: {}…", "ä".repeat(100)));

        let nested = |levels: usize| format!("a=~{}{}", "(".repeat(levels), ")".repeat(levels));
        assert!(parsed(&nested(40)).is_ok());
        for text in [
            nested(60),
            r"a=~(\w{50}){50}".to_owned(),
            "a=~((a{1000}){1000}){1000}".to_owned(),
            format!("a=~{}", r"\p{L}".repeat(900)),
        ] {
            let error = parsed(&text).unwrap_err();
            assert!(error.starts_with("error parsing regexp: "), "{text}: {error}");
        }
        assert!(parsed(r"a=~(\w+\.){3}[\p{L}\d]{1,5}|x.*y").is_ok());
    }

    #[test]
    fn a_label_that_is_absent_is_empty() {
        let labels = BTreeMap::from([("env".to_owned(), "prod\n".to_owned())]);
        for (text, expected) in [
            (r"env=prod\n", true),
            ("env=prod", false),
            ("env!=prod", true),
            ("env=~prod", false),
            ("env=~pro.", false),
            (r"env=~(?s)prod.", true),
            ("env=~rod", false),
            ("env!~rod", true),
            (r"env=~foo|prod\n", true),
            (r"env=~prod\n|foo", true),
            ("env=~(?i)PROD\\n", true),
            ("job=", true),
            ("job!=", false),
            ("env!=", true),
            ("env=", false),
            ("job=~", true),
            ("job=~.*", true),
            ("job=~.+", false),
            ("job!~.+", true),
            ("env!~", true),
        ] {
            assert_eq!(LabelMatcher::parse(text).unwrap().matches(&labels), expected, "{text}");
        }
    }

    #[test]
    fn costly_expressions_take_linear_time() {
        let labels = BTreeMap::from([("a".to_owned(), "a".repeat(2_000))]);
        for text in ["a=~(a*)*b", "a=~(a|aa)+b", "a=~(.*)(.*)(.*)(.*)[^a]"] {
            assert!(!LabelMatcher::parse(text).unwrap().matches(&labels), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(name in "\\PC{1,20}|.{1,5}", value in "(?s).{0,40}", sign in 0..4_usize) {
            let operator = MatcherOperator::ALL[sign].0;
            let Ok(matcher) = LabelMatcher::new(name, operator, value) else { return Ok(()) };
            let written = matcher.to_string();
            prop_assert_eq!(LabelMatcher::parse(&written), Ok(matcher), "{}", written);
        }

        #[test]
        fn no_text_panics(text in "(?s)[\"a]{0,3}(=~|!~|=|!=|)[\"(\\\\\\[{]{0,6}.{0,40}") {
            if let Ok(matcher) = LabelMatcher::parse(&text) {
                prop_assert_eq!(LabelMatcher::parse(&matcher.to_string()), Ok(matcher));
            }
        }

        #[test]
        fn literal_values_are_compared_exactly(value in "[a-z\"\\\\\n ]{0,10}", other in "[a-z\"\\\\\n ]{0,10}") {
            let matcher = LabelMatcher::new("a".to_owned(), MatcherOperator::Equal, value.clone()).unwrap();
            let is_equal = matcher.matches(&BTreeMap::from([("a".to_owned(), other.clone())]));
            prop_assert_eq!(is_equal, value == other);
        }
    }
}
