//! The bytes that wait in a queue: a queue is bounded by them, and not by the number of its items
//! alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the bytes that wait in a queue.
#[derive(Clone, Debug)]
pub(super) struct QueueBytes {
    waiting: Arc<AtomicUsize>,
    max: usize,
}

/// A share of the bytes of a queue, until it is dropped.
#[derive(Debug)]
pub(super) struct QueueShare {
    waiting: Arc<AtomicUsize>,
    bytes: usize,
}

impl QueueBytes {
    /// Returns the account of a queue in which `max` bytes may wait.
    pub(super) fn new(max: usize) -> Self {
        Self { waiting: Arc::default(), max }
    }

    /// Takes a share for an item; `None` if the queue has no place for it.
    pub(super) fn take(&self, bytes: usize) -> Option<QueueShare> {
        let before = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        let share = QueueShare { waiting: Arc::clone(&self.waiting), bytes };
        (before.saturating_add(bytes) <= self.max).then_some(share)
    }
}

impl Drop for QueueShare {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_bounded_and_released() {
        let queue = QueueBytes::new(10);
        let first = queue.take(6).unwrap();
        assert!(queue.take(5).is_none());
        let second = queue.take(4).unwrap();
        assert!(queue.take(1).is_none());
        drop(first);
        let third = queue.take(6).unwrap();
        drop((second, third));
        assert!(queue.take(11).is_none() && queue.take(10).is_some());
    }
}
