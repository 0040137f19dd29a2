//! What is wrong with a certificate.

use std::io;

use tokio_rustls::rustls::{CertificateError, Error};

/// What is wrong with a certificate, in words for its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    /// It has ended.
    #[error("it has expired")]
    Expired,
    /// It has not begun.
    #[error("it is not valid yet")]
    NotYetValid,
    /// It is for other hosts.
    #[error("it is for another host")]
    OtherHost,
    /// It is issued by whom it is for.
    #[error("it is self-signed")]
    SelfSigned,
    /// It is issued by an authority that is not trusted.
    #[error("it is issued by an unknown authority, or a certificate between is missing")]
    UnknownAuthority,
    /// It is revoked.
    #[error("it is revoked")]
    Revoked,
    /// Something else.
    #[error("it cannot be verified")]
    Unverifiable,
}

/// A certificate that is issued by whom it is for.
#[derive(Debug, thiserror::Error)]
#[error("the certificate is self-signed")]
pub(super) struct SelfSigned;

impl CertificateFault {
    /// Returns what is wrong with the certificate if that is why a handshake failed.
    pub fn of(error: &io::Error) -> Option<Self> {
        let error = error.get_ref()?.downcast_ref::<Error>()?;
        let Error::InvalidCertificate(error) = error else { return None };
        Some(match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::NotYetValid
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::OtherHost
            }
            CertificateError::UnknownIssuer => Self::UnknownAuthority,
            CertificateError::Revoked => Self::Revoked,
            CertificateError::Other(other) if other.0.is::<SelfSigned>() => Self::SelfSigned,
            _ => Self::Unverifiable,
        })
    }
}
