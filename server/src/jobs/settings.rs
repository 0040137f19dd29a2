//! The settings of jobs.

use crate::limits::OWN_WAITERS_RESERVE;
use crate::platform::settings::{Auto, ByteSize, FromZero, Period, settings_section};

settings_section! {
    /// Leases, retries and retention of jobs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "jobs" JobsSettings {
        /// Lease of a job without `timeout_seconds`.
        lease: Period = "30m";
        /// How long a worker may go without a heartbeat before it is considered dead and its jobs
        /// are returned to their queues. Workers are asked to send heartbeats four times as often.
        worker_silence: Period = "60s";
        /// Factor of the fourth power of the attempt in the delay before a retry, in seconds.
        retry_exponent_factor: FromZero = "1";
        /// Constant part of the delay before a retry, in seconds.
        retry_base_seconds: FromZero = "15";
        /// Maximum of the random part of the delay before a retry, in seconds per attempt made.
        retry_jitter_seconds: FromZero = "10";
        /// Waiting time of the oldest ready job beyond which a queue is `degraded` instead of
        /// `healthy`.
        degraded_latency: Period = "5m";
        /// How long finished jobs are kept.
        finished_keep: Period = "1h";
        /// Maximum number of finished jobs that are kept.
        finished_max: usize = "100_000";
        /// How long dead jobs are kept.
        dead_keep: Period = "180d";
        /// Maximum number of dead jobs that are kept. Beyond it, the oldest of the queues of the
        /// server is deleted, or else the oldest of all.
        dead_max: usize = "100_000";
        /// Maximum number of waiting jobs (ready, scheduled or to be retried) in all queues;
        /// further ones are refused with 503 `overloaded`.
        waiting_max: usize = "2_000_000";
        /// Maximum number of waiting jobs in one queue; further ones are refused with 503
        /// `overloaded`.
        queue_waiting_max: usize = "1_000_000";
        /// Maximum memory of waiting jobs; further ones are refused with 503 `overloaded`. `auto`
        /// is what new data (twice `storage.head_bytes`) and caches leave of half of
        /// `memory.limit`, at least a sixteenth of the limit and at most 512 MiB: 28 MiB with a
        /// limit of 256 MiB, 416 MiB with 2 GiB.
        waiting_bytes_max: Auto<ByteSize> = "auto";
        /// How long an unused queue is kept: one that is not paused and has no jobs, finished and
        /// dead ones included, and no workers. When the maximum number of queues is reached, an
        /// unused queue is deleted at once for a new one.
        queue_keep: Period = "1d";
        /// Maximum number of worker fetches that wait for jobs at the same time; further ones are
        /// answered at once, even if there are no jobs.
        waiting_fetches_max: usize = "10_000";
        /// Maximum number of fetches of one key that wait for jobs at the same time; further ones
        /// are answered at once.
        key_waiting_fetches_max: usize = "5_000";
    }
}

impl JobsSettings {
    /// Returns the heartbeat interval in seconds: a quarter of the silence after which a worker is
    /// considered dead.
    pub fn heartbeat_seconds(&self) -> f64 {
        self.worker_silence.ms() as f64 / 4_000.0
    }

    /// Returns the maximum number of waiting fetches, those of the server's own workers included.
    pub(super) fn waiters_max(&self) -> usize {
        self.waiting_fetches_max.saturating_add(OWN_WAITERS_RESERVE)
    }

    /// Returns the maximum memory of waiting jobs in bytes; no limit while the setting is not
    /// derived from `memory.limit`.
    pub fn waiting_bytes_max(&self) -> usize {
        self.waiting_bytes_max.set().map_or(usize::MAX, ByteSize::bytes_usize)
    }

    /// Returns the longest delay after the failed attempt `attempt`, in milliseconds.
    pub(super) fn longest_retry_delay_ms(&self, attempt: u16) -> i64 {
        let jitter_ms = self.retry_jitter_seconds.0.saturating_mul(u64::from(attempt) * 1_000);
        self.retry_delay_ms(attempt, jitter_ms)
    }

    /// Returns the delay after the failed attempt `attempt`, in milliseconds; `random` selects the
    /// jitter.
    pub(super) fn retry_delay_ms(&self, attempt: u16, random: u64) -> i64 {
        let attempt = u64::from(attempt);
        let grown = self.retry_exponent_factor.0.saturating_mul(attempt.pow(4));
        let jitter_ms = self.retry_jitter_seconds.0.saturating_mul(attempt * 1_000);
        let spread_ms = random.checked_rem(jitter_ms.saturating_add(1)).unwrap_or(0);
        let seconds = grown.saturating_add(self.retry_base_seconds.0);
        let delay_ms = seconds.saturating_mul(1_000).saturating_add(spread_ms);
        i64::try_from(delay_ms).unwrap_or(i64::MAX).min(DELAY_MS_MAX)
    }
}

/// A hundred years, so that adding a delay to a time does not overflow.
const DELAY_MS_MAX: i64 = 100 * 365 * 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_with_the_fourth_power_and_are_spread() {
        let settings = JobsSettings::default();
        for (attempt, least_s) in [(1, 16), (2, 31), (3, 96), (25, 390_640)] {
            let most_s = least_s + 10 * i64::from(attempt);
            let delays = (0..1_000).map(|n| settings.retry_delay_ms(attempt, n * 0x9e37_79b9));
            let (low, high) = (least_s * 1_000, most_s * 1_000);
            let delays: Vec<i64> = delays.collect();
            assert!(delays.iter().all(|ms| (low..=high).contains(ms)), "{attempt}: {delays:?}");
            assert_eq!(settings.longest_retry_delay_ms(attempt), high, "{attempt}");
            assert!(delays.iter().any(|ms| *ms > (low + high) / 2), "{attempt} is not spread");
        }
        let plain = JobsSettings { retry_jitter_seconds: FromZero(0), ..settings };
        assert_eq!(plain.retry_delay_ms(2, 7), 31_000);
        let wild = JobsSettings { retry_exponent_factor: FromZero(u64::MAX), ..settings };
        assert_eq!(wild.retry_delay_ms(u16::MAX, 7), DELAY_MS_MAX);
    }
}
