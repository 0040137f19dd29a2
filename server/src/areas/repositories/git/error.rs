//! Why git failed: what it says, put in a few kinds. Messages of git and of servers are shown
//! shortened and without the token, which they do not know.

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
    #[error("the repository is empty")]
    Empty,
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
            Self::Refused(_) => "address_not_allowed",
            Self::Unreachable(_) => "unreachable",
            Self::Tls(_) => "certificate_not_trusted",
            Self::TimedOut(_) => "timed_out",
            Self::TooLarge(_) => "too_large",
            Self::Damaged(_) | Self::Failed(_) | Self::Io(_) => "git_failed",
        }
    }

    /// Returns whether another attempt with an empty directory may succeed.
    pub(super) fn may_be_damage(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Failed(_))
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

/// Returns the error that git means. What is secret or misleading in its words is left out first:
/// a server may repeat the token, and the URL may contain any word.
pub(super) fn of_output(errors: &str, left_out: &[String]) -> GitError {
    let errors = left_out.iter().fold(errors.to_owned(), |errors, of| errors.replace(of, ""));
    let errors = errors.as_str();
    let has = |messages: &[&str]| messages.iter().any(|message| errors.contains(message));
    if has(&AUTHENTICATION) {
        GitError::Authentication
    } else if has(&NOT_FOUND) {
        GitError::RepositoryNotFound
    } else if has(&TLS) {
        GitError::Tls(shown(errors))
    } else if has(&UNREACHABLE) {
        GitError::Unreachable(shown(errors))
    } else if has(&TOO_LARGE) {
        GitError::TooLarge("a pack exceeds repositories.git_bytes_max".to_owned())
    } else if has(&DAMAGED) {
        GitError::Damaged(shown(errors))
    } else {
        GitError::Failed(shown(errors))
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
            assert_eq!(of_output(words, &[]).code(), code, "{words}");
        }
    }

    #[test]
    fn tokens_and_urls_are_left_out() {
        let left_out = ["https://example.com/openssl.git/".to_owned(), "s3cr3t".to_owned()];
        let words = "fatal: remote error: s3cr3t\nfatal: repository \
                     'https://example.com/openssl.git/' not found";
        assert_eq!(of_output(words, &left_out).code(), "repository_not_found");
        let error = of_output("fatal: remote error: refused: s3cr3t, s3cr3t", &left_out);
        assert_eq!(error.to_string(), "git failed: fatal: remote error: refused: , ");
    }

    #[test]
    fn words_are_shown_on_one_short_line() {
        let words = format!("hint: x\nfatal: a\u{1b}[31m\r\nerror: {}\n", "é".repeat(1_000));
        let shown = shown(&words);
        assert!(shown.starts_with("fatal: a [31m; error: é"), "{shown}");
        assert_eq!(shown.chars().count(), limits::ERROR_CHARS_MAX);
    }
}
