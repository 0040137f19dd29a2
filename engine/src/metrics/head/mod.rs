//! The head: the newest samples, in memory until a seal turns them into blocks.
//!
//! Samples are only appended: to the tail of their metric, as columns in order of arrival. A full
//! tail is sorted once, by series and time, into an immutable [`Run`]. There is no work per series,
//! so the cost of a sample does not depend on the number of series. Values that the sender already
//! counted into a histogram are stored as one-minute cells right away.

mod cells;
mod points;
mod run;

pub(crate) use cells::{CellRun, NewCell};
pub(crate) use points::{Head, MetricHead};
pub(crate) use run::Run;
