//! The stored activity of groups.
//!
//! ```text
//! table            key                                      value
//! errors_activity  group: u128 BE, entry: u128 BE (ULID)    version 1, then fields in postcard
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use telltale_engine::{
    Direction, Engine, Error, KeyRange, RecordBatch, Result, Table, TimestampMs,
};

use super::model::{Action, Activity, ActivityId};
use crate::areas::errors::limits as own_limits;
use crate::areas::errors::model::GroupId;
use crate::platform::tables::RecordTable;

const ACTIVITY: Table = RecordTable::ErrorActivity.table();

/// The version of the values.
const VERSION: u8 = 1;

/// The activity of all groups.
#[derive(Clone, Debug)]
pub(in crate::areas::errors) struct ActivityStore {
    engine: Engine,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredActivity {
    at: i64,
    by: String,
    action: StoredAction,
}

/// Persisted: the variants are numbered in this order.
#[derive(Debug, Serialize, Deserialize)]
enum StoredAction {
    Resolve { note: Option<String> },
    Ignore { until: Option<i64>, reason: Option<String> },
    Unresolve,
    Assign { user: Option<String> },
    Merge { groups: Vec<u128> },
    Comment { text: String },
}

impl ActivityStore {
    pub(in crate::areas::errors) fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Adds an entry to a batch.
    pub(in crate::areas::errors) fn put(
        batch: &mut RecordBatch,
        group: GroupId,
        id: ActivityId,
        activity: &Activity,
    ) {
        let value = match postcard::to_extend(&StoredActivity::from(activity), vec![VERSION]) {
            Ok(bytes) => bytes,
            Err(error) => unreachable!("plain data always encodes into a growing buffer: {error}"),
        };
        batch.put(ACTIVITY, &key(group, id), value);
    }

    /// Adds the deletion of all entries of a group to a batch.
    pub(in crate::areas::errors) fn delete(batch: &mut RecordBatch, group: GroupId) {
        batch.delete_range(ACTIVITY, &KeyRange::prefix(&group.0.to_be_bytes()));
    }

    /// Returns the newest entries of all of these groups, the newest first. One that cannot be read
    /// is logged and left out.
    pub(in crate::areas::errors) fn newest(
        &self,
        groups: &[GroupId],
        max: usize,
    ) -> Result<Vec<(ActivityId, Activity)>> {
        let mut newest: BTreeMap<ActivityId, Activity> = BTreeMap::new();
        for group in groups {
            let range = KeyRange::prefix(&group.0.to_be_bytes());
            for entry in self.engine.records().scan(ACTIVITY, &range, Direction::Backward) {
                let (key, value) = entry?;
                let Some((_, id)) = parts(&key) else { continue };
                let is_full = newest.len() >= max;
                if is_full && newest.first_key_value().is_none_or(|(oldest, _)| id < *oldest) {
                    break;
                }
                match decode(&value) {
                    Ok(activity) => drop(newest.insert(id, activity)),
                    Err(error) => {
                        let group = group.format();
                        tracing::error!(group, %error, "an entry of the activity of an error cannot be read");
                    }
                }
                if newest.len() > max {
                    newest.pop_first();
                }
            }
        }
        Ok(newest.into_iter().rev().collect())
    }

    /// Deletes the oldest entries of a group, as soon as there is a surplus of them beyond those
    /// that are kept. Needs no lock: only entries older than those found are deleted.
    pub(in crate::areas::errors) fn trim_group(&self, group: GroupId) -> Result<()> {
        let records = self.engine.records();
        let most = own_limits::ERROR_ACTIVITY_KEPT + own_limits::ERROR_ACTIVITY_SURPLUS;
        let range = KeyRange::prefix(&group.0.to_be_bytes());
        let mut count = GroupEntries::default();
        for entry in records.scan(ACTIVITY, &range, Direction::Backward) {
            let (key, _) = entry?;
            let Some((group, id)) = parts(&key) else { continue };
            if let Some(surplus) = count.add(group, id, most) {
                let mut batch = RecordBatch::new();
                batch.delete_range(ACTIVITY, &surplus);
                return records.write(batch);
            }
        }
        Ok(())
    }

