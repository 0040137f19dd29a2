//! The only access of the tests to the clock, and the only place that waits.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};

/// Milliseconds in a minute.
pub const MINUTE_MS: i64 = 60_000;
/// Milliseconds in an hour.
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Milliseconds in a day.
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// The timeout of [`eventually`]: far longer than anything takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// The pause between two checks.
const REST: Duration = Duration::from_millis(5);

/// Returns the current time in milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "this is the door that the tests take")]
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Formats a time as the server does.
pub fn iso(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms)
        .unwrap_or_default()
        .to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Parses a time that the server formatted.
#[track_caller]
pub fn parse_iso(text: &str) -> i64 {
    match DateTime::parse_from_rfc3339(text) {
        Ok(time) if iso(time.timestamp_millis()) == text => time.timestamp_millis(),
        Ok(_) => panic!("{text:?} is not written in UTC with milliseconds and a Z"),
        Err(error) => panic!("{text:?} is not a time: {error}"),
    }
}

/// Measures elapsed time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the measurement.
    #[expect(clippy::disallowed_methods, reason = "this is the door that the tests take")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Calls `look` until it returns a value, for states that no response announces.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the one place that waits by sleeping")]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let watch = Stopwatch::start();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(watch.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(REST);
    }
}
