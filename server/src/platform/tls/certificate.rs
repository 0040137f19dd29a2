//! What the certificate of a server says.

use telltale_engine::TimestampMs;
use tokio_rustls::client::TlsStream;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// Returns when the certificate ends that the server has shown.
pub(crate) fn certificate_ends_at<S>(stream: &TlsStream<S>) -> Option<TimestampMs> {
    let (_, connection) = stream.get_ref();
    let shown = connection.peer_certificates()?.first()?;
    let (_, certificate) = X509Certificate::from_der(shown).ok()?;
    let seconds = certificate.validity().not_after.timestamp();
    Some(TimestampMs(seconds.saturating_mul(1_000)))
}

/// Returns whether a certificate in DER is issued by whom it is for.
pub(super) fn is_self_signed(der: &[u8]) -> bool {
    X509Certificate::from_der(der).is_ok_and(|(_, certificate)| {
        certificate.subject().as_raw() == certificate.issuer().as_raw()
    })
}
