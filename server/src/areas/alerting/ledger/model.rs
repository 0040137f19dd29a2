//! Alerts, and the groups of rules that they are about.

use sha2::{Digest, Sha256};
use telltale_engine::TimestampMs;

use super::escalation::Escalation;
use super::weighed::Weigh;
/// The id of an alert.
pub(super) use crate::areas::alerting::ids::AlertId;
use crate::areas::alerting::ids::{ChannelId, RuleId, WindowId};
use crate::areas::alerting::notice::Severity;

/// The labels of a group: names and values, in the order of the grouping.
pub(in crate::areas::alerting) type Labels = Vec<(String, String)>;

/// The rule of a group; `None` for a received alert that no rule matches.
pub(in crate::areas::alerting) type RuleRef = Option<RuleId>;

/// A hash of a rule and the labels of one of its groups. The same for all alerts of the group, so
/// receivers combine them by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::areas::alerting) struct GroupHash(pub(in crate::areas::alerting) u128);

/// A period in which a group fulfils the condition of its rule.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct Alert {
    pub(in crate::areas::alerting) id: AlertId,
    pub(in crate::areas::alerting) group: GroupHash,
    pub(in crate::areas::alerting) rule: RuleRef,
    /// What the rule said when the alert began, in case that it is deleted.
    pub(in crate::areas::alerting) about: RuleFacts,
    pub(in crate::areas::alerting) labels: Labels,
    pub(in crate::areas::alerting) summary: Option<String>,
    /// The value at the last change of the alert; `None` without data.
    pub(in crate::areas::alerting) value: Option<f64>,
    /// Since when the condition is met.
    pub(in crate::areas::alerting) since: TimestampMs,
    /// When the alert began to fire: later than `since` if the rule waits.
    pub(in crate::areas::alerting) fired_at: TimestampMs,
    pub(in crate::areas::alerting) acknowledged: Option<Acknowledgement>,
    pub(in crate::areas::alerting) resolved: Option<Resolution>,
    /// Whether a maintenance window mutes it now, and which.
    pub(in crate::areas::alerting) muted_by: Option<WindowId>,
    /// Since when it is flapping.
    pub(in crate::areas::alerting) flapping_since: Option<TimestampMs>,
    pub(in crate::areas::alerting) escalation: Escalation,
    /// Who was notified that it fires, and hence will be of its end.
    pub(in crate::areas::alerting) notified: Vec<Destination>,
    /// The number of the next entry of its log.
    pub(in crate::areas::alerting) log_next: u32,
}

/// What the rule of an alert says.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct RuleFacts {
    pub(in crate::areas::alerting) name: String,
    pub(in crate::areas::alerting) severity: Severity,
    /// In words: `avg of cpu.usage > 90 over 5m`.
    pub(in crate::areas::alerting) condition: String,
    /// The sign between the value and the threshold.
    pub(in crate::areas::alerting) comparison: Option<Comparison>,
    pub(in crate::areas::alerting) services: Vec<String>,
}

/// What a value is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::areas::alerting) struct Comparison {
    pub(in crate::areas::alerting) sign: &'static str,
    pub(in crate::areas::alerting) threshold: f64,
}

/// Who took charge of an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Acknowledgement {
    pub(in crate::areas::alerting) at: TimestampMs,
    pub(in crate::areas::alerting) by: String,
}

/// The end of an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct Resolution {
    pub(in crate::areas::alerting) at: TimestampMs,
    /// Who resolved it; `None` if its condition ended.
    pub(in crate::areas::alerting) by: Option<String>,
}

/// The status of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) enum AlertStatus {
    /// The condition is met, and nobody took charge.
    Firing,
    /// Somebody took charge.
    Acknowledged,
    /// It has ended.
    Resolved,
}

/// Who receives a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::areas::alerting) enum Destination {
    /// A notification channel.
    Channel(ChannelId),
    /// A person who is on call, by email.
    Person(String),
}

/// An entry of the log of an alert.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) enum LogEntry {
    /// A change of the alert.
    Event(AlertEvent),
    /// A message about it.
    Notification(NotificationEntry),
}

