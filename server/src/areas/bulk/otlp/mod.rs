//! OpenTelemetry metrics, received over OTLP/HTTP from SDKs and collectors.
//!
//! A JSON request is first translated to the protobuf wire format, so that there is a single
//! parser. The whole request is parsed once before any of it is stored: a malformed request stores
//! nothing. The data points are then read from the buffer one by one, and each is accepted or
//! rejected by itself. A known series is found by the bytes of its resource, scope, name and
//! attributes; tags are built only for new series.

mod attributes;
mod error;
mod export;
mod json;
mod point;
mod request;
mod response;
mod routes;
mod schema;
mod settings;

pub use error::OtlpError;
pub use export::resolve_export;
pub use request::Encoding;
pub use routes::ROUTES;
pub use settings::OtlpSettings;

#[cfg(test)]
mod tests;
