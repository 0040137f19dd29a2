//! Request bodies packed by gzip, undone as they come.
//!
//! A body may be several members, one behind the other: tools that compress in parallel write such, and appending to a file does.
//! All of them are read, and what follows the last one without being another is an error: half of a body is never taken for all.

use std::io;

use async_compression::tokio::bufread::GzipDecoder;
use bytes::Bytes;
use futures_util::TryStreamExt;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use tokio_util::io::{ReaderStream, StreamReader};

/// Bytes that are unpacked at a time.
const PIECE_BYTES: usize = 16 << 10;

/// Whether these headers say that the body is packed by gzip and nothing else. If so, they do not any more.
pub(super) fn take_encoding(headers: &mut HeaderMap) -> bool {
    let packed = headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip");
    if packed {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    packed
}

/// The body as it was before it was packed.
pub(super) fn unpacked<B>(body: B) -> UnsyncBoxBody<Bytes, io::Error>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let packed = StreamReader::new(body.into_data_stream().map_err(io::Error::other));
    let mut decoder = GzipDecoder::new(Box::pin(packed));
    decoder.multiple_members(true);
    let pieces = ReaderStream::with_capacity(decoder, PIECE_BYTES);
    StreamBody::new(pieces.map_ok(Frame::data)).boxed_unsync()
}
