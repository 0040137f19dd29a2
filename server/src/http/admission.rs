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
pub(super) const MEMORY_FULL: &str =
    "memory is full (memory.limit): ask for less or send less at once, or try again later";

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

/// What a request may take memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Anything that the limit of memory leaves room for.
    Any,
    /// Making a store smaller, which may take a small reserve beyond each limit.
    Drain,
}

impl Purpose {
    /// Requests that may be answered beyond the limit.
    fn places_beyond(self) -> usize {
        match self {
            Self::Any => 0,
            Self::Drain => limits::DRAINING_REQUESTS,
        }
    }

    /// Bytes of bodies that may be received beyond the limit.
    fn body_bytes_beyond(self) -> usize {
        match self {
            Self::Any => 0,
            Self::Drain => limits::DRAINING_BODY_BYTES,
        }
    }
}

/// A request that was let in, with the bytes of its body. Clones are the same one; the last to be dropped gives everything back.
#[derive(Clone, Debug)]
pub(super) struct Reservation(Arc<Held>);

#[derive(Debug)]
struct Held {
    counts: Arc<Counts>,
    body_bytes: AtomicUsize,
    share: Mutex<MemoryShare>,
    purpose: Purpose,
    /// Whether the request is counted: it is not while it waits.
    is_counted: AtomicBool,
    /// What the address that sends it has in flight, where that is limited.
    of_address: Option<AddressBytes>,
}

