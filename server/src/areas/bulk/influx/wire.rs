//! Responses of the line protocol.

use schemars::JsonSchema;
use serde::Serialize;

/// The health of the server.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "InfluxHealth")]
pub(super) struct Health {
    pub(super) name: &'static str,
    pub(super) message: &'static str,
    /// Always `pass`: a server that cannot serve requests does not respond at all.
    pub(super) status: &'static str,
    pub(super) version: &'static str,
}
