//! `telltale query`: queries a metric through the HTTP API and prints the result as a table,
//! sparklines or JSON.

mod response;
mod run;
mod show;
mod sparkline;

pub(super) use run::run;
