//! Tests of floods of distinct errors: they affect the key that sends them, and no other.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::super::model::{GroupId, Sender, StateChange};
use super::tests::{Fixture, LIMITS};
use crate::areas::errors::limits as own_limits;
use crate::areas::errors::{ErrorSettings, LedgerLimits};
use crate::limits::{ERROR_FLOOD_MS, ERROR_GROUP_BYTES, ERROR_MERGED_BYTES};
use crate::platform::settings::Auto;

const BEYOND: &str = "Errors beyond the limit of groups";
const ATTACKER: Sender = Sender(1);
const VICTIM: Sender = Sender(2);

fn fixture(groups_max: usize, new_groups_per_hour: u64) -> Fixture {
    let groups_max = Auto::Set(groups_max);
    Fixture::new(ErrorSettings { groups_max, new_groups_per_hour, ..ErrorSettings::default() })
}

impl Fixture {
    fn report_by(&mut self, sender: Sender, kind: &str) -> GroupId {
        self.sender = sender;
        self.clock.set(TimestampMs(self.clock.now().0 + 1));
        self.report(kind, None)
    }

    fn flood(&mut self, kinds: std::ops::Range<usize>) -> Vec<GroupId> {
        kinds.map(|kind| self.report_by(ATTACKER, &format!("Junk{}", letters(kind)))).collect()
    }

    fn titles(&self) -> Vec<(String, u64)> {
        let mut titles: Vec<(String, u64)> =
            self.list().into_iter().map(|group| (group.title, group.occurrences)).collect();
        titles.sort();
        titles
    }

    fn count_of(&self, title: &str) -> usize {
        self.titles().iter().filter(|(known, _)| known == title).count()
    }
}

/// Returns a number in letters: grouping would mask digits.
fn letters(number: usize) -> String {
    let letter = |at: u32| char::from(b'a' + u8::try_from(number / 26_usize.pow(at) % 26).unwrap());
    (0..3).map(letter).collect()
}

#[test]
fn new_errors_beyond_the_limit_share_one_overflow_group() {
    let mut fixture = fixture(3, 1_000);
    for kind in ["a", "b", "c", "d", "e", "f", "a"] {
        fixture.report(kind, None);
    }
    fixture.crash();
    let counts: BTreeMap<String, u64> =
        fixture.list().into_iter().map(|group| (group.title, group.occurrences)).collect();
    let expected =
        [("a".to_owned(), 2), ("b".to_owned(), 1), ("c".to_owned(), 1), (BEYOND.to_owned(), 3)];
    assert_eq!(counts, expected.into());
    // Groups whose events have all expired are deleted, so new ones can be created.
    fixture.clock.set(TimestampMs(fixture.clock.now().0 + 40 * 86_400_000));
    fixture.ledger.trim().unwrap();
    fixture.report("d", None);
    assert_eq!(fixture.only().title, "d");
}

#[test]
fn a_key_over_its_group_budget_gets_one_overflow_group_and_others_are_unaffected() {
    let mut fixture = fixture(1_000, 3);
    fixture.flood(0..10);
    for kind in ["Real", "Own", "Other", "TooMany", "Real"] {
        fixture.report_by(VICTIM, kind);
    }
    fixture.crash();
    let expected = [
        (BEYOND, 1),
        (BEYOND, 7),
        ("Junkaaa", 1),
        ("Junkbaa", 1),
        ("Junkcaa", 1),
        ("Other", 1),
        ("Own", 1),
        ("Real", 2),
    ];
    assert_eq!(fixture.titles(), expected.map(|(title, count)| (title.to_owned(), count)));
    fixture.clock.set(TimestampMs(fixture.clock.now().0 + 3_600_000));
    fixture.report_by(ATTACKER, "Late");
    assert_eq!(fixture.count_of("Late"), 1, "an hour later it may create groups again");
}

#[test]
fn a_full_table_evicts_the_least_needed_groups_of_the_flooding_key() {
    let mut fixture = fixture(8, 1_000);
    let old = fixture.report_by(VICTIM, "Old");
    let junk = fixture.flood(0..7);
    let assign = StateChange::Assign { user: Some("ada".into()) };
    fixture.ledger.apply_change(&[junk[0]], &assign, "a@b").unwrap();
    let note = StateChange::Resolve { note: Some("why".into()) };
    fixture.ledger.apply_change(&[junk[1]], &note, "a@b").unwrap();
    fixture.ledger.apply_change(&[junk[4]], &StateChange::Resolve { note: None }, "a@b").unwrap();
    fixture.ledger.make_room().unwrap();
    assert_eq!(fixture.list().len(), 8, "the table is not full");

    fixture.report_by(VICTIM, "New");
    assert_eq!((fixture.count_of("New"), fixture.count_of(BEYOND)), (0, 1));
    fixture.ledger.make_room().unwrap();
    let exists = |fixture: &Fixture, n: usize| fixture.ledger.get(junk[n]).is_some();
    assert!(!exists(&fixture, 4), "the resolved group is evicted first");
    assert!(
        !exists(&fixture, 2),
        "then the group last seen longest ago, as the overflow group takes a place"
    );
    fixture.report_by(VICTIM, "New");
    assert_eq!(fixture.count_of("New"), 1);
    assert!(fixture.ledger.get(old).is_some());
    for kept in [0, 1, 3, 5, 6] {
        assert!(exists(&fixture, kept), "{kept}");
    }
}

