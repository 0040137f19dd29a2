//! The one error body of the service: every code, its status, and how an error becomes a response.
//!
//! Areas add their codes here. What went wrong inside goes to the log through [`ApiError::internal`], never
//! into the body.

use std::borrow::Cow;
use std::fmt;

use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use super::batch::BulkOutcome;

/// What a caller can be told has gone wrong. The text of the code is part of the HTTP contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The body is not JSON, or not an object.
    InvalidJson,
    /// A query parameter or body field has the wrong form.
    InvalidParameter,
    /// No key, or not a valid one.
    Unauthorized,
    /// The key lacks the scope.
    Forbidden,
    /// No route has this path.
    NotFound,
    /// No resource of this kind has this id.
    Missing(Resource),
    /// The path has no such method.
    MethodNotAllowed,
    /// The headers or the body did not arrive in time.
    RequestTimeout,
    /// The state of the resource forbids the transition.
    InvalidState,
    /// A unique field is taken, or an idempotency key was used with another body.
    Conflict,
    /// The token is not that of whoever holds the job now.
    ReservationLost,
    /// `If-Match` does not match.
    PreconditionFailed,
    /// A batch has too many items.
    BatchTooLarge,
    /// The body is over its limit.
    PayloadTooLarge,
    /// A content type or encoding that the route does not read.
    UnsupportedMediaType,
    /// `name` is absent or empty.
    MissingName,
    /// `name` breaks its rules.
    InvalidName,
    /// The name of a metric, an event or a queue is one that only the server gives.
    ReservedName,
    /// `type` is not one of the types.
    InvalidType,
    /// `value` is absent or does not fit the type.
    InvalidValue,
    /// A time is unreadable or out of range.
    InvalidTimestamp,
    /// Tags break their rules.
    InvalidTags,
    /// The metric exists with another type.
    TypeConflict,
    /// A new series would go over a limit.
    CardinalityLimit,
    /// The metric's type does not have the aggregation.
    InvalidAggregation,
    /// The interval is unknown.
    InvalidInterval,
    /// The range is empty or gives too many buckets.
    InvalidRange,
    /// A widget's query cannot be.
    InvalidQuery,
    /// A widget's type is unknown.
    InvalidWidgetType,
    /// A required field is absent.
    MissingField,
    /// A field breaks its rules.
    InvalidField,
    /// Too many requests.
    RateLimited,
    /// A fault of the service.
    Internal,
    /// Nothing can be served now; try again later.
    Unavailable,
    /// The service sheds load; try again soon.
    Overloaded,
}

/// The kinds of resources that can be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A metric, by name.
    Metric,
    /// An API key, by id.
    Key,
    /// A dashboard, by id.
    Dashboard,
    /// A widget of a dashboard, by id.
    Widget,
    /// A queue of jobs, by name.
    Queue,
    /// A job, by id.
    Job,
    /// A worker, by id.
    Worker,
    /// A dead job, by id.
    DeadJob,
    /// A group of errors, by id.
    ErrorGroup,
}

