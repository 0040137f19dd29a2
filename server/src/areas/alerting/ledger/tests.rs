//! The ledger against a naive model over random histories, with a restart between any two steps,
//! and single cases.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use telltale_engine::{Clock, Engine, Maintenance, Options, TimestampMs};

use super::alert_ledger::{AlertLedger, Attempt};
use super::directory::Directory;
use super::listing::AlertFilter;
use super::model::{Alert, AlertId, AlertStatus, DeliveryStatus, Destination, LogEntry};
use super::observation::{Observation, Subject};
use super::outbox::NextMessage;
use crate::areas::alerting::channels::{ChannelFacts, Progress};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::NoticeKind;
use crate::areas::alerting::policies::Policy;
use crate::areas::alerting::policies::examples::policy;
use crate::areas::alerting::rules::{Rule, examples};
use crate::areas::alerting::windows::examples::window;
use crate::platform::ids::Ids;

/// 2026-01-02T03:04:05.678Z.
const START: TimestampMs = TimestampMs(1_767_323_045_678);
const MINUTE_MS: i64 = 60_000;
const DIRECT: &str = "chan_direct";

fn open_alerts(ledger: &AlertLedger) -> Vec<Alert> {
    let (alerts, _) = ledger.page(&AlertFilter::default(), 0, usize::MAX).unwrap();
    alerts.into_iter().filter(|alert| alert.resolved.is_none()).collect()
}

fn log(fixture: &Fixture, id: AlertId) -> Vec<LogEntry> {
    super::stored::read_log(&fixture.engine, id).unwrap()
}

/// A ledger in a temporary directory.
struct Fixture {
    _dir: tempfile::TempDir,
    engine: Engine,
    clock: Clock,
    ledger: AlertLedger,
    rule: Arc<Rule>,
    directory: Directory,
}

impl Fixture {
    fn new(hold: &str, policy: Policy) -> Self {
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
    fn restart(&mut self) {
        self.ledger = open(&self.engine, &self.clock);
    }

    fn go_to(&self, minute: i64) {
        self.clock.set(TimestampMs(START.0 + minute * MINUTE_MS));
    }

    fn observe(&self, host: &str, is_met: bool) {
        let observation = Observation {
            labels: vec![("host".to_owned(), host.to_owned())],
            is_met,
            value: Some(if is_met { 97.0 } else { 12.0 }),
            summary: None,
            since: None,
        };
        let observe = |change: &mut super::change::Change<'_>| {
            change.observe(Subject::Rule(&self.rule), observation);
            Ok(())
        };
        self.ledger.change(&self.directory, observe).unwrap();
    }

    fn pass_time(&self) {
        let pass = |change: &mut super::change::Change<'_>| {
            change.pass_time();
            Ok(())
        };
        self.ledger.change(&self.directory, pass).unwrap();
    }

    fn acknowledge(&self, alert: &Alert) -> Result<(), AlertingError> {
        self.ledger.change(&self.directory, |change| change.acknowledge(alert.id, "anna"))
    }

    fn resolve(&self, alert: &Alert) -> Result<(), AlertingError> {
        self.ledger.change(&self.directory, |change| change.resolve(alert.id, "anna"))
    }

    fn alert_of(&self, host: &str) -> Option<Alert> {
        open_alerts(&self.ledger).into_iter().find(|alert| alert.labels[0].1 == host)
    }

    /// Delivers all messages, and returns what they say.
    fn deliver(&self) -> Vec<Sent> {
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

fn open(engine: &Engine, clock: &Clock) -> AlertLedger {
    AlertLedger::open(engine.clone(), Arc::new(Ids::new(clock.clone()).unwrap()), clock.clone())
        .unwrap()
}

/// One alert in one message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sent {
    host: String,
    destination: String,
    kind: NoticeKind,
    cycle: u32,
}

fn sent(host: &str, destination: &str, kind: NoticeKind, cycle: u32) -> Sent {
    Sent { host: host.to_owned(), destination: destination.to_owned(), kind, cycle }
}

