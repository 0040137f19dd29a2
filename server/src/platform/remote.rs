//! The address and key of a remote server, as given on the command line: `http://host:port`,
//! optionally with a path in front of all routes.

use http::HeaderValue;
use http::uri::{Scheme, Uri};

use super::keys::KeyString;

/// The port of addresses that name none.
const PORT_DEFAULT: u16 = 80;

/// A server that commands reach over the network.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of `Host`.
    pub(super) authority: String,
    /// The prefix of every path: empty, or `/path`.
    pub(super) prefix: String,
    /// The value of `Authorization`. Marked as sensitive, so that it is never printed.
    pub(super) authorization: HeaderValue,
}

/// Why the address or the key is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRemote {
    /// Not an address.
    #[error("--url (or TELLTALE_URL) must be an address such as http://telltale.example.com:8080")]
    Address,
    /// TLS is not supported; a proxy or a tunnel provides it.
    #[error(
        "--url (or TELLTALE_URL) must begin with http://; https is not supported, use a tunnel such as `ssh -L`"
    )]
    Tls,
    /// The key is missing or malformed.
    #[error("a remote server needs an API key, tt_<id>_<secret>, in TELLTALE_KEY or as --key")]
    Key,
}

impl Remote {
    /// Returns the URL of the server, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority, self.prefix)
    }

    /// Returns the server at this address, accessed with this key.
    pub fn new(url: &str, key: Option<&str>) -> Result<Self, InvalidRemote> {
        let uri: Uri = url.parse().map_err(|_| InvalidRemote::Address)?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        let authority = authority.ok_or(InvalidRemote::Address)?;
        if uri.scheme() == Some(&Scheme::HTTPS) {
            return Err(InvalidRemote::Tls);
        }
        if uri.scheme() != Some(&Scheme::HTTP) || uri.query().is_some() {
            return Err(InvalidRemote::Address);
        }
        let key: KeyString = key.unwrap_or("").parse().map_err(|_| InvalidRemote::Key)?;
        let authorization = HeaderValue::try_from(format!("Bearer {}", key.reveal()));
        let mut authorization = authorization.map_err(|_| InvalidRemote::Key)?;
        authorization.set_sensitive(true);
        Ok(Self {
            // An IPv6 address has brackets in a URL, but not when connecting.
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(PORT_DEFAULT),
            authority: authority.as_str().to_owned(),
            prefix: uri.path().trim_end_matches('/').to_owned(),
            authorization,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "tt_admin123_0123456789abcdefghijABCDEFGHIJ0123456789xyz";

    #[test]
    fn addresses_have_a_host_a_port_and_perhaps_a_path() {
        for (url, host, port, prefix) in [
            ("http://a.example.com", "a.example.com", 80, ""),
            ("http://a.example.com:8080/", "a.example.com", 8080, ""),
            ("http://127.0.0.1:8080/watch/", "127.0.0.1", 8080, "/watch"),
            ("http://[::1]:8080", "::1", 8080, ""),
        ] {
            let remote = Remote::new(url, Some(KEY)).unwrap();
            let found = (remote.host.as_str(), remote.port, remote.prefix.as_str());
            assert_eq!(found, (host, port, prefix), "{url}");
            assert!(!format!("{remote:?}").contains("0123456789"), "a key is not printed");
        }
        for (url, key, expected) in [
            ("", Some(KEY), InvalidRemote::Address),
            ("a.example.com:8080", Some(KEY), InvalidRemote::Address),
            ("/path", Some(KEY), InvalidRemote::Address),
            ("ftp://a.example.com", Some(KEY), InvalidRemote::Address),
            ("http://user:secret@a.example.com", Some(KEY), InvalidRemote::Address),
            ("http://a.example.com/?x=1", Some(KEY), InvalidRemote::Address),
            ("https://a.example.com", Some(KEY), InvalidRemote::Tls),
            ("http://a.example.com", None, InvalidRemote::Key),
            ("http://a.example.com", Some("secret"), InvalidRemote::Key),
        ] {
            assert_eq!(Remote::new(url, key).err(), Some(expected), "{url}");
        }
    }
}
