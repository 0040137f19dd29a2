//! What is known in memory of all sessions: whose they are, and when they were used last.

use std::collections::BTreeMap;

use parking_lot::RwLock;
use telltale_engine::{Engine, TimestampMs, Versioned};

use super::model::Session;
use crate::areas::repositories::documents;
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::ids::{RepositoryId, SessionId};
use crate::areas::repositories::limits;

/// Bytes of memory of a session.
const SESSION_BYTES: u64 = 96;

/// All sessions.
#[derive(Debug, Default)]
pub(in crate::areas::repositories) struct Sessions(RwLock<BTreeMap<SessionId, Entry>>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    repository: RepositoryId,
    turns: u32,
    used_at: TimestampMs,
}

/// A session that is to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OldSession {
    pub(super) id: SessionId,
    pub(super) turns: u32,
}

impl Sessions {
    /// Reads what is stored. Blocks.
    pub(in crate::areas::repositories) fn open(engine: &Engine) -> Result<Self, RepositoryError> {
        let sessions = Self::default();
        documents::select(engine, |found: Versioned<Session>| {
            sessions.put(&found.value);
            None::<()>
        })?;
        Ok(sessions)
    }

    /// Shows a session as it is stored now.
    pub(super) fn put(&self, session: &Session) {
        let Session { repository, turns, used_at, .. } = *session;
        self.0.write().insert(session.id, Entry { repository, turns, used_at });
    }

    /// Removes a session.
    pub(super) fn remove(&self, id: SessionId) {
        self.0.write().remove(&id);
    }

    /// Returns a session that has to go so that there is room for a new one, and for another turn:
    /// the one that was not used for the longest time, apart from `kept`.
    pub(super) fn superfluous(&self, kept: SessionId) -> Option<OldSession> {
        let sessions = self.0.read();
        let turns: usize = sessions.values().map(|entry| entry.turns as usize).sum();
        let is_new = !sessions.contains_key(&kept);
        if sessions.len() + usize::from(is_new) <= limits::SESSIONS_MAX && turns < limits::TURNS_MAX
        {
            return None;
        }
        let others = sessions.iter().filter(|(id, _)| **id != kept);
        let (id, entry) = others.min_by_key(|(id, entry)| (entry.used_at, **id))?;
        Some(OldSession { id: *id, turns: entry.turns })
    }

    /// Returns the sessions that were last used before a time, or whose repositories are gone; a
    /// limited number.
    pub(super) fn unused(
        &self,
        before: TimestampMs,
        exists: impl Fn(RepositoryId) -> bool,
    ) -> Vec<OldSession> {
        let sessions = self.0.read();
        let is_unused = |entry: &Entry| entry.used_at < before || !exists(entry.repository);
        let unused = sessions.iter().filter(|(_, entry)| is_unused(entry));
        unused
            .take(limits::UNUSED_SESSIONS_AT_ONCE)
            .map(|(id, entry)| OldSession { id: *id, turns: entry.turns })
            .collect()
    }

    /// Returns the greatest number of an id.
    pub(in crate::areas::repositories) fn greatest_id(&self) -> u128 {
        self.0.read().last_key_value().map_or(0, |(id, _)| id.0)
    }

    /// Returns roughly how much memory this takes, in bytes.
    pub(in crate::areas::repositories) fn memory_bytes(&self) -> u64 {
        self.0.read().len() as u64 * SESSION_BYTES
    }
}
