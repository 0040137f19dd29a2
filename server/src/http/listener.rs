//! Where connections come from: TCP addresses, and the control socket in the data directory.
//!
//! Who connects to the control socket needs no key, so only the user who runs the server, and root, get in: the
//! socket has mode 0600, and the peer's user is looked at as well, because the mode is set after the socket is
//! there. A socket left behind by a server that was killed is replaced; one that is answered on is not.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};

use crate::limits;
use crate::platform::socket_path::SocketPath;

/// A place that connections come from.
#[derive(Debug)]
pub enum Listener {
    /// The network.
    Tcp(TcpListener),
    /// The operator of the machine.
    Control(ControlListener),
}

/// The control socket. The file goes when this is dropped.
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
    /// Listens on an address; port 0 lets the system choose. Called on a runtime.
    pub fn tcp(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(limits::CONNECTIONS_UNACCEPTED_MAX).map(Self::Tcp)
    }

    /// Listens on a Unix socket at `path`. Only for the process that holds the lock of the data directory.
    pub fn control(path: &Path) -> io::Result<Self> {
        remove_stale(path)?;
        let listener = UnixListener::bind(SocketPath::new(path)?.as_path())?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        let owner = std::fs::metadata(path)?.uid();
        Ok(Self::Control(ControlListener { listener, path: path.to_owned(), owner }))
    }

    /// The address of a TCP listener, with the port that the system chose.
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
                // Answers are written whole; waiting for more only delays them.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(cause = %error, "a connection was gone before it began");
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
            tracing::debug!(path = %self.path.display(), cause = %error, "the control socket was not removed");
        }
    }
}

fn remove_stale(path: &Path) -> io::Result<()> {
    match std::os::unix::net::UnixStream::connect(SocketPath::new(path)?.as_path()) {
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another server answers on the control socket",
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => std::fs::remove_file(path),
    }
}
