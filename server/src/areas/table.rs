//! The routes of all areas, for the server, the OpenAPI document and tests over all routes.

use super::{admin, bulk, dashboards, errors, events, jobs, keys, metrics, telemetry};
use crate::http::Route;

/// Returns all routes, area by area.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    [
        metrics::ROUTES,
        events::ROUTES,
        telemetry::ROUTES,
        bulk::REMOTE_WRITE_ROUTES,
        bulk::INFLUX_ROUTES,
        bulk::OTLP_ROUTES,
        bulk::IMPORT_ROUTES,
        dashboards::ROUTES,
        jobs::JOB_ROUTES,
        jobs::QUEUE_ROUTES,
        jobs::WORKER_ROUTES,
        jobs::DEAD_JOB_ROUTES,
        errors::ROUTES,
        errors::SENTRY_ROUTES,
        keys::ROUTES,
        admin::ROUTES,
    ]
    .into_iter()
    .flatten()
}
