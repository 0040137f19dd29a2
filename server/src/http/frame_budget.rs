//! Limits the HTTP/2 frames that a client may send besides its requests and their bodies.
//!
//! SETTINGS, PING, WINDOW_UPDATE and similar frames cost the client a few bytes and the server
//! work, and belong to no request that could be counted or refused. So they are counted in the
//! received bytes, before hyper processes them. Each connection has a budget that refills at a
//! steady rate, a small one until its client has authenticated.
//!
//! Clients acknowledge what they receive and finish what they send: each request, and each number
//! of bytes sent to the client, earns frames that are not charged to the budget. Stream resets are
//! never earned: a client that starts requests and resets them causes work for nothing. A long
//! frame counts as several, unless it is part of a request.
//!
//! Until the client has authenticated, requests have a budget as well, and so have bodies in small
//! frames. A client with a key may send much before the server has processed its first request, so
//! both budgets start higher than that.

use std::time::Duration;

use crate::limits;

/// Bytes of a frame header: length (3), type, flags, stream (4).
const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const CONTINUATION: u8 = 9;
/// The budget is counted in thousandths of a frame: a rate per second refills that many in a
/// millisecond.
const FRAME: u64 = 1_000;

/// The client has exceeded its frame budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client sends too many HTTP/2 frames besides its requests")]
pub(super) struct TooManyFrames;

/// The class of a client, which determines its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// The connection has no valid key, or only a public one.
    Unauthenticated,
    /// The connection has authenticated.
    Authenticated,
}

/// The budget of a connection.
#[derive(Debug, Default)]
pub(super) struct FrameBudget {
    headers: FrameHeaders,
    /// Charged frames that are not refilled yet, in thousandths.
    spent: u64,
    /// Requests of an unauthenticated client that are not refilled yet, in thousandths.
    requested: u64,
    refilled_at: Duration,
    /// Earned frames that will not be charged.
    earned: u64,
    /// Small frames of bodies received before authentication.
    small_frames: u64,
    /// Bytes sent that do not earn a frame yet.
    sent: usize,
}

impl Sender {
    /// Returns the burst in frames, and the rate in frames per second.
    fn allowance(self) -> (u64, u64) {
        match self {
            Self::Unauthenticated => {
                (limits::HTTP2_STRANGER_FRAMES_BURST, limits::HTTP2_STRANGER_FRAMES_PER_SECOND)
            }
            Self::Authenticated => {
                (limits::HTTP2_KNOWN_FRAMES_BURST, limits::HTTP2_KNOWN_FRAMES_PER_SECOND)
            }
        }
    }

    /// Returns what a frame of this type charges to the budget unless it is earned, in thousandths.
    fn price(self, kind: u8) -> u64 {
        match (self, kind) {
            (Self::Unauthenticated, RST_STREAM | PRIORITY) => {
                limits::HTTP2_STRANGER_RESET_PRICE * FRAME
            }
            _ => FRAME,
        }
    }

    /// Returns the number of sent bytes that earn a frame.
    fn bytes_per_frame(self) -> usize {
        match self {
            Self::Unauthenticated => limits::HTTP2_BYTES_PER_FRAME_EARNED,
            Self::Authenticated => limits::HTTP2_KNOWN_BYTES_PER_FRAME_EARNED,
        }
    }
}

