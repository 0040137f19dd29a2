//! The trusted time: the wall clock, as far as it is plausible. Deletion by age uses it.
//!
//! The wall clock of a machine may be wrong for a while: three years ahead for four seconds, or at
//! 1970 until NTP responds. That must not delete data, so all deletion by age asks this module for
//! the time. The trusted time is a *line*: the last plausible wall time, advanced by the steady
//! clock.
//!
//! ```text
//! wall time
//!   │            ┌────── ahead: the line continues below the clock
//!   │            │  ……………………………  once the clock has kept its new time for as long as it jumped,
//!   │      ______│_____________     at most the grace time, the line jumps too
//!   │     /  the line
//!   │____/ └───  behind: deletion uses the clock itself, which deletes less
//!   └──────────────────────────────────────────────── steady time
//! ```
//!
//! - Near the line (within [`SLACK_MS`] and [`DRIFT_PARTS`]) the line follows the clock.
//! - **Ahead**: deletion uses the line. The jump is trusted once the clock has kept its new time,
//!   measured by the steady clock, for as long as the jump itself, and at most for the grace time
//!   ([`crate::Options::clock_grace`]). So a machine that was suspended or switched off for an hour
//!   is trusted after an hour, one that was off for forty days after a day.
//! - **Behind**: deletion uses the clock at once. The line continues, so that a clock that returns
//!   to it has not jumped; it is set back to the clock after the same time as above.
//!
//! The line is persisted, so that a restart knows the last trusted time. The time for which a clock
//! that is ahead has kept its new time is persisted too, for machines that never run for as long as
//! the grace time. If that record is missing (a data directory of an older version), the time of
//! the newest data replaces it; in a new data directory the clock is trusted.
//!
//! The steady clock stops while the machine is suspended ([`Clock::steady`]): a resume from suspend
//! is a jump forward like any other.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::{Clock, whole_ms};
use crate::codec::bytes::{Reader, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::model::TimestampMs;
use crate::storage::{Batch, Fact, Store, Sync, ValueOf, keyspaces};

/// Milliseconds that the wall clock may differ from the line and still be followed at once: covers
/// NTP steps and leap seconds.
const SLACK_MS: i64 = 60_000;
/// The wall clock may run faster than the steady one by one part in this many: far more than a real
/// clock drifts, and less than a clock with a wrong rate gains.
const DRIFT_PARTS: i64 = 100;
/// Milliseconds by which a clock that has jumped may move and still count as keeping its new time.
const JUMP_TOLERANCE_MS: i64 = 10_000;
/// The version of [`ClockMark`] that is written, and the newest that can be read.
const MARK_VERSION: u8 = 1;

/// The current time as used for deletion by age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustedTime {
    /// The time that ages are measured against. Never ahead of the wall clock, nor of the trusted
    /// time.
    pub expiry: TimestampMs,
    /// The trusted time. It advances steadily when the wall clock jumps in either direction.
    pub believed: TimestampMs,
    /// The deviation of the wall clock, while it is not trusted.
    pub deviation: Option<ClockDeviation>,
}

/// The deviation of a wall clock that is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDeviation {
    /// Milliseconds by which the clock is ahead of the trusted time; negative when it is behind.
    pub ahead_ms: i64,
    /// Milliseconds for which it must keep its new time until it is trusted.
    pub left_ms: i64,
}

impl TrustedTime {
    /// Returns the expiry time of something that is stored now and kept for `retention_ms`
    /// milliseconds: never too early, whichever clock is wrong.
    pub fn expires_after(&self, retention_ms: i64) -> TimestampMs {
        let ahead_ms = self.deviation.map_or(0, |deviation| deviation.ahead_ms.max(0));
        let latest = self.believed.0.max(self.expiry.0).saturating_add(ahead_ms);
        TimestampMs(latest.saturating_add(retention_ms))
    }
}

