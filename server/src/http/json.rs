//! JSON request bodies: validation, and the error codes of what is refused.
//!
//! A body is parsed twice. The first pass checks its form (one object, no duplicate keys, limited
//! nesting); failures are `invalid_json`. The second parses its fields; failures name the field.
//! Configuration bodies are small, so the second pass is cheap; the routes for telemetry have their
//! own parser.
//!
//! The first pass needs memory for the keys of the objects it is currently in. The second needs
//! about as much memory as the body is long: lists and maps in bodies have
//! [limits](crate::platform::bounded) that are enforced while they are parsed.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use telltale_engine::{Memory, MemoryFull, MemoryOwner, MemoryShare};

use super::error::{ApiError, ApiResult, ErrorCode};
use crate::limits;
use crate::platform::json::{BrokenRule, InvalidJson, TypeMismatch, invalid_syntax, read_typed};

/// Fails if a content type is given that is not `application/json`.
pub(super) fn check_content_type(headers: &HeaderMap) -> ApiResult<()> {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let media = value.to_str().unwrap_or("?").split(';').next().unwrap_or("").trim();
    if media.is_empty() || media.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::new(ErrorCode::UnsupportedMediaType, "Content-Type must be application/json"))
}

/// Parses the body as a `T`. Fails if it is not a JSON object or does not fit.
pub(super) fn object<'a, T: Deserialize<'a>>(body: &'a [u8], memory: &Memory) -> ApiResult<T> {
    check_form(body, memory)?;
    Ok(read_typed(body)?)
}

/// Fails if the body is not a JSON object, has a duplicate key or is nested deeper than the parser
/// supports.
fn check_form(body: &[u8], memory: &Memory) -> Result<(), InvalidJson> {
    if body.is_empty() {
        return Err(InvalidJson::Empty);
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let check = FormCheck::new(memory);
    let visitor = FormVisitor { top: true, check: &check };
    let outcome = visitor.deserialize(&mut reader).and_then(|()| reader.end());
    outcome.map_err(|error| match (check.refusal.take(), error.classify()) {
        (Some(refusal), _) => refusal,
        // Only the top level must have a certain type.
        (None, Category::Data) => InvalidJson::NotAnObject,
        (None, _) => invalid_syntax(&error),
    })
}

impl From<TypeMismatch> for ApiError {
    fn from(misfit: TypeMismatch) -> Self {
        let code = match &misfit.rule {
            BrokenRule::Required if misfit.field == "name" => ErrorCode::MissingName,
            BrokenRule::Required if misfit.field.ends_with(".name") => ErrorCode::MissingName,
            BrokenRule::Required => ErrorCode::MissingField,
            // The form is right, but the string is not one of the allowed values: the same code as
            // for values checked by an area.
            BrokenRule::Word(_) => ErrorCode::InvalidField,
            BrokenRule::Unknown(_) | BrokenRule::Form(_) => ErrorCode::InvalidParameter,
        };
        let error = Self::new(code, misfit.sentence("the body"));
        if misfit.field.is_empty() { error } else { error.field(misfit.field) }
    }
}

/// The state of the first pass over a document.
struct FormCheck {
    share: RefCell<MemoryShare>,
    /// Bytes of the keys of all enclosing objects.
    bytes: Cell<u64>,
    /// Why the pass ended early, unless the body is not JSON.
    refusal: Cell<Option<InvalidJson>>,
}

/// The keys of one object seen so far.
struct Keys<'w> {
    seen: HashSet<String>,
    bytes: u64,
    check: &'w FormCheck,
}

impl FormCheck {
    fn new(memory: &Memory) -> Self {
        let share = RefCell::new(memory.share(MemoryOwner::Bodies));
        Self { share, bytes: Cell::new(0), refusal: Cell::new(None) }
    }

    /// Reserves memory for more keys, in steps, beyond what is counted with the connection.
    fn grow(&self, bytes: u64) -> Result<(), MemoryFull> {
        self.bytes.set(self.bytes.get() + bytes);
        let mut share = self.share.borrow_mut();
        let missing = self.bytes.get().saturating_sub(limits::JSON_KEYS_STEP_BYTES + share.bytes());
        if missing == 0 {
            return Ok(());
        }
        let grown = share.grow(missing.max(limits::JSON_KEYS_STEP_BYTES));
        // The whole amount is reported, to decide whether the body could ever fit.
        let all = self.bytes.get();
        grown.inspect_err(|full| self.refuse(MemoryFull { bytes: all, ..*full }))
    }

