//! Tests of user sets, which are on disk while their group is idle.

use telltale_engine::{Distinct, Table};

use super::super::model::GroupId;
use super::read_users::ReadUsers;
use super::tests::Fixture;
use super::users::UserSets;
use crate::areas::errors::ErrorSettings;
use crate::platform::tables::RecordTable;

const USERS: Table = RecordTable::ErrorUsers.table();

#[test]
fn users_are_read_from_disk_before_the_ledger_is_locked() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let id = fixture.report("E", Some("ann"));
    fixture.ledger.store().unwrap();
    fixture.crash();
    let ticket = fixture.stored(&fixture.prepared("E", Some("bob"), 1_000)).unwrap();
    assert!(!fixture.ledger.count_in_memory(std::slice::from_ref(&ticket)), "the set is on disk");
    assert_eq!(fixture.only().occurrences, 1, "nothing is counted partially");
    fixture.ledger.count(&[ticket]);
    assert_eq!((fixture.only().occurrences, fixture.only().users), (2, 2));
    // The set is in memory now. An occurrence without a user or of a new group needs none.
    for (kind, user, event_id) in
        [("E", Some("cid"), 1_001), ("E", None, 1_002), ("F", Some("ann"), 1_003)]
    {
        let ticket = fixture.stored(&fixture.prepared(kind, user, event_id)).unwrap();
        assert!(fixture.ledger.count_in_memory(&[ticket]), "{kind} {user:?}");
    }
    assert_eq!(fixture.ledger.get(id).map(|group| (group.occurrences, group.users)), Some((4, 3)));
}

#[test]
fn a_user_counts_if_the_group_was_created_by_an_occurrence_without_a_user_of_the_same_request() {
    let fixture = Fixture::new(ErrorSettings::default());
    let tickets = [(None, 1), (Some("ann"), 2), (Some("bob"), 3)]
        .map(|(user, event_id)| fixture.stored(&fixture.prepared("E", user, event_id)).unwrap());
    assert!(fixture.ledger.count_in_memory(&tickets));
    assert_eq!((fixture.only().occurrences, fixture.only().users), (3, 2));
}

#[test]
fn a_merge_reads_the_user_sets_of_idle_groups() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let (a, b) = (fixture.report("A", Some("ann")), fixture.report("B", Some("bob")));
    fixture.report("B", Some("ann"));
    fixture.ledger.store().unwrap();
    fixture.crash();
    assert_eq!(fixture.ledger.merge(a, &[b], "a@b").unwrap().users, 2);
    fixture.crash();
    fixture.report("B", Some("cid"));
    assert_eq!((fixture.only().occurrences, fixture.only().users), (4, 3));
}

#[test]
fn an_unreadable_user_set_is_not_overwritten() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let id = fixture.report("E", Some("ann"));
    fixture.ledger.store().unwrap();
    let key = id.0.to_be_bytes();
    let readable = fixture.record(USERS, &key).unwrap();
    fixture.set_record(USERS, &key, vec![9]);
    fixture.crash();
    fixture.report("E", Some("bob"));
    fixture.ledger.store().unwrap();
    assert_eq!((fixture.only().occurrences, fixture.only().users), (2, 1));
    assert_eq!(fixture.record(USERS, &key), Some(vec![9]));
    fixture.set_record(USERS, &key, readable);
    fixture.crash();
    fixture.report("E", Some("cid"));
    assert_eq!(fixture.only().users, 2);
}

/// A new user need not change the estimate of a large set, and still has to be written.
#[test]
fn a_set_is_written_whenever_it_changed() {
    let (mut sets, group) = (UserSets::new(usize::MAX), GroupId(1));
    let mut read = ReadUsers::from([(group, Ok(None))]);
    let mut on_disk = Distinct::default().encode();
    let (mut last, mut changed_with_equal_count) = (0, 0);
    for user in 0..3_000 {
        let count = sets.add(&mut read, group, &format!("user-{user}")).unwrap();
        let in_memory = sets.complete(&mut read, group).unwrap();
        assert_eq!(count, in_memory.count());
        let written = sets.take_changed().next().map(|(_, set)| set.encode());
        changed_with_equal_count += u32::from(written.is_some() && count == last);
        on_disk = written.unwrap_or(on_disk);
        assert_eq!(on_disk, in_memory.encode(), "after user {user}");
        last = count;
    }
    assert!(changed_with_equal_count > 0);
}

/// The estimate of a large set takes long, so it is not repeated for each user. What is missing
/// stays far below the standard error of an estimate, 0.8 %, however large the set is.
#[test]
fn the_count_of_a_large_set_is_nearly_its_estimate() {
    let (mut sets, group) = (UserSets::new(usize::MAX), GroupId(1));
    let mut read = ReadUsers::from([(group, Ok(None))]);
    let mut set = Distinct::default();
    let (mut last, mut counted, mut worst) = (0, 0, 0);
    for number in 0..2_000_000 {
        let user = format!("user-{number}");
        set.insert(&user);
        let count = sets.add(&mut read, group, &user).unwrap();
        counted += u32::from(count != last);
        last = count;
        if number % 997 == 0 {
            let estimate = set.count();
            worst = worst.max(count.abs_diff(estimate) * 10_000 / estimate);
        }
    }
    assert!(worst <= 20, "{worst} in ten thousand");
    assert!(counted < 20_000, "counted {counted} times");
}

#[test]
fn a_group_has_the_whole_count_of_its_users_once_it_is_written() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let id = fixture.report("E", Some("user-0"));
    fixture.ledger.store().unwrap();
    let mut expected = Distinct::default();
    (0..40_000).for_each(|number| _ = expected.insert(&format!("user-{number}")));
    let key = id.0.to_be_bytes();
    let version = fixture.record(USERS, &key).unwrap()[0];
    fixture.set_record(USERS, &key, [vec![version], expected.encode()].concat());
    fixture.crash();
    let is_short = (40_000..40_500).any(|number| {
        let user = format!("user-{number}");
        expected.insert(&user);
        fixture.report("E", Some(&user));
        fixture.only().users != expected.count()
    });
    assert!(is_short, "each change was counted");
    fixture.ledger.store().unwrap();
    assert_eq!(fixture.only().users, expected.count());
    fixture.crash();
    assert_eq!(fixture.only().users, expected.count());
}
