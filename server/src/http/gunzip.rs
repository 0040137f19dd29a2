//! Decodes gzip request bodies while they arrive.
//!
//! A body can consist of several members: parallel compressors and appending to a file produce such
//! bodies. All members are decoded; trailing bytes that are not a member are an error, so that a
//! truncated or mixed body is never accepted as complete.

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

/// Bytes decoded per step.
const CHUNK_BYTES: usize = 16 << 10;

/// Returns whether gzip is the body's only encoding. If so, removes the headers that describe the
/// encoded body.
pub(super) fn take_encoding(headers: &mut HeaderMap) -> bool {
    let packed = headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip");
    if packed {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    packed
}

/// Returns the decoded body.
pub(super) fn unpacked<B>(body: B) -> UnsyncBoxBody<Bytes, io::Error>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let packed = StreamReader::new(body.into_data_stream().map_err(io::Error::other));
    let mut decoder = GzipDecoder::new(Box::pin(packed));
    decoder.multiple_members(true);
    let chunks = ReaderStream::with_capacity(decoder, CHUNK_BYTES);
    StreamBody::new(chunks.map_ok(Frame::data)).boxed_unsync()
}
