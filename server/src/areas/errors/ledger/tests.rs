//! Tests of the ledger against a naive model, with crashes at any moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

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
use crate::areas::errors::{ErrorSettings, LedgerLimits};
use crate::limits;
use crate::platform::ids::Ids;
use crate::platform::tables::RecordTable;

const START: TimestampMs = TimestampMs(1_767_323_045_678);

const MARK: Table = RecordTable::ErrorsMark.table();
const GROUPS: Table = RecordTable::ErrorGroups.table();
const USERS: Table = RecordTable::ErrorUsers.table();

/// The limits of a machine with enough memory.
pub(super) const LIMITS: LedgerLimits = LedgerLimits {
    users_bytes_max: limits::ERROR_USERS_BYTES_MAX,
    retention: Duration::from_secs(30 * 86_400),
};

pub(super) struct Fixture {
    dir: tempfile::TempDir,
    pub(super) clock: Clock,
    settings: ErrorSettings,
    limits: LedgerLimits,
    engine: Engine,
    pub(super) ledger: Ledger,
    /// The sender of reports.
    pub(super) sender: Sender,
    reported: u128,
}

impl Fixture {
    pub(super) fn new(settings: ErrorSettings) -> Self {
        Self::with(settings, LIMITS)
    }

    pub(super) fn with(settings: ErrorSettings, limits: LedgerLimits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let engine = open(&dir, &clock);
        let ledger = ledger(&engine, &clock, &settings, limits);
        Self { dir, clock, settings, limits, engine, ledger, sender: Sender(1), reported: 0 }
    }

    /// Drops the ledger without a shutdown and opens it again on what is on disk.
    pub(super) fn crash(&mut self) {
        let Self { dir, clock, settings, limits, .. } = self;
        // The directory is unlocked only when the last clone of the engine is dropped.
        let empty_dir = tempfile::tempdir().unwrap();
        let empty_engine = open(&empty_dir, clock);
        self.ledger = ledger(&empty_engine, clock, settings, *limits);
        self.engine = empty_engine;
        self.engine = open(dir, clock);
        self.ledger = ledger(&self.engine, clock, settings, *limits);
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
            Admission::InFlight(_) => panic!("nothing else is in flight"),
        }
    }

    /// Reports an error; returns its group, or `None` if the event id is known.
    fn report_as(&self, kind: &str, user: Option<&str>, event_id: u128) -> Option<GroupId> {
        self.report_prepared(&self.prepared(kind, user, event_id))
    }

    /// Stores an occurrence without counting it; returns its ticket.
    pub(super) fn stored(&self, prepared: &PreparedOccurrence) -> Option<Ticket> {
        let (batch, ticket) = self.admit(prepared)?;
        write(&self.engine, batch);
        Some(ticket)
    }

    pub(super) fn report_prepared(&self, prepared: &PreparedOccurrence) -> Option<GroupId> {
        let ticket = self.stored(prepared)?;
        self.ledger.count(std::slice::from_ref(&ticket));
        Some(ticket.group())
    }

    pub(super) fn report(&mut self, kind: &str, user: Option<&str>) -> GroupId {
        self.reported += 1;
        self.report_as(kind, user, self.reported).unwrap()
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

    /// Writes a record, bypassing the ledger.
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

fn ledger(
    engine: &Engine,
    clock: &Clock,
    settings: &ErrorSettings,
    limits: LedgerLimits,
) -> Ledger {
    let ids = Arc::new(Ids::new(clock.clone()).unwrap());
    Ledger::open(engine.clone(), clock.clone(), ids, settings, limits).unwrap()
}

pub(super) fn write(engine: &Engine, batch: EventBatch) {
    let (sender, receiver) = std::sync::mpsc::channel();
    engine.submit(Write { events: Some(batch), ..Write::default() }, move |outcome| {
        sender.send(outcome).unwrap();
    });
    receiver.recv().unwrap().unwrap();
}

fn resolve() -> StateChange {
    StateChange::Resolve { note: None }
}

#[test]
fn a_durable_event_counts_once_across_flushes_and_crashes() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    for i in 0..30 {
        fixture.report("E", Some(&format!("user-{}", i % 25)));
        if i == 10 {
            fixture.ledger.store().unwrap();
        }
        if i % 7 == 0 {
            fixture.crash();
        }
    }
    let group = fixture.only();
    assert_eq!((group.occurrences, group.users, group.title.as_str()), (30, 25, "E"));
    fixture.ledger.close().unwrap();
    fixture.crash();
    assert_eq!(fixture.only(), group);
}