/// A change of an alert.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct AlertEvent {
    pub(in crate::areas::alerting) at: TimestampMs,
    pub(in crate::areas::alerting) kind: AlertEventKind,
    /// Who caused it, for a change by a person.
    pub(in crate::areas::alerting) by: Option<String>,
    pub(in crate::areas::alerting) value: Option<f64>,
    /// More about it, for people.
    pub(in crate::areas::alerting) note: Option<String>,
}

/// The kinds of changes of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) enum AlertEventKind {
    /// It began.
    Fired,
    /// A person took charge.
    Acknowledged,
    /// It ended.
    Resolved,
    /// A maintenance window began to mute it.
    Muted,
    /// No maintenance window mutes it any more.
    Unmuted,
    /// Its condition changes too often.
    Flapping,
    /// It does not flap any more.
    Settled,
    /// Nobody could be notified, for the reason in the note.
    Skipped,
}

/// A message about an alert, in its log.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct NotificationEntry {
    pub(in crate::areas::alerting) message_id: String,
    pub(in crate::areas::alerting) destination: Destination,
    pub(in crate::areas::alerting) kind: &'static str,
    /// How often the escalation policy had started over.
    pub(in crate::areas::alerting) cycle: u32,
    /// The delay of the step of the policy, in minutes; `None` if no step caused it.
    pub(in crate::areas::alerting) step_delay_minutes: Option<u32>,
    pub(in crate::areas::alerting) created_at: TimestampMs,
    pub(in crate::areas::alerting) status: DeliveryStatus,
    /// Attempts to deliver it.
    pub(in crate::areas::alerting) attempts: u32,
    /// When it got this status.
    pub(in crate::areas::alerting) changed_at: TimestampMs,
    /// Why it was not delivered.
    pub(in crate::areas::alerting) error: Option<String>,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) enum DeliveryStatus {
    /// It waits for its first or next attempt.
    Queued,
    /// The receiver has it.
    Delivered,
    /// It was given up.
    Failed,
    /// Its alerts had ended before it was sent.
    Superseded,
    /// It was dropped because too many were waiting, or the destination was disabled or deleted.
    Dropped,
}

impl GroupHash {
    /// Returns the hash of a group: half of the SHA-256 of its rule and its labels in their order.
    pub(in crate::areas::alerting) fn of<'a>(
        rule: Option<&RuleId>,
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        add(rule.map(RuleId::as_str).unwrap_or_default());
        for (name, value) in labels {
            add(name);
            add(value);
        }
        let mut half = [0; 16];
        half.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
        Self(u128::from_be_bytes(half))
    }

    /// Returns the key by which receivers combine messages about the group.
    pub(in crate::areas::alerting) fn dedup_key(self) -> String {
        format!("{:032x}", self.0)
    }
}

/// Returns roughly how much memory labels take, in bytes.
pub(super) fn labels_bytes(labels: &Labels) -> usize {
    labels.iter().map(|(name, value)| name.len() + value.len() + 48).sum()
}

impl RuleFacts {
    /// Returns roughly how much memory the strings take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let services = self.services.iter().map(|service| service.len() + 24).sum::<usize>();
        self.name.len() + self.condition.len() + services
    }
}

impl Weigh for Alert {
    fn bytes(&self) -> usize {
        let summary = self.summary.as_ref().map_or(0, String::len);
        let people = self.notified.len() * 64;
        size_of::<Self>() + labels_bytes(&self.labels) + self.about.bytes() + summary + people
    }
}

impl Alert {
    /// Returns the status.
    pub(in crate::areas::alerting) fn status(&self) -> AlertStatus {
        match (&self.resolved, &self.acknowledged) {
            (Some(_), _) => AlertStatus::Resolved,
            (None, Some(_)) => AlertStatus::Acknowledged,
            (None, None) => AlertStatus::Firing,
        }
    }

