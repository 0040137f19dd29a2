//! Panics of the engine's own threads: caught, logged and reported to waiting callers.
//!
//! A panic is a bug. A thread that catches a panic of its own logs it and fails the calls that wait
//! for it. It continues only where state in memory cannot differ from the disk; otherwise its work
//! is refused until the engine is reopened and reads the disk. The engine never ends the process it
//! is embedded in.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic is logged and returned as an error message that starts with `what`.
pub(crate) fn catch_panic<T>(what: &'static str, work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = message(payload.as_ref());
        // The panic hook of the process reports the location and the stack.
        tracing::error!(what, message, "a thread of the engine panicked");
        format!("{what} panicked: {message}")
    })
}

/// Returns the message of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_panic_is_returned() {
        assert_eq!(catch_panic("work", || 7), Ok(7));
        let (literal, number) = (catch_panic::<()>("work", || panic!("message")), 2);
        assert_eq!(literal, Err("work panicked: message".to_owned()));
        let formatted = catch_panic::<()>("work", || panic!("{number}"));
        assert_eq!(formatted, Err("work panicked: 2".to_owned()));
    }
}
