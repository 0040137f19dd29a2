//! Bytes of the buffers that connections read into: hyper makes them larger for whoever sends much, and keeps them so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The buffers of all connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers(Arc<AtomicU64>);

/// The buffer of one connection. It counts until it is dropped.
#[derive(Debug)]
pub(super) struct Buffer {
    all: Buffers,
    counted: u64,
    /// Bytes that were read of a request whose headers have not ended.
    unfinished: u64,
}

impl Buffers {
    /// The buffer of a new connection, which has none yet.
    pub(super) fn begin(&self) -> Buffer {
        Buffer { all: self.clone(), counted: 0, unfinished: 0 }
    }

    /// Bytes of all of them, about.
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Buffer {
    /// There is room for so many bytes behind those that were read.
    pub(super) fn has_room(&mut self, room: usize) {
        let bytes = self.unfinished + room as u64;
        if bytes != self.counted {
            // What becomes less wraps around.
            self.all.0.fetch_add(bytes.wrapping_sub(self.counted), Ordering::Relaxed);
            self.counted = bytes;
        }
    }

    /// So many bytes were read.
    pub(super) fn read(&mut self, bytes: usize) {
        self.unfinished += bytes as u64;
    }

    /// What was read is in other hands: those of a request.
    pub(super) fn handed_on(&mut self) {
        self.unfinished = 0;
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
        let (mut one, mut other) = (buffers.begin(), buffers.begin());
        one.has_room(8_192);
        other.has_room(100);
        assert_eq!(buffers.bytes(), 8_292);
        one.read(8_000);
        one.has_room(20_000);
        assert_eq!(buffers.bytes(), 28_100, "headers that have not ended stay");
        one.handed_on();
        one.has_room(8_192);
        assert_eq!(buffers.bytes(), 8_292);
        drop(one);
        assert_eq!(buffers.bytes(), 100);
        drop(other);
        assert_eq!(buffers.bytes(), 0);
    }
}
