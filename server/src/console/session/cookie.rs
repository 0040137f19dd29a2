//! The cookie of a session.
//!
//! Scripts cannot read it, and no other site can have the browser send it (`SameSite=Strict`). If
//! users reach the server by https, it is never sent without TLS, and no other host can set it
//! (`__Host-`).

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use super::token::Token;

/// How the cookie is named and restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CookieKind {
    /// The server may be reached without TLS.
    Plain,
    /// Users reach the server by https.
    Secure,
}

impl CookieKind {
    /// Returns the kind for the URL under which users reach the server, if it is known.
    pub(super) fn of(public_url: Option<&str>) -> Self {
        match public_url.is_some_and(|url| url.starts_with("https://")) {
            true => Self::Secure,
            false => Self::Plain,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "telltale_session",
            Self::Secure => "__Host-telltale_session",
        }
    }

    fn attributes(self) -> &'static str {
        match self {
            Self::Plain => "Path=/; HttpOnly; SameSite=Strict",
            Self::Secure => "Path=/; HttpOnly; SameSite=Strict; Secure",
        }
    }

    /// Returns whether a request has the cookie, whatever its value.
    pub(super) fn is_in(self, headers: &HeaderMap) -> bool {
        self.values(headers).next().is_some()
    }

    /// Returns the token in the cookie of a request. A request with two such cookies has none: one
    /// of them was set by somebody else.
    pub(super) fn token(self, headers: &HeaderMap) -> Option<Token> {
        let mut values = self.values(headers);
        let only = values.next().filter(|_| values.next().is_none())?;
        Token::parse(std::str::from_utf8(only).ok()?)
    }

    /// Cookies of other programs on the same host may contain any bytes.
    fn values(self, headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
        let lines = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
        let pairs = lines.flat_map(|line| line.split(|byte| *byte == b';'));
        pairs.filter_map(move |pair| {
            let pair = pair.trim_ascii();
            let value = pair.strip_prefix(self.name().as_bytes())?.trim_ascii_start();
            value.strip_prefix(b"=").map(<[u8]>::trim_ascii)
        })
    }

    /// Returns the header that stores the cookie.
    pub(super) fn set(self, token: &Token, seconds: u64) -> Option<HeaderValue> {
        let (name, token, attributes) = (self.name(), token.reveal(), self.attributes());
        let mut value =
            HeaderValue::try_from(format!("{name}={token}; Max-Age={seconds}; {attributes}"))
                .ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Returns the header that removes the cookie.
    pub(super) fn remove(self) -> Option<HeaderValue> {
        HeaderValue::try_from(format!("{}=; Max-Age=0; {}", self.name(), self.attributes())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others_and_never_ambiguous() {
        let token = Token::generate().unwrap();
        let text = token.reveal();
        let found = |kind: CookieKind, lines: &[String]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(COOKIE, line.parse().unwrap());
            }
            (kind.is_in(&headers), kind.token(&headers) == Some(token.clone()))
        };
        let plain = format!("telltale_session={text}");
        let secure = format!("__Host-telltale_session={text}");
        let (one, none, bad) = ((true, true), (false, false), (true, false));
        for (kind, lines, expected) in [
            (CookieKind::Plain, vec![plain.clone()], one),
            (CookieKind::Plain, vec![format!("a=b; {plain};c=d")], one),
            (CookieKind::Plain, vec!["a=b".to_owned(), plain.clone()], one),
            (CookieKind::Plain, vec![format!("{plain}; {plain}")], bad),
            (CookieKind::Plain, vec![plain.clone(), plain.clone()], bad),
            (CookieKind::Plain, vec!["telltale_session=x".to_owned()], bad),
            (CookieKind::Plain, vec![secure.clone()], none),
            (CookieKind::Secure, vec![secure], one),
            (CookieKind::Secure, vec![plain], none),
            (CookieKind::Plain, vec!["xtelltale_session=x".to_owned()], none),
            (CookieKind::Plain, vec![], none),
        ] {
            assert_eq!(found(kind, &lines), expected, "{kind:?} {lines:?}");
        }
    }

    #[test]
    fn cookies_of_other_programs_may_contain_any_bytes() {
        let token = Token::generate().unwrap();
        let line = [b"pref=\xc3\xa9\xff; telltale_session = ", token.reveal().as_bytes()].concat();
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_bytes(&line).unwrap());
        assert_eq!(CookieKind::Plain.token(&headers), Some(token));
        headers.append(COOKIE, HeaderValue::from_bytes(b"telltale_session=\xff").unwrap());
        assert_eq!(CookieKind::Plain.token(&headers), None, "there are two");
    }

    #[test]
    fn the_cookie_is_secure_exactly_if_users_come_by_https() {
        let token = Token::generate().unwrap();
        for (url, expected) in [
            (None, CookieKind::Plain),
            (Some("http://a.example"), CookieKind::Plain),
            (Some("https://a.example"), CookieKind::Secure),
        ] {
            let kind = CookieKind::of(url);
            assert_eq!(kind, expected);
            let set = kind.set(&token, 60).unwrap();
            assert_eq!(set.to_str().unwrap().contains("; Secure"), kind == CookieKind::Secure);
        }
    }
}