#[test]
fn an_event_that_becomes_durable_late_is_not_lost_below_the_mark() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let (slow, ticket) = fixture.admit(&fixture.prepared("E", None, 1)).unwrap();
    fixture.reported = 1;
    fixture.report("E", None);
    fixture.ledger.store().unwrap();
    // The slow event is durable now; the process ends before it is counted.
    write(&fixture.engine, slow);
    drop(ticket);
    fixture.crash();
    assert_eq!(fixture.only().occurrences, 2);
}

#[test]
fn an_event_in_flight_at_shutdown_is_counted_at_the_next_start() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    fixture.report("E", None);
    let (slow, ticket) = fixture.admit(&fixture.prepared("E", None, 2)).unwrap();
    fixture.reported = 2;
    fixture.ledger.close().unwrap();
    write(&fixture.engine, slow);
    drop(ticket);
    fixture.crash();
    assert_eq!(fixture.only().occurrences, 2);
    // After a clean shutdown, a crash before the next flush: the disk still contains the mark of
    // the shutdown.
    fixture.ledger.close().unwrap();
    fixture.crash();
    fixture.ledger.store().unwrap();
    fixture.report("E", None);
    fixture.crash();
    assert_eq!(fixture.only().occurrences, 3);
}

#[test]
fn unchanged_records_are_not_written_again() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let nonsense = Some(vec![9]);
    for _ in 0..2 {
        fixture.report("E", Some("ann"));
        fixture.ledger.store().unwrap();
        assert_ne!(fixture.record(MARK, &[]), nonsense);
        fixture.set_record(MARK, &[], vec![9]);
        fixture.ledger.store().unwrap();
        assert_eq!(fixture.record(MARK, &[]), nonsense);
    }
}

#[test]
fn the_server_starts_with_a_corrupt_mark_and_loses_only_counts_since_the_last_flush() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    for _ in 0..2 {
        fixture.report("E", None);
    }
    fixture.ledger.store().unwrap();
    fixture.report("E", None);
    fixture.set_record(MARK, &[], vec![9]);
    fixture.crash();
    assert_eq!(fixture.only().occurrences, 2);
    fixture.report("E", None);
    fixture.ledger.store().unwrap();
    fixture.crash();
    assert_eq!(fixture.only().occurrences, 3);
}

#[test]
fn a_merge_deletes_the_records_of_the_merged_groups() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let (a, b) = (fixture.report("A", Some("ann")), fixture.report("B", Some("bob")));
    fixture.ledger.store().unwrap();
    assert_eq!(fixture.report("B", Some("cid")), b);
    let merged = fixture.ledger.merge(a, &[b, a, b], "a@b").unwrap();
    assert_eq!((merged.occurrences, merged.users), (3, 3));
    fixture.ledger.store().unwrap();
    for table in [GROUPS, USERS] {
        assert_eq!(fixture.record(table, &b.0.to_be_bytes()), None, "{table:?}");
    }
    assert_eq!(fixture.report("B", Some("ann")), a);
    fixture.crash();
    let after = fixture.only();
    assert_eq!((after.id, after.occurrences, after.users), (a, 4, 3));
    // The group is deleted with all merged groups; a later occurrence creates a new group.
    assert_eq!(fixture.ledger.delete(&[a, a]).unwrap(), [a]);
    assert!(![a, b].contains(&fixture.report("B", None)));
}

#[test]
fn occurrences_during_a_merge_count_in_the_merged_group() {
    const KINDS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];
    let mut fixture = Fixture::new(ErrorSettings::default());
    let ids = KINDS.map(|kind| fixture.report(kind, None));
    thread::scope(|scope| {
        let (fixture, first_id) = (&fixture, 1_000_u128);
        for (n, kind) in KINDS.into_iter().enumerate() {
            scope.spawn(move || {
                for event in 0..50 {
                    fixture
                        .report_as(kind, Some("ann"), first_id + 50 * n as u128 + event)
                        .unwrap();
                }
            });
        }
        for other in &ids[1..] {
            fixture.ledger.merge(ids[0], &[*other], "a@b").unwrap();
        }
    });
    for _ in 0..2 {
        let all = fixture.only();
        assert_eq!((all.id, all.occurrences, all.users), (ids[0], 408, 1));
        fixture.crash();
    }
}

#[test]
fn an_event_that_was_not_stored_leaves_no_trace() {
    let fixture = Fixture::new(ErrorSettings::default());
    let prepared = fixture.prepared("E", Some("ann"), 1);
    let (_, ticket) = fixture.admit(&prepared).unwrap();
    fixture.ledger.discard(&[ticket]);
    assert_eq!(fixture.list(), []);
    assert!(fixture.report_as("E", Some("ann"), 1).is_some());
    assert_eq!(fixture.only().occurrences, 1);
}

