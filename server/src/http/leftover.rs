//! Handles the unread remainder of a request body.
//!
//! An HTTP/1 connection can serve its next request only after the previous body was read. hyper
//! checks for the remainder once and closes the connection if it has not arrived, without
//! announcing that in the response, so that a client that reuses connections loses its next
//! request. Therefore a short remainder is read before the response is sent; if it is long or late,
//! the response announces that the connection closes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::EXPECT;
use http::{HeaderMap, StatusCode, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use tokio::time::timeout;

use crate::limits;

/// A request body that is returned to its [`Leftover`] if its reader stops before the end.
#[derive(Debug)]
pub(super) struct Lent<B> {
    body: Rest<B>,
    returned: Returned<B>,
}

/// Access to the remainder of a body once the response is known.
#[derive(Debug)]
pub(super) struct Leftover<B> {
    returned: Returned<B>,
    /// Whether the client waits for `100 Continue` and may never send the body.
    is_withheld: bool,
}

/// The remainder of a body.
#[derive(Debug)]
enum Rest<B> {
    Nothing,
    /// Everything from here on.
    Body(B),
    /// Malformed: its end is unknown.
    Broken,
}

/// Where a lent body is returned.
type Returned<B> = Arc<Mutex<Rest<B>>>;

/// Lends the body of `request` to its handler. Not needed for HTTP/2, whose requests have separate
/// streams.
pub(super) fn lend<B>(request: http::Request<B>) -> (http::Request<Lent<B>>, Option<Leftover<B>>) {
    let returned = Arc::new(Mutex::new(Rest::Nothing));
    let leftover = (request.version() < Version::HTTP_2).then(|| Leftover {
        returned: Arc::clone(&returned),
        is_withheld: expects_continue(request.headers()),
    });
    (request.map(|body| Lent { body: Rest::Body(body), returned }), leftover)
}

fn expects_continue(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

impl<B: Body<Data = Bytes> + Unpin> Leftover<B> {
    /// Reads the remainder of the body of a request with this response status. Returns whether the
    /// connection can serve another request.
    pub(super) async fn read(self, status: StatusCode) -> bool {
        let rest = std::mem::replace(&mut *self.returned.lock(), Rest::Nothing);
        let mut body = match rest {
            Rest::Nothing => return true,
            Rest::Body(body) if body.is_end_stream() => return true,
            Rest::Body(body) => body,
            Rest::Broken => return false,
        };
        let is_long = body.size_hint().lower() > limits::LEFTOVER_BYTES_MAX;
        // A body that timed out already is not waited for again.
        if is_long || self.is_withheld || status == StatusCode::REQUEST_TIMEOUT {
            return false;
        }
        let limit = Duration::from_millis(limits::LEFTOVER_MS);
        timeout(limit, read_to_end(&mut body)).await.unwrap_or(false)
    }
}

/// Reads and discards a body. Returns whether it ended correctly within
/// [`limits::LEFTOVER_BYTES_MAX`].
async fn read_to_end<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> bool {
    let mut left = limits::LEFTOVER_BYTES_MAX;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let bytes = frame.data_ref().map_or(0, Buf::remaining) as u64;
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}

impl<B: Body + Unpin> Body for Lent<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let Rest::Body(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(cx));
        match &frame {
            Some(Ok(_)) => {}
            Some(Err(_)) => self.body = Rest::Broken,
            None => self.body = Rest::Nothing,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Rest::Body(body) => body.is_end_stream(),
            Rest::Nothing | Rest::Broken => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Rest::Body(body) => body.size_hint(),
            Rest::Nothing | Rest::Broken => SizeHint::with_exact(0),
        }
    }
}

impl<B> Drop for Lent<B> {
    fn drop(&mut self) {
        *self.returned.lock() = std::mem::replace(&mut self.body, Rest::Nothing);
    }
}
