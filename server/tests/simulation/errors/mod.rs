//! The ledger of errors in a history: what is told and done, what must be known of it, and whether it is.

mod act;
mod check;
mod generate;
mod model;
mod steps;

pub(crate) use generate::Generator;
pub(crate) use model::Model;
pub(crate) use steps::Step;
