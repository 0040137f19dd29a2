//! Metrics of OpenTelemetry, as its SDKs and collectors send them by OTLP/HTTP.
//!
//! A request in JSON is first written down in the wire format of protobuf, so that there is one reader and one meaning.
//! The whole request is read once before anything of it is stored: one that is damaged stores nothing. Data points are then
//! taken one by one where they lie, and stand or fall alone. A known series is found by the bytes of its resource, scope,
//! name and attributes; tags are made only of those that are new.

mod answer;
mod attributes;
mod error;
mod export;
mod json;
mod point;
mod request;
mod routes;
mod schema;

pub use error::OtlpError;
pub use export::resolve_export;
pub use request::Encoding;
pub use routes::ROUTES;

#[cfg(test)]
mod tests;
