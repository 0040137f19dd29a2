//! Keys in the form of Sentry DSNs, and where Sentry SDKs send them.
//!
//! The DSN of a key is `https://<id>:<secret>@host/1`; the secret may be omitted if the key is
//! public. SDKs send both parts in `X-Sentry-Auth` (old ones in `Authorization`), as `sentry_key`
//! in the query string, or as a whole DSN in the header of an envelope. Other parts of these are
//! ignored.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use percent_encoding::percent_decode_str;

/// The header sent by Sentry SDKs.
const SENTRY_AUTH: &str = "x-sentry-auth";

/// A key in a DSN.
#[derive(Clone, PartialEq, Eq)]
pub struct DsnKey {
    pub(super) id: String,
    pub(super) secret: Option<String>,
}

/// The error for a request with different keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConflictingKeys;

impl DsnKey {
    /// Returns the key in the headers and the query string of a request. Fails if they contain
    /// different keys.
    pub fn in_head<'q>(
        headers: &HeaderMap,
        query: impl Iterator<Item = (&'q str, &'q str)>,
    ) -> Result<Option<Self>, ConflictingKeys> {
        let values = headers.get_all(SENTRY_AUTH).iter().chain(headers.get_all(AUTHORIZATION));
        let in_headers = values.filter_map(|value| Self::in_header(value.to_str().ok()?));
        let (mut id, mut secret) = ("", "");
        for (name, value) in query {
            match name {
                "sentry_key" => id = value,
                "sentry_secret" => secret = value,
                _ => {}
            }
        }
        let in_query = Self::of(id.to_owned(), secret.to_owned());
        in_headers.chain(in_query).try_fold(None, |known: Option<Self>, found| match known {
            None => Ok(Some(found)),
            Some(known) => known.and(found).map(Some).ok_or(ConflictingKeys),
        })
    }

    /// Returns the key in `Sentry sentry_key=…, sentry_version=7, …`, separated by commas or
    /// spaces.
    pub fn in_header(value: &str) -> Option<Self> {
        let (scheme, pairs) = value.trim().split_once([' ', '\t'])?;
        if !scheme.eq_ignore_ascii_case("sentry") {
            return None;
        }
        let (mut id, mut secret) = (String::new(), String::new());
        for (name, value) in pairs.split([',', ' ', '\t']).filter_map(|pair| pair.split_once('=')) {
            let value = decoded(value.trim_matches('"'))?;
            match name.trim() {
                "sentry_key" => id = value,
                "sentry_secret" => secret = value,
                _ => {}
            }
        }
        Self::of(id, secret)
    }

    /// Returns the key in a DSN.
    pub fn in_url(dsn: &str) -> Option<Self> {
        let (_, rest) = dsn.trim().split_once("://")?;
        let (user, _) = rest.split_once('@')?;
        let (id, secret) = user.split_once(':').unwrap_or((user, ""));
        Self::of(decoded(id)?, decoded(secret)?)
    }

    /// Returns the key with these parts; `None` without an id. An empty secret means none.
    fn of(id: String, secret: String) -> Option<Self> {
        let secret = Some(secret).filter(|secret| !secret.is_empty());
        (!id.is_empty()).then_some(Self { id, secret })
    }

    /// Combines two keys if they are the same.
    fn and(self, other: Self) -> Option<Self> {
        let same_secret = match (&self.secret, &other.secret) {
            (Some(one), Some(another)) => one == another,
            _ => true,
        };
        (self.id == other.id && same_secret)
            .then(|| Self { id: self.id, secret: self.secret.or(other.secret) })
    }
}

impl std::fmt::Debug for DsnKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:…", self.id)
    }
}

fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(|text| text.into_owned())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn shown(found: Option<DsnKey>) -> String {
        found.map_or("-".to_owned(), |key| {
            format!("{} {}", key.id, key.secret.as_deref().unwrap_or("-"))
        })
    }

    #[test]
    fn keys_are_found_in_headers_of_every_form() {
        for (header, expected) in [
            ("Sentry sentry_key=a, sentry_version=7, sentry_client=x/1", "a -"),
            ("sentry sentry_version=7,sentry_key=a,sentry_secret=b", "a b"),
            ("SENTRY sentry_version=7 sentry_key=a", "a -"),
            ("Sentry  sentry_key=%61%62, =, other", "ab -"),
            ("Sentry sentry_key=\"a\"", "a -"),
            ("Sentry sentry_key=a, sentry_secret=", "a -"),
            ("Sentry sentry_key=", "-"),
            ("Sentry sentry_key=%ff", "-"),
            ("Sentry", "-"),
            ("Bearer sentry_key=a", "-"),
            ("", "-"),
        ] {
            assert_eq!(shown(DsnKey::in_header(header)), expected, "{header}");
        }
    }

    #[test]
    fn keys_are_found_in_a_dsn() {
        for (dsn, expected) in [
            ("https://a@host/1", "a -"),
            ("https://a:b@host:9000/path/1", "a b"),
            ("http://a:@host/1", "a -"),
            ("https://host/1", "-"),
            ("https://@host/1", "-"),
            ("a@host/1", "-"),
            ("", "-"),
        ] {
            assert_eq!(shown(DsnKey::in_url(dsn)), expected, "{dsn}");
        }
    }

    #[test]
    fn repeated_keys_must_be_the_same() {
        let found = |headers: &[(&'static str, &'static str)], query: &[(&str, &str)]| {
            let headers = headers.iter().map(|(name, value)| {
                (http::HeaderName::from_static(name), HeaderValue::from_static(value))
            });
            let headers: HeaderMap = headers.collect();
            DsnKey::in_head(&headers, query.iter().copied()).map(shown)
        };
        let header = ("x-sentry-auth", "Sentry sentry_key=a");
        assert_eq!(found(&[], &[]), Ok("-".into()));
        assert_eq!(found(&[header], &[]), Ok("a -".into()));
        assert_eq!(found(&[], &[("sentry_key", "a")]), Ok("a -".into()));
        let both = [("sentry_version", "7"), ("sentry_key", "a"), ("sentry_secret", "b")];
        assert_eq!(found(&[header], &both), Ok("a b".into()));
        let empty = [("sentry_key", "a"), ("sentry_secret", "")];
        assert_eq!(found(&[], &empty), Ok("a -".into()));
        assert_eq!(found(&[header], &[("sentry_key", "b")]), Err(ConflictingKeys));
        assert_eq!(
            found(&[header, ("authorization", "Sentry sentry_key=c")], &[]),
            Err(ConflictingKeys)
        );
        assert_eq!(found(&[("authorization", "Bearer tt_a_b")], &[]), Ok("-".into()));
    }
}
