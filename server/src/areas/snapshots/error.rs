//! The errors of the area and their error codes.

use telltale_engine::{Error, MemoryFull};

use super::capture::{CaptureError, CaptureRequestError};
use super::compare::{CompareError, EncodeError, OptionsError};
use super::ids::{BaselineId, ComparisonId, SnapshotId};
use crate::http::{ApiError, ErrorCode, PathParam, Resource};
use crate::limits::{OVERLOADED_RETRY_SECONDS, UNAVAILABLE_RETRY_SECONDS};
use crate::platform::documents::DocumentError;
use crate::platform::fields::Invalid;
use crate::platform::outbound::OutboundUrlError;
use crate::platform::sealing::{KeyFileError, SealError, UnsealError};

/// The code of a comparison of a page that has no baseline.
pub(super) const PAGE_HAS_NO_BASELINE: ErrorCode = ErrorCode::AreaConflict("baseline_not_found");

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// No resource of this kind has this id.
    #[error("there is no such resource {1:?}")]
    NotFound(SnapshotKind, String),
    /// The revision of the resource does not match the caller's `If-Match`.
    #[error("the resource has changed: If-Match does not name its current ETag")]
    Changed,
    /// The limit on resources of a kind is reached.
    #[error("the limit of {max} {} is reached", kind.plural())]
    TooMany {
        /// The resources.
        kind: SnapshotKind,
        /// The limit.
        max: usize,
    },
    /// Images take as much disk space as they may.
    #[error(
        "images take {bytes} bytes, as many as snapshots.images_bytes_max allows: delete snapshots, comparisons or baselines"
    )]
    ImagesFull {
        /// Bytes of all images.
        bytes: u64,
    },
    /// The resource does not allow this now.
    #[error("{0}")]
    State(&'static str),
    /// The page has no baseline in this viewport.
    #[error("the page has no baseline of this browser, viewport and full_page")]
    NoBaseline,
    /// A field is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The browser cannot be used.
    #[error(transparent)]
    Browser(#[from] CaptureError),
    /// Two images cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The diff image cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// An image is missing, or damaged.
    #[error("the image of {0} cannot be read")]
    ImageLost(String),
    /// Memory for images is not available.
    #[error(transparent)]
    MemoryFull(#[from] MemoryFull),
    /// The key for secrets is missing or unusable.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// A secret cannot be sealed.
    #[error("a secret cannot be sealed: {0}")]
    Seal(#[from] SealError),
    /// A stored secret cannot be opened.
    #[error("the headers and cookies of the snapshot cannot be opened: {0}")]
    Unseal(#[from] UnsealError),
    /// The engine failed or refused the request.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// The kinds of resources of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotKind {
    /// A snapshot.
    Snapshot,
    /// A snapshot that is not captured yet.
    WaitingSnapshot,
    /// A comparison.
    Comparison,
    /// A baseline.
    Baseline,
}

impl SnapshotKind {
    fn resource(self) -> &'static Resource {
        match self {
            Self::Snapshot | Self::WaitingSnapshot => SnapshotId::RESOURCE,
            Self::Comparison => ComparisonId::RESOURCE,
            Self::Baseline => BaselineId::RESOURCE,
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshots",
            Self::WaitingSnapshot => "snapshots that are not captured yet",
            Self::Comparison => "comparisons",
            Self::Baseline => "baselines",
        }
    }
}

impl SnapshotError {
    /// Returns the error of a field that the browser does not take.
    pub(super) fn field(field: impl Into<String>, error: &CaptureRequestError) -> Self {
        Self::Invalid(Invalid::field(field, format!("is not valid: {error}")))
    }

    /// Returns the error for background work.
    pub(super) fn into_engine(self) -> Error {
        match self {
            Self::Engine(error) => error,
            other => Error::Unavailable(other.to_string()),
        }
    }
}

impl From<DocumentError<SnapshotKind>> for SnapshotError {
    fn from(error: DocumentError<SnapshotKind>) -> Self {
        match error {
            DocumentError::NotFound(kind, id) => Self::NotFound(kind, id),
            DocumentError::Changed => Self::Changed,
            DocumentError::TooMany { kind, max } => Self::TooMany { kind, max },
        }
    }
}

impl From<CaptureRequestError> for SnapshotError {
    fn from(error: CaptureRequestError) -> Self {
        let field = match &error {
            CaptureRequestError::Url => "url".to_owned(),
            CaptureRequestError::Viewport => "viewport".to_owned(),
            CaptureRequestError::DeviceScaleFactor => "device_scale_factor".to_owned(),
            CaptureRequestError::WaitFor => "wait_for".to_owned(),
            // Of the field that a caller names, if there are several.
            CaptureRequestError::TooManySelectors | CaptureRequestError::SelectorLength => {
                "hide_selectors".to_owned()
            }
            CaptureRequestError::TooManyHeaders => "headers".to_owned(),
            CaptureRequestError::Header { name } => format!("headers.{name}"),
            CaptureRequestError::Cookie { name } => format!("cookies.{name}"),
        };
        Self::field(field, &error)
    }
}

impl From<OutboundUrlError> for SnapshotError {
    fn from(error: OutboundUrlError) -> Self {
        Self::Invalid(Invalid::field("url", error.to_string()))
    }
}

impl From<OptionsError> for SnapshotError {
    fn from(error: OptionsError) -> Self {
        Self::Invalid(Invalid::field("ignore_regions", format!("is not valid: {error}")))
    }
}

impl From<SnapshotError> for ApiError {
    fn from(error: SnapshotError) -> Self {
        let message = error.to_string();
        match error {
            SnapshotError::NotFound(kind, id) => Self::missing(kind.resource(), &id),
            SnapshotError::Changed => Self::new(ErrorCode::PreconditionFailed, message),
            SnapshotError::TooMany { .. } | SnapshotError::ImagesFull { .. } => {
                Self::new(ErrorCode::Conflict, message)
            }
            SnapshotError::State(_) | SnapshotError::Compare(_) => {
                Self::new(ErrorCode::InvalidState, message)
            }
            SnapshotError::NoBaseline => Self::new(PAGE_HAS_NO_BASELINE, message),
            SnapshotError::Invalid(invalid) => invalid.into(),
            SnapshotError::Browser(_) => {
                Self::new(ErrorCode::Unavailable, message).retry_after(UNAVAILABLE_RETRY_SECONDS)
            }
            SnapshotError::ImageLost(_) => Self::new(ErrorCode::InvalidState, message),
            SnapshotError::MemoryFull(full) => {
                let shown = "there is no memory for the images now";
                Self::new(ErrorCode::Overloaded, shown)
                    .retry_after(OVERLOADED_RETRY_SECONDS)
                    .caused_by(full)
            }
            // What is wrong with the key is for the operator.
            SnapshotError::Key(_) | SnapshotError::Unseal(_) => {
                let shown = "secrets cannot be sealed; the log of the server says why";
                Self::new(ErrorCode::Unavailable, shown)
                    .retry_after(UNAVAILABLE_RETRY_SECONDS)
                    .caused_by(message)
            }
            SnapshotError::Seal(SealError::TooLong { .. }) => {
                Invalid::field("headers", "and cookies must have at most 64 KiB").into()
            }
            SnapshotError::Seal(_) | SnapshotError::Encode(_) => Self::internal(message),
            SnapshotError::Engine(error) => error.into(),
        }
    }
}
