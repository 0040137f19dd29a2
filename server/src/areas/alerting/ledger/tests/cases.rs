//! Single cases of alerts and their messages.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::fixture::*;
use crate::areas::alerting::channels::{ChannelFacts, Progress};
use crate::areas::alerting::ledger::alert_ledger::Attempt;
use crate::areas::alerting::ledger::change::Change;
use crate::areas::alerting::ledger::model::{DeliveryStatus, Destination, LogEntry};
use crate::areas::alerting::ledger::observation::{Observation, Subject};
use crate::areas::alerting::ledger::outbox::NextMessage;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::NoticeKind;
use crate::areas::alerting::policies::examples::policy;

#[test]
fn many_alerts_of_one_rule_share_a_message_and_paging_gets_each() {
    let mut fixture = Fixture::new("0m", policy(&[0], None));
    let paging = ChannelFacts { is_enabled: true, is_paging: true };
    fixture.directory.channels.insert("chan_0".to_owned().into(), paging);
    let now = fixture.clock.now();
    let storm = |change: &mut Change<'_>| {
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
