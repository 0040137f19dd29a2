//! `telltale query`: asks for a metric as any client does, and shows the answer as a table, bars or JSON.

mod answer;
mod ask;
mod show;
mod sparkline;

pub(super) use ask::run;
