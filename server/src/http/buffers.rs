//! Memory of the connections' read buffers, which hyper enlarges for clients that send much and
//! never shrinks.
//!
//! The code sees only the socket, so buffer sizes are inferred. For HTTP/1, hyper keeps the bytes
//! of incomplete headers. For HTTP/2, it parses frames as they arrive, so its buffer is bounded by
//! protocol limits and not by the number of bytes received.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits;

/// The read buffers of all connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers(Arc<AtomicU64>);

/// The read buffer of one connection, counted until it is dropped.
#[derive(Debug)]
pub(super) struct Buffer {
    all: Buffers,
    counted: u64,
    /// Bytes of a request whose headers are incomplete. HTTP/1 only.
    unfinished: u64,
    /// Maximum of `unfinished`: what hyper keeps of incomplete headers.
    unfinished_max: u64,
}

impl Buffers {
    /// Returns the buffer of a new connection, initially empty, which holds at most
    /// `unfinished_max` bytes of incomplete headers.
    pub(super) fn open(&self, unfinished_max: usize) -> Buffer {
        let unfinished_max = unfinished_max as u64;
        Buffer { all: self.clone(), counted: 0, unfinished: 0, unfinished_max }
    }

    /// Returns the approximate size of all buffers in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Buffer {
    /// Records the free capacity behind the unfinished bytes (HTTP/1).
    pub(super) fn set_free_space(&mut self, free_space: usize) {
        self.count(self.unfinished + free_space as u64);
    }

    /// Records that bytes were read (HTTP/1).
    pub(super) fn read(&mut self, bytes: usize) {
        self.unfinished = (self.unfinished + bytes as u64).min(self.unfinished_max);
    }

    /// Records that the bytes read so far belong to a complete request.
    pub(super) fn finish_request(&mut self) {
        self.unfinished = 0;
    }

    /// Records that an HTTP/2 connection waits for the next frame. While requests are in progress,
    /// received body data may be waiting to be consumed.
    pub(super) fn awaits_frame(&mut self, is_answering: bool) {
        let bytes =
            if is_answering { limits::HTTP2_WINDOW_BYTES } else { limits::HTTP2_FRAME_BYTES_MAX };
        self.count(u64::from(bytes));
    }

    fn count(&mut self, bytes: u64) {
        if bytes != self.counted {
            // A decrease wraps around, which `fetch_add` handles.
            self.all.0.fetch_add(bytes.wrapping_sub(self.counted), Ordering::Relaxed);
            self.counted = bytes;
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.counted, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_count_while_their_connections_are_open() {
        let buffers = Buffers::default();
        let (mut one, mut other) = (buffers.open(64 << 10), buffers.open(64 << 10));
        one.set_free_space(8_192);
        other.set_free_space(100);
        assert_eq!(buffers.bytes(), 8_292);
        one.read(8_000);
        one.set_free_space(20_000);
        assert_eq!(buffers.bytes(), 28_100, "headers that have not ended stay");
        one.finish_request();
        one.set_free_space(8_192);
        assert_eq!(buffers.bytes(), 8_292);
        one.awaits_frame(true);
        assert_eq!(buffers.bytes(), 100 + u64::from(limits::HTTP2_WINDOW_BYTES));
        one.awaits_frame(false);
        assert_eq!(buffers.bytes(), 100 + u64::from(limits::HTTP2_FRAME_BYTES_MAX));
        drop(one);
        assert_eq!(buffers.bytes(), 100);
        drop(other);
        assert_eq!(buffers.bytes(), 0);
    }

    #[test]
    fn incomplete_headers_count_up_to_what_hyper_keeps_of_them() {
        let buffers = Buffers::default();
        let mut buffer = buffers.open(64 << 10);
        for _ in 0..1_000 {
            buffer.set_free_space(4 << 10);
            buffer.read(4 << 10);
        }
        assert_eq!(buffers.bytes(), 68 << 10);
    }
}
