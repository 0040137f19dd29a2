//! Panics of the process: each is logged with its location and backtrace, and counted, no matter
//! what catches it.

use std::any::Any;
use std::backtrace::Backtrace;
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Of all threads since the process started: the panic hook is global, too.
static PANICS: AtomicU64 = AtomicU64::new(0);

/// Installs a panic hook that logs and counts panics, instead of the one of the standard library.
pub fn watch() {
    panic::set_hook(Box::new(|info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        let thread = thread::current();
        let (name, backtrace) = (thread.name().unwrap_or("unnamed"), Backtrace::force_capture());
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let message = message(info.payload());
        tracing::error!(thread = name, place, message, %backtrace, "a thread panicked: this is a bug");
    }));
}

/// Returns the number of panics so far.
pub fn count() -> u64 {
    PANICS.load(Ordering::Relaxed)
}

/// Returns the message of a panic.
pub fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_owned())
}
