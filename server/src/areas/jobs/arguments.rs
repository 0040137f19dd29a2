//! The arguments of a job: a JSON object that is returned exactly as it was sent.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::jobs::InvalidJob;
use crate::limits;

/// The arguments in a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arguments(pub(super) Box<str>);

impl Arguments {
    /// Checks that `sent` is an object within the size limit; if absent, returns an empty object.
    pub(super) fn read(sent: Option<&RawValue>) -> Result<Box<str>, InvalidJob> {
        let json = sent.map_or("{}", |raw| raw.get().trim());
        if !json.starts_with('{') {
            return Err(InvalidJob::ArgumentsForm);
        }
        if json.len() > limits::JOB_ARGUMENTS_BYTES_MAX {
            return Err(InvalidJob::ArgumentsSize);
        }
        Ok(json.into())
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl JsonSchema for Arguments {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "description": "The arguments as sent." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Box<str>, InvalidJob> {
        Arguments::read(Some(serde_json::from_str::<&RawValue>(json).unwrap()))
    }

    #[test]
    fn arguments_are_returned_as_sent() {
        let sent = r#"{"z":1.10, "a":123456789012345678901234567890}"#;
        let kept = read(sent).unwrap();
        assert_eq!(serde_json::to_string(&Arguments(kept)).unwrap(), sent);
        assert_eq!(&*Arguments::read(None).unwrap(), "{}");
    }

    #[test]
    fn arguments_that_are_not_an_object_or_too_large_are_refused() {
        for other in ["1", "\"a\"", "true", "[]", "[1, 2]", "[{}]"] {
            assert_eq!(read(other), Err(InvalidJob::ArgumentsForm), "{other}");
        }
        let of = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
        let max = limits::JOB_ARGUMENTS_BYTES_MAX;
        assert_eq!(read(&of(max)).unwrap().len(), max);
        assert_eq!(read(&of(max + 1)), Err(InvalidJob::ArgumentsSize));
    }
}