/// What may happen in a minute.
#[derive(Clone, Copy, Debug)]
enum Event {
    Condition {
        host: usize,
        is_met: bool,
    },
    Acknowledge {
        host: usize,
    },
    Resolve {
        host: usize,
    },
    Window {
        is_active: bool,
    },
    Restart,
    /// The server does not run for these minutes.
    Down {
        minutes: i64,
    },
}

const HOSTS: [&str; 2] = ["a", "b"];

/// What a host is expected to be in.
#[derive(Clone, Debug, Default)]
struct Model {
    is_met: bool,
    is_open: bool,
    is_held: bool,
    is_acknowledged: bool,
    is_muted: bool,
    cycle: u32,
    cycle_start: i64,
    /// Steps that were due, by cycle and delay; `None` is the start of a cycle.
    done: BTreeSet<(u32, Option<i64>)>,
    told: BTreeSet<String>,
    turns: Vec<i64>,
}

impl Model {
    fn may_turn(&self, minute: i64) -> bool {
        // Flapping has tests of its own.
        self.turns.iter().filter(|turn| minute - **turn < 60).count() < 6
    }

    fn observe(&mut self, host: &str, is_met: bool, minute: i64, expected: &mut Vec<Sent>) {
        self.is_met = is_met;
        if !is_met {
            self.is_held = false;
            if self.is_open {
                self.turns.push(minute);
                self.end(host, expected);
            }
        } else if !self.is_open && !self.is_held {
            self.turns.push(minute);
            let turns = std::mem::take(&mut self.turns);
            *self = Self { is_met, is_open: true, cycle_start: minute, turns, ..Self::default() };
        }
    }

    fn end(&mut self, host: &str, expected: &mut Vec<Sent>) {
        for destination in &self.told {
            expected.push(sent(host, destination, NoticeKind::Resolved, self.cycle));
        }
        self.is_open = false;
    }

    fn pass_time(
        &mut self,
        host: &str,
        is_window: bool,
        policy: &Policy,
        minute: i64,
        expected: &mut Vec<Sent>,
    ) {
        if !self.is_open {
            return;
        }
        if self.is_muted && !is_window {
            (self.cycle, self.cycle_start) = (0, minute);
            self.done.clear();
        }
        self.is_muted = is_window;
        if is_window || self.is_acknowledged {
            return;
        }
        let delays: BTreeSet<i64> =
            policy.steps.as_slice().iter().map(|step| i64::from(step.delay_minutes)).collect();
        loop {
            if self.done.insert((self.cycle, None)) && self.cycle == 0 {
                self.tell(host, DIRECT.to_owned(), expected);
            }
            for delay in &delays {
                let is_due = self.cycle_start + delay <= minute;
                if is_due && self.done.insert((self.cycle, Some(*delay))) {
                    self.tell(host, format!("chan_{delay}"), expected);
                }
            }
            let Some(last) = delays.last() else { return };
            let repeat = policy.repeat;
            let next = self.cycle_start + last + i64::from(repeat.after_minutes.unwrap_or(0));
            let is_over = self.done.contains(&(self.cycle, Some(*last)));
            let max = repeat.max.unwrap_or(0);
            if !is_over || !repeat.enabled || self.cycle >= max || next > minute {
                return;
            }
            self.cycle += 1;
            self.cycle_start = if minute - next > 1 { minute } else { next };
        }
    }

