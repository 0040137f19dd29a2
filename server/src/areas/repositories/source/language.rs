//! The language of a file: by its name, or by the program that its first line asks for.

use super::limits;
use super::model::Language;
use super::nodes::shortened;

/// Names of files without an extension.
const NAMES: [(&str, Language); 6] = [
    ("Rakefile", Language::Ruby),
    ("Gemfile", Language::Ruby),
    ("Guardfile", Language::Ruby),
    ("Vagrantfile", Language::Ruby),
    ("SConstruct", Language::Python),
    ("wscript", Language::Python),
];

/// Words that occur in a header of C++, and not in one of C.
const CPP_WORDS: [&str; 7] =
    ["class ", "namespace ", "template <", "template<", "public:", "std::", "constexpr "];

impl Language {
    /// Returns the language of a file; `None` if no grammar fits.
    pub fn of(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some((_, language)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Some(*language);
        }
        match name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref()
        {
            Some("rs") => Some(Self::Rust),
            Some("py" | "pyi" | "pyw") => Some(Self::Python),
            Some("js" | "mjs" | "cjs" | "jsx") => Some(Self::JavaScript),
            Some("ts" | "mts" | "cts") => Some(Self::TypeScript),
            Some("tsx") => Some(Self::Tsx),
            Some("go") => Some(Self::Go),
            Some("rb" | "rake" | "gemspec" | "ru") => Some(Self::Ruby),
            Some("java") => Some(Self::Java),
            Some("c") => Some(Self::C),
            Some("h") => Some(of_header(text)),
            Some("cc" | "cpp" | "cxx" | "c++" | "hpp" | "hh" | "hxx" | "h++" | "inl" | "ipp") => {
                Some(Self::Cpp)
            }
            Some(_) => None,
            None => of_first_line(text),
        }
    }
}

fn of_header(text: &str) -> Language {
    let beginning = shortened(text, limits::BEGINNING_BYTES);
    let is_cpp = beginning.lines().any(|line| {
        let line = line.trim_start();
        let is_code = !line.starts_with("//") && !line.starts_with('*') && !line.starts_with("/*");
        is_code && CPP_WORDS.iter().any(|word| line.starts_with(word) || line.contains("std::"))
    });
    if is_cpp { Language::Cpp } else { Language::C }
}

fn of_first_line(text: &str) -> Option<Language> {
    let command = text.lines().next()?.strip_prefix("#!")?;
    let mut words = command.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-'))?;
    let program = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    match program {
        "python" | "pypy" => Some(Language::Python),
        "ruby" => Some(Language::Ruby),
        "node" | "nodejs" => Some(Language::JavaScript),
        _ => None,
    }
}
