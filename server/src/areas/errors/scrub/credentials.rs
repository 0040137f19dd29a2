//! Finds credentials by their form: `Bearer …`, passwords in URLs, private keys, and tokens with
//! the prefixes of well-known issuers.
//!
//! Slices are taken at positions that were found in the same string, between characters, so they
//! always exist.

use std::ops::Range;

use super::pairs::looks_random;

/// Schemes of `Authorization`, and the minimum bytes of the credential: less is a word of a
/// sentence ("unexpected token 7").
const SCHEMES: [(&[u8], usize); 3] = [(b"bearer", 6), (b"basic", 8), (b"token", 16)];

/// Prefixes of tokens, and the minimum bytes of the token.
const TOKENS: [(&str, usize); 25] = [
    ("eyJ", 30),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 30),
    ("SG.", 30),
    ("github_pat_", 20),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("glpat-", 20),
    ("hf_", 25),
    ("npm_", 30),
    ("rk_live_", 16),
    ("sk-", 24),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("tt_", 40),
    ("whsec_", 20),
    ("xoxa-", 15),
    ("xoxb-", 15),
    ("xoxp-", 15),
    ("xoxs-", 15),
    ("ya29.", 20),
];

/// The start and the end of the body of a private key.
const PRIVATE_KEY: (&str, &str) = ("PRIVATE KEY-----", "-----END");

/// Adds the ranges of credentials in a string.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    if text.len() < 8 {
        return;
    }
    url_credentials(text, found);
    private_keys(text, found);
    words(text, found);
}

/// Adds the passwords of `scheme://user:password@host`, and user names that are tokens.
fn url_credentials(text: &str, found: &mut Vec<Range<usize>>) {
    for at in memchr::memmem::find_iter(text.as_bytes(), "://") {
        let start = at + 3;
        let rest = text.get(start..).unwrap_or_default();
        let ends_authority = |c: char| c.is_whitespace() || "/?#\"'<>()".contains(c);
        let authority = rest.split(ends_authority).next().unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        match user.split_once(':') {
            Some((name, password)) if !password.is_empty() => {
                found.push(start + name.len() + 1..start + user.len());
            }
            None if user.len() >= 16 && looks_random(user) => {
                found.push(start..start + user.len());
            }
            _ => {}
        }
    }
}

fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let (prefix, suffix) = PRIVATE_KEY;
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(prefix)) {
        let start = from + at + prefix.len();
        let rest = text.get(start..).unwrap_or_default();
        let len = rest.find(suffix).unwrap_or(rest.len());
        if len > 0 {
            found.push(start..start + len);
        }
        // Continue after the closing line, which contains the opening marker as well.
        let line = rest.get(len..).and_then(|rest| rest.find(prefix)).unwrap_or(0);
        from = start + len + line + if line > 0 { prefix.len() } else { 0 };
    }
}

/// Adds words that are tokens by their prefix, or credentials by the scheme before them.
fn words(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let (mut at, mut before): (usize, &[u8]) = (0, b"");
    while let Some(skipped) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| is_part(*b)))
    {
        let start = at + skipped;
        let rest = bytes.get(start..).unwrap_or_default();
        let len = rest.iter().take_while(|b| is_part(**b)).count();
        let word = text.get(start..start + len).unwrap_or_default();
        // Only blanks and a colon may separate a scheme from its credential.
        let between = bytes.get(at..start).unwrap_or_default();
        let follows =
            !between.is_empty() && between.iter().all(|b| matches!(b, b' ' | b'\t' | b':'));
        let needed = SCHEMES.iter().find(|(scheme, _)| before.eq_ignore_ascii_case(scheme));
        let credential = word.trim_end_matches(['.', ':']);
        if let (true, Some((_, min))) = (follows, needed)
            && credential.len() >= *min
            && looks_random(credential)
        {
            found.push(start..start + credential.len());
        } else {
            tokens(word, start, found);
        }
        // Only the part after the last separator counts as the preceding word.
        before = word.rsplit(['=', ':', '/']).next().unwrap_or_default().as_bytes();
        at = start + len;
    }
}

/// Adds the tokens in a word: at its beginning, or after a separator.
fn tokens(word: &str, start: usize, found: &mut Vec<Range<usize>>) {
    if word.len() < 15 {
        return;
    }
    let mut at = start;
    for part in word.split_inclusive(['=', ':', '/', '+', '~', '%', '|']) {
        let token = part.trim_end_matches(['=', ':', '/', '+', '~', '%', '|', '.']);
        let is_token =
            |(prefix, min): &(&str, usize)| token.starts_with(prefix) && token.len() >= *min;
        if TOKENS.iter().any(is_token) && looks_random(token) {
            found.push(at..at + token.len());
        }
        at += part.len();
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._~+/=-%:|".contains(&byte)
}
