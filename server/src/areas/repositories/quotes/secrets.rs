//! Which lines seem to hold a secret. A snippet is equal to the commit byte for byte, so a secret
//! in it cannot be masked: such a line is not quoted at all.
//!
//! Known forms of keys are found anywhere; other values only after a name such as `password`, and
//! only if they are no placeholder. A literal after a name that ends so is a secret however it
//! looks, since people choose passwords; values without quotes, and those of names that only
//! contain such a word, have to look random.

use super::limits::{
    BARE_SECRET_CHARS_MIN, KEY_CHARS_MAX, NAME_BYTES_MAX, SECRET_CHARS_MIN,
    SECRET_ENTROPY_BITS_MIN, TOKEN_CHARS_MAX, TOLD_SECRET_CHARS_MIN, VALUE_BYTES_MAX,
};

/// Keys with a known beginning, and how many letters, digits, `-` and `_` follow it at least.
const KEY_FORMS: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("xoxs-", 16),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("sk_test_", 16),
    ("sk-proj-", 16),
    ("sk-ant-", 16),
    ("npm_", 30),
    ("pypi-", 40),
    ("dop_v1_", 30),
    ("hf_", 30),
    ("SG.", 40),
    ("ya29.", 20),
];

/// Names whose value is a secret, in lower case without separators.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "signingkey",
    "encryptionkey",
    "credential",
    "authkey",
];

/// Parts of values that only hold the place of a secret, in lower case.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "changeme",
    "change-me",
    "change_me",
    "your",
    "xxxx",
    "test",
    "dummy",
    "fake",
    "placeholder",
    "redacted",
    "****",
    "....",
    "todo",
    "none",
    "null",
    "password",
    "secret",
    "token",
    "abc",
    "foo",
    "<",
    "{",
    "$",
    "%",
];

/// Words of which placeholders are made together with those of [`PLACEHOLDERS`], in lower case.
const PLACEHOLDER_WORDS: &[&str] = &[
    "my", "the", "a", "an", "here", "key", "api", "some", "this", "is", "value", "insert",
    "replace", "me", "default", "sample", "demo", "passwd", "pass", "user", "enter", "not", "set",
    "invalid", "missing", "wrong", "bad", "new", "old", "db", "app", "for", "with", "in", "and",
    "to", "be",
];

/// Names of algorithms and formats, which a number can follow, in lower case.
const ALGORITHMS: &[&str] = &[
    "sha", "md", "rs", "hs", "es", "ps", "utf", "base", "pbkdf", "argon", "bcrypt", "scrypt",
    "hmac", "aes", "gcm", "cbc", "ctr", "des", "ed", "x", "oauth", "http", "ipv", "crc", "blake",
    "pkcs", "rfc", "curve", "chacha", "poly",
];

/// Letters after the number of an algorithm: `argon2id`, `blake2b`.
const ALGORITHM_ENDS: &[&str] = &["id", "i", "d", "b", "s"];

/// Words before a number that counts something, in lower case: `the password of step2`.
const COUNTED: &[&str] = &["version", "level", "step", "part", "line", "page", "test"];

/// Characters of a placeholder that are of none of its words, at most.
const PLACEHOLDER_REST_CHARS_MAX: usize = 3;

/// What a private key in PEM format begins with.
const KEY_BEGIN: &str = "-----BEGIN ";

/// Returns whether a text seems to contain a secret.
pub fn contains_secret(text: &str) -> bool {
    secret_lines(text).next().is_some()
}

/// Returns the positions, from 0, of the lines of a text that seem to hold a secret. All lines of a
/// private key do, also if its end is missing.
pub fn secret_lines(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut of_keys = private_key_lines(text).peekable();
    text.lines().enumerate().filter_map(move |(position, line)| {
        let is_in_key = of_keys.next_if_eq(&position).is_some();
        (is_in_key || is_secret_line(line)).then_some(position)
    })
}

/// Returns the positions, from 0, of the lines of private keys in a text, also of those whose end
/// is missing.
pub fn private_key_lines(text: &str) -> impl Iterator<Item = usize> + '_ {
    let has_key = text.contains(KEY_BEGIN);
    let mut is_in_key = false;
    text.lines().enumerate().filter(move |_| has_key).filter_map(move |(position, line)| {
        is_in_key |= line.contains(KEY_BEGIN) && line.contains("PRIVATE KEY");
        let is_of_key = is_in_key;
        is_in_key &= !line.contains("-----END ");
        is_of_key.then_some(position)
    })
}

/// Returns whether a line seems to hold a secret, whatever the lines before it are.
pub fn is_secret_line(line: &str) -> bool {
    is_key_material(line)
        || has_key(line)
        || has_url_password(line)
        || assigns_secret(line)
        || tells_secret(line)
}

