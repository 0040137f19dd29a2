//! The ledger against a model that remembers everything, through crashes at any moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;

use proptest::prelude::*;
use telltale_engine::{
    Clock, Engine, EventBatch, EventListQuery, Maintenance, Options, PropertiesWriter, RecordBatch,
    Table, TimestampMs, Write,
};

use super::super::model::{GroupId, GroupStatus, Sender, StateChange};
use super::super::occurrence::{Exception, Occurrence, User};
use super::super::prepare::{Arrival, PreparedOccurrence, prepare};
use super::book::{all_time, events_of};
use super::{Admission, GroupFilter, GroupView, Ledger, SortBy, Ticket};
use crate::http::ErrorSettings;
use crate::platform::ids::Ids;

const START: TimestampMs = TimestampMs(1_767_323_045_678);

const MARK: Table = Table::new(32, "errors_mark");
const GROUPS: Table = Table::new(33, "errors_groups");
const USERS: Table = Table::new(35, "errors_users");

pub(super) struct World {
    dir: tempfile::TempDir,
    pub(super) clock: Clock,
    settings: ErrorSettings,
    engine: Engine,
    pub(super) ledger: Ledger,
    /// Who tells.
    pub(super) sender: Sender,
    told: u128,
}

impl World {
    pub(super) fn new(settings: ErrorSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(&dir, &clock);
        let ledger = ledger(&engine, &clock, &settings);
        Self { dir, clock, settings, engine, ledger, sender: Sender(1), told: 0 }
    }

    /// Ends without a word, as a crash does, and starts again on what the disk has.
    pub(super) fn crash(&mut self) {
        let Self { dir, clock, settings, .. } = self;
        // The directory is free only when the last clone has gone.
        let nothing = tempfile::tempdir().unwrap();
        let elsewhere = open(&nothing, clock);
        self.ledger = ledger(&elsewhere, clock, settings);
        self.engine = elsewhere;
        self.engine = open(dir, clock);
        self.ledger = ledger(&self.engine, clock, settings);
    }

    pub(super) fn prepared(
        &self,
        kind: &str,
        user: Option<&str>,
        event_id: u128,
    ) -> PreparedOccurrence {
        let exception = Exception { kind: Some(kind.into()), ..Exception::default() };
        let occurrence = Occurrence {
            exceptions: vec![exception],
            user: User { id: user.map(Into::into), ..User::default() },
            ..Occurrence::default()
        };
        let arrival = Arrival { sender: self.sender, project: 1, event_id, now: self.clock.now() };
        let mut writer = PropertiesWriter::default();
        prepare(&occurrence, arrival, self.ledger.scrubber(), &mut writer).unwrap()
    }

    fn admit(&self, prepared: &PreparedOccurrence) -> Option<(EventBatch, Ticket)> {
        let mut batch = self.engine.event_batch();
        match self.ledger.admit(prepared, &mut batch).unwrap() {
            Admission::New(ticket) => Some((batch, ticket)),
            Admission::Known => None,
            Admission::InFlight(_) => panic!("nothing else is on its way"),
        }
    }

    /// Tells of an error. Answers its group; nothing when the same id was told before.
    fn tell_as(&self, kind: &str, user: Option<&str>, event_id: u128) -> Option<GroupId> {
        self.tell_prepared(&self.prepared(kind, user, event_id))
    }

    /// An occurrence that is durable and does not count yet.
    pub(super) fn stored(&self, prepared: &PreparedOccurrence) -> Option<Ticket> {
        let (batch, ticket) = self.admit(prepared)?;
        write(&self.engine, batch);
        Some(ticket)
    }

    pub(super) fn tell_prepared(&self, prepared: &PreparedOccurrence) -> Option<GroupId> {
        let ticket = self.stored(prepared)?;
        self.ledger.count(std::slice::from_ref(&ticket));
        Some(ticket.group())
    }

    pub(super) fn tell(&mut self, kind: &str, user: Option<&str>) -> GroupId {
        self.told += 1;
        self.tell_as(kind, user, self.told).unwrap()
    }

    pub(super) fn list(&self) -> Vec<GroupView> {
        self.ledger.list(&GroupFilter::default(), SortBy::LastSeen, (0, 1_000)).0
    }

