//! The settings of jobs, with unit and default.

use crate::limits::OWN_WAITERS_RESERVE;

/// The settings of jobs. The default is that of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobsSettings {
    /// The lease of a job without its own, in milliseconds. 30 min: longer than most jobs run.
    pub lease_ms: i64,
    /// Milliseconds without a heartbeat after which a worker is considered dead. 60 s: four
    /// heartbeats.
    pub worker_silence_ms: i64,
    /// The factor of the fourth power of the attempt in the delay before a retry, in seconds.
    pub retry_exponent_factor: u32,
    /// The constant part of the delay before a retry, in seconds.
    pub retry_base_seconds: u32,
    /// The maximum of the random part of the delay before a retry, in seconds per attempt made.
    pub retry_jitter_seconds: u32,
    /// The waiting time of the oldest ready job, in milliseconds, beyond which a queue is degraded.
    pub degraded_latency_ms: i64,
    /// How long finished jobs are kept, in milliseconds.
    pub finished_keep_ms: i64,
    /// The maximum number of finished jobs that are kept.
    pub finished_max: usize,
    /// How long dead jobs are kept, in milliseconds.
    pub dead_keep_ms: i64,
    /// The maximum number of dead jobs that are kept.
    pub dead_max: usize,
    /// The maximum number of waiting jobs (ready, scheduled or retrying); further ones are refused.
    pub waiting_max: usize,
    /// The same for one queue.
    pub queue_waiting_max: usize,
    /// The maximum memory of waiting jobs in bytes; further ones are refused.
    pub waiting_bytes_max: usize,
    /// How long an unused queue is kept, in milliseconds. A day: queues used daily stay listed.
    pub queue_keep_ms: i64,
    /// The maximum number of fetches that wait for jobs; further ones are answered at once. 10000:
    /// the maximum number of workers.
    pub waiting_fetches_max: usize,
    /// The same for one key. 5000: half of all, so that no key takes all permits.
    pub key_waiting_fetches_max: usize,
}

impl Default for JobsSettings {
    fn default() -> Self {
        Self {
            lease_ms: 1_800_000,
            worker_silence_ms: 60_000,
            retry_exponent_factor: 1,
            retry_base_seconds: 15,
            retry_jitter_seconds: 10,
            degraded_latency_ms: 300_000,
            finished_keep_ms: 3_600_000,
            finished_max: 100_000,
            dead_keep_ms: 180 * 86_400_000,
            dead_max: 100_000,
            waiting_max: 2_000_000,
            queue_waiting_max: 1_000_000,
            waiting_bytes_max: 416 << 20,
            queue_keep_ms: 86_400_000,
            waiting_fetches_max: 10_000,
            key_waiting_fetches_max: 5_000,
        }
    }
}

impl JobsSettings {
    /// Returns the heartbeat interval in seconds: a quarter of the silence after which a worker is
    /// considered dead.
    pub fn heartbeat_seconds(&self) -> f64 {
        self.worker_silence_ms as f64 / 4_000.0
    }

    /// Returns the maximum number of waiting fetches, those of the server's own workers included.
    pub(super) fn waiters_max(&self) -> usize {
        self.waiting_fetches_max.saturating_add(OWN_WAITERS_RESERVE)
    }

    /// Returns the longest delay after the failed attempt `attempt`, in milliseconds.
    pub(super) fn longest_retry_delay_ms(&self, attempt: u16) -> i64 {
        let jitter_ms = u64::from(self.retry_jitter_seconds) * u64::from(attempt) * 1_000;
        self.retry_delay_ms(attempt, jitter_ms)
    }

    /// Returns the delay after the failed attempt `attempt`, in milliseconds; `random` selects the
    /// jitter.
    pub(super) fn retry_delay_ms(&self, attempt: u16, random: u64) -> i64 {
        let attempt = u64::from(attempt);
        let grown = u64::from(self.retry_exponent_factor).saturating_mul(attempt.pow(4));
        let jitter_ms = u64::from(self.retry_jitter_seconds).saturating_mul(attempt * 1_000);
        let spread_ms = random.checked_rem(jitter_ms.saturating_add(1)).unwrap_or(0);
        let seconds = grown.saturating_add(u64::from(self.retry_base_seconds));
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
        let plain = JobsSettings { retry_jitter_seconds: 0, ..settings };
        assert_eq!(plain.retry_delay_ms(2, 7), 31_000);
        let wild = JobsSettings { retry_exponent_factor: u32::MAX, ..settings };
        assert_eq!(wild.retry_delay_ms(u16::MAX, 7), DELAY_MS_MAX);
    }
}
