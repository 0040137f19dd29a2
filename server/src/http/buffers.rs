//! Bytes of the buffers that connections read into: hyper makes them larger for whoever sends much, and keeps them so.
//!
//! Only the socket is seen here, so what hyper keeps is concluded. Of HTTP/1 it keeps what it has read of headers that have not ended. Of
//! HTTP/2 it takes frames apart as they come, whether a request begins or not: what it may keep follows from the limits of the protocol
//! and not from how much was sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits;

/// The buffers of all connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers(Arc<AtomicU64>);

/// The buffer of one connection. It counts until it is dropped.
#[derive(Debug)]
pub(super) struct Buffer {
    all: Buffers,
    counted: u64,
    /// Bytes that were read of a request whose headers have not ended. Of HTTP/1 only.
    unfinished: u64,
    /// As many of them as hyper keeps.
    unfinished_max: u64,
}

impl Buffers {
    /// The buffer of a new connection, which has none yet. Of headers that have not ended, so many bytes are kept at most.
    pub(super) fn begin(&self, unfinished_max: usize) -> Buffer {
        let unfinished_max = unfinished_max as u64;
        Buffer { all: self.clone(), counted: 0, unfinished: 0, unfinished_max }
    }

    /// Bytes of all of them, about.
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Buffer {
    /// There is room for so many bytes behind those that were read of HTTP/1.
    pub(super) fn has_room(&mut self, room: usize) {
        self.count(self.unfinished + room as u64);
    }

    /// So many bytes of HTTP/1 were read.
    pub(super) fn read(&mut self, bytes: usize) {
        self.unfinished = (self.unfinished + bytes as u64).min(self.unfinished_max);
    }

    /// What was read is in other hands: those of a request.
    pub(super) fn handed_on(&mut self) {
        self.unfinished = 0;
    }

    /// The connection speaks HTTP/2 and waits for the next frame. While requests are being answered, their bodies may wait to be taken.
    pub(super) fn awaits_frame(&mut self, is_answering: bool) {
        let bytes =
            if is_answering { limits::HTTP2_WINDOW_BYTES } else { limits::HTTP2_FRAME_BYTES_MAX };
        self.count(u64::from(bytes));
    }

    fn count(&mut self, bytes: u64) {
        if bytes != self.counted {
            // What becomes less wraps around.
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
        let (mut one, mut other) = (buffers.begin(64 << 10), buffers.begin(64 << 10));
        one.has_room(8_192);
        other.has_room(100);
        assert_eq!(buffers.bytes(), 8_292);
        one.read(8_000);
        one.has_room(20_000);
        assert_eq!(buffers.bytes(), 28_100, "headers that have not ended stay");
        one.handed_on();
        one.has_room(8_192);
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
    fn headers_that_never_end_count_as_much_as_is_kept_of_them() {
        let buffers = Buffers::default();
        let mut buffer = buffers.begin(64 << 10);
        for _ in 0..1_000 {
            buffer.has_room(4 << 10);
            buffer.read(4 << 10);
        }
        assert_eq!(buffers.bytes(), 68 << 10);
    }
}
