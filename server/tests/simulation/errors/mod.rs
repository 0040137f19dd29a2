//! The errors ledger in a history: steps, their execution, the model and the checks.

mod act;
mod check;
mod generate;
mod model;
mod steps;

pub(crate) use generate::Generator;
pub(crate) use model::Model;
pub(crate) use steps::Step;
