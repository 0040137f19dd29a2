//! The ledger, with a clock and a configuration of the test.

mod cases;
mod fixture;
mod messages;
mod model;
