//! Connections with TLS.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
pub(crate) use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::verifier::ExplainingVerifier;

/// Certificate authorities that are trusted in addition to those of the system.
#[derive(Debug, Default)]
pub(crate) struct FurtherAuthorities(Vec<CertificateDer<'static>>);

impl FurtherAuthorities {
    /// Reads the certificates of a PEM file. Fails if it contains none.
    pub(crate) fn from_pem_file(path: &Path) -> io::Result<Self> {
        let text = std::fs::read(path)?;
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        let certificates = certificates.map_err(io::Error::other)?;
        if certificates.is_empty() {
            return Err(io::Error::other("the file contains no certificate"));
        }
        let mut roots = RootCertStore::empty();
        certificates.iter().try_for_each(|one| roots.add(one.clone())).map_err(io::Error::other)?;
        Ok(Self(certificates))
    }
}

/// Returns a connector that trusts the authorities of the system, or of the files that
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` name; if there are none, as in an empty container, those of
/// Mozilla. `protocols` are offered in the handshake (ALPN), if any.
pub(crate) fn connector(
    further: FurtherAuthorities,
    protocols: &[&str],
) -> io::Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "cannot read certificate authorities of the system");
    }
    let (_added, ignored) = roots.add_parsable_certificates(found.certs);
    if ignored > 0 {
        tracing::debug!(ignored, "certificate authorities of the system are invalid");
    }
    if roots.is_empty() {
        tracing::info!("the system has no certificate authorities; using those of Mozilla");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots.add_parsable_certificates(further.0);
    let provider = Arc::new(ring::default_provider());
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let verifier = Arc::new(ExplainingVerifier(verifier.build().map_err(io::Error::other)?));
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let config = config.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Completes a handshake with `host`, a name or an address.
pub(crate) async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
    connector: &TlsConnector,
    host: &str,
    stream: S,
) -> io::Result<TlsStream<S>> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    connector.connect(name, stream).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_valid_certificates_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        assert!(FurtherAuthorities::from_pem_file(&path).is_err(), "absent");
        let framed = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for text in ["", "hunter2", framed, &framed.replace("AAAA", "*")] {
            std::fs::write(&path, text).unwrap();
            assert!(FurtherAuthorities::from_pem_file(&path).is_err(), "{text}");
        }
    }
}
