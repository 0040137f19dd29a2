//! Who a request comes from.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::key::{ApiKey, Scope};
use super::service::LiveKey;
use crate::platform::quota::LimitClass;
use crate::platform::throttle::{Usage, Verdict};

/// Who a request comes from.
#[derive(Clone, Debug)]
pub enum Identity {
    /// Somebody without a key, on a public route.
    Anonymous,
    /// The operator of the machine, through the control socket: may do everything.
    Local,
    /// The owner of a key.
    Key(Arc<LiveKey>),
}

impl Identity {
    /// Whether the caller may do what needs `scope`.
    pub fn may(&self, scope: Scope) -> bool {
        match self {
            Self::Anonymous => false,
            Self::Local => true,
            Self::Key(live) => live.key.scopes.allow(scope),
        }
    }

    /// The id of the key; `local` and `-` stand for those who need none.
    pub fn key_id(&self) -> &str {
        match self {
            Self::Anonymous => "-",
            Self::Local => "local",
            Self::Key(live) => &live.key.id,
        }
    }

    /// The email that becomes `created_by`, `approved_by` and the like.
    pub fn user(&self) -> &str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Local => "local",
            Self::Key(live) => &live.key.user,
        }
    }

    /// The key, where there is one.
    pub fn key(&self) -> Option<&ApiKey> {
        match self {
            Self::Key(live) => Some(&live.key),
            Self::Anonymous | Self::Local => None,
        }
    }

    /// Whether the caller is told from a stranger: by a key that only its owner has, not by one that anybody may see.
    pub fn is_known(&self) -> bool {
        match self {
            Self::Anonymous => false,
            Self::Local => true,
            Self::Key(live) => !live.key.public_ingest,
        }
    }

    /// Whether the caller's key is refused by now.
    pub(crate) fn is_revoked(&self) -> bool {
        match self {
            Self::Anonymous | Self::Local => false,
            Self::Key(live) => live.is_revoked(),
        }
    }

    /// Ends when the caller's key is revoked, if ever.
    pub(crate) async fn revoked(&self) {
        match self {
            Self::Anonymous | Self::Local => std::future::pending().await,
            Self::Key(live) => live.wait_revoked().await,
        }
    }

    /// Counts so many calls against the caller's quota, all or none.
    pub(crate) fn throttle(&self, class: LimitClass, calls: NonZeroU32) -> Verdict {
        match self {
            Self::Anonymous | Self::Local => Verdict::Unlimited,
            Self::Key(live) => live.throttle.check_many(class, calls),
        }
    }

    /// How the caller's quota stands, and how long to wait, where it is known without counting that not one call fits.
    pub(crate) fn known_refusal(&self, class: LimitClass) -> Option<(Usage, Duration)> {
        match self {
            Self::Anonymous | Self::Local => None,
            Self::Key(live) => live.throttle.known_refusal(class),
        }
    }
}
