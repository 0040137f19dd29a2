//! Which page of which site had a browser send a request.
//!
//! A browser sends cookies whoever caused the request, so a cookie counts only if a page of this
//! server caused it: as `Sec-Fetch-Site` says, which pages cannot set, or, where browsers do not
//! send that (plain HTTP on other hosts than localhost), as `Origin` says.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName};

use super::error::{ApiError, ApiResult, ErrorCode};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a header of a request says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said<'h> {
    Nothing,
    Once(&'h str),
    /// Several values, or one that is no text.
    Unclear,
}

fn said(headers: &HeaderMap, name: HeaderName) -> Said<'_> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Said::Nothing,
        (Some(value), None) => value.to_str().map_or(Said::Unclear, Said::Once),
        (Some(_), Some(_)) => Said::Unclear,
    }
}

/// Returns whether a cookie counts on a request that only reads: its answer can be read by pages of
/// the same origin only, and the user may have typed its address.
pub fn is_read_of_same_origin(headers: &HeaderMap) -> bool {
    match said(headers, FETCH_SITE) {
        Said::Nothing => true,
        Said::Once(site) => matches!(site, "same-origin" | "none"),
        Said::Unclear => false,
    }
}

/// Returns whether a cookie counts on a request that may change something. `public_origin` is the
/// origin of the URL under which users reach the server, which a reverse proxy may hide from it.
pub fn is_change_of_same_origin(headers: &HeaderMap, public_origin: Option<&str>) -> bool {
    match said(headers, FETCH_SITE) {
        Said::Once(site) => site == "same-origin",
        Said::Unclear => false,
        Said::Nothing => match (said(headers, ORIGIN), said(headers, HOST)) {
            (Said::Once(origin), host) => is_own_origin(origin, host, public_origin),
            (Said::Nothing | Said::Unclear, _) => false,
        },
    }
}

fn is_own_origin(origin: &str, host: Said<'_>, public_origin: Option<&str>) -> bool {
    if public_origin.is_some_and(|own| own.eq_ignore_ascii_case(origin)) {
        return true;
    }
    // Users reach the server by https alone if its URL says so: whoever controls plain HTTP in
    // between has no say.
    let is_https = public_origin.is_some_and(|own| own.starts_with("https://"));
    let plain = origin.strip_prefix("http://").filter(|_| !is_https);
    let authority = plain.or_else(|| origin.strip_prefix("https://"));
    match (authority, host) {
        (Some(authority), Said::Once(host)) => {
            !authority.is_empty() && authority.eq_ignore_ascii_case(host)
        }
        _ => false,
    }
}

/// Fails if a page of another site had a browser send a request that signs in. Programs send
/// neither of the headers.
pub fn check_sign_in_origin(headers: &HeaderMap, public_origin: Option<&str>) -> ApiResult<()> {
    let is_program =
        said(headers, FETCH_SITE) == Said::Nothing && said(headers, ORIGIN) == Said::Nothing;
    if is_program || is_change_of_same_origin(headers, public_origin) {
        return Ok(());
    }
    Err(foreign_page())
}

/// Returns the error of a request that a page of another site caused.
pub(super) fn foreign_page() -> ApiError {
    let message = "the request was not sent by a page of this server: a session counts only with \
                   Sec-Fetch-Site: same-origin, or with the Origin of this server (behind a proxy, set server.public_url)";
    ApiError::new(ErrorCode::Forbidden, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_cookie_counts_only_for_requests_of_own_pages() {
        const SITE: &str = "sec-fetch-site";
        // The headers; whether a cookie counts on a read and on a change, and whether they may sign
        // in.
        for (pairs, read, change, sign_in) in [
            (vec![], true, false, true),
            (vec![(SITE, "same-origin")], true, true, true),
            (vec![(SITE, "none")], true, false, false),
            (vec![(SITE, "same-site")], false, false, false),
            (vec![(SITE, "cross-site")], false, false, false),
            (vec![(SITE, "")], false, false, false),
            (vec![(SITE, "same-origin"), (SITE, "cross-site")], false, false, false),
            (vec![("origin", "https://h:1"), ("host", "h:1")], true, true, true),
            (vec![("origin", "https://H:1"), ("host", "h:1")], true, true, true),
            (vec![("origin", "http://h:1"), ("host", "h:1")], true, false, false),
            (vec![("origin", "http://h:2"), ("host", "h:1")], true, false, false),
            (vec![("origin", "http://h:1.evil"), ("host", "h:1")], true, false, false),
            (vec![("origin", "null"), ("host", "null")], true, false, false),
            (vec![("origin", "http://"), ("host", "")], true, false, false),
            (vec![("origin", "ftp://h:1"), ("host", "h:1")], true, false, false),
            (vec![("origin", "http://h:1")], true, false, false),
            (vec![("origin", "http://h"), ("host", "h"), ("host", "i")], true, false, false),
            (
                vec![("origin", "http://h"), ("origin", "http://h"), ("host", "h")],
                true,
                false,
                false,
            ),
            (
                vec![(SITE, "cross-site"), ("origin", "http://h"), ("host", "h")],
                false,
                false,
                false,
            ),
            (vec![("origin", "https://public.example"), ("host", "h")], true, true, true),
        ] {
            let headers = headers(&pairs);
            let public = Some("https://public.example");
            assert_eq!(is_read_of_same_origin(&headers), read, "{pairs:?}");
            assert_eq!(is_change_of_same_origin(&headers, public), change, "{pairs:?}");
            assert_eq!(check_sign_in_origin(&headers, public).is_ok(), sign_in, "{pairs:?}");
        }
    }
}
