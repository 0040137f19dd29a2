//! Responses of handlers (status, headers, body) and the JSON envelopes of the areas.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use telltale_engine::{Memory, MemoryOwner, MemoryShare};

use super::admission::{MEMORY_FULL, overloaded};
use super::error::{ApiError, ApiResult, Details, ErrorCode};
use super::etag::etag_of_response;
use crate::limits;
use crate::platform::json::{ChargedJson, JsonWriteError};

/// A response, not yet compressed.
#[derive(Clone, Debug)]
pub struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) accounting: MemoryAccounting,
}

/// How the body of a response counts in the memory account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryAccounting {
    /// Memory is reserved within the limit, else the response is refused.
    Reserve,
    /// Like [`Self::Reserve`], but a small reserve beyond the limit may be used.
    ReserveDraining,
    /// Memory is counted even beyond the limit; the response is never refused.
    Force,
    /// The body is counted already, or small.
    Counted,
    /// The body is static and exists for the life of the process.
    Static,
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
    /// The position of the page in the list.
    pub meta: Meta,
}

/// The position of a page in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PageMeta")]
pub struct Meta {
    /// Number of items of the whole list.
    pub total: usize,
    /// Maximum number of items of a page.
    pub limit: usize,
    /// Number of items before the page.
    pub offset: usize,
}

/// The payload of the response to a delete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deleted {
    /// The id of the deleted resource.
    pub id: String,
    /// Always true.
    pub deleted: bool,
}

/// The schema is named `MetricData`, or `MetricListData` if the payload is a list.
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
    /// Returns the payload for the deleted resource with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), deleted: true }
    }
}

/// What the status of a successful response says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// 200: the request was carried out.
    Ok,
    /// 201: the request created a resource.
    Created,
    /// 202: the request has begun something that is not done yet.
    Accepted,
}

impl Response {
    /// Returns a response with status 200 and this JSON body.
    pub fn ok<T: Serialize>(body: &T) -> ApiResult<Self> {
        Self::json(Success::Ok, body)
    }

    /// Returns a response with status 201 and this JSON body.
    pub fn created<T: Serialize>(body: &T) -> ApiResult<Self> {
        Self::json(Success::Created, body)
    }

    /// Returns a response with status 204 and no body.
    pub fn no_content() -> Self {
        let (status, headers) = (StatusCode::NO_CONTENT, HeaderMap::new());
        Self { status, headers, body: Bytes::new(), accounting: MemoryAccounting::Counted }
    }

    /// Returns a response that sends the client to another path of this server, by `GET`.
    pub fn see_other(path: &'static str) -> Self {
        let response = Self { status: StatusCode::SEE_OTHER, ..Self::no_content() };
        response.header(LOCATION, HeaderValue::from_static(path))
    }

    /// Returns a response with this JSON body.
    pub fn json<T: Serialize>(success: Success, body: &T) -> ApiResult<Self> {
        let bytes = serde_json::to_vec(body).map_err(ApiError::internal)?;
        Ok(Self::bytes("application/json", bytes).with(success))
    }

    /// Returns a response with this JSON body, which may be large: its memory is reserved while it
    /// is serialised.
    pub fn counted_json<T: Serialize>(
        success: Success,
        body: &T,
        memory: &Memory,
    ) -> ApiResult<Self> {
        let mut text = ChargedJson::new(memory);
        text.append(body).map_err(|failure| match failure {
            JsonWriteError::MemoryFull(full) => overloaded(MEMORY_FULL).caused_by(full),
            JsonWriteError::Invalid(error) => ApiError::internal(error),
        })?;
        Ok(Self::counted(text).with(success))
    }

    /// Returns a response with status 200, this JSON body and an `ETag` that contains the revision,
    /// which `If-Match` is compared with. A list has no revision: 0, which is never one. Memory is
    /// reserved as in [`Self::counted_json`]; if there is none, only a small body is sent.
    pub fn versioned<T: Serialize>(body: &T, revision: u64, memory: &Memory) -> ApiResult<Self> {
        let response = match Self::counted_json(Success::Ok, body, memory) {
            Err(error) if error.code() == ErrorCode::Overloaded => {
                Self::bytes("application/json", small_json(body).ok_or(error)?)
            }
            counted => counted?,
        };
        Ok(response.tagged(revision))
    }

