//! The rules of version 1, which never change: groups that they made are found by them. From the most to the least that an occurrence tells of itself:
//!
//! 1. The fingerprint that the sender gave, `{{ default }}` standing for what follows.
//! 2. The chain of exceptions: of each its type, unless the SDK made it up, and its stack; its text, parameterised, where no
//!    frame says anything.
//! 3. The stack of the only thread.
//! 4. The message, parameterised: its template rather than what was filled in.
//! 5. The transaction.

use std::cell::LazyCell;

use super::super::super::model::GroupHash;
use super::super::super::occurrence::{Exception, Occurrence};
use super::super::message::parameterized;
use super::super::parts::Parts;
use super::super::shared::{add_stack, by_message, by_stack};
use super::frames;

/// StartTime every hash of these rules.
const VERSION: &str = "v1";

/// The group that an occurrence belonged to under these rules.
pub(in super::super) fn group_of(occurrence: &Occurrence<'_>) -> GroupHash {
    let is_default = |part: &str| matches!(part, "{{ default }}" | "{{default}}");
    match occurrence.fingerprint.as_slice() {
        [] => by_content(occurrence),
        [only] if is_default(only) => by_content(occurrence),
        parts => {
            let mut hash = Parts::new(VERSION, "fingerprint");
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
        .or_else(|| by_stack(VERSION, &frames::lines(&occurrence.frames)))
        .unwrap_or_else(|| by_message(VERSION, occurrence))
}

fn by_exceptions(exceptions: &[Exception<'_>]) -> Option<GroupHash> {
    let mut hash = Parts::new(VERSION, "exceptions");
    let mut frames_say = false;
    // From the one that was raised to its first cause.
    for exception in exceptions.iter().rev() {
        hash.add(exception.kind.as_deref().filter(|_| !exception.synthetic).unwrap_or_default());
        frames_say |= add_stack(&mut hash, &frames::lines(&exception.frames));
    }
    if frames_say {
        return Some(hash.finish());
    }
    let mut hash = Parts::new(VERSION, "exceptions without frames");
    let mut says = false;
    for exception in exceptions.iter().rev() {
        let kind = exception.kind.as_deref().filter(|_| !exception.synthetic).unwrap_or_default();
        let value = exception.value.as_deref().map(parameterized).unwrap_or_default();
        says |= !kind.is_empty() || !value.is_empty();
        hash.add(kind);
        hash.add(&value);
    }
    says.then(|| hash.finish())
}
