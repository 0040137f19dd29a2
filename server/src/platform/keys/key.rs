//! The model of a key, and the validation of new keys.

use std::fmt;

use telltale_engine::TimestampMs;

use crate::limits;
use crate::platform::quota::KeyLimits;

/// A permission of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Send metrics, events and errors, and enqueue jobs unless the key is public.
    Ingest,
    /// Execute jobs: register workers, fetch jobs with their arguments, finish them.
    Work,
    /// Read everything except keys, and query.
    Read,
    /// Change configuration and state.
    Write,
    /// Everything, keys and backups included.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 5] = [Self::Ingest, Self::Work, Self::Read, Self::Write, Self::Admin];

    /// Returns the name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Work => "work",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// Returns the scope named `text`, if any.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Returns whether a key with these scopes has `scope`.
    pub fn allow(self, scope: Scope) -> bool {
        self.0 & (scope.bit() | Scope::Admin.bit()) != 0
    }

    /// Returns the scopes, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.0 & scope.bit() != 0)
    }

    /// Returns whether there is no scope.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

/// A key without its secret.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiKey {
    /// The public part of the key.
    pub id: String,
    /// The purpose of the key, as given by its owner.
    pub name: String,
    /// The email address of the person or program that uses the key.
    pub user: String,
    /// The permissions of the key.
    pub scopes: Scopes,
    /// Quotas that override the server's.
    pub limits: KeyLimits,
    /// Whether the key is public, for use in web pages: it can only send telemetry and errors.
    pub public_ingest: bool,
    /// When the key was created.
    pub created_at: TimestampMs,
    /// When the key was last used, to the minute.
    pub last_used_at: Option<TimestampMs>,
    /// When the key was revoked, if it is.
    pub revoked_at: Option<TimestampMs>,
    /// The revision of its document, which is not changed by uses of the key; 0 before it is
    /// stored.
    pub revision: u64,
}

/// The parameters of a new key.
#[derive(Clone, Debug, PartialEq)]
pub struct NewKey {
    /// The purpose of the key.
    pub name: String,
    /// The email address of the person or program that uses the key.
    pub user: String,
    /// The permissions of the key; at least one.
    pub scopes: Scopes,
    /// Quotas that override the server's.
    pub limits: KeyLimits,
    /// Whether the key is public, for use in web pages.
    pub public_ingest: bool,
}

/// Why a new key is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidKey {
    /// The name is empty.
    NameMissing,
    /// The name is too long, has a control character, or consists of spaces.
    Name,
    /// The user is not an email address.
    User,
    /// There is no scope.
    Scopes,
    /// A public key has a scope other than `ingest`.
    PublicScopes,
}

impl InvalidKey {
    /// The field that is wrong.
    pub fn field(self) -> &'static str {
        match self {
            Self::NameMissing | Self::Name => "name",
            Self::User => "user",
            Self::Scopes | Self::PublicScopes => "scopes",
        }
    }
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameMissing => f.write_str("name is required"),
            Self::Name => write!(
                f,
                "name must have at most {} characters, no control characters, and not only spaces",
                limits::KEY_NAME_CHARS_MAX
            ),
            Self::User => write!(
                f,
                "user must be an email address of at most {} characters",
                limits::KEY_USER_CHARS_MAX
            ),
            Self::Scopes => {
                f.write_str("scopes must have at least one of ingest, work, read, write, admin")
            }
            Self::PublicScopes => {
                f.write_str("scopes of a key with public_ingest must be [\"ingest\"]")
            }
        }
    }
}

impl std::error::Error for InvalidKey {}

impl NewKey {
    /// Checks the parameters.
    pub fn check(&self) -> Result<(), InvalidKey> {
        if self.name.is_empty() {
            return Err(InvalidKey::NameMissing);
        }
        let is_blank = self.name.chars().all(char::is_whitespace);
        if is_blank || !is_line(&self.name, limits::KEY_NAME_CHARS_MAX) {
            return Err(InvalidKey::Name);
        }
        if !is_line(&self.user, limits::KEY_USER_CHARS_MAX) || !looks_like_email(&self.user) {
            return Err(InvalidKey::User);
        }
        if self.scopes.is_empty() {
            return Err(InvalidKey::Scopes);
        }
        if self.public_ingest && self.scopes != Scopes::from_iter([Scope::Ingest]) {
            return Err(InvalidKey::PublicScopes);
        }
        Ok(())
    }
}

fn is_line(text: &str, chars_max: usize) -> bool {
    text.chars().count() <= chars_max && !text.chars().any(char::is_control)
}

/// Only catches mixed-up fields: whether an address is valid shows when mail is sent to it.
fn looks_like_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    !local.is_empty() && !domain.is_empty() && !text.contains(char::is_whitespace)
}
