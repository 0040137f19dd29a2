//! The HTTP server: listeners, request processing (routing, authentication, limits, handlers) and
//! responses.
//!
//! Independent of the areas, which register their endpoints as tables of [`Route`]s. `pipeline`
//! defines the order in which a request is processed.

mod batch;
mod error;
mod error_mapping;
mod etag;
mod json;
mod query;
mod request;
mod resource;
mod response;
mod route;
mod route_doc;

mod activity;
mod admission;
mod body;
mod body_parts;
mod buffers;
mod client_end;
mod connection;
mod connection_slots;
mod connection_table;
mod connection_threads;
mod cors;
mod decode;
mod encodings_layer;
mod frame_budget;
mod gunzip;
mod hosted_site;
mod idempotency;
mod identify;
mod known_parameters;
mod leftover;
mod listener;
mod malformed;
mod pipeline;
mod refusal_log_limit;
mod request_record;
mod router;
mod same_origin;
mod serve;
mod server;
mod settings;
mod snappy;
mod socket;
mod unauthenticated;

mod exposition;
mod openapi;
mod operational;
mod pace;
mod path_param;
mod response_compression;
mod telemetry;

pub use batch::{BatchAnswer, BulkOutcome, BulkPlace};
pub use body_parts::{Parts, invalid_part_receipt};
pub use connection_threads::ConnectionThreads;
pub use encodings_layer::Body;
pub use error::{ApiError, ApiResult, Details, ErrorCode};
pub use etag::{etag_of, etag_of_immutable, etag_of_response, precondition_failed};
pub use hosted_site::HostedSite;
pub use identify::SENTRY_LIMITS;
pub use listener::{ControlListener, Listener};
pub use path_param::PathParam;
pub use pipeline::Origin;
pub use query::{Paging, Query};
pub use request::{Request, fits};
pub use resource::Resource;
pub use response::{Data, Deleted, Meta, Page, Response, Success};
pub use route::{
    Access, BodyEncoding, BodyFilter, BodyFiltering, BodyKind, DsnIn, EarlyHandler, EarlyRequest,
    Handle, Handler, HandlerFuture, LimitClass, Method, OnDisconnect, QueryRule, Route, Scope,
};
pub use route_doc::{Answer, BodyDoc, Doc, Form, Link, PAGING, Param, Place, SchemaOf, Twin};
pub use router::InvalidRoute;
pub use same_origin::{check_sign_in_origin, is_change_of_same_origin, is_read_of_same_origin};
pub use serve::serve;
pub use server::{Server, SetupError};
pub use settings::{BodySettings, HttpSettings, Settings};
pub use telemetry::{LATENCY_BOUNDS_US, RouteCounts, Snapshot, Telemetry};

#[cfg(test)]
mod tests;
