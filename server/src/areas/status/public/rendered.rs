//! A rendered page in all its forms.

use std::collections::HashMap;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderName, VARY};

use super::cache::gzip;
use crate::http::{Request, Response, etag_of_response};

/// How long others may keep a response.
const CACHED: HeaderValue = HeaderValue::from_static("public, max-age=10");

/// A page in all its forms.
#[derive(Debug)]
pub(super) struct RenderedPage {
    pub(super) html: Rendered,
    pub(super) document: Rendered,
    pub(super) feed: Rendered,
    pub(super) badge: Rendered,
    pub(super) icon: Rendered,
    /// By the id of the monitor.
    pub(super) component_badges: HashMap<String, Rendered>,
}

/// A page in one form.
#[derive(Debug)]
pub(super) struct Rendered {
    media: &'static str,
    plain: Bytes,
    gzip: Bytes,
    etag: HeaderValue,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl RenderedPage {
    /// Returns how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let all = [&self.html, &self.document, &self.feed, &self.badge, &self.icon];
        let all = all.into_iter().chain(self.component_badges.values());
        all.map(|one| one.plain.len() + one.gzip.len() + size_of::<Rendered>()).sum()
    }
}

impl Rendered {
    /// Compresses a form of a page.
    pub(super) fn new(
        media: &'static str,
        text: String,
        headers: Vec<(HeaderName, HeaderValue)>,
    ) -> std::io::Result<Self> {
        let plain = Bytes::from(text);
        let gzip = gzip(&plain)?;
        let etag = etag_of_response(0, &plain);
        Ok(Self { media, plain, gzip, etag, headers })
    }

    /// Returns the number of bytes before compression.
    pub(super) fn plain_bytes(&self) -> usize {
        self.plain.len()
    }

    /// Returns the response to a request: compressed if the client accepts that.
    pub(super) fn response(&self, req: &Request) -> Response {
        let accepted = req.headers().get_all(ACCEPT_ENCODING).iter();
        let accepts = accepted.filter_map(|value| value.to_str().ok()).any(accepts_gzip);
        let bytes = if accepts { &self.gzip } else { &self.plain };
        let mut response = Response::bytes(self.media, bytes.clone())
            .of_kept_bytes()
            .header(CACHE_CONTROL, CACHED)
            .header(ETAG, self.etag.clone())
            .header(VARY, HeaderValue::from_static("accept-encoding"));
        if accepts {
            response = response.header(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        for (name, value) in &self.headers {
            response = response.header(name.clone(), value.clone());
        }
        response
    }
}

/// Returns whether `Accept-Encoding` contains gzip and does not refuse it (RFC 9110, section
/// 12.5.3).
fn accepts_gzip(value: &str) -> bool {
    value.split(',').any(|part| {
        let mut words = part.split(';').map(str::trim);
        let is_gzip = words.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let is_refused = words.any(|word| {
            let quality = word.strip_prefix("q=").or_else(|| word.strip_prefix("Q="));
            quality.is_some_and(|q| q.trim().parse::<f32>().is_ok_and(|q| q <= 0.0))
        });
        is_gzip && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    impl RenderedPage {
        /// Returns a page of roughly this size.
        pub(in super::super) fn of_size(bytes: usize) -> Self {
            let form = |text: String| Rendered {
                media: "text/plain",
                plain: Bytes::from(text),
                gzip: Bytes::new(),
                etag: HeaderValue::from_static("a"),
                headers: Vec::new(),
            };
            let small = || form(String::new());
            Self {
                html: form("x".repeat(bytes)),
                document: small(),
                feed: small(),
                badge: small(),
                icon: small(),
                component_badges: HashMap::new(),
            }
        }
    }

    impl Rendered {
        /// Returns the text before compression.
        pub(in super::super) fn plain_text(&self) -> String {
            String::from_utf8(self.plain.to_vec()).unwrap()
        }
    }

    #[test]
    fn gzip_is_used_only_if_it_is_accepted() {
        for value in ["gzip", "br, GZIP;q=0.5", "deflate, gzip"] {
            assert!(accepts_gzip(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "gzip; q=0.000", "x-gzip", "*"] {
            assert!(!accepts_gzip(value), "{value}");
        }
    }
}
