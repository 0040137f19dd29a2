//! Conversion of engine and platform errors to API errors, by exhaustive matches.

use telltale_engine::{Error, InvalidName, MetricName, Refusal};

use super::admission::{MEMORY_FULL, overloaded};
use super::error::{ApiError, ErrorCode};
use super::path_param::PathParam;
use crate::limits;
use crate::platform::fields::{FieldRule, Invalid};
use crate::platform::json::InvalidJson;
use crate::platform::telemetry::batch::InvalidBatch;
use crate::platform::telemetry::query_params::InvalidQueryParams;

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Unavailable(_) => Self::new(
                ErrorCode::Unavailable,
                "the storage accepts no writes at the moment; try again later",
            )
            .retry_after(limits::UNAVAILABLE_RETRY_SECONDS)
            .caused_by(error),
            Error::MemoryFull(full) => overloaded(MEMORY_FULL).caused_by(full),
            Error::Overloaded(_) => {
                Self::new(ErrorCode::Overloaded, "the storage cannot keep up; send more slowly")
                    .retry_after(limits::OVERLOADED_RETRY_SECONDS)
                    .caused_by(error)
            }
            // Agents retry after this code; many drop the data after other failures.
            Error::Io { .. } | Error::Storage(_) => Self::new(
                ErrorCode::Unavailable,
                "the storage has failed; try again later, writes with the same Idempotency-Key",
            )
            .retry_after(limits::UNAVAILABLE_RETRY_SECONDS)
            .caused_by(error),
            Error::Corrupt(_) | Error::Encoder(_) | Error::Open { .. } => Self::internal(error),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let (code, field) = match &refusal {
            Refusal::MetricNotFound(name) => return Self::missing(MetricName::RESOURCE, name),
            Refusal::TypeConflict { .. } => (ErrorCode::TypeConflict, "type"),
            Refusal::CardinalityLimit(_) => (ErrorCode::CardinalityLimit, "tags"),
            Refusal::NameReserved(_) => (ErrorCode::ReservedName, "name"),
            Refusal::Name(InvalidName::Empty) => (ErrorCode::MissingName, "name"),
            Refusal::Name(
                InvalidName::TooLong | InvalidName::ControlCharacter | InvalidName::Blank,
            ) => (ErrorCode::InvalidName, "name"),
            Refusal::Tags(_) => (ErrorCode::InvalidTags, "tags"),
            Refusal::Aggregation { .. } => (ErrorCode::InvalidAggregation, "aggregation"),
            Refusal::Range(_) => (ErrorCode::InvalidRange, "from"),
            Refusal::GroupBy(_) => (ErrorCode::InvalidParameter, "group_by"),
            // The areas check `If-Match` themselves; this is a conflict between concurrent changes.
            Refusal::Conflict => return Self::new(ErrorCode::Conflict, refusal.to_string()),
        };
        Self::new(code, refusal.to_string()).field(field)
    }
}

impl From<InvalidJson> for ApiError {
    fn from(invalid: InvalidJson) -> Self {
        let code = match invalid {
            InvalidJson::MemoryFull(full) if full.bytes <= full.limit => {
                return overloaded(MEMORY_FULL).caused_by(full);
            }
            InvalidJson::MemoryFull(_) => {
                let message = "the body has more values than fit into memory (memory.limit)";
                return Self::new(ErrorCode::PayloadTooLarge, message);
            }
            InvalidJson::TooManyValues => ErrorCode::PayloadTooLarge,
            InvalidJson::Empty
            | InvalidJson::Malformed(_)
            | InvalidJson::NotAnObject
            | InvalidJson::DuplicateKey(_)
            | InvalidJson::TooDeep(_) => ErrorCode::InvalidJson,
        };
        Self::new(code, invalid.to_string())
    }
}

impl From<InvalidBatch> for ApiError {
    fn from(invalid: InvalidBatch) -> Self {
        let message = invalid.to_string();
        let (code, field) = match invalid {
            InvalidBatch::NotAnObject | InvalidBatch::Twice(_) => {
                return Self::new(ErrorCode::InvalidJson, message);
            }
            InvalidBatch::Missing(key) => (ErrorCode::MissingField, key),
            InvalidBatch::NotAnArray(key) => (ErrorCode::InvalidParameter, key),
            InvalidBatch::TooLong { key, .. } => (ErrorCode::BatchTooLarge, key),
        };
        Self::new(code, message).field(field)
    }
}

