//! Maintenance windows: when alerts are muted, once or recurring.
//!
//! A window mutes the rules that it names, or all rules. A recurring window repeats on the wall
//! clock of its time zone, anchored at its start; the rule is parsed when the window is read, so a
//! window in memory always knows its occurrences.

#[cfg(test)]
pub(super) mod examples;
mod linked;
mod model;
mod ops;
mod routes;
mod store;
#[cfg(test)]
mod tests;
mod wire;

pub use linked::{LinkedMuting, LinkedWindow, LinkedWindowChange, LinkedWindows};
pub(super) use model::{Window, WindowState};
pub(super) use ops::remove_rule;
pub use routes::WINDOW_ROUTES;
