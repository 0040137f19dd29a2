//! Writes an occurrence as the properties of its event, scrubbed and truncated until it fits.
//!
//! ```text
//! {"project", "event_id", "title", "culprit"?, "message"?, "platform"?, "logger"?, "transaction"?,
//!  "server_name"?, "dist"?, "exceptions"?: [exception], "frames"?: [frame],
//!  "user"?: {"id"?, "email"?, "username"?, "ip_address"?}, "tags"?: {}, "fingerprint"?: [],
//!  "request"?, "contexts"?, "breadcrumbs"?, "extra"?, "modules"?, "sdk"?: as the SDK sent them,
//!  "cut"?: true where the occurrence was truncated}
//! exception = {"type"?, "value"?, "module"?, "mechanism"?, "handled"?, "frames"?: [frame]}
//! frame     = {"file"?, "line"?, "column"?, "function"?, "module"?, "in_app", "context"?, "vars"?}
//! ```
//!
//! `exceptions` has the raised exception last, `frames` the oldest frame first. Level, environment
//! and release are tags of the event, and so are the first tags of the occurrence, as `tag.<key>`.
//!
//! An occurrence that is too large is written again with tighter limits: first without variables
//! and with less of the sections that the SDK sent, then with fewer frames, and at last with little
//! more than its message.

use telltale_engine::{Properties, PropertiesWriter};

use super::free_form::FreeForm;
use super::occurrence::{Exception, Frame, Occurrence, Section, User, truncate};
use super::scrub::Scrubber;
use crate::limits;

/// Limits on what is written of an occurrence.
#[derive(Clone, Copy, Debug)]
struct DocumentLimits {
    /// Characters of each string.
    chars: usize,
    exceptions: usize,
    frames: usize,
    /// Bytes of each section; 0 leaves sections out.
    section_bytes: usize,
    vars: bool,
    breadcrumbs: usize,
    tags: usize,
}

/// The limits, from the widest to one that always fits, even with every character escaped.
const DOCUMENT_LIMITS: [DocumentLimits; 4] = [
    DocumentLimits {
        chars: limits::ERROR_MESSAGE_CHARS_MAX,
        exceptions: limits::ERROR_EXCEPTIONS_MAX,
        frames: limits::ERROR_FRAMES_MAX,
        section_bytes: 16 << 10,
        vars: true,
        breadcrumbs: 100,
        tags: limits::ERROR_TAGS_MAX,
    },
    DocumentLimits {
        chars: 1_000,
        exceptions: limits::ERROR_EXCEPTIONS_MAX,
        frames: limits::ERROR_FRAMES_MAX,
        section_bytes: 4 << 10,
        vars: false,
        breadcrumbs: 20,
        tags: limits::ERROR_TAGS_MAX,
    },
    DocumentLimits {
        chars: 250,
        exceptions: 5,
        frames: 20,
        section_bytes: 0,
        vars: false,
        breadcrumbs: 0,
        tags: 32,
    },
    DocumentLimits {
        chars: 100,
        exceptions: 1,
        frames: 10,
        section_bytes: 0,
        vars: false,
        breadcrumbs: 0,
        tags: 10,
    },
];

/// The fields of a document that do not come from the occurrence itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventHeader<'n> {
    pub(super) project: u64,
    pub(super) event_id: &'n str,
    pub(super) title: &'n str,
}

/// Writes an occurrence into `writer` and returns the encoded properties. Returns `None` only if
/// they do not fit even with the tightest limits, which those limits rule out.
pub(super) fn write<'w>(
    writer: &'w mut PropertiesWriter,
    occurrence: &Occurrence<'_>,
    header: EventHeader<'_>,
    scrubber: &Scrubber,
) -> Option<&'w Properties> {
    let fits = DOCUMENT_LIMITS.iter().enumerate().position(|(attempt, caps)| {
        writer.clear();
        let mut document = DocumentWriter { writer, scrubber, caps: *caps };
        document.occurrence(occurrence, header, attempt > 0);
        writer.written().is_ok()
    });
    fits.and_then(|_| writer.written().ok())
}

