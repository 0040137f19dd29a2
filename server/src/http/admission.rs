//! Admission control: how many requests and how many bytes of bodies the server takes on at once.
//!
//! Past the limits it sheds at once, with `overloaded`, instead of queueing what it cannot answer in time. A request that only waits
//! for something to happen costs nothing meanwhile and gives its place back; how many may wait so is the limit of what they wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use telltale_engine::{Memory, MemoryOwner, MemoryShare};

use super::error::{ApiError, ApiResult, ErrorCode};
use super::settings::Settings;
use crate::limits;

/// What is said where the account of memory has no room.
pub(super) const MEMORY_FULL: &str = "the memory of the server is taken (memory.limit)";

/// What is in flight, and how much may be.
#[derive(Debug)]
pub(super) struct Admission(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    requests: AtomicUsize,
    requests_max: usize,
    body_bytes: AtomicUsize,
    body_bytes_max: usize,
    memory: Memory,
}

/// A request that was let in, with the bytes of its body. Gives everything back when dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    counts: Arc<Counts>,
    body_bytes: AtomicUsize,
    share: Mutex<MemoryShare>,
    /// Whether the request is counted: it is not while it waits.
    is_counted: AtomicBool,
}

impl Admission {
    pub(super) fn new(settings: &Settings) -> Self {
        let (requests, bytes) =
            (settings.requests_in_flight_max, settings.body_bytes_in_flight_max);
        Self::of(requests, bytes, &settings.memory)
    }

    /// For so many requests with so many bytes of bodies.
    pub(super) fn of(requests_max: usize, body_bytes_max: usize, memory: &Memory) -> Self {
        let (requests, body_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let memory = memory.clone();
        Self(Arc::new(Counts { requests, requests_max, body_bytes, body_bytes_max, memory }))
    }

    /// Lets a request in, or sheds it.
    pub(super) fn enter(&self) -> ApiResult<Reservation> {
        let counts = Arc::clone(&self.0);
        if counts.requests.fetch_add(1, Ordering::Relaxed) >= counts.requests_max {
            counts.requests.fetch_sub(1, Ordering::Relaxed);
            return Err(overloaded("too many requests are being answered"));
        }
        let share = Mutex::new(counts.memory.share(MemoryOwner::Bodies));
        Ok(Reservation {
            share,
            counts,
            body_bytes: AtomicUsize::new(0),
            is_counted: AtomicBool::new(true),
        })
    }

    /// Requests being answered.
    pub(super) fn requests(&self) -> usize {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// Bytes of the bodies of requests being answered.
    pub(super) fn body_bytes(&self) -> usize {
        self.0.body_bytes.load(Ordering::Relaxed)
    }
}

impl Reservation {
    /// Takes on more bytes of the body, or sheds the request.
    pub(super) fn add(&mut self, bytes: usize) -> ApiResult<()> {
        let before = self.counts.body_bytes.fetch_add(bytes, Ordering::Relaxed);
        *self.body_bytes.get_mut() += bytes;
        if before.saturating_add(bytes) > self.counts.body_bytes_max {
            return Err(overloaded("too many bytes are being received"));
        }
        self.share.get_mut().grow(bytes as u64).map_err(|_full| overloaded(MEMORY_FULL))
    }

    /// Gives everything back while the request waits. Its body must be gone.
    pub(super) fn leave(&self) {
        let body_bytes = self.body_bytes.swap(0, Ordering::Relaxed);
        self.counts.body_bytes.fetch_sub(body_bytes, Ordering::Relaxed);
        self.share.lock().shrink_to(0);
        if self.is_counted.swap(false, Ordering::Relaxed) {
            self.counts.requests.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Counts a request again that has waited. It is never shed: what it waited for is in its hands, and new requests are shed
    /// in its place.
    pub(super) fn enter_again(&self) {
        if !self.is_counted.swap(true, Ordering::Relaxed) {
            self.counts.requests.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.leave();
    }
}

pub(super) fn overloaded(message: &'static str) -> ApiError {
    ApiError::new(ErrorCode::Overloaded, message).retry_after(limits::OVERLOADED_RETRY_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(requests: usize, bytes: usize) -> Admission {
        Admission::new(&Settings {
            requests_in_flight_max: requests,
            body_bytes_in_flight_max: bytes,
            ..Settings::default()
        })
    }

    #[test]
    fn sheds_the_request_past_the_limit_and_lets_in_again_when_one_ends() {
        let admission = admission(2, 100);
        let first = admission.enter().unwrap();
        let _second = admission.enter().unwrap();
        let refused = admission.enter().unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Overloaded);
        assert_eq!(refused.retry_after_seconds(), Some(1));
        drop(first);
        admission.enter().unwrap();
    }

    #[test]
    fn sheds_the_body_past_the_limit_and_gives_its_bytes_back() {
        let admission = admission(2, 100);
        let mut small = admission.enter().unwrap();
        small.add(60).unwrap();
        let mut large = admission.enter().unwrap();
        assert_eq!(large.add(41).unwrap_err().code(), ErrorCode::Overloaded);
        drop(large);
        assert_eq!(admission.body_bytes(), 60);
        drop(small);
        assert_eq!((admission.requests(), admission.body_bytes()), (0, 0));
    }

    #[test]
    fn a_request_that_waits_holds_no_place_and_takes_one_again() {
        let admission = admission(1, 100);
        let mut waits = admission.enter().unwrap();
        waits.add(60).unwrap();
        waits.leave();
        assert_eq!((admission.requests(), admission.body_bytes()), (0, 0));
        let other = admission.enter().unwrap();
        waits.enter_again();
        waits.enter_again();
        assert_eq!(admission.requests(), 2);
        drop(other);
        assert_eq!(admission.enter().unwrap_err().code(), ErrorCode::Overloaded);
        waits.leave();
        drop(waits);
        assert_eq!(admission.requests(), 0);
    }
}
