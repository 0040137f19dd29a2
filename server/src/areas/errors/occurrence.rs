//! An occurrence of an error, as sent and borrowed from the request body: what both protocols
//! produce, and what grouping, scrubbing and storing read.

use std::borrow::Cow;

use telltale_engine::TimestampMs;

use super::model::SentLevel;
use crate::platform::json::{Json, Value};

/// One occurrence. Fields that are absent, null or of the wrong type are `None` or empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Occurrence<'d> {
    /// The id that the sender gave it.
    pub(super) event_id: Option<u128>,
    pub(super) time: Option<TimestampMs>,
    pub(super) level: SentLevel,
    pub(super) platform: Option<Cow<'d, str>>,
    pub(super) logger: Option<Cow<'d, str>>,
    pub(super) transaction: Option<Cow<'d, str>>,
    pub(super) server_name: Option<Cow<'d, str>>,
    pub(super) release: Option<Cow<'d, str>>,
    pub(super) dist: Option<Cow<'d, str>>,
    pub(super) environment: Option<Cow<'d, str>>,
    pub(super) message: Option<Cow<'d, str>>,
    /// The message before its parameters were substituted.
    pub(super) template: Option<Cow<'d, str>>,
    /// The chain of exceptions; the raised one is last.
    pub(super) exceptions: Vec<Exception<'d>>,
    /// The stack of the only thread, or of the only one that crashed.
    pub(super) frames: Vec<Frame<'d>>,
    pub(super) fingerprint: Vec<Cow<'d, str>>,
    pub(super) user: User<'d>,
    pub(super) tags: Vec<Tag<'d>>,
    /// Free-form sections, stored as sent.
    pub(super) sections: Vec<(Section, Value<'d>)>,
}

/// The key and the value of a tag.
pub(super) type Tag<'d> = (Cow<'d, str>, Cow<'d, str>);

/// One exception of a chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Exception<'d> {
    pub(super) kind: Option<Cow<'d, str>>,
    pub(super) value: Option<Cow<'d, str>>,
    pub(super) module: Option<Cow<'d, str>>,
    pub(super) mechanism: Option<Cow<'d, str>>,
    pub(super) handled: Option<bool>,
    /// Whether the SDK made up the exception where none was raised: its type is meaningless.
    pub(super) synthetic: bool,
    /// The oldest frame is first.
    pub(super) frames: Vec<Frame<'d>>,
}

/// One frame of a stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame<'d> {
    pub(super) filename: Option<Cow<'d, str>>,
    pub(super) abs_path: Option<Cow<'d, str>>,
    pub(super) function: Option<Cow<'d, str>>,
    pub(super) module: Option<Cow<'d, str>>,
    /// The library or archive that contains the code; only fingerprints use it.
    pub(super) package: Option<Cow<'d, str>>,
    pub(super) line: Option<u64>,
    pub(super) column: Option<u64>,
    pub(super) in_app: Option<bool>,
    pub(super) context: Option<Cow<'d, str>>,
    pub(super) vars: Option<Value<'d>>,
}

/// The user who was affected.
#[derive(Clone, Debug, Default)]
pub(super) struct User<'d> {
    pub(super) id: Option<Cow<'d, str>>,
    pub(super) email: Option<Cow<'d, str>>,
    pub(super) username: Option<Cow<'d, str>>,
    pub(super) ip_address: Option<Cow<'d, str>>,
}

/// The free-form sections of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Request,
    Contexts,
    Breadcrumbs,
    Extra,
    Modules,
    Sdk,
}

impl Section {
    /// Returns the name of the section, as sent and as stored.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Contexts => "contexts",
            Self::Breadcrumbs => "breadcrumbs",
            Self::Extra => "extra",
            Self::Modules => "modules",
            Self::Sdk => "sdk",
        }
    }
}

impl<'d> User<'d> {
    /// Returns the field that identifies the user: the first of id, email, username and IP address
    /// that is present.
    pub(super) fn key(&self) -> Option<&Cow<'d, str>> {
        self.id
            .as_ref()
            .or(self.email.as_ref())
            .or(self.username.as_ref())
            .or(self.ip_address.as_ref())
    }
}

impl Frame<'_> {
    /// Returns whether the frame belongs to the program itself. Without `in_app`, the path decides.
    pub(super) fn is_in_app(&self) -> bool {
        const DEPENDENCY_PATHS: [&str; 9] = [
            "site-packages",
            "dist-packages",
            "/usr/lib",
            "node_modules",
            ".cargo/registry",
            "/rustc/",
            "/vendor/",
            "/gems/",
            "node:internal",
        ];
        self.in_app.unwrap_or_else(|| {
            let path = self.abs_path.as_deref().or(self.filename.as_deref()).unwrap_or_default();
            !DEPENDENCY_PATHS.iter().any(|part| path.contains(part))
        })
    }
}

impl Occurrence<'_> {
    /// Returns the exception that was raised.
    pub(super) fn raised(&self) -> Option<&Exception<'_>> {
        self.exceptions.last()
    }

    /// Returns one line that describes the occurrence: `Type: message` of the raised exception, or
    /// else the message or the transaction.
    pub(super) fn title(&self) -> String {
        let line = |text: &str| {
            text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
        };
        if let Some(raised) = self.raised() {
            let kind = raised.kind.as_deref().filter(|_| !raised.synthetic).and_then(line);
            let value = raised.value.as_deref().and_then(line);
            match (kind, value) {
                (Some(kind), Some(value)) => return format!("{kind}: {value}"),
                (Some(only), None) | (None, Some(only)) => return only,
                (None, None) => {}
            }
        }
        let message = self.message.as_deref().or(self.template.as_deref()).and_then(line);
        message
            .or_else(|| self.transaction.as_deref().and_then(line))
            .unwrap_or_else(|| "(no message)".to_owned())
    }

    /// Returns where the error occurred: the newest frame of the program itself, or else the
    /// transaction.
    pub(super) fn culprit(&self) -> Option<String> {
        let frames = self.raised().map_or(&self.frames, |raised| &raised.frames);
        let newest = frames.iter().rev().find(|frame| frame.is_in_app());
        let location = newest.and_then(|frame| {
            let file = frame.module.as_deref().or(frame.filename.as_deref())?;
            Some(match frame.function.as_deref() {
                Some(function) => format!("{file} in {function}"),
                None => file.to_owned(),
            })
        });
        location.or_else(|| self.transaction.as_deref().map(str::to_owned))
    }
}

/// Returns a string, or a number or boolean as a string; `None` for an empty string and for other
/// types.
pub(super) fn string_value(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value.json() {
        Json::Text("") => None,
        Json::Text(text) => Some(Cow::Borrowed(text)),
        Json::Number(number) if number.as_f64().is_finite() => {
            let mut text = String::new();
            number.write_to(&mut text);
            Some(Cow::Owned(text))
        }
        Json::Bool(truth) => Some(Cow::Borrowed(if truth { "true" } else { "false" })),
        _ => None,
    }
}

/// Returns the first `chars_max` characters of a string.
pub(super) fn truncate(text: &str, chars_max: usize) -> &str {
    if text.len() <= chars_max {
        return text;
    }
    text.char_indices().nth(chars_max).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
