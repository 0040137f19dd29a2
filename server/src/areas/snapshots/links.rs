//! The URLs of images and reviews: signed, so that browsers and mails need no key.

use http::header::HOST;
use http::uri::Authority;
use telltale_engine::TimestampMs;

use crate::app::App;
use crate::http::Request;

/// What URLs begin with, and when they are made.
#[derive(Clone, Debug)]
pub(super) struct Links {
    base: String,
    now: TimestampMs,
    lifetime_ms: i64,
}

impl Links {
    /// Returns the links of a response. They begin with `server.public_url`, or else with the host
    /// that the request was sent to.
    pub(super) fn new(app: &App, request: &Request) -> Self {
        let base = match app.snapshots().public_url() {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => host(request).map(|host| format!("http://{host}")).unwrap_or_default(),
        };
        let lifetime = app.snapshots().settings().image_url_lifetime.duration();
        let lifetime_ms = i64::try_from(lifetime.as_millis()).unwrap_or(i64::MAX);
        Self { base, now: app.now(), lifetime_ms }
    }

    /// Returns the URL of a path of the API.
    pub(super) fn signed(&self, app: &App, path: &str) -> String {
        format!("{}{}", self.base, self.signed_path(app, path))
    }

    /// Returns the URL of a path of the API for a page of the same server.
    pub(super) fn signed_path(&self, app: &App, path: &str) -> String {
        app.url_signer().sign(path, self.now, self.lifetime_ms)
    }
}

/// Returns the host that a request was sent to.
fn host(request: &Request) -> Option<Authority> {
    let host = request.headers().get(HOST)?.to_str().ok()?;
    let authority: Authority = host.parse().ok()?;
    (!authority.as_str().contains('@')).then_some(authority)
}
