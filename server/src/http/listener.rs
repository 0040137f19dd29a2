//! Sources of connections: TCP addresses and the control socket in the data directory.
//!
//! The control socket needs no key, so only the user who runs the server, and root, may connect.
//! The socket file has mode 0600; the peer's user id is checked as well, because the mode is set
//! only after the socket exists. A socket file left behind by a killed server is replaced; one on
//! which a server still accepts connections is not.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};

use crate::limits;
use crate::platform::socket_path::SocketPath;

/// A source of connections.
#[derive(Debug)]
pub enum Listener {
    /// The network.
    Tcp(TcpListener),
    /// The operator of the machine.
    Control(ControlListener),
}

/// The control socket. Its file is removed when this is dropped.
#[derive(Debug)]
pub struct ControlListener {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

/// A connection that was accepted.
#[derive(Debug)]
pub(super) enum Accepted {
    Tcp(TcpStream, IpAddr),
    Control(UnixStream),
}

impl Listener {
    /// Listens on a TCP address; port 0 lets the system choose. Must be called on a runtime.
    pub fn tcp(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(limits::CONNECTIONS_UNACCEPTED_MAX).map(Self::Tcp)
    }

    /// Listens on a Unix socket at `path`. Only for the process that holds the lock of the data
    /// directory.
    pub fn control(path: &Path) -> io::Result<Self> {
        remove_stale(path)?;
        let listener = UnixListener::bind(SocketPath::new(path)?.as_path())?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        let owner = std::fs::metadata(path)?.uid();
        Ok(Self::Control(ControlListener { listener, path: path.to_owned(), owner }))
    }

    /// Returns the address of a TCP listener, with the port that the system chose.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Control(_) => None,
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Responses are written in large pieces, so Nagle's algorithm would only delay
                // them.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(cause = %error, "a connection closed before it was served");
                }
                Ok(Accepted::Tcp(stream, address.ip()))
            }
            Self::Control(control) => control.accept().await.map(Accepted::Control),
        }
    }
}

impl ControlListener {
    async fn accept(&self) -> io::Result<UnixStream> {
        let (stream, _) = self.listener.accept().await?;
        let peer = stream.peer_cred()?.uid();
        if peer == self.owner || peer == 0 {
            return Ok(stream);
        }
        let reason = format!("user {peer} may not use the control socket");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
    }
}

impl Drop for ControlListener {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), cause = %error, "failed to remove the control socket");
        }
    }
}

fn remove_stale(path: &Path) -> io::Result<()> {
    match std::os::unix::net::UnixStream::connect(SocketPath::new(path)?.as_path()) {
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another server is listening on the control socket",
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // Nobody listens any more.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}
