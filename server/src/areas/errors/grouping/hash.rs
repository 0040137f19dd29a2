//! The rules of version 1, from the most to the least that an occurrence tells of itself:
//!
//! 1. The fingerprint that the sender gave, `{{ default }}` standing for what follows.
//! 2. The chain of exceptions: of each its type, unless the SDK made it up, and its stack; its text, parameterised, where no
//!    frame says anything.
//! 3. The stack of the only thread.
//! 4. The message, parameterised: its template rather than what was filled in.
//! 5. The transaction.
//!
//! Parts are hashed with their lengths, so that no two lists of parts are the same bytes.

use sha2::{Digest, Sha256};

use super::super::model::GroupHash;
use super::super::occurrence::{Exception, Frame, Occurrence};
use super::frames;
use super::message::parameterized;

/// Begins every hash. Another set of rules is another version.
const VERSION: &str = "v1";

/// The group that an occurrence belongs to.
pub(in crate::areas::errors) fn group_of(occurrence: &Occurrence<'_>) -> GroupHash {
    let is_default = |part: &str| matches!(part, "{{ default }}" | "{{default}}");
    match occurrence.fingerprint.as_slice() {
        [] => by_content(occurrence),
        [only] if is_default(only) => by_content(occurrence),
        parts => {
            let mut hash = Parts::new("fingerprint");
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
    let mut hash = Parts::new("exceptions");
    let mut frames_say = false;
    // From the one that was raised to its first cause.
    for exception in exceptions.iter().rev() {
        hash.add(exception.kind.as_deref().filter(|_| !exception.synthetic).unwrap_or_default());
        frames_say |= add_stack(&mut hash, &exception.frames);
    }
    if frames_say {
        return Some(hash.finish());
    }
    let mut hash = Parts::new("exceptions without frames");
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
    let mut hash = Parts::new("stack");
    add_stack(&mut hash, stack).then(|| hash.finish())
}

fn by_message(occurrence: &Occurrence<'_>) -> GroupHash {
    match occurrence.template.as_deref().or(occurrence.message.as_deref()) {
        Some(message) => {
            let mut hash = Parts::new("message");
            hash.add(&parameterized(message));
            hash.finish()
        }
        None => {
            let mut hash = Parts::new("transaction");
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

/// Parts being hashed.
struct Parts(Sha256);

impl Parts {
    fn new(rule: &str) -> Self {
        let mut parts = Self(Sha256::new());
        parts.add(VERSION);
        parts.add(rule);
        parts
    }

    fn number(&mut self, number: usize) {
        self.0.update((number as u64).to_le_bytes());
    }

    fn add(&mut self, part: &str) {
        self.number(part.len());
        self.0.update(part.as_bytes());
    }

    /// The first half of the SHA-256: no two errors in the world meet by chance.
    fn finish(self) -> GroupHash {
        let digest: [u8; 32] = self.0.finalize().into();
        let (first, _) = digest.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        GroupHash(u128::from_be_bytes(*first))
    }
}
