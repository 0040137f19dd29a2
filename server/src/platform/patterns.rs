//! What texts of requests look like, as regular expressions that hold in every dialect, for the OpenAPI document. The
//! rules themselves are where the texts are read.

use schemars::{Schema, SchemaGenerator, json_schema};

/// No control characters, and something that is no white space.
pub const LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000][^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// No control characters.
pub const NO_CONTROL: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// Something that is no white space.
pub const NOT_BLANK: &str = "[^\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
/// An email address, roughly.
pub const EMAIL: &str = "^[!-~]+@[!-?A-~]+$";
/// The name of a queue.
pub const QUEUE: &str = "^[A-Za-z0-9_.:-]+$";
/// A length of time such as `30m`, `24h`, `7d` or `2w`.
pub const SPAN: &str = "^[1-9][0-9]{0,2}[mhdw]$";
/// The same, or for ever.
pub const SPAN_OR_FOREVER: &str = "^(forever|[1-9][0-9]{0,2}[mhdw])$";
/// The id of a job.
pub const JOB_ID: &str = "^job_[0-7][0-9A-HJKMNP-TV-Z]{25}$";

/// A date with a time, or null.
pub fn optional_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "null" }] })
}

/// A date with or without a time, or null. What else query parameters take for a time is taken too.
pub fn optional_time_or_date(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "string", "format": "date-time" },
            { "type": "string", "format": "date" },
            { "type": "null" },
        ],
    })
}
