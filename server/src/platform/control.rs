//! A running server, seen from the command line: HTTP over the control socket in the data directory, or over the network.
//!
//! A running server answers there as the operator of the machine, without a key: who may open the socket (mode
//! 0600) could as well read the files. No answer means that no server runs on this directory; whether that is
//! true is up to the directory lock of the engine, which a second process does not get.

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

/// How long a server elsewhere may take to accept a connection.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// A connection to the running server.
#[derive(Debug)]
pub struct Control {
    sender: SendRequest<Full<Bytes>>,
    connection: JoinHandle<()>,
    /// `None` of the control socket.
    remote: Option<Remote>,
}

/// What the server answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// The running server could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The socket is there and cannot be opened.
    #[error("cannot reach the running server at {place}")]
    Connect {
        /// The socket, or the address.
        place: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The request could not be written as HTTP.
    #[error("the request cannot be sent")]
    Request(#[from] http::Error),
    /// The connection broke before the answer was complete.
    #[error("the running server went away before it answered")]
    Gone(#[from] hyper::Error),
}

impl Control {
    /// Connects to the server that runs on the data directory; `None` when none does.
    pub async fn connect(data: &Path) -> Result<Option<Self>, ControlError> {
        let path = data.join(SOCKET_NAME);
        let connected = match SocketPath::new(&path) {
            Ok(short) => UnixStream::connect(short.as_path()).await,
            Err(error) => Err(error),
        };
        let stream = match connected {
            Ok(stream) => stream,
            // A socket that a killed server left behind refuses.
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

    /// Connects to a server elsewhere.
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

    /// Sends one request and reads the whole answer. `headers` come on top of those that HTTP needs.
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
