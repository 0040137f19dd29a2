//! Parses the JSON of an event into an occurrence. SDKs send null, other types and the forms of
//! older protocol versions in any field, so unreadable fields are left out and the event is kept.

use std::borrow::Cow;

use telltale_engine::TimestampMs;

use super::super::event_id::parse_event_id;
use super::super::model::SentLevel;
use super::super::occurrence::{
    Exception, Frame, Occurrence, Section, Tag, User, string_value, truncate,
};
use crate::limits;
use crate::platform::json::{Elements, Json, Number, Value};
use crate::platform::time;

/// Parses an event.
pub(in crate::areas::errors) fn read_event(event: Value<'_>) -> Occurrence<'_> {
    let mut read = Occurrence::default();
    let Json::Object(members) = event.json() else { return read };
    let mut threads = None;
    for (name, value) in members {
        match name {
            "event_id" => read.event_id = string_value(value).and_then(|id| parse_event_id(&id)),
            "timestamp" => read.time = timestamp(value),
            "level" => {
                read.level =
                    string_value(value).and_then(|l| SentLevel::parse(&l)).unwrap_or_default()
            }
            "platform" => read.platform = short(value),
            "logger" => read.logger = short(value),
            "transaction" => read.transaction = short(value),
            "server_name" => read.server_name = short(value),
            "release" => read.release = short(value),
            "dist" => read.dist = short(value),
            "environment" => read.environment = short(value),
            "message" | "logentry" | "sentry.interfaces.Message" => message(value, &mut read),
            "exception" | "sentry.interfaces.Exception" => read.exceptions = exceptions(value),
            "stacktrace" => read.frames = frames(value),
            "threads" => threads = Some(value),
            "fingerprint" => read.fingerprint = fingerprint(value),
            "user" => read.user = user(value),
            "tags" => read.tags = tags(value),
            _ => read.sections.extend(section(name).map(|section| (section, value))),
        }
    }
    if read.exceptions.is_empty() && read.frames.is_empty() {
        read.frames = threads.and_then(only_thread).map(frames).unwrap_or_default();
    }
    read
}

fn section(name: &str) -> Option<Section> {
    Some(match name {
        "request" | "sentry.interfaces.Http" => Section::Request,
        "contexts" => Section::Contexts,
        "breadcrumbs" => Section::Breadcrumbs,
        "extra" => Section::Extra,
        "modules" => Section::Modules,
        "sdk" => Section::Sdk,
        _ => return None,
    })
}

/// Returns a string truncated to the length of a field.
fn short(value: Value<'_>) -> Option<Cow<'_, str>> {
    within(string_value(value)?, limits::ERROR_FIELD_CHARS_MAX)
}

/// Returns a string truncated to the length of a message.
fn long(value: Value<'_>) -> Option<Cow<'_, str>> {
    within(string_value(value)?, limits::ERROR_MESSAGE_CHARS_MAX)
}

fn within(text: Cow<'_, str>, chars_max: usize) -> Option<Cow<'_, str>> {
    Some(match text {
        Cow::Borrowed(text) => Cow::Borrowed(truncate(text, chars_max)),
        Cow::Owned(text) => Cow::Owned(truncate(&text, chars_max).to_owned()),
    })
}

/// Parses a time: a string, or seconds since the epoch.
fn timestamp(value: Value<'_>) -> Option<TimestampMs> {
    let seconds = match value.json() {
        Json::Text(text) => match time::parse(text) {
            Some(time) => return Some(time),
            None => text.parse::<f64>().ok()?,
        },
        Json::Number(number) => number.as_f64(),
        _ => return None,
    };
    // About 30 000 years around the epoch: the conversion to `i64` cannot overflow.
    let ms = (seconds * 1_000.0).round();
    (ms.abs() < 1e15).then_some(TimestampMs(ms as i64))
}

/// Reads a message: a string, or an object with the message and its template.
fn message<'d>(value: Value<'d>, read: &mut Occurrence<'d>) {
    let Json::Object(members) = value.json() else {
        read.message = read.message.take().or_else(|| long(value));
        return;
    };
    let (mut formatted, mut template) = (None, None);
    for (name, value) in members {
        match name {
            "formatted" => formatted = long(value),
            "message" => template = long(value),
            _ => {}
        }
    }
    read.message = formatted.or_else(|| template.clone()).or_else(|| read.message.take());
    read.template = template.or_else(|| read.template.take());
}

/// Returns the elements of `{"values": […]}` or of a list, or a single object.
fn values(value: Value<'_>) -> Vec<Value<'_>> {
    match value.json() {
        Json::Array(elements) => elements.collect(),
        Json::Object(_) => match member(value, "values").map(Value::json) {
            Some(Json::Array(elements)) => elements.collect(),
            Some(_) => Vec::new(),
            None => vec![value],
        },
        _ => Vec::new(),
    }
}

/// Parses a chain of exceptions. Of a chain that is too long, keeps the last ones, which include
/// the raised one.
fn exceptions(value: Value<'_>) -> Vec<Exception<'_>> {
    let all = values(value);
    let skipped = all.len().saturating_sub(limits::ERROR_EXCEPTIONS_MAX);
    let read = all.into_iter().skip(skipped).map(exception);
    read.filter(|one| one.kind.is_some() || one.value.is_some() || !one.frames.is_empty()).collect()
}

fn exception(value: Value<'_>) -> Exception<'_> {
    let mut read = Exception::default();
    let Json::Object(members) = value.json() else { return read };
    for (name, value) in members {
        match name {
            "type" => read.kind = short(value),
            "value" => read.value = long(value),
            "module" => read.module = short(value),
            "stacktrace" => read.frames = frames(value),
            "mechanism" => mechanism(value, &mut read),
            _ => {}
        }
    }
    read
}

fn mechanism<'d>(value: Value<'d>, read: &mut Exception<'d>) {
    let Json::Object(members) = value.json() else { return };
    for (name, value) in members {
        match (name, value.json()) {
            ("type", _) => read.mechanism = short(value),
            ("handled", Json::Bool(handled)) => read.handled = Some(handled),
            ("synthetic", Json::Bool(synthetic)) => read.synthetic = synthetic,
            _ => {}
        }
    }
}

/// Parses the frames of a stack. Of a long one, keeps the outermost and the innermost.
fn frames(stack: Value<'_>) -> Vec<Frame<'_>> {
    let Some(Json::Array(elements)) = member(stack, "frames").map(Value::json) else {
        return Vec::new();
    };
    let (max, half) = (limits::ERROR_FRAMES_MAX, limits::ERROR_FRAMES_MAX / 2);
    let all = elements.len();
    let kept = |(at, _): &(usize, Value<'_>)| all <= max || *at < half || *at >= all - (max - half);
    elements.enumerate().filter(kept).filter_map(|(_, value)| frame(value)).collect()
}

fn frame(value: Value<'_>) -> Option<Frame<'_>> {
    let Json::Object(members) = value.json() else { return None };
    let mut read = Frame::default();
    for (name, value) in members {
        match name {
            "filename" => read.filename = short(value),
            "abs_path" => read.abs_path = short(value),
            "function" => read.function = short(value),
            "module" => read.module = short(value),
            "package" => read.package = short(value),
            "lineno" => read.line = integer(value),
            "colno" => read.column = integer(value),
            "context_line" => read.context = short(value),
            "vars" => read.vars = Some(value),
            "in_app" => {
                if let Json::Bool(in_app) = value.json() {
                    read.in_app = Some(in_app);
                }
            }
            _ => {}
        }
    }
    let fields = [&read.filename, &read.abs_path, &read.function, &read.module];
    fields.iter().any(|field| field.is_some()).then_some(read)
}

fn integer(value: Value<'_>) -> Option<u64> {
    match value.json() {
        Json::Number(Number::Unsigned(n)) => Some(n),
        Json::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// Returns the stack of the only thread, or of the only thread that crashed.
fn only_thread(threads: Value<'_>) -> Option<Value<'_>> {
    let all = values(threads);
    let crashed = |thread: &&Value<'_>| {
        member(**thread, "crashed").is_some_and(|value| matches!(value.json(), Json::Bool(true)))
    };
    let only = match all.as_slice() {
        [only] => Some(*only),
        several => {
            let mut crashed = several.iter().filter(crashed);
            crashed.next().filter(|_| crashed.next().is_none()).copied()
        }
    };
    member(only?, "stacktrace")
}

/// Returns the field with this name.
fn member<'d>(object: Value<'d>, wanted: &str) -> Option<Value<'d>> {
    let Json::Object(mut members) = object.json() else { return None };
    members.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

fn fingerprint(value: Value<'_>) -> Vec<Cow<'_, str>> {
    let Json::Array(elements) = value.json() else { return Vec::new() };
    elements.take(limits::ERROR_FINGERPRINTS_MAX).filter_map(short).collect()
}

fn user(value: Value<'_>) -> User<'_> {
    let mut read = User::default();
    let Json::Object(members) = value.json() else { return read };
    let field = |value| within(string_value(value)?, telltale_engine::limits::USER_CHARS_MAX);
    for (name, value) in members {
        match name {
            "id" => read.id = field(value),
            "email" => read.email = field(value),
            "username" => read.username = field(value),
            // SDKs in browsers do not know the address and send this to have the server insert it.
            "ip_address" => read.ip_address = field(value).filter(|ip| ip != "{{auto}}"),
            _ => {}
        }
    }
    read
}

/// Parses tags: an object, or a list of pairs. Of duplicate keys, the last one counts.
fn tags(value: Value<'_>) -> Vec<Tag<'_>> {
    let mut read: Vec<Tag<'_>> = Vec::new();
    match value.json() {
        Json::Object(members) => {
            for (key, value) in members.take(limits::ERROR_TAGS_MAX) {
                add_tag(&mut read, Some(Cow::Borrowed(key)), value);
            }
        }
        Json::Array(elements) => {
            for pair in elements.take(limits::ERROR_TAGS_MAX) {
                let Json::Array(pair) = pair.json() else { continue };
                if let Some((key, value)) = key_and_value(pair) {
                    add_tag(&mut read, string_value(key), value);
                }
            }
        }
        _ => {}
    }
    read
}

fn add_tag<'d>(read: &mut Vec<Tag<'d>>, key: Option<Cow<'d, str>>, value: Value<'d>) {
    let key =
        key.filter(|key| !key.is_empty()).and_then(|key| within(key, limits::ERROR_TAG_CHARS_MAX));
    let value = string_value(value).and_then(|value| within(value, limits::ERROR_TAG_CHARS_MAX));
    let (Some(key), Some(value)) = (key, value) else { return };
    match read.iter_mut().find(|(known, _)| *known == key) {
        Some((_, known)) => *known = value,
        None => read.push((key, value)),
    }
}

fn key_and_value(mut pair: Elements<'_>) -> Option<(Value<'_>, Value<'_>)> {
    Some((pair.next()?, pair.next()?))
}
