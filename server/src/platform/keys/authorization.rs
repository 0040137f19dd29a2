//! Extracts the key from an `Authorization` header. Agents use the schemes of the servers they were
//! made for, so a key is accepted in each of the usual ones; its permissions do not depend on the
//! scheme.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns the key in `Bearer <key>` or `Token <key>`, or the password of `Basic` with any user
/// name. The scheme is case-insensitive.
pub(super) fn presented_key(authorization: &str) -> Option<Cow<'_, str>> {
    let (scheme, credentials) = authorization.split_once(' ')?;
    let credentials = credentials.trim_start_matches(' ');
    if ["bearer", "token"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Some(Cow::Borrowed(credentials));
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let plain = String::from_utf8(STANDARD.decode(credentials).ok()?).ok()?;
    let (_, password) = plain.split_once(':')?;
    Some(Cow::Owned(password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_every_supported_scheme() {
        let basic = |plain: &str| format!("Basic {}", STANDARD.encode(plain));
        for (header, expected) in [
            ("Bearer k", Some("k")),
            ("bearer   k", Some("k")),
            ("Token k", Some("k")),
            ("TOKEN k", Some("k")),
            (&basic("user:k"), Some("k")),
            (&basic(":k"), Some("k")),
            (&basic("user:k:l"), Some("k:l")),
            (&basic("\u{e9}:k").replace("Basic", "bASIC"), Some("k")),
            (&basic("k"), None),
            ("Basic", None),
            ("Basic k", None),
            ("Basic dXNlcjpr=", None),
            ("Basic /////w==", None),
            ("Digest k", None),
            ("k", None),
            ("", None),
        ] {
            assert_eq!(presented_key(header).as_deref(), expected, "{header}");
        }
    }
}
