//! The routes of the pages: the shell, and the files that it loads.

use std::sync::Arc;

use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ETAG, HeaderName,
    REFERRER_POLICY, VARY, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue};

use super::assets::{Asset, Catalog, catalog};
use crate::http::{
    ApiError, ApiResult, Doc, EarlyRequest, ErrorCode, HandlerFuture, Resource, Response, Route,
    Server, etag_of_immutable,
};

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// A build whose files this server does not have: a page that was opened before an upgrade.
const BUILD: Resource = Resource::new("console_build_not_found", "build of the console");

/// The policy of files: they load nothing when they are opened alone.
const FILE_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// The routes of the pages.
pub static ROUTES: &[Route] = &[
    Route::early("/console", shell).public().any_query().doc(SHELL),
    Route::early("/console/{*page}", shell).public().any_query().doc(PAGE),
    Route::early("/console/-/{build}/{*file}", file).public().any_query().doc(FILE),
];

fn shell(_: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    Box::pin(std::future::ready(shell_of(&catalog())))
}

fn file(_: Arc<Server>, request: EarlyRequest) -> HandlerFuture {
    Box::pin(std::future::ready(file_of(&catalog(), &request)))
}

fn shell_of(catalog: &Catalog) -> ApiResult<Response> {
    let policy = format!(
        "default-src 'none'; script-src 'self' 'sha256-{}'; style-src 'self'; connect-src 'self'; \
         img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        catalog.import_map()
    );
    let policy = HeaderValue::try_from(policy).map_err(ApiError::internal)?;
    Ok(response(catalog.shell())
        .header(CONTENT_SECURITY_POLICY, policy)
        .header(CACHE_CONTROL, HeaderValue::from_static("no-cache")))
}

fn file_of(catalog: &Catalog, request: &EarlyRequest) -> ApiResult<Response> {
    let (build, path) = (request.param("build"), request.param("file"));
    let no_store = HeaderValue::from_static("no-store");
    if build != catalog.build() {
        let message = "the console was replaced by another build: reload the page";
        let error = ApiError::new(ErrorCode::Missing(&BUILD), message);
        return Err(error.header(CACHE_CONTROL, no_store));
    }
    let asset = catalog.file(path).ok_or_else(|| {
        let message = "the console has no such file";
        ApiError::new(ErrorCode::NotFound, message).header(CACHE_CONTROL, no_store)
    })?;
    let response = match &asset.brotli {
        Some(brotli) if accepts_brotli(request.headers()) => {
            // Another tag than that of the plain bytes: caches must not confuse them.
            let tag = format!("{}-br", asset.digest);
            with_headers(Response::bytes(asset.media, brotli.clone()).of_static_bytes(), &tag)
                .header(CONTENT_ENCODING, HeaderValue::from_static("br"))
                .header(VARY, HeaderValue::from_static("accept-encoding"))
        }
        _ => response(asset),
    };
    Ok(response
        .header(CONTENT_SECURITY_POLICY, HeaderValue::from_static(FILE_POLICY))
        .header(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")))
}

/// Returns whether a client says that it accepts Brotli. Browsers do where nobody in between can
/// read along, and on their own machine.
fn accepts_brotli(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|item| {
        let (name, weight) = item.split_once(';').unwrap_or((item, "q=1"));
        let weight = weight.trim().trim_start_matches("q=").parse::<f32>();
        name.trim().eq_ignore_ascii_case("br") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// Returns the response with a file, for the server to compress.
fn response(asset: &Asset) -> Response {
    let response = Response::bytes(asset.media, asset.bytes.clone());
    // What is compressed is kept as long as the process lives.
    let is_static = asset.brotli.is_some();
    with_headers(if is_static { response.of_static_bytes() } else { response }, &asset.digest)
}

/// A page of another site may neither frame nor load a file, and learns from no link where it came
/// from.
fn with_headers(response: Response, tag: &str) -> Response {
    response
        .header(ETAG, etag_of_immutable(tag))
        .header(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
        .header(REFERRER_POLICY, HeaderValue::from_static("same-origin"))
        .header(OPENER_POLICY, HeaderValue::from_static("same-origin"))
        .header(RESOURCE_POLICY, HeaderValue::from_static("same-origin"))
}

const TAG: &str = "Console";

const SHELL: Doc = Doc::new(TAG, "Show the console").media("text/html").ext();

const PAGE: Doc = Doc::new(TAG, "Show a page of the console")
    .about("The same document for every page; its script reads the path.")
    .media("text/html")
    .ext();

const FILE: Doc = Doc::new(TAG, "Get a file of the console")
    .about("Never changes. A file of another build than that of the server is refused with `console_build_not_found`.")
    .media("application/octet-stream")
    .errors(&[ErrorCode::Missing(&BUILD), ErrorCode::NotFound])
    .ext();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brotli_is_sent_to_those_who_accept_it() {
        for (accepted, expected) in [
            ("gzip, deflate, br, zstd", true),
            ("br", true),
            ("BR;q=0.5", true),
            ("gzip;q=1.0, br;q=0", false),
            ("br;q=0.000", false),
            ("br;q=x", false),
            ("gzip, brotli", false),
            ("*", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, accepted.parse().unwrap());
            assert_eq!(accepts_brotli(&headers), expected, "{accepted}");
        }
        assert!(!accepts_brotli(&HeaderMap::new()));
    }
}
