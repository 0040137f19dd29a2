//! The errors of the area and their error codes.

use http::header::ETAG;
use telltale_engine::Error;

use super::model::{DashboardId, VersionNumber, WidgetId};
use crate::areas::saved_queries::{InvalidQuery, SavedQueryError};
use crate::http::{ApiError, ErrorCode, PathParam, etag_of};
use crate::limits;
use crate::platform::telemetry::query_params::InvalidQueryParams;

/// The code of a widget of an unknown type.
pub(super) const INVALID_WIDGET_TYPE: ErrorCode = ErrorCode::AreaInvalid("invalid_widget_type");

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum DashboardsError {
    /// No dashboard has this id.
    #[error("there is no dashboard {0:?}")]
    NotFound(String),
    /// This version of the dashboard is not kept.
    #[error("the dashboard has no version {0}")]
    VersionNotFound(u64),
    /// The dashboard has no widget with this id.
    #[error("there is no widget {0:?}")]
    WidgetNotFound(String),
    /// The dashboard's revision, which this is, does not match the caller's `If-Match`.
    #[error("the dashboard has changed: If-Match does not name its current ETag")]
    Changed(u64),
    /// The version that the caller replaces is not the current one, which is this.
    #[error("the dashboard has changed: version is not its current version")]
    OtherVersion(u64),
    /// Every attempt to write conflicted with a concurrent change.
    #[error("too many changes to the dashboard at once; try again")]
    Busy,
    /// The limit on dashboards is reached.
    #[error("the limit of {max} dashboards is reached", max = limits::DASHBOARDS_MAX)]
    TooMany,
    /// The limit on widgets per dashboard is reached.
    #[error("a dashboard may have at most {max} widgets", max = limits::WIDGETS_MAX)]
    TooManyWidgets,
    /// A field is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The requested range is invalid.
    #[error(transparent)]
    Question(#[from] InvalidQueryParams),
    /// The query of a widget is valid, but its result would exceed a limit.
    #[error("{0}")]
    Unanswerable(String),
    /// The query of a widget failed or was refused.
    #[error(transparent)]
    Query(#[from] SavedQueryError),
    /// The engine failed or refused the request.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// An invalid field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {expected}")]
pub struct Invalid {
    /// The kind of rule that is violated.
    pub rule: Rule,
    /// The path of the field, joined by `.`.
    pub field: String,
    /// What is expected of the field.
    pub expected: String,
}

/// The kinds of rules, each with its own error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The name of a dashboard is required.
    NameMissing,
    /// The name of a dashboard is invalid.
    Name,
    /// A field is required.
    Missing,
    /// The type of a widget must be one of the known types.
    WidgetType,
    /// The query of a widget must be valid.
    Query,
    /// A query parameter.
    Parameter,
    /// Any other rule.
    Field,
}

impl Invalid {
    /// Returns the error of a missing required field.
    pub(super) fn missing(field: &str) -> Self {
        Self { rule: Rule::Missing, field: field.to_owned(), expected: "is required".to_owned() }
    }

    /// Returns the error of an invalid field.
    pub(super) fn field(field: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { rule: Rule::Field, field: field.into(), expected: expected.into() }
    }

    /// Returns the error of an invalid query. `field` is a field of the query, or empty for the
    /// query itself.
    pub(super) fn query(field: &str, expected: impl Into<String>) -> Self {
        InvalidQuery::new(field, expected).into()
    }

    /// Prefixes the path of the field with `outer`.
    pub(super) fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }

    fn code(&self) -> ErrorCode {
        match self.rule {
            Rule::NameMissing => ErrorCode::MissingName,
            Rule::Name => ErrorCode::InvalidName,
            Rule::Missing => ErrorCode::MissingField,
            Rule::WidgetType => INVALID_WIDGET_TYPE,
            Rule::Query => ErrorCode::InvalidQuery,
            Rule::Parameter => ErrorCode::InvalidParameter,
            Rule::Field => ErrorCode::InvalidField,
        }
    }
}

impl From<InvalidQuery> for Invalid {
    fn from(invalid: InvalidQuery) -> Self {
        Self { rule: Rule::Query, field: invalid.field, expected: invalid.expected }
    }
}

impl From<InvalidQuery> for DashboardsError {
    fn from(invalid: InvalidQuery) -> Self {
        Self::Invalid(invalid.into())
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        Self::new(invalid.code(), invalid.to_string()).field(invalid.field)
    }
}

impl From<DashboardsError> for ApiError {
    fn from(error: DashboardsError) -> Self {
        let message = error.to_string();
        match error {
            DashboardsError::NotFound(id) => Self::missing(DashboardId::RESOURCE, &id),
            DashboardsError::WidgetNotFound(id) => Self::missing(WidgetId::RESOURCE, &id),
            DashboardsError::Changed(now) | DashboardsError::OtherVersion(now) => {
                let error = Self::new(ErrorCode::PreconditionFailed, message).version(now);
                error.header(ETAG, etag_of(now))
            }
            DashboardsError::VersionNotFound(version) => {
                Self::missing(VersionNumber::RESOURCE, &version.to_string())
            }
            DashboardsError::Busy | DashboardsError::TooMany | DashboardsError::TooManyWidgets => {
                Self::new(ErrorCode::Conflict, message)
            }
            DashboardsError::Invalid(invalid) => invalid.into(),
            DashboardsError::Question(invalid) => invalid.into(),
            DashboardsError::Unanswerable(_) => Self::new(ErrorCode::InvalidQuery, message),
            DashboardsError::Query(error) => error.into(),
            DashboardsError::Engine(error) => error.into(),
        }
    }
}
