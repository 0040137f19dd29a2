//! `ExportMetricsServiceResponse`, in the encoding of the request.

use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::export::SUMMARIES;
use super::json::write_varint;
use super::request::Encoding;
use crate::http::{ApiResult, BulkOutcome, Response};
use crate::limits::OTLP_REASONS_TOLD_MAX;

/// What became of a request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OtlpExportAnswer")]
pub(super) struct ExportResponse {
    /// Absent when all of it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_success: Option<PartialSuccess>,
}

/// What was not stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OtlpPartialSuccess")]
struct PartialSuccess {
    /// How many data points were refused, as text; 0 when the message is only a warning.
    rejected_data_points: String,
    /// The first reasons.
    error_message: String,
}

/// The answer to a request that was read.
pub(super) fn answer(encoding: Encoding, outcome: &BulkOutcome) -> ApiResult<Response> {
    let message = message(outcome);
    let body = match encoding {
        Encoding::Json => {
            let rejected_data_points = outcome.rejected().to_string();
            let partial = PartialSuccess { rejected_data_points, error_message: message.clone() };
            let partial_success = (!message.is_empty()).then_some(partial);
            return Response::ok(&ExportResponse { partial_success });
        }
        Encoding::Protobuf if message.is_empty() => Vec::new(),
        Encoding::Protobuf => wire(outcome.rejected() as u64, &message),
    };
    Ok(Response::bytes(StatusCode::OK, encoding.media(), body))
}

fn wire(rejected: u64, message: &str) -> Vec<u8> {
    let mut partial = Vec::new();
    if rejected > 0 {
        partial.push(1 << 3);
        write_varint(&mut partial, rejected);
    }
    partial.push(2 << 3 | 2);
    write_varint(&mut partial, message.len() as u64);
    partial.extend_from_slice(message.as_bytes());
    let mut response = vec![1 << 3 | 2];
    write_varint(&mut response, partial.len() as u64);
    response.extend_from_slice(&partial);
    response
}

/// What the sender is told; empty when all is well. What has no value is left out on purpose and not told of.
fn message(outcome: &BulkOutcome) -> String {
    let mut parts = Vec::new();
    if outcome.rejected() > 0 {
        let total = outcome.accepted() + outcome.rejected();
        let mut told = format!("{} of {total} data points rejected", outcome.rejected());
        let mut reasons: Vec<&str> = Vec::new();
        for reason in outcome.reasons() {
            if reasons.len() < OTLP_REASONS_TOLD_MAX && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        told.push_str(": ");
        told.push_str(&reasons.join("; "));
        parts.push(told);
    }
    let summaries = outcome.skipped(SUMMARIES);
    if summaries > 0 {
        parts
            .push(format!("{summaries} data points of summaries passed over: they are not stored"));
    }
    parts.join(". ")
}
