//! What users name: URLs and branches. Both are arguments of git, so none begins with a dash, and
//! neither is anything but what it says.

use std::fmt;

use url::Url;

use crate::areas::repositories::limits::{BRANCH_CHARS_MAX, URL_CHARS_MAX};
use crate::platform::settings::{SettingValue, quoted};

/// The schemes that git may fetch from.
const SCHEMES: [&str; 3] = ["https", "http", "file"];

/// The schemes of URLs that are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlSchemes(Vec<&'static str>);

/// The URL of a repository: its scheme is allowed, and it has neither user nor password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryUrl(Url);

/// The name of a branch, which `git check-ref-format --branch` accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchName(String);

/// Why a URL is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitUrlError {
    /// It is no absolute URL.
    #[error("must be a URL, such as https://git.example.com/shop/api.git")]
    Syntax,
    /// It is too long.
    #[error("must have at most {URL_CHARS_MAX} characters")]
    TooLong,
    /// Its scheme is not allowed.
    #[error("must begin with one of the schemes that repositories.schemes allows: {0}")]
    Scheme(String),
    /// It has a user or a password, which would be shown wherever the URL is.
    #[error("must not contain a user or a password: send the token as access_token")]
    Credentials,
    /// It has no host, or one although it is that of a file.
    #[error("must have a host, and that of a file none")]
    Host,
    /// It has a query or a fragment, which repositories do not have.
    #[error("must not contain ? or #")]
    Query,
}

/// A text is not the name of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be the name of a branch: at most {BRANCH_CHARS_MAX} characters, no space, none of \
     ~^:?*[\\, no part that begins with a dot or a dash or ends with .lock"
)]
pub struct BranchNameError;

impl UrlSchemes {
    /// Returns whether a scheme is allowed.
    pub(super) fn allow(&self, scheme: &str) -> bool {
        self.0.contains(&scheme)
    }
}

impl RepositoryUrl {
    /// Parses the URL that a user sent.
    pub fn parse(text: &str, schemes: &UrlSchemes) -> Result<Self, GitUrlError> {
        if text.chars().count() > URL_CHARS_MAX {
            return Err(GitUrlError::TooLong);
        }
        let url = Url::parse(text).map_err(|_| GitUrlError::Syntax)?;
        if !schemes.allow(url.scheme()) {
            return Err(GitUrlError::Scheme(schemes.0.join(", ")));
        }
        Self::new(url)
    }

    /// Returns a stored URL. Its scheme is checked when git is started.
    pub fn of_stored(text: &str) -> Result<Self, GitUrlError> {
        Self::new(Url::parse(text).map_err(|_| GitUrlError::Syntax)?)
    }

    fn new(url: Url) -> Result<Self, GitUrlError> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(GitUrlError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(GitUrlError::Query);
        }
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if has_host == (url.scheme() == "file") || url.port() == Some(0) {
            return Err(GitUrlError::Host);
        }
        Ok(Self(url))
    }

    /// Returns the scheme.
    pub(super) fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Returns the last part of the path, without `.git`.
    pub fn name(&self) -> String {
        let last = self.0.path_segments().and_then(|parts| {
            let mut parts = parts.rev().filter(|part| !part.is_empty());
            parts.next()
        });
        let last = last.map_or("repository", |last| last.strip_suffix(".git").unwrap_or(last));
        let name = percent_encoding::percent_decode_str(last).decode_utf8_lossy();
        let name: String = name.chars().filter(|char| !char.is_control()).take(200).collect();
        if name.trim().is_empty() { "repository".to_owned() } else { name }
    }
}

impl fmt::Display for RepositoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl BranchName {
    /// Parses a name (git-check-ref-format(1)).
    pub fn parse(text: &str) -> Result<Self, BranchNameError> {
        let is_bad_char = |char: char| {
            char.is_control() || char.is_whitespace() || "~^:?*[\\\u{7f}".contains(char)
        };
        let is_bad_part =
            |part: &str| part.is_empty() || part.starts_with(['.', '-']) || part.ends_with(".lock");
        let is_bad = text.is_empty()
            || text.chars().count() > BRANCH_CHARS_MAX
            || text.chars().any(is_bad_char)
            || text.split('/').any(is_bad_part)
            || text.ends_with('.')
            || text.contains("..")
            || text.contains("@{")
            || text == "@"
            || text == "HEAD";
        if is_bad { Err(BranchNameError) } else { Ok(Self(text.to_owned())) }
    }

