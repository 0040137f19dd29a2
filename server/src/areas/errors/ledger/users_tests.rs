//! The users of groups, which are on disk while their group is quiet.

use telltale_engine::Table;

use super::tests::World;
use crate::http::ErrorSettings;

const USERS: Table = Table::new(35, "errors_users");

#[test]
fn users_are_read_from_disk_before_the_ledger_is_locked() {
    let mut world = World::new(ErrorSettings::default());
    let id = world.tell("E", Some("ann"));
    world.ledger.store().unwrap();
    world.crash();
    let told = world.stored(&world.prepared("E", Some("bob"), 1_000)).unwrap();
    assert!(!world.ledger.count_in_memory(std::slice::from_ref(&told)), "the set is on disk");
    assert_eq!(world.only().occurrences, 1, "nothing of it counts by half");
    world.ledger.count(&[told]);
    assert_eq!((world.only().occurrences, world.only().users), (2, 2));
    // Now it is in memory; and without a user, or of a new group, nothing need be read.
    for (kind, user, event_id) in
        [("E", Some("cid"), 1_001), ("E", None, 1_002), ("F", Some("ann"), 1_003)]
    {
        let told = world.stored(&world.prepared(kind, user, event_id)).unwrap();
        assert!(world.ledger.count_in_memory(&[told]), "{kind} {user:?}");
    }
    assert_eq!(world.ledger.get(id).map(|group| (group.occurrences, group.users)), Some((4, 3)));
}

#[test]
fn a_merge_reads_the_users_of_groups_that_were_quiet() {
    let mut world = World::new(ErrorSettings::default());
    let (a, b) = (world.tell("A", Some("ann")), world.tell("B", Some("bob")));
    world.tell("B", Some("ann"));
    world.ledger.store().unwrap();
    world.crash();
    assert_eq!(world.ledger.merge(a, &[b]).unwrap().users, 2);
    world.crash();
    world.tell("B", Some("cid"));
    assert_eq!((world.only().occurrences, world.only().users), (4, 3));
}

#[test]
fn users_that_cannot_be_read_stay_as_they_are() {
    let mut world = World::new(ErrorSettings::default());
    let id = world.tell("E", Some("ann"));
    world.ledger.store().unwrap();
    let key = id.0.to_be_bytes();
    let readable = world.record(USERS, &key).unwrap();
    world.set_record(USERS, &key, vec![9]);
    world.crash();
    world.tell("E", Some("bob"));
    world.ledger.store().unwrap();
    assert_eq!((world.only().occurrences, world.only().users), (2, 1));
    assert_eq!(world.record(USERS, &key), Some(vec![9]));
    world.set_record(USERS, &key, readable);
    world.crash();
    world.tell("E", Some("cid"));
    assert_eq!(world.only().users, 2);
}