    /// Like [`Self::versioned`], for a resource that was written: without memory the response is
    /// left to its request, because a client that receives an error for a write sends it again.
    pub fn versioned_write<T: Serialize>(
        success: Success,
        body: &T,
        revision: u64,
        memory: &Memory,
    ) -> ApiResult<Self> {
        let response = match Self::counted_json(success, body, memory) {
            Err(error) if error.code() == ErrorCode::Overloaded => Self::json(success, body)?,
            counted => counted?,
        };
        Ok(response.tagged(revision))
    }

    fn tagged(self, revision: u64) -> Self {
        let etag = etag_of_response(revision, &self.body);
        self.header(ETAG, etag)
    }

    /// Returns a response with status 200 and a body of this content type.
    pub fn bytes(media: &'static str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        let (status, accounting) = (StatusCode::OK, MemoryAccounting::Reserve);
        Self { status, headers, body: body.into(), accounting }
    }

    /// Returns a response with status 200 and a JSON string whose memory is reserved already.
    pub fn counted(text: ChargedJson) -> Self {
        let (bytes, share) = text.into_parts();
        let body = held_bytes(bytes.into(), share);
        Self { accounting: MemoryAccounting::Counted, ..Self::bytes("application/json", body) }
    }

    fn with(self, success: Success) -> Self {
        let status = match success {
            Success::Ok => StatusCode::OK,
            Success::Created => StatusCode::CREATED,
            Success::Accepted => StatusCode::ACCEPTED,
        };
        Self { status, ..self }
    }

    /// Adds a header, replacing one of the same name.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the status 404, for a page that says so in its own form.
    #[must_use]
    pub fn with_status_not_found(mut self) -> Self {
        self.status = StatusCode::NOT_FOUND;
        self
    }

    /// Marks the body as counted in the memory account by whoever keeps it for other responses.
    #[must_use]
    pub fn of_kept_bytes(mut self) -> Self {
        self.accounting = MemoryAccounting::Counted;
        self
    }

    /// Sends the response even if its memory cannot be reserved, because it reports a completed
    /// change: a client that receives an error for a write sends it again.
    #[must_use]
    pub fn exempt_from_memory_limit(mut self) -> Self {
        if matches!(self.accounting, MemoryAccounting::Reserve | MemoryAccounting::ReserveDraining)
        {
            self.accounting = MemoryAccounting::Force;
        }
        self
    }

    /// Lets the response use the memory reserve, for small responses that free memory of a store:
    /// jobs fetched by a worker.
    #[must_use]
    pub fn may_use_reserve(mut self) -> Self {
        if self.accounting == MemoryAccounting::Reserve {
            self.accounting = MemoryAccounting::ReserveDraining;
        }
        self
    }

    /// Marks the body as static: it exists for the life of the process.
    #[must_use]
    pub(crate) fn of_static_bytes(mut self) -> Self {
        self.accounting = MemoryAccounting::Static;
        self
    }

    /// Reserves the body's memory until its last byte is sent. Fails if the memory account has no
    /// capacity.
    pub fn held(self, memory: &Memory) -> ApiResult<Self> {
        self.held_by(memory.share(MemoryOwner::Answers))
    }

    /// Like [`Self::held`], but starts from the memory reserved for the data that the response was
    /// built from, which is dropped when the response is sent.
    pub fn held_by(mut self, mut share: MemoryShare) -> ApiResult<Self> {
        let bytes = self.body.len() as u64;
        if bytes < limits::RESPONSE_BYTES_COUNTED {
            return Ok(self);
        }
        let missing = bytes.saturating_sub(share.bytes());
        let grown = match self.accounting {
            MemoryAccounting::Reserve => share.grow(missing),
            MemoryAccounting::ReserveDraining => share.grow_from_reserve(missing),
            MemoryAccounting::Force => {
                share.grow_unchecked(missing);
                Ok(())
            }
            MemoryAccounting::Counted | MemoryAccounting::Static => return Ok(self),
        };
        grown.map_err(|full| overloaded(MEMORY_FULL).caused_by(full))?;
        share.shrink_to(bytes);
        self.body = held_bytes(self.body, share);
        self.accounting = MemoryAccounting::Counted;
        Ok(self)
    }

