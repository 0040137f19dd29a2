//! The JSON types of sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use super::model::{Credential, Session};
use super::service::{NewCode, path_of};
use crate::http::{ApiError, ApiResult, ErrorCode, PathParam, Resource};
use crate::platform::keys::{ApiKey, Identity, Scope};
use crate::platform::time::IsoTime;

/// What opens a session: either a key or a code.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignInInput {
    /// A key with the scope `read`.
    key: Option<String>,
    /// A code, which opens one session.
    code: Option<String>,
}

/// For which key a code is made.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeInput {
    /// The key whose permissions the session will have. Another key than that of the request
    /// requires the scope `admin`.
    pub(super) key_id: Option<String>,
}

/// Who makes the request.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Caller")]
pub(super) struct CallerBody {
    /// The email address of the key.
    user: String,
    scopes: Vec<&'static str>,
    /// The key; null on the control socket.
    key: Option<CallerKey>,
    /// The session; null if the request was made with a key.
    session: Option<SessionBody>,
}

/// Whether a browser has a session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SessionState")]
pub(super) struct SessionStateBody {
    /// Whether its cookie is that of a session.
    pub(super) signed_in: bool,
}

/// The key of a caller.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallerKey {
    id: String,
    name: String,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConsoleSession")]
pub(super) struct SessionBody {
    id: String,
    key_id: String,
    key_name: String,
    user: String,
    scopes: Vec<&'static str>,
    created_at: IsoTime,
    last_seen_at: IsoTime,
    /// When the session ends if no request follows.
    expires_at: IsoTime,
    /// The address that the session was opened from.
    address: String,
    /// The `User-Agent` of the browser that opened it.
    agent: String,
    /// Whether the request was made in this session.
    current: bool,
}

/// A new code.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SignInCode")]
pub(super) struct CodeBody {
    code: String,
    /// The path that signs in with the code, to be appended to the URL of the server.
    path: String,
    expires_at: IsoTime,
}

/// The id of a session in a path.
#[derive(Debug)]
pub(super) struct SessionId(pub(super) String);

impl PathParam for SessionId {
    const RESOURCE: &'static Resource =
        &Resource::new("console_session_not_found", "console session");

    fn from_path(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

impl SignInInput {
    /// Converts to the model.
    pub(super) fn into_model(self) -> ApiResult<Credential> {
        match (self.key, self.code) {
            (Some(key), None) => Ok(Credential::Key(key)),
            (None, Some(code)) => Ok(Credential::Code(code)),
            (None, None) => {
                let message = "key is required, unless there is a code";
                Err(ApiError::new(ErrorCode::MissingField, message).field("key"))
            }
            (Some(_), Some(_)) => {
                let message = "code must not be given together with key";
                Err(ApiError::new(ErrorCode::InvalidField, message).field("code"))
            }
        }
    }
}

impl CallerBody {
    /// Returns the caller of a request, whose session is given if it has one.
    pub(super) fn of(identity: &Identity, session: Option<Session>) -> Self {
        let key = identity
            .key()
            .map(|ApiKey { id, name, .. }| CallerKey { id: id.clone(), name: name.clone() });
        let scopes = Scope::ALL.into_iter().filter(|scope| match identity.key() {
            Some(key) => key.scopes.iter().any(|own| own == *scope),
            None => identity.may(*scope),
        });
        Self {
            user: identity.user().to_owned(),
            scopes: scopes.map(Scope::as_str).collect(),
            key,
            session: session.map(|session| SessionBody::new(session, true)),
        }
    }

    /// Returns the caller of further requests in a session that was just opened.
    pub(super) fn of_session(session: Session) -> Self {
        Self {
            user: session.user.clone(),
            scopes: session.scopes.iter().map(Scope::as_str).collect(),
            key: Some(CallerKey { id: session.key_id.clone(), name: session.key_name.clone() }),
            session: Some(SessionBody::new(session, true)),
        }
    }
}

impl SessionBody {
    pub(super) fn new(session: Session, current: bool) -> Self {
        Self {
            id: session.id,
            key_id: session.key_id,
            key_name: session.key_name,
            user: session.user,
            scopes: session.scopes.iter().map(Scope::as_str).collect(),
            created_at: IsoTime(session.created_at),
            last_seen_at: IsoTime(session.last_seen_at),
            expires_at: IsoTime(session.expires_at),
            address: session.browser.address,
            agent: session.browser.agent,
            current,
        }
    }
}

impl From<NewCode> for CodeBody {
    fn from(made: NewCode) -> Self {
        let NewCode { code, expires_at: TimestampMs(ms) } = made;
        Self { path: path_of(&code), code: code.reveal(), expires_at: IsoTime(TimestampMs(ms)) }
    }
}