#[test]
fn an_event_that_was_not_stored_does_not_use_up_the_group_budget() {
    let fixture =
        Fixture::new(ErrorSettings { new_groups_per_hour: 1, ..ErrorSettings::default() });
    for kind in ["A", "B"] {
        let (_, ticket) = fixture.admit(&fixture.prepared(kind, None, 1)).unwrap();
        fixture.ledger.discard(&[ticket]);
    }
    for (kind, id) in [("C", 2), ("D", 3), ("E", 4)] {
        assert!(fixture.report_as(kind, None, id).is_some());
    }
    assert_eq!(fixture.list().len(), 2, "its own group, and the overflow group");
}

#[test]
fn an_event_id_is_stored_once_also_after_a_crash() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    assert!(fixture.report_as("E", None, 9).is_some());
    assert!(fixture.report_as("E", None, 9).is_none());
    fixture.crash();
    assert!(fixture.report_as("E", None, 9).is_none());
    for _ in 0..2 {
        fixture.ledger.store().unwrap();
        assert!(fixture.report_as("E", None, 9).is_none());
    }
    // An id is forgotten after one to two weeks.
    fixture.clock.set(TimestampMs(START.0 + 15 * 86_400_000));
    fixture.ledger.trim().unwrap();
    assert!(fixture.report_as("E", None, 9).is_some());
}

#[test]
fn an_event_id_is_known_after_its_event_is_deleted_and_a_crash() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let id = fixture.report_as("E", None, 9).unwrap();
    fixture.ledger.delete(&[id]).unwrap();
    fixture.ledger.delete_events().unwrap();
    fixture.crash();
    assert!(fixture.report_as("E", None, 9).is_none());
}

#[test]
fn an_event_id_stays_known_when_the_clock_jumps_for_a_moment() {
    let fixture = Fixture::new(ErrorSettings::default());
    fixture.report_as("A", None, 1).unwrap();
    fixture.ledger.store().unwrap();
    // The second flush drops the id from memory, so it is only on disk.
    fixture.ledger.store().unwrap();
    for days in [40, -40] {
        fixture.clock.jump(TimestampMs(START.0 + days * 86_400_000));
        assert_eq!(fixture.report_as("A", None, 1), None, "{days}");
        let id = days.unsigned_abs().into();
        let new_event = fixture.report_as("A", None, if days > 0 { id } else { id + 1 });
        assert!(new_event.is_some());
        (0..2).for_each(|_| fixture.ledger.store().unwrap());
        fixture.ledger.trim().unwrap();
        fixture.clock.jump(START);
        assert_eq!(fixture.report_as("A", None, 1), None, "{days}");
        assert_eq!(fixture.report_as("A", None, if days > 0 { id } else { id + 1 }), None);
    }
}

#[test]
fn a_concurrent_duplicate_gets_the_outcome_of_the_first_request() {
    let fixture = Fixture::new(ErrorSettings::default());
    for stored in [false, true] {
        let prepared = fixture.prepared("E", None, 1);
        let (batch, ticket) = fixture.admit(&prepared).unwrap();
        let mut other = fixture.engine.event_batch();
        let Admission::InFlight(mut receiver) =
            fixture.ledger.admit(&prepared, &mut other).unwrap()
        else {
            panic!("the first one is in flight");
        };
        assert!(receiver.try_recv().is_err());
        if stored {
            write(&fixture.engine, batch);
            fixture.ledger.count(&[ticket]);
        } else {
            fixture.ledger.discard(&[ticket]);
        }
        assert_eq!(receiver.try_recv(), Ok(stored));
    }
}

#[test]
fn a_regression_is_the_same_before_and_after_a_crash() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let id = fixture.report("E", None);
    let (late, ticket) = fixture.admit(&fixture.prepared("E", None, 77)).unwrap();
    fixture.ledger.apply_change(&[id], &resolve(), "a@b").unwrap();
    // Numbered before the state change, durable after it: not a regression, whether it is counted
    // before or after the crash.
    write(&fixture.engine, late);
    fixture.ledger.count(&[ticket]);
    assert_eq!(fixture.only().status, GroupStatus::Resolved);
    fixture.crash();
    assert_eq!((fixture.only().status, fixture.only().occurrences), (GroupStatus::Resolved, 2));
    fixture.clock.set(TimestampMs(START.0 + 1_000));
    fixture.report("E", None);
    let regressed = fixture.only();
    assert_eq!(regressed.status, GroupStatus::Unresolved);
    assert_eq!(regressed.state.regressed_at, Some(TimestampMs(START.0 + 1_000)));
    fixture.crash();
    assert_eq!(fixture.only(), regressed);
}

