//! Tests of loading the ledger from damaged records and events.

use telltale_engine::{NewEvent, Properties, Table};

use super::super::model::{GroupHash, GroupId, StateChange};
use super::book::{EVENT_NAME, GROUP_TAG, HASH_TAG};
use super::load::Recount;
use super::numbers::Mark;
use super::tests::{Fixture, write};
use crate::areas::errors::ErrorSettings;

const GROUPS: Table = Table::new(33, "errors_groups");
const DOOMED: Table = Table::new(37, "errors_doomed");

impl Fixture {
    /// Stores an event of an error, bypassing the ledger.
    fn write_event(&self, tags: &[(&str, &str)], properties: &str) {
        let mut batch = self.ledger.engine.event_batch();
        let properties = Properties::parse(properties).unwrap();
        let event = NewEvent {
            name: EVENT_NAME,
            time: self.clock.now(),
            user: None,
            value: None,
            tags,
            properties: Some(&properties),
        };
        batch.push(&event).unwrap();
        write(&self.ledger.engine, batch);
    }
}

#[test]
fn events_that_cannot_be_read_are_counted_if_their_group_is_known_and_reported() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let [group, hash] = [GroupId(7).format(), GroupHash(8).format()];
    let tags = [(GROUP_TAG, group.as_str()), (HASH_TAG, hash.as_str()), ("level", "fatal")];
    let readable =
        r#"{"project": 1, "event_id": "00000000000000000000000000000009", "title": "T"}"#;
    fixture.write_event(&tags, readable);
    for (tags, properties) in [
        (&tags[..], r#"{"project": 1, "event_id": "9"}"#),
        (&tags[..], r#"{"project": 1, "event_id": "short", "title": "T"}"#),
        (&tags[..2], readable),
        (&tags[1..], readable),
    ] {
        fixture.write_event(tags, properties);
    }
    let Recount { counted, unreadable, ungrouped, corrupt_blocks, example } =
        fixture.ledger.count_missing(&Mark::default()).unwrap();
    assert_eq!((counted, unreadable, ungrouped, corrupt_blocks), (4, 3, 1, 0));
    assert!(example.is_some());
    fixture.crash();
    let counted = fixture.only();
    assert_eq!((counted.occurrences, counted.title.as_str()), (4, "(unreadable)"));
}

#[test]
fn the_state_of_a_group_that_no_longer_exists_is_not_kept_in_memory() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let id = fixture.report("E", None);
    fixture.ledger.store().unwrap();
    fixture.ledger.apply_change(&[id], &StateChange::Resolve { note: None }, "a@b").unwrap();
    fixture.set_record(GROUPS, &id.0.to_be_bytes(), vec![9]);
    fixture.crash();
    assert_eq!(fixture.list(), []);
    assert_eq!(fixture.ledger.state.write().groups.drop_pending_states(), 0);
}

#[test]
fn an_unreadable_key_of_a_group_being_deleted_is_reported() {
    let fixture = Fixture::new(ErrorSettings::default());
    fixture.set_record(DOOMED, &[1, 2], vec![1]);
    let stored = fixture.ledger.store.read().unwrap();
    let expected = "deletion of error group [01, 02]: ";
    let [line] = stored.damaged.as_slice() else { panic!("{:?}", stored.damaged) };
    assert!(line.starts_with(expected), "{line}");
    assert_eq!(stored.doomed, []);
}
