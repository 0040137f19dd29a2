//! Why git failed: what it says, put in a few kinds.
//!
//! Messages of git and of servers are shown shortened, unless a token was sent: the server knows it
//! then, and may repeat it in any form. Only phrases of git itself are shown in that case.

use std::io;

use super::limits;

/// Why git failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git, or one that is too old.
    #[error("git is not installed, or too old: {0}")]
    Unavailable(String),
    /// The scheme of the URL is not allowed any more.
    #[error("the scheme {0} is not allowed by repositories.schemes")]
    Scheme(String),
    /// The server wants another token, or one at all.
    #[error("the server refused the token, or requires one: set access_token")]
    Authentication,
    /// The server has no such repository, or does not show it.
    #[error("the server has no such repository, or does not show it without another token")]
    RepositoryNotFound,
    /// There is no such branch.
    #[error("the repository has no branch {0:?}")]
    BranchNotFound(String),
    /// There is no commit.
    #[error("the repository is empty, or its default branch has no commit")]
    Empty,
    /// The default branch is none whose commits can be fetched.
    #[error("HEAD of the repository is no branch with an accepted name: set branch")]
    NoDefaultBranch,
    /// The server must not be reached.
    #[error("the server must not be reached: {0}")]
    Refused(String),
    /// The server cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The certificate of the server is not trusted.
    #[error("the certificate of the server is not trusted: {0}")]
    Tls(String),
    /// It took too long.
    #[error("git did not end within {0} s")]
    TimedOut(u64),
    /// The commit is too large.
    #[error("the repository is too large: {0}")]
    TooLarge(String),
    /// There is no space for what is fetched.
    #[error("there is no disk space to fetch the repository: {0}")]
    NoSpace(&'static str),
    /// What was fetched is not here any more, or is damaged.
    #[error("fetched objects are missing or damaged: {0}")]
    Damaged(String),
    /// Anything else.
    #[error("git failed: {0}")]
    Failed(String),
    /// The system does not start processes, or the disk fails.
    #[error("git cannot be used: {0}")]
    Io(#[from] io::Error),
}

impl GitError {
    /// Returns the code in the API.
    pub(in crate::areas::repositories) fn code(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "git_unavailable",
            Self::Scheme(_) => "scheme_not_allowed",
            Self::Authentication => "authentication_failed",
            Self::RepositoryNotFound => "repository_not_found",
            Self::BranchNotFound(_) => "branch_not_found",
            Self::Empty => "empty_repository",
            Self::NoDefaultBranch => "no_default_branch",
            Self::Refused(_) => "address_not_allowed",
            Self::Unreachable(_) => "unreachable",
            Self::Tls(_) => "certificate_not_trusted",
            Self::TimedOut(_) => "timed_out",
            Self::TooLarge(_) => "too_large",
            Self::NoSpace(_) => "disk_full",
            Self::Damaged(_) | Self::Failed(_) | Self::Io(_) => "git_failed",
        }
    }

    /// Returns whether another attempt with an empty directory may succeed: objects may be damaged,
    /// and those of earlier commits take space.
    pub(super) fn may_be_of_directory(&self) -> bool {
        self.may_be_damage() || self.is_about_size()
    }

    /// Returns whether objects may be damaged.
    pub(super) fn may_be_damage(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Failed(_))
    }

    /// Returns whether what is fetched is too large.
    pub(super) fn is_about_size(&self) -> bool {
        matches!(self, Self::TooLarge(_) | Self::NoSpace(_))
    }
}

/// What git writes if the server wants a token.
const AUTHENTICATION: [&str; 6] = [
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "terminal prompts disabled",
    "returned error: 401",
    "returned error: 403",
];
/// What git writes if there is no repository.
const NOT_FOUND: [&str; 6] = [
    "returned error: 404",
    // The URL is left out before.
    "repository '' not found",
    "repository '/' not found",
    "epository not found",
    "does not appear to be a git repository",
    "does not exist",
];
/// What git writes if there is no connection.
const UNREACHABLE: [&str; 8] = [
    "Could not resolve",
    "Failed to connect",
    "Couldn't connect",
    "CONNECT tunnel failed",
    "HTTP code 502 from proxy",
    "Connection timed out",
    "Empty reply from server",
    "Recv failure",
];
/// What git writes if a certificate is not trusted.
const TLS: [&str; 4] =
    ["certificate problem", "certificate verification failed", "server certificate", "SSL_ERROR"];
/// What git writes if a file would exceed its limit (signal 25 is SIGXFSZ).
const TOO_LARGE: [&str; 3] = ["died of signal 25", "File size limit exceeded", "File too large"];
/// What git writes if objects are missing here.
const DAMAGED: [&str; 7] = [
    "bad object",
    "could not read",
    "unable to read",
    "missing blob object",
    "not a valid object name",
    "Not a valid object name",
    "is corrupt",
];

/// What is shown of git's own words if a token was sent.
const SHOWN_WITH_TOKEN: [&str; 14] = [
    "self-signed certificate",
    "self signed certificate",
    "certificate has expired",
    "unable to get local issuer certificate",
    "no alternative certificate subject name matches target host name",
    "Could not resolve host",
    "Failed to connect",
    "Connection refused",
    "Connection timed out",
    "Connection reset by peer",
    "Empty reply from server",
    "Operation too slow",
    "early EOF",
    "invalid index-pack output",
];
/// What git writes before the status of a response.
const STATUS: &str = "The requested URL returned error: ";

