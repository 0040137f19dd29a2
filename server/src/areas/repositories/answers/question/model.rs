//! A question, taken apart, and what it needs of earlier ones.

use super::super::words::{each_word, is_stop_word};
use super::kind::{WHOLE, is_listed_noun, kind};
use super::tokens::{Token, name_parts, tokens};
use crate::areas::repositories::source::{Language, LineRange, SymbolKind};

/// A question, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Question {
    /// The question as asked, without spaces around it.
    pub(in super::super) text: String,
    /// Its words in lower case, in their order.
    pub(in super::super) words: Vec<String>,
    /// What it asks for.
    pub(in super::super) kind: QuestionKind,
    /// The names and paths in it that are written as code, in their order.
    pub(in super::super) mentions: Vec<Mention>,
    /// Ordinary words that may be names too, as in `What does parse do?`, in their order.
    pub(in super::super) candidates: Vec<String>,
    /// The words of the topic, in lower case, in their order, without duplicates.
    pub(in super::super) topic: Vec<String>,
    /// Only files in this language are asked about.
    pub(in super::super) language: Option<Language>,
    /// What it needs of earlier questions.
    pub(in super::super) needs: Needs,
}

/// What a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum QuestionKind {
    /// Where something is defined.
    Definition,
    /// What something is or does.
    Description,
    /// What calls or uses something.
    Callers,
    /// What something calls, imports or depends on.
    Dependencies,
    /// What implements or extends something.
    Implementations,
    /// What something implements or extends.
    Bases,
    /// Which functions, types, routes and so on there are.
    List(Listed),
    /// What the repository is.
    Overview,
    /// Why something is as it is.
    Reason,
    /// How something is done, and everything else.
    Topic,
}

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Listed {
    /// Symbols of some kinds.
    Symbols(&'static [SymbolKind]),
    /// Types and constructors of errors.
    Errors,
    /// HTTP routes.
    Routes,
    /// What can be configured.
    Settings,
    /// Tests.
    Tests,
    /// Files.
    Files,
}

/// A name or path that is written as code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Mention {
    /// A name, maybe with what it is reached through: the parts of `Store::open` in their order.
    Name(Vec<String>),
    /// A path or the end of one, maybe with lines.
    Path {
        /// The path.
        path: String,
        /// The lines after it.
        lines: Option<LineRange>,
    },
}

/// What a question needs of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Needs {
    /// Nothing.
    Nothing,
    /// What `it` or `that function` refers to.
    Subject,
    /// The whole earlier question, of which this one changes a part: `and in Python?`.
    EarlierQuestion,
}

/// Verbs of people who make software, in lower case: code is called and run, but not by people.
const MAKING: &[&str] = &[
    "wrote",
    "written",
    "created",
    "made",
    "built",
    "maintains",
    "maintain",
    "maintained",
    "owns",
    "authored",
    "developed",
    "develops",
];
/// Verbs of publishing a version, in lower case.
const PUBLISHING: &[&str] = &["released", "published", "tagged", "shipped"];

/// Words that ask how things differ, in lower case.
pub(in super::super) const COMPARING: &[&str] =
    &["difference", "differences", "differ", "differs", "versus", "vs", "compare", "compared"];

const PRONOUNS: &[&str] =
    &["it", "its", "they", "them", "their", "this", "that", "these", "those", "itself"];

/// Returns whether a word is a version, such as `1.2` or `v3`.
fn is_version(word: &str) -> bool {
    let word = word.trim_end_matches(['?', '.', ',', '!']);
    let number = word.strip_prefix(['v', 'V']).unwrap_or(word);
    let mut parts = number.split('.');
    let is_number = |part: &str| part.chars().next().is_some_and(|char| char.is_ascii_digit());
    parts.clone().all(is_number) && (number.len() < word.len() || parts.nth(1).is_some())
}