#[test]
fn a_flood_does_not_evict_groups_of_other_keys() {
    let mut fixture = fixture(300, 1_000_000);
    let real: Vec<GroupId> =
        (0..100).map(|n| fixture.report_by(VICTIM, &format!("Real{}", letters(n)))).collect();
    for pass in 0..10 {
        fixture.flood(pass * 100..pass * 100 + 100);
        fixture.ledger.make_room().unwrap();
    }
    assert!(real.iter().all(|id| fixture.ledger.get(*id).is_some()));
    assert!(fixture.list().len() <= 302, "{}", fixture.list().len());
    fixture.report_by(VICTIM, "Newest");
    fixture.ledger.make_room().unwrap();
    fixture.report_by(VICTIM, "Newest");
    assert_eq!(fixture.count_of("Newest"), 1);
}

#[test]
fn groups_of_a_past_flood_are_evicted_before_those_of_active_keys() {
    let mut fixture = fixture(300, 1_000_000);
    let real: Vec<GroupId> =
        (0..100).map(|n| fixture.report_by(VICTIM, &format!("Real{}", letters(n)))).collect();
    fixture.flood(0..199);
    fixture.clock.set(TimestampMs(fixture.clock.now().0 + 2 * ERROR_FLOOD_MS));
    for n in 0..50 {
        let kind = format!("New{}", letters(n));
        fixture.report_by(VICTIM, &kind);
        fixture.ledger.make_room().unwrap();
        fixture.report_by(VICTIM, &kind);
        assert_eq!(fixture.count_of(&kind), 1, "{kind}");
    }
    assert!(real.iter().all(|id| fixture.ledger.get(*id).is_some()));
}

#[test]
fn groups_that_people_edited_keep_at_most_half_of_the_table() {
    let mut fixture = fixture(20, 1_000_000);
    let real: Vec<GroupId> =
        (0..5).map(|n| fixture.report_by(VICTIM, &format!("Real{}", letters(n)))).collect();
    let assign = StateChange::Assign { user: Some("ada".into()) };
    fixture.ledger.apply_change(&real, &assign, "a@b").unwrap();
    // All errors of a flood were resolved, and came back.
    let junk = fixture.flood(0..15);
    fixture.ledger.apply_change(&junk, &StateChange::Resolve { note: None }, "a@b").unwrap();
    fixture.flood(0..15);
    fixture.report_by(VICTIM, "New");
    fixture.ledger.make_room().unwrap();
    fixture.report_by(VICTIM, "New");
    assert_eq!(fixture.count_of("New"), 1, "protected groups leave place for new errors");
    assert!(real.iter().all(|id| fixture.ledger.get(*id).is_some()));
}

#[test]
fn keys_with_most_protected_groups_keep_equally_many() {
    let mut fixture = fixture(40, 1_000_000);
    let real: Vec<GroupId> =
        (0..5).map(|n| fixture.report_by(VICTIM, &format!("Real{}", letters(n)))).collect();
    let junk = fixture.flood(0..15);
    let other = fixture.report_by(VICTIM, "Other");
    let assign = StateChange::Assign { user: Some("ada".into()) };
    fixture.ledger.apply_change(&[real.as_slice(), &junk].concat(), &assign, "a@b").unwrap();
    let state = fixture.ledger.state.read();
    for (max, lost) in [(20, (0, 0)), (19, (0, 1)), (10, (0, 10)), (9, (1, 10)), (0, (5, 15))] {
        let unprotected = state.groups.unprotected(max);
        let count = |ids: &[GroupId]| ids.iter().filter(|id| unprotected.contains(*id)).count();
        assert_eq!((count(&real), count(&junk)), lost, "{max}");
        assert!(!unprotected.contains(&other), "it never was protected");
    }
    let last = state.groups.unprotected(19);
    assert_eq!(Vec::from_iter(last), junk[..1], "the one last seen longest ago");
}