    fn tell(&mut self, host: &str, destination: String, expected: &mut Vec<Sent>) {
        expected.push(sent(host, &destination, NoticeKind::Firing, self.cycle));
        self.told.insert(destination);
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let host = 0..HOSTS.len();
    prop_oneof![
        6 => (host.clone(), any::<bool>())
            .prop_map(|(host, is_met)| Event::Condition { host, is_met }),
        1 => host.clone().prop_map(|host| Event::Acknowledge { host }),
        1 => host.prop_map(|host| Event::Resolve { host }),
        2 => any::<bool>().prop_map(|is_active| Event::Window { is_active }),
        3 => Just(Event::Restart),
        1 => (1_i64..200).prop_map(|minutes| Event::Down { minutes }),
    ]
}

/// Events, each after some minutes.
fn any_history() -> impl Strategy<Value = Vec<(i64, Event)>> {
    prop::collection::vec((0_i64..20, any_event()), 1..30)
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let delays = prop::collection::btree_set(0_u32..15, 0..4);
    let repeat = prop::option::of((1_u32..15, 0_u32..4));
    (delays, repeat)
        .prop_map(|(delays, repeat)| policy(&delays.into_iter().collect::<Vec<_>>(), repeat))
}

fn check(policy: &Policy, history: &[(i64, Event)]) {
    let mut fixture = Fixture::new("0m", policy.clone());
    let mut models = [(); HOSTS.len()].map(|()| Model::default());
    let mut minute = 0;
    let mut is_window = false;
    for (pause, event) in history {
        for _ in 0..*pause {
            step(&fixture, policy, &mut models, minute, is_window, None);
            minute += 1;
        }
        match event {
            Event::Restart => fixture.restart(),
            Event::Down { minutes } => {
                fixture.restart();
                minute += minutes;
            }
            Event::Window { is_active } => {
                is_window = *is_active;
                let end = if is_window { TimestampMs(i64::MAX) } else { START };
                fixture.directory.set_windows([window(TimestampMs(0), end)]);
            }
            _ => {}
        }
        step(&fixture, policy, &mut models, minute, is_window, Some(*event));
        minute += 1;
    }
}

/// One minute: an event, the time, and what is sent.
fn step(
    fixture: &Fixture,
    policy: &Policy,
    models: &mut [Model; HOSTS.len()],
    minute: i64,
    is_window: bool,
    event: Option<Event>,
) {
    fixture.go_to(minute);
    let mut expected = Vec::new();
    match event {
        Some(Event::Condition { host, is_met }) if models[host].may_turn(minute) => {
            fixture.observe(HOSTS[host], is_met);
            models[host].observe(HOSTS[host], is_met, minute, &mut expected);
        }
        Some(Event::Acknowledge { host }) => acknowledge(fixture, host, models, &mut expected),
        Some(Event::Resolve { host }) if models[host].may_turn(minute) => {
            if let Some(alert) = fixture.alert_of(HOSTS[host]) {
                fixture.resolve(&alert).unwrap();
                let model = &mut models[host];
                model.end(HOSTS[host], &mut expected);
                model.is_held = model.is_met;
                assert!(fixture.resolve(&alert).is_err(), "an alert ends once");
            }
        }
        _ => {}
    }
    fixture.pass_time();
    for (host, model) in HOSTS.iter().zip(models.iter_mut()) {
        model.pass_time(host, is_window, policy, minute, &mut expected);
        let alert = fixture.alert_of(host);
        assert_eq!(alert.is_some(), model.is_open, "{host} in minute {minute}");
        if let Some(alert) = alert {
            assert_eq!(alert.muted_by.is_some(), is_window, "{host} in minute {minute}");
            let is_acknowledged = alert.status() == AlertStatus::Acknowledged;
            assert_eq!(is_acknowledged, model.is_acknowledged, "{host} in minute {minute}");
        }
    }
    expected.sort();
    assert_eq!(fixture.deliver(), expected, "minute {minute} of {policy:?}");
}

fn acknowledge(
    fixture: &Fixture,
    host: usize,
    models: &mut [Model; HOSTS.len()],
    expected: &mut Vec<Sent>,
) {
    let Some(alert) = fixture.alert_of(HOSTS[host]) else { return };
    fixture.acknowledge(&alert).unwrap();
    let model = &mut models[host];
    if !std::mem::replace(&mut model.is_acknowledged, true) && !model.is_muted {
        for destination in &model.told {
            expected.push(sent(HOSTS[host], destination, NoticeKind::Acknowledged, model.cycle));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Each due step is sent exactly once per alert, step and cycle, whatever happens between.
    #[test]
    fn each_step_is_sent_once(policy in any_policy(), history in any_history()) {
        check(&policy, &history);
    }
}

#[test]
fn many_alerts_of_one_rule_share_a_message_and_paging_gets_each() {
    let mut fixture = Fixture::new("0m", policy(&[0], None));
    let paging = ChannelFacts { is_enabled: true, is_paging: true };
    fixture.directory.channels.insert("chan_0".to_owned().into(), paging);
    let now = fixture.clock.now();
    let storm = |change: &mut super::change::Change<'_>| {
        for host in 0..25 {
            let labels = vec![("host".to_owned(), format!("h{host}"))];
            let value = Some(97.0);
            change.observe(
                Subject::Rule(&fixture.rule),
                Observation { labels, is_met: true, value, summary: None, since: None },
            );
        }
        Ok(())
    };
    fixture.ledger.change(&fixture.directory, storm).unwrap();
    let sizes = |destination: &str| {
        let destination = Destination::parse(destination);
        let mut sizes = Vec::new();
        while let NextMessage::Due(message) = fixture.ledger.next_message(&destination, now) {
            sizes.push((message.described.len(), message.alerts.len()));
            let attempt = Attempt::Delivered;
            fixture
                .ledger
                .record_attempt(&destination, message.seq, attempt, Progress::default())
                .unwrap();
        }
        sizes
    };
    assert_eq!(sizes(DIRECT), [(10, 25)]);
    assert_eq!(sizes("chan_0"), [(10, 10), (10, 10), (5, 5)]);
}

#[test]
fn what_ends_before_it_was_sent_is_not_sent() {
    let fixture = Fixture::new("0m", policy(&[], None));
    fixture.observe("a", true);
    let alert = fixture.alert_of("a").unwrap();
    fixture.observe("a", false);
    assert_eq!(fixture.deliver(), []);
    let log = log(&fixture, alert.id);
    let statuses: Vec<DeliveryStatus> = log
        .iter()
        .filter_map(|entry| match entry {
            LogEntry::Notification(entry) => Some(entry.status),
            LogEntry::Event(_) => None,
        })
        .collect();
    assert_eq!(statuses, [DeliveryStatus::Superseded]);
}

#[test]
fn an_attempt_that_failed_keeps_the_order_and_the_end() {
    let mut fixture = Fixture::new("0m", policy(&[], None));
    let destination = Destination::parse(DIRECT);
    fixture.observe("a", true);
    let now = fixture.clock.now();
    let NextMessage::Due(first) = fixture.ledger.next_message(&destination, now) else { panic!() };
    let failed = Attempt::Failed { reason: "503".to_owned(), retry_after_ms: None };
    fixture.ledger.record_attempt(&destination, first.seq, failed, Progress::default()).unwrap();
    fixture.observe("a", false);
    fixture.restart();
    let later = NextMessage::Later(TimestampMs(now.0 + 5_000));
    assert_eq!(fixture.ledger.next_message(&destination, now), later);
    fixture.go_to(1);
    let kinds: Vec<NoticeKind> = fixture.deliver().into_iter().map(|sent| sent.kind).collect();
    assert_eq!(kinds, [NoticeKind::Firing, NoticeKind::Resolved]);
}

#[test]
fn a_flapping_alert_is_notified_once_and_when_it_settles() {
    let fixture = Fixture::new("0m", policy(&[5], Some((5, 3))));
    let mut kinds = BTreeMap::new();
    for minute in 0..120 {
        fixture.go_to(minute);
        fixture.observe("a", minute < 30 && minute % 2 == 0);
        fixture.pass_time();
        for sent in fixture.deliver() {
            *kinds.entry(sent.kind).or_insert(0) += 1;
        }
    }
    let expected = [
        (NoticeKind::Firing, 3),
        (NoticeKind::Resolved, 3),
        (NoticeKind::Flapping, 1),
        (NoticeKind::Settled, 1),
    ];
    assert_eq!(kinds, BTreeMap::from(expected));
    assert_eq!(fixture.alert_of("a"), None);
}

#[test]
fn an_alert_whose_group_is_unreadable_still_ends() {
    let mut fixture = Fixture::new("0m", policy(&[], None));
    fixture.observe("a", true);
    fixture.deliver();
    let mut batch = telltale_engine::RecordBatch::new();
    let table = crate::platform::tables::RecordTable::AlertGroups.table();
    batch.delete_range(table, &telltale_engine::KeyRange::all());
    fixture.engine.records().write(batch).unwrap();
    fixture.restart();
    fixture.observe("a", true);
    assert_eq!(open_alerts(&fixture.ledger).len(), 1);
    fixture.observe("a", false);
    let kinds: Vec<NoticeKind> = fixture.deliver().into_iter().map(|sent| sent.kind).collect();
    assert_eq!(kinds, [NoticeKind::Resolved]);
}

#[test]
fn too_many_messages_drop_the_oldest() {
    let fixture = Fixture::new("0m", policy(&[], None));
    let most = limits::OUTBOX_MESSAGES_MAX;
    let destination = Destination::parse(DIRECT);
    for host in 0..=most {
        fixture.observe(&format!("h{host}"), true);
    }
    let now = fixture.clock.now();
    let NextMessage::Due(head) = fixture.ledger.next_message(&destination, now) else { panic!() };
    assert_eq!(head.described[0].labels[0].1, "h1");
    assert_eq!(fixture.deliver().len(), most);
}

#[test]
fn a_change_of_the_clock_moves_the_timers() {
    let fixture = Fixture::new("0m", policy(&[10], None));
    fixture.observe("a", true);
    assert_eq!(fixture.deliver().len(), 1);
    let hour = 60 * MINUTE_MS;
    fixture.clock.jump(TimestampMs(START.0 + hour));
    for (minute, expected) in [(69, 0), (70, 1)] {
        fixture.go_to(minute);
        fixture.pass_time();
        assert_eq!(fixture.deliver().len(), expected, "in minute {minute}");
    }
}

#[test]
fn alerts_are_kept_from_their_end_on() {
    let mut fixture = Fixture::new("0m", policy(&[], None));
    let mut ids = Vec::new();
    for (host, start, end) in [("a", 0, 100), ("b", 10, 20), ("c", 30, 101)] {
        fixture.go_to(start);
        fixture.observe(host, true);
        ids.push((fixture.alert_of(host).unwrap().id, host, end));
    }
    for end in [20, 100, 101] {
        fixture.go_to(end);
        for (_, host, _) in ids.iter().filter(|(.., ends)| *ends == end) {
            fixture.observe(host, false);
        }
    }
    fixture.restart();
    let keep_from = TimestampMs(START.0 + 100 * MINUTE_MS);
    assert_eq!(fixture.ledger.trim(keep_from).unwrap(), 1);
    for (id, host, _) in ids {
        let is_kept = !log(&fixture, id).is_empty();
        assert_eq!(is_kept, host != "b", "{host}");
    }
}

/// The statuses of the messages in the log of an alert, oldest first.
fn statuses(fixture: &Fixture, id: AlertId) -> Vec<DeliveryStatus> {
    let entries = log(fixture, id).into_iter();
    let statuses = entries.filter_map(|entry| match entry {
        LogEntry::Notification(entry) => Some(entry.status),
        LogEntry::Event(_) => None,
    });
    statuses.collect()
}

#[test]
fn an_alert_that_settles_while_it_fires_keeps_its_only_message() {
    let fixture = Fixture::new("0m", policy(&[], None));
    // A message that is tried again, so that the others wait behind it.
    fixture.observe("other", true);
    let destination = Destination::parse(DIRECT);
    let now = fixture.clock.now();
    let NextMessage::Due(first) = fixture.ledger.next_message(&destination, now) else { panic!() };
    let failed = Attempt::Failed { reason: "503".to_owned(), retry_after_ms: Some(i64::MAX) };
    fixture.ledger.record_attempt(&destination, first.seq, failed, Progress::default()).unwrap();
    let met = [(0, true), (1, false), (2, true), (3, false), (57, true), (58, false), (59, true)];
    for (minute, is_met) in met {
        fixture.go_to(minute);
        fixture.observe("a", is_met);
    }
    for minute in 60..70 {
        fixture.go_to(minute);
        fixture.observe("a", true);
        fixture.pass_time();
    }
    let alert = fixture.alert_of("a").unwrap();
    assert_eq!(alert.flapping_since, None);
    let statuses = statuses(&fixture, alert.id);
    assert!(statuses.iter().all(|status| *status == DeliveryStatus::Queued), "{statuses:?}");
    assert!(!statuses.is_empty());
}

#[test]
fn what_is_acknowledged_or_muted_before_it_was_sent_is_not_sent() {
    for is_acknowledged in [true, false] {
        let mut fixture = Fixture::new("0m", policy(&[5], None));
        fixture.observe("a", true);
        assert_eq!(fixture.deliver().len(), 1);
        let alert = fixture.alert_of("a").unwrap();
        fixture.go_to(5);
        fixture.pass_time();
        if is_acknowledged {
            fixture.acknowledge(&alert).unwrap();
        } else {
            fixture.directory.set_windows([window(TimestampMs(0), TimestampMs(i64::MAX))]);
            fixture.pass_time();
        }
        let told = fixture.deliver();
        let expected = sent("a", DIRECT, NoticeKind::Acknowledged, 0);
        assert_eq!(told, if is_acknowledged { vec![expected] } else { Vec::new() });
        // Who was not told of its start is not told of its end.
        fixture.observe("a", false);
        assert_eq!(fixture.deliver(), [sent("a", DIRECT, NoticeKind::Resolved, 0)]);
    }
}

#[test]
fn a_message_that_is_withdrawn_while_it_is_stored_is_not_sent() {
    // A receiver is told of the end of each alert of whose start it was told, and of no other.
    let fixture = Fixture::new("0m", policy(&[], None));
    let destination = Destination::parse(DIRECT);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let told = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut told: BTreeMap<AlertId, Vec<NoticeKind>> = BTreeMap::new();
            while !is_over.load(std::sync::atomic::Ordering::Acquire)
                || !fixture.ledger.due_destinations(TimestampMs(i64::MAX)).is_empty()
            {
                if !fixture.ledger.begin_delivery(&destination) {
                    continue;
                }
                let now = fixture.clock.now();
                while let NextMessage::Due(message) = fixture.ledger.next_message(&destination, now)
                {
                    for (alert, _) in &message.alerts {
                        told.entry(*alert).or_default().push(message.kind);
                    }
                    let attempt = Attempt::Delivered;
                    let progress = Progress::default();
                    fixture
                        .ledger
                        .record_attempt(&destination, message.seq, attempt, progress)
                        .unwrap();
                }
                fixture.ledger.end_delivery(&destination);
            }
            told
        });
        for _ in 0..3 {
            for host in 0..100 {
                fixture.observe(&format!("h{host}"), true);
                fixture.observe(&format!("h{host}"), false);
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Release);
        receiver.join().unwrap()
    });
    let both = [NoticeKind::Firing, NoticeKind::Resolved];
    assert!(told.values().all(|kinds| *kinds == both), "{told:?}");
}

