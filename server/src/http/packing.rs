//! Answers are compressed whole, before their first byte is sent.
//!
//! An encoder takes a megabyte or more, and an answer may wait long for its client: so no encoder lives longer than it works. What it made
//! counts in the account of memory until it is sent; where there is no room for it, the answer goes out as it is.
//!
//! Answers that are the same for everybody (the OpenAPI document, the page that shows it) are compressed once for each encoding, when
//! somebody first asks for it, and are kept as long as the process runs.

use std::collections::HashMap;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use telltale_engine::{Memory, MemoryOwner};
use tokio::sync::Semaphore;
use tokio::task::yield_now;

use super::response::held_bytes;
use super::stack::Compressing;
use crate::limits::{PACKED_AT_ONCE_BYTES_MAX, PACKED_TOGETHER};

/// Frames of a long answer after which others have their turn.
const FRAMES_AT_ONCE: usize = 16;

/// The body of an answer as it was before compression.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    pub(super) bytes: Bytes,
    /// Whether these very bytes are there as long as the process.
    pub(super) is_shared: bool,
}

/// Who compresses a long answer: so many at a time, since they let others have their turns in between.
#[derive(Debug)]
pub(super) struct Packers {
    turns: Semaphore,
    /// Shared bytes that were compressed.
    shared: Mutex<HashMap<SharedBytes, Bytes>>,
}

/// Shared bytes in an encoding. Bytes that are there as long as the process are known by where they are; there are a few of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SharedBytes {
    address: usize,
    len: usize,
    encoding: Box<[u8]>,
}

impl SharedBytes {
    fn new(plain: &Bytes, encoding: &HeaderValue) -> Self {
        Self {
            address: plain.as_ptr().addr(),
            len: plain.len(),
            encoding: encoding.as_bytes().into(),
        }
    }
}

impl Default for Packers {
    fn default() -> Self {
        Self { turns: Semaphore::new(PACKED_TOGETHER), shared: Mutex::default() }
    }
}

impl Packers {
    /// Takes the compressed body of an answer to its end, if it has one.
    pub(super) async fn pack(
        &self,
        response: http::Response<Compressing>,
        memory: &Memory,
    ) -> http::Response<Bytes> {
        let (mut head, body) = response.into_parts();
        let plain = head.extensions.remove::<Plain>();
        let (plain, is_shared) = plain.map(|p| (p.bytes, p.is_shared)).unwrap_or_default();
        let Some(encoding) = head.headers.get(CONTENT_ENCODING) else {
            return http::Response::from_parts(head, plain);
        };
        let packed = if is_shared {
            self.pack_shared(SharedBytes::new(&plain, encoding), body).await
        } else {
            self.take_all(body, plain.len()).await.and_then(|packed| {
                let share = memory.take(MemoryOwner::Answers, packed.len() as u64).ok()?;
                Some(held_bytes(packed.into(), share))
            })
        };
        let body = packed.unwrap_or_else(|| {
            head.headers.remove(CONTENT_ENCODING);
            plain
        });
        head.headers.insert(CONTENT_LENGTH, body.len().into());
        http::Response::from_parts(head, body)
    }

    /// The compressed bytes of something shared, made by the first who asks.
    async fn pack_shared(&self, plain: SharedBytes, body: Compressing) -> Option<Bytes> {
        let known = self.shared.lock().get(&plain).cloned();
        if known.is_some() {
            return known;
        }
        let packed = Bytes::from(self.take_all(body, plain.len).await?);
        // Who asked at the same moment made the same bytes: those of the first stay.
        Some(Bytes::clone(self.shared.lock().entry(plain).or_insert(packed)))
    }

    /// How many shared bodies are kept, each in an encoding.
    #[cfg(test)]
    pub(super) fn shared(&self) -> usize {
        self.shared.lock().len()
    }

    /// The compressed bytes, unless the encoder fails.
    async fn take_all(&self, mut body: Compressing, plain_bytes: usize) -> Option<Vec<u8>> {
        let is_long = plain_bytes > PACKED_AT_ONCE_BYTES_MAX;
        // It is never closed.
        let _turn = if is_long { Some(self.turns.acquire().await.ok()?) } else { None };
        let (mut packed, mut frames) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            packed.extend_from_slice(frame.ok()?.data_ref()?);
            frames += 1;
            if is_long && frames % FRAMES_AT_ONCE == 0 {
                yield_now().await;
            }
        }
        packed.shrink_to_fit();
        Some(packed)
    }
}
