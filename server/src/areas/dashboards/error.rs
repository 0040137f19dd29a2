//! What the area refuses, and the code of each refusal.

use telltale_engine::Error;

use crate::areas::metrics::MetricsError;
use crate::http::{ApiError, ErrorCode, Resource};
use crate::limits;
use crate::platform::telemetry::question::InvalidQuestion;

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum DashboardsError {
    /// No dashboard has this id.
    #[error("there is no dashboard {0:?}")]
    NotFound(String),
    /// The dashboard has no widget with this id.
    #[error("there is no widget {0:?}")]
    WidgetNotFound(String),
    /// The dashboard is not the one that the caller wants to change.
    #[error("the dashboard has changed: If-Match does not name its current ETag")]
    Changed,
    /// Other changes came between too often.
    #[error("too many changes to the dashboard at once; try again")]
    Busy,
    /// There are as many dashboards as there can be.
    #[error("the limit of {max} dashboards is reached", max = limits::DASHBOARDS_MAX)]
    TooMany,
    /// The dashboard has as many widgets as it can have.
    #[error("a dashboard may have at most {max} widgets", max = limits::WIDGETS_MAX)]
    TooManyWidgets,
    /// A field breaks a rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The range that is asked for cannot be.
    #[error(transparent)]
    Question(#[from] InvalidQuestion),
    /// A widget cannot be computed as it is asked.
    #[error("{0}")]
    Unanswerable(String),
    /// The metrics area failed or refused.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// The engine failed or refused.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// A field that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {expected}")]
pub struct Invalid {
    /// Which kind of rule.
    pub rule: Rule,
    /// The field, with those around it joined by `.`.
    pub field: String,
    /// What was expected.
    pub expected: String,
}

/// The kinds of rules that a field can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The name of a dashboard must be given.
    NameMissing,
    /// The name of a dashboard has a form.
    Name,
    /// The field must be given.
    Missing,
    /// There are six types of widgets.
    WidgetType,
    /// A question must be one that can be answered.
    Query,
    /// Any other rule.
    Field,
}

impl Invalid {
    /// A required field is absent.
    pub(super) fn missing(field: &str) -> Self {
        Self { rule: Rule::Missing, field: field.to_owned(), expected: "is required".to_owned() }
    }

    /// A field breaks a rule of its own.
    pub(super) fn field(field: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { rule: Rule::Field, field: field.into(), expected: expected.into() }
    }

    /// A query cannot be; `field` is a part of it, or empty for all of it.
    pub(super) fn query(field: &str, expected: impl Into<String>) -> Self {
        let field = if field.is_empty() { "query".to_owned() } else { format!("query.{field}") };
        Self { rule: Rule::Query, field, expected: expected.into() }
    }

    /// The same, inside of `outer`.
    pub(super) fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }

    fn code(&self) -> ErrorCode {
        match self.rule {
            Rule::NameMissing => ErrorCode::MissingName,
            Rule::Name => ErrorCode::InvalidName,
            Rule::Missing => ErrorCode::MissingField,
            Rule::WidgetType => ErrorCode::InvalidWidgetType,
            Rule::Query => ErrorCode::InvalidQuery,
            Rule::Field => ErrorCode::InvalidField,
        }
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
            DashboardsError::NotFound(id) => Self::missing(Resource::Dashboard, &id),
            DashboardsError::WidgetNotFound(id) => Self::missing(Resource::Widget, &id),
            DashboardsError::Changed => Self::new(ErrorCode::PreconditionFailed, message),
            DashboardsError::Busy | DashboardsError::TooMany | DashboardsError::TooManyWidgets => {
                Self::new(ErrorCode::Conflict, message)
            }
            DashboardsError::Invalid(invalid) => invalid.into(),
            DashboardsError::Question(invalid) => invalid.into(),
            DashboardsError::Unanswerable(_) => Self::new(ErrorCode::InvalidQuery, message),
            DashboardsError::Metrics(error) => error.into(),
            DashboardsError::Engine(error) => error.into(),
        }
    }
}
