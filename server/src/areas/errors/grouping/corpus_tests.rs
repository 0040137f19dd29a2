//! Tests of traces of real programs in eight languages, with the expected groups:
//! `corpus/<language>.json` is a list of events, each with the name of its group.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::super::sentry::with_event;
use super::hashes_of;

const FILES: [&str; 8] = [
    include_str!("corpus/csharp.json"),
    include_str!("corpus/go.json"),
    include_str!("corpus/java.json"),
    include_str!("corpus/javascript.json"),
    include_str!("corpus/php.json"),
    include_str!("corpus/python.json"),
    include_str!("corpus/ruby.json"),
    include_str!("corpus/rust.json"),
];

/// Minimum numbers of events and groups, to notice a file that is read as empty.
const EVENTS_MIN: usize = 100;
const GROUPS_MIN: usize = 60;

#[derive(Debug, Deserialize)]
struct Expected {
    group: String,
    event: Value,
}

#[test]
fn traces_of_real_programs_are_grouped_as_expected() {
    let corpus: Vec<Expected> = FILES
        .iter()
        .flat_map(|file| serde_json::from_str::<Vec<Expected>>(file).unwrap())
        .collect();
    let (mut hashes_of_group, mut groups_of_hash) = (BTreeMap::new(), BTreeMap::new());
    for Expected { group, event } in &corpus {
        let bytes = event.to_string();
        let hash = with_event(bytes.as_bytes(), |occurrence| hashes_of(&occurrence).current);
        let hash = hash.unwrap();
        hashes_of_group.entry(group).or_insert_with(BTreeSet::new).insert(hash);
        groups_of_hash.entry(hash).or_insert_with(BTreeSet::new).insert(group);
    }
    let split: Vec<_> = hashes_of_group.iter().filter(|(_, hashes)| hashes.len() > 1).collect();
    let joined: Vec<_> = groups_of_hash.values().filter(|groups| groups.len() > 1).collect();
    assert!(split.is_empty() && joined.is_empty(), "split: {split:#?}\njoined: {joined:#?}");
    assert!(corpus.len() >= EVENTS_MIN && hashes_of_group.len() >= GROUPS_MIN);
}
