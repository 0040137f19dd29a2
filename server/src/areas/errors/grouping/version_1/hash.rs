//! Version 1 of the grouping rules, which never changes: it finds the groups that it created. The
//! first rule that applies determines the hash:
//!
//! 1. The fingerprint that the sender gave; `{{ default }}` stands for the hash by the following
//!    rules.
//! 2. The chain of exceptions: the type, unless the SDK made it up, and the stack of each. If no
//!    exception has frames, the type and the parameterised message of each.
//! 3. The stack of the only thread.
//! 4. The parameterised message, preferably its template.
//! 5. The transaction.
//!
//! A field that was not sent, or had another type, is hashed as an empty string.

use std::cell::LazyCell;

use super::super::super::model::GroupHash;
use super::super::super::occurrence::{Exception, Occurrence};
use super::super::message::parameterized;
use super::super::parts::PartsHasher;
use super::super::shared::{add_stack, by_message, by_stack};
use super::frames;

/// Part of every hash of these rules.
const VERSION: &str = "v1";

/// Returns the hash of the group that an occurrence belonged to under these rules.
pub(in super::super) fn group_of(occurrence: &Occurrence<'_>) -> GroupHash {
    let is_default = |part: &str| matches!(part, "{{ default }}" | "{{default}}");
    match occurrence.fingerprint.as_slice() {
        [] => by_content(occurrence),
        [only] if is_default(only) => by_content(occurrence),
        parts => {
            let mut hash = PartsHasher::new(VERSION, "fingerprint");
            let default = LazyCell::new(|| by_content(occurrence).format());
            for part in parts {
                if is_default(part) {
                    hash.add(&default);
                } else {
                    hash.add(part);
                }
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
        hash.add(exception.kind.as_deref().filter(|_| !exception.synthetic).unwrap_or_default());
        has_frames |= add_stack(&mut hash, &frames::hashed_frames(&exception.frames));
    }
    if has_frames {
        return Some(hash.finish());
    }
    let mut hash = PartsHasher::new(VERSION, "exceptions without frames");
    let mut has_content = false;
    for exception in exceptions.iter().rev() {
        let kind = exception.kind.as_deref().filter(|_| !exception.synthetic).unwrap_or_default();
        let value = exception.value.as_deref().map(parameterized).unwrap_or_default();
        has_content |= !kind.is_empty() || !value.is_empty();
        hash.add(kind);
        hash.add(&value);
    }
    has_content.then(|| hash.finish())
}