    /// Deletes the entries of each group beyond those that are kept, `step` inspected entries at a
    /// time. Needs no lock.
    pub(in crate::areas::errors) fn trim(&self, step: usize) -> Result<()> {
        let records = self.engine.records();
        let mut count = GroupEntries::default();
        let mut range = KeyRange::all();
        loop {
            let mut batch = RecordBatch::new();
            let mut last = None;
            for entry in records.scan(ACTIVITY, &range, Direction::Backward).take(step) {
                let (key, _) = entry?;
                if let Some((group, id)) = parts(&key)
                    && let Some(surplus) = count.add(group, id, own_limits::ERROR_ACTIVITY_KEPT + 1)
                {
                    batch.delete_range(ACTIVITY, &surplus);
                }
                last = Some(key);
            }
            if !batch.is_empty() {
                records.write(batch)?;
            }
            match last {
                Some(last) => range = KeyRange::between(&[], &last),
                None => return Ok(()),
            }
        }
    }
}

/// Counts the entries of one group after the other, the newest first.
#[derive(Debug, Default)]
struct GroupEntries {
    group: Option<GroupId>,
    entries: usize,
    /// The oldest entry that is kept.
    oldest: Option<ActivityId>,
}

impl GroupEntries {
    /// Counts an entry. When it is entry number `most`, returns the range of those beyond the ones
    /// that are kept.
    fn add(&mut self, group: GroupId, id: ActivityId, most: usize) -> Option<KeyRange> {
        if self.group != Some(group) {
            *self = Self { group: Some(group), ..Self::default() };
        }
        self.entries += 1;
        if self.entries == own_limits::ERROR_ACTIVITY_KEPT {
            self.oldest = Some(id);
        }
        let oldest = self.oldest.filter(|_| self.entries == most)?;
        Some(KeyRange::between(&group.0.to_be_bytes(), &key(group, oldest)))
    }
}

fn key(group: GroupId, id: ActivityId) -> [u8; 32] {
    let mut key = [0; 32];
    let (first, second) = key.split_at_mut(16);
    first.copy_from_slice(&group.0.to_be_bytes());
    second.copy_from_slice(&id.0.to_be_bytes());
    key
}

fn parts(key: &[u8]) -> Option<(GroupId, ActivityId)> {
    let (group, id) = key.split_at_checked(16)?;
    let number = |bytes: &[u8]| bytes.try_into().ok().map(u128::from_be_bytes);
    Some((GroupId(number(group)?), ActivityId(number(id)?)))
}

fn decode(value: &[u8]) -> Result<Activity> {
    let Some((&VERSION, payload)) = value.split_first() else {
        return Err(Error::Corrupt("a record of another version".to_owned()));
    };
    let stored: StoredActivity =
        postcard::from_bytes(payload).map_err(|error| Error::Corrupt(error.to_string()))?;
    Ok(stored.into_activity())
}

impl From<&Activity> for StoredActivity {
    fn from(activity: &Activity) -> Self {
        let action = match activity.action.clone() {
            Action::Resolve { note } => StoredAction::Resolve { note },
            Action::Ignore { until, reason } => {
                StoredAction::Ignore { until: until.map(|until| until.0), reason }
            }
            Action::Unresolve => StoredAction::Unresolve,
            Action::Assign { user } => StoredAction::Assign { user },
            Action::Merge { groups } => {
                StoredAction::Merge { groups: groups.into_iter().map(|id| id.0).collect() }
            }
            Action::Comment { text } => StoredAction::Comment { text },
        };
        Self { at: activity.at.0, by: activity.by.clone(), action }
    }
}

impl StoredActivity {
    fn into_activity(self) -> Activity {
        let action = match self.action {
            StoredAction::Resolve { note } => Action::Resolve { note },
            StoredAction::Ignore { until, reason } => {
                Action::Ignore { until: until.map(TimestampMs), reason }
            }
            StoredAction::Unresolve => Action::Unresolve,
            StoredAction::Assign { user } => Action::Assign { user },
            StoredAction::Merge { groups } => {
                Action::Merge { groups: groups.into_iter().map(GroupId).collect() }
            }
            StoredAction::Comment { text } => Action::Comment { text },
        };
        Activity { at: TimestampMs(self.at), by: self.by, action }
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::Options;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn activity(action: Action) -> Activity {
        Activity { at: TimestampMs(300), by: "a@b".to_owned(), action }
    }

    fn comment(text: &str) -> Activity {
        activity(Action::Comment { text: text.to_owned() })
    }

    fn open(dir: &tempfile::TempDir) -> Engine {
        let options = Options { cache_bytes: 8 << 20, ..Options::default() };
        Engine::open(dir.path(), options).unwrap()
    }

    #[test]
    fn entries_have_a_fixed_encoding() {
        let until = Some(TimestampMs(5));
        for (action, expected) in [
            (Action::Resolve { note: None }, "01d8040361406200".to_owned() + "00"),
            (
                Action::Ignore { until, reason: Some("x".into()) },
                "01d8040361406201".to_owned() + "010a010178",
            ),
            (Action::Unresolve, "01d8040361406202".to_owned()),
            (Action::Assign { user: None }, "01d8040361406203".to_owned() + "00"),
            (Action::Merge { groups: vec![GroupId(7)] }, "01d8040361406204".to_owned() + "0107"),
            (Action::Comment { text: "hi".into() }, "01d8040361406205".to_owned() + "026869"),
        ] {
            let activity = activity(action);
            let mut bytes = vec![VERSION];
            bytes = postcard::to_extend(&StoredActivity::from(&activity), bytes).unwrap();
            assert_eq!(hex(&bytes), expected);
            assert_eq!(decode(&bytes).unwrap(), activity);
        }
        decode(&[2, 0]).unwrap_err();
        decode(&[]).unwrap_err();
    }

    #[test]
    fn the_newest_entries_of_several_groups_are_listed_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = ActivityStore::new(open(&dir));
        let (a, b, c) = (GroupId(1), GroupId(2), GroupId(u128::MAX));
        let max = own_limits::ERROR_ACTIVITY_KEPT as u128;
        let mut batch = RecordBatch::new();
        for n in 0..max + 3 {
            ActivityStore::put(&mut batch, a, ActivityId(2 * n), &comment(&n.to_string()));
        }
        for (group, n) in [(b, 1), (b, 2 * max + 1), (c, 4)] {
            ActivityStore::put(&mut batch, group, ActivityId(n), &comment("other"));
        }
        store.engine.records().write(batch).unwrap();
        let ids = |groups: &[GroupId], max| -> Vec<u128> {
            store.newest(groups, max).unwrap().into_iter().map(|(id, _)| id.0).collect()
        };
        assert_eq!(ids(&[a, b], 4), [2 * max + 4, 2 * max + 2, 2 * max + 1, 2 * max]);
        assert_eq!(ids(&[b, a], 4), ids(&[a, b], 4));
        assert_eq!(ids(&[c], 10), [4]);
        store.trim_group(a).unwrap();
        assert_eq!(ids(&[a], usize::MAX).len(), own_limits::ERROR_ACTIVITY_KEPT + 3);
        // In pieces that end anywhere.
        store.trim(7).unwrap();
        assert_eq!(ids(&[a], usize::MAX).len(), own_limits::ERROR_ACTIVITY_KEPT);
        assert_eq!(ids(&[b], 10), [2 * max + 1, 1]);
        assert_eq!(ids(&[c], 10), [4]);
        store.trim(7).unwrap();
        assert_eq!(ids(&[a], usize::MAX).len(), own_limits::ERROR_ACTIVITY_KEPT);

        let mut batch = RecordBatch::new();
        ActivityStore::delete(&mut batch, c);
        ActivityStore::delete(&mut batch, a);
        store.engine.records().write(batch).unwrap();
        assert_eq!(ids(&[a, c, b], 10), [2 * max + 1, 1]);
    }
}
