//! The rules of version 2, from the most to the least that an occurrence says of itself:
//!
//! 1. The fingerprint that the sender gave, with the values of its variables; `{{ default }}` stands for what follows.
//! 2. The chain of exceptions: of each its type, unless the SDK made it up, and its stack. Types that any error may have (`*errors.errorString` of
//!    Go) say nothing: their message does, parameterised. So does every message where there is no frame.
//! 3. The stack of the only thread.
//! 4. The message, parameterised: its template rather than what was filled in.
//! 5. The transaction.

use std::cell::LazyCell;

use super::super::model::GroupHash;
use super::super::occurrence::{Exception, Occurrence};
use super::message::parameterized;
use super::parts::Parts;
use super::shared::{add_stack, by_message, by_stack};
use super::{fingerprint, frames, names};

/// StartTime every hash of these rules. Another set of rules is another version.
const VERSION: &str = "v2";

/// Types of Go that wrap any message, without the star of a pointer.
const ANY_ERROR: [&str; 11] = [
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

/// The group that an occurrence belongs to.
pub(super) fn group_of(occurrence: &Occurrence<'_>) -> GroupHash {
    match occurrence.fingerprint.as_slice() {
        [] => by_content(occurrence),
        [only] if fingerprint::is_default(only) => by_content(occurrence),
        parts => {
            let mut hash = Parts::new(VERSION, "fingerprint");
            // It costs as much as all other rules, and a fingerprint may name it any number of times.
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
        .or_else(|| by_stack(VERSION, &frames::lines(&occurrence.frames)))
        .unwrap_or_else(|| by_message(VERSION, occurrence))
}

fn by_exceptions(exceptions: &[Exception<'_>]) -> Option<GroupHash> {
    let mut hash = Parts::new(VERSION, "exceptions");
    let mut frames_say = false;
    // From the one that was raised to its first cause.
    for exception in exceptions.iter().rev() {
        add_kind(&mut hash, exception);
        frames_say |= add_stack(&mut hash, &frames::lines(&exception.frames));
    }
    if frames_say {
        return Some(hash.finish());
    }
    let mut hash = Parts::new(VERSION, "exceptions without frames");
    let mut says = false;
    for exception in exceptions.iter().rev() {
        let kind = kind(exception);
        let value = exception.value.as_deref().map(parameterized).unwrap_or_default();
        says |= !kind.is_empty() || !value.is_empty();
        hash.add(&names::stable(kind));
        hash.add(&value);
    }
    says.then(|| hash.finish())
}

/// The type of an exception, unless the SDK made it up.
fn kind<'e>(exception: &'e Exception<'_>) -> &'e str {
    exception.kind.as_deref().filter(|_| !exception.synthetic).unwrap_or_default()
}

/// Adds the type, or the message where the type is one that any error may have.
fn add_kind(hash: &mut Parts, exception: &Exception<'_>) {
    let kind = kind(exception);
    match exception.value.as_deref() {
        Some(value) if ANY_ERROR.contains(&kind.strip_prefix('*').unwrap_or(kind)) => {
            hash.add("message");
            hash.add(&parameterized(value));
        }
        _ => {
            hash.add("type");
            hash.add(&names::stable(kind));
        }
    }
}
