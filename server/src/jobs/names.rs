//! Names of queues and classes, and unique keys: validated once, shared afterwards.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::error::InvalidJob;
use crate::limits;

/// The name of a queue: 1 to 128 of `A-Z a-z 0-9 _ . : -`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueName(Arc<str>);

/// The name of a class of jobs or errors: a short string without control characters.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassName(Arc<str>);

/// The hash of a key that only one unfinished job may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UniqueKey(pub(super) u128);

impl QueueName {
    /// Validates a name from a client.
    pub fn new(text: &str) -> Result<Self, InvalidJob> {
        let name = Self::own(text)?;
        if name.is_own() { Err(InvalidJob::QueueReserved) } else { Ok(name) }
    }

    /// Validates a name from the server, which may be reserved.
    pub fn own(text: &str) -> Result<Self, InvalidJob> {
        let fits = (1..=limits::QUEUE_NAME_CHARS_MAX).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:-".contains(&b));
        if fits { Ok(Self(text.into())) } else { Err(InvalidJob::Queue) }
    }

    /// Refuses a name that is reserved for the server.
    pub fn check_users(text: &str) -> Result<(), InvalidJob> {
        if is_own(text) { Err(InvalidJob::QueueReserved) } else { Ok(()) }
    }

    /// Returns a name that was validated before it was stored.
    pub(super) fn stored(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns whether the queue belongs to the server.
    pub(super) fn is_own(&self) -> bool {
        is_own(&self.0)
    }
}

/// Returns whether the name is that of a queue of the server.
pub(super) fn is_own(name: &str) -> bool {
    name.starts_with(limits::OWN_QUEUES_PREFIX)
}

impl ClassName {
    /// Validates the name of a job class.
    pub fn new(text: &str) -> Result<Self, InvalidJob> {
        let fits = !text.chars().all(char::is_whitespace)
            && text.chars().count() <= limits::JOB_CLASS_CHARS_MAX
            && !text.chars().any(char::is_control);
        if fits { Ok(Self(text.into())) } else { Err(InvalidJob::Class) }
    }

    /// Returns the class of an error: any string from a worker, truncated.
    pub fn of_error(text: &str) -> Self {
        let cut: String =
            text.chars().filter(|c| !c.is_control()).take(limits::ERROR_CLASS_CHARS_MAX).collect();
        if cut.is_empty() { Self("Error".into()) } else { Self(cut.into()) }
    }

    /// Returns a name that was validated before it was stored, or one of our own.
    pub(super) fn stored(text: &str) -> Self {
        Self(text.into())
    }
}

impl UniqueKey {
    /// Returns the key for `text`.
    pub fn new(text: &str) -> Result<Self, InvalidJob> {
        let fits = !text.is_empty() && text.chars().count() <= limits::UNIQUE_KEY_CHARS_MAX;
        if fits { Ok(Self(xxh3_128(text.as_bytes()))) } else { Err(InvalidJob::UniqueKey) }
    }
}

macro_rules! shared_text {
    ($Name:ident) => {
        impl Deref for $Name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $Name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

shared_text!(QueueName);
shared_text!(ClassName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_validated() {
        for good in ["default", "A-Z_0.9:x", &"q".repeat(128)] {
            assert_eq!(&*QueueName::new(good).unwrap(), good);
        }
        for bad in ["", "a b", "ä", "a/b", "a\0", &"q".repeat(129)] {
            assert_eq!(QueueName::new(bad).unwrap_err(), InvalidJob::Queue, "{bad:?}");
        }
        for own in ["telltale", "telltale.x", "telltales"] {
            assert_eq!(QueueName::new(own).unwrap_err(), InvalidJob::QueueReserved, "{own}");
            assert!(QueueName::own(own).unwrap().is_own(), "{own}");
        }
        assert!(!QueueName::new("my-telltale").unwrap().is_own());
        assert!(ClassName::new("Mailer::Welcome ü").is_ok());
        for bad in ["", "a\nb", &"c".repeat(201)] {
            assert_eq!(ClassName::new(bad).unwrap_err(), InvalidJob::Class, "{bad:?}");
        }
        assert_eq!(&*ClassName::of_error("a\nb"), "ab");
        assert_eq!(&*ClassName::of_error(""), "Error");
        assert_eq!(ClassName::of_error(&"e".repeat(500)).len(), 100);
        assert_eq!(UniqueKey::new("").unwrap_err(), InvalidJob::UniqueKey);
        assert_ne!(UniqueKey::new("a"), UniqueKey::new("b"));
    }
}
