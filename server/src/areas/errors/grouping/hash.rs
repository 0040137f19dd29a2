//! Version 2 of the grouping rules. The first rule that applies determines the hash:
//!
//! 1. The fingerprint that the sender gave, with its variables substituted; `{{ default }}` stands
//!    for the hash by the following rules.
//! 2. The chain of exceptions: the type, unless the SDK made it up, and the stack of each. Types
//!    that wrap any error (`*errors.errorString` of Go) are replaced by the parameterised message.
//!    If no exception has frames, the type and the parameterised message of each.
//! 3. The stack of the only thread.
//! 4. The parameterised message, preferably its template.
//! 5. The transaction.
//!
//! A field that was not sent, or had another type, is hashed as an empty string.

use std::cell::LazyCell;

use super::super::model::GroupHash;
use super::super::occurrence::{Exception, Occurrence};
use super::message::parameterized;
use super::parts::PartsHasher;
use super::shared::{add_stack, by_message, by_stack};
use super::{fingerprint, frames, names};

/// Part of every hash of these rules. A change of the rules needs a new version.
const VERSION: &str = "v2";

/// Types of Go that wrap any message, without the asterisk of a pointer.
const GENERIC_TYPES: [&str; 11] = [
    "errors.errorString",
    "errors.joinError",
    "errors.fundamental",
    "errors.withMessage",
    "errors.withStack",
    "errors.Error",
    "fmt.wrapError",
    "fmt.wrapErrors",
    "xerrors.errorString",
    "xerrors.noWrapError",
    "xerrors.wrapError",
];

/// Returns the hash of the group that an occurrence belongs to.
pub(super) fn group_of(occurrence: &Occurrence<'_>) -> GroupHash {
    match occurrence.fingerprint.as_slice() {
        [] => by_content(occurrence),
        [only] if fingerprint::is_default(only) => by_content(occurrence),
        parts => {
            let mut hash = PartsHasher::new(VERSION, "fingerprint");
            // Lazy, since it costs as much as all other rules; cached, since a fingerprint may
            // refer to it several times.
            let default = LazyCell::new(|| by_content(occurrence).format());
            for part in parts {
                hash.add(&fingerprint::expanded(part, occurrence, &|| String::clone(&default)));
            }
            hash.finish()
        }
    }
}

fn by_content(occurrence: &Occurrence<'_>) -> GroupHash {
    by_exceptions(&occurrence.exceptions)
        .or_else(|| by_stack(VERSION, &frames::hashed_frames(&occurrence.frames)))
        .unwrap_or_else(|| by_message(VERSION, occurrence))
}

fn by_exceptions(exceptions: &[Exception<'_>]) -> Option<GroupHash> {
    let mut hash = PartsHasher::new(VERSION, "exceptions");
    let mut has_frames = false;
    // From the raised exception to its first cause.
    for exception in exceptions.iter().rev() {
        add_kind(&mut hash, exception);
        has_frames |= add_stack(&mut hash, &frames::hashed_frames(&exception.frames));
    }
    if has_frames {
        return Some(hash.finish());
    }
    let mut hash = PartsHasher::new(VERSION, "exceptions without frames");
    let mut has_content = false;
    for exception in exceptions.iter().rev() {
        let kind = kind(exception);
        let value = exception.value.as_deref().map(parameterized).unwrap_or_default();
        has_content |= !kind.is_empty() || !value.is_empty();
        hash.add(&names::stable(kind));
        hash.add(&value);
    }
    has_content.then(|| hash.finish())
}

/// Returns the type of an exception; empty if the SDK made it up.
fn kind<'e>(exception: &'e Exception<'_>) -> &'e str {
    exception.kind.as_deref().filter(|_| !exception.synthetic).unwrap_or_default()
}

/// Adds the type, or the message if the type is generic.
fn add_kind(hash: &mut PartsHasher, exception: &Exception<'_>) {
    let kind = kind(exception);
    match exception.value.as_deref() {
        Some(value) if GENERIC_TYPES.contains(&kind.strip_prefix('*').unwrap_or(kind)) => {
            hash.add("message");
            hash.add(&parameterized(value));
        }
        _ => {
            hash.add("type");
            hash.add(&names::stable(kind));
        }
    }
}
