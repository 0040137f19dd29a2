//! The jobs ledger in a history: steps, their execution, the model and the checks.

mod act;
mod act_upkeep;
mod check;
mod due;
mod generate;
mod model;
mod steps;

pub(crate) use generate::Generator;
pub(crate) use model::{Model, Now};
pub(crate) use steps::Step;
