//! The errors of the area and their error codes.

use telltale_engine::Error;

use super::ids::{IncidentId, MaintenanceId, MonitorId, PageId, SubscriberId};
use crate::areas::alerting::AlertingError;
use crate::http::{ApiError, ErrorCode, PathParam, Resource};
use crate::limits::UNAVAILABLE_RETRY_SECONDS;
use crate::platform::documents::DocumentError;
use crate::platform::fields::Invalid;
use crate::platform::sealing::{KeyFileError, SealError, UnsealError};

/// When a request that was refused because there is too much may be repeated.
const BUSY_RETRY_SECONDS: u32 = 600;

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// No resource of this kind has this id.
    #[error("there is no such resource {1:?}")]
    NotFound(StatusKind, String),
    /// The revision of the resource does not match the caller's `If-Match`.
    #[error("the resource has changed: If-Match does not name its current ETag")]
    Changed,
    /// The limit on resources of a kind is reached.
    #[error("the limit of {max} {} is reached", kind.plural())]
    TooMany {
        /// The resources.
        kind: StatusKind,
        /// The limit.
        max: usize,
    },
    /// The resource does not allow this now.
    #[error("{0}")]
    State(&'static str),
    /// A field whose values are unique has this value elsewhere.
    #[error("{field} {value:?} is taken")]
    Taken {
        /// The field.
        field: &'static str,
        /// The value.
        value: String,
    },
    /// There is too much of something for now.
    #[error("{0}; try again later")]
    Busy(&'static str),
    /// A network address has entered too many email addresses, or one was entered too often.
    #[error(
        "too many addresses were entered from this network address, or this one too often; try again later"
    )]
    TooOften {
        /// When the next one may be entered.
        seconds: u32,
    },
    /// A field names what is there already.
    #[error("{field} {why}")]
    Duplicate {
        /// The field.
        field: &'static str,
        /// What is wrong.
        why: &'static str,
    },
    /// The maintenance window of a scheduled maintenance is refused.
    #[error(transparent)]
    Window(AlertingError),
    /// A field is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The key for secrets is missing or unusable.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// A secret cannot be sealed.
    #[error("a secret cannot be sealed: {0}")]
    Seal(#[from] SealError),
    /// A stored secret cannot be opened.
    #[error("the secrets of the monitor cannot be opened: {0}")]
    Unseal(#[from] UnsealError),
    /// The system provides no randomness.
    #[error("the system provides no randomness: {0}")]
    Randomness(std::io::Error),
    /// A stored secret is damaged.
    #[error("the secrets of monitor {0} are damaged")]
    Damaged(String),
    /// The engine failed or refused the request.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// The kinds of resources of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusKind {
    /// A monitor.
    Monitor,
    /// A status page.
    Page,
    /// A monitor on a status page.
    Component,
    /// An incident of a status page.
    Incident,
    /// An incident of a status page that is not resolved.
    OpenIncident,
    /// A scheduled maintenance of a status page.
    Maintenance,
    /// A scheduled maintenance that is not completed.
    OpenMaintenance,
    /// A subscriber of a status page.
    Subscriber,
    /// A notice for subscribers, which users do not see.
    Notice,
}

impl StatusKind {
    fn resource(self) -> &'static Resource {
        match self {
            Self::Monitor | Self::Component => MonitorId::RESOURCE,
            Self::Page => PageId::RESOURCE,
            Self::Incident | Self::OpenIncident => IncidentId::RESOURCE,
            Self::Maintenance | Self::OpenMaintenance => MaintenanceId::RESOURCE,
            Self::Subscriber | Self::Notice => SubscriberId::RESOURCE,
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Monitor => "monitors",
            Self::Page => "status pages",
            Self::Component => "monitors of a status page",
            Self::Incident => "incidents",
            Self::OpenIncident => "open incidents of a status page",
            Self::Maintenance => "scheduled maintenances",
            Self::OpenMaintenance => "scheduled maintenances that are not completed",
            Self::Subscriber => "subscribers",
            Self::Notice => "notices for subscribers",
        }
    }
}

impl StatusError {
    /// Returns the error of a monitor that does not exist.
    pub(super) fn missing_monitor(id: MonitorId) -> Self {
        Self::NotFound(StatusKind::Monitor, id.text())
    }

    /// Returns the error of a subscriber that does not exist.
    pub(super) fn missing_subscriber(id: SubscriberId) -> Self {
        Self::NotFound(StatusKind::Subscriber, id.text())
    }

    /// Returns the error of a status page that does not exist.
    pub(super) fn missing_page(id: PageId) -> Self {
        Self::NotFound(StatusKind::Page, id.text())
    }

    /// Returns the error for background work.
    pub(super) fn into_engine(self) -> Error {
        match self {
            Self::Engine(error) => error,
            other => Error::Unavailable(other.to_string()),
        }
    }
}

impl From<DocumentError<StatusKind>> for StatusError {
    fn from(error: DocumentError<StatusKind>) -> Self {
        match error {
            DocumentError::NotFound(kind, id) => Self::NotFound(kind, id),
            DocumentError::Changed => Self::Changed,
            DocumentError::TooMany { kind, max } => Self::TooMany { kind, max },
        }
    }
}

/// The window is that of a scheduled maintenance, whose muted rules are `mute_rule_ids`.
impl From<AlertingError> for StatusError {
    fn from(error: AlertingError) -> Self {
        match error {
            AlertingError::Invalid(invalid) if invalid.field.starts_with("rule_ids") => {
                let field = format!("mute_{}", invalid.field);
                Self::Invalid(Invalid { field, ..invalid })
            }
            other => Self::Window(other),
        }
    }
}

impl From<StatusError> for ApiError {
    fn from(error: StatusError) -> Self {
        let message = error.to_string();
        match error {
            StatusError::NotFound(kind, id) => Self::missing(kind.resource(), &id),
            StatusError::Changed => Self::new(ErrorCode::PreconditionFailed, message),
            StatusError::TooMany { .. } => Self::new(ErrorCode::Conflict, message),
            StatusError::State(_) => Self::new(ErrorCode::InvalidState, message),
            StatusError::Taken { field, .. } => {
                Self::new(ErrorCode::Conflict, message).field(field)
            }
            StatusError::Busy(_) => {
                Self::new(ErrorCode::Overloaded, message).retry_after(BUSY_RETRY_SECONDS)
            }
            StatusError::TooOften { seconds } => {
                Self::new(ErrorCode::RateLimited, message).retry_after(seconds)
            }
            StatusError::Duplicate { field, .. } => {
                Self::new(ErrorCode::Conflict, message).field(field)
            }
            StatusError::Window(error) => error.into(),
            StatusError::Invalid(invalid) => invalid.into(),
            // What is wrong with the key is for the operator.
            StatusError::Key(_) | StatusError::Unseal(_) | StatusError::Damaged(_) => {
                let shown =
                    "the secrets of monitors cannot be read; the log of the server says why";
                Self::new(ErrorCode::Unavailable, shown)
                    .retry_after(UNAVAILABLE_RETRY_SECONDS)
                    .caused_by(message)
            }
            StatusError::Seal(_) | StatusError::Randomness(_) => Self::internal(message),
            StatusError::Engine(error) => error.into(),
        }
    }
}
