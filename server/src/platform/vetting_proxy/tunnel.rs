//! Tunnels to servers, for `https` and WebSockets.

use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::sync::OwnedSemaphorePermit;

use super::proxy::{ProxyError, ProxyInner};

/// Connects to the server of a `CONNECT` request, and carries bytes in both directions once the
/// request is answered. Holds the slot of the connection meanwhile.
pub(super) async fn tunnel(
    inner: &Arc<ProxyInner>,
    request: Request<Incoming>,
    slot: Arc<OwnedSemaphorePermit>,
) -> Result<(), ProxyError> {
    let authority = request.uri().authority().ok_or(ProxyError::Malformed)?;
    let port = authority.port_u16().ok_or(ProxyError::Malformed)?;
    let mut server = inner.dial(authority.host(), port).await?;
    inner.spawn_tunnel(async move {
        let Ok(browser) = hyper::upgrade::on(request).await else { return };
        let mut browser = TokioIo::new(browser);
        if let Err(error) = copy_bidirectional(&mut browser, &mut server).await {
            tracing::trace!(%error, "a tunnel of a page ended");
        }
        drop(slot);
    });
    Ok(())
}
