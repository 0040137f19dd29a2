//! Which time data is deleted by: the wall clock, as far as it can be believed.
//!
//! The wall clock of a machine may be wrong for a while: four seconds three years ahead, 1970 until NTP has answered. Nothing
//! may be deleted because of that, so whoever deletes by age asks here. What is believed is a *line*: the last wall time that
//! was plausible, moved on by the steady clock.
//!
//! ```text
//! wall time
//!   │            ┌────── ahead: the line goes on below it
//!   │            │  ……………………………  once the clock has stood by it for as long as it jumped,
//!   │      ______│_____________     at most the grace time, the line jumps too
//!   │     /  the line
//!   │____/ └───  behind: deletions go by the clock itself, which deletes less
//!   └──────────────────────────────────────────────── steady time
//! ```
//!
//! - Near the line ([`SLACK_MS`] and [`DRIFT_PARTS`]) the line follows the clock.
//! - **Ahead**: deletions go by the line. The jump is believed once the clock has stood by it, on the steady clock, for as long
//!   as the jump itself and at most for the grace time ([`crate::Options::clock_grace`]). So a machine that was suspended or
//!   switched off for an hour is believed after an hour, one that was off for forty days after a day.
//! - **Behind**: deletions go by the clock at once. The line goes on, so that a clock that comes back is no jump, and gives in
//!   after the same time.
//!
//! The line is persisted, so that a start knows what time it was before; how long a clock that is ahead has stood by that is
//! persisted too, for machines that are never on for as long as the grace time. Without that record (a data directory of an older
//! version) the newest data stands in for it; a new data directory believes the clock.
//!
//! The steady clock stands still while the machine is suspended ([`Clock::steady`]): waking up is a jump forward like any other.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::{Clock, whole_ms};
use crate::codec::CodecResult;
use crate::codec::bytes::{Reader, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::error::Result;
use crate::model::TimestampMs;
use crate::storage::{Batch, Keyspace, Store, Sync};

/// Milliseconds that the wall clock may differ from the line and still be followed at once: the steps of NTP, leap seconds.
const SLACK_MS: i64 = 60_000;
/// The wall clock may run faster than the steady one by one part of this many: far more than a clock drifts, and too little
/// for one that runs away.
const DRIFT_PARTS: i64 = 100;
/// Milliseconds by which a clock that is off may move and still stand by where it jumped to.
const STAND_MS: i64 = 10_000;
/// The key of [`ClockMark`] in [`Keyspace::Meta`].
const MARK_KEY: &[u8] = b"clock";
/// The version of [`ClockMark`] that is written, and the newest that is read.
const MARK_VERSION: u8 = 1;

/// What time it is, for whoever deletes because of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustedTime {
    /// What ages are counted by. Never ahead of the clock, and never ahead of the time that is believed.
    pub expiry: TimestampMs,
    /// The time that is believed: it goes on when the wall clock jumps, whichever way.
    pub believed: TimestampMs,
    /// How the wall clock deviates, while it does.
    pub deviation: Option<ClockDeviation>,
}

/// A wall clock that is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDeviation {
    /// Milliseconds that the clock is ahead of the believed time; negative when it is behind.
    pub ahead_ms: i64,
    /// Milliseconds that it has to stand by that until it is believed.
    pub left_ms: i64,
}

impl TrustedTime {
    /// When something expires that is stored now and kept for so many milliseconds: never too early, whichever clock is wrong.
    pub fn expires_after(&self, kept_ms: i64) -> TimestampMs {
        let ahead_ms = self.deviation.map_or(0, |deviation| deviation.ahead_ms.max(0));
        let latest = self.believed.0.max(self.expiry.0).saturating_add(ahead_ms);
        TimestampMs(latest.saturating_add(kept_ms))
    }
}

impl std::fmt::Display for ClockDeviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (by, side) = (Duration::from_millis(self.ahead_ms.unsigned_abs()), self.ahead_ms > 0);
        let (by_s, left_s) = (by.as_secs(), self.left_ms.max(0) / 1_000);
        let side = if side { "ahead of" } else { "behind" };
        write!(
            f,
            "the clock is {by_s} s {side} the time that is believed: data expires by the earlier of the two \
             for {left_s} s more, unless the clock comes back before"
        )
    }
}

