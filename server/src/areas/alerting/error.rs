//! The errors of the area and their error codes.

use telltale_engine::Error;

use super::channels::{ConfigRule, InvalidConfig};
use super::ids::{AlertId, ChannelId, OverrideId, PolicyId, RuleId, ScheduleId, WindowId};
use crate::areas::saved_queries::{InvalidQuery, SavedQueryError};
use crate::http::{ApiError, ErrorCode, PathParam, Resource};
use crate::limits::UNAVAILABLE_RETRY_SECONDS;
use crate::platform::documents::DocumentError;
pub(super) use crate::platform::fields::{FieldRule, Invalid};
use crate::platform::sealing::{KeyFileError, SealError, UnsealError};

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum AlertingError {
    /// No resource of this kind has this id.
    #[error("there is no such resource {1:?}")]
    NotFound(Kind, String),
    /// The revision of the resource does not match the caller's `If-Match`.
    #[error("the resource has changed: If-Match does not name its current ETag")]
    Changed,
    /// The alert has ended.
    #[error("the alert is resolved")]
    AlertResolved,
    /// Only webhook channels have a signing secret.
    #[error("only channels of type webhook have a signing secret")]
    NoSigningSecret,
    /// The limit on resources of a kind is reached.
    #[error("the limit of {max} {} is reached", kind.plural())]
    TooMany {
        /// The resources.
        kind: Kind,
        /// The limit.
        max: usize,
    },
    /// A field is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The key for secrets is missing or unusable.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// A secret cannot be sealed.
    #[error("a secret cannot be sealed: {0}")]
    Seal(#[from] SealError),
    /// The configuration of a channel is damaged, or cannot be stored.
    #[error("the configuration of channel {0} is damaged")]
    Config(String),
    /// A stored secret cannot be opened.
    #[error("the secrets of the channel cannot be opened: {0}")]
    Unseal(#[from] UnsealError),
    /// The system provides no randomness.
    #[error("the system provides no randomness: {0}")]
    Randomness(#[from] std::io::Error),
    /// The query of a rule failed.
    #[error(transparent)]
    Query(#[from] SavedQueryError),
    /// The engine failed or refused the request.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// The kinds of resources of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An alert rule.
    Rule,
    /// An alert.
    Alert,
    /// A maintenance window.
    Window,
    /// An on-call schedule.
    Schedule,
    /// An override of an on-call schedule.
    Override,
    /// An escalation policy.
    Policy,
    /// A notification channel.
    Channel,
}

impl From<DocumentError<Kind>> for AlertingError {
    fn from(error: DocumentError<Kind>) -> Self {
        match error {
            DocumentError::NotFound(kind, id) => Self::NotFound(kind, id),
            DocumentError::Changed => Self::Changed,
            DocumentError::TooMany { kind, max } => Self::TooMany { kind, max },
        }
    }
}

impl AlertingError {
    /// Returns the error for background work.
    pub(super) fn into_engine(self) -> Error {
        match self {
            Self::Engine(error) => error,
            other => Error::Unavailable(other.to_string()),
        }
    }
}

impl Kind {
    fn resource(self) -> &'static Resource {
        match self {
            Self::Rule => RuleId::RESOURCE,
            Self::Alert => AlertId::RESOURCE,
            Self::Window => WindowId::RESOURCE,
            Self::Schedule => ScheduleId::RESOURCE,
            Self::Override => OverrideId::RESOURCE,
            Self::Policy => PolicyId::RESOURCE,
            Self::Channel => ChannelId::RESOURCE,
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Rule => "alert rules",
            Self::Alert => "alerts",
            Self::Window => "maintenance windows",
            Self::Schedule => "on-call schedules",
            Self::Override => "overrides of a schedule",
            Self::Policy => "escalation policies",
            Self::Channel => "notification channels",
        }
    }
}

impl From<InvalidQuery> for Invalid {
    fn from(invalid: InvalidQuery) -> Self {
        Self { rule: FieldRule::Query, field: invalid.field, expected: invalid.expected }
    }
}

impl From<InvalidConfig> for AlertingError {
    fn from(invalid: InvalidConfig) -> Self {
        let rule = match invalid.rule {
            ConfigRule::Missing => FieldRule::Missing,
            ConfigRule::Invalid => FieldRule::Field,
        };
        Self::Invalid(Invalid { rule, field: invalid.field, expected: invalid.expected })
    }
}

impl From<AlertingError> for ApiError {
    fn from(error: AlertingError) -> Self {
        let message = error.to_string();
        match error {
            AlertingError::NotFound(kind, id) => Self::missing(kind.resource(), &id),
            AlertingError::AlertResolved | AlertingError::NoSigningSecret => {
                Self::new(ErrorCode::InvalidState, message)
            }
            AlertingError::Changed => Self::new(ErrorCode::PreconditionFailed, message),
            AlertingError::TooMany { .. } => Self::new(ErrorCode::Conflict, message),
            AlertingError::Invalid(invalid) => invalid.into(),
            // What is wrong with the key is for the operator.
            AlertingError::Key(_) | AlertingError::Unseal(_) | AlertingError::Config(_) => {
                let shown =
                    "the secrets of channels cannot be read; the log of the server says why";
                Self::new(ErrorCode::Unavailable, shown)
                    .retry_after(UNAVAILABLE_RETRY_SECONDS)
                    .caused_by(message)
            }
            AlertingError::Seal(_) | AlertingError::Randomness(_) => Self::internal(message),
            AlertingError::Query(error) => error.into(),
            AlertingError::Engine(error) => error.into(),
        }
    }
}
