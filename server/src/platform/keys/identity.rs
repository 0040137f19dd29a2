//! The identity of a caller.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::key::{ApiKey, Scope};
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
}

impl Identity {
    /// Returns whether the caller has `scope`.
    pub fn may(&self, scope: Scope) -> bool {
        match self {
            Self::Anonymous => false,
            Self::Local => true,
            Self::Key(live) => live.key.scopes.allow(scope),
        }
    }

    /// Returns the id of the key; `local` or `-` without a key.
    pub fn key_id(&self) -> &str {
        match self {
            Self::Anonymous => "-",
            Self::Local => "local",
            Self::Key(live) => &live.key.id,
        }
    }

    /// Returns the email address for `created_by`, `approved_by` and the like.
    pub fn user(&self) -> &str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Local => "local",
            Self::Key(live) => &live.key.user,
        }
    }

    /// Returns the key, if there is one.
    pub fn key(&self) -> Option<&ApiKey> {
        match self {
            Self::Key(live) => Some(&live.key),
            Self::Anonymous | Self::Local => None,
        }
    }

    /// Returns whether the caller is authenticated: a public key, which is not secret, does not
    /// suffice.
    pub fn is_known(&self) -> bool {
        match self {
            Self::Anonymous => false,
            Self::Local => true,
            Self::Key(live) => !live.key.public_ingest,
        }
    }

    /// Returns whether the caller's key has been revoked.
    pub(crate) fn is_revoked(&self) -> bool {
        match self {
            Self::Anonymous | Self::Local => false,
            Self::Key(live) => live.is_revoked(),
        }
    }

    /// Waits until the caller's key is revoked, possibly forever.
    pub(crate) async fn revoked(&self) {
        match self {
            Self::Anonymous | Self::Local => std::future::pending().await,
            Self::Key(live) => live.wait_revoked().await,
        }
    }

    /// Counts calls against the caller's quota, all or none.
    pub(crate) fn throttle(&self, class: LimitClass, calls: NonZeroU32) -> Verdict {
        match self {
            Self::Anonymous | Self::Local => Verdict::Unlimited,
            Self::Key(live) => live.throttle.check_many(class, calls),
        }
    }

    /// Returns the state of the caller's quota and how long to wait, if an earlier refusal shows
    /// that not even one call is allowed now. Counts nothing.
    pub(crate) fn pending_refusal(&self, class: LimitClass) -> Option<(Usage, Duration)> {
        match self {
            Self::Anonymous | Self::Local => None,
            Self::Key(live) => live.throttle.known_refusal(class),
        }
    }
}