impl std::fmt::Display for ClockDeviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (by, is_ahead) =
            (Duration::from_millis(self.ahead_ms.unsigned_abs()), self.ahead_ms > 0);
        let (by_s, left_s) = (by.as_secs(), self.left_ms.max(0) / 1_000);
        let side = if is_ahead { "ahead of" } else { "behind" };
        write!(
            f,
            "the wall clock is {by_s} s {side} the trusted time: data expires by the earlier of the two \
             for {left_s} s more, unless the clock returns to the trusted time before"
        )
    }
}

/// The wall clock of an engine, and how far it is trusted.
#[derive(Debug)]
pub(crate) struct TrustedClock {
    clock: Clock,
    store: Arc<Store>,
    judge: Mutex<ClockJudge>,
}

impl TrustedClock {
    /// Opens the clock of an engine that is being opened. `newest` is the time of its newest data,
    /// if it has any.
    pub(crate) fn open(
        clock: Clock,
        store: Arc<Store>,
        grace: Duration,
        newest: Option<TimestampMs>,
    ) -> Result<Self> {
        let stored = store.get(keyspaces::Meta, &Fact::Clock)?;
        let mark = stored.and_then(|bytes| match ClockMark::decode(&bytes) {
            Ok(mark) => Some(mark),
            Err(error) => {
                tracing::error!(%error, "the stored trusted time is corrupt; the time of the newest data is used instead");
                None
            }
        });
        let now = ClockReading::of(&clock);
        let mark = mark.or(newest.map(|newest| ClockMark::at(newest.0)));
        let judge = ClockJudge::new(mark, now, whole_ms(grace));
        Ok(Self { clock, store, judge: Mutex::new(judge) })
    }

    /// Checks a stored value of the keyspace `meta` if it is a [`ClockMark`]. Returns whether it
    /// is.
    pub(crate) fn check_stored(key: &[u8], value: &[u8]) -> CodecResult<bool> {
        if !Fact::Clock.is_stored_under(key) {
            return Ok(false);
        }
        ClockMark::decode(value).map(|_| true)
    }

    /// Returns the current time. Frequent calls detect a deviation early; each change is logged.
    pub(crate) fn read(&self) -> TrustedTime {
        let mut judge = self.judge.lock();
        let was_deviating = judge.jump.is_some();
        let time = judge.observe(ClockReading::of(&self.clock));
        match time.deviation {
            Some(deviation) if !was_deviating => {
                tracing::warn!(
                    clock_ahead_ms = deviation.ahead_ms,
                    believed_in_ms = deviation.left_ms,
                    "{deviation}"
                );
            }
            None if was_deviating => tracing::info!("the wall clock is trusted again"),
            _ => {}
        }
        time
    }

    /// Returns the steady time.
    pub(crate) fn steady(&self) -> Duration {
        self.clock.steady()
    }

    /// Stores the trusted time for the next start. Not synced: a power loss loses little time.
    pub(crate) fn persist(&self) -> Result<()> {
        let mark = {
            let mut judge = self.judge.lock();
            judge.observe(ClockReading::of(&self.clock));
            judge.mark()
        };
        let mut batch = Batch::new();
        batch.put(keyspaces::Meta, &Fact::Clock, mark);
        self.store.write(batch, Sync::No)
    }
}

/// Both sides of a clock at one instant.
#[derive(Clone, Copy, Debug)]
struct ClockReading {
    wall_ms: i64,
    steady_ms: i64,
}

impl ClockReading {
    fn of(clock: &Clock) -> Self {
        Self { wall_ms: clock.now().0, steady_ms: whole_ms(clock.steady()) }
    }
}

/// The persisted state. Payload of the frame: believed: signed │ wall: signed │ stable: varint, in
/// milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockMark {
    /// The line.
    believed_ms: i64,
    /// The wall time.
    wall_ms: i64,
    /// For how long a clock that is ahead had kept its new time; 0 otherwise.
    stable_ms: i64,
}

/// The value of [`Fact::Clock`].
impl ValueOf<keyspaces::Meta> for ClockMark {
    fn into_bytes(self) -> Vec<u8> {
        self.encode()
    }
}