#[test]
fn a_message_waits_as_long_as_before_when_the_clock_is_set_back() {
    let mut fixture = Fixture::new("0m", policy(&[], None));
    fixture.observe("a", true);
    let destination = Destination::parse(DIRECT);
    let NextMessage::Due(first) = fixture.ledger.next_message(&destination, START) else {
        panic!()
    };
    let failed = Attempt::Failed { reason: "503".to_owned(), retry_after_ms: None };
    fixture.ledger.record_attempt(&destination, first.seq, failed, Progress::default()).unwrap();
    let day = 24 * 60 * MINUTE_MS;
    for restarts in [false, true] {
        let now = TimestampMs(fixture.clock.now().0 - day);
        fixture.clock.jump(now);
        let wait = if restarts {
            // As if the server had not run when the clock was changed: an hour is the longest wait.
            fixture.restart();
            limits::RECEIVER_RETRY_MS_MAX
        } else {
            fixture.ledger.follow_clock();
            5_000
        };
        let later = NextMessage::Later(TimestampMs(now.0 + wait));
        assert_eq!(fixture.ledger.next_message(&destination, now), later, "{restarts}");
    }
}

#[test]
fn a_timer_does_not_begin_in_the_future_after_a_start() {
    let mut fixture = Fixture::new("10m", policy(&[10], None));
    fixture.observe("a", true);
    fixture.clock.jump(TimestampMs(START.0 - 600 * MINUTE_MS));
    fixture.restart();
    fixture.go_to(-591);
    fixture.observe("a", true);
    assert!(fixture.alert_of("a").is_none());
    fixture.go_to(-590);
    fixture.observe("a", true);
    assert!(fixture.alert_of("a").is_some());
}