/// The wall clock of an engine, and what of it is believed.
#[derive(Debug)]
pub(crate) struct TrustedClock {
    clock: Clock,
    store: Arc<Store>,
    judge: Mutex<ClockJudge>,
}

impl TrustedClock {
    /// The clock of an engine that is being opened. `newest` is the time of its newest data, if it has any.
    pub(crate) fn open(
        clock: Clock,
        store: Arc<Store>,
        grace: Duration,
        newest: Option<TimestampMs>,
    ) -> Result<Self> {
        let stored = store.get(Keyspace::Meta, MARK_KEY)?;
        let mark = stored.and_then(|bytes| match ClockMark::decode(&bytes) {
            Ok(mark) => Some(mark),
            Err(error) => {
                tracing::error!(%error, "the last trusted time is damaged; the newest data stands in for it");
                None
            }
        });
        let now = ClockReading::of(&clock);
        let mark = mark.or(newest.map(|newest| ClockMark::at(newest.0)));
        let judge = ClockJudge::new(mark, now, whole_ms(grace));
        Ok(Self { clock, store, judge: Mutex::new(judge) })
    }

    /// Checks a stored value of the keyspace `meta`, if it is the mark of a clock. Answers whether it is.
    pub(crate) fn check_stored(key: &[u8], value: &[u8]) -> CodecResult<bool> {
        if key != MARK_KEY {
            return Ok(false);
        }
        ClockMark::decode(value).map(|_| true)
    }

    /// What time it is. The more often it is asked, the sooner a clock that is wrong is found out; each change is logged.
    pub(crate) fn read(&self) -> TrustedTime {
        let mut judge = self.judge.lock();
        let was_off = judge.stray.is_some();
        let time = judge.observe(ClockReading::of(&self.clock));
        match time.deviation {
            Some(deviation) if !was_off => {
                tracing::warn!(
                    clock_ahead_ms = deviation.ahead_ms,
                    believed_in_ms = deviation.left_ms,
                    "{deviation}"
                );
            }
            None if was_off => tracing::info!("the clock is believed again"),
            _ => {}
        }
        time
    }

    /// The time on the steady side.
    pub(crate) fn steady(&self) -> Duration {
        self.clock.steady()
    }

    /// Writes down what is believed, for the next start. Not synced: what a power loss takes is a little time.
    pub(crate) fn persist(&self) -> Result<()> {
        let mark = {
            let mut judge = self.judge.lock();
            judge.observe(ClockReading::of(&self.clock));
            judge.mark()
        };
        let mut batch = Batch::new();
        batch.put(Keyspace::Meta, MARK_KEY, mark.encode());
        self.store.write(batch, Sync::No)
    }
}

/// Both sides of a clock at one moment.
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

/// What is persisted. Payload of the frame: believed: signed, wall: signed, stood: varint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockMark {
    /// The line.
    believed_ms: i64,
    /// What the wall clock showed.
    wall_ms: i64,
    /// How long a clock that is ahead had stood by that; 0 otherwise.
    stood_ms: i64,
}

impl ClockMark {
    fn at(ms: i64) -> Self {
        Self { believed_ms: ms, wall_ms: ms, stood_ms: 0 }
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mark = frame::begin(&mut bytes, FrameKind::ClockMark, MARK_VERSION);
        put_signed(&mut bytes, self.believed_ms);
        put_signed(&mut bytes, self.wall_ms);
        put_varint(&mut bytes, self.stood_ms.unsigned_abs());
        frame::close(&mut bytes, mark);
        bytes
    }

    fn decode(bytes: &[u8]) -> CodecResult<Self> {
        let (_, payload) = frame::open(bytes, FrameKind::ClockMark, MARK_VERSION)?;
        let mut reader = Reader::new(payload);
        let (believed_ms, wall_ms) = (reader.signed()?, reader.signed()?);
        let stood_ms = i64::try_from(reader.varint()?).unwrap_or(0);
        reader.finish()?;
        Ok(Self { believed_ms, wall_ms, stood_ms })
    }
}

/// A wall clock that is not where it was expected.
#[derive(Clone, Copy, Debug)]
struct Stray {
    is_ahead: bool,
    /// Wall time less steady time when it jumped: a clock that stands by its jump keeps it.
    offset_ms: i64,
    /// For how long it has stood by it, in this run and before.
    stood_ms: i64,
    /// The part of that in this run: what drift is allowed for.
    here_ms: i64,
}

