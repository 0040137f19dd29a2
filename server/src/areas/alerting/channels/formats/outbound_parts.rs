//! A request to a receiver, before its address is resolved and checked.

use std::fmt;

use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method};
use serde_json::Value;

/// A request to a receiver. Contains secrets in any part, so its debug form is only its size.
#[derive(Clone, PartialEq)]
pub struct OutboundParts {
    pub method: Method,
    pub url: String,
    /// Headers besides those that describe the connection and the length of the body.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Vec<u8>,
}

impl OutboundParts {
    /// Returns a POST of a JSON body.
    pub(super) fn post(url: String, body: &Value) -> Self {
        Self::post_bytes(url, body.to_string().into_bytes())
    }

    /// Returns a POST of a JSON body that is already encoded.
    pub(super) fn post_bytes(url: String, body: Vec<u8>) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        Self { method: Method::POST, url, headers, body }
    }

    /// Adds a header whose value is secret.
    pub(super) fn with_secret_header(mut self, name: HeaderName, value: &str) -> Self {
        match HeaderValue::from_str(value) {
            Ok(mut value) => {
                value.set_sensitive(true);
                self.headers.push((name, value));
            }
            Err(error) => panic!("a validated key is valid in a header: {error}"),
        }
        self
    }
}

impl fmt::Debug for OutboundParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboundParts")
            .field("method", &self.method)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl OutboundParts {
    /// Returns the body as JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Returns the value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.to_str().unwrap())
    }
}
