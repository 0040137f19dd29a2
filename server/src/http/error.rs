//! The service's error type: every error code with its HTTP status, and the content of the error
//! body.
//!
//! Codes that only one area has, and the resources that may be missing, are declared by the areas.
//! Internal causes are passed to the log through [`ApiError::internal`] and never appear in the
//! body.

use std::borrow::Cow;
use std::fmt;

use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use super::batch::BulkOutcome;
use super::resource::Resource;

/// The reason of a failed request, reported to the client. Its string form is part of the HTTP
/// contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The body is not JSON, or not an object.
    InvalidJson,
    /// A query parameter or body field has the wrong form.
    InvalidParameter,
    /// The key is missing or invalid.
    Unauthorized,
    /// The key lacks the scope.
    Forbidden,
    /// No route has this path.
    NotFound,
    /// No resource of this kind has this id.
    Missing(&'static Resource),
    /// The path does not support the method.
    MethodNotAllowed,
    /// The headers or the body did not arrive in time.
    RequestTimeout,
    /// The state of the resource forbids the transition.
    InvalidState,
    /// A unique field is taken, or an idempotency key was used with another body.
    Conflict,
    /// A conflict for which an area has a code of its own.
    AreaConflict(&'static str),
    /// `If-Match` does not match.
    PreconditionFailed,
    /// A batch has too many items.
    BatchTooLarge,
    /// The body is over its limit.
    PayloadTooLarge,
    /// The content type or encoding is not supported by the route.
    UnsupportedMediaType,
    /// `name` is absent or empty.
    MissingName,
    /// `name` breaks its rules.
    InvalidName,
    /// The name of a metric, an event or a queue is reserved for the server.
    ReservedName,
    /// `type` is unknown.
    InvalidType,
    /// `value` is absent or does not fit the type.
    InvalidValue,
    /// A time cannot be parsed or is out of range.
    InvalidTimestamp,
    /// Tags break their rules.
    InvalidTags,
    /// The metric exists with another type.
    TypeConflict,
    /// A new series would exceed a limit.
    CardinalityLimit,
    /// The metric's type does not support the aggregation.
    InvalidAggregation,
    /// The interval is unknown.
    InvalidInterval,
    /// The range is empty or has too many buckets.
    InvalidRange,
    /// A widget's query is invalid.
    InvalidQuery,
    /// A broken rule for which an area has a code of its own.
    AreaInvalid(&'static str),
    /// A required field is absent.
    MissingField,
    /// A field breaks its rules.
    InvalidField,
    /// A rate limit or quota is exceeded.
    RateLimited,
    /// An internal error of the service.
    Internal,
    /// The service is temporarily unavailable; try again later.
    Unavailable,
    /// The service sheds load; try again soon.
    Overloaded,
}

impl ErrorCode {
    /// Returns the code's string form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::InvalidParameter => "invalid_parameter",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Missing(resource) => resource.code(),
            Self::AreaConflict(code) | Self::AreaInvalid(code) => code,
            Self::MethodNotAllowed => "method_not_allowed",
            Self::RequestTimeout => "request_timeout",
            Self::InvalidState => "invalid_state",
            Self::Conflict => "conflict",
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
            Self::MissingField => "missing_field",
            Self::InvalidField => "invalid_field",
            Self::RateLimited => "rate_limited",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::Overloaded => "overloaded",
        }
    }

    /// Returns the HTTP status of the code.
    pub fn status(self) -> StatusCode {
        match self {
            Self::InvalidJson | Self::InvalidParameter => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound | Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::InvalidState | Self::Conflict | Self::AreaConflict(_) => StatusCode::CONFLICT,
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
            | Self::AreaInvalid(_)
            | Self::MissingField
            | Self::InvalidField => StatusCode::UNPROCESSABLE_ENTITY,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable | Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The location of the error in the request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Details {
    /// The field or query parameter, as sent by the client; nested fields joined with `.`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Cow<'static, str>>,
    /// The index of the item in a batch, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The id of the conflicting resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The current version of a resource that has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The result of a bulk request whose valid items were stored.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub bulk: Option<BulkOutcome>,
}

/// A failed request: what is sent to the client, and separately what is logged.
#[derive(Debug)]
pub struct ApiError {
    code: ErrorCode,
    message: Cow<'static, str>,
    details: Option<Box<Details>>,
    /// Seconds.
    retry_after: Option<u32>,
    cause: Option<Box<str>>,
    /// The value of the `Allow` header.
    allow: Option<Box<str>>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The result of a handler and of the HTTP functions it calls.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// Returns an error with a message for the client, which names the field and what was expected.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        let (message, headers) = (message.into(), Vec::new());
        Self { code, message, details: None, retry_after: None, cause: None, allow: None, headers }
    }

    /// Returns an internal error: the client receives only the request id, `cause` is logged.
    pub fn internal(cause: impl fmt::Display) -> Self {
        let mut error = Self::new(ErrorCode::Internal, "an internal error occurred");
        error.cause = Some(cause.to_string().into());
        error
    }

    /// Returns an error about a query parameter or body field of the wrong form.
    pub fn parameter(field: impl Into<Cow<'static, str>>, message: impl fmt::Display) -> Self {
        let field = field.into();
        Self::new(ErrorCode::InvalidParameter, format!("{field} {message}")).field(field)
    }

    /// Returns an error about a resource that does not exist.
    pub fn missing(resource: &'static Resource, id: &str) -> Self {
        Self::new(ErrorCode::Missing(resource), format!("there is no {} {id:?}", resource.noun()))
    }

    /// Sets the invalid field or query parameter.
    #[must_use]
    pub fn field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.details.get_or_insert_default().field = Some(field.into());
        self
    }

    /// Sets the index of the invalid item of a batch, from 0.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.details.get_or_insert_default().index = Some(index);
        self
    }

    /// Sets the id of the conflicting resource.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.details.get_or_insert_default().id = Some(id.into());
        self
    }

    /// Sets the current version of a resource that has changed.
    #[must_use]
    pub fn version(mut self, version: u64) -> Self {
        self.details.get_or_insert_default().version = Some(version);
        self
    }

    /// Sets the result of a bulk request whose valid items were stored.
    #[must_use]
    pub fn bulk(mut self, outcome: BulkOutcome) -> Self {
        self.details.get_or_insert_default().bulk = Some(outcome);
        self
    }

    /// Sets the `Retry-After` header, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Sets the cause, which is logged but not sent.
    #[must_use]
    pub fn caused_by(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string().into());
        self
    }

    /// Adds a response header, for protocols that report errors in headers.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Sets the methods that the path supports.
    #[must_use]
    pub(super) fn allow(mut self, methods: String) -> Self {
        self.allow = Some(methods.into());
        self
    }

    /// Returns the code.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns the message for the client.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the location of the error, if known.
    pub fn details(&self) -> Option<&Details> {
        self.details.as_deref()
    }

    /// Returns the number of seconds after which to retry.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        self.retry_after
    }

    /// Returns the value of the `Allow` header, for an unsupported method.
    pub(super) fn allowed(&self) -> Option<&str> {
        self.allow.as_deref()
    }

    /// Returns the additional response headers.
    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// Returns the cause, for the log.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }
}
