//! A response of the server, and the checks that tests make on it.

use serde_json::Value;

/// A complete response: status, headers, body.
#[derive(Clone, Debug)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The headers in the order received, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as received, still compressed if it was.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns the value of a header, if the response has it.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// Returns the value of a header, which must be present.
    #[track_caller]
    pub fn must_header(&self, name: &str) -> &str {
        match self.header(name) {
            Some(value) => value,
            None => panic!("no header {name} in {}", self.summary()),
        }
    }

    /// Returns the body as a string.
    #[track_caller]
    pub fn text(&self) -> &str {
        match std::str::from_utf8(&self.body) {
            Ok(text) => text,
            Err(error) => panic!("the body is not UTF-8 ({error}): {}", self.summary()),
        }
    }

    /// Returns the body as JSON, whatever the status.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.body) {
            Ok(value) => value,
            Err(error) => panic!("the body is not JSON ({error}): {}", self.summary()),
        }
    }

    /// Returns the body of a success with exactly this status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.summary());
        assert!(self.header("x-request-id").is_some(), "no X-Request-Id in {}", self.summary());
        assert_eq!(self.header("content-type"), Some("application/json"), "{}", self.summary());
        self.json()
    }

    /// Returns `data` of a success with exactly this status.
    #[track_caller]
    pub fn data(&self, status: u16) -> Value {
        let mut body = self.expect(status);
        match body.get_mut("data") {
            Some(data) => data.take(),
            None => panic!("no data in {}", self.summary()),
        }
    }

    /// Returns the `error` of a refusal, after checking the properties that all refusals have.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let summary = self.summary();
        assert_eq!(self.status, status, "{summary}");
        assert!(self.header("x-request-id").is_some(), "no X-Request-Id in {summary}");
        assert_eq!(self.header("content-type"), Some("application/json"), "{summary}");
        let body = self.json();
        assert_eq!(
            body.as_object().map(|o| o.len()),
            Some(1),
            "only an error is reported: {summary}"
        );
        let error = body["error"].clone();
        assert_eq!(error["code"], code, "{summary}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "an error has a message: {summary}");
        for inner in ["panicked", "src/", "serde", "rocksdb", "RocksDB", "simd", "Error("] {
            assert!(
                !message.contains(inner),
                "the message contains internals ({inner}): {summary}"
            );
        }
        if matches!(status, 429 | 503) {
            let seconds: u64 = self.must_header("retry-after").parse().unwrap_or(0);
            assert!(seconds >= 1, "Retry-After is whole seconds from 1: {summary}");
        }
        error
    }

    /// Checks a refusal that names the invalid field.
    #[track_caller]
    pub fn refused_for(&self, status: u16, code: &str, field: &str) {
        let error = self.refused(status, code);
        assert_eq!(error["details"]["field"], field, "{}", self.summary());
    }

    /// Fails if the status is another.
    #[track_caller]
    pub fn expect_status(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.summary());
    }

    /// Returns one line for a failure message.
    pub fn summary(&self) -> String {
        let body = String::from_utf8_lossy(&self.body);
        let shown: String = body.chars().take(600).collect();
        format!("{} {:?} {shown}", self.status, self.headers)
    }
}

/// Fails unless both are equal JSON; `1` and `1.0` are equal.
#[track_caller]
pub fn same(actual: &Value, expected: &Value) {
    let (actual, expected) = (plain_numbers(actual), plain_numbers(expected));
    assert!(actual == expected, "\n  actual {actual}\n  expected {expected}\n");
}

fn plain_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::from(number.as_f64()),
        Value::Array(items) => items.iter().map(plain_numbers).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), plain_numbers(field))).collect()
        }
        other => other.clone(),
    }
}

/// Returns the value with everything that differs between runs replaced by its kind: times, keys,
/// ids and versions.
pub fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() == 24 && text.ends_with('Z') && text.contains('T') => {
            Value::from("<time>")
        }
        Value::String(text) if text.starts_with("tt_") => Value::from("<key>"),
        Value::String(text) if text.starts_with("evt_") => Value::from("<id>"),
        Value::String(text) if is_id(text) => Value::from("<id>"),
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::Object(fields) => {
            // The version of a dashboard is a number that all documents share.
            let is_revision = |name: &str| name == "version" && fields.contains_key("updated_at");
            let mask = |(name, field): (&String, &Value)| match field {
                Value::Number(_) if is_revision(name) => (name.clone(), "<revision>".into()),
                field => (name.clone(), masked(field)),
            };
            fields.iter().map(mask).collect()
        }
        other => other.clone(),
    }
}

/// Returns whether a string is a prefix and a ULID.
fn is_id(text: &str) -> bool {
    let ulid = text.split_once('_').map(|(_, ulid)| ulid).unwrap_or_default();
    ulid.len() == 26 && ulid.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
}
