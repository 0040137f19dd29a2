//! The rules of version 1, which never change: groups that they made are found by them. From the most to the least that an occurrence tells of itself:
//!
//! 1. The fingerprint that the sender gave, `{{ default }}` standing for what follows.
//! 2. The chain of exceptions: of each its type, unless the SDK made it up, and its stack; its text, parameterised, where no
//!    frame says anything.
//! 3. The stack of the only thread.
//! 4. The message, parameterised: its template rather than what was filled in.
//! 5. The transaction.

use super::super::super::model::GroupHash;
use super::super::super::occurrence::{Exception, Frame, Occurrence};
use super::super::message::parameterized;
use super::super::parts::Parts;
use super::frames;

/// Begins every hash of these rules.
const VERSION: &str = "v1";

/// The group that an occurrence belonged to under these rules.
pub(in super::super) fn group_of(occurrence: &Occurrence<'_>) -> GroupHash {
    let is_default = |part: &str| matches!(part, "{{ default }}" | "{{default}}");
    match occurrence.fingerprint.as_slice() {
        [] => by_content(occurrence),
        [only] if is_default(only) => by_content(occurrence),
        parts => {
            let mut hash = Parts::new(VERSION, "fingerprint");
            for part in parts {
                if is_default(part) {
                    hash.add(&by_content(occurrence).text());
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
        .or_else(|| by_stack(&occurrence.frames))
        .unwrap_or_else(|| by_message(occurrence))
}

fn by_exceptions(exceptions: &[Exception<'_>]) -> Option<GroupHash> {
    let mut hash = Parts::new(VERSION, "exceptions");
    let mut frames_say = false;
    // From the one that was raised to its first cause.
    for exception in exceptions.iter().rev() {
        hash.add(exception.kind.as_deref().filter(|_| !exception.synthetic).unwrap_or_default());
        frames_say |= add_stack(&mut hash, &exception.frames);
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

fn by_stack(stack: &[Frame<'_>]) -> Option<GroupHash> {
    let mut hash = Parts::new(VERSION, "stack");
    add_stack(&mut hash, stack).then(|| hash.finish())
}

fn by_message(occurrence: &Occurrence<'_>) -> GroupHash {
    match occurrence.template.as_deref().or(occurrence.message.as_deref()) {
        Some(message) => {
            let mut hash = Parts::new(VERSION, "message");
            hash.add(&parameterized(message));
            hash.finish()
        }
        None => {
            let mut hash = Parts::new(VERSION, "transaction");
            hash.add(occurrence.transaction.as_deref().unwrap_or_default());
            hash.finish()
        }
    }
}

/// Adds what the frames say; answers whether they say anything.
fn add_stack(hash: &mut Parts, stack: &[Frame<'_>]) -> bool {
    let lines = frames::lines(stack);
    hash.number(lines.len());
    for line in &lines {
        hash.add(&line.place);
        hash.add(&line.function);
    }
    !lines.is_empty()
}
