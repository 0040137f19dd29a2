//! Credentials that tell themselves: `Bearer …`, passwords in addresses, and the forms that makers give their tokens.

use std::ops::Range;

use super::pairs::looks_made_up;

/// Schemes of `Authorization`, and the fewest bytes of what must follow: less is a word of a sentence ("unexpected token 7").
const SCHEMES: [(&[u8], usize); 3] = [(b"bearer", 6), (b"basic", 8), (b"token", 16)];

/// How tokens begin, and how many bytes they have at least.
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

/// How private keys begin and end.
const PRIVATE_KEY: (&str, &str) = ("PRIVATE KEY-----", "-----END");

/// Adds the places of credentials.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    if text.len() < 8 {
        return;
    }
    addresses(text, found);
    private_keys(text, found);
    words(text, found);
}

/// Passwords in `scheme://user:password@host`, and users that are tokens.
fn addresses(text: &str, found: &mut Vec<Range<usize>>) {
    for at in memchr::memmem::find_iter(text.as_bytes(), "://") {
        let start = at + 3;
        let rest = text.get(start..).unwrap_or_default();
        let ends = |c: char| c.is_whitespace() || "/?#\"'<>()".contains(c);
        let authority = rest.split(ends).next().unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        match user.split_once(':') {
            Some((name, password)) if !password.is_empty() => {
                found.push(start + name.len() + 1..start + user.len());
            }
            None if user.len() >= 16 && looks_made_up(user) => {
                found.push(start..start + user.len());
            }
            _ => {}
        }
    }
}

fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let (begins, ends) = PRIVATE_KEY;
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(begins)) {
        let start = from + at + begins.len();
        let rest = text.get(start..).unwrap_or_default();
        let len = rest.find(ends).unwrap_or(rest.len());
        if len > 0 {
            found.push(start..start + len);
        }
        // Behind the line that ends it, which has the same words.
        let line = rest.get(len..).and_then(|rest| rest.find(begins)).unwrap_or(0);
        from = start + len + line + if line > 0 { begins.len() } else { 0 };
    }
}

/// Words that are tokens by their beginning or by the word before.
fn words(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let (mut at, mut before): (usize, &[u8]) = (0, b"");
    while let Some(skipped) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| is_part(*b)))
    {
        let start = at + skipped;
        let rest = bytes.get(start..).unwrap_or_default();
        let len = rest.iter().take_while(|b| is_part(**b)).count();
        let word = text.get(start..start + len).unwrap_or_default();
        // Only blanks and a colon may be between a scheme and what it is of.
        let between = bytes.get(at..start).unwrap_or_default();
        let follows =
            !between.is_empty() && between.iter().all(|b| matches!(b, b' ' | b'\t' | b':'));
        let needed = SCHEMES.iter().find(|(scheme, _)| before.eq_ignore_ascii_case(scheme));
        let credential = word.trim_end_matches(['.', ':']);
        if let (true, Some((_, min))) = (follows, needed)
            && credential.len() >= *min
            && looks_made_up(credential)
        {
            found.push(start..start + credential.len());
        } else {
            tokens(word, start, found);
        }
        // What is before a sign like `=` is not the word before.
        before = word.rsplit(['=', ':', '/']).next().unwrap_or_default().as_bytes();
        at = start + len;
    }
}

/// Tokens in a word, each of them behind a sign or at the beginning.
fn tokens(word: &str, start: usize, found: &mut Vec<Range<usize>>) {
    if word.len() < 15 {
        return;
    }
    let mut at = start;
    for part in word.split_inclusive(['=', ':', '/', '+', '~', '%', '|']) {
        let token = part.trim_end_matches(['=', ':', '/', '+', '~', '%', '|', '.']);
        let is_token =
            |(begins, min): &(&str, usize)| token.starts_with(begins) && token.len() >= *min;
        if TOKENS.iter().any(is_token) && looks_made_up(token) {
            found.push(at..at + token.len());
        }
        at += part.len();
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._~+/=-%:|".contains(&byte)
}