    pub(super) fn only(&self) -> GroupView {
        let mut all = self.list();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    pub(super) fn record(&self, table: Table, key: &[u8]) -> Option<Vec<u8>> {
        self.engine.records().get(table, key).unwrap()
    }

    /// Puts a record on disk behind the ledger's back.
    pub(super) fn set_record(&self, table: Table, key: &[u8], value: Vec<u8>) {
        let mut batch = RecordBatch::new();
        batch.put(table, key, value);
        self.engine.records().write(batch).unwrap();
    }

    fn stored_events(&self, group: &GroupView) -> u64 {
        let filter = events_of(group.event_groups(), all_time());
        let query = EventListQuery { filter, after: None, offset: 0, limit: 1 };
        self.engine.list_events(&query).unwrap().total
    }
}

fn open(dir: &tempfile::TempDir, clock: &Clock) -> Engine {
    let (maintenance, clock) = (Maintenance::Manual, clock.clone());
    Engine::open(&dir.path().join("data"), Options { maintenance, clock, ..Options::default() })
        .unwrap()
}

fn ledger(engine: &Engine, clock: &Clock, settings: &ErrorSettings) -> Ledger {
    let ids = Arc::new(Ids::new(clock.clone()).unwrap());
    Ledger::open(engine.clone(), clock.clone(), ids, settings).unwrap()
}

fn write(engine: &Engine, batch: EventBatch) {
    let (tell, told) = std::sync::mpsc::channel();
    engine.submit(Write { events: Some(batch), ..Write::default() }, move |outcome| {
        tell.send(outcome).unwrap();
    });
    told.recv().unwrap().unwrap();
}

fn resolve() -> StateChange {
    StateChange::Resolve { note: None }
}

#[test]
fn what_was_durable_counts_once_whatever_was_stored_of_it() {
    let mut world = World::new(ErrorSettings::default());
    for i in 0..30 {
        world.tell("E", Some(&format!("user-{}", i % 25)));
        if i == 10 {
            world.ledger.store().unwrap();
        }
        if i % 7 == 0 {
            world.crash();
        }
    }
    let group = world.only();
    assert_eq!((group.occurrences, group.users, group.title.as_str()), (30, 25, "E"));
    world.ledger.close().unwrap();
    world.crash();
    assert_eq!(world.only(), group);
}

#[test]
fn an_event_that_became_durable_late_is_not_lost_behind_the_mark() {
    let mut world = World::new(ErrorSettings::default());
    let (slow, ticket) = world.admit(&world.prepared("E", None, 1)).unwrap();
    world.told = 1;
    world.tell("E", None);
    world.ledger.store().unwrap();
    // The slow one is durable now; the process ends before it is counted.
    write(&world.engine, slow);
    drop(ticket);
    world.crash();
    assert_eq!(world.only().occurrences, 2);
}

#[test]
fn an_event_that_is_on_its_way_at_the_end_is_counted_by_the_next_start() {
    let mut world = World::new(ErrorSettings::default());
    world.tell("E", None);
    let (slow, ticket) = world.admit(&world.prepared("E", None, 2)).unwrap();
    world.told = 2;
    world.ledger.close().unwrap();
    write(&world.engine, slow);
    drop(ticket);
    world.crash();
    assert_eq!(world.only().occurrences, 2);
    // An end that nothing was on its way at, and then a crash with nothing stored: what the end said is told again.
    world.ledger.close().unwrap();
    world.crash();
    world.ledger.store().unwrap();
    world.tell("E", None);
    world.crash();
    assert_eq!(world.only().occurrences, 3);
}

#[test]
fn what_is_on_disk_is_not_written_again() {
    let mut world = World::new(ErrorSettings::default());
    let nonsense = Some(vec![9]);
    for _ in 0..2 {
        world.tell("E", Some("ann"));
        world.ledger.store().unwrap();
        assert_ne!(world.record(MARK, &[]), nonsense);
        world.set_record(MARK, &[], vec![9]);
        world.ledger.store().unwrap();
        assert_eq!(world.record(MARK, &[]), nonsense);
    }
}

#[test]
fn a_damaged_mark_costs_what_was_counted_since_it_and_the_server_starts() {
    let mut world = World::new(ErrorSettings::default());
    for _ in 0..2 {
        world.tell("E", None);
    }
    world.ledger.store().unwrap();
    world.tell("E", None);
    world.set_record(MARK, &[], vec![9]);
    world.crash();
    assert_eq!(world.only().occurrences, 2);
    world.tell("E", None);
    world.ledger.store().unwrap();
    world.crash();
    assert_eq!(world.only().occurrences, 3);
}

#[test]
fn a_merge_leaves_no_record_of_what_became_part_of_another() {
    let mut world = World::new(ErrorSettings::default());
    let (a, b) = (world.tell("A", Some("ann")), world.tell("B", Some("bob")));
    world.ledger.store().unwrap();
    assert_eq!(world.tell("B", Some("cid")), b);
    let merged = world.ledger.merge(a, &[b, a, b]).unwrap();
    assert_eq!((merged.occurrences, merged.users), (3, 3));
    world.ledger.store().unwrap();
    for table in [GROUPS, USERS] {
        assert_eq!(world.record(table, &b.0.to_be_bytes()), None, "{table:?}");
    }
    assert_eq!(world.tell("B", Some("ann")), a);
    world.crash();
    let after = world.only();
    assert_eq!((after.id, after.occurrences, after.users), (a, 4, 3));
    // Gone with all that was in it, and what comes is new.
    assert_eq!(world.ledger.delete(&[a, a]).unwrap(), [a]);
    assert!(![a, b].contains(&world.tell("B", None)));
}

#[test]
fn what_occurs_while_groups_are_merged_counts_in_what_became_of_them() {
    const KINDS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];
    let mut world = World::new(ErrorSettings::default());
    let ids = KINDS.map(|kind| world.tell(kind, None));
    thread::scope(|scope| {
        let (world, told) = (&world, 1_000_u128);
        for (n, kind) in KINDS.into_iter().enumerate() {
            scope.spawn(move || {
                for event in 0..50 {
                    world.tell_as(kind, Some("ann"), told + 50 * n as u128 + event).unwrap();
                }
            });
        }
        for other in &ids[1..] {
            world.ledger.merge(ids[0], &[*other]).unwrap();
        }
    });
    for _ in 0..2 {
        let all = world.only();
        assert_eq!((all.id, all.occurrences, all.users), (ids[0], 408, 1));
        world.crash();
    }
}

