//! The one place that reads clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// Measures elapsed time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts a measurement.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Returns the milliseconds since the start.
    pub(crate) fn millis(self) -> f64 {
        self.elapsed().as_secs_f64() * 1e3
    }
}

/// Returns the instant after a delay from now.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub(crate) fn deadline(delay: Duration) -> Instant {
    Instant::now() + delay
}

/// Returns the CPU time that all threads of this process have used.
pub(crate) fn process_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// Returns a number that differs between runs, for names of objects.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub(crate) fn run_number() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
}

/// Latencies in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<f64>);

impl Latencies {
    /// Adds a measurement.
    pub(crate) fn add(&mut self, millis: f64) {
        self.0.push(millis);
    }

    /// Adds all measurements of another series.
    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns the number of measurements.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the value below which a share (0 to 1) of all measurements lie, or 0 without any.
    pub(crate) fn quantile(&mut self, share: f64) -> f64 {
        self.0.sort_by(f64::total_cmp);
        let last = self.0.len().saturating_sub(1);
        let index = (last as f64 * share).round() as usize;
        self.0.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_measurements() {
        let mut latencies = Latencies::default();
        assert!(latencies.quantile(0.5).abs() < f64::EPSILON);
        for millis in [5.0, 1.0, 4.0, 2.0, 3.0] {
            latencies.add(millis);
        }
        assert!((latencies.quantile(0.5) - 3.0).abs() < f64::EPSILON);
        assert!((latencies.quantile(1.0) - 5.0).abs() < f64::EPSILON);
    }
}
