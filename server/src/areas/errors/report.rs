//! Parses the body of `POST /api/v1/errors`, by which programs without an SDK report errors. Unlike
//! in SDK events, a field of the wrong type is rejected.

use std::borrow::Cow;

use telltale_engine::{PropertiesWriter, TimestampMs};

use super::error::ErrorsError;
use super::model::SentLevel;
use super::occurrence::{Exception, Frame, Occurrence, Tag, User, string_value, truncate};
use super::ops::{self, Admitted};
use super::prepare::{Arrival, prepare};
use crate::app::App;
use crate::limits;
use crate::platform::json::{InvalidJson, Json, Members, Value, reserve_document, with_document};
use crate::platform::time;

/// Parses a body and assigns its occurrence to a group. Blocks.
pub(super) fn admit(app: &App, body: &[u8], arrival: Arrival) -> Result<Admitted, ErrorsError> {
    let mut writer = PropertiesWriter::default();
    let reserved = reserve_document(body, app.engine().memory())?;
    let prepared = read(body, arrival.now, |occurrence| {
        prepare(&occurrence, arrival, app.errors().scrubber(), &mut writer)
    })?;
    drop(reserved);
    ops::admit(app, prepared.as_slice())
}

/// Parses a body and passes its occurrence to `use_occurrence`.
pub(super) fn read<R>(
    body: &[u8],
    now: TimestampMs,
    use_occurrence: impl FnOnce(Occurrence<'_>) -> R,
) -> Result<R, ErrorsError> {
    with_document(body, |document| report(document, now).map(use_occurrence))?
}

fn report(document: Value<'_>, now: TimestampMs) -> Result<Occurrence<'_>, ErrorsError> {
    let Json::Object(members) = document.json() else {
        return Err(ErrorsError::Body(InvalidJson::NotAnObject));
    };
    let mut read = Occurrence::default();
    for (name, value) in members.filter(|(_, value)| !matches!(value.json(), Json::Null)) {
        match name {
            "exception" => read.exceptions = vec![exception(value)?],
            "message" => {
                read.message =
                    Some(string_field("message", value, limits::ERROR_MESSAGE_CHARS_MAX)?)
            }
            "level" => read.level = level(value)?,
            "timestamp" => read.time = Some(timestamp(value, now)?),
            "user" => read.user = user(value)?,
            "tags" => read.tags = tags(value)?,
            "fingerprint" => read.fingerprint = fingerprint(value)?,
            "environment" => read.environment = Some(short("environment", value)?),
            "release" => read.release = Some(short("release", value)?),
            "transaction" => read.transaction = Some(short("transaction", value)?),
            "server_name" => read.server_name = Some(short("server_name", value)?),
            // Unknown fields are ignored.
            _ => {}
        }
    }
    if read.exceptions.is_empty() && read.message.is_none() {
        return Err(ErrorsError::MissingOneOf("exception", "exception or message is required"));
    }
    Ok(read)
}

fn exception(value: Value<'_>) -> Result<Exception<'_>, ErrorsError> {
    let members = object("exception", value)?;
    let mut read = Exception::default();
    for (name, value) in members.filter(|(_, value)| !matches!(value.json(), Json::Null)) {
        match name {
            "type" => read.kind = Some(short("exception.type", value)?),
            "message" => {
                read.value = Some(string_field(
                    "exception.message",
                    value,
                    limits::ERROR_MESSAGE_CHARS_MAX,
                )?);
            }
            "module" => read.module = Some(short("exception.module", value)?),
            "backtrace" => read.frames = backtrace(value)?,
            _ => {}
        }
    }
    let has_content = [&read.kind, &read.value].into_iter().flatten().any(|text| !text.is_empty());
    let missing = ErrorsError::MissingOneOf(
        "exception.type",
        "exception.type or exception.message is required",
    );
    if has_content { Ok(read) } else { Err(missing) }
}

/// Parses a backtrace, in which the newest frame is first; [`Exception::frames`] has it last.
fn backtrace(value: Value<'_>) -> Result<Vec<Frame<'_>>, ErrorsError> {
    const FIELD: &str = "exception.backtrace";
    let Json::Array(lines) = value.json() else {
        return Err(ErrorsError::field(FIELD, "must be an array of strings"));
    };
    let (max, half) = (limits::ERROR_FRAMES_MAX, limits::ERROR_FRAMES_MAX / 2);
    let all = lines.len();
    let mut frames = Vec::with_capacity(all.min(max));
    for (at, value) in lines.enumerate() {
        let Json::Text(text) = value.json() else {
            return Err(ErrorsError::field(FIELD, "must be an array of strings"));
        };
        if all <= max || at < half || at >= all - (max - half) {
            frames.push(frame(truncate(text.trim(), limits::ERROR_FIELD_CHARS_MAX)));
        }
    }
    frames.reverse();
    Ok(frames)
}

/// Parses `file:12 in function`, or Ruby's `file:12:in 'function'`. Any other line becomes the file
/// name.
fn frame(text: &str) -> Frame<'_> {
    let (location, function) = match text.split_once(":in ").or_else(|| text.split_once(" in ")) {
        Some((location, function)) => (location, Some(function.trim_matches(['`', '\'', '"']))),
        None => (text, None),
    };
    let numbered =
        location.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line) = match numbered {
        Some((file, line)) => (file, Some(line)),
        None => (location, None),
    };
    let non_empty = |text: &'_ str| !text.is_empty();
    Frame {
        filename: Some(file).filter(|file| non_empty(file)).map(Cow::Borrowed),
        function: function.filter(|function| non_empty(function)).map(Cow::Borrowed),
        line,
        ..Frame::default()
    }
}

fn level(value: Value<'_>) -> Result<SentLevel, ErrorsError> {
    let known = match value.json() {
        Json::Text(text) => SentLevel::parse(text),
        _ => None,
    };
    known.ok_or_else(|| {
        ErrorsError::field("level", "must be one of fatal, error, warning, info, debug")
    })
}

fn timestamp(value: Value<'_>, now: TimestampMs) -> Result<TimestampMs, ErrorsError> {
    match value.json() {
        Json::Text(text) => time::parse_recorded(text, now).map_err(ErrorsError::Time),
        _ => Err(ErrorsError::Time(time::InvalidTime::Unreadable)),
    }
}

fn user(value: Value<'_>) -> Result<User<'_>, ErrorsError> {
    let mut read = User::default();
    for (name, value) in object("user", value)? {
        let slot = match name {
            "id" => &mut read.id,
            "email" => &mut read.email,
            "username" => &mut read.username,
            "ip_address" => &mut read.ip_address,
            _ => continue,
        };
        let max = telltale_engine::limits::USER_CHARS_MAX;
        match value.json() {
            Json::Null => {}
            Json::Text(_) | Json::Number(_) => {
                *slot = string_value(value).map(|text| Cow::Owned(truncate(&text, max).to_owned()));
            }
            _ => {
                let expected = "must be a string or a number";
                return Err(ErrorsError::field(format!("user.{name}"), expected));
            }
        }
    }
    Ok(read)
}

fn tags(value: Value<'_>) -> Result<Vec<Tag<'_>>, ErrorsError> {
    let Json::Object(members) = value.json() else { return Err(ErrorsError::Tags) };
    let max = limits::ERROR_TAG_CHARS_MAX;
    let mut read: Vec<Tag<'_>> = Vec::new();
    for (key, value) in members.take(limits::ERROR_TAGS_MAX) {
        let Json::Text(text) = value.json() else { return Err(ErrorsError::Tags) };
        if key.is_empty() || read.iter().any(|(known, _)| known == key) {
            return Err(ErrorsError::Tags);
        }
        read.push((Cow::Borrowed(truncate(key, max)), Cow::Borrowed(truncate(text, max))));
    }
    Ok(read)
}

fn fingerprint(value: Value<'_>) -> Result<Vec<Cow<'_, str>>, ErrorsError> {
    let invalid = || ErrorsError::field("fingerprint", "must be an array of strings");
    let Json::Array(elements) = value.json() else { return Err(invalid()) };
    let parts = elements.take(limits::ERROR_FINGERPRINTS_MAX).map(|part| match part.json() {
        Json::Text(text) => Ok(Cow::Borrowed(truncate(text, limits::ERROR_FIELD_CHARS_MAX))),
        _ => Err(invalid()),
    });
    parts.collect()
}

fn object<'d>(field: &'static str, value: Value<'d>) -> Result<Members<'d>, ErrorsError> {
    match value.json() {
        Json::Object(members) => Ok(members),
        _ => Err(ErrorsError::field(field, "must be an object")),
    }
}

fn short<'d>(field: &'static str, value: Value<'d>) -> Result<Cow<'d, str>, ErrorsError> {
    string_field(field, value, limits::ERROR_FIELD_CHARS_MAX)
}

/// Returns a string truncated to `chars_max` characters.
fn string_field<'d>(
    field: &'static str,
    value: Value<'d>,
    chars_max: usize,
) -> Result<Cow<'d, str>, ErrorsError> {
    match value.json() {
        Json::Text(text) => Ok(Cow::Borrowed(truncate(text, chars_max))),
        _ => Err(ErrorsError::field(field, "must be a string")),
    }
}
