//! The cookie of a session.
//!
//! Scripts cannot read it, and no other site can have the browser send it (`SameSite=Strict`). If
//! users reach the server by https, it is never sent without TLS, and no other host can set it
//! (`__Host-`). Browsers send a cookie to all ports of a host, so its name has a mark of the
//! server: those of several servers on one host do not replace each other.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use super::token::Token;

/// How the cookie of a server is named and restricted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionCookie {
    name: String,
    /// Whether users reach the server by https.
    is_secure: bool,
}

impl SessionCookie {
    /// Returns the cookie of the server with this mark, for the URL under which users reach it, if
    /// that is known.
    pub(super) fn new(mark: &str, public_url: Option<&str>) -> Self {
        let is_secure = public_url.is_some_and(|url| url.starts_with("https://"));
        let prefix = if is_secure { "__Host-" } else { "" };
        Self { name: format!("{prefix}telltale_session_{mark}"), is_secure }
    }

    fn attributes(&self) -> &'static str {
        match self.is_secure {
            false => "Path=/; HttpOnly; SameSite=Strict",
            true => "Path=/; HttpOnly; SameSite=Strict; Secure",
        }
    }

    /// Returns whether a request has the cookie, whatever its value.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        self.values(headers).next().is_some()
    }

    /// Returns the token in the cookie of a request. A request with two such cookies has none: one
    /// of them was set by somebody else.
    pub(super) fn token(&self, headers: &HeaderMap) -> Option<Token> {
        let mut values = self.values(headers);
        let only = values.next().filter(|_| values.next().is_none())?;
        Token::parse(std::str::from_utf8(only).ok()?)
    }

    /// Cookies of other programs on the same host may contain any bytes.
    fn values<'h>(&self, headers: &'h HeaderMap) -> impl Iterator<Item = &'h [u8]> {
        let lines = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
        let pairs = lines.flat_map(|line| line.split(|byte| *byte == b';'));
        pairs.filter_map(move |pair| {
            let pair = pair.trim_ascii();
            let value = pair.strip_prefix(self.name.as_bytes())?.trim_ascii_start();
            value.strip_prefix(b"=").map(<[u8]>::trim_ascii)
        })
    }

    /// Returns the header that stores the cookie.
    pub(super) fn set(&self, token: &Token, seconds: u64) -> Option<HeaderValue> {
        let (name, token, attributes) = (&self.name, token.reveal(), self.attributes());
        let mut value =
            HeaderValue::try_from(format!("{name}={token}; Max-Age={seconds}; {attributes}"))
                .ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Returns the header that removes the cookie.
    pub(super) fn remove(&self) -> Option<HeaderValue> {
        HeaderValue::try_from(format!("{}=; Max-Age=0; {}", self.name, self.attributes())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(public_url: Option<&str>) -> SessionCookie {
        SessionCookie::new("1a2b", public_url)
    }

    #[test]
    fn the_cookie_is_found_among_others_and_never_ambiguous() {
        let token = Token::generate().unwrap();
        let text = token.reveal();
        let found = |cookie: &SessionCookie, lines: &[String]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(COOKIE, line.parse().unwrap());
            }
            (cookie.is_in(&headers), cookie.token(&headers) == Some(token.clone()))
        };
        let plain = format!("telltale_session_1a2b={text}");
        let secure = format!("__Host-telltale_session_1a2b={text}");
        let of_another_server = format!("telltale_session_3c4d={text}");
        let (by_http, by_https) = (cookie(None), cookie(Some("https://a.example")));
        let (one, none, bad) = ((true, true), (false, false), (true, false));
        for (cookie, lines, expected) in [
            (&by_http, vec![plain.clone()], one),
            (&by_http, vec![format!("a=b; {plain};c=d")], one),
            (&by_http, vec!["a=b".to_owned(), plain.clone()], one),
            (&by_http, vec![format!("{plain}; {plain}")], bad),
            (&by_http, vec![plain.clone(), plain.clone()], bad),
            (&by_http, vec!["telltale_session_1a2b=x".to_owned()], bad),
            (&by_http, vec![format!("{of_another_server}; {plain}; {of_another_server}")], one),
            (&by_http, vec![of_another_server], none),
            (&by_http, vec![secure.clone()], none),
            (&by_https, vec![secure], one),
            (&by_https, vec![plain], none),
            (&by_http, vec!["xtelltale_session_1a2b=x".to_owned()], none),
            (&by_http, vec![], none),
        ] {
            assert_eq!(found(cookie, &lines), expected, "{cookie:?} {lines:?}");
        }
    }

    #[test]
    fn cookies_of_other_programs_may_contain_any_bytes() {
        let token = Token::generate().unwrap();
        let line =
            [b"pref=\xc3\xa9\xff; telltale_session_1a2b = ", token.reveal().as_bytes()].concat();
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_bytes(&line).unwrap());
        assert_eq!(cookie(None).token(&headers), Some(token));
        headers.append(COOKIE, HeaderValue::from_bytes(b"telltale_session_1a2b=\xff").unwrap());
        assert_eq!(cookie(None).token(&headers), None, "there are two");
    }

    #[test]
    fn the_cookie_is_secure_exactly_if_users_come_by_https() {
        let token = Token::generate().unwrap();
        for (url, is_secure) in
            [(None, false), (Some("http://a.example"), false), (Some("https://a.example"), true)]
        {
            let set = cookie(url).set(&token, 60).unwrap();
            assert_eq!(set.to_str().unwrap().contains("; Secure"), is_secure);
            assert_eq!(set.to_str().unwrap().starts_with("__Host-"), is_secure);
        }
    }
}