#[test]
fn groups_beyond_the_limits_are_refused_and_counted() {
    let fixture = Fixture::new("5m", policy(&[], None));
    let most = limits::RULE_ALERTS_MAX;
    let observe = |change: &mut super::change::Change<'_>| {
        for host in 0..most + 3 {
            let labels = vec![("host".to_owned(), format!("h{host}"))];
            let (value, summary, since) = (Some(97.0), None, None);
            let observation = Observation { labels, is_met: true, value, summary, since };
            change.observe(Subject::Rule(&fixture.rule), observation);
        }
        Ok(change.beyond())
    };
    let beyond = fixture.ledger.change(&fixture.directory, observe).unwrap();
    assert_eq!(beyond.into_iter().collect::<Vec<_>>(), [(Some(fixture.rule.id.clone()), 3)]);
    assert_eq!(fixture.ledger.groups_of(&Some(fixture.rule.id.clone())).len(), most);
}

#[test]
fn messages_beyond_the_memory_for_them_are_dropped_and_said_so() {
    let fixture = Fixture::new("0m", policy(&[0], None));
    let text = "x".repeat(60_000);
    let mut alerts = Vec::new();
    for host in 0..300 {
        let host = format!("{host}{text}");
        fixture.observe(&host, true);
        alerts.push(fixture.alert_of(&host).unwrap().id);
    }
    let most = limits::ALERT_BYTES_MAX + limits::OUTBOX_BYTES_MAX;
    assert!(fixture.ledger.memory_bytes() <= most as u64);
    assert!(statuses(&fixture, alerts[0]).contains(&DeliveryStatus::Dropped));
    assert_eq!(statuses(&fixture, alerts[299]), [DeliveryStatus::Queued; 2]);
    // Of alerts there is space for a few more.
    let fits = (0..300).take_while(|host| {
        let host = format!("more{host}{text}");
        fixture.observe(&host, true);
        fixture.alert_of(&host).is_some()
    });
    assert!((50..200).contains(&fits.count()));
    assert!(fixture.ledger.memory_bytes() <= most as u64);
}

