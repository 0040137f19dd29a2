//! Compresses responses completely before their first byte is sent.
//!
//! An encoder takes a megabyte or more, and sending a response can take long, so no encoder is kept
//! longer than it works. The compressed bytes count in the memory account until they are sent; if
//! the account has no capacity for them, the response is sent uncompressed.
//!
//! Responses that are the same for all clients (the OpenAPI document, the files of the console) are
//! compressed once per encoding, at the first request and as well as the encoding can, and kept for
//! the life of the process.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use telltale_engine::{Memory, MemoryOwner};
use tokio::sync::Semaphore;
use tokio::task::yield_now;

use super::encodings_layer::Compressing;
use super::response::held_bytes;
use crate::limits::{COMPRESS_UNTHROTTLED_BYTES_MAX, COMPRESSIONS_AT_ONCE};
use crate::platform::connection_thread;

/// Number of frames of a long response after which the task yields.
const FRAMES_PER_TURN: usize = 16;
/// The highest level that needs no more memory to decompress than browsers have for it.
const STATIC_ZSTD_LEVEL: i32 = 19;

/// The body of a response before compression.
#[derive(Clone, Debug, Default)]
pub(super) struct UncompressedBody {
    pub(super) bytes: Bytes,
    /// Whether these bytes are static: they exist for the life of the process.
    pub(super) is_static: bool,
    /// The status of a response that a handler has compressed. The layer that compresses does not
    /// know every encoding, and takes it for one that the client does not accept.
    pub(super) encoded: Option<StatusCode>,
}

/// Compresses responses. Limits how many long ones are compressed at a time, since their tasks
/// yield to others.
#[derive(Debug)]
pub(super) struct ResponseCompressor {
    permits: Arc<Semaphore>,
    /// Compressed static bytes.
    static_bodies: Arc<Mutex<HashMap<StaticBytes, Bytes>>>,
}

/// Identifies static bytes in an encoding, by address and length; there are only a few of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StaticBytes {
    address: usize,
    len: usize,
    encoding: Box<[u8]>,
}

impl StaticBytes {
    fn new(plain: &Bytes, encoding: &HeaderValue) -> Self {
        Self {
            address: plain.as_ptr().addr(),
            len: plain.len(),
            encoding: encoding.as_bytes().into(),
        }
    }
}

impl Default for ResponseCompressor {
    fn default() -> Self {
        let permits = Arc::new(Semaphore::new(COMPRESSIONS_AT_ONCE));
        Self { permits, static_bodies: Arc::default() }
    }
}

impl ResponseCompressor {
    /// Reads the compressed body of a response to its end, if it is compressed.
    pub(super) async fn compress(
        &self,
        response: http::Response<Compressing>,
        memory: &Memory,
    ) -> http::Response<Bytes> {
        let (mut head, body) = response.into_parts();
        let plain = head.extensions.remove::<UncompressedBody>();
        let UncompressedBody { bytes: plain, is_static, encoded } = plain.unwrap_or_default();
        if let Some(status) = encoded {
            head.status = status;
            return http::Response::from_parts(head, plain);
        }
        let Some(encoding) = head.headers.get(CONTENT_ENCODING) else {
            return http::Response::from_parts(head, plain);
        };
        let compressed = if is_static {
            self.compress_static(StaticBytes::new(&plain, encoding), &plain, body).await
        } else {
            self.read_all(body, plain.len()).await.and_then(|compressed| {
                let share = memory.take(MemoryOwner::Answers, compressed.len() as u64).ok()?;
                Some(held_bytes(compressed.into(), share))
            })
        };
        let body = compressed.unwrap_or_else(|| {
            head.headers.remove(CONTENT_ENCODING);
            plain
        });
        head.headers.insert(CONTENT_LENGTH, body.len().into());
        http::Response::from_parts(head, body)
    }

    /// Returns the compressed static bytes; the first caller compresses them.
    async fn compress_static(
        &self,
        id: StaticBytes,
        plain: &Bytes,
        body: Compressing,
    ) -> Option<Bytes> {
        let find = || self.static_bodies.lock().get(&id).cloned();
        if let Some(existing) = find() {
            return Some(existing);
        }
        // The semaphore is never closed.
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        // Those who waited find what the first one has made.
        if let Some(existing) = find() {
            return Some(existing);
        }
        let (bodies, own, source) = (Arc::clone(&self.static_bodies), id.clone(), plain.clone());
        // Ends, and keeps its result, even if the client leaves.
        let work = move || {
            let _permit = permit;
            let compressed = compress_well(&own.encoding, &source)?;
            Some(bodies.lock().entry(own).or_insert(compressed.into()).clone())
        };
        if let Some(compressed) = connection_thread::spawn_blocking(work).await.ok()? {
            return Some(compressed);
        }
        let compressed = self.read_all(body, id.len).await?;
        Some(self.static_bodies.lock().entry(id).or_insert(compressed.into()).clone())
    }

    /// Returns the number of compressed static bodies.
    #[cfg(test)]
    pub(super) fn static_bodies(&self) -> usize {
        self.static_bodies.lock().len()
    }

    /// Returns the compressed bytes; `None` if the encoder fails.
    async fn read_all(&self, mut body: Compressing, plain_bytes: usize) -> Option<Vec<u8>> {
        let is_long = plain_bytes > COMPRESS_UNTHROTTLED_BYTES_MAX;
        // The semaphore is never closed.
        let _permit = if is_long { Some(self.permits.acquire().await.ok()?) } else { None };
        let (mut compressed, mut frames) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            compressed.extend_from_slice(frame.ok()?.data_ref()?);
            frames += 1;
            if is_long && frames % FRAMES_PER_TURN == 0 {
                yield_now().await;
            }
        }
        compressed.shrink_to_fit();
        Some(compressed)
    }
}

/// Compresses as well as the encoding can, which takes up to a second for a megabyte; `None` if
/// the encoding is another one.
fn compress_well(encoding: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
    let mut compressed = match encoding {
        b"gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(plain).and_then(|()| encoder.finish()).ok()
        }
        b"zstd" => zstd::bulk::compress(plain, STATIC_ZSTD_LEVEL).ok(),
        _ => None,
    }?;
    compressed.shrink_to_fit();
    Some(compressed)
}
