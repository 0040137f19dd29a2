//! HTTP client of the command line: reaches a running server over the control socket in its data
//! directory, or over the network.
//!
//! Requests over the socket need no key: whoever may open it (mode 0600) could read the data files
//! as well. A missing or refusing socket is taken to mean that no server runs on this directory;
//! the engine's directory lock, which a second process cannot get, has the final say.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::remote::Remote;
use super::socket_path::SocketPath;

/// The name of the socket inside the data directory.
pub const SOCKET_NAME: &str = "control.sock";

/// Timeout of connecting to a remote server.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// A connection to the running server.
#[derive(Debug)]
pub struct Control {
    sender: SendRequest<Full<Bytes>>,
    connection: JoinHandle<()>,
    /// `None` for the control socket.
    remote: Option<Remote>,
}

/// A response of the server.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// Why a request to the running server failed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The socket exists and cannot be opened, or the address cannot be reached.
    #[error("cannot reach the running server at {place}")]
    Connect {
        /// The path of the socket, or the address.
        place: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The request is not valid HTTP.
    #[error("the request cannot be sent")]
    Request(#[from] http::Error),
    /// The connection ended before the response was complete.
    #[error("the connection to the running server ended before it responded")]
    Gone(#[from] hyper::Error),
}

impl Control {
    /// Connects to the server that runs on the data directory. Returns `None` if none does.
    pub async fn connect(data: &Path) -> Result<Option<Self>, ControlError> {
        let path = data.join(SOCKET_NAME);
        let connected = match SocketPath::new(&path) {
            Ok(short) => UnixStream::connect(short.as_path()).await,
            Err(error) => Err(error),
        };
        let stream = match connected {
            Ok(stream) => stream,
            // The socket file of a killed server refuses connections.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
            {
                return Ok(None);
            }
            Err(source) => {
                return Err(ControlError::Connect { place: path.display().to_string(), source });
            }
        };
        Ok(Some(Self::on(stream, None).await?))
    }

    /// Connects to a remote server.
    pub async fn reach(remote: Remote) -> Result<Self, ControlError> {
        let connecting = TcpStream::connect((remote.host.as_str(), remote.port));
        let connected = match timeout(CONNECT_PATIENCE, connecting).await {
            Ok(connected) => connected,
            Err(late) => Err(late.into()),
        };
        match connected {
            Ok(stream) => Self::on(stream, Some(remote)).await,
            Err(source) => Err(ControlError::Connect { place: remote.authority, source }),
        }
    }

    async fn on<S>(stream: S, remote: Option<Remote>) -> Result<Self, ControlError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "the connection to the server ended");
            }
        });
        Ok(Self { sender, connection, remote })
    }

    /// Sends one request and reads the whole response. `headers` are added to those that HTTP
    /// needs.
    pub async fn send(
        &mut self,
        method: Method,
        path_and_query: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Answer, ControlError> {
        let (prefix, host) = match &self.remote {
            Some(remote) => (remote.prefix.as_str(), remote.authority.as_str()),
            None => ("", "localhost"),
        };
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("{prefix}{path_and_query}"))
            .header(HOST, host)
            .header(CONTENT_TYPE, "application/json");
        if let Some(remote) = &self.remote {
            request = request.header(AUTHORIZATION, remote.authorization.clone());
        }
        if let Some(own) = request.headers_mut() {
            own.extend(headers);
        }
        let request = request.body(Full::new(Bytes::from(body)))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Answer { status: head.status, headers: head.headers, body })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
