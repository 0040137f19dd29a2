//! Why an outbound request failed, in words that are safe to show to the user who chose the URL:
//! nothing of what a server answered beyond its status.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use super::policy::SpecialAddress;
use super::target::{OutboundUrl, OutboundUrlError};
use crate::platform::tls::CertificateFault;

/// Why an outbound request failed.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The host has no address, or the name server failed.
    #[error("cannot resolve {host}")]
    Resolve {
        /// The name.
        host: String,
        /// The error of the system.
        source: io::Error,
    },
    /// One of the addresses of the host must not be reached.
    #[error("{host} resolves to a forbidden address: {special}")]
    Special {
        /// The name.
        host: String,
        /// The address.
        special: SpecialAddress,
    },
    /// No address accepted a connection.
    #[error("cannot connect to {address}")]
    Connect {
        /// The last address tried.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The certificate of the host is not accepted.
    #[error("{host} has an invalid certificate: {fault}")]
    Certificate {
        /// The name.
        host: String,
        /// What is wrong with it.
        fault: CertificateFault,
        /// The error of the handshake.
        source: io::Error,
    },
    /// The TLS handshake failed for another reason.
    #[error("TLS with {host} failed")]
    Tls {
        /// The name.
        host: String,
        /// The error of the handshake.
        source: io::Error,
    },
    /// The request could not be sent, or the response is not HTTP.
    #[error("the connection failed before the response was complete")]
    Http(#[from] hyper::Error),
    /// The request cannot be written as HTTP.
    #[error("the URL cannot be sent in a request")]
    Unsendable(#[source] http::Error),
    /// Too many other requests were sent for too long. Says nothing about the host.
    #[error("no request could be sent to {host}: too many others are")]
    Busy {
        /// The name.
        host: String,
    },
    /// The request took longer than its limit.
    #[error("no response within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// There were more redirects than allowed.
    #[error("more than {0} redirects")]
    TooManyRedirects(usize),
    /// A redirect leads to a URL that must not be fetched.
    #[error("redirected to a URL that {0}")]
    Redirect(OutboundUrlError),
    /// A redirect asks to repeat the request at another origin, which must not get its body, and on
    /// which nothing may be changed.
    #[error(
        "redirected with HTTP {0} to another server, which must not get the method and the body"
    )]
    Repeated(u16),
    /// A redirect has no valid `Location`.
    #[error("redirected without a location")]
    NoLocation,
}

impl OutboundError {
    /// Returns the error of a failed TLS handshake.
    pub(super) fn tls(host: &str, source: io::Error) -> Self {
        let host = host.to_owned();
        match CertificateFault::of(&source) {
            Some(fault) => Self::Certificate { host, fault, source },
            None => Self::Tls { host, source },
        }
    }

    /// Returns the error of a request that could not be sent because of others.
    pub(super) fn busy(url: &OutboundUrl) -> Self {
        Self::Busy { host: url.origin().host }
    }

    /// Returns whether the same request may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::Certificate { .. }
            | Self::Tls { .. }
            | Self::Http(_)
            | Self::Busy { .. }
            | Self::TimedOut(_) => true,
            Self::Special { .. }
            | Self::Unsendable(_)
            | Self::TooManyRedirects(_)
            | Self::Redirect(_)
            | Self::Repeated(_)
            | Self::NoLocation => false,
        }
    }
}
