//! The persistent records of the area. Integers are encoded by `postcard` (as varints), after a
//! version byte.
//!
//! ```text
//! table           key                                 value
//! errors_mark     empty                               through: varint, beyond: varints,
//!                                                     closed at: varint
//! errors_groups   id: u128 BE                         version 2: counts, strings and sender of a
//!                                                     group, as of the mark
//! errors_courses  id: u128 BE                         state that people gave a group, written
//!                                                     immediately
//! errors_users    id: u128 BE                         the set of its users, encoded by `Distinct`
//! errors_seen     generation: u32 BE, hash: u128 BE   no payload: an event id, as of the mark
//! errors_doomed   id: u128 BE                         no payload: its events are being deleted
//! ```
//!
//! A generation is a week, counted from the epoch. A corrupt record is reported and skipped; the
//! rest stays readable.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use telltale_engine::{
    Distinct, Engine, Error, EventId, KeyRange, RecordBatch, Result, Table, TimestampMs,
};

use super::ledger::{Group, LatestOccurrence, Mark, SeenKey};
use super::model::{GroupHash, GroupId, GroupState, GroupStatus, Level, Sender};
use crate::limits::ERROR_ID_DAYS;
use crate::platform::tables::RecordTable;

const MARK: Table = RecordTable::ErrorsMark.table();
const GROUPS: Table = RecordTable::ErrorGroups.table();
const GROUP_STATES: Table = RecordTable::ErrorGroupStates.table();
const USERS: Table = RecordTable::ErrorUsers.table();
const SEEN: Table = RecordTable::ErrorsSeen.table();
const DOOMED: Table = RecordTable::ErrorsDoomed.table();

/// The version of all records except groups.
const VERSION: u8 = 1;
/// The version in which groups are written: the sender is last, which version 1 does not have.
const GROUP_VERSION: u8 = 2;
/// Milliseconds of a generation of event ids.
const GENERATION_MS: i64 = ERROR_ID_DAYS * 24 * 60 * 60 * 1_000;

/// The records in one engine.
#[derive(Clone, Debug)]
pub(super) struct LedgerStore {
    engine: Engine,
}

/// Changes that are written atomically.
#[derive(Debug, Default)]
pub(super) struct LedgerChanges(pub(super) RecordBatch);

