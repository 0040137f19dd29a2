//! Limits the number of requests of a kind that wait, in total and per key. A waiting request holds
//! only a connection, so no other limit applies to it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

/// The waiting requests of a kind.
#[derive(Debug)]
pub struct WaitingRequests {
    counts: Mutex<Counts>,
    max: usize,
    max_per_key: usize,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    /// Only keys with a waiting request.
    by_key: HashMap<Box<str>, usize>,
}

/// The permit of one request to wait. Released when dropped.
#[derive(Debug)]
pub struct WaitPermit {
    waiting: Arc<WaitingRequests>,
    key: Box<str>,
}

impl WaitingRequests {
    /// Allows so many requests in total, and so many of one key.
    pub fn new(max: usize, max_per_key: usize) -> Self {
        Self { counts: Mutex::default(), max, max_per_key }
    }

    /// Returns the number of waiting requests.
    pub fn count(&self) -> usize {
        self.counts.lock().all
    }

    /// Returns a permit for a request of this key, unless a limit is reached.
    pub fn permit(self: &Arc<Self>, key: &str) -> Option<WaitPermit> {
        let mut counts = self.counts.lock();
        let of_key = counts.by_key.get(key).copied().unwrap_or(0);
        if counts.all >= self.max || of_key >= self.max_per_key {
            return None;
        }
        counts.all += 1;
        counts.by_key.insert(key.into(), of_key + 1);
        Some(WaitPermit { waiting: Arc::clone(self), key: key.into() })
    }
}

impl Drop for WaitPermit {
    fn drop(&mut self) {
        let mut counts = self.waiting.counts.lock();
        counts.all = counts.all.saturating_sub(1);
        match counts.by_key.get_mut(&self.key) {
            Some(of_key) if *of_key > 1 => *of_key -= 1,
            _ => drop(counts.by_key.remove(&self.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_requests_are_limited_in_total_and_per_key_and_release_their_permits() {
        let waiting = Arc::new(WaitingRequests::new(3, 2));
        let first = waiting.permit("a").unwrap();
        let _second = waiting.permit("a").unwrap();
        assert!(waiting.permit("a").is_none(), "the limit per key");
        let other = waiting.permit("b").unwrap();
        assert!(waiting.permit("c").is_none(), "the total limit");
        drop(first);
        assert!(waiting.permit("a").is_some());
        drop(other);
        assert_eq!(waiting.count(), 1);
        assert_eq!(
            waiting.counts.lock().by_key.len(),
            1,
            "keys without a waiting request are removed"
        );
    }
}