/// The bytes of bodies that one address has in flight, which all of its requests share, and how many it may have.
#[derive(Clone, Debug)]
pub(super) struct AddressBytes {
    pub(super) bytes: Arc<AtomicUsize>,
    pub(super) bytes_max: usize,
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
        self.enter_for(Purpose::Any)
    }

    /// The same, of a request with this purpose.
    pub(super) fn enter_for(&self, purpose: Purpose) -> ApiResult<Reservation> {
        self.enter_from(purpose, None)
    }

    /// The same, of a request from an address that may have so many bytes in flight.
    pub(super) fn enter_from(
        &self,
        purpose: Purpose,
        of_address: Option<AddressBytes>,
    ) -> ApiResult<Reservation> {
        let counts = Arc::clone(&self.0);
        let places = counts.requests_max.saturating_add(purpose.places_beyond());
        if counts.requests.fetch_add(1, Ordering::Relaxed) >= places {
            counts.requests.fetch_sub(1, Ordering::Relaxed);
            return Err(overloaded("too many requests are being answered"));
        }
        let share = Mutex::new(counts.memory.share(MemoryOwner::Bodies));
        Ok(Reservation(Arc::new(Held {
            share,
            purpose,
            counts,
            body_bytes: AtomicUsize::new(0),
            is_counted: AtomicBool::new(true),
            of_address,
        })))
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
    /// Takes on more bytes of the body. Sheds the request when others have taken the room; refuses it for good when its body would
    /// not fit if it were the only one.
    pub(super) fn add(&self, bytes: usize) -> ApiResult<()> {
        let Held { counts, body_bytes, purpose, of_address, .. } = &*self.0;
        if bytes > self.left() {
            let message =
                "the body is larger than the limit for all bodies together (bodies.in_flight)";
            return Err(ApiError::new(ErrorCode::PayloadTooLarge, message));
        }
        let before = counts.body_bytes.fetch_add(bytes, Ordering::Relaxed);
        body_bytes.fetch_add(bytes, Ordering::Relaxed);
        let of_address_before = of_address
            .as_ref()
            .map_or(0, |of_address| of_address.bytes.fetch_add(bytes, Ordering::Relaxed));
        let most = counts.body_bytes_max.saturating_add(purpose.body_bytes_beyond());
        if before.saturating_add(bytes) > most {
            return Err(overloaded("too many bytes are being received"));
        }
        if of_address.as_ref().is_some_and(|most| of_address_before + bytes > most.bytes_max) {
            return Err(overloaded("too many bytes are being received from this address"));
        }
        self.0.take(bytes)
    }

    /// Gives bytes back that were added.
    pub(super) fn give_back(&self, bytes: usize) {
        let Held { counts, body_bytes, share, .. } = &*self.0;
        counts.body_bytes.fetch_sub(bytes, Ordering::Relaxed);
        body_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.0.give_back_of_address(bytes);
        let mut share = share.lock();
        let rest = share.bytes().saturating_sub(bytes as u64);
        share.shrink_to(rest);
    }

    /// Takes memory for what is made of the body, until the request ends or waits.
    pub(super) fn hold(&self, bytes: usize) -> ApiResult<()> {
        self.0.take(bytes)
    }

    /// Whether the request has memory beyond the limit, of the small reserve that all requests which make stores smaller share.
    pub(super) fn is_of_reserve(&self) -> bool {
        self.0.share.lock().of_reserve() > 0
    }

    /// The account of memory.
    pub(super) fn memory(&self) -> &Memory {
        &self.0.counts.memory
    }

    /// Bytes that may be added if there is no other request.
    pub(super) fn left(&self) -> usize {
        let Held { counts, body_bytes, of_address, .. } = &*self.0;
        let limit = usize::try_from(counts.memory.limit()).unwrap_or(usize::MAX);
        let limit = of_address.as_ref().map_or(limit, |of_address| limit.min(of_address.bytes_max));
        counts.body_bytes_max.min(limit).saturating_sub(body_bytes.load(Ordering::Relaxed))
    }

    /// Gives everything back while the request waits. Its body must be gone.
    pub(super) fn leave(&self) {
        self.0.leave();
    }

    /// Counts a request again that has waited. It is never shed: what it waited for is in its hands, and new requests are shed
    /// in its place.
    pub(super) fn enter_again(&self) {
        if !self.0.is_counted.swap(true, Ordering::Relaxed) {
            self.0.counts.requests.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Held {
    fn take(&self, bytes: usize) -> ApiResult<()> {
        let mut share = self.share.lock();
        let grown = match self.purpose {
            Purpose::Any => share.grow(bytes as u64),
            Purpose::Drain => share.grow_to_drain(bytes as u64),
        };
        grown.map_err(|full| overloaded(MEMORY_FULL).caused_by(full))
    }

    /// Gives bytes back that the address had in flight.
    fn give_back_of_address(&self, bytes: usize) {
        if let Some(of_address) = &self.of_address {
            of_address.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn leave(&self) {
        let body_bytes = self.body_bytes.swap(0, Ordering::Relaxed);
        self.counts.body_bytes.fetch_sub(body_bytes, Ordering::Relaxed);
        self.give_back_of_address(body_bytes);
        self.share.lock().shrink_to(0);
        if self.is_counted.swap(false, Ordering::Relaxed) {
            self.counts.requests.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Held {
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
        let small = admission.enter().unwrap();
        small.add(60).unwrap();
        let large = admission.enter().unwrap();
        assert_eq!(large.add(41).unwrap_err().code(), ErrorCode::Overloaded);
        drop(large);
        assert_eq!(admission.body_bytes(), 60);
        small.give_back(20);
        let large = admission.enter().unwrap();
        large.add(60).unwrap();
        assert_eq!(admission.body_bytes(), 100);
        drop((small, large));
        assert_eq!((admission.requests(), admission.body_bytes()), (0, 0));
    }

    #[test]
    fn a_body_that_never_fits_is_refused_for_good() {
        let admission = admission(2, 100);
        let alone = admission.enter().unwrap();
        alone.add(60).unwrap();
        assert_eq!(alone.left(), 40);
        assert_eq!(alone.add(41).unwrap_err().code(), ErrorCode::PayloadTooLarge);
        assert_eq!((alone.left(), admission.body_bytes()), (40, 60), "a refusal takes nothing");
        let memory = Memory::new(50);
        let small = Admission::of(2, 100, &memory).enter().unwrap();
        assert_eq!(small.add(51).unwrap_err().code(), ErrorCode::PayloadTooLarge);
        let _other = memory.take(MemoryOwner::Merges, 10).unwrap();
        assert_eq!(small.add(41).unwrap_err().code(), ErrorCode::Overloaded);
    }

    #[test]
    fn who_makes_stores_smaller_may_send_a_little_where_memory_is_full() {
        let memory = Memory::new(1_600);
        let admission = Admission::of(2, 1_000, &memory);
        memory.hold(MemoryOwner::Jobs, 1_600);
        assert_eq!(admission.enter().unwrap().add(1).unwrap_err().code(), ErrorCode::Overloaded);
        let fetch = admission.enter_for(Purpose::Drain).unwrap();
        assert!(!fetch.is_of_reserve());
        fetch.add(50).unwrap();
        assert!(fetch.is_of_reserve());
        fetch.hold(50).unwrap();
        assert_eq!(fetch.hold(1).unwrap_err().code(), ErrorCode::Overloaded);
        fetch.leave();
        assert!(!fetch.is_of_reserve());
        fetch.add(100).unwrap();
        drop(fetch);
        assert_eq!(memory.held(), 1_600);
    }

    #[test]
    fn who_makes_stores_smaller_gets_in_where_others_have_taken_all() {
        let admission = admission(1, 100);
        let other = admission.enter().unwrap();
        other.add(100).unwrap();
        admission.enter().unwrap_err();
        let ack = admission.enter_for(Purpose::Drain).unwrap();
        ack.add(50).unwrap();
        assert_eq!(other.add(1).unwrap_err().code(), ErrorCode::PayloadTooLarge);
        drop((other, ack));
        assert_eq!((admission.requests(), admission.body_bytes()), (0, 0));
        // The reserve has an end.
        let most = 1 + limits::DRAINING_REQUESTS;
        let entered: Vec<_> =
            (0..most).map(|_| admission.enter_for(Purpose::Drain).unwrap()).collect();
        admission.enter_for(Purpose::Drain).unwrap_err();
        let room = 100 + limits::DRAINING_BODY_BYTES;
        let fits = entered.iter().take_while(|request| request.add(100).is_ok()).count();
        assert_eq!(fits, most.min(room / 100));
    }

    #[test]
    fn a_request_that_waits_holds_no_place_and_takes_one_again() {
        let admission = admission(1, 100);
        let waits = admission.enter().unwrap();
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
