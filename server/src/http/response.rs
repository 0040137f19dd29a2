//! Answers of handlers: a status, headers and bytes; and the envelopes that areas wrap their JSON in.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use telltale_engine::{Memory, MemoryOwner, MemoryShare};

use super::admission::{MEMORY_FULL, overloaded};
use super::error::{ApiError, ApiResult, Details, ErrorCode};
use crate::limits;
use crate::platform::json::{CountedText, NoJson};

/// An answer, not yet compressed.
#[derive(Clone, Debug)]
pub struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) account: Account,
}

/// How the body of an answer counts in the account of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// It is refused where there is no room.
    Asks,
    /// The same, but that it may take a small reserve beyond the limit.
    Drains,
    /// It counts whether there is room or not.
    Takes,
    /// It counts already, or is small.
    Settled,
    /// Its bytes are there as long as the process.
    Shared,
}

/// `{"data": …}`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Data<T> {
    /// The payload.
    pub data: T,
}

/// `{"data": […], "meta": {…}}`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct Page<T> {
    /// The items of the page.
    pub data: Vec<T>,
    /// Which page of how much.
    pub meta: Meta,
}

/// Which part of a list a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PageMeta")]
pub struct Meta {
    /// Items of the whole list.
    pub total: usize,
    /// Items that a page has at most.
    pub limit: usize,
    /// Items before the page.
    pub offset: usize,
}

/// What a delete answers inside its area's envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deleted {
    /// What was deleted.
    pub id: String,
    /// Always true.
    pub deleted: bool,
}

/// `MetricData`, and `MetricListData` where the payload is a list of them.
impl<T: JsonSchema> JsonSchema for Data<T> {
    fn schema_name() -> Cow<'static, str> {
        let payload = T::schema_name();
        match payload.strip_prefix("Array_of_") {
            Some(item) => format!("{item}ListData").into(),
            None => format!("{payload}Data").into(),
        }
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let payload = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "required": ["data"], "properties": { "data": payload } })
    }
}

impl Deleted {
    /// The thing called `id` is gone.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), deleted: true }
    }
}

impl Response {
    /// 200 with this JSON.
    pub fn ok<T: Serialize>(body: &T) -> ApiResult<Self> {
        Self::json(StatusCode::OK, body)
    }

    /// 201 with this JSON.
    pub fn created<T: Serialize>(body: &T) -> ApiResult<Self> {
        Self::json(StatusCode::CREATED, body)
    }

    /// 202 with this JSON.
    pub fn accepted<T: Serialize>(body: &T) -> ApiResult<Self> {
        Self::json(StatusCode::ACCEPTED, body)
    }

    /// 204, which has no body.
    pub fn no_content() -> Self {
        let (status, headers) = (StatusCode::NO_CONTENT, HeaderMap::new());
        Self { status, headers, body: Bytes::new(), account: Account::Settled }
    }

    /// Any status with this JSON.
    pub fn json<T: Serialize>(status: StatusCode, body: &T) -> ApiResult<Self> {
        let bytes = serde_json::to_vec(body).map_err(ApiError::internal)?;
        Ok(Self::bytes(status, "application/json", bytes))
    }

    /// Any status with this JSON, which may be large: its text counts in the account of memory from before it is written.
    pub fn counted_json<T: Serialize>(
        status: StatusCode,
        body: &T,
        memory: &Memory,
    ) -> ApiResult<Self> {
        let mut text = CountedText::new(memory);
        text.append(body).map_err(|failure| match failure {
            NoJson::MemoryFull(full) => overloaded(MEMORY_FULL).caused_by(full),
            NoJson::Invalid(error) => ApiError::internal(error),
        })?;
        Ok(Self { status, ..Self::counted(text) })
    }

    /// Any status, content type and bytes.
    pub fn bytes(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        Self { status, headers, body: body.into(), account: Account::Asks }
    }

    /// 200 with a JSON text that counts already.
    pub fn counted(text: CountedText) -> Self {
        let (bytes, share) = text.into_parts();
        let body = held_bytes(bytes.into(), share);
        Self { account: Account::Settled, ..Self::bytes(StatusCode::OK, "application/json", body) }
    }

