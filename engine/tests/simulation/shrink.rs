//! Makes a failing history shorter: leaves steps out as long as it fails in the same way.

use std::time::{Duration, Instant};

use super::failing::Failure;
use super::generate::History;

/// How long a history is shrunk.
const SHRINK_SECONDS: u64 = 40;

/// A shorter history that fails likewise, and how.
pub(crate) fn shrink(
    history: &History,
    failure: &Failure,
    live: impl Fn(&History) -> Result<(), Failure>,
) -> (History, Failure) {
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
            match live(&shorter) {
                Err(failure) if failure.kind == last.kind => (shortest, last) = (shorter, failure),
                _ => at += length,
            }
        }
        length /= 2;
    }
    (shortest, last)
}
