//! The JSON types of keys and their conversion from and to the model.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::http::{ApiError, ApiResult, ErrorCode, PathParam, Resource};
use crate::limits;
use crate::platform::keys::{ApiKey, IssuedKey, NewKey, Scope, Scopes};
use crate::platform::patterns;
use crate::platform::quota::{KeyLimits, LimitClass, Quota};
use crate::platform::time::IsoTime;

/// The properties of a new key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyInput {
    /// The purpose of the key.
    #[schemars(required, length(max = limits::KEY_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    /// The email address of the person or program that uses the key.
    #[schemars(required, length(max = limits::KEY_USER_CHARS_MAX), regex(pattern = patterns::EMAIL))]
    user: Option<String>,
    /// The operations that the key permits.
    #[schemars(schema_with = "scopes_schema", required)]
    scopes: Option<Vec<String>>,
    /// Quotas that differ from the server's, by request class.
    #[serde(default)]
    #[schemars(schema_with = "limits_schema")]
    limits: Option<BTreeMap<String, QuotaInput>>,
    /// Whether the key may be published, for example in a web page. Such a key can only send
    /// telemetry and errors.
    public_ingest: Option<bool>,
}

/// A key without its secret.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Key {
    id: String,
    name: String,
    user: String,
    scopes: Vec<&'static str>,
    /// Quotas that differ from the server's.
    limits: BTreeMap<&'static str, QuotaInput>,
    public_ingest: bool,
    created_at: IsoTime,
    last_used_at: Option<IsoTime>,
    revoked_at: Option<IsoTime>,
}

/// A key that was just created.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NewKeyAnswer {
    #[serde(flatten)]
    summary: Key,
    /// The complete key with its secret; absent if an idempotent request is repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

/// A number of requests per minute, or `"unlimited"`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "must be an integer from 1 to 4294967295 (requests per minute) or \"unlimited\""
)]
enum QuotaInput {
    PerMinute(u32),
    Word(String),
}

fn scopes_schema(_: &mut SchemaGenerator) -> Schema {
    let scopes = Scope::ALL.map(Scope::as_str);
    json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": scopes } })
}

fn limits_schema(generator: &mut SchemaGenerator) -> Schema {
    let classes = LimitClass::LIMITED.map(LimitClass::as_str);
    json_schema!({
        "type": ["object", "null"],
        "propertyNames": { "enum": classes },
        "additionalProperties": generator.subschema_for::<QuotaInput>(),
    })
}

impl JsonSchema for QuotaInput {
    fn schema_name() -> Cow<'static, str> {
        "Quota".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Requests per minute, or \"unlimited\".",
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": u32::MAX }, { "const": "unlimited" }]
        })
    }
}

impl From<Quota> for QuotaInput {
    fn from(quota: Quota) -> Self {
        match quota {
            Quota::PerMinute(requests) => Self::PerMinute(requests),
            Quota::Unlimited => Self::Word(quota.to_string()),
        }
    }
}

impl KeyInput {
    /// Converts to the model, which validates the rest.
    pub(super) fn into_model(self) -> ApiResult<NewKey> {
        let scopes = self.scopes.ok_or_else(|| missing("scopes"))?;
        Ok(NewKey {
            // An absent name is treated as an empty one: both are `missing_name`.
            name: self.name.unwrap_or_default(),
            user: self.user.ok_or_else(|| missing("user"))?,
            scopes: scopes.iter().map(|text| scope(text)).collect::<ApiResult<Scopes>>()?,
            limits: limits(&self.limits.unwrap_or_default())?,
            public_ingest: self.public_ingest.unwrap_or(false),
        })
    }
}

impl From<ApiKey> for Key {
    fn from(key: ApiKey) -> Self {
        Self {
            scopes: key.scopes.iter().map(Scope::as_str).collect(),
            limits: key
                .limits
                .iter()
                .map(|(class, quota)| (class.as_str(), quota.into()))
                .collect(),
            public_ingest: key.public_ingest,
            created_at: IsoTime(key.created_at),
            last_used_at: key.last_used_at.map(IsoTime),
            revoked_at: key.revoked_at.map(IsoTime),
            id: key.id,
            name: key.name,
            user: key.user,
        }
    }
}

impl From<IssuedKey> for NewKeyAnswer {
    fn from(issued: IssuedKey) -> Self {
        Self { summary: issued.key.into(), key: Some(issued.text.reveal()) }
    }
}

impl NewKeyAnswer {
    /// Returns the response without the secret.
    pub(super) fn without_secret(key: &ApiKey) -> Self {
        Self { summary: key.clone().into(), key: None }
    }
}

fn missing(field: &'static str) -> ApiError {
    ApiError::new(ErrorCode::MissingField, format!("{field} is required")).field(field)
}

fn scope(text: &str) -> ApiResult<Scope> {
    Scope::parse(text).ok_or_else(|| {
        let message = "scopes must be taken from ingest, work, read, write, admin";
        ApiError::new(ErrorCode::InvalidField, message).field("scopes")
    })
}

fn limits(inputs: &BTreeMap<String, QuotaInput>) -> ApiResult<KeyLimits> {
    let mut limits = KeyLimits::default();
    for (name, text) in inputs {
        let field = format!("limits.{name}");
        let class = LimitClass::parse(name).ok_or_else(|| {
            let message = format!(
                "{field} is not a class of requests; the classes are batch, query, single, other, console"
            );
            ApiError::new(ErrorCode::InvalidField, message).field(field.clone())
        })?;
        let quota = match text {
            QuotaInput::PerMinute(requests) => requests.to_string().parse(),
            QuotaInput::Word(word) => word.parse(),
        };
        let quota: Quota = quota.map_err(|error| {
            let message = format!("{field} {error}");
            ApiError::new(ErrorCode::InvalidField, message).field(field.clone())
        })?;
        limits.set(class, quota);
    }
    Ok(limits)
}

/// The id of a key in a path.
#[derive(Debug)]
pub(super) struct KeyId(pub(super) String);

impl PathParam for KeyId {
    const RESOURCE: &'static Resource = &Resource::new("key_not_found", "key");

    fn from_path(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}