#[test]
fn the_hourly_trim_neither_waits_for_writers_nor_blocks_them_for_long() {
    let mut fixture = fixture(100, 1_000_000);
    fixture.flood(0..95);
    let one = fixture.report_by(VICTIM, "Real");
    let most = own_limits::ERROR_ACTIVITY_KEPT + own_limits::ERROR_ACTIVITY_SURPLUS;
    let entries = |fixture: &Fixture| fixture.ledger.activity.newest(&[one], usize::MAX).unwrap();
    for n in 1..=most {
        fixture.ledger.comment(one, n.to_string(), "a@b").unwrap();
        assert!(entries(&fixture).len() < most, "comments do not pile up until the hourly trim");
    }
    assert_eq!(entries(&fixture).len(), own_limits::ERROR_ACTIVITY_KEPT);
    fixture.clock.set(TimestampMs(fixture.clock.now().0 + 40 * 86_400_000));
    let now = fixture.clock.now();
    assert_eq!(fixture.ledger.delete_expired(now, 7).unwrap(), 7, "a limited number at a time");
    // Nothing that is left to do needs the lock: 89 groups are less than nine tenths.
    let write_guard = fixture.ledger.write_lock.lock();
    fixture.ledger.trim().unwrap();
    drop(write_guard);
    assert_eq!(fixture.list().len(), 89);
}

#[test]
fn a_comment_does_not_keep_a_group() {
    let mut fixture = fixture(3, 1_000);
    let junk = fixture.flood(0..3);
    for id in &junk {
        fixture.ledger.comment(*id, "look at this".to_owned(), "a@b").unwrap();
    }
    fixture.report_by(VICTIM, "New");
    fixture.ledger.make_room().unwrap();
    fixture.report_by(VICTIM, "New");
    assert_eq!(fixture.count_of("New"), 1);
}

#[test]
fn the_sender_of_a_group_survives_a_restart() {
    let mut fixture = fixture(3, 1_000);
    fixture.flood(0..3);
    fixture.ledger.store().unwrap();
    fixture.crash();
    fixture.report_by(VICTIM, "New");
    fixture.ledger.make_room().unwrap();
    fixture.report_by(VICTIM, "New");
    assert_eq!(fixture.count_of("New"), 1);
}

#[test]
fn user_sets_count_as_memory_and_are_evicted_once_on_disk() {
    let users_bytes_max = 1_000;
    let limits = LedgerLimits { users_bytes_max, ..LIMITS };
    let mut fixture = Fixture::with(ErrorSettings::default(), limits);
    let of_groups = 50 * ERROR_GROUP_BYTES;
    let report = |fixture: &mut Fixture, user: &str| {
        for number in 0..50 {
            fixture.report(&format!("Error{}", letters(number)), Some(user));
        }
    };
    report(&mut fixture, "ada");
    // Sets that are not on disk yet stay in memory.
    assert!(fixture.ledger.memory_bytes() > of_groups + users_bytes_max as u64);
    fixture.ledger.store().unwrap();
    let left = fixture.ledger.memory_bytes();
    assert!((of_groups..=of_groups + users_bytes_max as u64 / 2).contains(&left), "{left}");
    for user in ["bob", "ada"] {
        report(&mut fixture, user);
        assert!(fixture.list().iter().all(|group| group.users == 2), "{user}");
    }
    fixture.ledger.store().unwrap();
    let groups: Vec<GroupId> = fixture.list().iter().map(|group| group.id).collect();
    fixture.ledger.delete(&groups).unwrap();
    assert_eq!(fixture.ledger.memory_bytes(), 0);
}

#[test]
fn notes_and_merges_count_as_memory_while_they_exist() {
    let mut fixture = fixture(100, 1_000);
    let [a, b] = ["A", "B"].map(|kind| fixture.report(kind, None));
    let state_bytes = |fixture: &Fixture| fixture.ledger.state.read().groups.state_bytes();
    let before = fixture.ledger.memory_bytes();
    let note = Some("x".repeat(1_000));
    fixture.ledger.apply_change(&[a, b], &StateChange::Resolve { note }, "a@b").unwrap();
    assert_eq!(state_bytes(&fixture), 2_000);
    assert_eq!(fixture.ledger.memory_bytes(), before + 2_000);
    // An error that occurs again loses its note.
    fixture.report("A", None);
    assert_eq!(state_bytes(&fixture), 1_000);
    fixture.ledger.merge(a, &[b], "a@b").unwrap();
    assert_eq!(state_bytes(&fixture), ERROR_MERGED_BYTES);
    fixture.crash();
    assert_eq!(state_bytes(&fixture), ERROR_MERGED_BYTES);
    fixture.ledger.delete(&[a]).unwrap();
    assert_eq!((state_bytes(&fixture), fixture.ledger.memory_bytes()), (0, 0));
}
