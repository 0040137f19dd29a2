//! What an answer leaves unread of the body of its request.
//!
//! An HTTP/1 connection serves its next request only once the body of the last was read. hyper looks for the
//! rest once and closes where it has not come yet — without having said so in the answer, so that a client
//! that keeps its connections loses the request it sends next. Therefore a short rest is read before the
//! answer goes out, and of one that is long or late the answer says that the connection ends.

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

/// A body that comes back to its [`Leftover`] when whoever reads it stops before the end.
#[derive(Debug)]
pub(super) struct Lent<B> {
    body: Rest<B>,
    home: Home<B>,
}

/// Where the rest of a body is found when the answer is known.
#[derive(Debug)]
pub(super) struct Leftover<B> {
    home: Home<B>,
    /// The client does not send the body before it is asked to, and may never.
    is_withheld: bool,
}

/// What is left of a body.
#[derive(Debug)]
enum Rest<B> {
    Nothing,
    /// All from here on.
    Body(B),
    /// Nobody knows where it ends.
    Broken,
}

/// Where a body that was lent comes back to.
type Home<B> = Arc<Mutex<Rest<B>>>;

/// Lends the body of `request` to whoever answers it. HTTP/2 needs none of this: its requests do not share
/// their bytes.
pub(super) fn lend<B>(request: http::Request<B>) -> (http::Request<Lent<B>>, Option<Leftover<B>>) {
    let home = Arc::new(Mutex::new(Rest::Nothing));
    let leftover = (request.version() < Version::HTTP_2).then(|| Leftover {
        home: Arc::clone(&home),
        is_withheld: expects_to_be_asked(request.headers()),
    });
    (request.map(|body| Lent { body: Rest::Body(body), home }), leftover)
}

fn expects_to_be_asked(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

impl<B: Body<Data = Bytes> + Unpin> Leftover<B> {
    /// Reads what is left, now that the answer has this status. Answers whether the connection can serve another request.
    pub(super) async fn read(self, answer: StatusCode) -> bool {
        let rest = std::mem::replace(&mut *self.home.lock(), Rest::Nothing);
        let mut body = match rest {
            Rest::Nothing => return true,
            Rest::Body(body) if body.is_end_stream() => return true,
            Rest::Body(body) => body,
            Rest::Broken => return false,
        };
        let is_long = body.size_hint().lower() > limits::LEFTOVER_BYTES_MAX;
        // Who was waited for already is not waited for again.
        if is_long || self.is_withheld || answer == StatusCode::REQUEST_TIMEOUT {
            return false;
        }
        let patience = Duration::from_millis(limits::LEFTOVER_MS);
        timeout(patience, read_to_end(&mut body)).await.unwrap_or(false)
    }
}

/// Throws a body away. Answers whether it ended as it should, within [`limits::LEFTOVER_BYTES_MAX`].
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
        *self.home.lock() = std::mem::replace(&mut self.body, Rest::Nothing);
    }
}
