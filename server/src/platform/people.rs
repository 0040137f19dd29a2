//! The people that a server knows, over all areas: each area adds those that its things name.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

/// People, by the string that names them: mostly email addresses.
#[derive(Debug, Default)]
pub struct People(BTreeMap<String, Person>);

/// What a server knows about a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// The number of valid keys.
    pub keys: usize,
    /// When a key was last used.
    pub last_seen: Option<TimestampMs>,
    /// Whether the person is a member of an on-call schedule.
    pub is_on_call_member: bool,
    /// Whether errors are assigned to the person.
    pub is_assignee: bool,
}

impl People {
    /// Returns the entry of a person, to be changed.
    pub fn entry(&mut self, name: &str) -> &mut Person {
        self.0.entry(name.to_owned()).or_default()
    }

    /// Returns all people, by name.
    pub fn into_all(self) -> impl Iterator<Item = (String, Person)> {
        self.0.into_iter()
    }
}
