//! TLS of connections that the server opens: rustls with the certificate authorities of the system.
//!
//! `connector` opens connections, `verifier` finds out more about certificates that are refused,
//! `fault` says in words for their owner what is wrong with them, `certificate` reads what is shown
//! of those that are accepted.

mod certificate;
mod connector;
mod fault;
mod verifier;

pub(crate) use certificate::certificate_ends_at;
pub(crate) use connector::{FurtherAuthorities, TlsConnector, connector, handshake};
pub use fault::CertificateFault;
