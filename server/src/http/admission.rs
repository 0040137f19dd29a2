//! Admission control: limits the number of requests in progress and the bytes of their bodies.
//!
//! Over the limits, requests are shed at once with `overloaded` instead of being queued. A request
//! that only waits for an event releases its permit meanwhile; the number of such requests is
//! limited where they wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use telltale_engine::{Memory, MemoryOwner, MemoryShare};

use super::error::{ApiError, ApiResult, ErrorCode};
use super::settings::Settings;
use crate::limits;

/// The error message if the memory account has no capacity.
pub(super) const MEMORY_FULL: &str =
    "the memory limit is reached (memory.limit): request or send less at once, or try again later";

/// The requests in progress, and their limits.
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

/// The purpose for which a request takes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Any, within the memory limit.
    Any,
    /// Freeing memory of a store, which may take a small reserve beyond each limit.
    Drain,
}

impl Purpose {
    /// Returns the number of requests admitted beyond the limit.
    fn extra_requests(self) -> usize {
        match self {
            Self::Any => 0,
            Self::Drain => limits::DRAINING_REQUESTS,
        }
    }

    /// Returns the bytes of bodies admitted beyond the limit.
    fn extra_body_bytes(self) -> usize {
        match self {
            Self::Any => 0,
            Self::Drain => limits::DRAINING_BODY_BYTES,
        }
    }
}

/// The permit of an admitted request and the reservation of its body's bytes. Clones share both;
/// dropping the last one releases them.
#[derive(Clone, Debug)]
pub(super) struct Reservation(Arc<HeldResources>);

#[derive(Debug)]
struct HeldResources {
    counts: Arc<Counts>,
    body_bytes: AtomicUsize,
    share: Mutex<MemoryShare>,
    purpose: Purpose,
    /// Whether the request counts as in progress; false while it waits.
    is_counted: AtomicBool,
    /// The usage of the sender's address, if that is limited.
    address_bytes: Option<AddressBytes>,
}

/// The bytes of bodies in progress of one address, shared by its requests, and their limit.
#[derive(Clone, Debug)]
pub(super) struct AddressBytes {
    pub(super) bytes: Arc<AtomicUsize>,
    pub(super) bytes_max: usize,
}

impl Admission {
    pub(super) fn new(settings: &Settings) -> Self {
        let (requests, bytes) =
            (settings.http.requests_in_flight, settings.bodies.in_flight_bytes_max());
        Self::of(requests, bytes, &settings.memory)
    }

