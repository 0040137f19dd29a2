//! Which site a request is for, as its host says: the API, or a public site that is served under a
//! host name of its own.
//!
//! A public site has a path below which all of its routes are. Under its own host name a path is
//! taken as one below that path, so that nothing else can be reached there, and no other site. Only
//! if the name may be one of the server itself, what is no route of the site is one of the server.

use std::borrow::Cow;

use http::HeaderValue;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

use super::error::{ApiError, ApiResult, ErrorCode};
use super::router::Router;
use crate::app::App;

/// What a host name serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostedSite {
    /// Everything: the host is one of the server itself, or unknown.
    Server,
    /// The routes below this path, which begins with a slash and does not end with one.
    Below(String),
    /// The routes below this path. The host may be one of the server too, so paths that are no
    /// route there are those of the server.
    BelowOrServer(String),
    /// Nothing: the name is one for public sites, and there is none.
    Nothing,
}

/// The path that a request is routed by.
#[derive(Debug)]
pub(super) struct RoutedPath<'p> {
    pub(super) path: Cow<'p, str>,
    /// Whether the host of the request is that of a public site.
    pub(super) is_of_hosted_site: bool,
}

/// Returns the path that a request is routed by. Fails with `not_found` if its host serves nothing.
pub(super) fn routed_path<'p>(
    app: Option<&App>,
    router: &Router,
    parts: &'p Parts,
) -> ApiResult<RoutedPath<'p>> {
    let path = parts.uri.path();
    let of_server = RoutedPath { path: path.into(), is_of_hosted_site: false };
    let Some(app) = app.filter(|app| app.may_have_hosted_sites()) else { return Ok(of_server) };
    let Some(host) = host_of(parts)? else { return Ok(of_server) };
    let below = |prefix: &str| prefix.to_owned() + if path == "/" { "" } else { path };
    let path = match app.hosted_site(&host) {
        HostedSite::Server => return Ok(of_server),
        HostedSite::Below(prefix) => below(&prefix),
        HostedSite::BelowOrServer(prefix) => {
            let below = below(&prefix);
            if !router.has_path(&below) && !is_of_other_site(path, &prefix) {
                return Ok(of_server);
            }
            below
        }
        HostedSite::Nothing => {
            let message = "there is nothing under this host name";
            return Err(ApiError::new(ErrorCode::NotFound, message));
        }
    };
    Ok(RoutedPath { path: path.into(), is_of_hosted_site: true })
}

/// Returns whether a path of the server is that of a public site, all of which are beside the one
/// with this prefix. Sites never mix.
fn is_of_other_site(path: &str, prefix: &str) -> bool {
    let folder = prefix.rsplit_once('/').map_or(prefix, |(folder, _)| folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Makes the host that a request is sent to that of the `Host` header, for all that read it: it is
/// that of the URL if there is one, as in HTTP/2 (RFC 9112, section 3.2.2; RFC 9113, section
/// 8.3.1). A request with several headers stays ambiguous.
pub(super) fn adopt_authority(parts: &mut Parts) {
    let Some(authority) = parts.uri.authority() else { return };
    if parts.headers.get_all(HOST).iter().count() < 2
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        parts.headers.insert(HOST, host);
    }
}

/// Returns the name of the host that a request is sent to, in lower case and without the port.
/// Fails if it is ambiguous (RFC 9112, section 3.2): a proxy may have understood another one.
fn host_of(parts: &Parts) -> ApiResult<Option<String>> {
    let mut headers = parts.headers.get_all(HOST).iter();
    let header = headers.next();
    if headers.next().is_some() {
        return Err(invalid_host());
    }
    let text = match (parts.uri.authority(), header) {
        (Some(authority), _) => authority.as_str(),
        (None, Some(header)) if !header.is_empty() => {
            header.to_str().map_err(|_| invalid_host())?
        }
        (None, _) => return Ok(None),
    };
    let authority = text.parse::<Authority>().map_err(|_| invalid_host())?;
    let host = authority.host();
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    // What is before the host names a user.
    match text.strip_prefix(host) {
        Some(rest) if rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port) => {
            Ok(Some(host.trim_end_matches('.').to_ascii_lowercase()))
        }
        _ => Err(invalid_host()),
    }
}

fn invalid_host() -> ApiError {
    ApiError::new(ErrorCode::InvalidParameter, "the Host header must name one host")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_the_name_without_port_and_case() {
        let host = |uri: &str, header: Option<&str>| {
            let mut request = http::Request::builder().uri(uri);
            if let Some(header) = header {
                request = request.header(HOST, header);
            }
            host_of(&request.body(()).unwrap().into_parts().0).map_err(|error| error.code())
        };
        for (header, expected) in [
            ("status.Example.com", "status.example.com"),
            ("status.example.com:8080", "status.example.com"),
            ("status.example.com.", "status.example.com"),
            ("[::1]:80", "[::1]"),
            ("status.example.com:", "status.example.com"),
        ] {
            assert_eq!(host("/", Some(header)), Ok(Some(expected.to_owned())), "{header}");
        }
        for nothing in [None, Some("")] {
            assert_eq!(host("/", nothing), Ok(None));
        }
        let absolute = host("http://one.example/x", Some("other.example"));
        assert_eq!(absolute, Ok(Some("one.example".to_owned())), "the target comes first");
        for invalid in ["user@status.example.com", "a:b", "a:80:80", "a b", "\u{fc}.example"] {
            assert_eq!(host("/", Some(invalid)), Err(ErrorCode::InvalidParameter), "{invalid}");
        }
        let two = http::Request::builder().header(HOST, "a").header(HOST, "b").body(()).unwrap();
        assert!(host_of(&two.into_parts().0).is_err());
    }

    #[test]
    fn the_host_header_is_the_authority_of_the_url() {
        let hosts = |uri: &str, headers: &[&str]| {
            let request = http::Request::builder().uri(uri);
            let request = headers.iter().fold(request, |request, host| request.header(HOST, *host));
            let mut parts = request.body(()).unwrap().into_parts().0;
            adopt_authority(&mut parts);
            let hosts = parts.headers.get_all(HOST).iter();
            hosts.map(|host| host.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(hosts("http://a.example:8080/x", &[]), ["a.example:8080"], "as in HTTP/2");
        assert_eq!(hosts("http://a.example/x", &["b.example"]), ["a.example"]);
        assert_eq!(hosts("/x", &["b.example"]), ["b.example"]);
        assert_eq!(hosts("http://a.example/x", &["b", "c"]), ["b", "c"], "still ambiguous");
    }
}