impl ClockMark {
    fn at(ms: i64) -> Self {
        Self { believed_ms: ms, wall_ms: ms, stable_ms: 0 }
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mark = frame::begin(&mut bytes, FrameKind::ClockMark, MARK_VERSION);
        put_signed(&mut bytes, self.believed_ms);
        put_signed(&mut bytes, self.wall_ms);
        put_varint(&mut bytes, self.stable_ms.unsigned_abs());
        frame::close(&mut bytes, mark);
        bytes
    }

    fn decode(bytes: &[u8]) -> CodecResult<Self> {
        let (_, payload) = frame::open(bytes, FrameKind::ClockMark, MARK_VERSION)?;
        let mut reader = Reader::new(payload);
        let (believed_ms, wall_ms) = (reader.signed()?, reader.signed()?);
        let stable_ms = i64::try_from(reader.varint()?)
            .map_err(|_| CodecError::new("the stable time of a clock mark is out of range"))?;
        reader.finish()?;
        Ok(Self { believed_ms, wall_ms, stable_ms })
    }
}

/// A wall clock that has jumped away from the line.
#[derive(Clone, Copy, Debug)]
struct ClockJump {
    is_ahead: bool,
    /// Wall time minus steady time at the jump: constant while the clock keeps its new time.
    offset_ms: i64,
    /// For how long the clock has kept its new time, in this run and earlier ones.
    stable_ms: i64,
    /// The part of `stable_ms` in this run, for which drift is allowed.
    this_run_ms: i64,
}

/// The rules of the trusted time, without clocks and disk.
#[derive(Debug)]
struct ClockJudge {
    grace_ms: i64,
    /// The line plus the slack that the clock may be ahead of it.
    limit_ms: i64,
    /// The readings at which `limit_ms` was computed.
    steady_ms: i64,
    wall_ms: i64,
    jump: Option<ClockJump>,
    /// The state of an earlier run in which the clock was ahead; applied to the first jump forward
    /// of this run.
    carried: Option<ClockMark>,
}

impl ClockJudge {
    fn new(mark: Option<ClockMark>, now: ClockReading, grace_ms: i64) -> Self {
        let believed_ms = mark.map_or(now.wall_ms, |mark| mark.believed_ms);
        let mut judge = Self {
            grace_ms,
            limit_ms: believed_ms.saturating_add(SLACK_MS),
            steady_ms: now.steady_ms,
            wall_ms: now.wall_ms,
            jump: None,
            carried: mark.filter(|mark| mark.stable_ms > 0),
        };
        judge.observe(now);
        judge
    }

    fn line_ms(&self) -> i64 {
        self.limit_ms.saturating_sub(SLACK_MS)
    }

    fn observe(&mut self, now: ClockReading) -> TrustedTime {
        let passed_ms = now.steady_ms.saturating_sub(self.steady_ms).max(0);
        self.steady_ms = self.steady_ms.max(now.steady_ms);
        self.wall_ms = now.wall_ms;
        self.limit_ms = self.limit_ms.saturating_add(passed_ms);
        let line_ms = self.line_ms();
        let gap_ms = now.wall_ms.saturating_sub(line_ms);
        // A trusted clock may drift between two calls; a deviating one gets no such allowance. The
        // allowance is not added as elapsed time: after a long interval without calls, the line
        // would be ahead of every clock.
        let drift_ms = if self.jump.is_none() { passed_ms / DRIFT_PARTS } else { 0 };
        if gap_ms.saturating_abs() <= SLACK_MS.saturating_add(drift_ms) {
            self.follow(now.wall_ms, drift_ms);
            self.carried = None;
            return self.trusted_time(now.wall_ms, None);
        }
        let jump = self.track_jump(now, gap_ms > 0, passed_ms);
        let needed_ms = gap_ms.saturating_abs().min(self.grace_ms);
        if jump.stable_ms >= needed_ms {
            self.limit_ms = now.wall_ms.saturating_add(SLACK_MS);
            (self.jump, self.carried) = (None, None);
            return self.trusted_time(now.wall_ms, None);
        }
        self.jump = Some(jump);
        let left_ms = needed_ms - jump.stable_ms;
        let deviation = ClockDeviation { ahead_ms: gap_ms, left_ms };
        self.trusted_time(line_ms.min(now.wall_ms), Some(deviation))
    }