struct DocumentWriter<'w> {
    writer: &'w mut PropertiesWriter,
    scrubber: &'w Scrubber,
    caps: DocumentLimits,
}

impl DocumentWriter<'_> {
    fn occurrence(&mut self, occurrence: &Occurrence<'_>, header: EventHeader<'_>, is_cut: bool) {
        self.writer.begin_object();
        self.writer.key("project");
        self.writer.unsigned(header.project);
        self.field("event_id", Some(header.event_id));
        self.field("title", Some(header.title));
        self.field("culprit", occurrence.culprit().as_deref());
        let message = occurrence.message.as_deref().or(occurrence.template.as_deref());
        self.field("message", message);
        self.field("platform", occurrence.platform.as_deref());
        self.field("logger", occurrence.logger.as_deref());
        self.field("transaction", occurrence.transaction.as_deref());
        self.field("server_name", occurrence.server_name.as_deref());
        self.field("dist", occurrence.dist.as_deref());
        self.exceptions(&occurrence.exceptions);
        self.frames(&occurrence.frames);
        self.user(&occurrence.user);
        self.tags(occurrence);
        if !occurrence.fingerprint.is_empty() {
            self.writer.key("fingerprint");
            self.writer.begin_array();
            for part in occurrence.fingerprint.iter().take(self.caps.tags) {
                self.string(part);
            }
            self.writer.end_array();
        }
        self.sections(occurrence);
        if is_cut {
            self.writer.key("cut");
            self.writer.boolean(true);
        }
        self.writer.end_object();
    }

    fn string(&mut self, text: &str) {
        let scrubbed = self.scrubber.scrub(text);
        self.writer.string(truncate(&scrubbed, self.caps.chars));
    }

    fn field(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.writer.key(name);
            self.string(text);
        }
    }

    fn number(&mut self, name: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.writer.key(name);
            self.writer.unsigned(number);
        }
    }

    fn exceptions(&mut self, exceptions: &[Exception<'_>]) {
        if exceptions.is_empty() {
            return;
        }
        self.writer.key("exceptions");
        self.writer.begin_array();
        let skipped = exceptions.len().saturating_sub(self.caps.exceptions);
        for exception in exceptions.iter().skip(skipped) {
            self.writer.begin_object();
            self.field("type", exception.kind.as_deref());
            self.field("value", exception.value.as_deref());
            self.field("module", exception.module.as_deref());
            self.field("mechanism", exception.mechanism.as_deref());
            if let Some(handled) = exception.handled {
                self.writer.key("handled");
                self.writer.boolean(handled);
            }
            self.frames(&exception.frames);
            self.writer.end_object();
        }
        self.writer.end_array();
    }

    /// Writes the newest frames, which are the last ones: they show where the error occurred.
    fn frames(&mut self, frames: &[Frame<'_>]) {
        if frames.is_empty() {
            return;
        }
        self.writer.key("frames");
        self.writer.begin_array();
        let skipped = frames.len().saturating_sub(self.caps.frames);
        for frame in frames.iter().skip(skipped) {
            self.frame(frame);
        }
        self.writer.end_array();
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.writer.begin_object();
        self.field("file", frame.filename.as_deref().or(frame.abs_path.as_deref()));
        self.number("line", frame.line);
        self.number("column", frame.column);
        self.field("function", frame.function.as_deref());
        self.field("module", frame.module.as_deref());
        self.writer.key("in_app");
        self.writer.boolean(frame.is_in_app());
        if self.caps.vars {
            self.field("context", frame.context.as_deref());
            if let Some(vars) = frame.vars {
                self.writer.key("vars");
                self.free_form(limits::ERROR_VARS_BYTES_MAX).value(vars, 1);
            }
        }
        self.writer.end_object();
    }

    fn user(&mut self, user: &User<'_>) {
        if user.key().is_none() {
            return;
        }
        self.writer.key("user");
        self.writer.begin_object();
        self.field("id", user.id.as_deref());
        self.field("email", user.email.as_deref());
        self.field("username", user.username.as_deref());
        self.field("ip_address", user.ip_address.as_deref());
        self.writer.end_object();
    }

    fn tags(&mut self, occurrence: &Occurrence<'_>) {
        if occurrence.tags.is_empty() {
            return;
        }
        self.writer.key("tags");
        self.writer.begin_object();
        for (key, value) in occurrence.tags.iter().take(self.caps.tags) {
            self.writer.key(truncate(&self.scrubber.scrub(key), self.caps.chars));
            if self.scrubber.is_secret(key) {
                self.writer.string(super::scrub::FILTERED);
            } else {
                self.string(value);
            }
        }
        self.writer.end_object();
    }

    fn sections(&mut self, occurrence: &Occurrence<'_>) {
        if self.caps.section_bytes == 0 {
            return;
        }
        for (at, (section, value)) in occurrence.sections.iter().enumerate() {
            // A section that occurs twice is written once, with its first value.
            if occurrence.sections.iter().take(at).any(|(earlier, _)| earlier == section) {
                continue;
            }
            self.writer.key(section.name());
            let breadcrumbs = self.caps.breadcrumbs;
            let mut form = self.free_form(self.caps.section_bytes);
            match section {
                Section::Breadcrumbs => form.last_of(*value, breadcrumbs),
                Section::Request
                | Section::Contexts
                | Section::Extra
                | Section::Modules
                | Section::Sdk => {
                    form.value(*value, 1);
                }
            }
        }
    }

    fn free_form(&mut self, bytes: usize) -> FreeForm<'_> {
        FreeForm::new(self.writer, self.scrubber, self.caps.chars, bytes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sentry::with_event;
    use super::*;

    fn written(event: &Value) -> Value {
        let words = ["password", "authorization", "cookie"].map(str::to_owned);
        let scrubber = Scrubber::new(&words);
        let text = with_event(event.to_string().as_bytes(), |occurrence| {
            let mut writer = PropertiesWriter::default();
            let title = occurrence.title();
            let header = EventHeader { project: 1, event_id: "0", title: &title };
            write(&mut writer, &occurrence, header, &scrubber).map(|p| p.as_str().to_owned())
        });
        serde_json::from_str(&text.unwrap().unwrap()).unwrap()
    }

    #[test]
    fn secrets_are_not_stored_wherever_they_occur() {
        let document = written(&json!({
            "message": "card 4111111111111111",
            "tags": {"password": "s3cret", "a": "b"},
            "extra": {"db": {"PASSWORD": "s3cret", "list": [{"password": ["s3cret"]}]}, "n": 1.5},
            "request": {
                "url": "https://x/?password=s3cret",
                "query_string": "password=s3cret&a=1",
                "headers": [["Authorization", "Bearer s3cret"], ["Accept", "*/*"]],
                "cookies": {"session": "s3cret"},
            },
            "breadcrumbs": {"values": [{"data": {"authorization": "s3cret"}}]},
            "exception": [{"type": "E", "value": "x", "stacktrace": {"frames": [
                {"function": "f", "vars": {"password": "'s3cret'", "user": "ann"}}
            ]}}],
        }));
        let text = document.to_string();
        assert!(!text.contains("s3cret") && !text.contains("4111"), "{text}");
        assert_eq!(document["tags"], json!({"password": "[Filtered]", "a": "b"}));
        assert_eq!(document["extra"]["db"]["list"], json!([{"password": "[Filtered]"}]));
        assert_eq!(document["extra"]["n"], json!(1.5));
        assert_eq!(
            document["request"]["headers"],
            json!([["Authorization", "[Filtered]"], ["Accept", "*/*"]])
        );
        assert_eq!(document["request"]["query_string"], "password=[Filtered]&a=1");
        assert_eq!(document["exceptions"][0]["frames"][0]["vars"]["user"], "ann");
        assert_eq!(document.get("cut"), None);
    }

    #[test]
    fn secrets_in_strings_of_json_are_not_stored() {
        let nested = json!({"a": json!({"password": "s3cret"}).to_string()}).to_string();
        let document = written(&json!({
            "message": "m",
            "request": {"data": "{\"password\":\"s3cret\",\"amount\":7,\"cards\":[\"4111111111111111\"]}"},
            "extra": {
                "nested": nested,
                "list": " [[\"Authorization\", \"s3cret\"], [\"Accept\", \"*/*\"]]",
                "cut": "{\"a\":1,\"password\":\"s3cre",
                "python": "{'password': 's3cret'}",
                "printed": "'{\"password\": \"s3cret\"}'",
                "bytes": "b'[\"password\", \"s3cret\"]'",
                "twice": json!(r#"{"password":"s3cret"}"#).to_string(),
                "quoted": "'a cookie, but no document'",
                "harmless": "{\"a\":1,",
                "log": "[auth] no cookie was sent",
            },
        }));
        let text = document.to_string();
        assert!(
            !text.contains("s3cre\\") && !text.contains("s3cret") && !text.contains("4111"),
            "{text}"
        );
        assert_eq!(
            document["request"]["data"],
            json!({"password": "[Filtered]", "amount": 7, "cards": ["[Filtered]"]})
        );
        assert_eq!(
            document["extra"],
            json!({
                "nested": {"a": {"password": "[Filtered]"}},
                "list": [["Authorization", "[Filtered]"], ["Accept", "*/*"]],
                "cut": "[Filtered]",
                "python": "[Filtered]",
                "printed": "[Filtered]",
                "bytes": "[Filtered]",
                "twice": {"password": "[Filtered]"},
                "quoted": "'a cookie, but no document'",
                "harmless": "{\"a\":1,",
                "log": "[auth] no cookie was sent",
            })
        );
    }

    #[test]
    fn an_occurrence_that_is_too_large_is_truncated_until_it_fits() {
        let frame = |i: usize| {
            json!({"function": "\u{1}".repeat(500), "filename": format!("{i}{}", "\u{1}".repeat(499)),
            "module": "\u{1}".repeat(500), "vars": {"v": "\u{1}".repeat(9_000)}})
        };
        let frames: Vec<Value> = (0..200).map(frame).collect();
        let exception =
            json!({"type": "E", "value": "\u{1}".repeat(9_000), "stacktrace": {"frames": frames}});
        let tags: serde_json::Map<String, Value> = (0..200)
            .map(|i| (format!("{i}{}", "\u{1}".repeat(300)), json!("\u{1}".repeat(300))))
            .collect();
        let document = written(&json!({
            "exception": vec![exception; 30],
            "tags": tags,
            "user": {"id": "\u{1}".repeat(300), "email": "\u{1}".repeat(300)},
            "fingerprint": vec!["\u{1}".repeat(600); 50],
            "extra": {"x": "\u{1}".repeat(100_000)},
            "message": "\u{1}".repeat(9_000),
        }));
        assert_eq!(document["cut"], true);
        assert_eq!(document["exceptions"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn a_long_section_is_truncated_and_the_rest_is_kept() {
        let extra: serde_json::Map<String, Value> =
            (0..5_000).map(|i| (format!("key{i:04}"), json!("value"))).collect();
        let crumbs: Vec<Value> = (0..500).map(|i| json!({"message": i})).collect();
        let document = written(&json!({"message": "m", "extra": extra, "breadcrumbs": crumbs}));
        assert_eq!(document["extra"]["key0000"], "value");
        assert!(document["extra"].as_object().unwrap().len() < 2_000);
        let crumbs = document["breadcrumbs"].as_array().unwrap();
        assert_eq!((crumbs.len(), &crumbs[99]["message"]), (100, &json!(499)));
    }
}
