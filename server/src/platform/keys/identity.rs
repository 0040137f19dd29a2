//! The identity of a caller.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::key::{ApiKey, Scope};
use super::live_session::LiveSession;
use super::service::LiveKey;
use crate::platform::quota::LimitClass;
use crate::platform::throttle::{Usage, Verdict};

/// The identity of a caller.
#[derive(Clone, Debug)]
pub enum Identity {
    /// A client without a key, on a public route.
    Anonymous,
    /// The operator of the machine, through the control socket: unrestricted.
    Local,
    /// A client with a key.
    Key(Arc<LiveKey>),
    /// A browser with the cookie of a session: the permissions and the user of the session's key.
    Session(Arc<LiveSession>),
}

impl Identity {
    /// Returns whether the caller has `scope`.
    pub fn may(&self, scope: Scope) -> bool {
        match self {
            Self::Local => true,
            other => other.key().is_some_and(|key| key.scopes.allow(scope)),
        }
    }

    /// Returns the id of the key; `local` or `-` without a key.
    pub fn key_id(&self) -> &str {
        match self {
            Self::Local => "local",
            other => other.key().map_or("-", |key| &key.id),
        }
    }

    /// Returns the email address for `created_by`, `approved_by` and the like.
    pub fn user(&self) -> &str {
        match self {
            Self::Local => "local",
            other => other.key().map_or("anonymous", |key| &key.user),
        }
    }

    /// Returns the key, if there is one.
    pub fn key(&self) -> Option<&ApiKey> {
        self.live_key().map(LiveKey::key)
    }

    /// Returns the session, if the caller has one.
    pub fn session(&self) -> Option<&Arc<LiveSession>> {
        match self {
            Self::Session(session) => Some(session),
            Self::Anonymous | Self::Local | Self::Key(_) => None,
        }
    }

    fn live_key(&self) -> Option<&LiveKey> {
        match self {
            Self::Anonymous | Self::Local => None,
            Self::Key(live) => Some(live),
            Self::Session(session) => Some(session.key()),
        }
    }

    /// Returns whether the caller is authenticated: a public key, which is not secret, does not
    /// suffice.
    pub fn is_known(&self) -> bool {
        match self {
            Self::Local => true,
            other => other.key().is_some_and(|key| !key.public_ingest),
        }
    }

    /// Returns whether the caller's key has been revoked, or the session has ended.
    pub(crate) fn is_revoked(&self) -> bool {
        match self {
            Self::Anonymous | Self::Local => false,
            Self::Key(live) => live.is_revoked(),
            Self::Session(session) => session.has_ended(),
        }
    }

    /// Waits until the caller's key is revoked or the session ends, possibly forever.
    pub(crate) async fn revoked(&self) {
        match self {
            Self::Anonymous | Self::Local => std::future::pending().await,
            Self::Key(live) => live.wait_revoked().await,
            Self::Session(session) => session.wait_ended().await,
        }
    }

    /// Returns the quota that a call of this class counts against. Queries and the like of sessions
    /// have one of their own, because people open several tabs, each of which sends many queries;
    /// unless their key has a quota of its own for the class.
    pub(crate) fn quota_class(&self, class: LimitClass) -> LimitClass {
        let is_of_people = matches!(class, LimitClass::Query | LimitClass::Other);
        match self {
            Self::Session(session) if is_of_people && !session.key().key().limits.has(class) => {
                LimitClass::Console
            }
            _ => class,
        }
    }

    /// Counts calls against the caller's quota, all or none.
    pub(crate) fn throttle(&self, class: LimitClass, calls: NonZeroU32) -> Verdict {
        match self.live_key() {
            None => Verdict::Unlimited,
            Some(live) => live.throttle.check_many(self.quota_class(class), calls),
        }
    }

    /// Returns the state of the caller's quota and how long to wait, if an earlier refusal shows
    /// that not even one call is allowed now. Counts nothing.
    pub(crate) fn pending_refusal(&self, class: LimitClass) -> Option<(Usage, Duration)> {
        self.live_key()?.throttle.known_refusal(self.quota_class(class))
    }
}
