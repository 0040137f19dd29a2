//! The words of a question, and which of them are written as code.

use super::model::Mention;
use crate::areas::repositories::source::LineRange;

/// A word of a question.
#[derive(Debug)]
pub(super) struct Token {
    /// As written, without punctuation around it.
    pub(super) text: String,
    /// In lower case.
    pub(super) lower: String,
    /// Whether it is between backticks.
    pub(super) is_code: bool,
}

impl Token {
    fn new(text: &str, is_code: bool) -> Option<Self> {
        let text = text
            .trim_start_matches(|char: char| "\"'“‘(<[{,;:!?".contains(char))
            .trim_end_matches(|char: char| "\"'”’)>]},;:!?.(".contains(char));
        let text = text.strip_suffix("'s").or(text.strip_suffix("’s")).unwrap_or(text);
        (!text.is_empty()).then(|| Self {
            text: text.to_owned(),
            lower: text.to_lowercase(),
            is_code,
        })
    }

    /// Returns the name or path, if it is written as one.
    pub(super) fn mention(&self) -> Option<Mention> {
        path(&self.text).or_else(|| {
            let parts = name_parts(&self.text)?;
            let is_name =
                self.is_code || parts.len() > 1 || parts.iter().any(|part| looks_like_code(part));
            is_name.then_some(Mention::Name(parts))
        })
    }
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    text.split('`')
        .enumerate()
        .flat_map(|(position, span)| {
            let is_code = position % 2 == 1;
            span.split_whitespace().filter_map(move |word| Token::new(word, is_code))
        })
        .collect()
}

/// Endings of the names of files; a name such as `os.path` is no file.
const FILE_ENDINGS: &[&str] = &[
    "rs", "py", "js", "mjs", "cjs", "jsx", "ts", "tsx", "go", "rb", "java", "c", "h", "cc", "cpp",
    "hpp", "md", "toml", "json", "yaml", "yml", "sh", "sql", "html", "css", "txt", "lock", "mod",
    "xml", "proto", "rst", "ini", "cfg", "kt", "swift", "cs", "php",
];

/// Parses `src/store.rs`, `store.rs:10`, `store.rs:10-20`, `store.rs#L10-L20`, `src/store/`.
fn path(text: &str) -> Option<Mention> {
    let (path, lines) = match text.split_once("#L") {
        Some((path, lines)) => (path, lines_of(&lines.replace('L', ""))),
        None => match text.rsplit_once(':') {
            Some((path, lines)) if !path.ends_with(':') && lines_of(lines).is_some() => {
                (path, lines_of(lines))
            }
            _ => (text, None),
        },
    };
    let has_ending = has_file_ending(path);
    let is_path = path.chars().all(|char| char.is_alphanumeric() || "/._-+@ ".contains(char))
        && path.chars().any(char::is_alphanumeric)
        && (has_ending || path.contains('/'));
    let path = path.trim_start_matches("./").trim_matches('/').to_owned();
    is_path.then_some(Mention::Path { path, lines })
}

/// Returns whether a path ends as names of files do.
pub(in super::super) fn has_file_ending(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(stem, ending)| !stem.is_empty() && FILE_ENDINGS.contains(&ending))
}

fn lines_of(text: &str) -> Option<LineRange> {
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    LineRange::new(start.parse().ok()?, end.parse().ok()?)
}

/// Returns the parts of a qualified name; `None` if it is no name.
pub(super) fn name_parts(text: &str) -> Option<Vec<String>> {
    let text = text.trim_end_matches(['(', ')', '!']).trim_start_matches(['&', '*', '@', '.']);
    let text = text.split(['(', '<']).next().unwrap_or_default().replace("::", ".");
    let text = text.replace("->", ".").replace('#', ".");
    let parts: Vec<String> = text.split('.').map(str::to_owned).collect();
    let is_name = parts.iter().all(|part| {
        part.chars()
            .next()
            .is_some_and(|first| first.is_alphabetic() || first == '_' || first == '$')
            && part.chars().all(|char| char.is_alphanumeric() || char == '_' || char == '$')
    });
    // Abbreviations such as `e.g` are no names.
    (is_name && (parts.len() == 1 || parts.iter().any(|part| part.len() > 1))).then_some(parts)
}

/// Returns whether a word is in camel case, snake case or capitals with digits: no ordinary word.
fn looks_like_code(word: &str) -> bool {
    let inner_upper = word.chars().skip(1).any(char::is_uppercase);
    let has_lower = word.chars().any(char::is_lowercase);
    // `URLs` and `APIs` are ordinary plurals.
    let is_plural =
        word.strip_suffix('s').is_some_and(|acronym| acronym.chars().all(char::is_uppercase));
    word.trim_matches('_').contains('_')
        || word.starts_with('_') && word.len() > 1
        || inner_upper && has_lower && !is_plural && !is_product_name(word)
}

/// Names of products and formats in mixed case.
fn is_product_name(word: &str) -> bool {
    const PRODUCTS: &[&str] = &[
        "JavaScript",
        "TypeScript",
        "GitHub",
        "GitLab",
        "OpenAI",
        "PostgreSQL",
        "MySQL",
        "SQLite",
        "OAuth",
        "OAuth2",
        "WebSocket",
        "WebSockets",
        "GraphQL",
        "macOS",
        "iOS",
        "RocksDB",
        "MongoDB",
        "DynamoDB",
        "OpenAPI",
        "OpenTelemetry",
        "YouTube",
        "PayPal",
        "LaTeX",
        "NumPy",
        "IPv4",
        "IPv6",
        "gRPC",
        "RabbitMQ",
        "ClickHouse",
        "CockroachDB",
        "LevelDB",
    ];
    PRODUCTS.contains(&word)
}
