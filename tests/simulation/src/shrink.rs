//! Shrinks a failing history: leaves out steps as long as it fails in the same way.

use std::time::{Duration, Instant};

use crate::failure::{Failure, Outcome};
use crate::history::History;

/// Maximum seconds for shrinking one history.
const SHRINK_SECONDS: u64 = 40;

/// Returns a shorter history that fails in the same way, and its failure.
#[expect(clippy::disallowed_methods, reason = "the simulation measures itself")]
pub(crate) fn shrink<Setup: Clone, Step: Clone>(
    history: &History<Setup, Step>,
    failure: &Failure,
    run: impl Fn(&History<Setup, Step>) -> Outcome,
) -> (History<Setup, Step>, Failure) {
    let started = Instant::now();
    let (mut shortest, mut last) = (history.clone(), failure.clone());
    let mut length = shortest.steps.len() / 2;
    while length > 0 {
        let mut at = 0;
        while at < shortest.steps.len() {
            if started.elapsed() > Duration::from_secs(SHRINK_SECONDS) {
                return (shortest, last);
            }
            let mut shorter = shortest.clone();
            let end = (at + length).min(shorter.steps.len());
            shorter.steps.drain(at..end);
            match run(&shorter) {
                Err(failure) if failure.kind == last.kind => (shortest, last) = (shorter, failure),
                _ => at += length,
            }
        }
        length /= 2;
    }
    (shortest, last)
}