#[test]
fn an_event_that_was_not_stored_leaves_nothing_behind() {
    let world = World::new(ErrorSettings::default());
    let prepared = world.prepared("E", Some("ann"), 1);
    let (_, ticket) = world.admit(&prepared).unwrap();
    world.ledger.discard(&[ticket]);
    assert_eq!(world.list(), []);
    assert!(world.tell_as("E", Some("ann"), 1).is_some());
    assert_eq!(world.only().occurrences, 1);
}

#[test]
fn an_event_that_was_not_stored_costs_its_sender_no_new_group() {
    let world = World::new(ErrorSettings { new_groups_per_hour: 1, ..ErrorSettings::default() });
    for kind in ["A", "B"] {
        let (_, ticket) = world.admit(&world.prepared(kind, None, 1)).unwrap();
        world.ledger.discard(&[ticket]);
    }
    for (kind, id) in [("C", 2), ("D", 3), ("E", 4)] {
        assert!(world.tell_as(kind, None, id).is_some());
    }
    assert_eq!(world.list().len(), 2, "its own group, and one for the rest");
}

#[test]
fn the_same_id_is_stored_once_also_after_a_crash() {
    let mut world = World::new(ErrorSettings::default());
    assert!(world.tell_as("E", None, 9).is_some());
    assert!(world.tell_as("E", None, 9).is_none());
    world.crash();
    assert!(world.tell_as("E", None, 9).is_none());
    for _ in 0..2 {
        world.ledger.store().unwrap();
        assert!(world.tell_as("E", None, 9).is_none());
    }
    // It is forgotten after a week or two.
    world.clock.set(TimestampMs(START.0 + 15 * 86_400_000));
    world.ledger.trim().unwrap();
    assert!(world.tell_as("E", None, 9).is_some());
}

#[test]
fn an_id_is_known_when_its_event_is_deleted_and_a_crash_comes() {
    let mut world = World::new(ErrorSettings::default());
    let id = world.tell_as("E", None, 9).unwrap();
    world.ledger.delete(&[id]).unwrap();
    world.ledger.delete_events().unwrap();
    world.crash();
    assert!(world.tell_as("E", None, 9).is_none());
}

#[test]
fn an_id_is_known_whichever_way_the_clock_is_set_for_a_moment() {
    let world = World::new(ErrorSettings::default());
    world.tell_as("A", None, 1).unwrap();
    world.ledger.store().unwrap();
    // The one above is on disk and not in memory any more.
    world.ledger.store().unwrap();
    for days in [40, -40] {
        world.clock.jump(TimestampMs(START.0 + days * 86_400_000));
        assert_eq!(world.tell_as("A", None, 1), None, "{days}");
        let id = days.unsigned_abs().into();
        let of_then = world.tell_as("A", None, if days > 0 { id } else { id + 1 });
        assert!(of_then.is_some());
        (0..2).for_each(|_| world.ledger.store().unwrap());
        world.ledger.trim().unwrap();
        world.clock.jump(START);
        assert_eq!(world.tell_as("A", None, 1), None, "{days}");
        assert_eq!(world.tell_as("A", None, if days > 0 { id } else { id + 1 }), None);
    }
}