/// The ledger as stored.
#[derive(Debug, Default)]
pub(super) struct StoredLedger {
    /// `None` if it cannot be read.
    pub(super) mark: Option<Mark>,
    /// The event number taken at the last clean shutdown; 0 if the server has written since, or did
    /// not shut down cleanly.
    pub(super) closed_at: u64,
    pub(super) groups: Vec<(GroupId, Group)>,
    pub(super) group_states: Vec<(GroupId, GroupState)>,
    pub(super) doomed: Vec<GroupId>,
    /// A line for each record that cannot be read.
    pub(super) damaged: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct StoredMark {
    through: u64,
    beyond: Vec<u64>,
    closed_at: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredGroup {
    title: String,
    search_string: String,
    level: u8,
    first_seen: i64,
    last_seen: i64,
    occurrences: u64,
    users: u64,
    latest_time: i64,
    latest_event: u128,
    hashes: Vec<u128>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredGroupState {
    status: u8,
    changed_at_number: u64,
    resolved_at: Option<i64>,
    note: Option<String>,
    ignored_at: Option<i64>,
    ignored_until: Option<i64>,
    reason: Option<String>,
    regressed_at: Option<i64>,
    assignee: Option<String>,
    members: Vec<u128>,
}

impl LedgerStore {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Writes changes atomically and returns when they are durable.
    pub(super) fn write(&self, changes: LedgerChanges) -> Result<()> {
        self.engine.records().write(changes.0)
    }

    /// Reads everything except user sets and event ids.
    pub(super) fn read(&self) -> Result<StoredLedger> {
        let records = self.engine.records();
        let mut stored = StoredLedger::default();
        let mut damaged = Vec::new();
        match self.mark() {
            Ok(StoredMark { through, beyond, closed_at }) => {
                stored.mark = Some(Mark { through, beyond });
                stored.closed_at = closed_at;
            }
            Err(Error::Corrupt(reason)) => {
                damaged.push(format!("mark of the error ledger: {reason}"))
            }
            Err(error) => return Err(error),
        }
        let gap = records.read_all(GROUPS, |key, value| {
            match id_of(key).and_then(|id| Ok((id, decode_group(value)?))) {
                Ok(group) => stored.groups.push(group),
                Err(error) => damaged.push(format!("error group {key:02x?}: {error}")),
            }
        })?;
        damaged.extend(gap);
        let gap = records.read_all(GROUP_STATES, |key, value| {
            match id_of(key)
                .and_then(|id| Ok((id, decode::<StoredGroupState>(value)?.into_group_state()?)))
            {
                Ok(group_state) => stored.group_states.push(group_state),
                Err(error) => damaged.push(format!("state of error group {key:02x?}: {error}")),
            }
        })?;
        damaged.extend(gap);
        let gap = records.read_all(DOOMED, |key, _| match id_of(key) {
            Ok(id) => stored.doomed.push(id),
            Err(error) => damaged.push(format!("deletion of error group {key:02x?}: {error}")),
        })?;
        damaged.extend(gap);
        stored.damaged = damaged;
        Ok(stored)
    }

    /// Returns the stored mark, or one that counts nothing if none was written.
    fn mark(&self) -> Result<StoredMark> {
        match self.engine.records().get(MARK, &[])? {
            Some(bytes) => decode(&bytes),
            None => Ok(StoredMark::default()),
        }
    }

    /// Returns the user set of a group, or `None` if there is none.
    pub(super) fn users(&self, id: GroupId) -> Result<Option<Distinct>> {
        let Some(bytes) = self.engine.records().get(USERS, &key(id))? else { return Ok(None) };
        match bytes.split_first() {
            Some((&VERSION, set)) => Distinct::decode(set).map(Some),
            _ => Err(unreadable("a set of users")),
        }
    }

    /// Returns whether an event id is on disk.
    pub(super) fn has_seen(&self, seen: SeenKey, now: TimestampMs) -> Result<bool> {
        let now = generation(now);
        // After a crash, trusted time may lag behind: an id may belong to the following week.
        let generations = [now, now.saturating_sub(1), now.saturating_add(1)];
        let keys = generations.map(|generation| seen_key(generation, seen));
        for found in self.engine.records().get_many(SEEN, &keys) {
            if found?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl LedgerChanges {
    /// Returns whether there are no changes.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn put_mark(&mut self, mark: &Mark, closed_at: u64) {
        let mark = StoredMark { through: mark.through, beyond: mark.beyond.clone(), closed_at };
        self.0.put(MARK, &[], encode(&mark));
    }

    pub(super) fn put_group(&mut self, id: GroupId, group: &Group) {
        self.0.put(GROUPS, &key(id), encode_group(group));
    }

    pub(super) fn put_group_state(&mut self, id: GroupId, group_state: &GroupState) {
        self.0.put(GROUP_STATES, &key(id), encode(&StoredGroupState::from(group_state)));
    }

    pub(super) fn put_users(&mut self, id: GroupId, users: &Distinct) {
        let mut bytes = vec![VERSION];
        bytes.extend(users.encode());
        self.0.put(USERS, &key(id), bytes);
    }

    pub(super) fn put_seen(&mut self, seen: SeenKey, now: TimestampMs) {
        self.0.put(SEEN, &seen_key(generation(now), seen), vec![VERSION]);
    }

    /// Deletes the event ids of generations before the previous one.
    pub(super) fn delete_old_seen(&mut self, now: TimestampMs) {
        let oldest = generation(now).saturating_sub(1);
        self.0.delete_range(SEEN, &KeyRange::between(&[], &oldest.to_be_bytes()));
    }

    /// Deletes all records of a group except its events.
    pub(super) fn delete_group(&mut self, id: GroupId) {
        for table in [GROUPS, GROUP_STATES, USERS] {
            self.0.delete(table, &key(id));
        }
    }

    pub(super) fn put_doomed(&mut self, id: GroupId) {
        self.0.put(DOOMED, &key(id), vec![VERSION]);
    }

    pub(super) fn delete_doomed(&mut self, id: GroupId) {
        self.0.delete(DOOMED, &key(id));
    }
}

fn key(id: GroupId) -> [u8; 16] {
    id.0.to_be_bytes()
}

fn id_of(key: &[u8]) -> Result<GroupId> {
    let bytes = <[u8; 16]>::try_from(key).map_err(|_| unreadable("a key"))?;
    Ok(GroupId(u128::from_be_bytes(bytes)))
}

/// Returns the generation of a time; before 1970 it is the first one.
fn generation(now: TimestampMs) -> u32 {
    u32::try_from(now.0.div_euclid(GENERATION_MS)).unwrap_or(0)
}

fn seen_key(generation: u32, seen: SeenKey) -> [u8; 20] {
    let mut key = [0; 20];
    let (first, rest) = key.split_at_mut(4);
    first.copy_from_slice(&generation.to_be_bytes());
    rest.copy_from_slice(&seen.0.to_be_bytes());
    key
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    encode_as(VERSION, value)
}

fn encode_group(group: &Group) -> Vec<u8> {
    encode_as(GROUP_VERSION, &(StoredGroup::from(group), group.sender.0))
}

fn decode_group(bytes: &[u8]) -> Result<Group> {
    let corrupt = |error: postcard::Error| Error::Corrupt(error.to_string());
    let (stored, sender) = match bytes.split_first() {
        Some((&VERSION, payload)) => (postcard::from_bytes(payload).map_err(corrupt)?, 0),
        Some((&GROUP_VERSION, payload)) => postcard::from_bytes(payload).map_err(corrupt)?,
        _ => return Err(unreadable("a record of another version")),
    };
    let stored: StoredGroup = stored;
    Ok(Group { sender: Sender(sender), ..stored.into_group()? })
}

fn encode_as<T: Serialize>(version: u8, value: &T) -> Vec<u8> {
    match postcard::to_extend(value, vec![version]) {
        Ok(bytes) => bytes,
        Err(error) => unreachable!("plain data always encodes into a growing buffer: {error}"),
    }
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let Some((&VERSION, payload)) = bytes.split_first() else {
        return Err(unreadable("a record of another version"));
    };
    postcard::from_bytes(payload).map_err(|error| Error::Corrupt(error.to_string()))
}

fn unreadable(what: &str) -> Error {
    Error::Corrupt(format!("{what} cannot be read"))
}

impl From<&Group> for StoredGroup {
    fn from(group: &Group) -> Self {
        Self {
            title: group.title.to_string(),
            search_string: group.search_string.to_string(),
            level: group.level as u8,
            first_seen: group.first_seen.0,
            last_seen: group.last_seen.0,
            occurrences: group.occurrences,
            users: group.users,
            latest_time: group.latest.time.0,
            latest_event: group.latest.event.0,
            hashes: group.hashes.iter().map(|hash| hash.0).collect(),
        }
    }
}

impl StoredGroup {
    fn into_group(self) -> Result<Group> {
        let level = Level::ALL.get(usize::from(self.level)).copied();
        Ok(Group {
            title: self.title.into(),
            search_string: self.search_string.into(),
            level: level.ok_or_else(|| unreadable("a level"))?,
            first_seen: TimestampMs(self.first_seen),
            last_seen: TimestampMs(self.last_seen),
            occurrences: self.occurrences,
            users: self.users,
            latest: LatestOccurrence {
                time: TimestampMs(self.latest_time),
                event: EventId(self.latest_event),
            },
            hashes: self.hashes.into_iter().map(GroupHash).collect::<SmallVec<_>>(),
            sender: Sender::UNKNOWN,
            state: None,
        })
    }
}

impl From<&GroupState> for StoredGroupState {
    fn from(group_state: &GroupState) -> Self {
        let ms = |time: Option<TimestampMs>| time.map(|time| time.0);
        Self {
            status: group_state.stored_status as u8,
            changed_at_number: group_state.changed_at_number,
            resolved_at: ms(group_state.resolved_at),
            note: group_state.note.clone(),
            ignored_at: ms(group_state.ignored_at),
            ignored_until: ms(group_state.ignored_until),
            reason: group_state.reason.clone(),
            regressed_at: ms(group_state.regressed_at),
            assignee: group_state.assignee.clone(),
            members: group_state.members.iter().map(|id| id.0).collect(),
        }
    }
}

impl StoredGroupState {
    fn into_group_state(self) -> Result<GroupState> {
        let status = GroupStatus::ALL.get(usize::from(self.status)).copied();
        let time = |ms: Option<i64>| ms.map(TimestampMs);
        Ok(GroupState {
            stored_status: status.ok_or_else(|| unreadable("a state"))?,
            changed_at_number: self.changed_at_number,
            resolved_at: time(self.resolved_at),
            note: self.note,
            ignored_at: time(self.ignored_at),
            ignored_until: time(self.ignored_until),
            reason: self.reason,
            regressed_at: time(self.regressed_at),
            assignee: self.assignee,
            members: self.members.into_iter().map(GroupId).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::Options;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn an_event_id_is_found_one_week_before_and_after_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { cache_bytes: 8 << 20, ..Options::default() };
        let store = LedgerStore::new(Engine::open(dir.path(), options).unwrap());
        let start = 3_000 * GENERATION_MS;
        let mut changes = LedgerChanges::default();
        changes.put_seen(SeenKey(7), TimestampMs(start));
        store.write(changes).unwrap();
        for (now, is_known) in [
            (start - 1, true),
            (start, true),
            (start + 2 * GENERATION_MS - 1, true),
            (start + 2 * GENERATION_MS, false),
        ] {
            assert_eq!(store.has_seen(SeenKey(7), TimestampMs(now)).unwrap(), is_known, "{now}");
        }
    }

    #[test]
    fn records_have_a_fixed_encoding() {
        let mark = StoredMark { through: 300, beyond: vec![302], closed_at: 5 };
        assert_eq!(hex(&encode(&mark)), "01ac0201ae0205");
        let group_state = GroupState {
            stored_status: GroupStatus::Resolved,
            changed_at_number: 7,
            resolved_at: Some(TimestampMs(5)),
            note: Some("ok".into()),
            members: vec![GroupId(1)],
            ..GroupState::default()
        };
        let bytes = encode(&StoredGroupState::from(&group_state));
        assert_eq!(hex(&bytes), "010107010a01026f6b00000000000101");
        assert_eq!(
            decode::<StoredGroupState>(&bytes).unwrap().into_group_state().unwrap(),
            group_state
        );
        let group = StoredGroup {
            title: "T".into(),
            search_string: "t".into(),
            level: 1,
            first_seen: 1,
            last_seen: 2,
            occurrences: 3,
            users: 4,
            latest_time: 2,
            latest_event: 6,
            hashes: vec![9],
        };
        let bytes = encode(&group);
        assert_eq!(hex(&bytes), "010154017401020403040406 0109".replace(' ', ""));
        let read = decode_group(&bytes).unwrap();
        assert_eq!(read.sender, Sender::UNKNOWN, "version 1 does not record the sender");
        let sent = Group { sender: Sender(300), ..read };
        let bytes = encode_group(&sent);
        assert_eq!(hex(&bytes), "020154017401020403040406 0109 ac02".replace(' ', ""));
        assert_eq!(decode_group(&bytes).unwrap(), sent);
        assert!(decode_group(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode_group(&[]).is_err());
        assert!(hex(&seen_key(1, SeenKey(2))).starts_with("0000000100"));
    }
}