    /// Moves the line to a clock that is near it; forward, only as far as slack and drift allow.
    fn follow(&mut self, wall_ms: i64, drift_ms: i64) {
        let limit_ms = self.limit_ms.saturating_add(drift_ms);
        self.limit_ms = limit_ms.min(wall_ms.saturating_add(SLACK_MS));
        self.jump = None;
    }

    /// Returns the current jump, and for how long the clock has kept its new time.
    fn track_jump(&mut self, now: ClockReading, is_ahead: bool, passed_ms: i64) -> ClockJump {
        let offset_ms = now.wall_ms.saturating_sub(now.steady_ms);
        if let Some(before) = self.jump {
            let this_run_ms = before.this_run_ms.saturating_add(passed_ms);
            let moved_ms = offset_ms.saturating_sub(before.offset_ms).saturating_abs();
            if before.is_ahead == is_ahead
                && moved_ms <= JUMP_TOLERANCE_MS + this_run_ms / DRIFT_PARTS
            {
                let stable_ms = before.stable_ms.saturating_add(passed_ms);
                return ClockJump { this_run_ms, stable_ms, ..before };
            }
        }
        let mut stable_ms = 0;
        if is_ahead && let Some(mark) = self.carried.take() {
            // The clock may have reached this time by time that passed since the earlier run; a
            // difference above the grace time is a new jump.
            let since_ms = now.wall_ms.saturating_sub(mark.wall_ms);
            if (0..=self.grace_ms).contains(&since_ms) {
                stable_ms = mark.stable_ms;
            }
        }
        ClockJump { is_ahead, offset_ms, stable_ms, this_run_ms: 0 }
    }

    fn trusted_time(&self, expiry_ms: i64, deviation: Option<ClockDeviation>) -> TrustedTime {
        let believed_ms = if deviation.is_some() { self.line_ms() } else { expiry_ms };
        TrustedTime {
            expiry: TimestampMs(expiry_ms),
            believed: TimestampMs(believed_ms),
            deviation,
        }
    }

