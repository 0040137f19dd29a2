//! A session of the console: a caller who signed in with a key, and whose browser sends a cookie.
//!
//! Part of keys because a session is an identity with the permissions of its key. Tokens, documents
//! and expiry belong to the console.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use telltale_engine::TimestampMs;
use tokio::sync::Notify;

use super::service::LiveKey;
use super::shared_time::SharedTime;

/// A session in memory.
#[derive(Debug)]
pub struct LiveSession {
    /// Identifies the session in lists; not a secret.
    id: String,
    key: Arc<LiveKey>,
    last_seen: SharedTime,
    has_ended: AtomicBool,
    end: Notify,
}

impl LiveSession {
    /// Returns a session of a key that was last seen at `seen_at`.
    pub(crate) fn new(id: String, key: Arc<LiveKey>, seen_at: TimestampMs) -> Self {
        let (last_seen, has_ended) = (SharedTime::new(Some(seen_at)), AtomicBool::new(false));
        Self { id, key, last_seen, has_ended, end: Notify::new() }
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the key that the session was opened with.
    pub fn key(&self) -> &Arc<LiveKey> {
        &self.key
    }

    /// Returns when the last request of the session arrived.
    pub(crate) fn last_seen(&self) -> TimestampMs {
        self.last_seen.get().unwrap_or(TimestampMs(0))
    }

    /// Records a request of the session, which is also a use of its key.
    pub(crate) fn mark_seen(&self, now: TimestampMs) {
        self.last_seen.set(Some(now));
        self.key.mark_used(now);
    }

    /// Ends the session for requests in progress.
    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
        self.end.notify_waiters();
    }

    /// Waits until the session ends or its key is revoked, possibly forever.
    pub(super) async fn wait_ended(&self) {
        let end = self.end.notified();
        tokio::pin!(end);
        // Registered before the check, so that no end in between is missed.
        end.as_mut().enable();
        if !self.has_ended() {
            tokio::select! {
                () = end => {}
                () = self.key.wait_revoked() => {}
            }
        }
    }

    /// Returns whether the session was ended or its key was revoked.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed) || self.key.is_revoked()
    }
}
