//! Limits how many groups each sender may create per hour, by GCRA, so that a flood of distinct
//! errors from one key neither fills the table of groups nor uses up the budget of other keys.

use std::collections::HashMap;
use std::time::Duration;

use super::super::model::Sender;

const HOUR_US: u64 = 3_600_000_000;
/// Entries below which the table is not pruned.
const PRUNE_AT_MIN: usize = 64;

/// The remaining budget of each sender.
#[derive(Debug)]
pub(super) struct Budgets {
    per_hour: u64,
    /// When each sender's budget is full again, in microseconds of the steady clock. Senders with a
    /// full budget have no entry, or one that is pruned later; there are at most as many as keys.
    full_at_us: HashMap<Sender, u64>,
    /// The number of entries at which those with a full budget are removed.
    prune_at: usize,
}

impl Budgets {
    pub(super) fn new(per_hour: u64) -> Self {
        Self { per_hour, full_at_us: HashMap::new(), prune_at: PRUNE_AT_MIN }
    }

    /// Returns whether the sender may create a group now.
    pub(super) fn has_left(&self, sender: Sender, now: Duration) -> bool {
        let now_us = micros(now);
        self.after_one(sender, now_us)
            .is_some_and(|after_us| after_us.saturating_sub(now_us) <= HOUR_US)
    }

    /// Charges one group to the sender's budget.
    pub(super) fn take(&mut self, sender: Sender, now: Duration) {
        let now_us = micros(now);
        let Some(after_us) = self.after_one(sender, now_us) else { return };
        if self.full_at_us.len() >= self.prune_at {
            self.full_at_us.retain(|_, at_us| *at_us > now_us);
            self.prune_at = (2 * self.full_at_us.len()).max(PRUNE_AT_MIN);
        }
        self.full_at_us.insert(sender, after_us);
    }

    /// Refunds a group that was not created after all.
    pub(super) fn refund(&mut self, sender: Sender) {
        let Some(each_us) = HOUR_US.checked_div(self.per_hour) else { return };
        if let Some(full_at_us) = self.full_at_us.get_mut(&sender) {
            *full_at_us = full_at_us.saturating_sub(each_us);
        }
    }

    /// Returns when the sender's budget would be full after one more group; `None` if the budget is
    /// 0.
    fn after_one(&self, sender: Sender, now_us: u64) -> Option<u64> {
        let each_us = HOUR_US.checked_div(self.per_hour)?;
        let full_at_us = self.full_at_us.get(&sender).copied().unwrap_or(0).max(now_us);
        Some(full_at_us.saturating_add(each_us))
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Budgets {
        fn begin(&mut self, sender: Sender, seconds: u64) -> bool {
            let now = Duration::from_secs(seconds);
            let is_allowed = self.has_left(sender, now);
            if is_allowed {
                self.take(sender, now);
            }
            is_allowed
        }
    }

    #[test]
    fn each_sender_has_a_budget_that_refills_steadily() {
        let mut budgets = Budgets::new(4);
        let (one, other) = (Sender(1), Sender(2));
        assert!((0..4).all(|_| budgets.begin(one, 10)));
        assert!(!budgets.begin(one, 10));
        assert!(budgets.begin(other, 10));
        assert!(!budgets.begin(one, 909));
        assert!(budgets.begin(one, 910), "a quarter of an hour refills one group");
        assert!(!budgets.begin(one, 910));
        assert!((0..4).all(|_| budgets.begin(one, 7_300)));
        assert!(!Budgets::new(0).begin(one, 0));
    }

    #[test]
    fn senders_with_a_full_budget_are_dropped_from_the_table() {
        let mut budgets = Budgets::new(3_600);
        for n in 0..10_000 {
            assert!(budgets.begin(Sender(n), n));
            assert!(budgets.full_at_us.len() <= PRUNE_AT_MIN);
        }
    }
}
