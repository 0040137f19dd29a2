//! Responses: `ExportMetricsServiceResponse` in the encoding of the request.

use schemars::JsonSchema;
use serde::Serialize;

use super::export::SUMMARIES;
use super::json::write_varint;
use super::request::Encoding;
use crate::http::{ApiResult, BulkOutcome, Response};
use crate::limits::OTLP_REASONS_LISTED_MAX;

/// The result of a request.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OtlpExportAnswer")]
pub(super) struct ExportResponse {
    /// Absent if everything was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_success: Option<PartialSuccess>,
}

/// The data points that were not stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OtlpPartialSuccess")]
struct PartialSuccess {
    /// The number of rejected data points, as a string; 0 if the message is only a warning.
    rejected_data_points: String,
    /// The first reasons for rejection.
    error_message: String,
}

/// Returns the response to a request that was parsed.
pub(super) fn respond(encoding: Encoding, outcome: &BulkOutcome) -> ApiResult<Response> {
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
    Ok(Response::bytes(encoding.media(), body))
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

/// Returns the error message for the sender; empty if there is nothing to report. Data points
/// flagged as having no value are left out on purpose and not mentioned.
fn message(outcome: &BulkOutcome) -> String {
    let mut parts = Vec::new();
    if outcome.rejected() > 0 {
        let total = outcome.accepted() + outcome.rejected();
        let mut rejected = format!("{} of {total} data points rejected", outcome.rejected());
        let mut reasons: Vec<&str> = Vec::new();
        for reason in outcome.reasons() {
            if reasons.len() < OTLP_REASONS_LISTED_MAX && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        rejected.push_str(": ");
        rejected.push_str(&reasons.join("; "));
        parts.push(rejected);
    }
    let summaries = outcome.skipped(SUMMARIES);
    if summaries > 0 {
        parts.push(format!("{summaries} summary data points ignored: summaries are not stored"));
    }
    parts.join(". ")
}
