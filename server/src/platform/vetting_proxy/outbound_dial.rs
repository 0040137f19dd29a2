//! The way to the network: the rule for addresses is that of all outbound requests.

use std::io;

use super::dial::{Dial, DialError, DialFuture};
use crate::platform::outbound::{OutboundDialler, OutboundError, OutboundHost, OutboundHostError};

/// The users of proxies are limited by themselves, and a page sends many requests at once: they do
/// not wait for the slots of other outbound requests.
impl Dial for OutboundDialler {
    fn dial<'a>(&'a self, host: &'a str, port: u16) -> DialFuture<'a> {
        Box::pin(async move {
            let parsed = OutboundHost::parse(host, self.policy()).map_err(unparsed)?;
            if port == 0 {
                return Err(DialError::Refused("port 0 cannot be connected to".to_owned()));
            }
            self.connect(&parsed, port).await.map_err(unconnected)
        })
    }
}

fn unparsed(error: OutboundHostError) -> DialError {
    match error {
        OutboundHostError::Special(special) => DialError::Refused(special.to_string()),
        OutboundHostError::Syntax => {
            io::Error::new(io::ErrorKind::InvalidInput, format!("the host {error}")).into()
        }
    }
}

fn unconnected(error: OutboundError) -> DialError {
    match &error {
        OutboundError::Special { .. } => DialError::Refused(error.to_string()),
        OutboundError::Resolve { source, .. } | OutboundError::Connect { source, .. } => {
            io::Error::new(source.kind(), format!("{error}: {source}")).into()
        }
        _ => io::Error::other(error).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr};
    use std::time::Duration;

    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;

    use super::*;
    use crate::platform::outbound::{Cidr, OutboundPolicy, OutboundSettings};

    /// Names that only the dialler of the tests knows.
    const NAMES: [(&str, &[&str]); 4] = [
        ("loopback.example", &["127.0.0.1"]),
        ("lucky.example", &["1.1.1.1", "127.0.0.1"]),
        ("mapped.example", &["::ffff:127.0.0.1"]),
        ("metadata.example", &["169.254.169.254"]),
    ];
    const SPECIAL: [&str; 7] = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "::1",
        "::ffff:127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
    ];

    fn dialler(allow: &[&str]) -> OutboundDialler {
        let allow = allow.iter().map(|text| Cidr::parse(text).unwrap()).collect();
        OutboundDialler::new(OutboundPolicy::new(&OutboundSettings { allow }))
    }

    /// Returns a dialler for a host, which knows the addresses of the names above.
    fn dialler_for(host: &str, allow: &[&str]) -> OutboundDialler {
        match NAMES.iter().find(|(name, _)| *name == host) {
            None => dialler(allow),
            Some((name, addresses)) => {
                let parsed: Vec<IpAddr> = addresses.iter().map(|a| a.parse().unwrap()).collect();
                dialler(allow).knowing(name, &parsed)
            }
        }
    }

    async fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[tokio::test]
    async fn pages_reach_no_special_addresses_by_default() {
        let (listener, address) = listener().await;
        let names = NAMES.iter().map(|(name, _)| *name);
        for host in SPECIAL.into_iter().chain(names).chain(["localhost", "LOCALHOST."]) {
            let dialled = dialler_for(host, &[]).dial(host, address.port()).await;
            let Err(DialError::Refused(reason)) = dialled else { panic!("{host}: {dialled:?}") };
            assert!(reason.contains("an operator can allow it with outbound.allow"), "{reason}");
        }
        let accepted = timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(accepted.is_err(), "nothing was dialled");
    }

    #[tokio::test]
    async fn pages_reach_the_addresses_that_the_operator_allows() {
        let (listener, address) = listener().await;
        let allow = ["127.0.0.0/8", "::1/128"];
        for host in ["127.0.0.1", "127.1", "localhost", "loopback.example"] {
            let stream: TcpStream =
                dialler_for(host, &allow).dial(host, address.port()).await.unwrap();
            let (_, peer) = listener.accept().await.unwrap();
            assert_eq!(
                (stream.peer_addr().unwrap(), stream.local_addr().unwrap()),
                (address, peer)
            );
        }
        // Whether these can be reached depends on the machine.
        for (host, allow) in [
            ("::1", "::1/128"),
            ("::ffff:127.0.0.1", "127.0.0.0/8"),
            ("mapped.example", "127.0.0.0/8"),
            ("169.254.169.254", "169.254.169.254"),
            ("metadata.example", "169.254.169.254"),
        ] {
            let dialler = dialler_for(host, &[allow]);
            let dialled = timeout(Duration::from_millis(50), dialler.dial(host, 9)).await;
            assert!(!matches!(dialled, Ok(Err(DialError::Refused(_)))), "{host}: {dialled:?}");
        }
        for (host, allow) in [("169.254.169.254", "169.254.0.0/16"), ("lucky.example", "1.0.0.0/8")]
        {
            let dialled = dialler_for(host, &[allow]).dial(host, 9).await;
            assert!(matches!(dialled, Err(DialError::Refused(_))), "{host}: {dialled:?}");
        }
    }

    #[tokio::test]
    async fn hosts_that_cannot_be_reached_are_no_refusals() {
        let (listener, address) = listener().await;
        drop(listener);
        let allowed = dialler(&["127.0.0.0/8"]);
        let refused = allowed.dial("127.0.0.1", 0).await.unwrap_err();
        assert!(matches!(refused, DialError::Refused(_)), "{refused:?}");
        let failed = allowed.dial("127.0.0.1", address.port()).await.unwrap_err();
        assert!(matches!(failed, DialError::Failed(_)), "{failed:?}");
        assert!(
            failed.to_string().starts_with(&format!("cannot connect to {address}: ")),
            "{failed}"
        );
        let failed =
            dialler_for("loopback.example", &[]).dial("other.example", 80).await.unwrap_err();
        assert_eq!(failed.to_string(), "cannot resolve other.example: the name has no address");
        for host in ["", "a b", "a/b"] {
            let failed = allowed.dial(host, 80).await.unwrap_err();
            assert_eq!(failed.to_string(), "the host must be a domain or an address", "{host:?}");
        }
    }
}