/// A step of a history. There are few kinds, so that steps interact.
#[derive(Clone, Debug)]
enum Step {
    Report(u8, u8),
    Store,
    Close,
    Crash,
    Seal,
    AdvanceClock,
    Resolve(u8),
    Ignore(u8),
    Assign(u8),
    Merge(u8, u8),
    Delete(u8),
    DeleteEvents,
}

/// The expected group.
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
            12 => (kind(), 0_u8..6).prop_map(|(kind, user)| Step::Report(kind, user)),
            3 => Just(Step::Store),
            1 => Just(Step::Close),
            3 => Just(Step::Crash),
            1 => Just(Step::Seal),
            4 => Just(Step::AdvanceClock),
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
    fixture: Fixture,
    groups: BTreeMap<GroupId, Expected>,
    /// How often the clock has been advanced.
    clock_steps: i64,
}

impl History {
    fn of(&self, kind: u8) -> Option<GroupId> {
        self.groups.iter().find(|(_, group)| group.kinds.contains(&kind)).map(|(id, _)| *id)
    }

    fn apply_change(&mut self, kind: u8, change: &StateChange, expect: impl FnOnce(&mut Expected)) {
        let Some(id) = self.of(kind) else { return };
        let (changed, _) = self.fixture.ledger.apply_change(&[id], change, "a@b").unwrap();
        assert_eq!(changed.len(), 1);
        expect(self.groups.get_mut(&id).unwrap());
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Report(kind, user) => {
                let id = self.fixture.report(&name(*kind), Some(&user.to_string()));
                let known = self.of(*kind);
                assert!(known.is_none_or(|known| known == id), "{kind} was assigned to {id:?}");
                let group = self.groups.entry(id).or_default();
                group.kinds.insert(*kind);
                group.occurrences += 1;
                group.users.insert(*user);
                if group.status == GroupStatus::Resolved {
                    group.status = GroupStatus::Unresolved;
                }
            }
            Step::Store => self.fixture.ledger.store().unwrap(),
            Step::Close => self.fixture.ledger.close().unwrap(),
            Step::Crash => self.fixture.crash(),
            Step::Seal => drop(self.fixture.engine.seal().unwrap()),
            Step::AdvanceClock => {
                self.clock_steps += 1;
                self.fixture.clock.set(TimestampMs(START.0 + self.clock_steps * 1_000));
            }
            Step::Resolve(kind) => {
                self.apply_change(*kind, &resolve(), |group| group.status = GroupStatus::Resolved);
            }
            Step::Ignore(kind) => {
                let change = StateChange::Ignore { duration_ms: None, reason: None };
                self.apply_change(*kind, &change, |group| group.status = GroupStatus::Ignored);
            }
            Step::Assign(kind) => {
                let change = StateChange::Assign { user: Some("ann".into()) };
                self.apply_change(*kind, &change, |group| group.assignee = Some("ann".into()));
            }
            Step::Merge(into, from) => self.merge(*into, *from),
            Step::Delete(kind) => {
                if let Some(id) = self.of(*kind) {
                    assert_eq!(self.fixture.ledger.delete(&[id]).unwrap(), [id]);
                    self.groups.remove(&id);
                }
            }
            Step::DeleteEvents => self.fixture.ledger.delete_events().unwrap(),
        }
    }

    fn merge(&mut self, into: u8, from: u8) {
        let (Some(into), Some(from)) = (self.of(into), self.of(from)) else { return };
        self.fixture.ledger.merge(into, &[from], "a@b").unwrap();
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
            self.fixture.list().into_iter().map(|group| (group.id, group)).collect();
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            self.groups.keys().collect::<Vec<_>>(),
            "the existing groups"
        );
        for (id, expected) in &self.groups {
            let group = &found[id];
            assert_eq!(group.occurrences, expected.occurrences, "{group:?}");
            assert_eq!(group.users, expected.users.len() as u64, "{group:?}");
            assert_eq!(group.status, expected.status, "{group:?}");
            assert_eq!(group.state.assignee, expected.assignee, "{group:?}");
            assert_eq!(self.fixture.stored_events(group), expected.occurrences, "{group:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn groups_match_the_model_after_any_history(steps in steps()) {
        let fixture = Fixture::new(ErrorSettings::default());
        let mut history = History { fixture, groups: BTreeMap::new(), clock_steps: 0 };
        for step in &steps {
            history.step(step);
            history.check();
        }
        history.fixture.crash();
        history.check();
        // No events of deleted groups are left.
        history.fixture.ledger.delete_events().unwrap();
        let all = EventListQuery { filter: super::book::error_events(all_time()), after: None, offset: 0, limit: 1 };
        let left = history.fixture.engine.list_events(&all).unwrap().total;
        let kept: u64 = history.groups.values().map(|group| group.occurrences).sum();
        prop_assert_eq!(left, kept);
    }
}
