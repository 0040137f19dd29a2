//! A ledger in a temporary directory.

use std::sync::Arc;

use telltale_engine::{Clock, Engine, Maintenance, Options, TimestampMs};

use crate::areas::alerting::channels::{ChannelFacts, Progress};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ledger::alert_ledger::{AlertLedger, Attempt};
use crate::areas::alerting::ledger::change::Change;
use crate::areas::alerting::ledger::directory::Directory;
use crate::areas::alerting::ledger::listing::AlertFilter;
use crate::areas::alerting::ledger::model::{Alert, AlertId, DeliveryStatus, LogEntry};
use crate::areas::alerting::ledger::observation::{Observation, Subject};
use crate::areas::alerting::ledger::outbox::NextMessage;
use crate::areas::alerting::ledger::stored;
use crate::areas::alerting::notice::NoticeKind;
use crate::areas::alerting::policies::Policy;
use crate::areas::alerting::rules::{Rule, examples};
use crate::platform::ids::Ids;

/// 2026-01-02T03:04:05.678Z.
pub(super) const START: TimestampMs = TimestampMs(1_767_323_045_678);
pub(super) const MINUTE_MS: i64 = 60_000;
pub(super) const DIRECT: &str = "chan_direct";

pub(super) fn open_alerts(ledger: &AlertLedger) -> Vec<Alert> {
    let (alerts, _) = ledger.page(&AlertFilter::default(), 0, usize::MAX).unwrap();
    alerts.into_iter().filter(|alert| alert.resolved.is_none()).collect()
}

pub(super) fn log(fixture: &Fixture, id: AlertId) -> Vec<LogEntry> {
    stored::read_log(&fixture.engine, id).unwrap()
}

/// A ledger in a temporary directory.
pub(super) struct Fixture {
    _dir: tempfile::TempDir,
    pub(super) engine: Engine,
    pub(super) clock: Clock,
    pub(super) ledger: AlertLedger,
    pub(super) rule: Arc<Rule>,
    pub(super) directory: Directory,
}

impl Fixture {
    pub(super) fn new(hold: &str, policy: Policy) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let options = Options {
            clock: clock.clone(),
            maintenance: Maintenance::Manual,
            ..Options::default()
        };
        let engine = Engine::open(&dir.path().join("data"), options).unwrap();
        let rule = Arc::new(examples::rule(hold, &[DIRECT], "esc_1"));
        let mut directory = Directory::default();
        let facts = ChannelFacts { is_enabled: true, is_paging: false };
        directory.channels.insert(DIRECT.to_owned().into(), facts);
        for step in policy.steps.as_slice() {
            directory.channels.insert(step.channel_id.clone(), facts);
        }
        directory.policies.insert(policy.id.clone(), Arc::new(policy));
        directory.rules.insert(rule.id.clone(), Arc::clone(&rule));
        let ledger = open(&engine, &clock);
        Self { _dir: dir, engine, clock, ledger, rule, directory }
    }

    /// Forgets what is only in memory, as a crash does.
    pub(super) fn restart(&mut self) {
        self.ledger = open(&self.engine, &self.clock);
    }

    pub(super) fn go_to(&self, minute: i64) {
        self.clock.set(TimestampMs(START.0 + minute * MINUTE_MS));
    }

    pub(super) fn observe(&self, host: &str, is_met: bool) {
        let observation = Observation {
            labels: vec![("host".to_owned(), host.to_owned())],
            is_met,
            value: Some(if is_met { 97.0 } else { 12.0 }),
            summary: None,
            since: None,
        };
        let observe = |change: &mut Change<'_>| {
            change.observe(Subject::Rule(&self.rule), observation);
            Ok(())
        };
        self.ledger.change(&self.directory, observe).unwrap();
    }

    pub(super) fn pass_time(&self) {
        let pass = |change: &mut Change<'_>| {
            change.pass_time();
            Ok(())
        };
        self.ledger.change(&self.directory, pass).unwrap();
    }

    pub(super) fn acknowledge(&self, alert: &Alert) -> Result<(), AlertingError> {
        self.ledger.change(&self.directory, |change| change.acknowledge(alert.id, "anna"))
    }

    pub(super) fn resolve(&self, alert: &Alert) -> Result<(), AlertingError> {
        self.ledger.change(&self.directory, |change| change.resolve(alert.id, "anna"))
    }

    pub(super) fn alert_of(&self, host: &str) -> Option<Alert> {
        open_alerts(&self.ledger).into_iter().find(|alert| alert.labels[0].1 == host)
    }

    /// Delivers all messages, and returns what they say.
    pub(super) fn deliver(&self) -> Vec<Sent> {
        let now = self.clock.now();
        let mut sent = Vec::new();
        for (destination, ..) in self.ledger.due_destinations(now) {
            assert!(self.ledger.begin_delivery(&destination));
            while let NextMessage::Due(message) = self.ledger.next_message(&destination, now) {
                for alert in &message.described {
                    sent.push(Sent {
                        host: alert.labels[0].1.clone(),
                        destination: destination.text(),
                        kind: message.kind,
                        cycle: message.cycle,
                    });
                }
                let attempt = Attempt::Delivered;
                self.ledger
                    .record_attempt(&destination, message.seq, attempt, Progress::default())
                    .unwrap();
            }
            self.ledger.end_delivery(&destination);
        }
        sent.sort();
        sent
    }
}

pub(super) fn open(engine: &Engine, clock: &Clock) -> AlertLedger {
    AlertLedger::open(engine.clone(), Arc::new(Ids::new(clock.clone()).unwrap()), clock.clone())
        .unwrap()
}

/// One alert in one message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sent {
    pub(super) host: String,
    pub(super) destination: String,
    pub(super) kind: NoticeKind,
    pub(super) cycle: u32,
}

pub(super) fn sent(host: &str, destination: &str, kind: NoticeKind, cycle: u32) -> Sent {
    Sent { host: host.to_owned(), destination: destination.to_owned(), kind, cycle }
}

/// The statuses of the messages in the log of an alert, oldest first.
pub(super) fn statuses(fixture: &Fixture, id: AlertId) -> Vec<DeliveryStatus> {
    let entries = log(fixture, id).into_iter();
    let statuses = entries.filter_map(|entry| match entry {
        LogEntry::Notification(entry) => Some(entry.status),
        LogEntry::Event(_) => None,
    });
    statuses.collect()
}
