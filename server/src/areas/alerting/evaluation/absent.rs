//! The groups of rules that wait for the absence of data.
//!
//! A group without data is not in the result of a query, so the groups are remembered: those with
//! data within a day before the first evaluation, and those seen since. A group that had no data
//! for a day is forgotten, which ends its alert: whatever sent it was removed.

use std::collections::BTreeMap;

use telltale_engine::{TimeRange, TimestampMs};

use super::scan::is_nothing;
use crate::app::App;
use crate::areas::alerting::limits;
use crate::areas::saved_queries::{Buckets, QueryPlan, SavedQueryError, run_query};
use crate::platform::telemetry::buckets::BucketWidth;

/// How long groups without data are remembered, in milliseconds, at least. A rule with a longer
/// window remembers them for twice as long as that.
const KEPT_MS: i64 = 24 * 3_600_000;
const HOUR_MS: i64 = 3_600_000;

/// The groups of a rule.
#[derive(Clone, Debug, Default)]
pub(in crate::areas::alerting) struct KnownGroups {
    /// The revision of the rule that they are of.
    pub(super) of: Option<u64>,
    /// When each group had data last.
    seen: BTreeMap<Vec<String>, TimestampMs>,
}

impl KnownGroups {
    /// Finds the groups that had data before the first evaluation.
    pub(super) fn load(
        app: &App,
        plan: &QueryPlan,
        of: Option<u64>,
        window_ms: i64,
        now: TimestampMs,
    ) -> Result<Self, SavedQueryError> {
        let start = TimestampMs(now.0.saturating_sub(kept_ms(window_ms)));
        let range = TimeRange { start, end: now };
        let width = Buckets::Of(BucketWidth::HOUR);
        let mut known = Self { of, seen: BTreeMap::new() };
        let found = run_query(app, plan, range, width, &[plan.measure])?;
        let (groups, _memory) = found.into_parts();
        for group in groups {
            let filled = group.starts.iter().zip(group.column(0));
            let mut filled =
                filled.filter(|(_, value)| value.is_some_and(|value| !is_nothing(plan, value)));
            if let Some((start, _)) = filled.next_back() {
                let seen = TimestampMs(start.0.saturating_add(HOUR_MS).min(now.0));
                known.insert(group.keys, seen);
            }
        }
        Ok(known)
    }

    /// Records that a group has data. Returns `false` if there is no space for it.
    pub(super) fn insert(&mut self, group: Vec<String>, at: TimestampMs) -> bool {
        let is_known = self.seen.contains_key(&group);
        let fits = is_known || self.seen.len() < limits::RULE_GROUPS_KNOWN_MAX;
        if fits {
            self.seen.insert(group, at);
        }
        fits
    }

    /// Forgets groups that had no data for long.
    pub(super) fn forget_old(&mut self, window_ms: i64, now: TimestampMs) {
        let oldest = now.0.saturating_sub(kept_ms(window_ms));
        self.seen.retain(|_, seen| seen.0 >= oldest);
    }

    /// Returns the groups.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Vec<String>> {
        self.seen.keys()
    }

    /// Returns roughly how much memory they take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let group = |keys: &Vec<String>| 80 + keys.iter().map(|key| 30 + key.len()).sum::<usize>();
        self.seen.keys().map(group).sum()
    }
}

fn kept_ms(window_ms: i64) -> i64 {
    KEPT_MS.max(window_ms.saturating_mul(2))
}
