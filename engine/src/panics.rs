//! Panics of the engine's own threads: caught, logged, and told to whoever waits.
//!
//! A panic is a bug. A thread that catches one of its own says so in the log, fails those who wait for it, and begins anew only
//! where nothing in memory can differ from the disk; otherwise what it did is refused until the next start reads the disk.
//! The engine never ends the process it is a part of.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does something; a panic in it is logged and answered as what it said.
pub(crate) fn caught<T>(what: &'static str, work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = message(payload.as_ref());
        // Where it was is told by the hook of the process, which has the stack.
        tracing::error!(what, message, "a thread of the engine panicked");
        format!("{what} panicked: {message}")
    })
}

/// What a panic said.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_panic_said_is_told() {
        assert_eq!(caught("work", || 7), Ok(7));
        let (one, two) = (caught::<()>("work", || panic!("as told")), 2);
        assert_eq!(one, Err("work panicked: as told".to_owned()));
        let formatted = caught::<()>("work", || panic!("{two}"));
        assert_eq!(formatted, Err("work panicked: 2".to_owned()));
    }
}