    fn refuse(&self, refusal: impl Into<InvalidJson>) {
        self.refusal.set(Some(refusal.into()));
    }
}

impl Keys<'_> {
    fn insert(&mut self, key: String) -> Result<(), MemoryFull> {
        let bytes = key.len() as u64 + limits::JSON_KEY_BYTES;
        self.bytes += bytes;
        self.check.grow(bytes)?;
        self.seen.insert(key);
        Ok(())
    }
}

impl Drop for Keys<'_> {
    fn drop(&mut self) {
        self.check.bytes.set(self.check.bytes.get() - self.bytes);
    }
}

/// Validates a JSON value without storing it.
struct FormVisitor<'w> {
    /// Whether this is the top-level value, which must be an object.
    top: bool,
    check: &'w FormCheck,
}

impl<'de> DeserializeSeed<'de> for FormVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.top {
            deserializer.deserialize_map(self)
        } else {
            deserializer.deserialize_any(self)
        }
    }
}

impl<'de> Visitor<'de> for FormVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.top { "an object" } else { "a JSON value" })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = Keys { seen: HashSet::new(), bytes: 0, check: self.check };
        while let Some(key) = map.next_key::<String>()? {
            if keys.seen.contains(&key) {
                let shown = key.chars().take(limits::PARAMETER_NAME_SHOWN_CHARS_MAX).collect();
                self.check.refuse(InvalidJson::DuplicateKey(shown));
                return Err(A::Error::custom("duplicate key"));
            }
            keys.insert(key).map_err(A::Error::custom)?;
            map.next_value_seed(Self { top: false, check: self.check })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Self { top: false, check: self.check })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Widget {
        name: String,
        #[serde(default)]
        count: Option<u32>,
        #[serde(default)]
        parts: Vec<Part>,
        #[serde(default)]
        open: serde_json::Map<String, serde_json::Value>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Part {
        width: f64,
        #[serde(default)]
        side: Option<Side>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Side {
        Left,
        Right,
        Middle,
    }

    fn object<'a, T: Deserialize<'a>>(body: &'a [u8]) -> ApiResult<T> {
        super::object(body, &Memory::unlimited())
    }

    /// Returns the code and the field of the error.
    fn refusal(body: &[u8]) -> (&'static str, Option<String>) {
        let error = object::<Widget>(body).unwrap_err();
        let field = error.details().and_then(|d| d.field.clone()).map(|f| f.into_owned());
        (error.code().as_str(), field)
    }

    #[test]
    fn reads_an_object() {
        let widget: Widget =
            object(br#" {"name":"a\u00e9","count":null,"parts":[{"width":1}]} "#).unwrap();
        assert_eq!((widget.name.as_str(), widget.count, widget.parts.len()), ("aé", None, 1));
    }

    #[test]
    fn anything_but_a_json_object_is_invalid_json() {
        let deep = format!("{{\"open\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        for body in [
            "",
            " ",
            "null",
            "1",
            "[]",
            "[{}]",
            "\"x\"",
            "{",
            "{}{}",
            "{} x",
            "{'a':1}",
            "{\"a\":1,}",
            "{\"a\":NaN}",
            "{\"a\":1e999}",
            "{\"a\":\"\n\"}",
            "{\"a\":\"\\ud800\"}",
            "\u{feff}{}",
            &deep,
            "{\"name\":\"a\",\"name\":\"a\"}",
            "{\"name\":\"a\",\"open\":{\"k\":1,\"k\":2}}",
            "{\"name\":\"a\",\"open\":{\"l\":[{\"k\":1,\"\\u006b\":2}]}}",
        ] {
            assert_eq!(refusal(body.as_bytes()), ("invalid_json", None), "{body}");
        }
        assert_eq!(refusal(b"{\"name\":\"\xff\"}").0, "invalid_json");
    }

    #[test]
    fn keys_of_free_form_objects_count_in_the_memory_account() {
        let keys = |from: u32, to: u32| {
            (from..to).map(|key| format!("\"{key}\":0")).collect::<Vec<_>>().join(",")
        };
        let wide = format!("{{\"name\":\"a\",\"open\":{{{}}}}}", keys(0, 10_000));
        let memory = Memory::new(2 << 20);
        super::object::<Widget>(wide.as_bytes(), &memory).unwrap();
        let other = memory.take(MemoryOwner::Merges, 3 << 19).unwrap();
        let refused = super::object::<Widget>(wide.as_bytes(), &memory).unwrap_err();
        assert_eq!(
            (refused.code(), refused.retry_after_seconds()),
            (ErrorCode::Overloaded, Some(1))
        );
        assert_eq!(memory.held(), other.bytes());
        // Consecutive objects hold no more memory than the largest of them.
        let objects = vec![format!("{{{}}}", keys(0, 100)); 1_000].join(",");
        let list = format!("{{\"name\":\"a\",\"open\":{{\"list\":[{objects}]}}}}");
        super::object::<Widget>(list.as_bytes(), &memory).unwrap();
    }

    #[test]
    fn a_field_that_does_not_fit_is_named() {
        for (body, code, field) in [
            (r"{}", "missing_name", "name"),
            (r#"{"name":"a","parts":[{}]}"#, "missing_field", "parts[0].width"),
            (r#"{"name":1}"#, "invalid_parameter", "name"),
            (r#"{"name":"a","count":-1}"#, "invalid_parameter", "count"),
            (r#"{"name":"a","count":1.5}"#, "invalid_parameter", "count"),
            (r#"{"name":"a","count":"1"}"#, "invalid_parameter", "count"),
            (r#"{"name":"a","parts":{}}"#, "invalid_parameter", "parts"),
            (
                r#"{"name":"a","parts":[{"width":1},{"width":"x"}]}"#,
                "invalid_parameter",
                "parts[1].width",
            ),
            (r#"{"name":"a","colour":1}"#, "invalid_parameter", "colour"),
            (
                r#"{"name":"a","parts":[{"width":1,"side":"top"}]}"#,
                "invalid_field",
                "parts[0].side",
            ),
            (
                r#"{"name":"a","parts":[{"width":1,"side":7}]}"#,
                "invalid_parameter",
                "parts[0].side",
            ),
            (
                r#"{"name":"a","parts":[{"width":1,"colour":1}]}"#,
                "invalid_parameter",
                "parts[0].colour",
            ),
        ] {
            assert_eq!(refusal(body.as_bytes()), (code, Some(field.to_owned())), "{body}");
        }
    }

    #[test]
    fn the_message_names_the_field_and_the_rule() {
        let deep = format!("{{\"open\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        for (body, expected) in [
            ("", "the body is empty; it must be a JSON object"),
            ("[]", "the body must be a JSON object"),
            ("null", "the body must be a JSON object"),
            ("{\n\"a\":}", "the body is not valid JSON: a value is expected at line 2, column 5"),
            (&deep, "the body must not be nested more than 127 levels deep"),
            (
                "{\"name\":\"a\",\"open\":{\"k\":1,\"k\":2}}",
                "the body has the key \"k\" twice in one object",
            ),
            ("{}", "name is required"),
            ("{\"name\":\"a\",\"count\":\"x\"}", "count must be an integer from 0 to 4294967295"),
            (
                "{\"name\":\"a\",\"parts\":[{\"width\":1,\"side\":\"a`b\"}]}",
                "parts[0].side must be one of left, right, middle",
            ),
            ("{\"name\":\"a\",\"nmae\":1}", "nmae is not a known field (did you mean name?)"),
        ] {
            let error = object::<Widget>(body.as_bytes()).unwrap_err();
            assert_eq!(error.message(), expected, "{body}");
        }
    }

    #[test]
    fn only_the_json_content_type_is_accepted() {
        let check = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(value));
            check_content_type(&headers).is_ok()
        };
        check_content_type(&HeaderMap::new()).unwrap();
        for json in ["application/json", "Application/JSON; charset=utf-8", ""] {
            assert!(check(json), "{json}");
        }
        for other in [
            "text/plain",
            "text/json",
            "json",
            "application/jsonp",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!check(other), "{other}");
        }
    }
}