#[test]
fn who_sends_the_same_meanwhile_hears_what_became_of_it() {
    let world = World::new(ErrorSettings::default());
    for stored in [false, true] {
        let prepared = world.prepared("E", None, 1);
        let (batch, ticket) = world.admit(&prepared).unwrap();
        let mut other = world.engine.event_batch();
        let Admission::InFlight(mut told) = world.ledger.admit(&prepared, &mut other).unwrap()
        else {
            panic!("the first one is on its way");
        };
        assert!(told.try_recv().is_err());
        if stored {
            write(&world.engine, batch);
            world.ledger.count(&[ticket]);
        } else {
            world.ledger.discard(&[ticket]);
        }
        assert_eq!(told.try_recv(), Ok(stored));
    }
}

#[test]
fn beyond_the_limit_all_new_errors_are_one() {
    let mut world = World::new(ErrorSettings { groups_max: 3, ..ErrorSettings::default() });
    for kind in ["a", "b", "c", "d", "e", "f", "a"] {
        world.tell(kind, None);
    }
    world.crash();
    let told: BTreeMap<String, u64> =
        world.list().into_iter().map(|group| (group.title, group.occurrences)).collect();
    let beyond = "Errors beyond the limit of groups".to_owned();
    let expected = [("a".to_owned(), 2), ("b".to_owned(), 1), ("c".to_owned(), 1), (beyond, 3)];
    assert_eq!(told, expected.into());
    // Where old groups have no events left, there is room again.
    world.clock.set(TimestampMs(START.0 + 40 * 86_400_000));
    world.ledger.trim().unwrap();
    world.tell("d", None);
    assert_eq!(world.only().title, "d");
}

#[test]
fn a_regression_is_the_same_before_a_crash_and_after() {
    let mut world = World::new(ErrorSettings::default());
    let id = world.tell("E", None);
    let (late, ticket) = world.admit(&world.prepared("E", None, 77)).unwrap();
    world.ledger.apply_change(&[id], &resolve()).unwrap();
    // Numbered before the move, durable after it: no regression, whoever counts it.
    write(&world.engine, late);
    world.ledger.count(&[ticket]);
    assert_eq!(world.only().status, GroupStatus::Resolved);
    world.crash();
    assert_eq!((world.only().status, world.only().occurrences), (GroupStatus::Resolved, 2));
    world.clock.set(TimestampMs(START.0 + 1_000));
    world.tell("E", None);
    let regressed = world.only();
    assert_eq!(regressed.status, GroupStatus::Unresolved);
    assert_eq!(regressed.state.regressed_at, Some(TimestampMs(START.0 + 1_000)));
    world.crash();
    assert_eq!(world.only(), regressed);
}

/// One step of a history. Kinds are few, so that they meet.
#[derive(Clone, Debug)]
enum Step {
    Tell(u8, u8),
    Store,
    Close,
    Crash,
    Seal,
    Pass,
    Resolve(u8),
    Ignore(u8),
    Assign(u8),
    Merge(u8, u8),
    Delete(u8),
    DeleteEvents,
}

/// What a group must be.
#[derive(Clone, Debug, Default, PartialEq)]
struct Expected {
    kinds: BTreeSet<u8>,
    occurrences: u64,
    users: BTreeSet<u8>,
    status: GroupStatus,
    assignee: Option<String>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = || 0_u8..5;
    prop::collection::vec(
        prop_oneof![
            12 => (kind(), 0_u8..6).prop_map(|(kind, user)| Step::Tell(kind, user)),
            3 => Just(Step::Store),
            1 => Just(Step::Close),
            3 => Just(Step::Crash),
            1 => Just(Step::Seal),
            4 => Just(Step::Pass),
            2 => kind().prop_map(Step::Resolve),
            1 => kind().prop_map(Step::Ignore),
            1 => kind().prop_map(Step::Assign),
            2 => (kind(), kind()).prop_map(|(into, from)| Step::Merge(into, from)),
            1 => kind().prop_map(Step::Delete),
            1 => Just(Step::DeleteEvents),
        ],
        1..60,
    )
}