/// The rules, without clocks and disk.
#[derive(Debug)]
struct ClockJudge {
    grace_ms: i64,
    /// The line plus what the clock may be beyond it.
    limit_ms: i64,
    /// When that was so.
    steady_ms: i64,
    wall_ms: i64,
    stray: Option<Stray>,
    /// What the run before knew of a clock that was ahead: goes on with the first jump forward of this one.
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
            stray: None,
            carried: mark.filter(|mark| mark.stood_ms > 0),
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
        // A clock may drift while nobody looks, and one that is off may not. What it may have drifted is not time that passed:
        // after a long while without a look the line would be ahead of every clock.
        let drift_ms = if self.stray.is_none() { passed_ms / DRIFT_PARTS } else { 0 };
        if gap_ms.saturating_abs() <= SLACK_MS.saturating_add(drift_ms) {
            self.follow(now.wall_ms, drift_ms);
            self.carried = None;
            return self.answer(now.wall_ms, None);
        }
        let stray = self.stands(now, gap_ms > 0, passed_ms);
        let needed_ms = gap_ms.saturating_abs().min(self.grace_ms);
        if stray.stood_ms >= needed_ms {
            self.limit_ms = now.wall_ms.saturating_add(SLACK_MS);
            (self.stray, self.carried) = (None, None);
            return self.answer(now.wall_ms, None);
        }
        self.stray = Some(stray);
        let left_ms = needed_ms - stray.stood_ms;
        let deviation = ClockDeviation { ahead_ms: gap_ms, left_ms };
        self.answer(line_ms.min(now.wall_ms), Some(deviation))
    }

    /// The line follows a clock that is near it. Forward, only as far as it was allowed to go.
    fn follow(&mut self, wall_ms: i64, drift_ms: i64) {
        let limit_ms = self.limit_ms.saturating_add(drift_ms);
        self.limit_ms = limit_ms.min(wall_ms.saturating_add(SLACK_MS));
        self.stray = None;
    }

    /// The jump of a clock that is off, and for how long it has stood by it.
    fn stands(&mut self, now: ClockReading, is_ahead: bool, passed_ms: i64) -> Stray {
        let offset_ms = now.wall_ms.saturating_sub(now.steady_ms);
        if let Some(before) = self.stray {
            let here_ms = before.here_ms.saturating_add(passed_ms);
            let moved_ms = offset_ms.saturating_sub(before.offset_ms).saturating_abs();
            if before.is_ahead == is_ahead && moved_ms <= STAND_MS + here_ms / DRIFT_PARTS {
                let stood_ms = before.stood_ms.saturating_add(passed_ms);
                return Stray { here_ms, stood_ms, ..before };
            }
        }
        let mut stood_ms = 0;
        if is_ahead && let Some(mark) = self.carried.take() {
            // Where it stands now it may have come by time that passed since; more than the grace time is another jump.
            let since_ms = now.wall_ms.saturating_sub(mark.wall_ms);
            if (0..=self.grace_ms).contains(&since_ms) {
                stood_ms = mark.stood_ms;
            }
        }
        Stray { is_ahead, offset_ms, stood_ms, here_ms: 0 }
    }

    fn answer(&self, expiry_ms: i64, deviation: Option<ClockDeviation>) -> TrustedTime {
        let believed_ms = if deviation.is_some() { self.line_ms() } else { expiry_ms };
        TrustedTime {
            expiry: TimestampMs(expiry_ms),
            believed: TimestampMs(believed_ms),
            deviation,
        }
    }

    fn mark(&self) -> ClockMark {
        let believed_ms = if self.stray.is_some() { self.line_ms() } else { self.wall_ms };
        let stood_ms = self.stray.filter(|stray| stray.is_ahead).map_or(0, |stray| stray.stood_ms);
        // A clock that was behind all the time leaves what the run before knew.
        match self.carried {
            Some(carried) if stood_ms == 0 => ClockMark { believed_ms, ..carried },
            _ => ClockMark { believed_ms, wall_ms: self.wall_ms, stood_ms },
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

    /// A machine whose clocks are moved apart, with what it would have on disk.
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

        /// Runs for so long, and looks at the clock each second as an engine does, or each minute when that is long.
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

        /// Is off for so long.
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
    fn a_clock_that_is_ahead_for_a_moment_moves_nothing() {
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
    fn a_jump_that_lasts_is_believed_after_as_long_and_at_most_the_grace_time() {
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
    fn a_machine_that_was_off_is_believed_in_time() {
        let mut machine = Machine::new(None, START);
        assert_eq!(machine.restart(30 * SECOND).deviation, None, "a quick restart is no jump");
        assert!(machine.restart(40 * DAY).deviation.is_some());
        assert!(machine.run(DAY - HOUR).expiry.0 < START + 2 * DAY);
        let time = machine.run(2 * HOUR);
        assert_eq!((time.deviation, time.expiry.0), (None, machine.wall_ms));
    }

    #[test]
    fn a_clock_that_begins_in_1970_is_waited_for() {
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
    fn a_machine_that_is_on_for_less_than_the_grace_time_is_believed_too() {
        let mut machine = Machine::new(None, START);
        let mut lag_ms = 0;
        for day in 0..30 {
            let off = if day % 7 == 6 { 64 * HOUR } else { 16 * HOUR };
            machine.restart(off);
            let time = machine.run(8 * HOUR);
            lag_ms = lag_ms.max(machine.wall_ms - time.expiry.0);
        }
        assert!(lag_ms < 6 * DAY, "{} hours behind", lag_ms / HOUR);
        // The same where its clock begins anew at each start.
        machine.restart_at(0);
        machine.run(10 * SECOND);
        machine.jump(START + 60 * DAY);
        let carried = machine.judge.mark();
        machine.run(8 * HOUR);
        assert!(machine.judge.mark().stood_ms >= 8 * HOUR, "{carried:?}");
        let before = machine.wall_ms;
        machine.restart_at(0);
        machine.run(10 * SECOND);
        assert_eq!(machine.judge.mark().stood_ms, 8 * HOUR, "it is kept");
        machine.jump(before + 16 * HOUR - machine.wall_ms);
        assert!(machine.judge.mark().stood_ms >= 8 * HOUR);
    }

    #[test]
    fn a_clock_that_runs_away_is_not_followed() {
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
    fn a_while_without_a_look_does_not_put_the_line_ahead() {
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
    fn a_clock_that_is_steered_is_followed_without_a_word() {
        let mut machine = Machine::new(None, START);
        for step in 0..200 {
            // Drift of 500 ppm, and NTP steps both ways.
            machine.run(600 * SECOND);
            let time = machine.jump(if step % 3 == 0 { 900 } else { -600 } + 300);
            assert_eq!(time, at(machine.wall_ms), "step {step}");
        }
    }

    #[test]
    fn a_clock_that_is_behind_deletes_less_and_is_believed_in_the_end() {
        let mut machine = Machine::new(None, START);
        let time = machine.jump(-3 * YEAR);
        assert_eq!((time.expiry.0, time.believed.0), (START - 3 * YEAR, START));
        let back = machine.jump(3 * YEAR);
        assert_eq!(back, at(START), "a clock that comes back did not jump");
        machine.jump(-3 * YEAR);
        assert!(machine.run(DAY - HOUR).deviation.is_some());
        assert_eq!(machine.run(2 * HOUR).deviation, None);
        // From then on the old time is a jump like any other.
        assert!(machine.jump(3 * YEAR).deviation.is_some());
    }

    #[test]
    fn what_is_kept_from_now_on_is_kept_by_the_later_clock() {
        let mut machine = Machine::new(None, START);
        assert_eq!(machine.read().expires_after(DAY).0, START + DAY);
        assert_eq!(machine.jump(YEAR).expires_after(DAY).0, START + YEAR + DAY);
        machine.jump(-YEAR);
        assert_eq!(machine.jump(-START).expires_after(DAY).0, START + DAY);
    }

    #[test]
    fn the_mark_is_these_bytes_and_every_flipped_bit_is_noticed() {
        let mark = ClockMark { believed_ms: 1_000, wall_ms: -3, stood_ms: 300 };
        let bytes = mark.encode();
        assert_eq!(ClockMark::decode(&bytes), Ok(mark));
        assert_eq!(bytes.get(..2), Some(&[32, 1][..]));
        assert_eq!(bytes.get(10..), Some(&[0xd0, 0x0f, 0x05, 0xac, 0x02][..]));
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(ClockMark::decode(&bad).is_err(), "bit {bit}");
        }
    }
}
