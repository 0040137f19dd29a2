//! Removes the hashes that bundlers put into file names, in hexadecimal or in other alphabets.
//!
//! A hash is distinguished from words by its length, by alternating letters and digits, and by runs
//! of letters without a vowel.
//!
//! Slices are taken at positions that were found in the same string, between characters, so they
//! always exist.

/// Extensions of files that bundlers write.
const BUNDLED: [&str; 10] =
    ["js", "mjs", "cjs", "jsx", "ts", "tsx", "css", "wasm", "map", "bundle"];

/// The minimum characters of a hexadecimal hash in a bundle's name: webpack writes at least as
/// many.
const BUNDLE_HEX_CHARS_MIN: usize = 6;
/// The minimum characters of a hexadecimal hash in the name of any other file.
const HEX_CHARS_MIN: usize = 8;
/// The length of hashes that Vite, Rollup and esbuild write.
const SHORT_HASH_CHARS: usize = 8;
/// The maximum characters of a hash.
const HASH_CHARS_MAX: usize = 64;
/// The minimum number of changes between upper case, lower case and digits in a long hash.
const LONG_HASH_CHANGES_MIN: usize = 4;

/// Returns the file name in lower case without hashes.
pub(super) fn unhashed(name: &str) -> String {
    let is_bundle = is_bundle(name);
    let mut kept: Vec<String> = Vec::new();
    for (at, part) in name.split('.').enumerate() {
        let part =
            if is_bundle { without_bundle_hash(part, at == 0) } else { without_file_hash(part) };
        if !part.is_empty() {
            kept.push(part.to_lowercase());
        }
    }
    kept.join(".")
}

/// Returns whether a bundler may have written a file with this name.
pub(super) fn is_bundle(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| BUNDLED.contains(&extension.as_str()))
}

/// Returns whether a directory is named after a build: a commit, a container id, a hash of an
/// application.
pub(super) fn is_hashed_dir(name: &str) -> bool {
    let is_commit = name.len() > BUNDLE_HEX_CHARS_MIN && is_hex(name) && has_digit(name);
    is_commit || is_long_hash(name)
}

fn without_bundle_hash(part: &str, is_first: bool) -> &str {
    if !is_first && is_bundle_hash(part) {
        return "";
    }
    for (at, separator) in part.char_indices().filter(|(_, c)| matches!(c, '-' | '_' | '~')) {
        let rest = part.get(at + separator.len_utf8()..).unwrap_or_default();
        if is_bundle_hash(rest) {
            return part.get(..at).unwrap_or_default();
        }
    }
    let is_hash = is_first && (is_long_hash(part) || part.len() >= HEX_CHARS_MIN && is_hex(part));
    if is_hash { "" } else { part }
}

fn without_file_hash(part: &str) -> &str {
    let is_hash = |text: &str| text.len() >= HEX_CHARS_MIN && is_hex(text) && has_digit(text);
    match part.rsplit_once('-') {
        _ if is_hash(part) => "",
        Some((before, rest)) if is_hash(rest) => before,
        _ => part,
    }
}

fn is_bundle_hash(text: &str) -> bool {
    let is_short_hex = text.len() >= BUNDLE_HEX_CHARS_MIN && is_hex(text) && has_digit(text);
    is_short_hex
        || text.len() >= HEX_CHARS_MIN && is_hex(text)
        || text.len() == SHORT_HASH_CHARS && is_random(text)
        || is_long_hash(text)
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

/// Returns whether a string is a short hash in an alphabet of letters, digits, `-` and `_`, which
/// words are also made of.
fn is_random(text: &str) -> bool {
    let of_alphabet = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let is_base_32 = text.bytes().all(|b| b.is_ascii_uppercase() || matches!(b, b'2'..=b'7'));
    let is_plain = !text.bytes().any(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    of_alphabet && !is_plain && (is_base_32 || !is_word_like(text))
}

/// Returns whether a string is a long hash: letters and digits that alternate.
fn is_long_hash(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let has_sign = text.bytes().any(|b| matches!(b, b'-' | b'_'));
    // Long names of several words also contain separators: a hash with separators must contain
    // upper case, lower case and digits.
    let is_mixed_enough = !has_sign
        || (text.len() >= 20 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase));
    (SHORT_HASH_CHARS + 1..=HASH_CHARS_MAX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        && mixed
        && is_mixed_enough
        && digits >= 2
        && class_changes(text) >= LONG_HASH_CHANGES_MIN
        && !is_word_like(text)
}

/// Returns the class of a character: digit, upper case, lower case, other.
fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    }
}

/// Returns how often adjacent characters differ in class.
fn class_changes(text: &str) -> usize {
    text.as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if class(*a) != class(*b)))
        .count()
}

/// Returns whether a string is written like a name: pieces of at least two letters that have a
/// vowel or are abbreviations, and at most one number.
fn is_word_like(text: &str) -> bool {
    let (mut pieces, mut numbers, mut before) = (vec![String::new()], 0, 3);
    for byte in text.bytes() {
        let now = class(byte);
        match (before, now) {
            (0, 0) => {}
            (_, 0) => numbers += 1,
            (_, 3) => {}
            (1, 1) | (1 | 2, 2) => {
                if let Some(piece) = pieces.last_mut() {
                    piece.push(char::from(byte));
                }
            }
            _ => pieces.push(char::from(byte).to_string()),
        }
        before = now;
    }
    let is_word = |piece: &String| {
        let has_vowel = piece.bytes().any(|b| b"aeiouyAEIOUY".contains(&b));
        let is_short_form = piece.len() <= 4 && piece.bytes().all(|b| b.is_ascii_uppercase());
        piece.len() >= 2 && (has_vowel || is_short_form)
    };
    numbers <= 1 && pieces.iter().filter(|piece| !piece.is_empty()).all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_removed_and_words_are_kept() {
        for (name, expected) in [
            ("index-BxK3_a9Q.js", "index.js"),
            ("index-B-K3_a9Q.js", "index.js"),
            ("vendor-BxKzPaQw.js", "vendor.js"),
            ("chunk-5WDKYHZQ.js", "chunk.js"),
            ("main.3f2a1b.chunk.js", "main.chunk.js"),
            ("main.3f2a9c1b.js", "main.js"),
            ("main.deadbeef.js", "main.js"),
            ("app-1a2b3c4d5e6f.min.js", "app.min.js"),
            ("main-es2015.abcdef0123456789abcd.js", "main-es2015.js"),
            ("framework.Ab3dEf6hIj9kLm.js", "framework.js"),
            ("3f2a9c1b44d0.js", "js"),
            ("my-deadbeef.py", "my-deadbeef.py"),
            ("step-checkout.js", "step-checkout.js"),
            ("user-MyWidget.js", "user-mywidget.js"),
            ("form-DomUtils.js", "form-domutils.js"),
            ("my-ts-utils.js", "my-ts-utils.js"),
            ("login-web3auth.js", "login-web3auth.js"),
            (
                "vendors-node_modules_lodash_lodash_js.js",
                "vendors-node_modules_lodash_lodash_js.js",
            ),
            ("Views.py", "views.py"),
            ("", ""),
        ] {
            assert_eq!(unhashed(name), expected, "{name}");
        }
    }
}
