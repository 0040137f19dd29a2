//! Connections to a mail server, encrypted as configured.
//!
//! The switch to TLS (RFC 3207) is made here and not by `lettre`, which would keep what a server
//! sent before the handshake and take it for a reply of the encrypted part: an attacker on the way
//! could plant such replies.

use std::net::SocketAddr;
use std::pin::Pin;
use std::str::FromStr as _;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::commands::{Ehlo, Starttls};
use lettre::transport::smtp::extension::{ClientId, Extension, ServerInfo};
use lettre::transport::smtp::response::Response;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::{MailError, SmtpCommand};
use crate::platform::tls::{self, TlsConnector};

/// Timeout of connecting to one address, so that another one of the server is tried in time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes that are read from a server in one session: a hundred times what replies take.
const SESSION_BYTES_MAX: usize = 256 << 10;
/// Bytes of a reply before the switch to TLS.
const REPLY_BYTES_MAX: usize = 8 << 10;
/// The greeting for `lettre` after the switch to TLS, when servers do not greet again.
const GREETING: &[u8] = b"220 TLS\r\n";

/// How a connection is encrypted.
pub(super) enum Encryption {
    StartTls(TlsConnector),
    Tls(TlsConnector),
    None,
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StartTls(_) => "StartTls",
            Self::Tls(_) => "Tls",
            Self::None => "None",
        })
    }
}

/// Connects, encrypts and exchanges greetings.
pub(super) async fn open(
    host: &str,
    port: u16,
    encryption: &Encryption,
    hello: &ClientId,
) -> Result<AsyncSmtpConnection, MailError> {
    let (mut plain, peer) = connect(host, port).await?;
    let handshake = async |connector, plain| {
        let failed = |source| MailError::Tls { host: host.to_owned(), source };
        tls::handshake(connector, host, plain).await.map_err(failed)
    };
    let left = SESSION_BYTES_MAX;
    let stream: Box<dyn AsyncTokioStream> = match encryption {
        Encryption::None => Box::new(SmtpStream { inner: plain, peer, greeting: &[], left }),
        Encryption::Tls(connector) => {
            let inner = handshake(connector, plain).await?;
            Box::new(SmtpStream { inner, peer, greeting: &[], left })
        }
        Encryption::StartTls(connector) => {
            request_tls(&mut plain, hello).await?;
            let inner = handshake(connector, plain).await?;
            Box::new(SmtpStream { inner, peer, greeting: GREETING, left })
        }
    };
    let opened = AsyncSmtpConnection::connect_with_transport(stream, hello).await;
    opened.map_err(|error| MailError::of_command(SmtpCommand::Hello, &error))
}

/// Connects to the first address that accepts.
async fn connect(host: &str, port: u16) -> Result<(TcpStream, SocketAddr), MailError> {
    let unresolved = |source| MailError::Resolve { host: host.to_owned(), source };
    let addresses = tokio::net::lookup_host((host, port)).await.map_err(unresolved)?;
    let mut last = unresolved(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    for address in addresses {
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok((stream, address)),
            Ok(Err(source)) => last = MailError::Connect { address, source },
            Err(_) => {
                let source = io::Error::new(io::ErrorKind::TimedOut, "the connection timed out");
                last = MailError::Connect { address, source };
            }
        }
    }
    Err(last)
}

/// Asks the server to switch to TLS. The handshake is the next thing on the connection.
async fn request_tls(stream: &mut TcpStream, hello: &ClientId) -> Result<(), MailError> {
    reply(stream, SmtpCommand::Connect).await?;
    send(stream, &Ehlo::new(hello.clone()).to_string()).await?;
    let offer = reply(stream, SmtpCommand::Hello).await?;
    let offer = ServerInfo::from_response(&offer).map_err(|_| MailError::Protocol)?;
    if !offer.supports_feature(Extension::StartTls) {
        return Err(MailError::NoStartTls);
    }
    send(stream, &Starttls.to_string()).await?;
    reply(stream, SmtpCommand::StartTls).await.map(drop)
}

async fn send(stream: &mut TcpStream, command: &str) -> Result<(), MailError> {
    stream.write_all(command.as_bytes()).await.map_err(MailError::Connection)
}

/// Reads a positive reply. Fails if the server sends more than that.
async fn reply(stream: &mut TcpStream, to: SmtpCommand) -> Result<Response, MailError> {
    let mut received = Vec::new();
    let length = loop {
        if let Some(length) = complete_reply(&received) {
            break length;
        }
        if received.len() > REPLY_BYTES_MAX {
            return Err(MailError::Protocol);
        }
        let read = stream.read_buf(&mut received).await.map_err(MailError::Connection)?;
        if read == 0 {
            return Err(MailError::Connection(io::ErrorKind::UnexpectedEof.into()));
        }
    };
    let text = str::from_utf8(&received).map_err(|_| MailError::Protocol)?;
    let response = Response::from_str(text).map_err(|_| MailError::Protocol)?;
    match u16::from(response.code()) {
        _ if received.len() > length => Err(MailError::Protocol),
        200..300 => Ok(response),
        code => Err(MailError::Refused { code, command: to }),
    }
}

/// Returns the length of the first reply, if all of it was received: its last line has no hyphen
/// after the code.
fn complete_reply(received: &[u8]) -> Option<usize> {
    let mut length = 0;
    for line in received.split_inclusive(|byte| *byte == b'\n') {
        length += line.len();
        if line.ends_with(b"\n") && line.get(3) != Some(&b'-') {
            return Some(length);
        }
    }
    None
}

/// A connection as `lettre` uses it. What is read from it is limited, because `lettre` limits a
/// line only when it is complete.
#[derive(Debug)]
struct SmtpStream<S> {
    inner: S,
    peer: SocketAddr,
    /// What is read before anything of the connection.
    greeting: &'static [u8],
    /// Bytes that may still be read.
    left: usize,
}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin + fmt::Debug> AsyncTokioStream
    for SmtpStream<S>
{
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SmtpStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.greeting.is_empty() {
            let fitting = self.greeting.len().min(buffer.remaining());
            let (first, rest) = self.greeting.split_at(fitting);
            buffer.put_slice(first);
            self.greeting = rest;
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        match self.left.checked_sub(buffer.filled().len() - before) {
            Some(left) => self.left = left,
            None => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SmtpStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_complete_with_its_last_line() {
        for (received, length) in [
            ("", None),
            ("220", None),
            ("220 ready", None),
            ("220 ready\r", None),
            ("220 ready\r\n", Some(11)),
            ("220\r\n", Some(5)),
            ("x\n", Some(2)),
            ("250-a\r\n", None),
            ("250-a\r\n250-b\r\n250 ", None),
            ("250-a\r\n250-b\r\n250 c\r\n", Some(21)),
            ("220 ready\r\n250 planted\r\n", Some(11)),
        ] {
            assert_eq!(complete_reply(received.as_bytes()), length, "{received:?}");
        }
    }
}
