//! Why an outbound request failed, in words that are safe to show to the user who chose the URL:
//! nothing of what a server answered beyond its status.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use super::policy::SpecialAddress;
use super::target::OutboundUrlError;
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
    /// The request took longer than its limit.
    #[error("no response within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// There were more redirects than allowed.
    #[error("more than {0} redirects")]
    TooManyRedirects(usize),
    /// A redirect leads to a URL that must not be fetched.
    #[error("redirected to a URL that {0}")]
    Redirect(OutboundUrlError),
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

    /// Returns whether the same request may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::Certificate { .. }
            | Self::Tls { .. }
            | Self::Http(_)
            | Self::TimedOut(_) => true,
            Self::Special { .. }
            | Self::TooManyRedirects(_)
            | Self::Redirect(_)
            | Self::NoLocation => false,
        }
    }
}
