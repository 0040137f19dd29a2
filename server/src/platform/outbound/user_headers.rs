//! The headers that users add to outbound requests.

use std::collections::{BTreeMap, HashSet};

use http::{HeaderName, HeaderValue};

use crate::limits;
use crate::platform::fields::Invalid;
use crate::platform::redaction::{HIDDEN, Secret};

/// Headers that define the connection or the length of the body, or that the server sets itself.
const RESERVED: [&str; 12] = [
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
/// A header that the user adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserHeader {
    /// The name as sent; HTTP ignores its case.
    name: String,
    value: Secret,
}

impl UserHeader {
    /// Returns the name, as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value.
    pub fn value(&self) -> &Secret {
        &self.value
    }

    /// Returns the header of a request.
    pub fn to_http(&self) -> (HeaderName, HeaderValue) {
        let name = HeaderName::from_bytes(self.name.as_bytes());
        let value = HeaderValue::from_str(self.value.reveal());
        match (name, value) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                (name, value)
            }
            _ => panic!("a validated header is valid"),
        }
    }
}

/// Validates the headers of a request. `is_reserved` returns whether the server sets a header,
/// whose name is in lower case, in addition to those of every request.
pub fn user_headers(
    sent: BTreeMap<String, String>,
    is_reserved: fn(&str) -> bool,
) -> Result<Vec<UserHeader>, Invalid> {
    let max = limits::USER_HEADERS_MAX;
    if sent.len() > max {
        return Err(Invalid::field("headers", format!("must have at most {max} members")));
    }
    let mut seen = HashSet::new();
    let mut headers = Vec::new();
    for (name, value) in sent {
        check_name(&name, is_reserved)?;
        if !seen.insert(name.to_ascii_lowercase()) {
            let expected = "must be unique; upper and lower case are the same";
            return Err(Invalid::field(format!("headers.{name}"), expected));
        }
        check_value(&name, &value)?;
        headers.push(UserHeader { name, value: Secret::new(value) });
    }
    Ok(headers)
}

fn check_name(name: &str, is_reserved: fn(&str) -> bool) -> Result<(), Invalid> {
    let max = limits::USER_HEADER_NAME_CHARS_MAX;
    // The path of the error contains only names that are valid tokens.
    if name.len() > max || HeaderName::from_bytes(name.as_bytes()).is_err() {
        let expected = format!("must have names of 1 to {max} letters, digits and !#$%&'*+-.^_`|~");
        return Err(Invalid::field("headers", expected));
    }
    let lower = name.to_ascii_lowercase();
    if RESERVED.contains(&lower.as_str()) || is_reserved(&lower) {
        let expected = "is set by the server and must not be sent";
        return Err(Invalid::field(format!("headers.{name}"), expected));
    }
    Ok(())
}

fn check_value(name: &str, value: &str) -> Result<(), Invalid> {
    let invalid = |expected: String| Err(Invalid::field(format!("headers.{name}"), expected));
    let max = limits::USER_HEADER_VALUE_CHARS_MAX;
    if value.chars().count() > max {
        return invalid(format!("must have at most {max} characters"));
    }
    if value.contains(HIDDEN) {
        return invalid(format!("must be sent whole, or exactly as it is returned with {HIDDEN}"));
    }
    if !value.bytes().all(|b| matches!(b, b' '..=b'~')) || value.trim() != value {
        return invalid(
            "must consist of visible ASCII characters, and of spaces between them".to_owned(),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_reserved(name: &str) -> bool {
        name == "content-type" || name.starts_with("webhook-")
    }

    fn read(name: &str, value: &str) -> Result<(String, String), String> {
        let sent = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let headers = user_headers(sent, is_reserved).map_err(|invalid| invalid.to_string())?;
        let (name, value) = headers[0].to_http();
        Ok((name.to_string(), value.to_str().unwrap().to_owned()))
    }

    #[test]
    fn names_are_tokens_that_the_server_does_not_set() {
        let longest = "x".repeat(100);
        for name in ["X-Token", "authorization", "!#$%&'*+-.^_`|~09", longest.as_str()] {
            assert_eq!(read(name, "v"), Ok((name.to_ascii_lowercase(), "v".to_owned())));
        }
        let too_long = "x".repeat(101);
        for name in ["", "a b", "a:b", "a\r\nb", "a\0", "é", "(a)", too_long.as_str()] {
            let expected =
                "headers must have names of 1 to 100 letters, digits and !#$%&'*+-.^_`|~";
            assert_eq!(read(name, "v"), Err(expected.to_owned()), "{name:?}");
        }
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "CONNECTION",
            "Content-Type",
            "User-Agent",
            "webhook-id",
            "Webhook-Signature",
            "WEBHOOK-",
        ] {
            let expected = format!("headers.{name} is set by the server and must not be sent");
            assert_eq!(read(name, "v"), Err(expected));
        }
    }

    #[test]
    fn values_cannot_end_the_header() {
        let longest = "v".repeat(2_000);
        for value in ["", "Bearer a.b-c", "\" ~", longest.as_str()] {
            assert_eq!(read("X", value), Ok(("x".to_owned(), value.to_owned())));
        }
        let too_long = "v".repeat(2_001);
        for (value, part) in [
            ("a\r\nHost: b", "visible ASCII"),
            ("a\nb", "visible ASCII"),
            ("a\rb", "visible ASCII"),
            ("a\tb", "visible ASCII"),
            ("a\0b", "visible ASCII"),
            ("a\u{7f}b", "visible ASCII"),
            ("é", "visible ASCII"),
            (" a", "visible ASCII"),
            ("a ", "visible ASCII"),
            ("…cdef", "exactly as it is returned"),
            (too_long.as_str(), "at most 2000 characters"),
        ] {
            let refused = read("X", value).unwrap_err();
            assert!(refused.starts_with("headers.X must ") && refused.contains(part), "{refused}");
        }
    }

    #[test]
    fn headers_are_few_and_unique() {
        let many = |count: usize| (0..count).map(|i| (format!("X-{i}"), String::new())).collect();
        assert_eq!(user_headers(many(20), is_reserved).unwrap().len(), 20);
        let refused = user_headers(many(21), is_reserved).unwrap_err().to_string();
        assert_eq!(refused, "headers must have at most 20 members");
        let twice = ["X-A", "x-a"].map(|name| (name.to_owned(), String::new()));
        let refused = user_headers(twice.into(), is_reserved).unwrap_err();
        assert_eq!(refused.field, "headers.x-a");
    }

    #[test]
    fn values_are_hidden_from_logs() {
        let sent = BTreeMap::from([("X".to_owned(), "0123456789abcdef".to_owned())]);
        let headers = user_headers(sent, is_reserved).unwrap();
        let shown = format!("{headers:?} {:?}", headers[0].to_http());
        assert!(shown.contains("…cdef") && !shown.contains("0123"), "{shown}");
    }
}
