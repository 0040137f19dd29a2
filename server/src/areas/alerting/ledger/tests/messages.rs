//! Messages that wait: withdrawn, dropped, moved with the clock; and what has no space.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::fixture::*;
use crate::areas::alerting::channels::{ChannelFacts, Progress};
use crate::areas::alerting::ledger::alert_ledger::Attempt;
use crate::areas::alerting::ledger::change::Change;
use crate::areas::alerting::ledger::model::{AlertId, DeliveryStatus, Destination};
use crate::areas::alerting::ledger::observation::{Observation, Subject};
use crate::areas::alerting::ledger::outbox::NextMessage;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::NoticeKind;
use crate::areas::alerting::policies::examples::policy;
use crate::areas::alerting::windows::examples::window;

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
fn a_message_that_a_killed_process_may_have_sent_is_followed_by_what_comes_after_it() {
    let mut fixture = Fixture::new("0m", policy(&[], None));
    fixture.observe("a", true);
    fixture.observe("b", true);
    fixture.restart();
    fixture.observe("a", false);
    fixture.observe("b", false);
    // One is sent at a time, so the other was not.
    let told = fixture.deliver();
    assert_eq!(told.len(), 2, "{told:?}");
    let of = |host: &str| {
        [NoticeKind::Firing, NoticeKind::Resolved].map(|kind| sent(host, DIRECT, kind, 0))
    };
    let mut expected = of("a");
    expected.sort();
    assert_eq!(told, expected);
}

#[test]
fn a_message_that_is_withdrawn_while_it_is_stored_is_not_sent() {
    // A receiver hears of the end of each alert whose start it heard of, and of no other.
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
    let observe = |change: &mut Change<'_>| {
        for host in 0..most + 3 {
            let labels = vec![("host".to_owned(), format!("h{host}"))];
            let (value, summary, since) = (Some(97.0), None, None);
            let observation = Observation { labels, is_met: true, value, summary, since };
            change.observe(Subject::Rule(&fixture.rule), observation);
        }
        Ok(change.space().beyond())
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
    let storm = |change: &mut Change<'_>| {
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