    /// Returns the ref of the branch.
    pub(super) fn full_ref(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SettingValue for UrlSchemes {
    const EXPECTS: &'static str = "schemes such as \"https\" or \"https http file\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let mut schemes = Vec::new();
        for name in text.split([' ', ',']).filter(|name| !name.is_empty()) {
            match SCHEMES.into_iter().find(|scheme| *scheme == name) {
                Some(scheme) if !schemes.contains(&scheme) => schemes.push(scheme),
                Some(_) => {}
                None => return Err(Self::mismatch(&format!("{name:?}"))),
            }
        }
        if schemes.is_empty() { Err(Self::mismatch("none")) } else { Ok(Self(schemes)) }
    }

    fn to_toml(&self) -> String {
        quoted(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str, schemes: &str) -> Result<RepositoryUrl, GitUrlError> {
        RepositoryUrl::parse(text, &UrlSchemes::from_text(schemes).unwrap())
    }

    #[test]
    fn only_plain_urls_of_allowed_schemes_are_accepted() {
        let parsed = url("HTTPS://Git.example.com/shop/My%20api.git/", "https").unwrap();
        assert_eq!(parsed.to_string(), "https://git.example.com/shop/My%20api.git/");
        assert_eq!(parsed.name(), "My api");
        assert_eq!(RepositoryUrl::of_stored(&parsed.to_string()), Ok(parsed));
        assert_eq!(url("https://git.example.com", "https").unwrap().name(), "repository");
        assert_eq!(url("file:///srv/git/a.git", "file").unwrap().name(), "a");
        for (text, expected) in [
            ("", GitUrlError::Syntax),
            ("git@example.com:a/b.git", GitUrlError::Syntax),
            ("--upload-pack=touch /tmp/x", GitUrlError::Syntax),
            ("/srv/git/a.git", GitUrlError::Syntax),
            ("ext::sh -c touch% /tmp/x", GitUrlError::Scheme("https".to_owned())),
            ("file:///srv/git/a.git", GitUrlError::Scheme("https".to_owned())),
            ("http://example.com/a.git", GitUrlError::Scheme("https".to_owned())),
            ("ssh://example.com/a.git", GitUrlError::Scheme("https".to_owned())),
            ("git://example.com/a.git", GitUrlError::Scheme("https".to_owned())),
            ("https://token@example.com/a.git", GitUrlError::Credentials),
            ("https://:token@example.com/a.git", GitUrlError::Credentials),
            ("https://example.com/a.git?x", GitUrlError::Query),
            ("https://example.com/a.git#x", GitUrlError::Query),
            ("https://example.com:0/a.git", GitUrlError::Host),
        ] {
            assert_eq!(url(text, "https"), Err(expected), "{text}");
        }
        assert_eq!(url("file://host/a.git", "file"), Err(GitUrlError::Host));
        let long = format!("https://example.com/{}", "a".repeat(URL_CHARS_MAX));
        assert_eq!(url(&long, "https"), Err(GitUrlError::TooLong));
    }

    #[test]
    fn branches_are_those_of_git() {
        for name in ["main", "feature/a-b_c.d", "ü", "v1.2", "a@b", &"x".repeat(BRANCH_CHARS_MAX)]
        {
            assert_eq!(BranchName::parse(name).map(|name| name.to_string()), Ok(name.to_owned()));
        }
        for wrong in [
            "",
            "-x",
            "--upload-pack=x",
            "a/-b",
            ".a",
            "a/.b",
            "a..b",
            "a.lock",
            "a.lock/b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a/",
            "/a",
            "a//b",
            "a.",
            "@",
            "a@{1}",
            "HEAD",
            "a\nb",
            "a\u{7f}",
            &"x".repeat(BRANCH_CHARS_MAX + 1),
        ] {
            assert_eq!(BranchName::parse(wrong), Err(BranchNameError), "{wrong:?}");
        }
    }

    #[test]
    fn schemes_are_read_and_written() {
        let both = UrlSchemes::from_text("https, file https").unwrap();
        assert_eq!(both.to_toml(), "\"https file\"");
        for wrong in ["", "ssh", "https ext"] {
            assert!(UrlSchemes::from_text(wrong).is_err(), "{wrong}");
        }
    }
}