    /// Returns the status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// Returns the JSON of a value if it is so small that it need not be counted.
fn small_json<T: Serialize>(value: &T) -> Option<Vec<u8>> {
    let max = usize::try_from(limits::RESPONSE_BYTES_COUNTED).ok()?.checked_sub(1)?;
    let mut bytes = vec![0; max];
    let mut free = bytes.as_mut_slice();
    serde_json::to_writer(&mut free, value).ok()?;
    let left = free.len();
    bytes.truncate(max - left);
    Some(bytes)
}

/// Returns bytes that release a memory share when the last reference to them is dropped.
pub(super) fn held_bytes(bytes: Bytes, share: MemoryShare) -> Bytes {
    Bytes::from_owner(BytesWithShare { bytes, _share: share })
}

/// Bytes with their memory share.
struct BytesWithShare {
    bytes: Bytes,
    _share: MemoryShare,
}

impl AsRef<[u8]> for BytesWithShare {
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
        let body = match serde_json::to_vec(&Body { error: inner }) {
            Ok(body) => body,
            Err(error) => panic!("strings and numbers cannot be serialised: {error}"),
        };
        let body = Self::bytes("application/json", body);
        let mut response = Self { status: error.code().status(), ..body }
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
    fn a_response_takes_over_the_memory_of_its_source_data() {
        let memory = Memory::new(1 << 20);
        memory.hold(MemoryOwner::Jobs, 1 << 20);
        let answer = || Response::ok(&"x".repeat(50 << 10)).unwrap().may_use_reserve();
        // The reserve is 64 KiB.
        let mut jobs = memory.take_from_reserve(MemoryOwner::Answers, 40 << 10).unwrap();
        assert_eq!(answer().held(&memory).unwrap_err().code(), ErrorCode::Overloaded);
        let sent = answer().held_by(jobs.take_all()).unwrap();
        assert_eq!((jobs.bytes(), jobs.of_reserve()), (0, 0));
        assert_eq!(memory.held_by(MemoryOwner::Answers), sent.body().len() as u64);
        drop(jobs);
        assert_eq!(memory.held_by(MemoryOwner::Answers), sent.body().len() as u64);
        drop(sent);
        assert_eq!(memory.held(), 1 << 20);
        memory.take_from_reserve(MemoryOwner::Answers, 64 << 10).unwrap();
    }

    #[test]
    fn without_memory_small_responses_and_those_to_writes_are_sent() {
        let memory = Memory::new(1 << 20);
        let read = |bytes: usize| Response::versioned(&"x".repeat(bytes), 7, &memory);
        let written = |bytes: usize| {
            Response::versioned_write(Success::Created, &"x".repeat(bytes), 7, &memory)
        };
        let large = limits::RESPONSE_BYTES_COUNTED as usize;
        let tags = [read(large), written(large)].map(|sent| sent.unwrap().headers()[ETAG].clone());
        assert_eq!(tags[0], tags[1]);
        memory.hold(MemoryOwner::Jobs, 1 << 20);
        assert_eq!(read(large).unwrap_err().code(), ErrorCode::Overloaded);
        // With the quotes.
        assert_eq!(read(large - 2).unwrap_err().code(), ErrorCode::Overloaded);
        assert_eq!(read(large - 3).unwrap().held(&memory).unwrap().body().len(), large - 1);
        let sent = written(large).unwrap().exempt_from_memory_limit().held(&memory).unwrap();
        assert_eq!((sent.body().len(), &sent.headers()[ETAG]), (large + 2, &tags[1]));
    }
}
