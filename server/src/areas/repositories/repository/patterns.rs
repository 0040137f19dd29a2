//! Which files of a repository count: glob patterns of paths, as in `.gitignore`.
//!
//! A pattern without `/` except at its end matches at any depth; one that ends with `/` matches all
//! that is in such a directory. `*` and `?` do not match `/`, `**` does.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::areas::repositories::limits;

/// Patterns of files that count or do not count. Those that match neither count.
#[derive(Clone, Debug)]
pub(in crate::areas::repositories) struct PathPatterns {
    include: GlobSet,
    exclude: GlobSet,
}

/// A pattern is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::areas::repositories) enum PatternError {
    /// It has no form that is known.
    #[error("the pattern {pattern:?} is not valid: {reason}")]
    Form {
        /// The pattern.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// It is too long, or empty.
    #[error("a pattern must have 1 to {} characters", limits::PATTERN_CHARS_MAX)]
    Length,
    /// There are too many.
    #[error("at most {} patterns are possible", limits::PATTERNS_MAX)]
    TooMany,
    /// They are too complex together.
    #[error("the patterns are too complex together")]
    TooComplex,
}

impl PathPatterns {
    /// What counts without patterns: every file.
    pub(in crate::areas::repositories) const INCLUDE_DEFAULT: [&str; 1] = ["**/*"];
    /// What does not count without patterns: code of others, generated files, and files whose text
    /// says nothing.
    pub(in crate::areas::repositories) const EXCLUDE_DEFAULT: [&str; 19] = [
        "node_modules/",
        "bower_components/",
        "vendor/",
        "third_party/",
        "target/",
        "dist/",
        "__pycache__/",
        ".venv/",
        "*.min.js",
        "*.min.css",
        "*.map",
        "*.lock",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "go.sum",
        "*.pb.go",
        "*_pb2.py",
        "*.svg",
    ];

    /// Compiles patterns.
    pub(in crate::areas::repositories) fn new(
        include: &[String],
        exclude: &[String],
    ) -> Result<Self, PatternError> {
        Ok(Self { include: compile(include)?, exclude: compile(exclude)? })
    }

    /// Returns whether a file counts, by its path.
    pub(in crate::areas::repositories) fn count(&self, path: &str) -> bool {
        self.include.is_match(path) && !self.exclude.is_match(path)
    }
}

fn compile(patterns: &[String]) -> Result<GlobSet, PatternError> {
    if patterns.len() > limits::PATTERNS_MAX {
        return Err(PatternError::TooMany);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(glob(pattern)?);
    }
    set.build().map_err(|_| PatternError::TooComplex)
}

fn glob(pattern: &str) -> Result<Glob, PatternError> {
    if pattern.is_empty() || pattern.chars().count() > limits::PATTERN_CHARS_MAX {
        return Err(PatternError::Length);
    }
    let (path, is_directory) = match pattern.strip_suffix('/') {
        Some(directory) => (directory, true),
        None => (pattern, false),
    };
    let anchored = path.strip_prefix('/');
    let is_anywhere = anchored.is_none() && !path.contains('/');
    let path = anchored.unwrap_or(path);
    let from_root = if is_anywhere { format!("**/{path}") } else { path.to_owned() };
    let whole = if is_directory { format!("{from_root}/**") } else { from_root };
    let error = |error: globset::Error| PatternError::Form {
        pattern: pattern.to_owned(),
        reason: error.kind().to_string(),
    };
    GlobBuilder::new(&whole).literal_separator(true).backslash_escape(true).build().map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(include: &[&str], exclude: &[&str]) -> Result<PathPatterns, PatternError> {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        PathPatterns::new(&owned(include), &owned(exclude))
    }

    #[test]
    fn patterns_match_as_in_gitignore() {
        for (pattern, matched, other) in [
            ("**/*", vec!["a", "a/b/c.rs", ".hidden"], vec![]),
            ("*.rs", vec!["a.rs", "a/b/c.rs"], vec!["a.rsx", "a.rs/b"]),
            ("src/*.rs", vec!["src/a.rs"], vec!["src/a/b.rs", "x/src/a.rs"]),
            ("src/**/*.rs", vec!["src/a.rs", "src/a/b.rs"], vec!["x/src/a.rs"]),
            ("vendor/", vec!["vendor/a", "x/vendor/a/b"], vec!["vendor", "xvendor/a"]),
            ("/vendor/", vec!["vendor/a"], vec!["x/vendor/a"]),
            ("/README*", vec!["README.md"], vec!["docs/README.md"]),
            ("*.{js,ts}", vec!["a.js", "b/a.ts"], vec!["a.jsx"]),
            ("[ab]?.c", vec!["ax.c", "d/by.c"], vec!["cx.c", "a/.c"]),
        ] {
            let of_pattern = patterns(&[pattern], &[]).unwrap();
            for path in matched {
                assert!(of_pattern.count(path), "{pattern} {path}");
            }
            for path in other {
                assert!(!of_pattern.count(path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn exclusion_wins() {
        let both = patterns(&["*.rs"], &["gen/"]).unwrap();
        assert!(both.count("src/a.rs"));
        assert!(!both.count("gen/a.rs"));
        let by_default =
            patterns(&PathPatterns::INCLUDE_DEFAULT, &PathPatterns::EXCLUDE_DEFAULT).unwrap();
        for path in ["a/node_modules/x/index.js", "Cargo.lock", "web/app.min.js", "go.sum"] {
            assert!(!by_default.count(path), "{path}");
        }
        for path in ["src/lib.rs", "build/Makefile", "docs/vendor.md", ".github/workflows/ci.yml"] {
            assert!(by_default.count(path), "{path}");
        }
    }

    #[test]
    fn invalid_patterns_are_refused() {
        let long = "é".repeat(limits::PATTERN_CHARS_MAX);
        assert!(patterns(&[&long], &[]).is_ok());
        for wrong in ["", &format!("{long}x")] {
            assert_eq!(patterns(&[wrong], &[]).unwrap_err(), PatternError::Length);
        }
        for wrong in ["a[b", "{a,b", "[z-a]"] {
            let error = patterns(&[], &[wrong]).unwrap_err();
            assert!(matches!(&error, PatternError::Form { pattern, .. } if pattern == wrong));
        }
        let many = vec!["a"; limits::PATTERNS_MAX + 1];
        assert_eq!(patterns(&many, &[]).unwrap_err(), PatternError::TooMany);
        assert!(patterns(&many[1..], &[]).is_ok());
    }
}
