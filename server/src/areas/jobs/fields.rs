//! Refusals of single fields, and the routes that programs call as often as they like.

use crate::http::{
    ApiError, ApiResult, ErrorCode, Form, Handle, LimitClass, Param, Query, Route, Scope,
};
use crate::jobs::{QueueName, Whose};

/// The parameter that shows the server's own work.
pub(super) const INTERNAL: Param =
    Param::query("internal", "Those of the server's own work too; not when absent.")
        .form(Form::Flag);

/// Reads [`INTERNAL`].
pub(super) fn whose(query: &Query) -> ApiResult<Whose> {
    Ok(if query.flag("internal")? == Some(true) { Whose::All } else { Whose::Users })
}

/// The name of a queue in a path, of which users may change what is there.
pub(super) fn users_queue(name: &str) -> ApiResult<String> {
    QueueName::check_users(name).map_err(|rule| ApiError::from(rule).field("name"))?;
    Ok(name.to_owned())
}

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