    /// Returns an admission for this many requests with this many bytes of bodies.
    pub(super) fn of(requests_max: usize, body_bytes_max: usize, memory: &Memory) -> Self {
        let (requests, body_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let memory = memory.clone();
        Self(Arc::new(Counts { requests, requests_max, body_bytes, body_bytes_max, memory }))
    }

    /// Admits a request, or sheds it.
    pub(super) fn enter(&self) -> ApiResult<Reservation> {
        self.enter_for(Purpose::Any)
    }

    /// Like [`Self::enter`], for a request with this purpose.
    pub(super) fn enter_for(&self, purpose: Purpose) -> ApiResult<Reservation> {
        self.enter_from(purpose, None)
    }

    /// Like [`Self::enter_for`], for a request from an address whose bytes are limited.
    pub(super) fn enter_from(
        &self,
        purpose: Purpose,
        address_bytes: Option<AddressBytes>,
    ) -> ApiResult<Reservation> {
        let counts = Arc::clone(&self.0);
        let requests_max = counts.requests_max.saturating_add(purpose.extra_requests());
        if counts.requests.fetch_add(1, Ordering::Relaxed) >= requests_max {
            counts.requests.fetch_sub(1, Ordering::Relaxed);
            return Err(overloaded("too many requests are in progress"));
        }
        let share = Mutex::new(counts.memory.share(MemoryOwner::Bodies));
        Ok(Reservation(Arc::new(HeldResources {
            share,
            purpose,
            counts,
            body_bytes: AtomicUsize::new(0),
            is_counted: AtomicBool::new(true),
            address_bytes,
        })))
    }

    /// Returns the number of requests in progress.
    pub(super) fn requests(&self) -> usize {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the bodies of requests in progress.
    pub(super) fn body_bytes(&self) -> usize {
        self.0.body_bytes.load(Ordering::Relaxed)
    }
}

impl Reservation {
    /// Reserves more bytes for the body. Sheds the request if others use the capacity; refuses it
    /// permanently if the body would not fit even without other requests.
    pub(super) fn add(&self, bytes: usize) -> ApiResult<()> {
        let HeldResources { counts, body_bytes, purpose, address_bytes, .. } = &*self.0;
        if bytes > self.available() {
            let message =
                "the body is larger than the limit for all bodies together (bodies.in_flight)";
            return Err(ApiError::new(ErrorCode::PayloadTooLarge, message));
        }
        let before = counts.body_bytes.fetch_add(bytes, Ordering::Relaxed);
        body_bytes.fetch_add(bytes, Ordering::Relaxed);
        let of_address_before = address_bytes
            .as_ref()
            .map_or(0, |address_bytes| address_bytes.bytes.fetch_add(bytes, Ordering::Relaxed));
        let most = counts.body_bytes_max.saturating_add(purpose.extra_body_bytes());
        if before.saturating_add(bytes) > most {
            return Err(overloaded("too many bytes are being received"));
        }
        if address_bytes.as_ref().is_some_and(|most| of_address_before + bytes > most.bytes_max) {
            return Err(overloaded("too many bytes are being received from this address"));
        }
        self.0.take(bytes)
    }

    /// Releases reserved bytes.
    pub(super) fn release_bytes(&self, bytes: usize) {
        let HeldResources { counts, body_bytes, share, .. } = &*self.0;
        counts.body_bytes.fetch_sub(bytes, Ordering::Relaxed);
        body_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.0.release_address_bytes(bytes);
        let mut share = share.lock();
        let rest = share.bytes().saturating_sub(bytes as u64);
        share.shrink_to(rest);
    }

    /// Reserves memory for what is derived from the body, until the request ends or waits.
    pub(super) fn hold(&self, bytes: usize) -> ApiResult<()> {
        self.0.take(bytes)
    }

    /// Returns whether the request uses the reserve beyond the limit, which all requests that free
    /// memory of stores share.
    pub(super) fn uses_reserve(&self) -> bool {
        self.0.share.lock().of_reserve() > 0
    }

    /// Returns the memory account.
    pub(super) fn memory(&self) -> &Memory {
        &self.0.counts.memory
    }

    /// Returns the bytes that could be reserved if there were no other request.
    pub(super) fn available(&self) -> usize {
        let HeldResources { counts, body_bytes, address_bytes, .. } = &*self.0;
        let limit = usize::try_from(counts.memory.limit()).unwrap_or(usize::MAX);
        let limit = address_bytes
            .as_ref()
            .map_or(limit, |address_bytes| limit.min(address_bytes.bytes_max));
        counts.body_bytes_max.min(limit).saturating_sub(body_bytes.load(Ordering::Relaxed))
    }

    /// Releases everything while the request waits. Its body must have been dropped.
    pub(super) fn release(&self) {
        self.0.release();
    }

    /// Counts a request again after it has waited. It is never shed: it already holds what it
    /// waited for, and new requests are shed instead.
    pub(super) fn reacquire(&self) {
        if !self.0.is_counted.swap(true, Ordering::Relaxed) {
            self.0.counts.requests.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl HeldResources {
    fn take(&self, bytes: usize) -> ApiResult<()> {
        let mut share = self.share.lock();
        let grown = match self.purpose {
            Purpose::Any => share.grow(bytes as u64),
            Purpose::Drain => share.grow_from_reserve(bytes as u64),
        };
        grown.map_err(|full| overloaded(MEMORY_FULL).caused_by(full))
    }

    /// Releases bytes of the address.
    fn release_address_bytes(&self, bytes: usize) {
        if let Some(address_bytes) = &self.address_bytes {
            address_bytes.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn release(&self) {
        let body_bytes = self.body_bytes.swap(0, Ordering::Relaxed);
        self.counts.body_bytes.fetch_sub(body_bytes, Ordering::Relaxed);
        self.release_address_bytes(body_bytes);
        self.share.lock().shrink_to(0);
        if self.is_counted.swap(false, Ordering::Relaxed) {
            self.counts.requests.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for HeldResources {
    fn drop(&mut self) {
        self.release();
    }
}

pub(super) fn overloaded(message: &'static str) -> ApiError {
    ApiError::new(ErrorCode::Overloaded, message).retry_after(limits::OVERLOADED_RETRY_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::settings::{Auto, ByteSize};

    fn admission(requests: usize, bytes: usize) -> Admission {
        Admission::new(&Settings::changed(|s| {
            s.http.requests_in_flight = requests;
            s.bodies.in_flight = Auto::Set(ByteSize::at_least_one(bytes as u64));
        }))
    }

    #[test]
    fn requests_over_the_limit_are_shed_until_one_ends() {
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
    fn bodies_over_the_limit_are_shed_and_release_their_bytes() {
        let admission = admission(2, 100);
        let small = admission.enter().unwrap();
        small.add(60).unwrap();
        let large = admission.enter().unwrap();
        assert_eq!(large.add(41).unwrap_err().code(), ErrorCode::Overloaded);
        drop(large);
        assert_eq!(admission.body_bytes(), 60);
        small.release_bytes(20);
        let large = admission.enter().unwrap();
        large.add(60).unwrap();
        assert_eq!(admission.body_bytes(), 100);
        drop((small, large));
        assert_eq!((admission.requests(), admission.body_bytes()), (0, 0));
    }

    #[test]
    fn a_body_that_can_never_fit_is_refused_permanently() {
        let admission = admission(2, 100);
        let alone = admission.enter().unwrap();
        alone.add(60).unwrap();
        assert_eq!(alone.available(), 40);
        assert_eq!(alone.add(41).unwrap_err().code(), ErrorCode::PayloadTooLarge);
        assert_eq!(
            (alone.available(), admission.body_bytes()),
            (40, 60),
            "a refusal takes nothing"
        );
        let memory = Memory::new(50);
        let small = Admission::of(2, 100, &memory).enter().unwrap();
        assert_eq!(small.add(51).unwrap_err().code(), ErrorCode::PayloadTooLarge);
        let _other = memory.take(MemoryOwner::Merges, 10).unwrap();
        assert_eq!(small.add(41).unwrap_err().code(), ErrorCode::Overloaded);
    }

    #[test]
    fn draining_requests_may_send_small_bodies_while_memory_is_full() {
        let memory = Memory::new(1_600);
        let admission = Admission::of(2, 1_000, &memory);
        memory.hold(MemoryOwner::Jobs, 1_600);
        assert_eq!(admission.enter().unwrap().add(1).unwrap_err().code(), ErrorCode::Overloaded);
        let fetch = admission.enter_for(Purpose::Drain).unwrap();
        assert!(!fetch.uses_reserve());
        fetch.add(50).unwrap();
        assert!(fetch.uses_reserve());
        fetch.hold(50).unwrap();
        assert_eq!(fetch.hold(1).unwrap_err().code(), ErrorCode::Overloaded);
        fetch.release();
        assert!(!fetch.uses_reserve());
        fetch.add(100).unwrap();
        drop(fetch);
        assert_eq!(memory.held(), 1_600);
    }

    #[test]
    fn draining_requests_are_admitted_beyond_the_limits() {
        let admission = admission(1, 100);
        let other = admission.enter().unwrap();
        other.add(100).unwrap();
        admission.enter().unwrap_err();
        let ack = admission.enter_for(Purpose::Drain).unwrap();
        ack.add(50).unwrap();
        assert_eq!(other.add(1).unwrap_err().code(), ErrorCode::PayloadTooLarge);
        drop((other, ack));
        assert_eq!((admission.requests(), admission.body_bytes()), (0, 0));
        // The reserve is limited.
        let most = 1 + limits::DRAINING_REQUESTS;
        let entered: Vec<_> =
            (0..most).map(|_| admission.enter_for(Purpose::Drain).unwrap()).collect();
        admission.enter_for(Purpose::Drain).unwrap_err();
        let room = 100 + limits::DRAINING_BODY_BYTES;
        let fits = entered.iter().take_while(|request| request.add(100).is_ok()).count();
        assert_eq!(fits, most.min(room / 100));
    }

    #[test]
    fn a_waiting_request_holds_no_permit_and_reacquires_one() {
        let admission = admission(1, 100);
        let waits = admission.enter().unwrap();
        waits.add(60).unwrap();
        waits.release();
        assert_eq!((admission.requests(), admission.body_bytes()), (0, 0));
        let other = admission.enter().unwrap();
        waits.reacquire();
        waits.reacquire();
        assert_eq!(admission.requests(), 2);
        drop(other);
        assert_eq!(admission.enter().unwrap_err().code(), ErrorCode::Overloaded);
        waits.release();
        drop(waits);
        assert_eq!(admission.requests(), 0);
    }
}