/// Whether the words of git may contain a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// The server was sent nothing that is secret.
    Nothing,
    /// The server knows the token.
    TokenSent,
}

/// Returns the error that git means. The URL, which may contain any word, is left out first.
pub(super) fn of_output(errors: &str, url: Option<&str>, secrecy: Secrecy) -> GitError {
    let errors = url.map_or_else(|| errors.to_owned(), |url| errors.replace(url, ""));
    let errors = errors.as_str();
    let has = |messages: &[&str]| messages.iter().any(|message| errors.contains(message));
    let shown = || match secrecy {
        Secrecy::Nothing => shown(errors),
        Secrecy::TokenSent => shown_with_token(errors),
    };
    if has(&AUTHENTICATION) {
        GitError::Authentication
    } else if has(&NOT_FOUND) {
        GitError::RepositoryNotFound
    } else if has(&TLS) {
        GitError::Tls(shown())
    } else if has(&UNREACHABLE) {
        GitError::Unreachable(shown())
    } else if has(&TOO_LARGE) {
        GitError::TooLarge("a pack exceeds repositories.git_bytes_max".to_owned())
    } else if has(&DAMAGED) {
        GitError::Damaged(shown())
    } else {
        GitError::Failed(shown())
    }
}

/// Returns what users see of git's words: the lines that say what failed, on one line.
fn shown(errors: &str) -> String {
    let is_reason = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    let reasons: Vec<&str> = errors.lines().filter(is_reason).collect();
    let all: Vec<&str> = errors.lines().collect();
    let lines = if reasons.is_empty() { all } else { reasons };
    let text = lines.join("; ");
    let text = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    text.take(limits::ERROR_CHARS_MAX).collect()
}

/// Returns the phrases of git that its words contain, and nothing else of them.
fn shown_with_token(errors: &str) -> String {
    let known = SHOWN_WITH_TOKEN.into_iter().filter(|phrase| errors.contains(phrase));
    let mut shown: Vec<String> = known.map(str::to_owned).collect();
    shown.extend(status(errors).map(|status| format!("the server responded with status {status}")));
    if shown.is_empty() {
        shown.push("its words are not shown, as they may contain the token".to_owned());
    }
    shown.join("; ")
}

/// Returns the status of the response that git did not accept.
fn status(errors: &str) -> Option<u16> {
    let (_, rest) = errors.split_once(STATUS)?;
    let status = rest.get(..3)?.parse().ok()?;
    (100..600).contains(&status).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_git_have_codes() {
        for (words, code) in [
            (
                "remote: Invalid username or password.\nfatal: Authentication failed for 'https://example.com/a.git/'",
                "authentication_failed",
            ),
            (
                "fatal: could not read Username for 'https://example.com': terminal prompts disabled",
                "authentication_failed",
            ),
            (
                "fatal: repository 'https://example.com/a.git/' not found\nerror: 404: returned error: 404",
                "repository_not_found",
            ),
            (
                "remote: Repository not found.\nfatal: repository 'x' not found",
                "repository_not_found",
            ),
            ("fatal: unable to access 'https://a/': Could not resolve host: a", "unreachable"),
            (
                "fatal: unable to access 'https://a/': SSL certificate problem: self-signed certificate",
                "certificate_not_trusted",
            ),
            (
                "error: index-pack died of signal 25\nfatal: fetch-pack: invalid index-pack output",
                "too_large",
            ),
            ("fatal: bad object HEAD", "git_failed"),
            ("", "git_failed"),
        ] {
            assert_eq!(of_output(words, None, Secrecy::Nothing).code(), code, "{words}");
        }
    }

    #[test]
    fn urls_are_left_out() {
        let url = "https://example.com/openssl.git/";
        let words = format!("fatal: repository '{url}' not found");
        let error = of_output(&words, Some(url), Secrecy::TokenSent);
        assert_eq!(error.code(), "repository_not_found");
    }

    #[test]
    fn nothing_that_a_server_says_is_shown_after_a_token_was_sent() {
        let url = "https://example.com/a.git/";
        for (words, shown) in [
            // Without the URL in it, this is the token.
            (format!("fatal: remote error: ghp_{url}abcdef"), "its words are not shown"),
            (format!("remote: a\nerror: ghp_abcdef\n{}", "x".repeat(9_000)), "its words"),
            ("fatal: remote error: Z2hwX2FiY2RlZg==".to_owned(), "its words are not shown"),
            (
                "fatal: unable to access '': The requested URL returned error: 503".to_owned(),
                "status 503",
            ),
            (
                "fatal: unable to access '': SSL certificate problem: self-signed certificate; \
                 ghp_abcdef"
                    .to_owned(),
                "self-signed certificate",
            ),
        ] {
            let text = of_output(&words, Some(url), Secrecy::TokenSent).to_string();
            assert!(text.contains(shown), "{text}");
            assert!(!text.contains("ghp") && !text.contains("Z2hw") && !text.contains("abc"));
        }
        let short = of_output("fatal: Authentication failed", None, Secrecy::TokenSent);
        assert_eq!(short.code(), "authentication_failed");
    }

    #[test]
    fn words_are_shown_on_one_short_line() {
        let words = format!("hint: x\nfatal: a\u{1b}[31m\r\nerror: {}\n", "é".repeat(1_000));
        let shown = shown(&words);
        assert!(shown.starts_with("fatal: a [31m; error: é"), "{shown}");
        assert_eq!(shown.chars().count(), limits::ERROR_CHARS_MAX);
    }
}
