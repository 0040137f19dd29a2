//! The ledger of jobs in a history: what happens to jobs, what is promised of them, and whether it is so.

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
