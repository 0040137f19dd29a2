//! The evaluation of alert rules: every few seconds, all together.
//!
//! `scan` combines rules that differ in little into one query, `run` executes the queries, and
//! `observe` compares the results with the conditions and gives them to the ledger, in one change.

mod absent;
mod ended;
mod observe;
mod past;
mod run;
mod scan;
mod settings;
mod status;
#[cfg(test)]
mod tests;

pub(super) use ended::ended;
pub(super) use observe::evaluate;
pub(super) use past::{PastEvaluation, evaluate_past};
pub use settings::EvaluationSettings;
pub(super) use status::{EvaluationStatus, receiving_for};