impl ErrorCode {
    /// The code as callers read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::InvalidParameter => "invalid_parameter",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Missing(Resource::Metric) => "metric_not_found",
            Self::Missing(Resource::Key) => "key_not_found",
            Self::Missing(Resource::Dashboard) => "dashboard_not_found",
            Self::Missing(Resource::Widget) => "widget_not_found",
            Self::Missing(Resource::Queue) => "queue_not_found",
            Self::Missing(Resource::Job) => "job_not_found",
            Self::Missing(Resource::Worker) => "worker_not_found",
            Self::Missing(Resource::DeadJob) => "dead_job_not_found",
            Self::Missing(Resource::ErrorGroup) => "error_not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::RequestTimeout => "request_timeout",
            Self::InvalidState => "invalid_state",
            Self::Conflict => "conflict",
            Self::ReservationLost => "reservation_lost",
            Self::PreconditionFailed => "precondition_failed",
            Self::BatchTooLarge => "batch_too_large",
            Self::PayloadTooLarge => "payload_too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::MissingName => "missing_name",
            Self::InvalidName => "invalid_name",
            Self::ReservedName => "reserved_name",
            Self::InvalidType => "invalid_type",
            Self::InvalidValue => "invalid_value",
            Self::InvalidTimestamp => "invalid_timestamp",
            Self::InvalidTags => "invalid_tags",
            Self::TypeConflict => "type_conflict",
            Self::CardinalityLimit => "cardinality_limit",
            Self::InvalidAggregation => "invalid_aggregation",
            Self::InvalidInterval => "invalid_interval",
            Self::InvalidRange => "invalid_range",
            Self::InvalidQuery => "invalid_query",
            Self::InvalidWidgetType => "invalid_widget_type",
            Self::MissingField => "missing_field",
            Self::InvalidField => "invalid_field",
            Self::RateLimited => "rate_limited",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::Overloaded => "overloaded",
        }
    }

    /// The HTTP status that goes with the code.
    pub fn status(self) -> StatusCode {
        match self {
            Self::InvalidJson | Self::InvalidParameter => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound | Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::InvalidState | Self::Conflict | Self::ReservationLost => StatusCode::CONFLICT,
            Self::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Self::BatchTooLarge | Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::MissingName
            | Self::InvalidName
            | Self::ReservedName
            | Self::InvalidType
            | Self::InvalidValue
            | Self::InvalidTimestamp
            | Self::InvalidTags
            | Self::TypeConflict
            | Self::CardinalityLimit
            | Self::InvalidAggregation
            | Self::InvalidInterval
            | Self::InvalidRange
            | Self::InvalidQuery
            | Self::InvalidWidgetType
            | Self::MissingField
            | Self::InvalidField => StatusCode::UNPROCESSABLE_ENTITY,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable | Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Where in the request the error lies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Details {
    /// The field or query parameter, as the caller wrote it; nested fields joined with `.`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Cow<'static, str>>,
    /// The index of the item in a batch, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The id of the resource that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What became of a bulk body whose good part was stored.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub bulk: Option<BulkOutcome>,
}

/// A request that failed: what the caller is told, and apart from it what the log is told.
#[derive(Debug)]
pub struct ApiError {
    code: ErrorCode,
    message: Cow<'static, str>,
    details: Option<Box<Details>>,
    /// Seconds.
    retry_after: Option<u32>,
    cause: Option<Box<str>>,
    /// The value of `Allow`.
    allow: Option<Box<str>>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The result of a handler and of all that it calls on the HTTP side.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// An error with a message for the caller, which names the field and what was expected.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        let (message, headers) = (message.into(), Vec::new());
        Self { code, message, details: None, retry_after: None, cause: None, allow: None, headers }
    }

    /// A fault of ours: the caller learns nothing but the request id, the log gets `cause`.
    pub fn internal(cause: impl fmt::Display) -> Self {
        let mut error = Self::new(ErrorCode::Internal, "an internal error occurred");
        error.cause = Some(cause.to_string().into());
        error
    }

    /// A query parameter or a body field of the wrong form.
    pub fn parameter(field: impl Into<Cow<'static, str>>, message: impl fmt::Display) -> Self {
        let field = field.into();
        Self::new(ErrorCode::InvalidParameter, format!("{field} {message}")).field(field)
    }

    /// A resource that is not there.
    pub fn missing(resource: Resource, id: &str) -> Self {
        let what = match resource {
            Resource::Metric => "metric",
            Resource::Key => "key",
            Resource::Dashboard => "dashboard",
            Resource::Widget => "widget",
            Resource::Queue => "queue",
            Resource::Job => "job",
            Resource::Worker => "worker",
            Resource::DeadJob => "dead job",
            Resource::ErrorGroup => "error",
        };
        Self::new(ErrorCode::Missing(resource), format!("there is no {what} {id:?}"))
    }

    /// Names the field or query parameter that is wrong.
    #[must_use]
    pub fn field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.details.get_or_insert_default().field = Some(field.into());
        self
    }

    /// Names the item of a batch that is wrong, from 0.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.details.get_or_insert_default().index = Some(index);
        self
    }

    /// Names the resource that is in the way.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.details.get_or_insert_default().id = Some(id.into());
        self
    }

    /// Tells what became of a bulk body whose good part was stored.
    #[must_use]
    pub fn bulk(mut self, outcome: BulkOutcome) -> Self {
        self.details.get_or_insert_default().bulk = Some(outcome);
        self
    }

    /// Tells the caller when to try again, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Tells the log, and only the log, what lies behind.
    #[must_use]
    pub fn caused_by(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string().into());
        self
    }

    /// Adds a header to the answer, for protocols that tell what became of a request in headers.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Names the methods that the path has.
    #[must_use]
    pub(super) fn allow(mut self, methods: String) -> Self {
        self.allow = Some(methods.into());
        self
    }

    /// The code.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The message for the caller.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where the error lies, if that is known.
    pub fn details(&self) -> Option<&Details> {
        self.details.as_deref()
    }

    /// Seconds after which to try again.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        self.retry_after
    }

    /// The value of `Allow`, where the method is what was wrong.
    pub(super) fn allowed(&self) -> Option<&str> {
        self.allow.as_deref()
    }

    /// Headers of the answer that the protocol of the route asks for.
    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// What the log is told.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }
}
