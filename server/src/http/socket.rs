//! Client sockets, shared between the task that reads them and the one that watches for their end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, Interest, Join, ReadBuf, Ready, join};
use tokio::net::{tcp, unix};

use super::client_end::ReadinessWatch;

/// A socket for reading and writing whose reading half is shared.
pub(super) type SharedSocket<R, W> = Join<SharedReader<R>, W>;

/// The shared reading half of a socket.
#[derive(Debug)]
pub(super) struct SharedReader<R>(Arc<R>);

/// A reading half that needs no exclusive reference. Only one task may read at a time.
pub(super) trait ReadHalf: ReadinessWatch {
    /// Like [`AsyncRead::poll_read`].
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>>;
}

/// Joins the halves of a socket again. Returns it with a handle for watching its readiness.
pub(super) fn share<R: ReadHalf, W: AsyncWrite>(
    reader: R,
    writer: W,
) -> (SharedSocket<R, W>, Arc<R>) {
    let reader = Arc::new(reader);
    (join(SharedReader(Arc::clone(&reader)), writer), reader)
}

impl<R: ReadHalf> AsyncRead for SharedReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.poll_read(cx, buf)
    }
}

// Tokio's TCP and Unix sockets have the same methods but no common trait.
macro_rules! read_half {
    ($half:ty) => {
        impl ReadinessWatch for $half {
            async fn ready(&self, interest: Interest) -> io::Result<Ready> {
                self.ready(interest).await
            }
        }

        impl ReadHalf for $half {
            fn poll_read(
                &self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let socket = self.as_ref();
                let capacity = buf.remaining();
                loop {
                    ready!(socket.poll_read_ready(cx))?;
                    let mut read = None;
                    let outcome = socket.try_io(Interest::READABLE, || {
                        let bytes = socket.try_read_buf(buf)?;
                        read = Some(bytes);
                        // A read of fewer bytes than requested has emptied the socket. Clearing its
                        // readiness here, as tokio's own reads do, saves a system call that would
                        // find nothing.
                        if (1..capacity).contains(&bytes) {
                            return Err(io::ErrorKind::WouldBlock.into());
                        }
                        Ok(())
                    });
                    match (read, outcome) {
                        (Some(_), _) | (None, Ok(())) => return Poll::Ready(Ok(())),
                        (None, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                        (None, Err(error)) => return Poll::Ready(Err(error)),
                    }
                }
            }
        }
    };
}

read_half!(tcp::OwnedReadHalf);
read_half!(unix::OwnedReadHalf);
