//! Counts the requests of one key against its quotas by GCRA, a sliding window without a history.
//!
//! The counters are stored with the key, so there is no table to prune: they are dropped together
//! with the key.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use governor::RateLimiter;
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};

use super::quota::{LimitClass, Quota, Quotas};
use super::ticks::Ticks;

type Limiter = RateLimiter<NotKeyed, InMemoryState, Ticks, StateInformationMiddleware>;

/// The counters of one key.
#[derive(Debug)]
pub struct Throttle {
    ticks: Ticks,
    batch: Option<Bucket>,
    query: Option<Bucket>,
    single: Option<Bucket>,
    other: Option<Bucket>,
    console: Option<Bucket>,
}

/// One counter and the quota it enforces.
#[derive(Debug)]
struct Bucket {
    per_minute: NonZeroU32,
    limiter: Limiter,
    /// Until when not even one request is allowed, in milliseconds of the ticks, according to the
    /// last refusal of a single request.
    full_until_ms: AtomicU64,
}

/// The result of counting requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The class has no quota.
    Unlimited,
    /// The request is allowed.
    Allowed(Usage),
    /// The request is too early; one sent after `wait` is allowed.
    Refused {
        /// The state of the quota.
        usage: Usage,
        /// How long to wait.
        wait: Duration,
    },
}

/// The state of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Requests per minute, and the size of a burst.
    pub limit: u32,
    /// The number of requests that would be allowed now.
    pub remaining: u32,
    /// Seconds until the whole quota is available again, rounded up.
    pub reset_seconds: u32,
}

impl Throttle {
    /// Returns counters with full quotas.
    pub fn new(quotas: &Quotas, ticks: Ticks) -> Self {
        let bucket = |quota| Bucket::new(quota, &ticks);
        Self {
            batch: bucket(quotas.batch),
            query: bucket(quotas.query),
            single: bucket(quotas.single),
            other: bucket(quotas.other),
            console: bucket(quotas.console),
            ticks,
        }
    }

    /// Counts one request of `class`.
    pub fn check(&self, class: LimitClass) -> Verdict {
        self.check_many(class, NonZeroU32::MIN)
    }

    /// Counts several requests of `class`, all or none. More than the whole quota are never
    /// allowed.
    pub fn check_many(&self, class: LimitClass, requests: NonZeroU32) -> Verdict {
        match self.bucket(class) {
            Some(bucket) => bucket.check(&self.ticks, requests),
            None => Verdict::Unlimited,
        }
    }

    /// Returns the state of the quota of `class` and how long to wait, if an earlier refusal shows
    /// that not even one request is allowed now. Counts nothing.
    pub fn known_refusal(&self, class: LimitClass) -> Option<(Usage, Duration)> {
        let bucket = self.bucket(class)?;
        let until = Duration::from_millis(bucket.full_until_ms.load(Ordering::Relaxed));
        let wait = until.checked_sub(self.ticks.elapsed()).filter(|wait| !wait.is_zero())?;
        Some((bucket.usage(0), wait))
    }

    fn bucket(&self, class: LimitClass) -> Option<&Bucket> {
        match class {
            LimitClass::Unlimited => None,
            LimitClass::Batch => self.batch.as_ref(),
            LimitClass::Query => self.query.as_ref(),
            LimitClass::Single => self.single.as_ref(),
            LimitClass::Other => self.other.as_ref(),
            LimitClass::Console => self.console.as_ref(),
        }
    }
}

impl Bucket {
    fn new(quota: Quota, ticks: &Ticks) -> Option<Self> {
        let Quota::PerMinute(per_minute) = quota else { return None };
        let per_minute = NonZeroU32::new(per_minute)?;
        let quota = governor::Quota::per_minute(per_minute);
        let limiter = RateLimiter::direct_with_clock(quota, ticks.clone()).with_middleware();
        Some(Self { per_minute, limiter, full_until_ms: AtomicU64::new(0) })
    }

    fn check(&self, ticks: &Ticks, requests: NonZeroU32) -> Verdict {
        match self.limiter.check_n(requests) {
            Ok(Ok(state)) => Verdict::Allowed(self.usage(state.remaining_burst_capacity())),
            Ok(Err(early)) => {
                let now = ticks.elapsed();
                let wait = early.wait_time_from(now);
                // Several requests may have to wait while a single one is allowed.
                if requests == NonZeroU32::MIN {
                    let until_ms = now.saturating_add(wait).as_millis();
                    let until_ms = u64::try_from(until_ms).unwrap_or(u64::MAX);
                    self.full_until_ms.store(until_ms, Ordering::Relaxed);
                }
                Verdict::Refused { usage: self.usage(0), wait }
            }
            // More requests than the whole quota are refused, no matter how long the client waits.
            Err(_) => Verdict::Refused { usage: self.usage(0), wait: Duration::from_secs(60) },
        }
    }