/// Returns whether a line is one of base64 only, as in the middle of a key in PEM format: a snippet
/// can begin after the line that begins the key.
fn is_key_material(line: &str) -> bool {
    let line = line.trim().trim_matches(['"', '\'', ',', '+', ' ', '\\']);
    line.len() >= 60
        && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        && line.bytes().any(|byte| byte.is_ascii_uppercase())
        && line.bytes().any(|byte| byte.is_ascii_lowercase())
        && line.bytes().any(|byte| byte.is_ascii_digit())
}

/// A password in a sentence: `with password hunter3`, `the token is a8f5f167f`.
fn tells_secret(line: &str) -> bool {
    let mut words = line.split_whitespace();
    while let Some(name) = words.next() {
        let name = name.trim_matches(|char: char| "\"'`*(:".contains(char));
        let is_name = SECRET_NAMES.iter().any(|secret| name.eq_ignore_ascii_case(secret));
        let is_told = |word: &&str| !["is", "was", "of", "be"].contains(word);
        if is_name && words.clone().take(2).find(is_told).is_some_and(is_told_secret) {
            return true;
        }
    }
    false
}

/// Returns whether a word of a sentence looks like a password: letters and digits, but neither an
/// identifier nor the name of an algorithm or format.
fn is_told_secret(word: &str) -> bool {
    let word = word.trim_matches(|char: char| "\"'`*.,;:!?".contains(char));
    let is_camel_case = word
        .chars()
        .zip(word.chars().skip(1))
        .any(|(left, right)| left.is_lowercase() && right.is_uppercase());
    word.chars().count() >= TOLD_SECRET_CHARS_MIN
        && word.chars().all(|char| char.is_ascii_alphanumeric() || "!@#$%^&*-+?".contains(char))
        && word.chars().any(|char| char.is_ascii_digit())
        && word.chars().any(|char| char.is_ascii_lowercase())
        && !word.starts_with(['$', '%', '-', '&', '*', '@', '#'])
        && !is_camel_case
        && !names_algorithm(word)
        && !is_made_of_placeholders(word)
}

/// Returns whether all parts of a word are algorithms, formats and numbers: `sha256`, `argon2id`,
/// `pbkdf2-sha256`, `aes-256-gcm`; or whether it counts something: `step2`, `page-12`.
fn names_algorithm(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_number = |text: &str| text.chars().all(|char| char.is_ascii_digit());
    let is_numbered = |text: &str, name: &str, ends: &[&str]| {
        text.strip_prefix(name).is_some_and(|rest| {
            is_number(rest) || ends.iter().any(|end| rest.strip_suffix(end).is_some_and(is_number))
        })
    };
    let is_algorithm =
        |part: &str| ALGORITHMS.iter().any(|name| is_numbered(part, name, ALGORITHM_ENDS));
    let is_counted = COUNTED.iter().any(|name| {
        let text = lower.replacen('-', "", 1);
        is_numbered(&text, name, &[])
    });
    is_counted
        || lower.split('-').next().is_some_and(is_algorithm)
            && lower.split('-').all(|part| is_algorithm(part) || is_number(part))
}

/// Returns whether a key of a known form begins where a word begins: there is none in the middle of
/// a word, and all of a long word would be read for each place.
fn has_key(line: &str) -> bool {
    let mut is_in_word = false;
    line.char_indices().any(|(at, char)| {
        let begins_word = !std::mem::replace(&mut is_in_word, char.is_alphanumeric());
        begins_word
            && is_in_word
            && line.get(at..).is_some_and(|rest| has_key_form(rest) || is_web_token(rest))
    })
}

/// Returns whether a text begins with a key of a known form.
fn has_key_form(rest: &str) -> bool {
    KEY_FORMS.iter().any(|(start, length)| {
        rest.strip_prefix(start).is_some_and(|rest| {
            let body = key_chars(rest, KEY_CHARS_MAX);
            // A name of words is no key.
            body.len() >= *length
                && (body.bytes().any(|byte| byte.is_ascii_digit())
                    || entropy_bits(body) >= SECRET_ENTROPY_BITS_MIN)
        })
    })
}

