//! The door to the network.

use std::io;
use std::pin::Pin;

use tokio::net::TcpStream;

/// A connection that is being made.
pub type DialFuture<'a> = Pin<Box<dyn Future<Output = Result<TcpStream, DialError>> + Send + 'a>>;

/// Makes connections, and decides which.
pub trait Dial: Send + Sync + 'static {
    /// Connects to a host, a name or an address without brackets.
    fn dial<'a>(&'a self, host: &'a str, port: u16) -> DialFuture<'a>;
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The address must not be reached.
    #[error("{0}")]
    Refused(String),
    /// The host has no address, or does not accept the connection.
    #[error("{0}")]
    Failed(#[from] io::Error),
}