impl Question {
    /// Takes a question apart.
    pub(in super::super) fn parse(text: &str) -> Self {
        let text = text.trim().to_owned();
        let tokens = tokens(&text);
        let mentions: Vec<Mention> = tokens.iter().filter_map(Token::mention).collect();
        let words: Vec<String> = tokens.iter().map(|token| token.lower.clone()).collect();
        let language = asked_language(&words);
        let kind = kind(&words, !mentions.is_empty());
        let topic = topic(&tokens, language, kind);
        let needs = needs(&words, &mentions, &topic, kind);
        let candidates = candidates(&tokens, kind);
        let lower = text.to_lowercase();
        let words = lower.split(|char: char| !char.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Self { text, words, kind, mentions, candidates, topic, language, needs }
    }

    /// Returns whether a word of the topic is written in capitals or as code, so that it names one
    /// thing.
    pub(in super::super) fn names_exactly(&self, word: &str) -> bool {
        self.text.split(|char: char| !char.is_alphanumeric()).skip(1).any(|written| {
            written.to_lowercase() == word && written.chars().any(char::is_uppercase)
        })
    }

    /// Returns whether it asks who made all of the code, or when a version of it was published:
    /// code does not say that. A question that names a known thing is about that.
    pub(in super::super) fn asks_for_history(&self) -> bool {
        match self.words.first().map(String::as_str) {
            Some("who") => self.has(MAKING) && self.has(WHOLE),
            // A lock is released too, but has no version.
            Some("when") => self.has(PUBLISHING) && self.text.split_whitespace().any(is_version),
            _ => false,
        }
    }

    /// Returns whether it contains one of some words, in lower case.
    pub(in super::super) fn has(&self, wanted: &[&str]) -> bool {
        self.words.iter().any(|word| wanted.contains(&word.as_str()))
    }

    /// Returns whether it asks how things differ.
    pub(in super::super) fn is_comparison(&self) -> bool {
        self.has(COMPARING)
    }

    /// Returns whether only a name can be what the kind is about.
    pub(in super::super) fn kind_needs_name(&self) -> bool {
        matches!(
            self.kind,
            QuestionKind::Callers
                | QuestionKind::Dependencies
                | QuestionKind::Implementations
                | QuestionKind::Bases
        )
    }
}

fn asked_language(words: &[String]) -> Option<Language> {
    let named = |word: &str| match word {
        "rust" => Some(Language::Rust),
        "python" => Some(Language::Python),
        "javascript" | "js" => Some(Language::JavaScript),
        "typescript" | "ts" => Some(Language::TypeScript),
        "tsx" => Some(Language::Tsx),
        "go" | "golang" => Some(Language::Go),
        "ruby" => Some(Language::Ruby),
        "java" => Some(Language::Java),
        "c" => Some(Language::C),
        "c++" | "cpp" => Some(Language::Cpp),
        _ => None,
    };
    words.windows(2).find_map(|pair| match pair {
        [first, second] if first == "in" => named(second),
        [first, second]
            if ["code", "side", "part", "version", "client", "sdk"].contains(&second.as_str()) =>
        {
            named(first).filter(|language| *language != Language::Go && *language != Language::C)
        }
        _ => None,
    })
}

/// Returns the words of the topic.
fn topic(tokens: &[Token], language: Option<Language>, kind: QuestionKind) -> Vec<String> {
    let mut topic: Vec<String> = Vec::new();
    for token in tokens {
        let is_language = language.is_some_and(|language| language.name() == token.lower);
        let is_filler = is_stop_word(&token.lower) || is_verb_of(kind, &token.lower);
        if is_language || !token.is_code && is_filler {
            continue;
        }
        let mut push = |word: &str| {
            let is_known = topic.iter().any(|known| known == word);
            if !is_known && word.len() > 1 && (token.is_code || !is_stop_word(word)) {
                topic.push(word.to_owned());
            }
        };
        // `GraphQL` is one word, `parseHeader` is two.
        match token.mention() {
            Some(_) => each_word(&token.text, push),
            None => {
                token.lower.split(|char: char| !char.is_alphanumeric()).for_each(&mut push);
            }
        }
    }
    topic
}

/// Returns whether a word only says what kind of question it is.
fn is_verb_of(kind: QuestionKind, word: &str) -> bool {
    const USES: &[&str] = &[
        "call",
        "calls",
        "called",
        "caller",
        "callers",
        "calling",
        "invoke",
        "invokes",
        "invoked",
        "usage",
        "usages",
        "reference",
        "references",
        "referenced",
        "import",
        "imports",
        "imported",
        "depend",
        "depends",
        "dependencies",
        "require",
        "requires",
        "anywhere",
    ];
    const IMPLEMENTATIONS: &[&str] = &[
        "implement",
        "implements",
        "implementations",
        "implementors",
        "implementers",
        "extend",
        "extends",
        "inherit",
        "inherits",
        "derive",
        "derives",
        "subclass",
        "subclasses",
    ];
    const ERRORS: &[&str] = &[
        "return", "returns", "returned", "raise", "raises", "raised", "throw", "throws", "thrown",
        "fail",
    ];
    match kind {
        QuestionKind::Callers | QuestionKind::Dependencies => USES.contains(&word),
        QuestionKind::Implementations | QuestionKind::Bases => IMPLEMENTATIONS.contains(&word),
        QuestionKind::Definition => ["declared", "definition", "definitions"].contains(&word),
        QuestionKind::List(Listed::Errors) => ERRORS.contains(&word),
        _ => false,
    }
}

/// Returns the ordinary words that may be names, unless the question is about a topic.
fn candidates(tokens: &[Token], kind: QuestionKind) -> Vec<String> {
    let first = tokens.first().map(|first| first.text.as_str());
    // `Kind` within a sentence is a name, `kind` is not.
    let is_filler = |token: &Token| {
        let is_capital = token.text.starts_with(char::is_uppercase)
            && token.text.len() > 1
            && first != Some(token.text.as_str());
        (is_stop_word(&token.lower) && !is_capital) || PRONOUNS.contains(&token.lower.as_str())
    };
    let is_about_names = !matches!(kind, QuestionKind::Overview);
    tokens
        .iter()
        .filter(|token| is_about_names && token.mention().is_none())
        .filter(|token| !is_verb_of(kind, &token.lower))
        .filter(|token| !matches!(kind, QuestionKind::List(_)) || !is_listed_noun(&token.lower))
        .filter(|token| !is_filler(token))
        .filter_map(|token| name_parts(&token.text)?.into_iter().next())
        .collect()
}

fn needs(words: &[String], mentions: &[Mention], topic: &[String], kind: QuestionKind) -> Needs {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let starts = |start: &[&str]| {
        words.len() >= start.len() && words.iter().zip(start).all(|(word, start)| word == start)
    };
    let is_whole_list = matches!(kind, QuestionKind::List(_)) && !has(PRONOUNS);
    if kind == QuestionKind::Overview || is_whole_list {
        return Needs::Nothing;
    }
    let asks_about = ["what", "how", "and"].iter().any(|first| starts(&[first, "about"]))
        || starts(&["and", "what", "about"]);
    let is_continuation =
        asks_about || kind == QuestionKind::Topic && (starts(&["and"]) || starts(&["or"]));
    let is_short = words.len() <= 6;
    if is_continuation && is_short && !has(PRONOUNS) {
        return Needs::EarlierQuestion;
    }
    if starts(&["in"]) && is_short
        || words.len() == 1 && kind == QuestionKind::Topic && topic.is_empty()
    {
        return Needs::EarlierQuestion;
    }
    if mentions.is_empty() && (has(PRONOUNS) && topic.len() <= 2 || topic.is_empty()) {
        return Needs::Subject;
    }
    Needs::Nothing
}
