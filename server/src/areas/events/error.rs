//! The errors of the area and their codes.

use telltale_engine::limits::RESERVED_PREFIX;
use telltale_engine::{Error, InvalidEvent, InvalidName, InvalidProperties};

use crate::http::{ApiError, ErrorCode};
use crate::platform::json::InvalidJson;
use crate::platform::telemetry::batch::InvalidBatch;
use crate::platform::telemetry::query_params::InvalidQueryParams;
use crate::platform::time::InvalidTime;

/// The reason for which a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum EventsError {
    /// The body cannot be parsed.
    #[error(transparent)]
    Body(#[from] InvalidJson),
    /// The body is not an object.
    #[error("the body must be a JSON object")]
    NotAnObject,
    /// The body is not a batch.
    #[error(transparent)]
    Batch(#[from] InvalidBatch),
    /// A single event is refused.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A query is invalid.
    #[error(transparent)]
    Query(#[from] InvalidQueryParams),
    /// The engine failed or refused the request.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// The reason for which an event is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InputError {
    /// The item is not an object.
    #[error("an event must be an object")]
    NotAnObject,
    /// A field is given more than once.
    #[error("{0} must be given only once")]
    Twice(Field),
    /// The name is absent or empty.
    #[error("name is required")]
    NameMissing,
    /// The name is reserved for events that the server writes.
    #[error("name {0:?} is reserved: names that begin with {RESERVED_PREFIX} belong to the server")]
    NameReserved(String),
    /// The name is not a string.
    #[error("name must be a string")]
    NameForm,
    /// The timestamp is not a string.
    #[error("timestamp must be a string")]
    TimeForm,
    /// The timestamp cannot be parsed or is out of range.
    #[error("timestamp {0}")]
    Time(InvalidTime),
    /// The user is neither a string nor a number.
    #[error("user_id must be a string of 1 to {max} characters or a number", max = telltale_engine::limits::USER_CHARS_MAX)]
    UserForm,
    /// The value is not a finite number.
    #[error("value must be a finite number")]
    Value,
    /// The properties are not an object.
    #[error("properties must be an object")]
    PropertiesForm,
    /// The properties contain a number outside the range of 64-bit floats.
    #[error("numbers in properties must be finite")]
    PropertyNumber,
    /// The properties are too large or too deep.
    #[error(transparent)]
    Properties(#[from] InvalidProperties),
    /// The tags are not an object.
    #[error("tags must be an object")]
    TagsForm,
    /// The value of the tag with this key is not a string.
    #[error("the value of tag {0:?} must be a string")]
    TagValue(String),
    /// The engine refuses the name, the time, the user, the value or the tags.
    #[error(transparent)]
    Refused(#[from] InvalidEvent),
}

/// The fields of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `name`
    Name,
    /// `timestamp`
    Timestamp,
    /// `user_id`
    User,
    /// `value`
    Value,
    /// `properties`
    Properties,
    /// `tags`
    Tags,
}

impl Field {
    /// Returns the name of the field in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Timestamp => "timestamp",
            Self::User => "user_id",
            Self::Value => "value",
            Self::Properties => "properties",
            Self::Tags => "tags",
        }
    }

    fn code(self) -> ErrorCode {
        match self {
            Self::Name => ErrorCode::InvalidName,
            Self::Timestamp => ErrorCode::InvalidTimestamp,
            Self::User | Self::Properties => ErrorCode::InvalidField,
            Self::Value => ErrorCode::InvalidValue,
            Self::Tags => ErrorCode::InvalidTags,
        }
    }
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<EventsError> for ApiError {
    fn from(error: EventsError) -> Self {
        match error {
            EventsError::Body(error) => error.into(),
            EventsError::NotAnObject => Self::new(ErrorCode::InvalidJson, error.to_string()),
            EventsError::Batch(error) => error.into(),
            EventsError::Input(error) => error.into(),
            EventsError::Query(error) => error.into(),
            EventsError::Engine(error) => error.into(),
        }
    }
}

impl From<InputError> for ApiError {
    fn from(error: InputError) -> Self {
        let message = error.to_string();
        let field = match &error {
            InputError::NotAnObject => return Self::new(ErrorCode::InvalidValue, message),
            InputError::NameMissing
            | InputError::Refused(InvalidEvent::Name(InvalidName::Empty)) => {
                return Self::new(ErrorCode::MissingName, message).field(Field::Name.as_str());
            }
            InputError::NameReserved(_) => {
                return Self::new(ErrorCode::ReservedName, message).field(Field::Name.as_str());
            }
            InputError::Twice(field) => *field,
            InputError::NameForm | InputError::Refused(InvalidEvent::Name(_)) => Field::Name,
            InputError::TimeForm
            | InputError::Time(_)
            | InputError::Refused(InvalidEvent::Time) => Field::Timestamp,
            InputError::UserForm | InputError::Refused(InvalidEvent::User) => Field::User,
            InputError::Value | InputError::Refused(InvalidEvent::Value) => Field::Value,
            InputError::PropertiesForm | InputError::PropertyNumber | InputError::Properties(_) => {
                Field::Properties
            }
            InputError::TagsForm
            | InputError::TagValue(_)
            | InputError::Refused(InvalidEvent::Tags(_)) => Field::Tags,
        };
        Self::new(field.code(), message).field(field.as_str())
    }
}
