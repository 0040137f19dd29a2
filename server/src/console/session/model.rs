//! A session, what opens it, and the browser that opened it.

use std::net::IpAddr;

use telltale_engine::TimestampMs;

use crate::console::limits::SESSION_AGENT_CHARS_MAX;
use crate::platform::keys::Scopes;

/// What somebody shows to open a session.
#[derive(Debug)]
pub(super) enum Credential {
    /// A key, `tt_<id>_<secret>`.
    Key(String),
    /// A code that was made for a key.
    Code(String),
}

/// The browser that opened a session, as its user will recognise it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Browser {
    /// The address; empty on the control socket.
    pub(super) address: String,
    /// Its `User-Agent`, shortened.
    pub(super) agent: String,
}

impl Browser {
    pub(super) fn new(address: Option<IpAddr>, agent: Option<&str>) -> Self {
        let address = address.map(|address| address.to_canonical().to_string());
        let visible = agent.unwrap_or_default().chars().filter(|c| !c.is_control());
        Self {
            address: address.unwrap_or_default(),
            agent: visible.take(SESSION_AGENT_CHARS_MAX).collect(),
        }
    }
}

/// A session as it is shown.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) key_id: String,
    pub(super) key_name: String,
    pub(super) user: String,
    pub(super) scopes: Scopes,
    pub(super) created_at: TimestampMs,
    pub(super) last_seen_at: TimestampMs,
    /// When it ends if no request follows.
    pub(super) expires_at: TimestampMs,
    pub(super) browser: Browser,
}