impl FrameBudget {
    /// Counts the frames in bytes received after the preface. `now` must not decrease.
    pub(super) fn receive(
        &mut self,
        bytes: &[u8],
        sender: Sender,
        now: Duration,
    ) -> Result<(), TooManyFrames> {
        let (burst, per_second) = sender.allowance();
        let passed_ms = now.saturating_sub(self.refilled_at).as_millis() as u64;
        self.spent = self.spent.saturating_sub(passed_ms.saturating_mul(per_second));
        let requests = passed_ms.saturating_mul(limits::HTTP2_STRANGER_REQUESTS_PER_SECOND);
        self.requested = self.requested.saturating_sub(requests);
        // The remainder of a millisecond counts the next time.
        self.refilled_at += Duration::from_millis(passed_ms);
        let Self { headers, spent, requested, earned, small_frames, .. } = self;
        let small_max = limits::HTTP2_STRANGER_SMALL_DATA_MAX;
        headers.read(bytes, |frame| match frame.kind {
            HEADERS => {
                *requested = requested.saturating_add(FRAME);
                *earned = earned_with(*earned, limits::HTTP2_FRAMES_PER_REQUEST);
            }
            DATA if frame.carries_enough_data(sender) => {}
            DATA if sender == Sender::Unauthenticated && *small_frames < small_max => {
                *small_frames += 1
            }
            RST_STREAM => *spent = spent.saturating_add(sender.price(frame.kind)),
            kind => {
                let frames = frame.counts_as();
                let paid = frames.saturating_sub(*earned);
                *earned -= frames - paid;
                *spent = spent.saturating_add(paid.saturating_mul(sender.price(kind)));
            }
        });
        let exceeds_requests = sender == Sender::Unauthenticated
            && self.requested > limits::HTTP2_STRANGER_REQUESTS_BURST * FRAME;
        if exceeds_requests || self.spent > burst.saturating_mul(FRAME) {
            Err(TooManyFrames)
        } else {
            Ok(())
        }
    }

    /// Counts bytes sent to the client, which it may acknowledge.
    pub(super) fn send(&mut self, bytes: usize, sender: Sender) {
        let bytes = self.sent.saturating_add(bytes);
        let each = sender.bytes_per_frame();
        self.sent = bytes % each;
        self.earned = earned_with(self.earned, (bytes / each) as u64);
    }
}

fn earned_with(earned: u64, more: u64) -> u64 {
    earned.saturating_add(more).min(limits::HTTP2_FRAMES_EARNED_MAX)
}

/// The fields of a frame header that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    kind: u8,
    length: u32,
}

impl Frame {
    /// Returns whether the frame carries enough data not to be charged. An authenticated client may
    /// send frames of any length but zero.
    fn carries_enough_data(self, sender: Sender) -> bool {
        let least = match sender {
            Sender::Unauthenticated => limits::HTTP2_STRANGER_DATA_BYTES_MIN,
            Sender::Authenticated => 1,
        };
        self.length >= least
    }

    /// Returns the number of frames that a frame counts as: its payload has to be read, and each
    /// setting processed.
    fn counts_as(self) -> u64 {
        match self.kind {
            DATA | CONTINUATION => 1,
            _ => u64::from(self.length.div_ceil(limits::HTTP2_FRAME_BYTES_COUNTED).max(1)),
        }
    }
}

/// Finds frame headers in a stream of bytes.
#[derive(Debug, Default)]
struct FrameHeaders {
    /// The beginning of an incomplete header.
    header: [u8; HEADER_BYTES],
    header_length: usize,
    /// Bytes of the current frame's payload not received yet.
    payload_left: usize,
}

