//! What became of the last evaluations, in memory: rules that could not be evaluated, and since
//! when results are conclusive.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use telltale_engine::TimestampMs;

use super::absent::KnownGroups;
use crate::app::App;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::rules::RuleFailure;

/// What is known of the evaluations so far.
#[derive(Debug)]
pub(in crate::areas::alerting) struct EvaluationStatus {
    failures: Mutex<HashMap<RuleId, RuleFailure>>,
    /// On the monotonic clock: since when data has been received without a gap that the server
    /// caused.
    receiving_since: Mutex<Duration>,
    /// The groups of rules that wait for the absence of data. Held while rules are evaluated.
    known_groups: Mutex<HashMap<RuleId, KnownGroups>>,
    known_groups_bytes: AtomicU64,
}

/// Returns for how long data has been received without a gap that the server caused, and with the
/// same clock.
pub(in crate::areas::alerting) fn receiving_for(app: &App) -> Duration {
    let steady = app.clock().steady();
    let since = *app.alerting().evaluation().receiving_since.lock();
    steady.saturating_sub(since.max(app.alerting().ledger().clock_unchanged_since()))
}

impl EvaluationStatus {
    /// Begins when the server does, at this time on the monotonic clock.
    pub(in crate::areas::alerting) fn new(steady: Duration) -> Self {
        Self {
            failures: Mutex::default(),
            receiving_since: Mutex::new(steady),
            known_groups: Mutex::default(),
            known_groups_bytes: AtomicU64::new(0),
        }
    }

    /// Returns why the last evaluation of a rule failed, if it did.
    pub(in crate::areas::alerting) fn failure(&self, rule: &RuleId) -> Option<RuleFailure> {
        self.failures.lock().get(rule).cloned()
    }

    /// Records that data could not be received until now.
    pub(super) fn interrupted(&self, steady: Duration) {
        *self.receiving_since.lock() = steady;
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::alerting) fn memory_bytes(&self) -> u64 {
        let failures = self.failures.lock();
        let failures = failures.values().map(|failure| 200 + failure.reason.len());
        failures.sum::<usize>() as u64 + self.known_groups_bytes.load(Ordering::Relaxed)
    }

    /// Returns the groups of rules that wait for the absence of data.
    pub(super) fn known_groups(&self) -> MutexGuard<'_, HashMap<RuleId, KnownGroups>> {
        self.known_groups.lock()
    }

    /// Records a failure of a rule, or its end.
    pub(super) fn set_failure(&self, rule: &RuleId, reason: Option<String>, now: TimestampMs) {
        let mut failures = self.failures.lock();
        let Some(reason) = reason else {
            if failures.remove(rule).is_some() {
                tracing::info!(rule = rule.as_str(), "an alert rule is evaluated again");
            }
            return;
        };
        match failures.get_mut(rule) {
            Some(failure) => failure.reason = reason,
            None => {
                tracing::warn!(rule = rule.as_str(), reason, "an alert rule cannot be evaluated");
                failures.insert(rule.clone(), RuleFailure { reason, since: now });
            }
        }
    }

    /// Records the end of an evaluation, and forgets rules that are not evaluated any more.
    pub(super) fn finish(&self, is_evaluated: impl Fn(&RuleId) -> bool) {
        let mut known_groups = self.known_groups.lock();
        known_groups.retain(|id, _| is_evaluated(id));
        let bytes = known_groups.values().map(KnownGroups::bytes).sum::<usize>() as u64;
        self.known_groups_bytes.store(bytes, Ordering::Relaxed);
        self.failures.lock().retain(|id, _| is_evaluated(id));
    }
}
