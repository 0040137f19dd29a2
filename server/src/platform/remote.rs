//! A server elsewhere, as the command line names it: an address `http://host:port`, also with a path in front of all routes, and a key.

use http::HeaderValue;
use http::uri::{Scheme, Uri};

use super::keys::KeyText;

/// Where plain HTTP is served unless the address says.
const PORT_DEFAULT: u16 = 80;

/// A server that commands reach over the network.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of `Host`.
    pub(super) authority: String,
    /// What is put before every path: nothing, or `/path`.
    pub(super) prefix: String,
    /// The value of `Authorization`, which is never printed.
    pub(super) authorization: HeaderValue,
}

/// What is wrong with the address or the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRemote {
    /// Not an address.
    #[error("--url (or TELLTALE_URL) must be an address such as http://telltale.example.com:8080")]
    Address,
    /// TLS is for a proxy or a tunnel.
    #[error(
        "--url (or TELLTALE_URL) must begin with http://; https is not supported, use a tunnel such as `ssh -L`"
    )]
    Tls,
    /// There is no key, or it has the wrong form.
    #[error("a remote server needs an API key, tt_<id>_<secret>, in TELLTALE_KEY or as --key")]
    Key,
}

impl Remote {
    /// The server at this address, asked with this key.
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
        let key: KeyText = key.unwrap_or("").parse().map_err(|_| InvalidRemote::Key)?;
        let authorization = HeaderValue::try_from(format!("Bearer {}", key.reveal()));
        let mut authorization = authorization.map_err(|_| InvalidRemote::Key)?;
        authorization.set_sensitive(true);
        Ok(Self {
            // An address of IPv6 is in brackets there, and without them where it is connected to.
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