/// Returns the characters of a key at the beginning of a text.
fn key_chars(text: &str, bytes_max: usize) -> &str {
    let end = text.bytes().take(bytes_max).take_while(|byte| is_key_byte(*byte)).count();
    text.get(..end).unwrap_or_default()
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

/// A JSON web token: three parts in base64, of which the first begins with `{"`.
fn is_web_token(rest: &str) -> bool {
    rest.starts_with("eyJ") && {
        let token = key_chars(rest, TOKEN_CHARS_MAX);
        token.len() >= 40 && token.split('.').filter(|part| part.len() >= 10).count() >= 2
    }
}

/// A URL with a password: `scheme://user:password@host`.
fn has_url_password(line: &str) -> bool {
    line.match_indices("://").any(|(at, _)| {
        let rest = line.get(at + 3..).unwrap_or_default();
        let end = rest.find(|char: char| char.is_whitespace() || "/\"'`<>".contains(char));
        let authority = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        authority
            .rsplit_once('@')
            .and_then(|(user, _)| user.split_once(':'))
            .is_some_and(|(_, password)| password.len() >= 6 && !is_placeholder(password))
    })
}

/// A value after `name =`, `name:`, `name =>` or `"name":`, where the name is that of a secret.
fn assigns_secret(line: &str) -> bool {
    line.match_indices(['=', ':']).any(|(at, _)| {
        // What is near: all of a long line would be read again for each of its colons.
        let start = line.ceil_char_boundary(at.saturating_sub(NAME_BYTES_MAX));
        let end = line.floor_char_boundary(at.saturating_add(VALUE_BYTES_MAX));
        let before = line.get(start..at).unwrap_or_default();
        let after = line.get(at..end).unwrap_or_default();
        if !mentions_secret(before) {
            return false;
        }
        let after = after.trim_start_matches(['=', ':', '>', ' ', '\t', '(', '&']);
        match after.chars().next() {
            Some(quote @ ('"' | '\'' | '`')) => {
                after.get(1..).and_then(|rest| rest.split(quote).next()).is_some_and(|value| {
                    is_secret_value(value, SECRET_CHARS_MIN)
                        || names_secret(before) && is_chosen_secret(value)
                })
            }
            _ => {
                let end = after.find(|char: char| char.is_whitespace() || ",;\"'`".contains(char));
                let value = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
                is_secret_value(value, BARE_SECRET_CHARS_MIN) && value.chars().all(is_base64)
            }
        }
    })
}

fn is_base64(char: char) -> bool {
    char.is_ascii_alphanumeric() || "+/=-_".contains(char)
}

/// Returns whether what is left of an assignment contains the name of a secret, maybe with its
/// type: `API_TOKEN`, `"password"`, `const SECRET: &str`.
fn mentions_secret(before: &str) -> bool {
    let name = before.rsplit([',', ';', '(', '{']).next().unwrap_or_default();
    let name: String =
        name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
        || name.contains("pass") && names_secret(before)
}

/// Returns whether one of the identifiers left of an assignment, without the type, ends with the
/// name of a secret: `DB_PASSWORD`, `"password"`, but not `tokenizer`.
fn names_secret(before: &str) -> bool {
    let names = before.rsplit([',', ';', '(', '{']).next().unwrap_or_default();
    // `Config::TOKEN` is a path, `TOKEN: &str` has a type.
    let names = names.replace("::", ".");
    let names = names.split(": ").next().unwrap_or_default();
    names.split(|char: char| !char.is_alphanumeric() && !"_-".contains(char)).any(|name| {
        let name = name.to_lowercase();
        let name = name.trim_end_matches(|char: char| char.is_ascii_digit() || "_-".contains(char));
        let is_pass = name.rsplit(['_', '-']).next() == Some("pass");
        let joined: String = name.chars().filter(|char| char.is_alphanumeric()).collect();
        is_pass
            || joined.ends_with("credentials")
            || SECRET_NAMES.iter().any(|secret| joined.ends_with(secret))
    })
}

/// Returns whether a literal can be a password that a person has chosen: no sentence, and not made
/// of the words of placeholders.
fn is_chosen_secret(value: &str) -> bool {
    value.chars().count() >= SECRET_CHARS_MIN
        && !value.chars().any(char::is_whitespace)
        && value.chars().any(char::is_alphanumeric)
        && !["<", "{", "$", "%(", "/", "#{"].iter().any(|start| value.starts_with(start))
        && !value.contains("://")
        && !is_made_of_placeholders(value)
}

/// Returns whether little is left of a value without the words of placeholders, one of which it
/// contains, or whether it repeats one character.
fn is_made_of_placeholders(value: &str) -> bool {
    let lower = value.to_lowercase();
    let mut chars = lower.chars();
    if chars.next().is_some_and(|first| chars.all(|char| char == first)) {
        return true;
    }
    let rest = PLACEHOLDERS
        .iter()
        .filter(|part| part.chars().all(char::is_alphanumeric))
        .fold(lower.clone(), |rest, part| rest.replace(part, " "));
    let words = rest.split(|char: char| !char.is_alphanumeric());
    let left =
        words.filter(|word| !PLACEHOLDER_WORDS.contains(word)).map(|word| word.chars().count());
    rest != lower && left.sum::<usize>() <= PLACEHOLDER_REST_CHARS_MAX
}

fn is_secret_value(value: &str, chars_min: usize) -> bool {
    value.chars().count() >= chars_min
        && !value.chars().any(char::is_whitespace)
        && value.chars().any(char::is_numeric)
        && value.chars().any(char::is_alphabetic)
        && !is_placeholder(value)
        && entropy_bits(value) >= SECRET_ENTROPY_BITS_MIN
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    // A long random value contains short words by chance.
    value.len() < 24 && PLACEHOLDERS.iter().any(|placeholder| lower.contains(placeholder))
        || ["<", "{", "$", "%("].iter().any(|start| lower.starts_with(start))
}

/// Returns the entropy of the characters of a value, in bits per character.
fn entropy_bits(value: &str) -> f64 {
    let mut chars: Vec<char> = value.chars().collect();
    chars.sort_unstable();
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    chars
        .chunk_by(|left, right| left == right)
        .map(|same| number(same.len()) / number(chars.len()))
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_secret_are_found() {
        for line in [
            "key = AKIAIOSFODNN7EXAMPLE",
            "let t = \"ghp_0123456789abcdefghijklmnopqrstuvwxyz\";",
            "password = \"hunter2-blue9!\"",
            "  \"api_key\": \"9f8e7d6c5b4a39281706\",",
            "API_TOKEN=Zx81kQ0pLm33vvTr9sWe",
            "const SECRET: &str = \"q8Zr4Lw0Xn5Yt\";",
            "postgres://admin:pa55w0rX@db.internal/main",
            "PASSWORD = \"hunter2hunter2\"",
            "db_password: str = 'correcthorse'",
            "const char *secret = \"aaaaaaab\";",
            "connect(password=\"letmein-please\", host=\"db\")",
            "DB_PASS: \"swordfish\"",
            "'privateKey' => 'test-hunter2blue'",
            "if token == \"opensesame\" {",
            "\"\"\"Connect with password hunter3 to db.\"\"\"",
            "The password is tr0ub4dor&3.",
            "// token: 9a8b7c6d",
            "with password sha-hunter2 and",
            "the Password of hunter3x",
            "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        ] {
            assert!(contains_secret(line), "{line}");
        }
    }

    #[test]
    fn ordinary_lines_are_no_secrets() {
        for line in [
            "let token = self.next_token()?;",
            "password: String,",
            "password = \"changeme\"",
            "token = os.environ[\"API_TOKEN\"]",
            "fn token(&self) -> &str {",
            "secret = \"<your secret here>\"",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "let url = \"https://example.com:8080/a@b\";",
            "pub const TOKEN_BYTES_MAX: usize = 4_096;",
            "url = f\"https://user:{password}@host/\"",
            "skip_long_names_and_other_things_too",
            "secret_key = \"my-secret-key\"",
            "password = \"your_password_here\"",
            "password = \"xxxxxxxx\"",
            "password = \"Enter the password\"",
            "token_url = \"/oauth/authorize\"",
            "tokenizer = \"wordpiece\"",
            "secret: \"{{ vault.secret }}\"",
            "PASSWORD_FIELD = \"passphrase-input\"",
            "password = \"short\"",
            "Hashes the password with sha256 and a salt.",
            "the password sha512 hash, or a token utf8 text",
            "fn password(token: Token2, secret: u64) -> Token {",
            "Each token is 16 bytes long.",
            "let token = tokenV1;",
            "the password argon2id hash",
            "Hashes a password pbkdf2-sha256 as Django does.",
            "the secret aes-256-gcm key, or the token of step2",
        ] {
            assert!(!contains_secret(line), "{line}");
        }
    }

    #[test]
    fn long_lines_are_read_once() {
        // All of these lines would be read again for each of their marks.
        for part in ["a=", "a: ", "password ", "AKIA-", "eyJ", "=\"", "://a:"] {
            contains_secret(&part.repeat(10_000));
        }
        let line = format!("{}password = \"hunter2-blue9!\"", "a=1;".repeat(10_000));
        assert!(contains_secret(&line));
    }

    #[test]
    fn all_lines_of_a_private_key_are_secret() {
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIB\nxyz\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(secret_lines(key).collect::<Vec<_>>(), [1, 2, 3, 4]);
        let cut = "x\n-----BEGIN PRIVATE KEY-----\nMIIB";
        assert_eq!(secret_lines(cut).collect::<Vec<_>>(), [1, 2]);
        let middle = "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF0qJDr4xYk5nZ4aT0w5c9zq8x1Bt\nx";
        assert_eq!(secret_lines(middle).collect::<Vec<_>>(), [0]);
    }
}
