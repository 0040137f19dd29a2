//! Where in an `Authorization` header a key stands. Agents of many makers send what their own servers ask for, so a
//! key is taken in each of the usual forms; what it opens does not depend on the form.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The key in `Bearer <key>`, in `Token <key>`, or the password of `Basic`, whose user may be anybody. The case of the
/// scheme does not matter.
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
    fn keys_are_found_in_every_usual_form() {
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
