//! Connections to servers whose bytes are counted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::traffic::ProxyTraffic;

/// A connection that fails when the limit of the capture is exceeded.
#[derive(Debug)]
pub(super) struct MeteredStream {
    stream: TcpStream,
    traffic: Arc<ProxyTraffic>,
}

impl MeteredStream {
    pub(super) fn new(stream: TcpStream, traffic: Arc<ProxyTraffic>) -> Self {
        Self { stream, traffic }
    }

    fn count(&self, bytes: usize) -> io::Result<()> {
        let exceeded = || io::Error::other("the limit of bytes is exceeded");
        self.traffic.count_bytes(bytes).then_some(()).ok_or_else(exceeded)
    }
}

impl AsyncRead for MeteredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        Poll::Ready(self.count(buffer.filled().len() - before))
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.count(written)?;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