impl From<InvalidQueryParams> for ApiError {
    fn from(invalid: InvalidQueryParams) -> Self {
        let message = invalid.to_string();
        let (code, field) = match invalid {
            InvalidQueryParams::Time(field) => (ErrorCode::InvalidTimestamp, field.into()),
            InvalidQueryParams::RangeEmpty
            | InvalidQueryParams::TooManyBuckets(_)
            | InvalidQueryParams::TooManyPoints(_) => (ErrorCode::InvalidRange, "from".into()),
            InvalidQueryParams::Interval => (ErrorCode::InvalidInterval, "interval".into()),
            InvalidQueryParams::Parameter { field, .. } => (ErrorCode::InvalidParameter, field),
        };
        Self::new(code, message).field(field)
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        let code = match invalid.rule {
            FieldRule::NameMissing => ErrorCode::MissingName,
            FieldRule::Name => ErrorCode::InvalidName,
            FieldRule::Missing => ErrorCode::MissingField,
            FieldRule::Query => ErrorCode::InvalidQuery,
            FieldRule::Timestamp => ErrorCode::InvalidTimestamp,
            FieldRule::Field => ErrorCode::InvalidField,
        };
        Self::new(code, invalid.to_string()).field(invalid.field)
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::{InvalidTags, Memory, MemoryOwner, MetricType};

    use super::*;
    use crate::jobs::{InvalidJob, JobsError};
    use crate::platform::keys::{InvalidKey, KeyError};

    /// Returns every message produced here, with the numbers 1 and 2 where it contains a number.
    fn messages() -> Vec<String> {
        let all = [of_jobs(), of_bodies_and_queries(), of_the_engine()].concat();
        assert!(all.len() > 60);
        all
    }

    fn name() -> String {
        "a".to_owned()
    }

    fn messages_of(all: &[ApiError]) -> Vec<String> {
        all.iter().map(|error| error.message().to_owned()).collect()
    }

    fn of_jobs() -> Vec<String> {
        let mut all: Vec<ApiError> = Vec::new();
        for n in [1, 2] {
            all.extend([
                JobsError::QueueFull { queue: name(), max: n }.into(),
                JobsError::TooManyJobs { max: n }.into(),
                JobsError::TooManyJobBytes { max: n }.into(),
                super::super::body::too_large(n),
            ]);
        }
        let jobs = [
            JobsError::QueueNotFound(name()),
            JobsError::JobNotFound(name()),
            JobsError::WorkerNotFound(name()),
            JobsError::DeadJobNotFound(name()),
            JobsError::ReservationLost,
            JobsError::NotPaused,
            JobsError::QueueNotEmpty,
            JobsError::NotRunnable("running"),
            JobsError::NotDeletable("running"),
            JobsError::OwnWorker,
            JobsError::TooManyQueues,
            JobsError::TooManyWorkers,
            JobsError::TooManyWaiting,
            JobsError::Overloaded,
            JobsError::Unavailable(name()),
            JobsError::Failed(name()),
        ];
        let rules = [
            InvalidJob::Queue,
            InvalidJob::QueueReserved,
            InvalidJob::QueuesReserved,
            InvalidJob::Class,
            InvalidJob::UniqueKey,
            InvalidJob::ArgumentsForm,
            InvalidJob::ArgumentsSize,
            InvalidJob::Attempts,
            InvalidJob::Timeout,
            InvalidJob::Queues,
            InvalidJob::Concurrency,
            InvalidJob::Hostname,
        ];
        all.extend(jobs.map(ApiError::from));
        all.extend(rules.map(ApiError::from));
        messages_of(&all)
    }

    fn of_bodies_and_queries() -> Vec<String> {
        let batches = [
            InvalidBatch::NotAnObject,
            InvalidBatch::Twice("metrics"),
            InvalidBatch::Missing("metrics"),
            InvalidBatch::NotAnArray("metrics"),
            InvalidBatch::TooLong { key: "metrics", items: 501 },
        ];
        let queries = [
            InvalidQueryParams::Time("from"),
            InvalidQueryParams::RangeEmpty,
            InvalidQueryParams::TooManyBuckets(50_001),
            InvalidQueryParams::TooManyPoints(1_000_001),
            InvalidQueryParams::Interval,
        ];
        let keys = [
            InvalidKey::NameMissing,
            InvalidKey::Name,
            InvalidKey::User,
            InvalidKey::Scopes,
            InvalidKey::PublicScopes,
        ];
        let documents = [
            InvalidJson::Empty,
            InvalidJson::Malformed("a value is expected at line 1, column 2".to_owned()),
            InvalidJson::NotAnObject,
            InvalidJson::DuplicateKey(name()),
            InvalidJson::TooDeep(127),
            InvalidJson::TooManyValues,
        ];
        let mut all: Vec<ApiError> = batches.map(ApiError::from).into();
        all.extend(queries.map(ApiError::from));
        all.extend(keys.map(ApiError::from));
        all.extend(documents.map(ApiError::from));
        messages_of(&all)
    }

    fn of_the_engine() -> Vec<String> {
        let refusals = [
            Refusal::MetricNotFound(name()),
            Refusal::TypeConflict { name: name(), is: MetricType::Gauge, wanted: MetricType::Set },
            Refusal::NameReserved(name()),
            Refusal::Name(InvalidName::Empty),
            Refusal::Name(InvalidName::TooLong),
            Refusal::Name(InvalidName::ControlCharacter),
            Refusal::Name(InvalidName::Blank),
            Refusal::Tags(InvalidTags::TooMany),
            Refusal::Tags(InvalidTags::Key(name())),
            Refusal::Tags(InvalidTags::Value(name())),
            Refusal::Tags(InvalidTags::Duplicate(name())),
            Refusal::Conflict,
        ];
        let mut all: Vec<ApiError> = refusals.map(ApiError::from).into();
        all.push(KeyError::Changed.into());
        all.push(KeyError::TooMany.into());
        all.push(Error::Unavailable(name()).into());
        all.push(Error::Overloaded(name()).into());
        messages_of(&all)
    }

    #[test]
    fn messages_are_plain_sentences_with_the_right_plural() {
        let all = messages();
        for message in &all {
            let inner =
                ["  ", ", expected", "invalid ", "stands", "is wrong", "u32", "usize", "::"];
            assert!(!inner.iter().any(|inner| message.contains(inner)), "{message}");
            assert!(!message.ends_with('.') && !message.contains("{"), "{message}");
            assert!(message.starts_with(|first: char| first.is_lowercase()), "{message}");
            let words: Vec<&str> = message.split([' ', ';', ',']).collect();
            for pair in words.windows(2) {
                if let [number @ ("1" | "2"), noun @ ("byte" | "bytes" | "job" | "jobs")] = pair {
                    assert_eq!(*number == "2", noun.ends_with('s'), "{message}");
                }
            }
        }
        for expected in [
            "the body must have at most 1 byte",
            "the body must have at most 2 bytes",
            "the queue \"a\" is full: it has 1 waiting job (jobs.queue_waiting_max)",
            "the queue \"a\" is full: it has 2 waiting jobs (jobs.queue_waiting_max)",
        ] {
            assert!(all.iter().any(|message| message == expected), "{expected}");
        }
    }

    #[test]
    fn full_memory_and_a_slow_storage_have_different_messages() {
        let full = Memory::new(10).take(MemoryOwner::Queries, 100).unwrap_err();
        for (error, expected) in [
            (Error::from(full), MEMORY_FULL),
            (Error::Overloaded("too many bytes wait".to_owned()), "the storage cannot keep up"),
        ] {
            let converted = ApiError::from(error);
            assert!(converted.message().starts_with(expected), "{}", converted.message());
            assert_eq!(
                (converted.code(), converted.retry_after_seconds()),
                (ErrorCode::Overloaded, Some(1))
            );
        }
    }
}