    fn usage(&self, remaining: u32) -> Usage {
        let limit = self.per_minute.get();
        // One request is replenished every 60 / limit seconds.
        let reset_seconds =
            (u64::from(limit - remaining.min(limit)) * 60).div_ceil(u64::from(limit));
        Usage { limit, remaining, reset_seconds: u32::try_from(reset_seconds).unwrap_or(60) }
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::{Clock, TimestampMs};

    use super::*;

    #[test]
    fn a_quota_allows_a_burst_and_then_one_request_per_period() {
        let clock = Clock::manual(TimestampMs(0));
        let throttle = Throttle::new(&Quotas::default(), Ticks::following(clock.clone()));
        for left in (0..10).rev() {
            let usage = Usage { limit: 10, remaining: left, reset_seconds: (10 - left) * 6 };
            assert_eq!(throttle.check(LimitClass::Batch), Verdict::Allowed(usage));
        }
        let full = Usage { limit: 10, remaining: 0, reset_seconds: 60 };
        let refused =
            |seconds| Verdict::Refused { usage: full, wait: Duration::from_secs(seconds) };
        assert_eq!(throttle.check(LimitClass::Batch), refused(6));
        clock.set(TimestampMs(2_000));
        assert_eq!(throttle.check(LimitClass::Batch), refused(4));
        clock.set(TimestampMs(6_000));
        assert_eq!(throttle.check(LimitClass::Batch), Verdict::Allowed(full));
        assert_eq!(throttle.check(LimitClass::Batch), refused(6));
        assert!(matches!(throttle.check(LimitClass::Query), Verdict::Allowed(_)));
    }

    #[test]
    fn many_requests_count_all_or_none() {
        let clock = Clock::manual(TimestampMs(0));
        let throttle = Throttle::new(&Quotas::default(), Ticks::following(clock.clone()));
        let check = |n: u32| throttle.check_many(LimitClass::Batch, NonZeroU32::new(n).unwrap());
        let left = |remaining| {
            Verdict::Allowed(Usage { limit: 10, remaining, reset_seconds: (10 - remaining) * 6 })
        };
        assert_eq!(check(7), left(3));
        assert!(matches!(check(4), Verdict::Refused { wait, .. } if wait.as_secs() == 6));
        assert_eq!(check(3), left(0));
        assert!(matches!(check(11), Verdict::Refused { wait, .. } if wait.as_secs() == 60));
        clock.set(TimestampMs(42_000));
        assert_eq!(check(7), left(0));
    }

    #[test]
    fn a_refusal_is_known_until_the_wait_is_over() {
        let clock = Clock::manual(TimestampMs(0));
        let throttle = Throttle::new(&Quotas::default(), Ticks::following(clock.clone()));
        let known = || throttle.known_refusal(LimitClass::Batch).map(|(_, wait)| wait.as_secs());
        throttle.check_many(LimitClass::Batch, NonZeroU32::new(10).unwrap());
        throttle.check_many(LimitClass::Batch, NonZeroU32::new(2).unwrap());
        assert_eq!(known(), None, "one alone has not been refused");
        throttle.check(LimitClass::Batch);
        assert_eq!(known(), Some(6));
        clock.set(TimestampMs(2_000));
        assert_eq!(known(), Some(4));
        clock.set(TimestampMs(6_000));
        assert_eq!(known(), None);
        assert_eq!(throttle.known_refusal(LimitClass::Query), None);
    }

    #[test]
    fn classes_without_a_quota_are_not_counted() {
        let quotas = Quotas { batch: Quota::Unlimited, ..Quotas::default() };
        let throttle = Throttle::new(&quotas, Ticks::system());
        for _ in 0..1_000 {
            assert_eq!(throttle.check(LimitClass::Batch), Verdict::Unlimited);
            assert_eq!(throttle.check(LimitClass::Unlimited), Verdict::Unlimited);
        }
    }

    #[test]
    fn the_largest_quota_works() {
        let quotas = Quotas { batch: Quota::PerMinute(u32::MAX), ..Quotas::default() };
        let throttle = Throttle::new(&quotas, Ticks::system());
        assert!(
            matches!(throttle.check(LimitClass::Batch), Verdict::Allowed(usage) if usage.limit == u32::MAX)
        );
    }
}
