//! How many HTTP/2 frames a client may send beside its requests and their bodies.
//!
//! SETTINGS, PING, WINDOW_UPDATE and their like cost the client a few bytes and the server work, and belong to no request that could be
//! counted or refused. So they are counted in the bytes that are read, before anything is done with them. A connection has a budget that
//! refills at a steady rate, a small one until its client has shown a key.
//!
//! Clients acknowledge what they receive and end what they send: every request, and every so many bytes that are sent to the client,
//! earn frames that the budget does not have to pay for. Those that reset streams are never earned: who begins requests
//! and resets them makes the server work for nothing. A long frame counts as several, unless it is part of a request.
//!
//! Until a key was shown, requests have a budget as well, and bodies in small frames. A client with a key may send a lot before the server
//! has looked at its first request, so both begin with more than that can be.

use std::time::Duration;

use crate::limits;

/// Bytes of the header of a frame: length (3), type, flags, stream (4).
const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const CONTINUATION: u8 = 9;
/// The budget is counted in thousandths of a frame, which is what a rate by the second refills in a millisecond.
const FRAME: u64 = 1_000;

/// The client has sent more frames than its budget pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client sends too many HTTP/2 frames beside its requests")]
pub(super) struct TooManyFrames;

/// Whose budget it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// Nobody has shown a key on the connection, or only a public one.
    Stranger,
    /// Somebody has.
    Known,
}

/// The budget of a connection.
#[derive(Debug, Default)]
pub(super) struct FrameBudget {
    headers: FrameHeaders,
    /// Thousandths of frames that are not refilled yet.
    spent: u64,
    /// Thousandths of requests without a key that are not refilled yet.
    requested: u64,
    refilled_at: Duration,
    /// Frames that need not be paid for.
    earned: u64,
    /// Small frames of bodies that came before a key.
    small: u64,
    /// Bytes sent that do not suffice for a frame yet.
    sent: usize,
}

impl Sender {
    /// Frames at once, and frames a second.
    fn allowance(self) -> (u64, u64) {
        match self {
            Self::Stranger => {
                (limits::HTTP2_STRANGER_FRAMES_BURST, limits::HTTP2_STRANGER_FRAMES_PER_SECOND)
            }
            Self::Known => {
                (limits::HTTP2_KNOWN_FRAMES_BURST, limits::HTTP2_KNOWN_FRAMES_PER_SECOND)
            }
        }
    }

    /// Thousandths of the budget that a frame of this kind takes where it was not earned.
    fn price(self, kind: u8) -> u64 {
        match (self, kind) {
            (Self::Stranger, RST_STREAM | PRIORITY) => limits::HTTP2_STRANGER_RESET_PRICE * FRAME,
            _ => FRAME,
        }
    }

    /// Bytes sent for which a frame is earned.
    fn bytes_per_frame(self) -> usize {
        match self {
            Self::Stranger => limits::HTTP2_BYTES_PER_FRAME_EARNED,
            Self::Known => limits::HTTP2_KNOWN_BYTES_PER_FRAME_EARNED,
        }
    }
}

impl FrameBudget {
    /// Counts the frames in bytes that were received behind the preface. `now` never goes back.
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
        // What is left of a millisecond counts the next time.
        self.refilled_at += Duration::from_millis(passed_ms);
        let Self { headers, spent, requested, earned, small, .. } = self;
        let small_max = limits::HTTP2_STRANGER_SMALL_DATA_MAX;
        headers.read(bytes, |frame| match frame.kind {
            HEADERS => {
                *requested = requested.saturating_add(FRAME);
                *earned = earned_with(*earned, limits::HTTP2_FRAMES_PER_REQUEST);
            }
            DATA if frame.is_worthwhile(sender) => {}
            DATA if sender == Sender::Stranger && *small < small_max => *small += 1,
            RST_STREAM => *spent = spent.saturating_add(sender.price(frame.kind)),
            kind => {
                let frames = frame.counts_as();
                let paid = frames.saturating_sub(*earned);
                *earned -= frames - paid;
                *spent = spent.saturating_add(paid.saturating_mul(sender.price(kind)));
            }
        });
        let begs = sender == Sender::Stranger
            && self.requested > limits::HTTP2_STRANGER_REQUESTS_BURST * FRAME;
        if begs || self.spent > burst.saturating_mul(FRAME) { Err(TooManyFrames) } else { Ok(()) }
    }

    /// Counts bytes that were sent to the client, which it may acknowledge.
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