#[test]
fn the_records_of_the_largest_alerts_are_small_enough_to_be_stored() {
    let mut fixture = Fixture::new("0m", policy(&[], None));
    let paging = ChannelFacts { is_enabled: true, is_paging: true };
    fixture.directory.channels.insert(DIRECT.to_owned().into(), paging);
    let storm = |change: &mut super::change::Change<'_>| {
        for host in 0..limits::NOTICE_ALERTS_MAX {
            // What a sender may send at most, in characters that take the most space as JSON.
            let labels = (0..8).map(|i| (format!("{host}{i}"), "\u{1}".repeat(2_000))).collect();
            let summary = Some("\u{1}".repeat(limits::ALERTING_DESCRIPTION_CHARS_MAX));
            let observation =
                Observation { labels, is_met: true, value: None, summary, since: None };
            change.observe(Subject::Rule(&fixture.rule), observation);
        }
        Ok(())
    };
    fixture.ledger.change(&fixture.directory, storm).unwrap();
    fixture.restart();
    let destination = Destination::parse(DIRECT);
    let now = fixture.clock.now();
    let NextMessage::Due(message) = fixture.ledger.next_message(&destination, now) else {
        panic!()
    };
    assert_eq!(message.described.len(), limits::NOTICE_ALERTS_MAX);
}
