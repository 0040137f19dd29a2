//! Regular expressions for strings in requests, in the subset common to all dialects, for the
//! OpenAPI document. The parsers of the strings enforce the rules.

use schemars::{Schema, SchemaGenerator, json_schema};

/// No control characters, and at least one character that is not white space.
pub const LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000][^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// No control characters.
pub const NO_CONTROL: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// At least one character that is not white space.
pub const NOT_BLANK: &str = "[^\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
/// An email address, roughly.
pub const EMAIL: &str = "^[!-~]+@[!-?A-~]+$";
/// The name of a queue.
pub const QUEUE: &str = "^[A-Za-z0-9_.:-]+$";
/// A duration such as `30m`, `24h`, `7d` or `2w`.
pub const SPAN: &str = "^[1-9][0-9]{0,2}[mhdw]$";
/// The same, or `forever`.
pub const DURATION_OR_FOREVER: &str = "^(forever|[1-9][0-9]{0,2}[mhdw])$";
/// The id of a job.
pub const JOB_ID: &str = "^job_[0-7][0-9A-HJKMNP-TV-Z]{25}$";
/// The id of a dead job.
pub const DEAD_JOB_ID: &str = "^dead_[0-7][0-9A-HJKMNP-TV-Z]{25}$";

/// Returns the schema of a date-time, or null.
pub fn optional_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "null" }] })
}

/// Returns the schema of a date-time or a date, or null. Query parameters accept further forms.
pub fn optional_time_or_date(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "string", "format": "date-time" },
            { "type": "string", "format": "date" },
            { "type": "null" },
        ],
    })
}
