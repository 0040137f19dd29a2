//! Messages about alerts, from the change that caused them until they are delivered.

use telltale_engine::TimestampMs;

use super::model::{
    AlertId, DeliveryStatus, Destination, NotificationEntry, RuleFacts, RuleRef, labels_bytes,
};
use crate::areas::alerting::channels::Progress;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::notice::{Notice, NoticeAlert, NoticeKind};

/// How long to wait before each attempt after the first, in milliseconds. A receiver that is down
/// for a moment is tried soon; after three quarters of an hour a message is old.
const RETRY_MS: [i64; 5] = [5_000, 30_000, 120_000, 600_000, 1_800_000];

/// A message that waits for its delivery.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct Message {
    /// The order of the messages to one destination.
    pub(in crate::areas::alerting) seq: u64,
    /// The same in all attempts: `msg_` and a ULID.
    pub(in crate::areas::alerting) id: String,
    pub(in crate::areas::alerting) kind: NoticeKind,
    pub(in crate::areas::alerting) rule: RuleRef,
    pub(in crate::areas::alerting) about: RuleFacts,
    pub(in crate::areas::alerting) cycle: u32,
    /// The delay of the step that caused it, in minutes.
    pub(in crate::areas::alerting) step_delay_minutes: Option<u32>,
    pub(in crate::areas::alerting) created_at: TimestampMs,
    /// The alerts that it describes, as they were.
    pub(in crate::areas::alerting) described: Vec<NoticeAlert>,
    /// All its alerts, with the number of the entry of the message in the log of each.
    pub(in crate::areas::alerting) alerts: Vec<(AlertId, u32)>,
    /// Failed attempts.
    pub(in crate::areas::alerting) attempts: u32,
    /// Whether it is the first one to its destination about each of its alerts: then nobody needs
    /// to be told of their end before it is sent.
    pub(in crate::areas::alerting) is_first: bool,
    /// When it may be sent next.
    pub(in crate::areas::alerting) due_at: TimestampMs,
    /// Why the last attempt failed.
    pub(in crate::areas::alerting) error: Option<String>,
    /// Which of its parts need no further attempt.
    pub(in crate::areas::alerting) progress: Progress,
}

impl Message {
    /// Returns the notification to send.
    pub(in crate::areas::alerting) fn notice(&self, base_url: Option<String>) -> Notice {
        Notice {
            kind: self.kind,
            rule_id: self.rule.clone().map(RuleId::into).unwrap_or_default(),
            rule_name: self.about.name.clone(),
            severity: self.about.severity,
            condition: self.about.condition.clone(),
            comparison: self.about.comparison.map(|comparison| comparison.sign),
            alerts: self.described.clone(),
            total: self.alerts.len(),
            cycle: self.cycle,
            sent_at: self.created_at,
            base_url,
        }
    }

    /// Returns its entry in the log of its alerts.
    pub(super) fn entry(
        &self,
        destination: &Destination,
        status: DeliveryStatus,
        changed_at: TimestampMs,
    ) -> NotificationEntry {
        let is_sent = status == DeliveryStatus::Delivered;
        NotificationEntry {
            message_id: self.id.clone(),
            destination: destination.clone(),
            kind: self.kind.as_str(),
            cycle: self.cycle,
            step_delay_minutes: self.step_delay_minutes,
            created_at: self.created_at,
            status,
            attempts: self.attempts.saturating_add(u32::from(is_sent)),
            changed_at,
            error: self.error.clone().filter(|_| !is_sent),
        }
    }

    /// Records a failed attempt. Returns whether there will be another one.
    pub(super) fn fail(
        &mut self,
        reason: String,
        retry_after_ms: Option<i64>,
        now: TimestampMs,
    ) -> bool {
        let wait = usize::try_from(self.attempts).ok().and_then(|done| RETRY_MS.get(done));
        self.attempts = self.attempts.saturating_add(1);
        self.error = Some(reason);
        let Some(wait) = wait else { return false };
        let wait = retry_after_ms.unwrap_or(0).max(*wait);
        self.due_at = TimestampMs(now.0.saturating_add(wait));
        true
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let described = |alert: &NoticeAlert| {
            300 + labels_bytes(&alert.labels) + alert.summary.as_ref().map_or(0, String::len)
        };
        let error = self.error.as_ref().map_or(0, String::len);
        let rule = self.about.bytes() + error + self.progress.bytes();
        500 + rule + self.described.iter().map(described).sum::<usize>() + self.alerts.len() * 32
    }
}

#[cfg(test)]
pub(super) mod examples {
    use super::*;
    use crate::areas::alerting::notice::{Severity, examples};

    /// Returns a message about the alerts with these numbers.
    pub(in crate::areas::alerting::ledger) fn message(seq: u64, alerts: &[u128]) -> Message {
        Message {
            seq,
            id: format!("msg_{seq}"),
            kind: NoticeKind::Firing,
            rule: Some("rule_1".to_owned().into()),
            about: RuleFacts {
                name: "CPU high".to_owned(),
                severity: Severity::Critical,
                condition: "avg of cpu > 90 over 5m".to_owned(),
                comparison: None,
                services: vec!["shop".to_owned()],
            },
            cycle: 1,
            step_delay_minutes: Some(5),
            created_at: TimestampMs(1_000),
            described: vec![examples::alert(1)],
            alerts: alerts.iter().map(|id| (AlertId(*id), 3)).collect(),
            attempts: 0,
            is_first: true,
            due_at: TimestampMs(1_000),
            error: None,
            progress: Progress::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::examples::message;
    use super::*;

    #[test]
    fn a_message_is_tried_six_times_and_waits_as_long_as_the_receiver_asks() {
        let mut message = message(1, &[1]);
        let mut now = TimestampMs(0);
        for (wait, asked, expected) in [
            (5_000, None, 5_000),
            (30_000, Some(1_000), 30_000),
            (120_000, Some(600_000), 600_000),
            (600_000, None, 600_000),
            (1_800_000, None, 1_800_000),
        ] {
            assert!(message.fail("503".to_owned(), asked, now), "before a wait of {wait}");
            assert_eq!(message.due_at.0 - now.0, expected);
            now = message.due_at;
        }
        assert!(!message.fail("503".to_owned(), Some(1), now));
        let entry = message.entry(&Destination::Person("a".into()), DeliveryStatus::Failed, now);
        assert_eq!((entry.attempts, entry.error.as_deref()), (6, Some("503")));
    }
}
