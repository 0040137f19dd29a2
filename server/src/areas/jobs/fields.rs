//! Refusals of single fields, and the routes that programs call as often as they like.

use crate::http::{ApiError, ErrorCode, Handle, LimitClass, Route, Scope};

/// A required field is absent.
pub(super) fn missing(field: &'static str) -> ApiError {
    ApiError::new(ErrorCode::MissingField, format!("{field} is required")).field(field)
}

/// A field breaks a rule; the message names it.
pub(super) fn invalid(field: &'static str, message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidField, message).field(field)
}

/// A route of programs that enqueue jobs.
pub(super) const fn enqueueing(path: &'static str, handler: &'static dyn Handle) -> Route {
    Route::post(path, handler).scope(Scope::Ingest).private().limit(LimitClass::Unlimited)
}

/// A route of the worker protocol, by which the jobs that wait become fewer.
pub(super) const fn working(path: &'static str, handler: &'static dyn Handle) -> Route {
    Route::post(path, handler).scope(Scope::Work).limit(LimitClass::Unlimited).drains()
}