/// The part of a frame that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    kind: u8,
    length: u32,
}

impl Frame {
    /// Whether so much data comes with the frame that it is the data that counts. A client that is known may send as little as it
    /// likes, but not nothing.
    fn is_worthwhile(self, sender: Sender) -> bool {
        let least = match sender {
            Sender::Stranger => limits::HTTP2_STRANGER_DATA_BYTES_MIN,
            Sender::Known => 1,
        };
        self.length >= least
    }

    /// As how many frames it counts: what it carries has to be read, and of settings each one is looked at.
    fn counts_as(self) -> u64 {
        match self.kind {
            DATA | CONTINUATION => 1,
            _ => u64::from(self.length.div_ceil(limits::HTTP2_FRAME_BYTES_COUNTED).max(1)),
        }
    }
}

/// Finds the headers of frames in a stream of bytes.
#[derive(Debug, Default)]
struct FrameHeaders {
    /// The beginning of a header that is not complete.
    header: [u8; HEADER_BYTES],
    header_length: usize,
    /// Bytes of the last frame that are still to come.
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
        // What looks like a header within a frame is none.
        bytes.resize(HEADER_BYTES + length, 0);
        bytes
    }

    /// Sends a frame again and again. Returns how many are let through, of [`MANY`] at most.
    fn let_through(budget: &mut FrameBudget, sender: Sender, frame: &[u8]) -> u64 {
        let receive = |_: &u64| budget.receive(frame, sender, Duration::ZERO).is_ok();
        (0..MANY).take_while(receive).count() as u64
    }

    #[test]
    fn a_burst_is_let_through_and_then_a_steady_rate() {
        for sender in [Sender::Stranger, Sender::Known] {
            let (burst, per_second) = sender.allowance();
            let mut budget = FrameBudget::default();
            for kind in [SETTINGS, PING, WINDOW_UPDATE, RST_STREAM, PRIORITY, DATA, 7, 9, 99] {
                let mut budget = FrameBudget::default();
                let expected = match (sender, kind) {
                    (Sender::Stranger, RST_STREAM | PRIORITY) => {
                        burst / limits::HTTP2_STRANGER_RESET_PRICE
                    }
                    (Sender::Stranger, DATA) => burst + limits::HTTP2_STRANGER_SMALL_DATA_MAX,
                    _ => burst,
                };
                assert_eq!(let_through(&mut budget, sender, &frame(kind, 0)), expected, "{kind}");
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
    fn reads_in_short_order_refill_as_well() {
        let mut budget = FrameBudget::default();
        let (burst, per_second) = Sender::Stranger.allowance();
        assert_eq!(let_through(&mut budget, Sender::Stranger, &frame(PING, 8)), burst);
        budget.spent -= FRAME;
        // The rate in steps of a millisecond.
        for ms in 1..=1_000 * (burst / per_second) {
            let frames = if ms % (1_000 / per_second) == 0 { 1 } else { 0 };
            let bytes = frame(PING, 8).repeat(frames);
            budget.receive(&bytes, Sender::Stranger, Duration::from_millis(ms)).unwrap();
        }
    }

    #[test]
    fn a_client_that_becomes_known_has_the_larger_budget_at_once() {
        let mut budget = FrameBudget::default();
        let strangers = let_through(&mut budget, Sender::Stranger, &frame(PING, 8));
        // The one that was too much for a stranger counts too.
        let more = let_through(&mut budget, Sender::Known, &frame(PING, 8));
        assert_eq!(strangers + 1 + more, limits::HTTP2_KNOWN_FRAMES_BURST);
    }

    #[test]
    fn what_answers_and_requests_earn_is_not_paid_for() {
        let mut budget = FrameBudget::default();
        // Megabytes of answers, acknowledged in small steps on the stream and on the connection.
        for _ in 0..10_000 {
            budget.send(16 << 10, Sender::Stranger);
            let updates = frame(WINDOW_UPDATE, 4).repeat(8);
            budget.receive(&updates, Sender::Stranger, Duration::ZERO).unwrap();
        }
        // Requests with a body that an empty frame ends.
        let request = [frame(HEADERS, 100), frame(DATA, 500), frame(DATA, 0)].concat();
        budget.receive(&request.repeat(10_000), Sender::Known, Duration::ZERO).unwrap();
        assert_eq!(budget.spent, 0);
    }

    #[test]
    fn a_known_client_may_acknowledge_every_kilobyte_twice() {
        let mut budget = FrameBudget::default();
        for _ in 0..100_000 {
            budget.send(1 << 10, Sender::Known);
            let updates = frame(WINDOW_UPDATE, 4).repeat(2);
            budget.receive(&updates, Sender::Known, Duration::ZERO).unwrap();
        }
        assert_eq!(budget.spent, 0);
    }

    #[test]
    fn a_long_frame_counts_as_several() {
        let each = limits::HTTP2_FRAME_BYTES_COUNTED as usize;
        let (burst, _) = Sender::Stranger.allowance();
        for (length, counts_as) in [(each, 1), (each + 1, 2), (100 * each, 100)] {
            for kind in [SETTINGS, 99] {
                let many = let_through(
                    &mut FrameBudget::default(),
                    Sender::Stranger,
                    &frame(kind, length),
                );
                assert_eq!(many, burst / counts_as, "{length} bytes of {kind}");
            }
        }
        // Headers as long as they may be are no flood.
        let request = [frame(HEADERS, 16 << 10), frame(CONTINUATION, 16 << 10)].concat();
        FrameBudget::default().receive(&request, Sender::Stranger, Duration::ZERO).unwrap();
    }

    #[test]
    fn requests_without_a_key_have_a_budget() {
        let request = frame(HEADERS, 20);
        let burst = limits::HTTP2_STRANGER_REQUESTS_BURST;
        let mut budget = FrameBudget::default();
        assert_eq!(let_through(&mut budget, Sender::Stranger, &request), burst);
        budget.receive(&request, Sender::Known, Duration::ZERO).unwrap();
        // After a second there are as many more as a second refills, the two that were too many aside.
        let more = request.repeat(limits::HTTP2_STRANGER_REQUESTS_PER_SECOND as usize - 2);
        budget.receive(&more, Sender::Stranger, Duration::from_secs(1)).unwrap();
        budget.receive(&request, Sender::Stranger, Duration::from_secs(1)).unwrap_err();
        assert_eq!(let_through(&mut FrameBudget::default(), Sender::Known, &request), MANY);
    }

    #[test]
    fn requests_that_are_reset_are_paid_for() {
        let mut budget = FrameBudget::default();
        let pair = [frame(HEADERS, 20), frame(RST_STREAM, 4)].concat();
        let (burst, _) = Sender::Stranger.allowance();
        let resets = burst / limits::HTTP2_STRANGER_RESET_PRICE;
        assert_eq!(let_through(&mut budget, Sender::Stranger, &pair), resets);
    }

    #[test]
    fn bodies_in_tiny_frames_are_for_those_who_are_known() {
        let mut budget = FrameBudget::default();
        let tiny = frame(DATA, 1);
        assert_eq!(let_through(&mut budget, Sender::Known, &tiny), MANY);
        let (burst, _) = Sender::Stranger.allowance();
        let most = burst + limits::HTTP2_STRANGER_SMALL_DATA_MAX;
        assert_eq!(let_through(&mut budget, Sender::Stranger, &tiny), most);
        let fair = frame(DATA, limits::HTTP2_STRANGER_DATA_BYTES_MIN as usize);
        assert_eq!(let_through(&mut FrameBudget::default(), Sender::Stranger, &fair), MANY);
    }

    #[test]
    fn a_body_in_small_frames_may_come_with_the_request_that_has_the_key() {
        let mut budget = FrameBudget::default();
        let small = limits::HTTP2_STRANGER_SMALL_DATA_MAX as usize;
        let first = [frame(HEADERS, 100), frame(DATA, 1).repeat(small)].concat();
        budget.receive(&first, Sender::Stranger, Duration::ZERO).unwrap();
        assert_eq!(budget.spent, 0);
        budget.receive(&frame(DATA, 1).repeat(10_000), Sender::Known, Duration::ZERO).unwrap();
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