    /// Makes its timers begin now if they would begin later.
    pub(super) fn begin_by(&mut self, now: TimestampMs) {
        self.escalation.begin_by(now);
        self.flapping_since = self.flapping_since.map(|since| since.min(now));
    }

    /// Moves its timers, after a change of the clock.
    pub(super) fn shift(&mut self, ms: i64) {
        self.escalation.shift(ms);
        self.flapping_since =
            self.flapping_since.map(|since| TimestampMs(since.0.saturating_add(ms)));
    }

    /// Returns whether its escalation goes on: it fires, nobody took charge, and nothing keeps it
    /// from being notified.
    pub(in crate::areas::alerting) fn is_escalating(&self) -> bool {
        self.status() == AlertStatus::Firing
            && self.muted_by.is_none()
            && self.flapping_since.is_none()
    }
}

impl AlertStatus {
    /// All statuses.
    pub(in crate::areas::alerting) const ALL: [Self; 3] =
        [Self::Firing, Self::Acknowledged, Self::Resolved];

    /// Returns the name.
    pub(in crate::areas::alerting) fn as_str(self) -> &'static str {
        match self {
            Self::Firing => "firing",
            Self::Acknowledged => "acknowledged",
            Self::Resolved => "resolved",
        }
    }
}

impl Destination {
    const PERSON_PREFIX: &'static str = "mailto:";

    /// Returns the destination as text: the id of the channel, or a `mailto:` URL.
    pub(in crate::areas::alerting) fn text(&self) -> String {
        match self {
            Self::Channel(id) => id.as_str().to_owned(),
            Self::Person(address) => format!("{}{address}", Self::PERSON_PREFIX),
        }
    }

    /// Parses what [`Self::text`] returns.
    pub(in crate::areas::alerting) fn parse(text: &str) -> Self {
        match text.strip_prefix(Self::PERSON_PREFIX) {
            Some(address) => Self::Person(address.to_owned()),
            None => Self::Channel(text.to_owned().into()),
        }
    }
}

impl AlertEventKind {
    /// All kinds.
    pub(in crate::areas::alerting) const ALL: [Self; 8] = [
        Self::Fired,
        Self::Acknowledged,
        Self::Resolved,
        Self::Muted,
        Self::Unmuted,
        Self::Flapping,
        Self::Settled,
        Self::Skipped,
    ];

    /// Returns the name.
    pub(in crate::areas::alerting) fn as_str(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Acknowledged => "acknowledged",
            Self::Resolved => "resolved",
            Self::Muted => "muted",
            Self::Unmuted => "unmuted",
            Self::Flapping => "flapping",
            Self::Settled => "settled",
            Self::Skipped => "skipped",
        }
    }
}

impl DeliveryStatus {
    /// All statuses.
    pub(in crate::areas::alerting) const ALL: [Self; 5] =
        [Self::Queued, Self::Delivered, Self::Failed, Self::Superseded, Self::Dropped];

    /// Returns the name.
    pub(in crate::areas::alerting) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Superseded => "superseded",
            Self::Dropped => "dropped",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_group_depends_on_each_of_its_strings() {
        let rule = RuleId::from("rule_1".to_owned());
        let hash = |rule: Option<&RuleId>, labels: &[(&str, &str)]| {
            GroupHash::of(rule, labels.iter().copied()).dedup_key()
        };
        let keys = [
            hash(Some(&rule), &[("a", "bc")]),
            hash(Some(&rule), &[("ab", "c")]),
            hash(Some(&rule), &[("a", "b"), ("c", "")]),
            hash(Some(&rule), &[]),
            hash(None, &[("a", "bc")]),
        ];
        let distinct: std::collections::HashSet<&String> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        // Persisted, and known to receivers.
        assert_eq!(hash(Some(&rule), &[("a", "bc")]), "6e0034901588110b9fc69d188ac6a7c1");
    }

    #[test]
    fn destinations_survive_as_text() {
        for destination in [
            Destination::Channel("chan_1".to_owned().into()),
            Destination::Person("a@example.com".to_owned()),
        ] {
            assert_eq!(Destination::parse(&destination.text()), destination);
        }
    }
}
