//! Floods of distinct errors: what they cost whoever sends them, and nobody else.

use telltale_engine::TimestampMs;

use super::super::model::{GroupId, Sender, StateChange};
use super::tests::World;
use crate::http::ErrorSettings;
use crate::limits::{ERROR_FLOOD_MS, ERROR_GROUP_BYTES, ERROR_MERGED_BYTES};

const BEYOND: &str = "Errors beyond the limit of groups";
const ATTACKER: Sender = Sender(1);
const VICTIM: Sender = Sender(2);

fn world(groups_max: usize, new_groups_per_hour: u64) -> World {
    World::new(ErrorSettings { groups_max, new_groups_per_hour, ..ErrorSettings::default() })
}

impl World {
    fn tell_by(&mut self, sender: Sender, kind: &str) -> GroupId {
        self.sender = sender;
        self.clock.set(TimestampMs(self.clock.now().0 + 1));
        self.tell(kind, None)
    }

    fn flood(&mut self, kinds: std::ops::Range<usize>) -> Vec<GroupId> {
        kinds.map(|kind| self.tell_by(ATTACKER, &format!("Junk{}", letters(kind)))).collect()
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

/// A number without digits, which grouping would mask.
fn letters(number: usize) -> String {
    let letter = |at: u32| char::from(b'a' + u8::try_from(number / 26_usize.pow(at) % 26).unwrap());
    (0..3).map(letter).collect()
}

#[test]
fn a_key_that_begins_too_many_groups_has_one_for_the_rest_and_others_have_their_own() {
    let mut world = world(1_000, 3);
    world.flood(0..10);
    for kind in ["Real", "Own", "Other", "TooMany", "Real"] {
        world.tell_by(VICTIM, kind);
    }
    world.crash();
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
    assert_eq!(world.titles(), expected.map(|(title, count)| (title.to_owned(), count)));
    world.clock.set(TimestampMs(world.clock.now().0 + 3_600_000));
    world.tell_by(ATTACKER, "Late");
    assert_eq!(world.count_of("Late"), 1, "an hour later it may begin groups again");
}

#[test]
fn a_full_table_drops_what_is_needed_least_of_whoever_floods() {
    let mut world = world(8, 1_000);
    let old = world.tell_by(VICTIM, "Old");
    let junk = world.flood(0..7);
    let assign = StateChange::Assign { user: Some("ada".into()) };
    world.ledger.apply_change(&[junk[0]], &assign).unwrap();
    let note = StateChange::Resolve { note: Some("why".into()) };
    world.ledger.apply_change(&[junk[1]], &note).unwrap();
    world.ledger.apply_change(&[junk[4]], &StateChange::Resolve { note: None }).unwrap();
    world.ledger.make_room().unwrap();
    assert_eq!(world.list().len(), 8, "nobody needs room");

    world.tell_by(VICTIM, "New");
    assert_eq!((world.count_of("New"), world.count_of(BEYOND)), (0, 1));
    world.ledger.make_room().unwrap();
    let there = |world: &World, n: usize| world.ledger.get(junk[n]).is_some();
    assert!(!there(&world, 4), "the one that is resolved goes first");
    assert!(
        !there(&world, 2),
        "then the one last seen longest ago, as what is beyond took a place"
    );
    world.tell_by(VICTIM, "New");
    assert_eq!(world.count_of("New"), 1);
    assert!(world.ledger.get(old).is_some());
    for kept in [0, 1, 3, 5, 6] {
        assert!(there(&world, kept), "{kept}");
    }
}

#[test]
fn a_flood_never_costs_others_their_groups() {
    let mut world = world(300, 1_000_000);
    let real: Vec<GroupId> =
        (0..100).map(|n| world.tell_by(VICTIM, &format!("Real{}", letters(n)))).collect();
    for round in 0..10 {
        world.flood(round * 100..round * 100 + 100);
        world.ledger.make_room().unwrap();
    }
    assert!(real.iter().all(|id| world.ledger.get(*id).is_some()));
    assert!(world.list().len() <= 302, "{}", world.list().len());
    world.tell_by(VICTIM, "Newest");
    world.ledger.make_room().unwrap();
    world.tell_by(VICTIM, "Newest");
    assert_eq!(world.count_of("Newest"), 1);
}

#[test]
fn a_flood_that_is_over_costs_whoever_sent_it() {
    let mut world = world(300, 1_000_000);
    let real: Vec<GroupId> =
        (0..100).map(|n| world.tell_by(VICTIM, &format!("Real{}", letters(n)))).collect();
    world.flood(0..199);
    world.clock.set(TimestampMs(world.clock.now().0 + 2 * ERROR_FLOOD_MS));
    for n in 0..50 {
        let kind = format!("New{}", letters(n));
        world.tell_by(VICTIM, &kind);
        world.ledger.make_room().unwrap();
        world.tell_by(VICTIM, &kind);
        assert_eq!(world.count_of(&kind), 1, "{kind}");
    }
    assert!(real.iter().all(|id| world.ledger.get(*id).is_some()));
}

#[test]
fn the_sender_of_a_group_outlives_a_start() {
    let mut world = world(3, 1_000);
    world.flood(0..3);
    world.ledger.store().unwrap();
    world.crash();
    world.tell_by(VICTIM, "New");
    world.ledger.make_room().unwrap();
    world.tell_by(VICTIM, "New");
    assert_eq!(world.count_of("New"), 1);
}

#[test]
fn sets_of_users_count_as_memory_and_leave_it_for_the_disk() {
    let users_bytes_max = 1_000;
    let mut world = World::new(ErrorSettings { users_bytes_max, ..ErrorSettings::default() });
    let of_groups = 50 * ERROR_GROUP_BYTES;
    let tell = |world: &mut World, user: &str| {
        for number in 0..50 {
            world.tell(&format!("Error{}", letters(number)), Some(user));
        }
    };
    tell(&mut world, "ada");
    // What is not on disk yet stays.
    assert!(world.ledger.memory_bytes() > of_groups + users_bytes_max as u64);
    world.ledger.store().unwrap();
    let left = world.ledger.memory_bytes();
    assert!((of_groups..=of_groups + users_bytes_max as u64 / 2).contains(&left), "{left}");
    for user in ["bob", "ada"] {
        tell(&mut world, user);
        assert!(world.list().iter().all(|group| group.users == 2), "{user}");
    }
    world.ledger.store().unwrap();
    let groups: Vec<GroupId> = world.list().iter().map(|group| group.id).collect();
    world.ledger.delete(&groups).unwrap();
    assert_eq!(world.ledger.memory_bytes(), 0);
}

#[test]
fn what_people_write_and_merge_counts_as_memory_while_it_is_there() {
    let mut world = world(100, 1_000);
    let [a, b] = ["A", "B"].map(|kind| world.tell(kind, None));
    let of_courses = |world: &World| world.ledger.state.read().groups.state_bytes();
    let before = world.ledger.memory_bytes();
    let note = Some("x".repeat(1_000));
    world.ledger.apply_change(&[a, b], &StateChange::Resolve { note }).unwrap();
    assert_eq!(of_courses(&world), 2_000);
    assert_eq!(world.ledger.memory_bytes(), before + 2_000);
    // What comes again has no note any more.
    world.tell("A", None);
    assert_eq!(of_courses(&world), 1_000);
    world.ledger.merge(a, &[b]).unwrap();
    assert_eq!(of_courses(&world), ERROR_MERGED_BYTES);
    world.crash();
    assert_eq!(of_courses(&world), ERROR_MERGED_BYTES);
    world.ledger.delete(&[a]).unwrap();
    assert_eq!((of_courses(&world), world.ledger.memory_bytes()), (0, 0));
}
