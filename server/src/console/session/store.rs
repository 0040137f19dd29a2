//! The documents of sessions and codes.
//!
//! ```text
//! collection console_sessions   id: signin_<ULID>       a session, last seen at, to the minute
//! collection console_codes      id: SHA-256 of a code   a code that nobody has used yet
//! ```

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, Engine, Expect, TimestampMs, Transaction};

use super::model::Browser;
use super::token::TokenHash;
use crate::console::limits;

const SESSIONS: Collection = Collection("console_sessions");
const CODES: Collection = Collection("console_codes");

/// A stored session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredSession {
    pub(super) key_id: String,
    pub(super) token_sha256: TokenHash,
    pub(super) created_at_ms: i64,
    pub(super) last_seen_at_ms: i64,
    pub(super) address: String,
    pub(super) agent: String,
}

/// A stored code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredCode {
    pub(super) key_id: String,
    pub(super) expires_at_ms: i64,
}

impl StoredCode {
    /// Returns whether the code opens a session. One that lasts longer than any was made while the
    /// clock was ahead.
    pub(super) fn is_valid(&self, now: TimestampMs) -> bool {
        let latest = now.0.saturating_add(limits::SIGN_IN_CODE_MS);
        now.0 < self.expires_at_ms && self.expires_at_ms <= latest
    }
}

impl StoredSession {
    pub(super) fn browser(&self) -> Browser {
        Browser { address: self.address.clone(), agent: self.agent.clone() }
    }

    pub(super) fn created_at(&self) -> TimestampMs {
        TimestampMs(self.created_at_ms)
    }
}

/// Returns all sessions with their ids.
pub(super) fn sessions(engine: &Engine) -> telltale_engine::Result<Vec<(String, StoredSession)>> {
    let found = engine.documents().list(SESSIONS, "")?;
    Ok(found.into_iter().map(|(id, document)| (id, document.value)).collect())
}

pub(super) fn put_session(
    transaction: &mut Transaction<'_>,
    id: &str,
    session: &StoredSession,
) -> telltale_engine::Result<()> {
    transaction.put(SESSIONS, id, session, Expect::Any)
}

pub(super) fn delete_session(transaction: &mut Transaction<'_>, id: &str) {
    transaction.delete(SESSIONS, id, Expect::Any);
}

/// Returns all codes with the ids of their documents.
pub(super) fn codes(engine: &Engine) -> telltale_engine::Result<Vec<(String, StoredCode)>> {
    let found = engine.documents().list(CODES, "")?;
    Ok(found.into_iter().map(|(id, document)| (id, document.value)).collect())
}

/// Returns the code with this hash.
pub(super) fn code(
    engine: &Engine,
    hash: &TokenHash,
) -> telltale_engine::Result<Option<StoredCode>> {
    Ok(engine.documents().get(CODES, &code_id(hash))?.map(|document| document.value))
}

pub(super) fn put_code(
    transaction: &mut Transaction<'_>,
    hash: &TokenHash,
    code: &StoredCode,
) -> telltale_engine::Result<()> {
    transaction.put(CODES, &code_id(hash), code, Expect::Absent)
}

pub(super) fn delete_code(transaction: &mut Transaction<'_>, id: &str) {
    transaction.delete(CODES, id, Expect::Any);
}

/// Returns the id of the document of a code.
pub(super) fn code_id(hash: &TokenHash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
