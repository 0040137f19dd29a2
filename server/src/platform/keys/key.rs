//! What a key is, and what a new one must look like.

use std::fmt;

use telltale_engine::TimestampMs;

use crate::limits;
use crate::platform::quota::KeyLimits;

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Send metrics, events and errors, and enqueue jobs where the key is not public.
    Ingest,
    /// Work jobs: register workers, fetch jobs with their arguments, finish them.
    Work,
    /// Read everything but keys, and query.
    Read,
    /// Change configuration and state.
    Write,
    /// Everything, keys and backups included.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 5] = [Self::Ingest, Self::Work, Self::Read, Self::Write, Self::Admin];

    /// The name users write.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Work => "work",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// The scope called `text`, if there is one.
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
    /// Whether a key with these scopes may do what needs `scope`.
    pub fn allow(self, scope: Scope) -> bool {
        self.0 & (scope.bit() | Scope::Admin.bit()) != 0
    }

    /// The scopes, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.0 & scope.bit() != 0)
    }

    /// Whether there are none.
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
    /// What the key is for, in its owner's words.
    pub name: String,
    /// The email of the person or program that acts through the key.
    pub user: String,
    /// What the key may be used for.
    pub scopes: Scopes,
    /// Quotas that differ from the server's.
    pub limits: KeyLimits,
    /// The key may stand in a public web page: it can send telemetry and errors, and nothing else.
    pub public_ingest: bool,
    /// When the key was made.
    pub created_at: TimestampMs,
    /// When the key was last used, to the minute.
    pub last_used_at: Option<TimestampMs>,
    /// Since when the key is refused.
    pub revoked_at: Option<TimestampMs>,
    /// The revision of its document, which a use of the key leaves as it is; 0 before it is stored.
    pub revision: u64,
}

/// What a new key shall be.
#[derive(Clone, Debug, PartialEq)]
pub struct NewKey {
    /// What the key is for.
    pub name: String,
    /// The email of the person or program that acts through the key.
    pub user: String,
    /// What the key may be used for; at least one.
    pub scopes: Scopes,
    /// Quotas that differ from the server's.
    pub limits: KeyLimits,
    /// The key may stand in a public web page.
    pub public_ingest: bool,
}

/// Why a key cannot be made as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidKey {
    /// The name is empty.
    NameMissing,
    /// The name is too long, holds a control character or is nothing but spaces.
    Name,
    /// The user is not an email.
    User,
    /// There is no scope.
    Scopes,
    /// A public key has another scope than `ingest`.
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
    /// Whether such a key can be.
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

/// Whether mail could be sent there is found out by sending mail; this only catches a field mixed up.
fn looks_like_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    !local.is_empty() && !domain.is_empty() && !text.contains(char::is_whitespace)
}
