//! Parameters and field errors shared by the resources, and constructors of unlimited-rate routes.

use crate::http::{
    ApiError, ApiResult, ErrorCode, Form, Handle, LimitClass, Param, PathParam, Query, Request,
    Resource, Route, Scope,
};
use crate::jobs::{QueueName, QueueOwner};

/// The parameter that includes the server's own jobs, queues and workers.
pub(super) const INTERNAL: Param = Param::query(
    "internal",
    "Whether to include the server's own jobs, queues and workers; defaults to false.",
)
.form(Form::Flag);

/// Reads [`INTERNAL`].
pub(super) fn queue_owner(query: &Query) -> ApiResult<QueueOwner> {
    Ok(if query.flag("internal")? == Some(true) { QueueOwner::All } else { QueueOwner::Users })
}

impl PathParam for QueueName {
    const RESOURCE: &'static Resource = &Resource::new("queue_not_found", "queue");

    fn from_path(text: &str) -> Option<Self> {
        Self::own(text).ok()
    }
}

/// Returns the queue in the path of a request, unless it is reserved for the server.
pub(super) fn user_queue(req: &Request) -> ApiResult<QueueName> {
    let reserved = QueueName::check_users(req.param("name"));
    reserved.map_err(|rule| ApiError::from(rule).field("name"))?;
    req.path("name")
}

/// Returns the error of a missing required field.
pub(super) fn missing(field: &'static str) -> ApiError {
    ApiError::new(ErrorCode::MissingField, format!("{field} is required")).field(field)
}

/// Returns the error of an invalid field; `message` contains the field's name.
pub(super) fn invalid(field: &'static str, message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidField, message).field(field)
}

/// Returns a route for programs that enqueue jobs.
pub(super) const fn enqueue_route(path: &'static str, handler: &'static dyn Handle) -> Route {
    Route::post(path, handler).scope(Scope::Ingest).private().limit(LimitClass::Unlimited)
}

/// Returns a route of the worker protocol, which reduces the number of waiting jobs and is
/// therefore served even when memory is short.
pub(super) const fn worker_route(path: &'static str, handler: &'static dyn Handle) -> Route {
    Route::post(path, handler).scope(Scope::Work).limit(LimitClass::Unlimited).drains()
}