    /// Adds a header, replacing one of the same name.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The same, sent whether there is memory for it or not: something was done that it tells of. Who is told that a write failed
    /// sends it again.
    #[must_use]
    pub fn never_refused(mut self) -> Self {
        if matches!(self.account, Account::Asks | Account::Drains) {
            self.account = Account::Takes;
        }
        self
    }

    /// The same for an answer that is small and makes a store smaller: jobs that go to a worker.
    #[must_use]
    pub fn that_drains(mut self) -> Self {
        if self.account == Account::Asks {
            self.account = Account::Drains;
        }
        self
    }

    /// The same where its bytes are there as long as the process.
    #[must_use]
    pub(super) fn of_shared_bytes(mut self) -> Self {
        self.account = Account::Shared;
        self
    }

    /// Counts the body in the account of memory until its last byte is sent. Where there is no room for it, it fails.
    pub fn held(self, memory: &Memory) -> ApiResult<Self> {
        self.held_by(memory.share(MemoryOwner::Answers))
    }

    /// The same with memory that counts already for what the answer was made of, and that is gone when the answer is sent.
    pub fn held_by(mut self, mut share: MemoryShare) -> ApiResult<Self> {
        let bytes = self.body.len() as u64;
        if bytes < limits::ANSWER_BYTES_COUNTED {
            return Ok(self);
        }
        let missing = bytes.saturating_sub(share.bytes());
        let grown = match self.account {
            Account::Asks => share.grow(missing),
            Account::Drains => share.grow_to_drain(missing),
            Account::Takes => {
                share.grow_anyway(missing);
                Ok(())
            }
            Account::Settled | Account::Shared => return Ok(self),
        };
        grown.map_err(|full| overloaded(MEMORY_FULL).caused_by(full))?;
        share.shrink_to(bytes);
        self.body = held_bytes(self.body, share);
        self.account = Account::Settled;
        Ok(self)
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// Bytes that give a share of memory back with the last of them.
pub(super) fn held_bytes(bytes: Bytes, share: MemoryShare) -> Bytes {
    Bytes::from_owner(HeldBytes { bytes, _share: share })
}

/// Bytes with their share of memory.
struct HeldBytes {
    bytes: Bytes,
    _share: MemoryShare,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<&ApiError> for Response {
    fn from(error: &ApiError) -> Self {
        #[derive(Serialize)]
        struct Body<'a> {
            error: Inner<'a>,
        }
        #[derive(Serialize)]
        struct Inner<'a> {
            code: &'static str,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            details: Option<&'a Details>,
        }

        let inner = Inner {
            code: error.code().as_str(),
            message: error.message(),
            details: error.details(),
        };
        // Strings and numbers always serialise; an empty body is still the right status.
        let body = serde_json::to_vec(&Body { error: inner }).unwrap_or_default();
        let mut response = Self::bytes(error.code().status(), "application/json", body)
            .header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        for (name, value) in error.headers() {
            response = response.header(name.clone(), value.clone());
        }
        if let Some(seconds) = error.retry_after_seconds() {
            response = response.header(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(methods) = error.allowed().and_then(|text| HeaderValue::from_str(text).ok()) {
            response = response.header(ALLOW, methods);
        }
        if error.code() == ErrorCode::Unauthorized {
            response = response.header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_takes_the_memory_of_what_it_is_made_of() {
        let memory = Memory::new(1 << 20);
        memory.hold(MemoryOwner::Jobs, 1 << 20);
        let answer = || Response::ok(&"x".repeat(50 << 10)).unwrap().that_drains();
        // The reserve has 64 KiB.
        let mut jobs = memory.take_to_drain(MemoryOwner::Answers, 40 << 10).unwrap();
        assert_eq!(answer().held(&memory).unwrap_err().code(), ErrorCode::Overloaded);
        let sent = answer().held_by(jobs.take_all()).unwrap();
        assert_eq!((jobs.bytes(), jobs.of_reserve()), (0, 0));
        assert_eq!(memory.held_by(MemoryOwner::Answers), sent.body().len() as u64);
        drop(jobs);
        assert_eq!(memory.held_by(MemoryOwner::Answers), sent.body().len() as u64);
        drop(sent);
        assert_eq!(memory.held(), 1 << 20);
        memory.take_to_drain(MemoryOwner::Answers, 64 << 10).unwrap();
    }
}
