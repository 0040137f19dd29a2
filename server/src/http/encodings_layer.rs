//! Wraps the pipeline in decompression of requests and compression of responses
//! ([`super::response_compression`]).
//!
//! Compression is the outermost layer, so that stored responses and entity tags refer to
//! uncompressed bodies. The body limit applies inside decompression, so that a decompression bomb
//! stops at the limit. An unknown encoding is passed through and refused where the body is read,
//! with the service's own error body.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use http_body_util::Full;
use tower::{Service, ServiceExt};
use tower_http::body::UnsyncBoxBody;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::compression::{Compression, CompressionBody};
use tower_http::decompression::RequestDecompression;
use tower_http::{BoxError, CompressionLevel};

use super::body::EncodingNamed;
use super::gunzip;
use super::pipeline::{self, Origin};
use super::server::Server;
use crate::limits;

/// The body of a response.
pub type Body = Full<Bytes>;

/// A body that is compressed while it is read.
pub(super) struct Compressing(CompressionBody<UnsyncBoxBody<Bytes, BoxError>>);

impl http_body::Body for Compressing {
    type Data = Bytes;
    /// Not `BoxError`: the compiler fails to prove bounds of a boxed error across hyper's tasks.
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Pin::new(&mut self.0).poll_frame(cx).map_err(io::Error::other)
    }
}

impl Server {
    /// Processes a request and returns its response; never fails.
    pub async fn handle<B>(
        self: &Arc<Self>,
        origin: Origin,
        request: http::Request<B>,
    ) -> http::Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::error::Error + Send + Sync,
    {
        self.respond(origin, request).await.map(Full::new)
    }

    /// Like [`Self::handle`], for a connection.
    pub(super) async fn respond<B>(
        self: &Arc<Self>,
        origin: Origin,
        mut request: http::Request<B>,
    ) -> http::Response<Bytes>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::error::Error + Send + Sync,
    {
        if normalise_encoding(request.headers_mut()) {
            request.extensions_mut().insert(EncodingNamed);
        }
        if gunzip::take_encoding(request.headers_mut()) {
            self.answer(origin, request.map(gunzip::unpacked)).await
        } else {
            self.answer(origin, request).await
        }
    }

    async fn answer<B>(
        self: &Arc<Self>,
        origin: Origin,
        request: http::Request<B>,
    ) -> http::Response<Bytes>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::error::Error + Send + Sync,
    {
        let pipeline = Pipeline { server: Arc::clone(self), origin };
        // Deflate is decoded where bodies are read, since senders disagree about its format; gzip
        // in `gunzip`, because the layer stops after the first member.
        let decompressed = RequestDecompression::new(pipeline)
            .deflate(false)
            .gzip(false)
            .pass_through_unaccepted(true);
        let predicate = SizeAbove::new(limits::COMPRESS_BYTES_MIN).and(NotForContentType::IMAGES);
        // Higher levels take more time than sending the saved bytes would.
        let compressed = Compression::new(decompressed)
            .quality(CompressionLevel::Fastest)
            .compress_when(predicate);
        match compressed.oneshot(request).await {
            Ok(response) => {
                self.compressor.compress(response.map(Compressing), &self.settings.memory).await
            }
            Err(never) => match never {},
        }
    }
}

/// Normalises `Content-Encoding`. Names of encodings are case-insensitive, but the decompression
/// layer knows only lower case. Several header lines are joined into the list that they mean, which
/// is then refused as unsupported. Returns whether the header is present.
fn normalise_encoding(headers: &mut HeaderMap) -> bool {
    let lines: Vec<&[u8]> =
        headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes).collect();
    if lines.is_empty() {
        return false;
    }
    let lower = match lines.join(&b", "[..]).to_ascii_lowercase() {
        old if old == b"x-gzip" => b"gzip".to_vec(),
        lower => lower,
    };
    if let Ok(lower) = HeaderValue::from_bytes(&lower) {
        headers.insert(CONTENT_ENCODING, lower);
    }
    true
}

/// The pipeline as a tower service. Its future is boxed because it is large and would be moved
/// several times.
#[derive(Clone, Debug)]
struct Pipeline {
    server: Arc<Server>,
    origin: Origin,
}

impl<B> Service<http::Request<B>> for Pipeline
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    type Response = http::Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let (server, origin) = (Arc::clone(&self.server), self.origin);
        Box::pin(async move { Ok(pipeline::answer(&server, origin, request).await.map(Full::new)) })
    }
}