impl FrameHeaders {
    fn read(&mut self, mut bytes: &[u8], mut each: impl FnMut(Frame)) {
        while !bytes.is_empty() {
            if self.payload_left > 0 {
                let (payload, rest) = bytes.split_at(self.payload_left.min(bytes.len()));
                self.payload_left -= payload.len();
                bytes = rest;
                continue;
            }
            let missing = &mut self.header[self.header_length..];
            let (part, rest) = bytes.split_at(missing.len().min(bytes.len()));
            missing[..part.len()].copy_from_slice(part);
            self.header_length += part.len();
            bytes = rest;
            if self.header_length == HEADER_BYTES {
                let [a, b, c, kind, ..] = self.header;
                let length = u32::from_be_bytes([0, a, b, c]);
                self.header_length = 0;
                self.payload_left = length as usize;
                each(Frame { kind, length });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const WINDOW_UPDATE: u8 = 8;

    /// More than any budget.
    const MANY: u64 = 100_000;

    fn frame(kind: u8, length: usize) -> Vec<u8> {
        let [_, a, b, c] = u32::try_from(length).unwrap().to_be_bytes();
        let mut bytes = vec![a, b, c, kind, 0, 0, 0, 0, 0];
        // Bytes within a payload that look like a header are not one.
        bytes.resize(HEADER_BYTES + length, 0);
        bytes
    }

    /// Sends a frame repeatedly. Returns how many are admitted, at most [`MANY`].
    fn admitted(budget: &mut FrameBudget, sender: Sender, frame: &[u8]) -> u64 {
        let receive = |_: &u64| budget.receive(frame, sender, Duration::ZERO).is_ok();
        (0..MANY).take_while(receive).count() as u64
    }

    #[test]
    fn a_burst_is_admitted_and_then_a_steady_rate() {
        for sender in [Sender::Unauthenticated, Sender::Authenticated] {
            let (burst, per_second) = sender.allowance();
            let mut budget = FrameBudget::default();
            for kind in [SETTINGS, PING, WINDOW_UPDATE, RST_STREAM, PRIORITY, DATA, 7, 9, 99] {
                let mut budget = FrameBudget::default();
                let expected = match (sender, kind) {
                    (Sender::Unauthenticated, RST_STREAM | PRIORITY) => {
                        burst / limits::HTTP2_STRANGER_RESET_PRICE
                    }
                    (Sender::Unauthenticated, DATA) => {
                        burst + limits::HTTP2_STRANGER_SMALL_DATA_MAX
                    }
                    _ => burst,
                };
                assert_eq!(admitted(&mut budget, sender, &frame(kind, 0)), expected, "{kind}");
            }
            for second in 0..100 {
                let frames = frame(PING, 8).repeat(usize::try_from(per_second).unwrap());
                budget.receive(&frames, sender, Duration::from_secs(second)).unwrap();
            }
            let now = Duration::from_secs(100);
            let flood = frame(PING, 8).repeat(usize::try_from(burst + per_second + 1).unwrap());
            assert_eq!(budget.receive(&flood, sender, now), Err(TooManyFrames));
        }
    }

    #[test]
    fn frequent_small_reads_refill_the_budget() {
        let mut budget = FrameBudget::default();
        let (burst, per_second) = Sender::Unauthenticated.allowance();
        assert_eq!(admitted(&mut budget, Sender::Unauthenticated, &frame(PING, 8)), burst);
        budget.spent -= FRAME;
        // The rate, in steps of a millisecond.
        for ms in 1..=1_000 * (burst / per_second) {
            let frames = if ms % (1_000 / per_second) == 0 { 1 } else { 0 };
            let bytes = frame(PING, 8).repeat(frames);
            budget.receive(&bytes, Sender::Unauthenticated, Duration::from_millis(ms)).unwrap();
        }
    }

    #[test]
    fn an_authenticating_client_gets_the_larger_budget_at_once() {
        let mut budget = FrameBudget::default();
        let unauthenticated = admitted(&mut budget, Sender::Unauthenticated, &frame(PING, 8));
        // The frame that exceeded the unauthenticated budget counts too.
        let more = admitted(&mut budget, Sender::Authenticated, &frame(PING, 8));
        assert_eq!(unauthenticated + 1 + more, limits::HTTP2_KNOWN_FRAMES_BURST);
    }

    #[test]
    fn frames_earned_by_requests_and_responses_are_not_charged() {
        let mut budget = FrameBudget::default();
        // Megabytes of responses, acknowledged in small steps on the stream and on the connection.
        for _ in 0..10_000 {
            budget.send(16 << 10, Sender::Unauthenticated);
            let updates = frame(WINDOW_UPDATE, 4).repeat(8);
            budget.receive(&updates, Sender::Unauthenticated, Duration::ZERO).unwrap();
        }
        // Requests whose body ends with an empty frame.
        let request = [frame(HEADERS, 100), frame(DATA, 500), frame(DATA, 0)].concat();
        budget.receive(&request.repeat(10_000), Sender::Authenticated, Duration::ZERO).unwrap();
        assert_eq!(budget.spent, 0);
    }

    #[test]
    fn an_authenticated_client_may_acknowledge_every_kilobyte_twice() {
        let mut budget = FrameBudget::default();
        for _ in 0..100_000 {
            budget.send(1 << 10, Sender::Authenticated);
            let updates = frame(WINDOW_UPDATE, 4).repeat(2);
            budget.receive(&updates, Sender::Authenticated, Duration::ZERO).unwrap();
        }
        assert_eq!(budget.spent, 0);
    }

    #[test]
    fn a_long_frame_counts_as_several() {
        let each = limits::HTTP2_FRAME_BYTES_COUNTED as usize;
        let (burst, _) = Sender::Unauthenticated.allowance();
        for (length, counts_as) in [(each, 1), (each + 1, 2), (100 * each, 100)] {
            for kind in [SETTINGS, 99] {
                let many = admitted(
                    &mut FrameBudget::default(),
                    Sender::Unauthenticated,
                    &frame(kind, length),
                );
                assert_eq!(many, burst / counts_as, "{length} bytes of {kind}");
            }
        }
        // Headers of the maximum length are not a flood.
        let request = [frame(HEADERS, 16 << 10), frame(CONTINUATION, 16 << 10)].concat();
        FrameBudget::default().receive(&request, Sender::Unauthenticated, Duration::ZERO).unwrap();
    }

    #[test]
    fn requests_without_a_key_are_limited() {
        let request = frame(HEADERS, 20);
        let burst = limits::HTTP2_STRANGER_REQUESTS_BURST;
        let mut budget = FrameBudget::default();
        assert_eq!(admitted(&mut budget, Sender::Unauthenticated, &request), burst);
        budget.receive(&request, Sender::Authenticated, Duration::ZERO).unwrap();
        // After a second the budget has refilled, less the two requests over the limit.
        let more = request.repeat(limits::HTTP2_STRANGER_REQUESTS_PER_SECOND as usize - 2);
        budget.receive(&more, Sender::Unauthenticated, Duration::from_secs(1)).unwrap();
        budget.receive(&request, Sender::Unauthenticated, Duration::from_secs(1)).unwrap_err();
        assert_eq!(admitted(&mut FrameBudget::default(), Sender::Authenticated, &request), MANY);
    }

    #[test]
    fn reset_requests_are_charged() {
        let mut budget = FrameBudget::default();
        let pair = [frame(HEADERS, 20), frame(RST_STREAM, 4)].concat();
        let (burst, _) = Sender::Unauthenticated.allowance();
        let resets = burst / limits::HTTP2_STRANGER_RESET_PRICE;
        assert_eq!(admitted(&mut budget, Sender::Unauthenticated, &pair), resets);
    }

    #[test]
    fn only_authenticated_clients_may_send_bodies_in_tiny_frames() {
        let mut budget = FrameBudget::default();
        let tiny = frame(DATA, 1);
        assert_eq!(admitted(&mut budget, Sender::Authenticated, &tiny), MANY);
        let (burst, _) = Sender::Unauthenticated.allowance();
        let expected = burst + limits::HTTP2_STRANGER_SMALL_DATA_MAX;
        assert_eq!(admitted(&mut budget, Sender::Unauthenticated, &tiny), expected);
        let fair = frame(DATA, limits::HTTP2_STRANGER_DATA_BYTES_MIN as usize);
        assert_eq!(admitted(&mut FrameBudget::default(), Sender::Unauthenticated, &fair), MANY);
    }

    #[test]
    fn a_body_in_small_frames_may_come_with_the_request_that_has_the_key() {
        let mut budget = FrameBudget::default();
        let small_frames = limits::HTTP2_STRANGER_SMALL_DATA_MAX as usize;
        let first = [frame(HEADERS, 100), frame(DATA, 1).repeat(small_frames)].concat();
        budget.receive(&first, Sender::Unauthenticated, Duration::ZERO).unwrap();
        assert_eq!(budget.spent, 0);
        budget
            .receive(&frame(DATA, 1).repeat(10_000), Sender::Authenticated, Duration::ZERO)
            .unwrap();
        assert_eq!(budget.spent, 0);
    }

    proptest! {
        #[test]
        fn frames_are_found_wherever_the_bytes_are_split(
            frames in prop::collection::vec((any::<u8>(), 0..40_usize), 0..20),
            splits in prop::collection::vec(1..30_usize, 1..20),
        ) {
            let bytes: Vec<u8> =
                frames.iter().flat_map(|(kind, length)| frame(*kind, *length)).collect();
            let mut headers = FrameHeaders::default();
            let mut found = Vec::new();
            let mut rest = &bytes[..];
            for size in splits.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (part, after) = rest.split_at((*size).min(rest.len()));
                headers.read(part, |frame| found.push((frame.kind, frame.length as usize)));
                rest = after;
            }
            prop_assert_eq!(found, frames);
        }
    }
}