    fn mark(&self) -> ClockMark {
        let believed_ms = if self.jump.is_some() { self.line_ms() } else { self.wall_ms };
        let stable_ms = self.jump.filter(|jump| jump.is_ahead).map_or(0, |jump| jump.stable_ms);
        // A clock that was behind all the time keeps the state of the earlier run.
        match self.carried {
            Some(carried) if stable_ms == 0 => ClockMark { believed_ms, ..carried },
            _ => ClockMark { believed_ms, wall_ms: self.wall_ms, stable_ms },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000;
    const HOUR: i64 = 3_600 * SECOND;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    const START: i64 = 20_000 * DAY;

    /// A machine whose wall and steady clocks can be moved separately, with its persisted state.
    struct Machine {
        wall_ms: i64,
        steady_ms: i64,
        judge: ClockJudge,
    }

    impl Machine {
        fn new(mark: Option<ClockMark>, wall_ms: i64) -> Self {
            let now = ClockReading { wall_ms, steady_ms: 7 * HOUR };
            let judge = ClockJudge::new(mark, now, DAY);
            Self { wall_ms, steady_ms: now.steady_ms, judge }
        }

        fn read(&mut self) -> TrustedTime {
            self.judge.observe(ClockReading { wall_ms: self.wall_ms, steady_ms: self.steady_ms })
        }

        /// Runs for `for_ms`; reads the clock each second as an engine does, or each minute if that
        /// is long.
        fn run(&mut self, for_ms: i64) -> TrustedTime {
            let step_ms = if for_ms > HOUR { 60 * SECOND } else { SECOND };
            for _ in 0..for_ms / step_ms {
                self.wall_ms += step_ms;
                self.steady_ms += step_ms;
                self.read();
            }
            self.read()
        }

        fn jump(&mut self, by_ms: i64) -> TrustedTime {
            self.wall_ms += by_ms;
            self.read()
        }

        /// Switches the machine off for `off_ms` and on again.
        fn restart(&mut self, off_ms: i64) -> TrustedTime {
            self.restart_at(self.wall_ms + off_ms)
        }

        fn restart_at(&mut self, wall_ms: i64) -> TrustedTime {
            let mark = ClockMark::decode(&self.judge.mark().encode()).unwrap();
            *self = Self::new(Some(mark), wall_ms);
            self.read()
        }
    }

    fn at(ms: i64) -> TrustedTime {
        TrustedTime { expiry: TimestampMs(ms), believed: TimestampMs(ms), deviation: None }
    }

    #[test]
    fn a_clock_that_is_briefly_ahead_does_not_advance_the_expiry_time() {
        for by_ms in [2 * 60 * SECOND, HOUR, 40 * DAY, 3 * YEAR] {
            let mut machine = Machine::new(None, START);
            machine.run(HOUR);
            let time = machine.jump(by_ms);
            assert_eq!(time.deviation.map(|d| d.left_ms), Some(by_ms.min(DAY)), "{by_ms}");
            let time = machine.run(4 * SECOND);
            assert!(time.expiry.0 <= START + HOUR + 5 * SECOND, "{by_ms}: {time:?}");
            machine.jump(-by_ms);
            assert_eq!(machine.run(HOUR), at(START + 2 * HOUR + 4 * SECOND), "{by_ms}");
        }
    }

    #[test]
    fn a_lasting_jump_is_trusted_after_its_own_length_and_at_most_the_grace_time() {
        for (by_ms, after_ms) in [(HOUR, HOUR), (40 * DAY, DAY)] {
            let mut machine = Machine::new(None, START);
            machine.jump(by_ms);
            let time = machine.run(after_ms - 60 * SECOND);
            assert!(time.deviation.is_some() && time.expiry.0 < START + after_ms, "{time:?}");
            assert_eq!(machine.run(2 * 60 * SECOND).deviation, None, "{by_ms}");
            assert_eq!(machine.read().expiry.0, machine.wall_ms);
        }
    }

    #[test]
    fn a_machine_that_was_off_is_trusted_after_the_grace_time() {
        let mut machine = Machine::new(None, START);
        assert_eq!(machine.restart(30 * SECOND).deviation, None, "a quick restart is no jump");
        assert!(machine.restart(40 * DAY).deviation.is_some());
        assert!(machine.run(DAY - HOUR).expiry.0 < START + 2 * DAY);
        let time = machine.run(2 * HOUR);
        assert_eq!((time.deviation, time.expiry.0), (None, machine.wall_ms));
    }

    #[test]
    fn a_clock_that_starts_in_1970_is_trusted_once_it_is_set() {
        let mut machine = Machine::new(None, START);
        machine.run(HOUR);
        let before = machine.wall_ms;
        assert_eq!(machine.restart_at(0).expiry.0, 0, "nothing is that old");
        machine.run(20 * SECOND);
        let off_ms = 120 * SECOND;
        machine.jump(before + off_ms);
        assert!(machine.run(3 * 60 * SECOND).deviation.is_none());
        assert_eq!(machine.read().expiry.0, machine.wall_ms);
    }

    #[test]
    fn a_machine_that_runs_for_less_than_the_grace_time_at_once_is_trusted_too() {
        let mut machine = Machine::new(None, START);
        let mut lag_ms = 0;
        for day in 0..30 {
            let off = if day % 7 == 6 { 64 * HOUR } else { 16 * HOUR };
            machine.restart(off);
            let time = machine.run(8 * HOUR);
            lag_ms = lag_ms.max(machine.wall_ms - time.expiry.0);
        }
        assert!(lag_ms < 6 * DAY, "{} hours behind", lag_ms / HOUR);
        // The same for a machine whose clock starts at 1970 after each boot.
        machine.restart_at(0);
        machine.run(10 * SECOND);
        machine.jump(START + 60 * DAY);
        let carried = machine.judge.mark();
        machine.run(8 * HOUR);
        assert!(machine.judge.mark().stable_ms >= 8 * HOUR, "{carried:?}");
        let before = machine.wall_ms;
        machine.restart_at(0);
        machine.run(10 * SECOND);
        assert_eq!(
            machine.judge.mark().stable_ms,
            8 * HOUR,
            "a clock that is behind keeps the carried time"
        );
        machine.jump(before + 16 * HOUR - machine.wall_ms);
        assert!(machine.judge.mark().stable_ms >= 8 * HOUR);
    }

    #[test]
    fn a_clock_that_runs_too_fast_is_not_followed() {
        for percent in [150, 200, 1_000] {
            let mut machine = Machine::new(None, START);
            for _ in 0..2 * 24 * 3_600 {
                machine.steady_ms += SECOND;
                machine.wall_ms += SECOND * percent / 100;
                machine.read();
            }
            let time = machine.read();
            let real = START + 2 * DAY;
            assert!(
                time.expiry.0 < real + 3 * HOUR,
                "{percent}: {} h",
                (time.expiry.0 - real) / HOUR
            );
        }
    }

    #[test]
    fn a_long_interval_without_reads_does_not_put_the_line_ahead() {
        let mut machine = Machine::new(None, START);
        machine.wall_ms += 10 * DAY;
        machine.steady_ms += 10 * DAY;
        assert_eq!(machine.read(), at(START + 10 * DAY));
        machine.wall_ms += 10 * DAY;
        machine.steady_ms += 10 * DAY;
        let time = machine.jump(YEAR);
        assert_eq!(time.expiry.0, START + 20 * DAY, "{time:?}");
    }

    #[test]
    fn a_clock_corrected_by_ntp_is_followed_without_a_deviation() {
        let mut machine = Machine::new(None, START);
        for step in 0..200 {
            // Drift of 500 ppm, and NTP steps both ways.
            machine.run(600 * SECOND);
            let time = machine.jump(if step % 3 == 0 { 900 } else { -600 } + 300);
            assert_eq!(time, at(machine.wall_ms), "step {step}");
        }
    }

    #[test]
    fn a_clock_that_is_behind_expires_less_and_is_trusted_after_the_grace_time() {
        let mut machine = Machine::new(None, START);
        let time = machine.jump(-3 * YEAR);
        assert_eq!((time.expiry.0, time.believed.0), (START - 3 * YEAR, START));
        let back = machine.jump(3 * YEAR);
        assert_eq!(back, at(START), "a clock that returns to the line did not jump");
        machine.jump(-3 * YEAR);
        assert!(machine.run(DAY - HOUR).deviation.is_some());
        assert_eq!(machine.run(2 * HOUR).deviation, None);
        // From then on a return to the old time is a jump like any other.
        assert!(machine.jump(3 * YEAR).deviation.is_some());
    }

    #[test]
    fn expiry_times_are_computed_from_the_later_clock() {
        let mut machine = Machine::new(None, START);
        assert_eq!(machine.read().expires_after(DAY).0, START + DAY);
        assert_eq!(machine.jump(YEAR).expires_after(DAY).0, START + YEAR + DAY);
        machine.jump(-YEAR);
        assert_eq!(machine.jump(-START).expires_after(DAY).0, START + DAY);
    }

    #[test]
    fn the_mark_has_its_documented_bytes_and_every_flipped_bit_is_detected() {
        let mark = ClockMark { believed_ms: 1_000, wall_ms: -3, stable_ms: 300 };
        let bytes = mark.encode();
        assert_eq!(ClockMark::decode(&bytes), Ok(mark));
        assert_eq!(bytes.get(..2), Some(&[32, 1][..]));
        assert_eq!(bytes.get(10..), Some(&[0xd0, 0x0f, 0x05, 0xac, 0x02][..]));
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(ClockMark::decode(&bad).is_err(), "bit {bit}");
        }
        // A frame with a good checksum around a duration that no clock can have measured.
        let mut bytes = Vec::new();
        let frame = frame::begin(&mut bytes, FrameKind::ClockMark, MARK_VERSION);
        put_signed(&mut bytes, 1_000);
        put_signed(&mut bytes, 1_000);
        put_varint(&mut bytes, u64::MAX);
        frame::close(&mut bytes, frame);
        assert!(ClockMark::decode(&bytes).is_err());
    }
}
