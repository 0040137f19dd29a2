//! Document revisions as entity tags, and the conditional request headers that use them.
//!
//! A document's tag is its revision in quotes. It is strong, because a revision identifies one
//! value. Since compression changes the bytes, a proxy may weaken the tag; `If-Match` uses strong
//! comparison all the same, `If-None-Match` weak comparison (RFC 9110, section 8.8.3.2).
//!
//! The tag of a response that contains more than the document, such as computed values, consists of
//! the revision and a hash of the body: `"7.0123456789abcdef"`. `If-None-Match` compares all of it,
//! `If-Match` only the revision.

use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method};
use xxhash_rust::xxh3::xxh3_64;

use super::error::{ApiError, ApiResult, ErrorCode};

/// Returns the entity tag of a revision: `"7"`.
pub fn etag_of(revision: u64) -> HeaderValue {
    quoted(&revision.to_string())
}

/// Returns the entity tag of a response that contains more than the document:
/// `"7.0123456789abcdef"`.
pub fn etag_of_response(revision: u64, body: &[u8]) -> HeaderValue {
    quoted(&format!("{revision}.{:016x}", xxh3_64(body)))
}

/// Returns the entity tag of contents that never change, by their digest.
pub fn etag_of_immutable(digest: &str) -> HeaderValue {
    quoted(digest)
}

/// Returns an entity tag of digits, letters and dots.
fn quoted(tag: &str) -> HeaderValue {
    match HeaderValue::try_from(format!("\"{tag}\"")) {
        Ok(value) => value,
        Err(error) => panic!("{tag:?} is no header value: {error}"),
    }
}

/// Fails if `If-Match` is given and contains neither the revision nor `*`.
pub(super) fn check_if_match(headers: &HeaderMap, revision: u64) -> ApiResult<()> {
    if !headers.contains_key(IF_MATCH) {
        return Ok(());
    }
    let wanted = revision.to_string();
    if tags(headers, IF_MATCH).any(|tag| tag == "*" || revision_in(tag) == Some(&wanted)) {
        return Ok(());
    }
    Err(precondition_failed())
}

/// Returns the error of a failed `If-Match`.
pub fn precondition_failed() -> ApiError {
    let message = "the resource has changed: If-Match does not name its current ETag";
    ApiError::new(ErrorCode::PreconditionFailed, message)
}

/// Returns the tags in `If-None-Match` of a `GET` or `HEAD`.
pub(super) fn known_tags(method: &Method, headers: &HeaderMap) -> Vec<String> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Vec::new();
    }
    tags(headers, IF_NONE_MATCH).map(|tag| opaque(tag).to_owned()).collect()
}

/// Returns whether the client has the response with this tag, so that 304 suffices.
pub(super) fn is_known(known: &[String], etag: Option<&HeaderValue>) -> bool {
    let Some(etag) = etag.and_then(|value| value.to_str().ok()) else { return false };
    known.iter().any(|tag| tag == "*" || tag == opaque(etag))
}

/// Returns the revision in a strong tag of a document or a response.
fn revision_in(tag: &str) -> Option<&str> {
    let inner = tag.strip_prefix('"')?.strip_suffix('"')?;
    match inner.split_once('.') {
        None => Some(inner),
        Some((revision, hash)) => {
            let is_hash = hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit());
            is_hash.then_some(revision)
        }
    }
}

/// Returns the tag without its weakness prefix.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// Returns the tags of a list. The service's tags contain no commas.
fn tags(headers: &HeaderMap, name: http::HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_compares_strongly() {
        for (given, fits) in [
            (None, true),
            (Some("\"7\""), true),
            (Some("*"), true),
            (Some("\"6\", \"7\""), true),
            (Some("\"6\""), false),
            (Some("W/\"7\""), false),
            (Some("7"), false),
            (Some("\"7.0123456789abcdef\""), true),
            (Some("\"6.0123456789abcdef\""), false),
            (Some("W/\"7.0123456789abcdef\""), false),
            (Some("\"7.\""), false),
            (Some("\"7.0123456789abcdeg\""), false),
            (Some("\"7.7\""), false),
            (Some(""), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(given) = given {
                headers.insert(IF_MATCH, HeaderValue::from_static(given));
            }
            let outcome = check_if_match(&headers, 7).map_err(|error| error.code());
            assert_eq!(outcome.is_ok(), fits, "{given:?}");
            assert!(outcome.is_ok() || outcome == Err(ErrorCode::PreconditionFailed));
        }
    }

    #[test]
    fn responses_of_one_revision_with_different_bytes_have_different_tags() {
        let (one, other) = (etag_of_response(7, b"1"), etag_of_response(7, b"2"));
        assert_ne!(one, other);
        for tag in [one, other] {
            assert!(is_known(&[tag.to_str().unwrap().to_owned()], Some(&tag)));
            assert!(!is_known(&["\"7\"".to_owned()], Some(&tag)));
            let headers = HeaderMap::from_iter([(IF_MATCH, tag)]);
            check_if_match(&headers, 7).unwrap();
            check_if_match(&headers, 8).unwrap_err();
        }
    }

    #[test]
    fn if_none_match_compares_weakly_and_only_when_reading() {
        let known = |method: &Method, given: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(given));
            is_known(&known_tags(method, &headers), Some(&etag_of(7)))
        };
        for given in ["\"7\"", "W/\"7\"", "\"1\", W/\"7\"", "*"] {
            assert!(known(&Method::GET, given), "{given}");
            assert!(known(&Method::HEAD, given), "{given}");
            assert!(!known(&Method::POST, given), "{given}");
        }
        assert!(!known(&Method::GET, "\"8\""));
    }
}
