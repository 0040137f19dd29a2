//! How far a message has come that consists of several parts: an email for each recipient, an event
//! for each alert. A part that was delivered is not sent again, and one that is refused keeps no
//! other from being sent.

use std::collections::BTreeSet;
use std::time::Duration;

use super::outcome::Outcome;

/// The parts of a message that need no further attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Progress {
    /// Delivered or refused: addresses, or ids of alerts.
    settled: BTreeSet<String>,
    /// Why a part was refused, if one was.
    refusal: Option<String>,
}

/// The parts that an attempt could not deliver.
#[derive(Debug, Default)]
pub(super) struct Postponed {
    after: Option<Duration>,
    reason: Option<String>,
}

impl Progress {
    /// Returns whether a part needs no further attempt.
    pub(super) fn is_settled(&self, part: &str) -> bool {
        self.settled.contains(part)
    }

    /// Records what became of a part.
    pub(super) fn record(&mut self, part: &str, outcome: Outcome, postponed: &mut Postponed) {
        match outcome {
            Outcome::Delivered => drop(self.settled.insert(part.to_owned())),
            Outcome::Failed { reason, .. } => {
                self.settled.insert(part.to_owned());
                self.refusal.get_or_insert(reason);
            }
            Outcome::Retry { after, reason } => {
                postponed.after = postponed.after.max(after);
                postponed.reason.get_or_insert(reason);
            }
        }
    }

    /// Returns what became of the message as a whole.
    pub(super) fn outcome(&self, postponed: Postponed) -> Outcome {
        match (postponed.reason, &self.refusal) {
            (Some(reason), _) => Outcome::Retry { after: postponed.after, reason },
            (None, Some(reason)) => Outcome::Failed { reason: reason.clone(), disables: false },
            (None, None) => Outcome::Delivered,
        }
    }

    /// Returns what [`Self::parts`] of another one said.
    pub(in crate::areas::alerting) fn of(settled: Vec<String>, refusal: Option<String>) -> Self {
        Self { settled: settled.into_iter().collect(), refusal }
    }

    /// Returns the parts that need no further attempt, and why one of them was refused, if so.
    pub(in crate::areas::alerting) fn parts(&self) -> (Vec<String>, Option<String>) {
        (self.settled.iter().cloned().collect(), self.refusal.clone())
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::alerting) fn bytes(&self) -> usize {
        self.settled.iter().map(|part| part.len() + 32).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_refused_keeps_no_other_from_being_tried_again() {
        let mut progress = Progress::default();
        let mut postponed = Postponed::default();
        let refused = Outcome::Failed { reason: "550".to_owned(), disables: true };
        let busy = |seconds| {
            let after = Some(Duration::from_secs(seconds));
            Outcome::Retry { after, reason: format!("451 {seconds}") }
        };
        for (part, outcome) in
            [("a", Outcome::Delivered), ("b", refused), ("c", busy(3)), ("d", busy(9))]
        {
            progress.record(part, outcome, &mut postponed);
        }
        assert!(progress.is_settled("a") && progress.is_settled("b") && !progress.is_settled("c"));
        let after = Some(Duration::from_secs(9));
        assert_eq!(progress.outcome(postponed), Outcome::Retry { after, reason: "451 3".into() });
        progress.record("c", Outcome::Delivered, &mut Postponed::default());
        let failed = Outcome::Failed { reason: "550".to_owned(), disables: false };
        assert_eq!(progress.outcome(Postponed::default()), failed);
        assert_eq!(Progress::default().outcome(Postponed::default()), Outcome::Delivered);
    }
}