fn name(kind: u8) -> String {
    format!("Kind{kind}")
}

struct History {
    world: World,
    groups: BTreeMap<GroupId, Expected>,
    /// How many steps of time have passed.
    passed: i64,
}

impl History {
    fn of(&self, kind: u8) -> Option<GroupId> {
        self.groups.iter().find(|(_, group)| group.kinds.contains(&kind)).map(|(id, _)| *id)
    }

    fn apply_change(&mut self, kind: u8, order: &StateChange, expect: impl FnOnce(&mut Expected)) {
        let Some(id) = self.of(kind) else { return };
        let (moved, _) = self.world.ledger.apply_change(&[id], order).unwrap();
        assert_eq!(moved.len(), 1);
        expect(self.groups.get_mut(&id).unwrap());
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Tell(kind, user) => {
                let id = self.world.tell(&name(*kind), Some(&user.to_string()));
                let known = self.of(*kind);
                assert!(known.is_none_or(|known| known == id), "{kind} goes to {id:?}");
                let group = self.groups.entry(id).or_default();
                group.kinds.insert(*kind);
                group.occurrences += 1;
                group.users.insert(*user);
                if group.status == GroupStatus::Resolved {
                    group.status = GroupStatus::Unresolved;
                }
            }
            Step::Store => self.world.ledger.store().unwrap(),
            Step::Close => self.world.ledger.close().unwrap(),
            Step::Crash => self.world.crash(),
            Step::Seal => drop(self.world.engine.seal().unwrap()),
            Step::Pass => {
                self.passed += 1;
                self.world.clock.set(TimestampMs(START.0 + self.passed * 1_000));
            }
            Step::Resolve(kind) => {
                self.apply_change(*kind, &resolve(), |group| group.status = GroupStatus::Resolved);
            }
            Step::Ignore(kind) => {
                let order = StateChange::Ignore { duration_ms: None, reason: None };
                self.apply_change(*kind, &order, |group| group.status = GroupStatus::Ignored);
            }
            Step::Assign(kind) => {
                let order = StateChange::Assign { user: Some("ann".into()) };
                self.apply_change(*kind, &order, |group| group.assignee = Some("ann".into()));
            }
            Step::Merge(into, from) => self.merge(*into, *from),
            Step::Delete(kind) => {
                if let Some(id) = self.of(*kind) {
                    assert_eq!(self.world.ledger.delete(&[id]).unwrap(), [id]);
                    self.groups.remove(&id);
                }
            }
            Step::DeleteEvents => self.world.ledger.delete_events().unwrap(),
        }
    }

    fn merge(&mut self, into: u8, from: u8) {
        let (Some(into), Some(from)) = (self.of(into), self.of(from)) else { return };
        self.world.ledger.merge(into, &[from]).unwrap();
        if into == from {
            return;
        }
        let gone = self.groups.remove(&from).unwrap();
        let group = self.groups.get_mut(&into).unwrap();
        group.kinds.extend(gone.kinds);
        group.occurrences += gone.occurrences;
        group.users.extend(gone.users);
    }

    fn check(&self) {
        let found: BTreeMap<GroupId, GroupView> =
            self.world.list().into_iter().map(|group| (group.id, group)).collect();
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            self.groups.keys().collect::<Vec<_>>(),
            "the groups that there are"
        );
        for (id, expected) in &self.groups {
            let group = &found[id];
            assert_eq!(group.occurrences, expected.occurrences, "{group:?}");
            assert_eq!(group.users, expected.users.len() as u64, "{group:?}");
            assert_eq!(group.status, expected.status, "{group:?}");
            assert_eq!(group.state.assignee, expected.assignee, "{group:?}");
            assert_eq!(self.world.stored_events(group), expected.occurrences, "{group:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn groups_are_what_was_told_and_done(steps in steps()) {
        let world = World::new(ErrorSettings::default());
        let mut history = History { world, groups: BTreeMap::new(), passed: 0 };
        for step in &steps {
            history.step(step);
            history.check();
        }
        history.world.crash();
        history.check();
        // Nothing is left of what was deleted.
        history.world.ledger.delete_events().unwrap();
        let all = EventListQuery { filter: super::book::named(all_time()), after: None, offset: 0, limit: 1 };
        let left = history.world.engine.list_events(&all).unwrap().total;
        let kept: u64 = history.groups.values().map(|group| group.occurrences).sum();
        prop_assert_eq!(left, kept);
    }
}
