//! Panics of the process: every one is logged with its place and its stack, and counted, whoever catches it.

use std::any::Any;
use std::backtrace::Backtrace;
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Of all threads, since the process began: the hook of panics is the process's too.
static PANICS: AtomicU64 = AtomicU64::new(0);

/// Logs and counts the panics of the process from now on, in place of the lines that the standard library would write.
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

/// How many panics there were.
pub fn count() -> u64 {
    PANICS.load(Ordering::Relaxed)
}

/// What a panic said.
pub fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_owned())
}
