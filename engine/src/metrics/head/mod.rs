//! The head: the newest points, in memory, until a seal makes blocks of them.
//!
//! Points only ever get appended: to the tail of their metric as columns in order of arrival;
//! a full tail is sorted once, by series and time, into an immutable [`Run`]. Nothing is done per series, so
//! that the cost of a point does not depend on how many series there are. Values that were counted elsewhere are cells
//! of a minute from the beginning.

mod cells;
mod points;
mod run;

pub(crate) use cells::{CellRun, NewCell};
pub(crate) use points::{Head, MetricHead};
pub(crate) use run::Run;
