//! How many groups each sender may begin: so many an hour, counted as a sliding window (GCRA), so that a flood of distinct errors
//! from one key fills neither the table of groups nor the way of others.

use std::collections::HashMap;
use std::time::Duration;

use super::super::model::Sender;

const HOUR_US: u64 = 3_600_000_000;
/// So few senders may always be remembered.
const PRUNE_AT_MIN: usize = 64;

/// What senders have left.
#[derive(Debug)]
pub(super) struct Budgets {
    per_hour: u64,
    /// When each sender's budget is whole again, in microseconds of a clock that is never set. Only those whose is not; as
    /// many as there are keys at most.
    whole_at_us: HashMap<Sender, u64>,
    /// So many may be there before those that are whole are forgotten.
    prune_at: usize,
}

impl Budgets {
    pub(super) fn new(per_hour: u64) -> Self {
        Self { per_hour, whole_at_us: HashMap::new(), prune_at: PRUNE_AT_MIN }
    }

    /// Whether the sender may begin a group at this time.
    pub(super) fn has_left(&self, sender: Sender, now: Duration) -> bool {
        let now_us = micros(now);
        self.after_one(sender, now_us)
            .is_some_and(|after_us| after_us.saturating_sub(now_us) <= HOUR_US)
    }

    /// Takes one group off the sender's budget.
    pub(super) fn take(&mut self, sender: Sender, now: Duration) {
        let now_us = micros(now);
        let Some(after_us) = self.after_one(sender, now_us) else { return };
        if self.whole_at_us.len() >= self.prune_at {
            self.whole_at_us.retain(|_, at_us| *at_us > now_us);
            self.prune_at = (2 * self.whole_at_us.len()).max(PRUNE_AT_MIN);
        }
        self.whole_at_us.insert(sender, after_us);
    }

    /// Gives back what a group took that did not come to be.
    pub(super) fn give_back(&mut self, sender: Sender) {
        let Some(each_us) = HOUR_US.checked_div(self.per_hour) else { return };
        if let Some(whole_at_us) = self.whole_at_us.get_mut(&sender) {
            *whole_at_us = whole_at_us.saturating_sub(each_us);
        }
    }

    /// When the sender's budget is whole after one more group; nothing where nobody may begin any.
    fn after_one(&self, sender: Sender, now_us: u64) -> Option<u64> {
        let each_us = HOUR_US.checked_div(self.per_hour)?;
        let whole_at_us = self.whole_at_us.get(&sender).copied().unwrap_or(0).max(now_us);
        Some(whole_at_us.saturating_add(each_us))
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
            let may = self.has_left(sender, now);
            if may {
                self.take(sender, now);
            }
            may
        }
    }

    #[test]
    fn each_sender_has_its_budget_and_gets_it_back_bit_by_bit() {
        let mut budgets = Budgets::new(4);
        let (one, other) = (Sender(1), Sender(2));
        assert!((0..4).all(|_| budgets.begin(one, 10)));
        assert!(!budgets.begin(one, 10));
        assert!(budgets.begin(other, 10));
        assert!(!budgets.begin(one, 909));
        assert!(budgets.begin(one, 910), "a quarter of an hour is one group");
        assert!(!budgets.begin(one, 910));
        assert!((0..4).all(|_| budgets.begin(one, 7_300)));
        assert!(!Budgets::new(0).begin(one, 0));
    }

    #[test]
    fn senders_with_a_whole_budget_are_forgotten() {
        let mut budgets = Budgets::new(3_600);
        for n in 0..10_000 {
            assert!(budgets.begin(Sender(n), n));
            assert!(budgets.whole_at_us.len() <= PRUNE_AT_MIN);
        }
    }
}
